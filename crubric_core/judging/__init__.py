"""Judges behind OpenAI-compatible endpoints label a bank's rubrics on the answers of new systems (docs/judging.md)."""
