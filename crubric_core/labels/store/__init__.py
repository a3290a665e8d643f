"""The DuckDB file of a workspace: connection, schema, datasets, reduction, stored results."""
