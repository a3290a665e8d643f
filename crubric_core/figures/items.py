"""Figures of the Items page: which rubrics separate systems, and where on the ability scale.

Thousands of curves take seconds to draw, so figures show quantile bands of all rubrics and the curves of a few.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..text import numeral
from ..types import BoolArray, FloatArray, IntArray
from .style import BLUE, CATEGORIES, GREY, SEQUENTIAL, band, figure, hover, labels, margin_of

MOST_HIGHLIGHTS = 20
MOST_ROWS = 240
MOST_NAMES = 30  # most names side by side
ABILITY = "ability θ"


def symbol(position: int) -> int:
    """Plotly's number of the symbol of the n-th rubric; with the colours, MOST_HIGHLIGHTS rubrics look different."""
    shape, turn = position % len(CATEGORIES), position // len(CATEGORIES)
    return shape + 100 * turn  # plotly's open, dotted, and open dotted variants


def item_curves(
    theta: FloatArray, curves: FloatArray, chosen: Sequence[int], names: Sequence[str], pass_scale: str
) -> go.Figure:
    """Item characteristic curves: quantile bands of all rubrics, and the curves of the chosen ones.

    theta: (G,) nodes. curves: (G, J) probabilities. chosen: positions of rubrics. names: of all J rubrics.
    pass_scale: title of the axis.
    """
    fig = _bands(theta, curves, pass_scale)
    _highlight(fig, theta, curves, chosen, names, "P = %{y:.2f}")
    room = 0.03 * max(len(chosen), 1)
    fig.update_yaxes(range=[-room, 1 + room])
    return fig


def curves_and_labels(
    theta: FloatArray,
    curves: FloatArray,
    chosen: Sequence[int],
    names: Sequence[str],
    pass_scale: str,
    ability: FloatArray,
    observed: FloatArray,
    systems: Sequence[str],
) -> go.Figure:
    """``item_curves`` with the systems' consensus labels on the chosen rubrics, at their abilities (M,).

    observed: (M, n) labels of the n chosen rubrics as shares of the mark, NaN unknown.
    """
    fig = item_curves(theta, curves, chosen, names, pass_scale)
    for position in range(min(len(chosen), MOST_HIGHLIGHTS)):
        labelled = observed[:, position]
        known = ~np.isnan(labelled)
        fig.add_scatter(
            x=ability[known],
            # The points of several rubrics would cover each other at 0 and 1, so each rubric is shifted.
            y=labelled[known] + 0.03 * position * np.sign(labelled[known] - 0.5),
            customdata=labelled[known],
            mode="markers",
            marker={
                "color": CATEGORIES[position % len(CATEGORIES)],
                "size": 9,
                "symbol": symbol(position),
                "opacity": 0.8,
            },
            text=labels(np.asarray(systems, dtype=object)[known], 60),
            **hover("%{text}<br>θ = %{x:.2f}, label %{customdata:.2f}<extra></extra>"),
            showlegend=False,
        )
    return fig


def information_curves(
    theta: FloatArray, info: FloatArray, chosen: Sequence[int], names: Sequence[str]
) -> go.Figure:
    """Item information (G, J): quantile bands of the rubrics that have any, and the curves of the chosen ones."""
    informative = info.max(axis=0) > 0
    fig = _bands(theta, info[:, informative], "information I(θ)")
    _highlight(fig, theta, info, chosen, names, "I = %{y:.3f}")
    fig.update_yaxes(rangemode="tozero")
    return fig


def information_heat_map(theta: FloatArray, info: FloatArray, difficulty: FloatArray) -> go.Figure:
    """Heat map of the information of all rubrics, the easiest at the bottom.

    Above MOST_ROWS rubrics a row is the mean of a slice of equal size. theta: (G,). info: (G, J). difficulty: (J,), NaN
    if a rubric has no parameters; it is left out.
    """
    slices, places = difficulty_rows(difficulty)
    rows = np.array([info[:, part].mean(axis=1) for part in slices]).reshape(len(slices), len(theta))
    middle = np.array([np.mean(difficulty[part]) for part in slices])
    fig = figure(ABILITY, "rubrics, easy to hard", height=420, margin_r=68)
    fig.add_heatmap(
        x=theta,
        y=places,
        z=rows.astype(np.float32),
        colorscale=SEQUENTIAL,
        colorbar={"title": {"text": "I(θ)", "side": "top"}, "thickness": 12},
        customdata=[[numeral(b)] * len(theta) for b in middle],
        **hover("θ = %{x:.1f}<br>difficulty b ≈ %{customdata}<br>I = %{z:.3f}<extra></extra>"),
    )
    return fig


def difficulty_rows(difficulty: FloatArray) -> tuple[list[IntArray], FloatArray]:
    """Positions of the rubrics in each row of ``information_heat_map``, the easiest first, and the rows' y values."""
    order = np.argsort(difficulty, kind="stable")[: int(np.isfinite(difficulty).sum())].astype(np.int64)
    slices = np.array_split(order, min(MOST_ROWS, len(order))) if len(order) else []
    return slices, np.linspace(0, len(order), 2 * len(slices) + 1)[1::2]


