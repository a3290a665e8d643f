"""Results as HTML and Markdown documents."""
