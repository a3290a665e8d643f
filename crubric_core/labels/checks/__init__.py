"""What is suspicious about a dataset: coverage, consistency, constant runs."""
