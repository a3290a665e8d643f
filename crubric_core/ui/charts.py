"""Figures on their way to the browser: what was drawn for the same values before is not drawn again."""

from __future__ import annotations

import pickle
import re
from hashlib import blake2b
from io import BytesIO
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

import numpy as np
import pandas as pd
import streamlit as st
from plotly.basedatatypes import BaseFigure

from .kept import Kept

if TYPE_CHECKING:
    from collections.abc import Callable

    import plotly.graph_objects as go

# Streamlit's stand-in for its darkest text colour, set in the browser by theme: its default for axes fails WCAG AA.
INK = "#000037"
R = TypeVar("R")
MOST = 120  # figures that are kept
LARGE = 2**16  # bytes of an array whose content is looked at once
_AXIS = re.compile(r"[xy]axis\d*")


class Sent(BaseFigure):  # type: ignore[misc]
    """A finished figure, as it goes to the browser. Nobody changes it. shows: whether it has a value to show."""

    def __init__(self, spec: dict[str, Any], *, shows: bool = True) -> None:
        self._spec, self._shows = spec, shows

    @property
    def shows(self) -> bool:
        """Whether it has a value to show."""
        return self._shows

    def to_dict(self) -> dict[str, Any]:
        """The figure as Plotly's JSON has it."""
        return self._spec


def drawn(make: Callable[..., go.Figure], *given: Any, **named: Any) -> Sent:
    """The figure that ``make`` draws of what is ``given``, drawn once for the same content by all sessions.

    make: a function of a module that depends on nothing else. Arrays that are given must never change afterwards.
    """
    key = ("drawn", make.__module__, make.__qualname__, _content((given, named)))
    found: Sent = _kept().once(key, lambda: in_ink(make(*given, **named)))
    return found


def computed(make: Callable[..., R], *given: Any) -> R:
    """What ``make`` gives, computed once for the same content; see ``drawn``."""
    key = ("computed", make.__module__, make.__qualname__, _content(given))
    found: R = _kept().once(key, lambda: make(*given))
    return found


@st.cache_resource(show_spinner=False)
def _kept() -> Kept:
    return Kept(MOST)


def in_ink(fig: go.Figure) -> Sent:
    """The figure with axes and texts that can be read in both themes, as it is sent."""
    spec: dict[str, Any] = fig.to_dict()
    layout = spec["layout"]
    for name in ("xaxis", "yaxis", *filter(_AXIS.fullmatch, list(layout))):
        axis = layout.setdefault(name, {})
        axis.setdefault("tickfont", {})["color"] = INK
        axis.setdefault("title", {}).setdefault("font", {})["color"] = INK
    layout.setdefault("font", {})["color"] = INK
    for trace in spec["data"]:
        if trace.get("type") == "heatmap":
            trace.setdefault("textfont", {})["color"] = INK
    return Sent(spec, shows=has_values(fig))


def has_values(fig: go.Figure) -> bool:
    """Whether any trace has a known value, or a bar of any length: without one plotly draws axes from -1 to 1."""
    return any(_draws(trace) for trace in fig.data)


def _draws(trace: Any) -> bool:
    if trace.type == "heatmap":
        return trace.z is not None and bool(np.isfinite(np.asarray(trace.z, dtype=np.float64)).any())
    if trace.type == "bar":
        lengths = trace.x if trace.orientation == "h" else trace.y
        return lengths is not None and bool(np.nan_to_num(np.asarray(lengths, dtype=np.float64)).any())
    known = [pd.notna(np.asarray(axis)) for axis in (trace.x, trace.y) if axis is not None]
    shared = min(map(len, known), default=0)
    return shared > 0 and bool(np.logical_and.reduce([each[:shared] for each in known]).any())


class _Content(pickle.Pickler):
    """Writes what tells values from others; of large arrays the digest."""

    def persistent_id(self, obj: Any) -> bytes | None:
        """See pickle: the digest stands for the array."""
        return _digest(obj) if isinstance(obj, np.ndarray) and obj.nbytes > LARGE else None


_DIGESTS: dict[int, bytes] = {}


def _digest(array: np.ndarray[Any, Any]) -> bytes:
    """Of dtype, shape and content, computed once for as long as the array lives."""
    if (found := _DIGESTS.get(id(array))) is None:
        hashed = blake2b(repr((array.dtype.str, array.shape)).encode(), digest_size=16)
        hashed.update(np.ascontiguousarray(array).data)
        found = _DIGESTS[id(array)] = hashed.digest()
        finalize(array, _DIGESTS.pop, id(array), None).atexit = False
    return found


def _content(values: Any) -> bytes:
    written = BytesIO()
    pickler = _Content(written, protocol=5)
    pickler.fast = True  # equal values give equal bytes, whether or not they are one object
    pickler.dump(values)
    return blake2b(written.getbuffer(), digest_size=16).digest()
