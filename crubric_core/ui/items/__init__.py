"""The Items page: cached model checks and their section."""
