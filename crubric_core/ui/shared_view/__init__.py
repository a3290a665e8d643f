"""A published view on the screen, for its readers and for the preview."""
