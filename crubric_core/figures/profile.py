"""Figures of one system, and of two side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..analysis.profile import GroupScores
from ..text import numeral
from ..types import BoolArray, FloatArray
from .naming import named_points
from .style import (
    BLUE,
    GREY,
    ROW,
    VERMILION,
    columns_axis,
    figure,
    hover,
    label,
    labels,
    log_axis,
    row_height,
    row_names,
    rows_axis,
)

MOST_BARS = 1500
GROUP = ROW - 5  # characters of a group's name, which is followed by its number of queries
SOFT = ((0.0, "rgba(213, 94, 0, 0.5)"), (0.5, "rgba(127, 135, 147, 0.08)"), (1.0, "rgba(47, 127, 216, 0.5)"))
"""Colour scale from below to above the mean, on which text is legible in both themes."""


def group_differences(found: GroupScores) -> go.Figure:
    """Mean score of one system minus that of the others in each group, with intervals; groups in the order given."""
    fig = figure("above (+) or below (−) the others", "", height=row_height(len(found.names)))
    known = np.isfinite(found.low)
    fig.add_vline(x=0, line={"color": GREY, "width": 1})
    fig.add_scatter(
        x=found.difference,
        y=np.arange(len(found.names)),
        mode="markers",
        marker={"color": BLUE, "size": 9},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": np.where(known, found.high - found.difference, 0.0),
            "arrayminus": np.where(known, found.difference - found.low, 0.0),
            "color": BLUE,
            "thickness": 2,
            "width": 4,
        },
        customdata=np.array(
            [labels(found.names, 80), found.value.tolist(), found.others.tolist(), found.queries.tolist()],
            dtype=object,
        ).T,
        hovertext=[numeral(difference, "+.3f") for difference in found.difference],
        hovertemplate="%{customdata[0]}: %{customdata[1]:.3f}, others %{customdata[2]:.3f}<br>"
        "difference %{hovertext}, %{customdata[3]} queries<extra></extra>",
    )
    names = zip(row_names(found.names, GROUP), found.queries.tolist(), strict=True)
    rows_axis(fig, [f"{name} ({queries:,})" for name, queries in names], limit=2 * ROW)
    fig.update_xaxes(tickformat=".2f")
    fig.update_layout(showlegend=False)
    return fig


ROOM = 0.15  # room above and below the bars for text, as a share of their height


def query_differences(difference: FloatArray, queries: Sequence[str], first: str, second: str) -> go.Figure:
    """Query scores of the first system minus those of the second (N,), sorted; evenly thinned above MOST_BARS."""
    known = np.flatnonzero(np.isfinite(difference))
    order = known[np.argsort(-difference[known], kind="stable")]
    if len(order) > MOST_BARS:
        order = order[np.linspace(0, len(order) - 1, MOST_BARS).round().astype(np.int64)]
    fig = figure("queries, sorted", "difference of the query scores", height=300, showlegend=False)
    values = difference[order]
    fig.add_bar(
        x=np.arange(len(order)),
        y=values,
        width=1,
        marker={"color": np.where(values > 0, BLUE, VERMILION).tolist(), "line": {"width": 0}},
        customdata=labels([queries[n] for n in order], 80),
        **hover("%{customdata}: %{y:+.3f}<extra></extra>"),
    )
    fig.update_xaxes(showticklabels=False, showgrid=False)
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    room = ROOM * ((high - low) or 1.0)
    fig.update_yaxes(tickformat=".1f", range=[low - room * (low < 0), high + room * (high > 0)])
    names = labels((first, second), 28)
    for text, y, anchor, found in ((names[0], 1, "top", high > 0), (names[1], 0, "bottom", low < 0)):
        if not found:
            continue
        fig.add_annotation(
            text=f"{text} is better",
            x=1 if anchor == "top" else 0,
            xref="paper",
            xanchor="right" if anchor == "top" else "left",
            y=y,
            yref="paper",
            yanchor=anchor,
            showarrow=False,
        )
    return fig


def domain_heat(systems: Sequence[str], groups: Sequence[str], means: FloatArray) -> go.Figure:
    """Heat map of the scores of systems in groups of queries (M, G), coloured by the distance from the group's mean."""
    apart = means - pd.DataFrame(means).mean().to_numpy()  # NaN without a warning if no system has a score
    largest = float(np.nanmax(np.abs(apart), initial=0.0)) or 1.0
    fig = figure("", "", height=row_height(len(systems)) + 40)
    fig.add_heatmap(
        z=apart,
        zmin=-largest,
        zmax=largest,
        colorscale=[list(stop) for stop in SOFT],
        showscale=False,
        xgap=2,
        ygap=2,
        text=np.where(np.isfinite(means), np.char.mod("%.2f", np.nan_to_num(means)), "—"),
        texttemplate="%{text}" if len(groups) <= 12 else None,
        customdata=np.stack(
            [
                np.broadcast_to(np.array(labels(systems, 80), dtype=object)[:, None], means.shape),
                np.broadcast_to(np.array(labels(groups, 80), dtype=object), means.shape),
            ],
            axis=-1,
        ),
        **hover("%{customdata[0]}<br>%{customdata[1]}: %{text} (%{z:+.2f})<extra></extra>"),
        hoverongaps=False,
    )
    rows_axis(fig, systems)
    columns_axis(fig, groups)
    return fig


def value_against_cost(
    systems: Sequence[str],
    cost: FloatArray,
    value: FloatArray,
    best: BoolArray,
    axes: tuple[str, str],
) -> go.Figure:
    """A value against the cost, or another number, of each system, (M,) each, with a line through the best systems.

    best: (M,) systems that no other beats at the same or a lower cost. axes: titles of cost and value. The cost has a
    log axis if it varies widely.
    """
    fig = figure(label(axes[0], 40), axes[1], height=440, showlegend=False)
    known = cost[np.isfinite(cost)]
    if len(known) > 1 and known.min() > 0 and known.max() / known.min() > 20:
        log_axis(fig, known.min() / 1.5, known.max() * 1.5)
    order = np.flatnonzero(best)[np.argsort(cost[best], kind="stable")]
    fig.add_scatter(
        x=cost[order], y=value[order], mode="lines", line={"color": GREY, "shape": "hv"}, hoverinfo="skip"
    )
    named_points(fig, systems, cost, value, "%{x}, %{y:.3f}", np.where(best, BLUE, GREY).tolist())
    return fig
