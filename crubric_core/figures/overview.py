"""Figures of the overview page: what is here, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..arrays import FloatArray
from .style import CATEGORIES, SEQUENTIAL, figure, label, labels, row_height, rows_axis

SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x")


def completeness(present: FloatArray, systems: Sequence[str], judges: Sequence[str]) -> go.Figure:
    """Share of the rubrics that each judge labelled for each system, (M, K), 0 … 1."""
    fig = figure("", "", height=row_height(len(systems), each=20))
    fig.add_heatmap(
        z=present,
        zmin=0,
        zmax=1,
        colorscale=SEQUENTIAL,
        showscale=False,
        xgap=2,
        ygap=2,
        texttemplate="%{z:.0%}",
        customdata=np.broadcast_to(np.array(labels(systems, 80), dtype=object)[:, None], present.shape),
        hovertemplate="%{customdata}<br>%{x}: %{z:.1%} of the rubrics<extra></extra>",
    )
    rows_axis(fig, systems)
    fig.update_layout(margin_t=8)
    fig.update_xaxes(
        tickmode="array", tickvals=list(range(len(judges))), ticktext=labels(judges, 20), showgrid=False
    )
    return fig


def judge_means(mean: FloatArray, systems: Sequence[str], judges: Sequence[str], axis: str) -> go.Figure:
    """What each judge gives each system on average, (M, K): a judge left of the others is the stricter one."""
    fig = figure(axis, "", height=row_height(len(systems), each=20))
    rows = np.arange(len(systems))
    for k, judge in enumerate(judges):
        fig.add_scatter(
            x=mean[:, k],
            y=rows,
            mode="markers",
            name=label(judge, 24),
            marker={
                "color": CATEGORIES[k % len(CATEGORIES)],
                "symbol": SYMBOLS[k % len(SYMBOLS)],
                "size": 9,
            },
            customdata=labels(systems, 80),
            hovertemplate="%{customdata}: %{x:.2f}",
        )
    rows_axis(fig, systems)
    return fig
