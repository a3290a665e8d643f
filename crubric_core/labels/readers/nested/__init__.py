"""Labels within nested JSON: where they lie, and which of its keys name criteria, judges, systems or queries."""
