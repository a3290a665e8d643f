"""Figures of the Overview page: a share for each system and judge, of passes or of missing labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..types import FloatArray
from .style import (
    BLUE,
    CATEGORIES,
    FADING,
    cell_share,
    columns_axis,
    every_other_row,
    figure,
    labels,
    row_height,
    rows_axis,
)

SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x")
MOST_SYSTEMS = 40  # most systems with a row each
RANGES = "Dot: the median system. Thick line: the middle half of the systems; thin line: all of them."
SPREAD = 0.36  # distance from the middle of a row to its outermost dots, as a share of the row
MARK = 8  # pixels of a dot
# Pixels: width of the legend in half a page, of an entry without its name and of a letter; height of a line.
WIDTH, ENTRY, LETTER, LINE = 330, 40, 6, 19
ROW = 21  # least height of a row in pixels; more if the dots of all judges need it
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)  # possible steps between ticks; the first that needs at most MOST_STEPS
MOST_STEPS = 6
MOST_WRITTEN = 16  # most judges whose shares are written into the cells


def judge_shares(shares: FloatArray, systems: Sequence[str], judges: Sequence[str], axis: str) -> go.Figure:
    """A share for each system and judge, (M, K), 0 … 1, NaN unknown, in the form that is legible at that size.

    Dots for up to six judges, a grid for more; above 40 systems a row for each judge. axis: title of the share.
    """
    if len(systems) > MOST_SYSTEMS:
        return judge_ranges(shares, judges, axis)
    if len(judges) > len(SYMBOLS):
        return judge_grid(shares, systems, judges, axis)
    return judge_dots(shares, systems, judges, axis)


def judge_dots(shares: FloatArray, systems: Sequence[str], judges: Sequence[str], axis: str) -> go.Figure:
    """A dot for each system and judge, with a symbol for each judge; the dots of a row lie below each other."""
    each, names = max(ROW, int(np.ceil(MARK * (len(judges) - 1) / (2 * SPREAD)))), labels(judges)
    beside = max(1, WIDTH // (ENTRY + LETTER * max(map(len, names), default=0)))
    legend = LINE * (-(-len(judges) // beside) - 1)
    fig = figure(axis, "", height=row_height(len(systems), each=each) + legend)
    places = np.linspace(-SPREAD, SPREAD, len(judges)) if len(judges) > 1 else [0.0]
    for k, name in enumerate(names):
        fig.add_scatter(
            x=shares[:, k],
            y=np.arange(len(systems)) + places[k],
            mode="markers",
            name=name,
            marker={
                "color": CATEGORIES[k % len(CATEGORIES)],
                "symbol": SYMBOLS[k % len(SYMBOLS)],
                "size": MARK,
            },
            customdata=labels(systems, 80),
            hovertemplate="%{customdata}: %{x:.1%}",
        )
    rows_axis(fig, systems)
    beyond = max(SPREAD + MARK / each, 0.5)  # room for the outermost dots
    fig.update_yaxes(range=[len(systems) - 1 + beyond, -beyond])
    _share_axis(fig, shares)
    fig.update_layout(showlegend=True, shapes=every_other_row(len(systems)))
    return fig


def judge_grid(shares: FloatArray, systems: Sequence[str], judges: Sequence[str], axis: str) -> go.Figure:
    """A heat map of the shares of systems and judges; the shares are written in the cells if there is room."""
    fig = figure("", "", height=row_height(len(systems), each=21) + 60)
    across = np.broadcast_to(np.array(labels(judges, 80), dtype=object), shares.shape)
    down = np.broadcast_to(np.array(labels(systems, 80), dtype=object)[:, None], shares.shape)
    fig.add_heatmap(
        z=shares,
        zmin=0,
        zmax=max(float(np.nanmax(shares, initial=0)), 0.05),
        colorscale=[[at, "rgba(47, 127, 216, 0.55)" if at else colour] for at, colour in FADING],
        xgap=1,
        ygap=1,
        colorbar={"title": {"text": axis, "side": "top"}, "thickness": 12, "tickformat": ".0%"},
        text=[[cell_share(cell) for cell in row] for row in shares],
        texttemplate="%{text}" if len(judges) <= MOST_WRITTEN else None,
        textfont={"size": 9},
        showscale=len(judges) > MOST_WRITTEN,
        customdata=np.stack([down, across], axis=-1),
        hovertemplate="%{customdata[0]}<br>%{customdata[1]}: %{z:.1%}<extra></extra>",
        hoverongaps=False,
    )
    rows_axis(fig, systems)
    columns_axis(fig, judges)
    return fig


def judge_ranges(shares: FloatArray, judges: Sequence[str], axis: str) -> go.Figure:
    """A row for each judge: the median over systems, the middle half, and the range from the lowest to the highest."""
    fig = figure(f"{axis}, over systems", "", height=row_height(len(judges), each=28), showlegend=False)
    quantiles = np.full((5, len(judges)), np.nan)
    for k, column in enumerate(shares.T):
        known = column[np.isfinite(column)]
        if len(known):
            quantiles[:, k] = np.quantile(known, (0, 0.25, 0.5, 0.75, 1))
    rows = np.arange(len(judges))
    for low, high, width in ((0, 4, 2), (1, 3, 8)):
        ends = np.stack([quantiles[low], quantiles[high], np.full(len(judges), np.nan)], axis=1).ravel()
        fig.add_scatter(
            x=ends,
            y=np.repeat(rows, 3),
            mode="lines",
            line={"color": BLUE, "width": width},
            opacity=0.5,
            hoverinfo="skip",
        )
    fig.add_scatter(
        x=quantiles[2],
        y=rows,
        mode="markers",
        marker={"color": BLUE, "size": 10},
        customdata=np.array([labels(judges, 80), *quantiles[[0, 1, 3, 4]].tolist()], dtype=object).T,
        hovertemplate="%{customdata[0]}: median %{x:.1%}<br>half of the systems %{customdata[2]:.1%} to "
        "%{customdata[3]:.1%}, all %{customdata[1]:.1%} to %{customdata[4]:.1%}<extra></extra>",
    )
    rows_axis(fig, judges)
    _share_axis(fig, shares)
    return fig


def _share_axis(fig: go.Figure, shares: FloatArray) -> None:
    most = max(float(np.nanmax(shares, initial=0)), 0.05)
    least = float(np.nanmin(shares, initial=most))
    start = least if least > most / 2 else 0.0  # from 0, unless more than half of the axis would be empty
    step = next((step for step in STEPS if most - start <= MOST_STEPS * step), STEPS[-1])
    # The outermost ticks enclose all dots.
    low, top = step * np.floor(start / step + 1e-9), step * np.ceil(most / step - 1e-9)
    beyond = 0.03 * (top - low)
    fig.update_xaxes(tickformat=".0%", showgrid=True, tick0=0, dtick=step, range=[low - beyond, top + beyond])
