"""The figure of the overview page: what each judge gives each system, or leaves out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..types import FloatArray
from .style import CATEGORIES, figure, label, labels, row_height, rows_axis

SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x")


def judge_dots(shares: FloatArray, systems: Sequence[str], judges: Sequence[str], axis: str) -> go.Figure:
    """A share for each system and judge, (M, K), 0 … 1; NaN where a judge has none."""
    fig = figure(axis, "", height=row_height(len(systems), each=21))
    for k, judge in enumerate(judges):
        fig.add_scatter(
            x=shares[:, k],
            y=np.arange(len(systems)),
            mode="markers",
            name=label(judge, 24),
            marker={
                "color": CATEGORIES[k % len(CATEGORIES)],
                "symbol": SYMBOLS[k % len(SYMBOLS)],
                "size": 9,
            },
            customdata=labels(systems, 80),
            hovertemplate="%{customdata}: %{x:.1%}",
        )
    rows_axis(fig, systems)
    top = 1.05 * max(float(np.nanmax(shares, initial=0)), 0.05)
    fig.update_layout(
        xaxis={"tickformat": ".0%", "showgrid": True, "range": [-0.03 * top, top]}, showlegend=True
    )
    return fig
