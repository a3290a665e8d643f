"""The commands of ``crubric``, one module for each part of the work; catalogue.py lists all commands."""
