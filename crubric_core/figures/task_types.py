"""Figures of the Task types page: how queries are scored, and how probable their types are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..types import FloatArray
from .style import (
    BLUE,
    CATEGORIES,
    GREY,
    VERMILION,
    figure,
    hover,
    labels,
    marker_line,
    row_height,
    rows_axis,
)

BINS, FEW_ROWS = 20, 30


def scored_as(counts: dict[str, int], plain: str) -> go.Figure:
    """Number of queries by the rules that score them. plain: name of the entry without rules of a type."""
    fig = figure("queries", "", height=row_height(len(counts), 30, 240), showlegend=False)
    fig.add_bar(
        x=list(counts.values()),
        y=list(range(len(counts))),
        orientation="h",
        marker={"color": [GREY if name == plain else BLUE for name in counts]},
        text=[f"{n:,}" for n in counts.values()],
        hovertemplate="%{y}: %{x:,} queries<extra></extra>",
    )
    rows_axis(fig, list(counts))
    return fig


def certainty(likeliest: FloatArray, tau_t: float) -> go.Figure:
    """Histogram of the probability of the most probable type of each query (N,); NaN is left out."""
    height, edges = np.histogram(likeliest[np.isfinite(likeliest)], bins=np.linspace(0, 1, BINS + 1))
    middle = (edges[:-1] + edges[1:]) / 2
    fig = figure("probability of the likeliest type", "queries", height=240, showlegend=False)
    fig.add_bar(
        x=middle,
        y=height,
        width=1 / BINS,
        marker={"color": BLUE, "line": {"width": 0}},
        hovertemplate="around %{x:.2f}: %{y:,} queries<extra></extra>",
    )
    marker_line(fig, tau_t, f"τ<sub>t</sub> = {tau_t:.2f}")
    fig.update_xaxes(range=[0, 1])
    fig.update_yaxes(range=[0, 1.15 * max(int(height.max()), 1)])  # the name of the line is above the bars
    return fig


def probabilities(names: Sequence[str], shares: FloatArray, tau_t: float) -> go.Figure:
    """The probabilities (T,) of the task types of one query, with a line at tau_t."""
    fig = figure("probability", "", height=220, showlegend=False)
    fig.add_bar(
        x=shares,
        y=list(range(len(names))),
        orientation="h",
        marker={"color": BLUE},
        text=[f"{p:.0%}" for p in shares],
        textangle=0,
        hovertemplate="%{x:.1%}<extra></extra>",
    )
    rows_axis(fig, names)
    marker_line(fig, tau_t, "τ<sub>t</sub>")
    fig.update_yaxes(range=[len(names) - 0.5, -1.1])  # the name of the line is above the bars
    fig.update_xaxes(range=[0, 1], tickformat=".0%")
    return fig


def contributions(rubrics: Sequence[str], contribution: FloatArray, emphasis: FloatArray) -> go.Figure:
    """The contribution (n,) of each rubric to a query's score, in the order given.

    Rubrics with an emphasis (n,) above 1, and rubrics that subtract, have special colours.
    """
    many = len(rubrics) > FEW_ROWS
    fig = figure("contribution to the score", "", height=row_height(len(rubrics), 12 if many else 22))
    groups = {
        "counts once": ((contribution >= 0) & (emphasis == 1), BLUE),
        "counts more": ((contribution >= 0) & (emphasis > 1), CATEGORIES[2]),
        "subtracts": (contribution < 0, VERMILION),
    }
    names = np.array(labels(rubrics, 80), dtype=object)
    for name, (members, colour) in groups.items():
        rows = np.flatnonzero(members)
        if not len(rows):
            continue
        fig.add_bar(
            x=contribution[rows],
            y=rows,
            orientation="h",
            name=name,
            marker={"color": colour},
            customdata=names[rows],
            **hover("%{customdata}: %{x:+.3f}<extra></extra>"),
        )
    rows_axis(fig, rubrics, 30)
    fig.update_yaxes(tickfont={"size": 9} if many else None)
    fig.update_layout(showlegend=True)
    return fig
