"""Requests to language models behind OpenAI-compatible servers: concurrent, rate-limited and retried."""
