"""The Publish page: the form and the list of links."""
