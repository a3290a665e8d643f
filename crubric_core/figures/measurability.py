"""Figures of the measurability page: how alike the judges apply each rubric."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..arrays import BoolArray, FloatArray
from .style import BLUE, GREY, SEQUENTIAL, VERMILION, figure, labels, marker_line, row_height, rows_axis

LEAST_BINS, MOST_BINS = 10, 50


def measurability_histogram(
    q_mean: FloatArray, feasible: BoolArray, tau_c: float | None, instances: float
) -> go.Figure:
    """Rubrics by posterior mean measurability (J,), kept and dropped apart; ``tau_c`` None: gate off.

    With n instances a rubric, q is one of (1 + k) / (n + 2): bars stand around these values, since other bins would
    show a comb. ``instances`` is the usual n.
    """
    bins = int(np.clip(round(instances) + 2, LEAST_BINS, MOST_BINS))
    edges = (np.arange(bins + 2) - 0.5) / bins
    fig = figure("measurability q (posterior mean)", "rubrics")
    for name, members, colour in (("kept", feasible, BLUE), ("dropped", ~feasible, GREY)):
        height, _ = np.histogram(q_mean[members & np.isfinite(q_mean)], bins=edges)
        if not height.any():
            continue
        fig.add_bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=height,
            width=1 / bins,
            name=f"{name} ({int(members.sum()):,})",
            marker={"color": colour, "line": {"width": 0}},
            customdata=np.clip(np.stack([edges[:-1], edges[1:]], axis=1), 0, 1),
            hovertemplate="q %{customdata[0]:.2f}–%{customdata[1]:.2f}: %{y:,} " + name + "<extra></extra>",
        )
    if tau_c is not None:
        marker_line(fig, tau_c, f"τ<sub>c</sub> = {tau_c:.2f}")
    fig.update_layout(xaxis_range=[0, 1], showlegend=True)
    return fig


def label_grid(
    read: FloatArray, given: FloatArray, systems: Sequence[str], judges: Sequence[str], levels: int
) -> go.Figure:
    """One rubric's labels, systems × judges (M, K); a dash where unknown (NaN).

    The colour shows what the model reads, 0 … ``levels`` - 1, the text the label as it was given.
    """
    words = np.where(given > 0, "pass", "fail")
    if levels > 2 or np.nanmax(given, initial=1) > 1:
        words = np.char.mod("%g", np.nan_to_num(given))
    words = np.where(np.isnan(given), "—", words)
    scale: object = [[0, VERMILION], [1, BLUE]] if levels == 2 else SEQUENTIAL
    fig = figure("judge", "", height=row_height(len(systems)))
    fig.add_heatmap(
        z=read,
        zmin=0,
        zmax=max(levels - 1, 1),
        colorscale=scale,
        opacity=0.85,
        showscale=False,
        xgap=3,
        ygap=3,
        text=words,
        texttemplate="%{text}",
        customdata=np.broadcast_to(np.array(labels(systems, 80), dtype=object)[:, None], read.shape),
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
