"""The DuckDB file: connection, schema, datasets, reduction, stored results."""
