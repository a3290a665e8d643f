"""The Experiments page: runs, tables, sentences."""
