"""The commands of ``crubric``, one module for each group of commands; catalogue.py lists them."""