def wright_map(
    difficulty: FloatArray,
    in_bank: BoolArray,
    theta: FloatArray,
    low: FloatArray,
    high: FloatArray,
    systems: Sequence[str],
) -> go.Figure:
    """Wright map: rubric difficulties (J,) and system abilities with intervals (M,) on the same axis."""
    known, best = np.isfinite(difficulty), np.argsort(-theta, kind="stable")
    theta, low, high, systems = theta[best], low[best], high[best], [systems[i] for i in best]
    start, stop = _range(np.concatenate([difficulty[known], low, high]), theta)
    edges = np.linspace(start, stop, 49)
    fig = figure("rubrics", "ability θ, difficulty b", height=520)
    for name, members, colour in (
        ("in the bank", known & in_bank, BLUE),
        ("other rubrics", known & ~in_bank, GREY),
    ):
        height, _ = np.histogram(difficulty[members], bins=edges)
        fig.add_bar(
            x=height,
            y=(edges[:-1] + edges[1:]) / 2,
            width=edges[1] - edges[0],
            orientation="h",
            name=name,
            marker={"color": colour, "line": {"width": 0}},
            **hover("b ≈ %{y:.2f}: %{x:,} " + name + "<extra></extra>"),
        )
    fig.add_scatter(
        x=np.arange(len(systems)),
        y=theta,
        xaxis="x2",
        mode="markers",
        name="systems",
        marker={"color": CATEGORIES[1], "size": 9, "symbol": "diamond"},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": high - theta,
            "arrayminus": theta - low,
            "color": CATEGORIES[1],
            "thickness": 1.5,
            "width": 0,
        },
        customdata=labels(systems, 80),
        hovertext=[numeral(ability) for ability in theta],
        hovertemplate="%{customdata}<br>θ = %{hovertext}<extra></extra>",
    )
    shown = labels(systems, 20)
    few = len(systems) <= MOST_NAMES
    fig.update_layout(
        margin_b=margin_of(shown if few else ()),
        xaxis={"domain": [0, 0.36]},
        xaxis2={
            "domain": [0.4, 1],
            "anchor": "y",
            "tickmode": "array",
            "tickvals": list(range(len(systems))),
            "ticktext": shown,
            "title": {"text": "" if few else "systems, best first (point to one)"},
            "autotickangles": [0, -90],  # upright where they have no room side by side
            "showticklabels": few,  # more would overlap
            "showgrid": False,
            "automargin": True,
        },
        yaxis_range=[start, stop],
        bargap=0,
    )
    return fig


def _bands(theta: FloatArray, curves: FloatArray, y_title: str) -> go.Figure:
    fig = figure(ABILITY, y_title)
    shown = curves[:, ~np.isnan(curves).any(axis=0)]
    if not shown.shape[1]:
        return fig
    q05, q25, q50, q75, q95 = np.quantile(shown, [0.05, 0.25, 0.5, 0.75, 0.95], axis=1)
    for name, lower, upper, opacity in (
        ("90% of rubrics", q05, q95, 0.14),
        ("middle half", q25, q75, 0.24),
    ):
        band(fig, theta, lower, upper, GREY, opacity, name)
    fig.add_scatter(
        x=theta, y=q50, mode="lines", name="median", line={"color": GREY, "width": 2}, hoverinfo="skip"
    )
    return fig


def _highlight(
    fig: go.Figure,
    theta: FloatArray,
    curves: FloatArray,
    chosen: Sequence[int],
    names: Sequence[str],
    value: str,
) -> None:
    whole = [names[j] for j in chosen[:MOST_HIGHLIGHTS]]
    told, pointed = labels(whole, 24), labels(whole, 60)
    for position, j in enumerate(chosen[:MOST_HIGHLIGHTS]):
        fig.add_scatter(
            x=theta,
            y=curves[:, j],
            mode="lines",
            name=told[position],
            line={
                "color": CATEGORIES[position % len(CATEGORIES)],
                "width": 2.5,
                "dash": ("solid", "dash", "dot", "dashdot")[position // len(CATEGORIES)],
            },
            meta=pointed[position],
            **hover("%{meta}<br>θ = %{x:.2f}, " + value + "<extra></extra>"),
        )


def _range(values: FloatArray, marked: FloatArray) -> tuple[float, float]:
    """The range of an axis: all of ``marked``, and the central 99.5% of ``values``, without outliers.

    (-4, 4) if no value is known.
    """
    finite, marked = values[np.isfinite(values)], marked[np.isfinite(marked)]
    if not finite.size:
        return -4.0, 4.0
    low, high = np.quantile(finite, [0.0025, 0.9975])
    low, high = marked.min(initial=low), marked.max(initial=high)
    pad = 0.05 * max(high - low, 1.0)
    return float(low - pad), float(high + pad)
