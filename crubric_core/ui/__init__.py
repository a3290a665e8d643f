"""Shared code of the dashboard's pages: state, cached loaders and widgets, based on Streamlit."""
