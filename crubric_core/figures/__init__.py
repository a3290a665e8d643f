"""Result → plotly Figure; knows no Streamlit. One module a page theme, one look for all (style.py)."""
