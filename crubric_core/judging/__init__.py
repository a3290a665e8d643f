"""Label a bank's rubrics on answers of new systems by judges behind OpenAI-compatible endpoints (docs/judging.md)."""
