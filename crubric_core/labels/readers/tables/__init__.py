"""One table looked into: what its rows are, which column is which, and what is not used."""
