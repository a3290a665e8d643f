"""Inspect one table: recognise its kind, which column is which canonical one, and which are not used."""
