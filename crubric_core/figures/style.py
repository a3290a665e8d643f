"""The common look of all figures: colours, layout, and the rule that a name from a file is text, never markup.

Every trace colour has a contrast of at least 3.2:1 on white and on the dark background (WCAG requires 3:1 for
graphics), and the colours are distinguishable with the common colour-vision deficiencies, so a figure serves both
themes. Text and grid colours come from the template.
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

from ..text import rounded, short_names, shorten

BLUE, VERMILION, GREEN, PURPLE, GREY = "#2F7FD8", "#D55E00", "#0A8F6A", "#B565B8", "#7F8793"
CATEGORIES = (BLUE, VERMILION, GREEN, PURPLE, "#B8860B", GREY)
SEQUENTIAL = "Cividis"
FADING = ((0.0, "rgba(47, 127, 216, 0.06)"), (1.0, BLUE))  # from nearly transparent, for both themes
DIVERGING = ((0.0, VERMILION), (0.5, "#C9CDD4"), (1.0, BLUE))
ON_DIVERGING = "#000000"  # colour of text on DIVERGING: a contrast of at least 5:1, in both themes
BAND = "rgba(127, 135, 147, 0.12)"
_FORMATTED = re.compile(r"%\{([xyz]):([^}%,]+)\}")
MOST_NUMBERS = 8  # most numbers on an x axis that have room side by side on a phone
FEW_COLUMNS = 6  # most columns whose names are horizontal
ROW = 22  # characters of a row's name; longer ones leave no room for the chart on a phone
_NARROW, _WIDE = frozenset(" !'(),-./:;I[]fijlrt|"), frozenset("%@MOQWmw")
SPARE = 4  # a name that exceeds its limit by at most so many characters is not cut

# The standoff separates the first numbers of both axes in their common corner.
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
        # Room for numbers, titles and one line of legend: if they fit, Plotly need not draw the figure twice.
        "margin": {"l": 72, "r": 16, "t": 32 if layout.get("showlegend") is False else 42, "b": 58},
        # Plotly reserves a line for an empty title, but none for a missing one.
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
    return go.Figure(layout=base).update_layout(**layout)  # a go.Layout would be validated and copied again


def hover(template: str) -> dict[str, str]:
    """A trace's hovertemplate, with the formats of x, y and z moved to separate settings.

    Plotly then writes a real minus sign instead of a hyphen. Not for an axis with error bars, since Plotly would also
    write their lengths.
    """
    formats = {f"{axis}hoverformat": form for axis, form in _FORMATTED.findall(template)}
    return {"hovertemplate": _FORMATTED.sub(r"%{\1}", template), **formats}


def label(text: object, limit: int = 36) -> str:
    """A name from a file as plotly text: one line, at most ``limit`` characters, with its markup escaped."""
    return escape(shorten(str(text), limit), quote=False)


def labels(names: Iterable[object], limit: int = 36) -> list[str]:
    """The names as plotly texts of at most ``limit`` characters, escaped; different names stay different."""
    return [escape(name, quote=False) for name in short_names(map(str, names), limit)]


def cell_share(share: float) -> str:
    """A share as the text of a narrow cell, such as "<1%": only 0 is "0%" and only 1 is "100%"; — for NaN."""
    if np.isnan(share):
        return "—"
    return rounded(share).replace("under ", "&lt;").replace("over ", "&gt;")


def row_names(names: Iterable[object], limit: int = ROW) -> list[str]:
    """Names of rows, cut to ``limit`` characters if they are longer by more than SPARE; different names stay different.

    Names of wide characters, such as Chinese ones, are cut to half as many.
    """
    flat = [" ".join(str(name).split()) for name in names]
    most = text_width("x" * (limit + SPARE))

    def fitting(whole: str, usual: str, half: str) -> str:
        named = whole if len(whole) <= limit + SPARE else usual
        return named if text_width(named) <= most else half

    return list(map(fitting, flat, short_names(flat, limit), short_names(flat, limit // 2)))


def rows_axis(fig: go.Figure, names: Sequence[object], limit: int = ROW, *, tall: bool = False) -> None:
    """Make the y axis one of n named rows, the first on top, at positions 0 … n - 1, so that names may be equal.

    limit: characters of a line of a name. tall: whether rows have room for names in two lines.
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
        ticklabeloverflow="allow",  # the margin has room for them, so the browser need not measure them
    )
    fig.update_layout(margin_l=margin_of(lines, title=False))


