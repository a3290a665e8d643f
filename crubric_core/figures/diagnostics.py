"""Figures that check the model: residual scree, local dependence (Q3), item fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..types import FloatArray, IntArray
from .style import (
    BLUE,
    DIVERGING,
    GREY,
    VERMILION,
    band,
    figure,
    hover,
    labels,
    marker_line,
    whole_axis,
)

MOST_EIGENVALUES = 15
MOST_POINTS = 4000


def scree(eigenvalues: FloatArray) -> go.Figure:
    """The largest eigenvalues of the residual correlation matrix, (n,) in descending order."""
    shown = eigenvalues[:MOST_EIGENVALUES]
    fig = figure("component", "eigenvalue", height=300, showlegend=False)
    fig.add_scatter(
        x=np.arange(1, len(shown) + 1),
        y=shown,
        mode="lines+markers",
        line={"color": BLUE, "width": 2},
        marker={"size": 8},
        hovertemplate="component %{x}: %{y:.1f}<extra></extra>",
    )
    whole_axis(fig, 1, len(shown))
    fig.update_yaxes(rangemode="tozero")
    return fig


def q3_histogram(counts: IntArray, edges: FloatArray, mean: float, critical: float) -> go.Figure:
    """Histogram of the residual correlations Q3 of all pairs of rubrics, with lines at ``mean`` ± ``critical``.

    counts: (n,) pairs in each bin. edges: (n + 1,) of the bins. critical: distance from the mean that flags a pair.
    """
    fig = figure("residual correlation Q3", "pairs of rubrics", height=300, showlegend=False, bargap=0)
    fig.add_bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=counts,
        width=np.diff(edges),
        marker={"color": BLUE, "line": {"width": 0}},
        **hover("Q3 ≈ %{x:.2f}: %{y:,} pairs<extra></extra>"),
    )
    if np.isfinite(mean):
        marker_line(fig, min(mean + critical, 1.0), "flagged beyond")
        if mean - critical > -1:
            marker_line(fig, mean - critical, "")
    return fig


def q3_heat_map(q3: FloatArray, names: Sequence[str]) -> go.Figure:
    """Heat map of Q3 (n, n) among a few rubrics; NaN is left empty."""
    shown = labels(names, 26)
    ticks = {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": shown, "showgrid": False}
    fig = figure("", "", height=max(300, 22 * len(names) + 140))
    fig.add_heatmap(
        z=q3,
        zmin=-1,
        zmax=1,
        colorscale=DIVERGING,
        customdata=[[f"{a}<br>{b}" for b in shown] for a in shown],
        colorbar={"title": {"text": "Q3", "side": "top"}, "thickness": 12},
        **hover("%{customdata}<br>Q3 = %{z:.2f}<extra></extra>"),
        hoverongaps=False,
    )
    fig.update_xaxes(**ticks, tickangle=-60)
    fig.update_yaxes(**ticks, autorange="reversed")
    return fig


def outfit(difficulty: FloatArray, statistic: FloatArray, p: FloatArray, names: Sequence[str]) -> go.Figure:
    """Outfit mean square of each rubric against its difficulty, (J,) each; rubrics with p < .05 stand out."""
    fig = figure("difficulty b", "outfit mean square", height=380)
    known = np.isfinite(statistic) & np.isfinite(p)
    for name, members, colour, size in (
        ("as the model predicts", known & (p >= 0.05), GREY, 5),
        ("misfit, p < .05", known & (p < 0.05), VERMILION, 8),
    ):
        shown = np.flatnonzero(members)[:MOST_POINTS]
        fig.add_scatter(
            x=difficulty[shown],
            y=statistic[shown],
            mode="markers",
            name=name,
            marker={"color": colour, "size": size, "opacity": 0.7},
            customdata=np.stack(
                [np.array(labels([names[j] for j in shown], 60), dtype=object), p[shown]], axis=1
            ),
            hovertemplate="%{customdata[0]}<br>outfit %{y:.2f}, p = %{customdata[1]:.3f}<extra></extra>",
        )
    fig.add_hline(y=1, line={"color": GREY, "width": 1, "dash": "dot"})
    return fig


def curve_fit(
    theta: FloatArray,
    curve: FloatArray,
    low: FloatArray,
    high: FloatArray,
    points: pd.DataFrame,
    y_title: str,
    interval: str,
) -> go.Figure:
    """One rubric's response curve with a band, and the observed shares in groups of neighbouring systems.

    theta, curve, low, high: (G,) abilities, curve and ends of the band. points: one row a group: theta, share, low,
    high, systems (their number). interval: name of the band, with its level.
    """
    fig = figure("ability θ", y_title, height=380)
    band(fig, theta, low, high, BLUE, 0.18, interval)
    fig.add_scatter(x=theta, y=curve, mode="lines", name="model", line={"color": BLUE, "width": 2.5})
    fig.add_scatter(
        x=points["theta"],
        y=points["share"],
        mode="markers",
        name="systems, grouped",
        marker={"color": VERMILION, "size": 9},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": points["high"] - points["share"],
            "arrayminus": points["share"] - points["low"],
            "color": VERMILION,
            "thickness": 1.5,
        },
        customdata=points["systems"],
        **hover("θ = %{x:.2f}: %{y:.0%} of %{customdata} systems<extra></extra>"),
    )
    fig.update_yaxes(range=[-0.05, 1.05])
    return fig
