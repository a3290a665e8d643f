"""CalibratedRubric: compact rubric banks and tiered leaderboards from noisy judge labels."""
