"""Figures of the measurability page: how alike the judges apply each rubric."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..arrays import BoolArray, FloatArray
from .style import BLUE, GREY, SEQUENTIAL, VERMILION, figure, labels, marker_line, row_height, rows_axis

BINS = 50


def measurability_histogram(q_mean: FloatArray, feasible: BoolArray, tau_c: float | None) -> go.Figure:
    """Rubrics by posterior mean measurability (J,), kept and dropped apart; ``tau_c`` None: gate off."""
    edges = np.linspace(0, 1, BINS + 1)
    fig = figure("measurability q (posterior mean)", "rubrics")
    for name, members, colour in (("kept", feasible, BLUE), ("dropped", ~feasible, GREY)):
        height, _ = np.histogram(q_mean[members & np.isfinite(q_mean)], bins=edges)
        if not height.any():
            continue
        fig.add_bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=height,
            width=1 / BINS,
            name=f"{name} ({int(members.sum()):,})",
            marker={"color": colour, "line": {"width": 0}},
            customdata=np.stack([edges[:-1], edges[1:]], axis=1),
            hovertemplate="q %{customdata[0]:.2f}–%{customdata[1]:.2f}: %{y:,} " + name + "<extra></extra>",
        )
    if tau_c is not None:
        marker_line(fig, tau_c, f"τ<sub>c</sub> = {tau_c:.2f}")
    fig.update_layout(xaxis_range=[0, 1.005], showlegend=True, bargap=0.04)
    return fig


def label_grid(
    grid: FloatArray, systems: Sequence[str], judges: Sequence[str], levels: int, minimum: float = 0
) -> go.Figure:
    """One rubric's labels, systems × judges (M, K): levels 0 … ``levels`` - 1, a dash where unknown (NaN)."""
    if levels == 2:
        words = np.where(np.isnan(grid), "—", np.where(grid > 0, "pass", "fail"))
        scale: object = [[0, VERMILION], [1, BLUE]]
    else:
        words = np.where(np.isnan(grid), "—", np.char.mod("%g", np.nan_to_num(grid) + minimum))
        scale = SEQUENTIAL
    fig = figure("judge", "", height=row_height(len(systems)))
    fig.add_heatmap(
        z=grid,
        zmin=0,
        zmax=max(levels - 1, 1),
        colorscale=scale,
        showscale=False,
        xgap=3,
        ygap=3,
        text=words,
        texttemplate="%{text}",
        customdata=np.broadcast_to(np.array(labels(systems, 80), dtype=object)[:, None], grid.shape),
        hovertemplate="%{customdata}<br>%{x}: %{text}<extra></extra>",
        hoverongaps=False,
    )
    rows_axis(fig, systems)
    fig.update_xaxes(
        tickmode="array",
        tickvals=list(range(len(judges))),
        ticktext=labels(judges, 24),
        side="top",
        showgrid=False,
    )
    return fig


def baseline_bars(counts: dict[str, int], total: int) -> go.Figure:
    """Rubrics left by each rule, as shares of all: measurability beside the consensus-derived baseline."""
    names = list(counts)
    values = np.array(list(counts.values()), dtype=np.float64)
    share = values / total if total else np.full(values.shape, np.nan)
    fig = figure("share of all rubrics", "", height=row_height(len(names), each=34, least=180))
    fig.add_bar(
        x=share,
        y=np.arange(len(names)),
        orientation="h",
        marker={"color": [BLUE, *[GREY] * (len(names) - 1)]},
        text=[f"{int(n):,} ({s:.0%})" for n, s in zip(values, share, strict=True)],
        textposition="auto",
        hoverinfo="skip",
    )
    rows_axis(fig, names, limit=60)
    fig.update_layout(xaxis={"range": [0, 1], "tickformat": ".0%"}, showlegend=False, bargap=0.3)
    return fig
