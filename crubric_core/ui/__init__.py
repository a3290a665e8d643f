"""What the pages share: state, cached loaders and widgets. The only room of the core that knows Streamlit."""
