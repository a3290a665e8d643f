"""Figures of the Bank page: how few rubrics are enough."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go

from ..text import at_least
from ..types import FloatArray, IntArray
from .style import BLUE, CATEGORIES, GREEN, GREY, VERMILION, band, figure, hover, label, log_axis, marker_line

MOST_POINTS = 400
MOST_TICKS, TICK = 100, 0.05  # most systems with a tick each; beyond, abilities are rounded to TICK
_LINES = {0: "solid", 1: "dash", 2: "dot", 3: "dashdot"}


def information_totals(
    theta: FloatArray, totals: Mapping[str, FloatArray], systems: FloatArray | None = None
) -> go.Figure:
    """Test information I_S(θ) of each named set of rubrics, with ticks at the abilities of the systems.

    theta: (G,) abilities. totals: (G,) information of each set. systems: (M,) abilities of the systems.
    """
    fig = figure("ability θ", "test information I(θ)", yaxis_rangemode="tozero")
    _lines(fig, theta, totals, "I = %{y:.1f}")
    return _rug(fig, systems)


def standard_errors(
    theta: FloatArray, totals: Mapping[str, FloatArray], systems: FloatArray | None = None
) -> go.Figure:
    """SE(θ) = I_S(θ)^-1/2 of each named set of rubrics, with gaps where a set has no information.

    theta: (G,) abilities. totals: (G,) test information of each set. systems: (M,) abilities of the systems.
    """
    errors = {name: _inverse_root(total) for name, total in totals.items()}
    fig = figure("ability θ", "SE(θ), by the model alone")
    _lines(fig, theta, errors, "SE = %{y:.3f}")
    finite = [known for e in errors.values() if (known := e[np.isfinite(e)]).size]
    top = 1.0
    if finite:
        # SE grows without bound away from the systems, so the axis ends at a multiple of the least SE.
        least = [float(known.min()) for known in finite]
        near = max(8 * min(least), 2 * max(least), _worst(errors, theta, systems))
        top = min(max(float(known.max()) for known in finite), near)
    fig.update_yaxes(range=[0, 1.05 * top])
    return _rug(fig, systems)


def _worst(errors: Mapping[str, FloatArray], theta: FloatArray, systems: FloatArray | None) -> float:
    """The largest finite error of any set within the range of the systems; 0 without systems."""
    known = np.zeros(0) if systems is None else systems[np.isfinite(systems)]
    if not len(known):
        return 0.0
    here = (theta >= known.min()) & (theta <= known.max())
    return max((float(e[here & np.isfinite(e)].max(initial=0)) for e in errors.values()), default=0.0)


def worth_curve(
    sizes: IntArray, chosen: FloatArray, random: FloatArray, size: int, least: int | None
) -> go.Figure:
    """Share of the pool's separated pairs that banks of each size keep, for systems that they have not seen.

    sizes: (n,) bank sizes. chosen, random: (n, 3) estimate and ends of the interval. size: size of the bank, which may
    be larger than ``sizes``. least: the size from which on 95% are kept; None: no size.
    """
    fig = figure("bank size B", "separated pairs kept")
    for name, values, colour, dash in (
        ("this bank", chosen, BLUE, "solid"),
        ("random banks", random, GREY, "dash"),
    ):
        band(fig, sizes, values[:, 1], values[:, 2], colour, 0.18)
        fig.add_scatter(
            x=sizes,
            y=values[:, 0],
            mode="lines+markers",
            name=name,
            line={"color": colour, "width": 2.5, "dash": dash},
            customdata=values[:, 1:],
            meta=name,
            hovertemplate="%{meta} of %{x:,}: %{y:.1%} [%{customdata[0]:.1%}, %{customdata[1]:.1%}]<extra></extra>",
        )
    _share_axis(fig, int(sizes[0]), max(int(sizes[-1]), size))
    marks = {size: f"B = {size:,}"}
    if least is not None and least != size:
        marks[least] = f"95% from {least:,}"
        fig.update_yaxes(range=[0, 1.2])  # room for a second name
    for row, at in enumerate(
        sorted(marks, reverse=True)
    ):  # a name is to the left of its line, so that it does not cover the other line
        marker_line(fig, at, marks[at], log=True, row=row)
    return fig


def gain_curve(share: FloatArray, guarantee: FloatArray | None, budget: int) -> go.Figure:
    """Utility of the first 1, 2, …, n rubrics of the order, as a share of the pool's.

    share: (n,). guarantee: (n,) their proven share of the utility of the best bank of that size; None: not shown.
    """
    sizes = np.arange(1, len(share) + 1)
    at = _thin(len(share))
    fig = figure("bank size B", "utility, share of the pool's")
    fig.add_scatter(
        x=sizes[at],
        y=share[at],
        mode="lines",
        name="this bank",
        line={"color": BLUE, "width": 2.5},
        hovertemplate="B = %{x:,}: %{y:.1%}<extra></extra>",
    )
    if guarantee is not None:
        fig.add_scatter(
            x=sizes[at],
            y=guarantee[at],
            mode="lines",
            name="proven share of the best possible bank",
            line={"color": GREEN, "width": 2, "dash": "dot"},
            customdata=[at_least(proven) for proven in guarantee[at]],
            hovertemplate="B = %{x:,}: %{customdata} of the best<extra></extra>",
        )
    _share_axis(fig, 1, len(share))
    _budget_line(fig, budget, len(share))
    return fig


def strategies(shares: Mapping[str, FloatArray], budget: int) -> go.Figure:
    """Utility against the bank size for each strategy, all as shares of the utility of the pool: name → (n,)."""
    fig = figure("bank size B", "utility, share of the pool's")
    longest = 1
    for position, (name, share) in enumerate(shares.items()):
        at = _thin(len(share))
        longest = max(longest, len(share))
        fig.add_scatter(
            x=at + 1,
            y=share[at],
            mode="lines",
            name=name,
            line={"color": CATEGORIES[position], "width": 2.5, "dash": _LINES[position % 4]},
            meta=name,
            hovertemplate="%{meta}, B = %{x:,}: %{y:.1%}<extra></extra>",
        )
    _share_axis(fig, 1, longest)
    # A random bank may hold rubrics that the gate drops, and so exceed 100%.
    fig.update_yaxes(range=[0, 1.12 * max(1.0, *(float(share.max(initial=0)) for share in shares.values()))])
    _budget_line(fig, budget, longest)
    return fig


def query_coverage(bank: IntArray, pool: IntArray) -> go.Figure:
    """How many queries have 0, 1, 2 … rubrics in the bank.

    bank, pool: (N,) numbers of rubrics of each query in the bank, and of those that pass the gate.
    """
    most = int(bank.max(initial=0))
    edges = np.arange(most + 2) if most <= 24 else np.unique(np.linspace(0, most + 1, 25).astype(int))
    height, _ = np.histogram(bank, bins=edges)
    names = [str(a) if b - a == 1 else f"{a}–{b - 1}" for a, b in pairwise(edges)]
    reach = [
        float(pool[(bank >= a) & (bank < b)].mean()) if n else np.nan
        for a, b, n in zip(edges[:-1], edges[1:], height, strict=True)
    ]
    fig = figure("rubrics of the query in the bank", "queries", showlegend=False)
    fig.add_bar(
        x=names,
        y=height,
        marker={"color": [VERMILION if a == 0 else BLUE for a in edges[:-1]]},
        customdata=reach,
        hovertemplate="%{y:,} queries with %{x} in the bank<br>(%{customdata:.1f} pass the gate on average)"
        "<extra></extra>",
    )
    fig.update_xaxes(type="category")
    return fig


def _lines(fig: go.Figure, theta: FloatArray, sets: Mapping[str, FloatArray], value: str) -> None:
    for position, (name, values) in enumerate(sets.items()):
        fig.add_scatter(
            x=theta,
            y=values,
            mode="lines",
            name=label(name),
            line={"color": (BLUE, GREY, GREEN)[position % 3], "width": 2.5, "dash": _LINES[position % 4]},
            meta=label(name),
            **hover("%{meta}<br>θ = %{x:.2f}, " + value + "<extra></extra>"),
        )


def _rug(fig: go.Figure, systems: FloatArray | None) -> go.Figure:
    """Add a tick at the ability of each system; above MOST_TICKS systems, one at each rounded ability that occurs."""
    if systems is not None and len(systems):
        who = "a system at"
        if len(systems) > MOST_TICKS:
            systems, who = np.unique(np.round(systems / TICK)) * TICK, "systems near"
        fig.add_scatter(
            x=systems,
            y=np.zeros(len(systems)),
            mode="markers",
            name="systems (pooled fit)",
            marker={"symbol": "line-ns", "size": 12, "line": {"width": 2, "color": VERMILION}},
            **hover(who + " θ = %{x:.2f}<extra></extra>"),
        )
    return fig


def _budget_line(fig: go.Figure, budget: int, longest: int) -> None:
    size = max(1, min(budget, longest))
    marker_line(fig, size, f"B = {size:,}", log=True)


def _share_axis(fig: go.Figure, least: int, longest: int) -> None:
    longest = max(longest, 2)
    log_axis(fig, least, longest)
    fig.update_xaxes(range=[math.log10(least) - 0.03, math.log10(longest) + 0.03])
    fig.update_yaxes(range=[0, 1.12], tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1], tickformat=".0%")


def _thin(length: int) -> IntArray:
    """At most MOST_POINTS positions of 0 … length - 1, evenly spaced on a log axis, both ends kept."""
    if length <= MOST_POINTS:
        return np.arange(length)
    return np.unique(np.geomspace(1, length, MOST_POINTS).astype(np.int64) - 1)


def _inverse_root(total: FloatArray) -> FloatArray:
    root: FloatArray = np.power(total, -0.5, where=total > 0, out=np.full(total.shape, np.nan))
    return root
