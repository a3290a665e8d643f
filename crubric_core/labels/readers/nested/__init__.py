"""Find labels within nested JSON, and which of its keys are criteria, judges, systems or queries."""
