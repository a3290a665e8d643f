"""Language models behind OpenAI-compatible servers: asked concurrently, at a pace, again where that helps."""
