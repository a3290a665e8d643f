"""A bank as a scale, and new systems placed on it."""
