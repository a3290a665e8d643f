"""Prepare figures for the browser, so that the same values are drawn once on the server and once in the browser.

Streamlit passes every new chart to Plotly twice, the second time as a copy. Plotly does not draw a copy again if its
data have the same revision and are lists (packed arrays count as changed), and if it has no template (any
template counts as changed). So the look of the page is written into each figure, and server/charts.css sets the
colours of text and grid by the theme, also when the reader changes it. A saved picture has black text on white.
"""

from __future__ import annotations

import base64
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

from ..figures.style import BLUE, GREY, NUMBERS, TEMPLATE
from .kept import Kept

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import plotly.graph_objects as go

INK = "#101010"  # colour of text; on the screen server/charts.css replaces it by the page's text colour
CLEAR, TIP = "rgba(0, 0, 0, 0)", "#22262E"
# The look of Streamlit's template, in colours for both themes, without its padding, which pushes numbers into titles.
_FONT = {"family": '"Source Sans", sans-serif', "size": 12, "color": INK}
_AXIS_LOOK = {"title": {"font": {"size": 14}}, "ticks": "", **NUMBERS}
LOOK: dict[str, Any] = {
    "font": _FONT,
    "paper_bgcolor": "#FFFFFF",
    "plot_bgcolor": CLEAR,
    "colorway": list(TEMPLATE.layout.colorway),
    "hovermode": "closest",
    "hoverlabel": {"bgcolor": TIP, "bordercolor": GREY, "font": {**_FONT, "color": "#FFFFFF"}},
    "legend": {"bgcolor": CLEAR, "borderwidth": 0},
    "modebar": {"bgcolor": CLEAR, "color": GREY, "activecolor": BLUE},
    "newselection": {"line": {"color": BLUE}},
    "xaxis": {**_AXIS_LOOK, "showgrid": False, "zeroline": False},
    "yaxis": _AXIS_LOOK,
}
R = TypeVar("R")
MOST = 120  # figures in the cache
LARGE = 2**16  # bytes above which the hash of an array is computed only once
LISTED = 2**13  # most values of an array that is sent as a list; a longer one is sent packed, and drawn twice
_AXIS = re.compile(r"[xy]axis\d*")


class Sent(BaseFigure):  # type: ignore[misc]
    """A finished, immutable figure, as it is sent to the browser. shows: whether it has any value to show."""

    def __init__(self, spec: dict[str, Any], *, shows: bool = True) -> None:
        self._spec, self._shows = spec, shows

    @property
    def shows(self) -> bool:
        """Whether it has any value to show."""
        return self._shows

    def to_dict(self) -> dict[str, Any]:
        """The figure in the form of Plotly's JSON."""
        return self._spec

    def laid_out(self, **layout: Any) -> Sent:
        """A copy of the figure with these settings of its layout."""
        return Sent({**self._spec, "layout": {**self._spec["layout"], **layout}}, shows=self._shows)

    def clickable(self) -> Sent:
        """A copy of the figure with clickable marks; the other marks do not fade when one is clicked."""
        data = [_unfading(trace) for trace in self._spec["data"]]
        layout = {"dragmode": "zoom", **self._spec["layout"], "clickmode": "event+select"}
        return Sent({**self._spec, "data": data, "layout": layout}, shows=self._shows)


def drawn(make: Callable[..., go.Figure], *given: Any, **named: Any) -> Sent:
    """The figure ``make(*given, **named)`` in the look of the page, cached by the content of its arguments.

    All sessions share the cache. make: a function at module level that depends on its arguments only. Arrays among
    them must never change afterwards.
    """
    key = ("drawn", make.__module__, make.__qualname__, _content((given, named)))
    found: Sent = _kept().once(key, lambda: in_ink(make(*given, **named)))
    return found


def computed(make: Callable[..., R], *given: Any) -> R:
    """The result of ``make(*given)``, cached by the content of its arguments; see ``drawn``."""
    key = ("computed", make.__module__, make.__qualname__, _content(given))
    found: R = _kept().once(key, lambda: make(*given))
    return found


@st.cache_resource(show_spinner=False)
def _kept() -> Kept:
    return Kept(MOST)


def plot(sent: Sent, *, alt: str, config: dict[str, Any], key: str, **selecting: Any) -> None:
    """Show the figure on the page. selecting: further arguments of st.plotly_chart for a chart with selections."""
    st.plotly_chart(sent, theme=None, alt=alt, config=config, key=key, **selecting)


def in_ink(fig: go.Figure) -> Sent:
    """The figure in the look of the page, with text that is readable in both themes, ready to be sent."""
    spec: dict[str, Any] = _listed(fig.to_dict())
    layout = spec["layout"]
    layout.pop("template", None)
    spec["layout"] = layout = {**_over(LOOK, layout), "datarevision": _content(spec["data"]).hex()}
    for name in filter(_AXIS.fullmatch, list(layout)):
        layout[name] = _over(LOOK[f"{name[0]}axis"], layout[name])
    for trace in spec["data"]:
        if trace.get("type") == "heatmap" and _is_light_or_dark(trace.get("colorscale") or ()):
            trace["textfont"] = {"color": INK, **trace.get("textfont", {})}
    return Sent(spec, shows=has_values(fig))


def _unfading(trace: dict[str, Any]) -> dict[str, Any]:
    """The trace with marks that keep their look when others are selected."""
    marker = trace.get("marker")
    if marker is None:
        return trace
    text = {"textfont": {"color": INK}} if "text" in trace.get("mode", "") else {}
    return {**trace, "unselected": {"marker": {"opacity": marker.get("opacity", 1)}, **text}}


def _is_light_or_dark(scale: Sequence[Sequence[Any]]) -> bool:
    """Whether all colours are light in the light theme and dark in the dark one; else Plotly chooses text colours."""
    return len(scale) <= 2 or any("rgba" in str(colour) for _, colour in scale)


def unpacked(values: Any) -> np.ndarray[Any, Any]:
    """The values of a list, or of an array packed in Plotly's JSON; an empty array for None."""
    if isinstance(values, dict):
        found = np.frombuffer(base64.b64decode(values["bdata"]), dtype=np.dtype(values["dtype"]))
        shape = values.get("shape")
        return found.reshape([int(n) for n in str(shape).split(",")]) if shape is not None else found
    return np.asarray([] if values is None else values)


def _listed(value: Any) -> Any:
    """A part of Plotly's JSON with lists in place of packed arrays of at most LISTED values."""
    if isinstance(value, dict):
        if "bdata" not in value:
            return {name: _listed(each) for name, each in value.items()}
        array = unpacked(value)
        return array.tolist() if array.size <= LISTED else value
    return [_listed(each) for each in value] if isinstance(value, list | tuple) else value


def _over(base: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """``given`` merged over ``base``, recursively: values of ``given`` override those of ``base``."""
    both = {name: _over(base[name], given[name]) for name in base if isinstance(given.get(name), dict)}
    return {**base, **given, **both}


def has_values(fig: go.Figure) -> bool:
    """Whether any trace has a known value, or a bar of non-zero length; otherwise Plotly draws axes from -1 to 1."""
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
    """Pickles values for hashing; large arrays are replaced by their digests."""

    def persistent_id(self, obj: Any) -> bytes | None:
        """The digest of a large array, in its place; None for other objects (see pickle)."""
        return _digest(obj) if isinstance(obj, np.ndarray) and obj.nbytes > LARGE else None


_DIGESTS: dict[int, bytes] = {}


def _digest(array: np.ndarray[Any, Any]) -> bytes:
    """Hash of an array's dtype, shape and content, computed once for as long as the array lives."""
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
