"""The stages of Algorithm 1, the result that they make, its tables, warnings and files."""
