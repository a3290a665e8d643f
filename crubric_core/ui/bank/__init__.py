"""The Bank page: how well a bank separates new systems, what it costs and what it covers."""
