"""Figures on their way to the browser: drawn once here for the same values, and once there.

Streamlit hands every new chart to Plotly twice, the second time as a copy. Plotly finds nothing to draw anew in a copy
if it says that its data are of the same revision, if they are lists (packed arrays count as changed), and if it has no
template (any does). So the look of the page is written into each figure, and server/charts.css gives text and grid the
colours of the theme, also when the reader changes it; a saved picture has black text on white.
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

INK = "#101010"  # of text; the page's own text colour on the screen (server/charts.css)
CLEAR, TIP = "rgba(0, 0, 0, 0)", "#22262E"
# What Streamlit's template sets, in colours for both themes; its padding would push numbers into the axis titles.
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
MOST = 120  # figures that are kept
LARGE = 2**16  # bytes of an array whose content is looked at once
LISTED = 2**13  # values of an array that is sent as a list; a longer one is sent packed, and drawn twice
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

    def laid_out(self, **layout: Any) -> Sent:
        """The figure with these settings of its layout."""
        return Sent({**self._spec, "layout": {**self._spec["layout"], **layout}}, shows=self._shows)

    def clickable(self) -> Sent:
        """The figure with marks that can be clicked; none fades because another one is."""
        data = [_unfading(trace) for trace in self._spec["data"]]
        layout = {"dragmode": "zoom", **self._spec["layout"], "clickmode": "event+select"}
        return Sent({**self._spec, "data": data, "layout": layout}, shows=self._shows)


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


def plot(sent: Sent, *, alt: str, config: dict[str, Any], key: str, **selecting: Any) -> None:
    """The figure on the page; further keywords are those of a chart on which one selects."""
    st.plotly_chart(sent, theme=None, alt=alt, config=config, key=key, **selecting)


def in_ink(fig: go.Figure) -> Sent:
    """The figure in the look of the page, with text that can be read in both themes, as it is sent."""
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
    """The trace with the look of its marks unchanged where others are selected."""
    marker = trace.get("marker")
    if marker is None:
        return trace
    text = {"textfont": {"color": INK}} if "text" in trace.get("mode", "") else {}
    return {**trace, "unselected": {"marker": {"opacity": marker.get("opacity", 1)}, **text}}


def _is_light_or_dark(scale: Sequence[Sequence[Any]]) -> bool:
    """Whether all cells are light in the light theme and dark in the other; else Plotly chooses each text's colour."""
    return len(scale) <= 2 or any("rgba" in str(colour) for _, colour in scale)


def unpacked(values: Any) -> np.ndarray[Any, Any]:
    """The values of a list, or of an array as Plotly's JSON packs it."""
    if isinstance(values, dict):
        found = np.frombuffer(base64.b64decode(values["bdata"]), dtype=np.dtype(values["dtype"]))
        shape = values.get("shape")
        return found.reshape([int(n) for n in str(shape).split(",")]) if shape is not None else found
    return np.asarray([] if values is None else values)


def _listed(value: Any) -> Any:
    """A part of Plotly's JSON with lists in place of short packed arrays."""
    if isinstance(value, dict):
        if "bdata" not in value:
            return {name: _listed(each) for name, each in value.items()}
        array = unpacked(value)
        return array.tolist() if array.size <= LISTED else value
    return [_listed(each) for each in value] if isinstance(value, list | tuple) else value


def _over(base: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """What is given, and of the base what is not."""
    both = {name: _over(base[name], given[name]) for name in base if isinstance(given.get(name), dict)}
    return {**base, **given, **both}


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
