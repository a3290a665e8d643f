"""The commands of ``crubric``, a file for each part of the work; catalogue.py lists them."""
