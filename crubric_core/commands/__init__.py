"""The commands of ``python -m crubric_core``, a file for each part of the work."""
