"""Columns of tables: which there are of each kind of row, and what they are called."""
