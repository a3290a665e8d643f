"""Show a published view, to its readers and in the preview."""
