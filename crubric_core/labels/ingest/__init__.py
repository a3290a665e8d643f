"""Canonical rows into the tables of a workspace, in one transaction, and out again (undo)."""
