"""The error boundary: a user's error shows its own message, any other error a general message and a log entry."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

import streamlit as st

from ..errors import CrubricError
from .text import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

logger = logging.getLogger(__name__)
CALM = (
    "Something unexpected went wrong here. Reload the page or try other settings. "
    "The details are in the log of the process that serves this page."
)


def report(error: Exception) -> bool:
    """Show an error, and log it unless the user caused it; returns True, so that Streamlit does not show it again."""
    if isinstance(error, CrubricError):
        st.error(plain(str(error)))
    else:
        logger.error("Unexpected error in a page", exc_info=error)
        st.error(CALM)
    return True


@contextmanager
def boundary() -> Iterator[None]:
    """Catch and report every exception that the code of a page raises inside."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the boundary is the one place that takes everything
        report(error)
