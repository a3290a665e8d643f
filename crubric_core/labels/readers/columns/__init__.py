"""The canonical columns of each kind of table, and the names by which they are recognised."""
