"""Store canonical rows in the tables of a workspace, in one transaction, and remove them again (undo)."""
