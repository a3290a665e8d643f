"""One look for all figures: colours, layout, and the rule that a name from a file is text, never markup.

Every trace colour has at least 3.2:1 on white and on the dark background (WCAG asks 3:1 of graphics), and the
set stays apart under the common colour-vision deficiencies, so one figure serves both themes. Text and grid
colours come from the template.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from html import escape, unescape
from typing import Any
from unicodedata import combining, east_asian_width

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from ..text import rounded, shorten, told_apart

BLUE, VERMILION, GREEN, PURPLE, GREY = "#2F7FD8", "#D55E00", "#0A8F6A", "#B565B8", "#7F8793"
CATEGORIES = (BLUE, VERMILION, GREEN, PURPLE, "#B8860B", GREY)
SEQUENTIAL = "Cividis"
FADING = ((0.0, "rgba(47, 127, 216, 0.06)"), (1.0, BLUE))  # from the background, whichever it is
DIVERGING = ((0.0, VERMILION), (0.5, "#C9CDD4"), (1.0, BLUE))
ON_DIVERGING = "#000000"  # text: at least 5:1 on each of its colours, in both themes
BAND = "rgba(127, 135, 147, 0.12)"
_FORMATTED = re.compile(r"%\{([xyz]):([^}%,]+)\}")
MOST_NUMBERS = 8  # below a chart, so that they have room beside each other on a phone
FEW_COLUMNS = 6  # named columns whose names may lie flat
ROW = 22  # characters of the name of a row: more leave a chart no room on a phone, and the pointer tells all
_NARROW, _WIDE = frozenset(" !'(),-./:;I[]fijlrt|"), frozenset("%@MOQWmw")
SPARE = 4  # further characters of a name that is then whole: a cut would save next to nothing

# The standoff keeps the first numbers of both axes apart where they meet in a corner.
NUMBERS = {"automargin": True, "ticklabelstandoff": 6, "separatethousands": True}
_AXIS = {"gridcolor": "#DDE1E7", "zerolinecolor": "#DDE1E7", **NUMBERS}
TEMPLATE = go.layout.Template(
    layout=go.Layout(
        colorway=CATEGORIES,
        font={"family": "sans-serif", "size": 13, "color": "#1F2329"},
        paper_bgcolor="#FFFFFF",
        plot_bgcolor="#FFFFFF",
        hovermode="closest",
        xaxis=_AXIS,
        yaxis=_AXIS,
    )
)


def figure(x: str, y: str, *, height: int = 340, **layout: Any) -> go.Figure:
    """An empty figure with axis titles; further keywords are plotly layout settings."""
    base = {
        "template": TEMPLATE,
        "height": height,
        # Room for numbers, titles and a line of legend: where they fit, Plotly need not draw all once more.
        "margin": {"l": 72, "r": 16, "t": 32 if layout.get("showlegend") is False else 42, "b": 58},
        # Plotly keeps a line free for a title that is empty, none for one that is missing.
        **{
            axis: {"zeroline": False} | ({"title": {"text": title, "standoff": 10}} if title else {})
            for axis, title in (("xaxis", x), ("yaxis", y))
        },
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1,
            "xanchor": "left",
            "yanchor": "bottom",
            "traceorder": "normal",
        },
        "barmode": "stack",
        "bargap": 0.06,
    }
    return go.Figure(layout=base).update_layout(**layout)  # a go.Layout would be checked and copied once more


def hover(template: str) -> dict[str, str]:
    """A trace's hovertemplate with the formats of x, y and z apart: Plotly then writes the minus sign, no hyphen.

    Not for an axis with error bars, whose length Plotly would write, too.
    """
    formats = {f"{axis}hoverformat": form for axis, form in _FORMATTED.findall(template)}
    return {"hovertemplate": _FORMATTED.sub(r"%{\1}", template), **formats}


def label(text: object, limit: int = 36) -> str:
    """A name from a file as plotly text: one line, at most ``limit`` characters, its markup harmless."""
    return escape(shorten(str(text), limit), quote=False)


def labels(names: Iterable[object], limit: int = 36) -> list[str]:
    """One label a name, as in sentences and tables; names that then look alike keep what they differ by."""
    return [escape(name, quote=False) for name in told_apart(map(str, names), limit)]


def cell_share(share: float) -> str:
    """A share as the text of a narrow cell; only none is 0% and only all is 100%."""
    if np.isnan(share):
        return "—"
    return rounded(share).replace("under ", "&lt;").replace("over ", "&gt;")


def row_names(names: Iterable[object], limit: int = ROW) -> list[str]:
    """Names of rows, cut to ``limit`` characters where that saves more than SPARE; alike ones are told apart.

    Of wide characters, such as Chinese ones, half as many.
    """
    flat = [" ".join(str(name).split()) for name in names]
    most = text_width("x" * (limit + SPARE))

    def fitting(whole: str, usual: str, half: str) -> str:
        named = whole if len(whole) <= limit + SPARE else usual
        return named if text_width(named) <= most else half

    return list(map(fitting, flat, told_apart(flat, limit), told_apart(flat, limit // 2)))


def rows_axis(fig: go.Figure, names: Sequence[object], limit: int = ROW, *, tall: bool = False) -> None:
    """One named row each, the first on top; positions are 0 … n - 1, so equal names stay apart.

    tall: whether rows have room for names in two lines of ``limit`` characters.
    """
    told = row_names(names, limit * (1 + tall))
    broken = [_in_lines(name, limit) for name in told] if tall else [(name,) for name in told]
    if any(len(lines) > 1 for lines in broken):
        fig.update_yaxes(tickfont_size=11)
    lines = [escape(line, quote=False) for each in broken for line in each]
    shown = ["<br>".join(escape(line, quote=False) for line in each) for each in broken]
    fig.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(names))),
        ticktext=shown,
        range=[len(names) - 0.5, -0.5],
        showgrid=False,
        ticklabeloverflow="allow",  # the margin has room for them; the browser need not measure each again
    )
    fig.update_layout(margin_l=margin_of(lines, title=False))


def _in_lines(name: str, limit: int) -> tuple[str, ...]:
    """A name, in two lines where it is longer than one; broken after the mark or space next to its middle."""
    room = text_width("x" * (limit + SPARE))
    if text_width(name) <= room:
        return (name,)
    ends = [
        at
        for at in range(1, len(name))
        if not name[at - 1].isalnum() and max(text_width(name[:at]), text_width(name[at:])) <= room
    ]
    middle = len(name) // 2
    at = min(ends, key=lambda end: abs(end - middle), default=middle)
    return name[:at], name[at:]


def columns_axis(
    fig: go.Figure, names: Sequence[object], side: str = "top", *, width: int | None = None
) -> None:
    """One named column each, at positions 0 … n - 1; the names of many stand upright, so that each has room.

    width: pixels of all columns, where they are known to be few.
    """
    shown = labels(names, 24)
    letters = max((len(unescape(name)) for name in shown), default=0)
    many = len(names) > FEW_COLUMNS or (width is not None and 6 * letters * len(names) > width)
    fig.update_xaxes(
        tickmode="array",
        tickvals=list(range(len(names))),
        ticktext=shown,
        tickangle=-90 if many else None,
        autotickangles=[0, -90],  # where they have no room side by side: slanted ones lie on the axis's title
        tickfont={"size": 11} if many else None,
        side=side,
        showgrid=False,
        ticklabeloverflow="allow",
    )
    here = margin_of(shown, 11) if many else 64
    fig.update_layout(margin={"t": here, "b": 12} if side == "top" else {"b": here})


def whole_axis(fig: go.Figure, first: int, last: int) -> None:
    """Whole numbers from ``first`` to ``last`` below bars, cells or points; of many, some are written."""
    step = -(-(last - first + 1) // MOST_NUMBERS)
    fig.update_xaxes(range=[first - 0.5, last + 0.5], tick0=first, dtick=step, showgrid=False)


def margin_of(names: Sequence[str], size: int = 12, *, title: bool = True) -> int:
    """Pixels of a margin with these ``labels``, letters of this size, or with numbers, and the axis's title if any."""
    longest = max((text_width(unescape(name), size) for name in names), default=0)
    return max(58, 36 + longest) if title else 20 + longest