def _in_lines(name: str, limit: int) -> tuple[str, ...]:
    """A name in one line, or in two if it is too long, broken after the punctuation or space nearest to its middle."""
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
    """Make the x axis one of n named columns at the positions 0 … n - 1; the names of many columns are vertical.

    side: where the names are. width: pixels of all columns, if known; names that need more are vertical.
    """
    shown = labels(names, 24)
    letters = max((len(unescape(name)) for name in shown), default=0)
    many = len(names) > FEW_COLUMNS or (width is not None and 6 * letters * len(names) > width)
    fig.update_xaxes(
        tickmode="array",
        tickvals=list(range(len(names))),
        ticktext=shown,
        tickangle=-90 if many else None,
        autotickangles=[0, -90],  # never slanted, which would cover the title of the axis
        tickfont={"size": 11} if many else None,
        side=side,
        showgrid=False,
        ticklabeloverflow="allow",
    )
    here = margin_of(shown, 11) if many else 64
    fig.update_layout(margin={"t": here, "b": 12} if side == "top" else {"b": here})


def whole_axis(fig: go.Figure, first: int, last: int) -> None:
    """Make the x axis one of whole numbers from ``first`` to ``last``, with at most MOST_NUMBERS ticks."""
    step = -(-(last - first + 1) // MOST_NUMBERS)
    fig.update_xaxes(range=[first - 0.5, last + 0.5], tick0=first, dtick=step, showgrid=False)


def margin_of(names: Sequence[str], size: int = 12, *, title: bool = True) -> int:
    """Pixels of a margin with these ``labels`` in this font size. title: whether the axis has a title or numbers."""
    longest = max((text_width(unescape(name), size) for name in names), default=0)
    return max(58, 36 + longest) if title else 20 + longest


def text_width(text: str, size: int = 12) -> int:
    """Approximate width in pixels of a line of text in this font size."""
    return round(size / 12 * sum(map(_letter_width, text)))


def _letter_width(letter: str) -> float:
    """Approximate width in pixels of a letter of the page's font at 12 pixels."""
    if not letter.isascii():
        return 0.0 if combining(letter) else 12.0 if east_asian_width(letter) in "WF" else 7.6
    return 3.6 if letter in _NARROW else 9.2 if letter in _WIDE else 6.4


def log_axis(fig: go.Figure, low: float, high: float) -> None:
    """A logarithmic x axis from ``low`` to ``high``, both above 0, with ticks at 1, 2 and 5 times powers of ten.

    If fewer than two of these are within the range, its ends are ticks too.
    """
    ticks = [digit * 10.0**power for power in range(-9, 13) for digit in (1, 2, 5)]
    ticks = [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
    if len(ticks) < 2:
        ticks = sorted({low, *ticks, high})
    fig.update_xaxes(type="log", tickvals=ticks, ticktext=[f"{tick:,g}" for tick in ticks])


def row_height(rows: int, each: int = 24, least: int = 220) -> int:
    """Height in pixels of a figure with so many rows. each: pixels of a row. least: least height."""
    return max(least, 96 + each * rows)


def row_band(top: float, bottom: float) -> dict[str, Any]:
    """A plotly shape: a band behind the rows from ``top`` to ``bottom``."""
    ends = {"x0": 0, "x1": 1, "xref": "x domain", "y0": top, "y1": bottom, "yref": "y"}
    return {"type": "rect", **ends, "fillcolor": BAND, "line": {"width": 0}, "layer": "below"}


def every_other_row(rows: int) -> list[dict[str, Any]]:
    """Plotly shapes: a band behind every other row, which shows which points belong to the same row."""
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
    """Add the area between ``low`` and ``high``, where both are known. name: in the legend; None: not there."""
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
    """Add a vertical line at ``x``, in the units of the axis, with a text at its top.

    log: whether the axis is logarithmic. row: how many lines of text to leave free above, for other lines' texts.
    """
    # As add_vline, ten times faster.
    line = {"color": VERMILION, "width": 2, "dash": "dash"}
    fig.add_shape(type="line", x0=x, x1=x, y0=0, y1=1 - 0.07 * row, xref="x", yref="y domain", line=line)
    fig.add_annotation(
        x=math.log10(x) if log else x,  # an annotation needs the exponent, a shape the value
        y=1,
        yref="paper",
        xanchor="right",
        yanchor="top",
        yshift=-16 * row,
        text=text + " ",
        showarrow=False,
        font={"color": VERMILION},
    )
