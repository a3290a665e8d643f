"""Figures of a new system's place among the reference systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..placement.abilities import Placement
from .leaderboard import Estimate, forest
from .style import ROW, VERMILION, figure, label, labels, whole_axis


def placement_forest(systems: Sequence[str], placed: Placement) -> go.Figure:
    """Forest plot of all ranked systems in tiers, best first; the new system, last of ``systems``, is highlighted."""
    standing, new = placed.standing, len(systems) - 1
    ranked = np.flatnonzero(np.isfinite(standing.tier))
    order = ranked[np.argsort(-placed.abilities[ranked], kind="stable")]
    names = [systems[i] for i in order]
    estimate = Estimate(*(v[order] for v in (placed.abilities, standing.theta_low, standing.theta_high)))
    fig = forest(names, estimate, [f"Tier {tier:.0f}" for tier in standing.tier[order]])
    here = np.flatnonzero(order == new)
    fig.add_scatter(
        x=estimate.value[here],
        y=here,
        mode="markers",
        marker={"color": VERMILION, "size": 15, "symbol": "diamond"},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": (estimate.high - estimate.value)[here],
            "arrayminus": (estimate.value - estimate.low)[here],
            "color": VERMILION,
            "thickness": 3,
        },
        hoverinfo="skip",
    )
    words = labels(names, ROW)
    fig.update_yaxes(
        ticktext=[f"<b>{word}</b>" if i == new else word for i, word in zip(order, words, strict=True)]
    )
    return fig


def rank_chances(system: str, placed: Placement) -> go.Figure:
    """The probability that the new system is among the first k systems, for each k."""
    chances = placed.standing.rank_probability[-1]
    chances = chances[np.isfinite(chances)]
    fig = figure("k: among the first k", "", height=300, yaxis_tickformat=".0%", yaxis_range=[0, 1.02])
    fig.add_bar(
        x=np.arange(1, len(chances) + 1),
        y=chances,
        marker_color=VERMILION,
        hovertemplate=label(system, 80) + "<br>among the first %{x}: %{y:.0%}<extra></extra>",
    )
    whole_axis(fig, 1, len(chances))
    return fig
