"""Figures of the judges' mean labels corrected by human labels."""

from __future__ import annotations

import plotly.graph_objects as go

from ..types import FloatArray, IntArray
from .style import BLUE, GREY, figure, log_axis


def half_widths(queries: IntArray, both: FloatArray, alone: FloatArray) -> go.Figure:
    """Half width of a system's interval against the number of queries that people label, (Q,) each.

    both: with the judges' labels. alone: with the human labels alone.
    """
    fig = figure("queries that people label", "± of the mean label", yaxis_rangemode="tozero")
    for name, width, colour, dash in (
        ("with the judges' labels", both, BLUE, "solid"),
        ("human labels alone", alone, GREY, "dash"),
    ):
        fig.add_scatter(
            x=queries,
            y=width,
            mode="lines",
            name=name,
            line={"color": colour, "dash": dash, "width": 2},
            hovertemplate="%{x:,} queries: ±%{y:.3f}<extra>" + name + "</extra>",
        )
    log_axis(fig, float(queries.min()), float(queries.max()))
    return fig