def text_width(text: str, size: int = 12) -> int:
    """Pixels of a line in letters of this size, about: a browser alone knows."""
    return round(size / 12 * sum(map(_letter_width, text)))


def _letter_width(letter: str) -> float:
    """Pixels of a letter that is 12 pixels high, in the page's font."""
    if not letter.isascii():
        return 0.0 if combining(letter) else 12.0 if east_asian_width(letter) in "WF" else 7.6
    return 3.6 if letter in _NARROW else 9.2 if letter in _WIDE else 6.4


def log_axis(fig: go.Figure, low: float, high: float) -> None:
    """A logarithmic x axis from ``low`` to ``high``, both above 0, with ticks at 1, 2 and 5 times powers of ten.

    Where fewer than two of these are within, the ends are ticks too.
    """
    ticks = [digit * 10.0**power for power in range(-9, 13) for digit in (1, 2, 5)]
    ticks = [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
    if len(ticks) < 2:
        ticks = sorted({low, *ticks, high})
    fig.update_xaxes(type="log", tickvals=ticks, ticktext=[f"{tick:,g}" for tick in ticks])


def row_height(rows: int, each: int = 24, least: int = 220) -> int:
    """Figure height in pixels for a figure of one row a system."""
    return max(least, 96 + each * rows)


def row_band(top: float, bottom: float) -> dict[str, Any]:
    """A shape behind the rows from ``top`` to ``bottom``."""
    ends = {"x0": 0, "x1": 1, "xref": "x domain", "y0": top, "y1": bottom, "yref": "y"}
    return {"type": "rect", **ends, "fillcolor": BAND, "line": {"width": 0}, "layer": "below"}


def every_other_row(rows: int) -> list[dict[str, Any]]:
    """Shapes that tell which of several marks belong to one row."""
    return [row_band(row - 0.5, row + 0.5) for row in range(0, rows, 2)]


def band(
    fig: go.Figure,
    x: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    colour: str,
    opacity: float,
    name: str | None = None,
) -> None:
    """The area between ``low`` and ``high``, where both are known; in the legend where it has a name."""
    x, low, high = (np.asarray(values, dtype=float) for values in (x, low, high))
    known = np.isfinite(low) & np.isfinite(high)
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    fig.add_scatter(
        x=np.concatenate([x[known], x[known][::-1]]),
        y=np.concatenate([high[known], low[known][::-1]]),
        fill="toself",
        fillcolor=f"rgba({red}, {green}, {blue}, {opacity})",
        line={"width": 0},
        mode="lines",
        name=name,
        showlegend=name is not None,
        hoverinfo="skip",
    )


def marker_line(fig: go.Figure, x: float, text: str, *, log: bool = False, row: int = 0) -> None:
    """A vertical threshold at ``x`` in the axis's own units, its name at its top, below the names of rows before."""
    # What add_vline draws, in a tenth of its time.
    line = {"color": VERMILION, "width": 2, "dash": "dash"}
    fig.add_shape(type="line", x0=x, x1=x, y0=0, y1=1 - 0.07 * row, xref="x", yref="y domain", line=line)
    fig.add_annotation(
        x=math.log10(x) if log else x,  # plotly wants the exponent here, and the value above
        y=1,
        yref="paper",
        xanchor="right",
        yanchor="top",
        yshift=-16 * row,
        text=text + " ",
        showarrow=False,
        font={"color": VERMILION},
    )
