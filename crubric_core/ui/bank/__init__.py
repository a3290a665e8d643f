"""The Bank page: what a bank is worth, what it costs, what it covers."""
