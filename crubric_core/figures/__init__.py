"""Plotly figures of results, independent of Streamlit: a module for each theme of pages, and the look in style.py."""
