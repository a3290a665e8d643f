"""Load the modules of the pages while the browser still fetches the server's static files."""

from __future__ import annotations

import gc
from contextlib import asynccontextmanager
from importlib import import_module
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    import streamlit as st

MODULES = (
    "crubric_core.ui.overview",
    "crubric_core.ui.page",
    "crubric_core.ui.leaderboard.board",
    "crubric_core.ui.bank.composing",
    "crubric_core.ui.items.checks",
    "crubric_core.ui.measurability.gate",
    "plotly.graph_objects",
    "plotly.io",
)
_LOADED = Event()
_LOADED.set()
OF_VIEWS = ("crubric_core.ui.shared_view.link", "plotly.io")


@asynccontextmanager
async def load_ahead(app: st.App) -> AsyncIterator[None]:
    """Load the modules of the pages during the server's start; an earlier visitor waits for them."""
    del app
    _LOADED.clear()
    Thread(target=_load, name="modules of the pages", daemon=True).start()
    yield


@asynccontextmanager
async def load_views_ahead(app: st.App) -> AsyncIterator[None]:
    """Like ``load_ahead``, for the viewer's process."""
    del app
    _LOADED.clear()
    Thread(target=_load, args=(OF_VIEWS,), name="modules of views", daemon=True).start()
    yield


def wait_for_modules() -> None:
    """Wait until the modules are loaded.

    Two threads that import a package and its submodule at the same time may deadlock. Python then raises an error in
    one of them, which may be the visitor's page.
    """
    _LOADED.wait()


def _load(modules: Sequence[str] = MODULES) -> None:
    """Load the modules, and exclude their objects from every later garbage collection.

    Streamlit collects garbage after each run of a page, before it sends the last elements. Searching all modules then
    takes 60 to 90 ms, and none of their 180,000 objects ever becomes garbage. During loading, collections would take
    a fifth of the time.
    """
    gc.disable()
    try:
        for name in modules:
            import_module(name)
        if modules is MODULES:
            import_module("crubric_core.analysis.compile_ahead").compile_ahead()
        gc.freeze()
    finally:
        gc.enable()
        _LOADED.set()
