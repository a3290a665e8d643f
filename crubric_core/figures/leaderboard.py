"""Figures of the Leaderboard page: abilities or scores, ranks, and separated pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..analysis.columns import ABILITY, SCORE, rests_on_scores
from ..text import ends, numeral
from ..types import BoolArray, FloatArray, IntArray
from .naming import named_points
from .style import (
    BLUE,
    DIVERGING,
    FADING,
    GREEN,
    GREY,
    PURPLE,
    VERMILION,
    band,
    columns_axis,
    every_other_row,
    figure,
    hover,
    label,
    labels,
    row_band,
    row_height,
    rows_axis,
    whole_axis,
)

COLOURED = (
    (BLUE, "circle"),
    (VERMILION, "diamond"),
    (GREEN, "square"),
    (PURPLE, "x"),
)  # colour and symbol of each dimension in a figure
OPEN_END = {"low": "no lower end", "high": "no upper end"}  # the meta of the marks of open intervals
NAMED_COLUMNS = 30  # most columns with names; the names of more would overlap


@dataclass(frozen=True)
class Estimate:
    """An estimate with its interval for each system: value, low and high, (M,) each, NaN unknown, infinite if open."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


def placing(leaderboard: pd.DataFrame) -> tuple[Estimate, str]:
    """The estimates by which a leaderboard places its systems, and their name: "score S" or "ability θ"."""
    by_score = rests_on_scores(leaderboard)
    found = (leaderboard[name].to_numpy(dtype=np.float64) for name in (SCORE if by_score else ABILITY))
    return Estimate(*found), "score S" if by_score else "ability θ"


def forest(
    systems: Sequence[str],
    bank: Estimate,
    tiers: Sequence[str] | None,
    pool: Estimate | None = None,
    *,
    names: tuple[str, str] = ("bank", "all rubrics that pass"),
    chosen: int | None = None,
    title: str = "ability θ",
) -> go.Figure:
    """Forest plot: estimates with intervals in the order given, on bands of tiers if these are given.

    tiers: ``tier_names`` of the systems, or None. pool: second estimates, drawn as hollow marks. names: of the two
    estimates. chosen: the row that is highlighted. title: of the axis. Point n of a trace is system n, so that a click
    gives the row.
    """
    fig = figure(title, "", height=row_height(len(systems), each=30))
    if chosen is not None:
        fig.add_hline(y=chosen, line={"color": BLUE, "width": 26}, opacity=0.16, layer="below")
    if tiers is not None:
        _bands(fig, tiers)
    rows = np.arange(len(systems), dtype=np.float64)
    shift = 0.16 if pool is not None else 0.0
    _estimates(fig, systems, bank, rows - shift, names[0] if pool is not None else "", BLUE, "circle")
    if pool is not None:
        _estimates(fig, systems, pool, rows + shift, names[1], GREY, "diamond-open")
    rows_axis(fig, systems, tall=True)
    fig.update_layout(showlegend=pool is not None, margin_r=6 + 6 * max(map(len, tiers)) if tiers else 16)
    return fig


def by_dimension(
    systems: Sequence[str], dimensions: Sequence[str], estimates: Sequence[Estimate]
) -> go.Figure:
    """Estimates with intervals of M systems on a few dimensions: a row for each system, a colour for each dimension.

    estimates: one for each dimension. dimensions: at most len(COLOURED) names.
    """
    each = 12 + 12 * len(dimensions)
    fig = figure("ability θ of the dimension", "", height=row_height(len(systems), each=each))
    rows, step = np.arange(len(systems), dtype=np.float64), 12 / each
    for at, (dimension, estimate) in enumerate(zip(dimensions, estimates, strict=True)):
        place = rows + step * (at - (len(dimensions) - 1) / 2)
        _estimates(fig, systems, estimate, place, label(dimension, 24), *COLOURED[at])
    fig.update_layout(shapes=every_other_row(len(systems)))
    rows_axis(fig, systems)
    return fig


def everybody(
    systems: Sequence[str],
    estimate: Estimate,
    chosen: int | None = None,
    rank: Sequence[int] | None = None,
    *,
    title: str = "ability θ",
) -> go.Figure:
    """Estimates of very many systems in the order given, with a band of intervals and the chosen system highlighted.

    chosen: position of a system. rank: rank of each system; None if no order is claimed. title: of the estimates.
    """
    place = np.arange(1, len(systems) + 1)
    fig = figure(
        f"systems, {'by name' if rank is None else 'best first'}", title, height=260, showlegend=False
    )
    steps = (digit * 10**power for power in range(1, 9) for digit in (1, 2, 5))
    step = next(step for step in steps if len(systems) <= 10 * step)
    fig.update_xaxes(tickvals=[1, *range(step, len(systems) + 1, step)])
    band(fig, place, estimate.low, estimate.high, GREY, 0.2)
    fig.add_scatter(
        x=place,
        y=estimate.value,
        mode="markers",
        marker={"color": BLUE, "size": 5},
        customdata=[
            name if rank is None else f"{name}<br>rank {at:,}"
            for name, at in zip(labels(systems, 80), rank or [0] * len(systems), strict=True)
        ],
        **hover(f"%{{customdata}}<br>{title} %{{y:.2f}}<extra></extra>"),
    )
    if chosen is not None:
        fig.add_scatter(
            x=place[[chosen]],
            y=estimate.value[[chosen]],
            mode="markers",
            marker={"color": VERMILION, "size": 12, "symbol": "diamond"},
            hoverinfo="skip",
        )
    return fig


def window(size: int, at: int | None, most: int = 40) -> slice:
    """The slice of ``size`` rows to draw if these are too many: ``most`` rows around row ``at``, or the first rows."""
    start = 0 if at is None else min(max(at - most // 2, 0), max(size - most, 0))
    return slice(start, min(start + most, size))


def rank_intervals(systems: Sequence[str], rank: IntArray, low: IntArray, high: IntArray) -> go.Figure:
    """Intervals of the systems' ranks, best first. rank, low, high: (M,)."""
    fig = figure("rank", "", height=row_height(len(systems)), showlegend=False)
    rows = np.arange(len(systems))
    fig.add_bar(
        x=(high - low + 0.5).astype(np.float64),
        base=low - 0.25,
        y=rows,
        orientation="h",
        width=0.5,
        marker={"color": BLUE, "opacity": 0.35},
        hoverinfo="skip",
    )
    fig.add_scatter(
        x=rank,
        y=rows,
        mode="markers",
        marker={"color": BLUE, "size": 9},
        customdata=np.array([labels(systems, 80), low.tolist(), high.tolist()], dtype=object).T,
        hovertemplate="%{customdata[0]}<br>rank %{x} (%{customdata[1]} to %{customdata[2]})<extra></extra>",
    )
    rows_axis(fig, systems)
    whole_axis(fig, int(low.min(initial=1)), int(high.max(initial=1)))
    return fig


def rank_probability(systems: Sequence[str], probability: FloatArray, first: int = 1) -> go.Figure:
    """Heat map of P(rank ≤ k) (M, K): a row for each system, best first, a column for each k = first, first + 1 …."""
    fig = figure("k: among the first k", "", height=row_height(len(systems)))
    fig.add_heatmap(
        z=probability,
        x=np.arange(first, first + probability.shape[1]),
        zmin=0,
        zmax=1,
        colorscale=[list(stop) for stop in FADING],
        xgap=int(probability.shape[1] <= NAMED_COLUMNS),
        ygap=1,
        colorbar={"title": {"text": "P(rank ≤ k)", "side": "top"}, "thickness": 12, "tickformat": ".0%"},
        customdata=_names(systems, probability.shape),
        hovertemplate="%{customdata}<br>among the first %{x}: %{z:.0%}<extra></extra>",
    )
    rows_axis(fig, systems)
    whole_axis(fig, first, first + probability.shape[1] - 1)
    return fig


def separation_matrix(
    systems: Sequence[str], ahead: FloatArray, separated: BoolArray, difference: Estimate | None = None
) -> go.Figure:
    """Heat map of the probability that the row is above the column (M, M), with a dot on each separated pair.

    difference: row minus column with its interval, (M, M) each, shown on hover.
    """
    size = len(systems)
    few = size <= NAMED_COLUMNS
    fig = figure("" if few else "in the order of the rows", "", height=row_height(size) + 60)
    z = np.where(np.eye(size, dtype=bool), np.nan, ahead)
    across = np.broadcast_to(np.array(labels(systems, 80), dtype=object)[None, :], z.shape)
    told = [] if difference is None else [_written_out(difference)]
    fig.add_heatmap(
        z=z,
        zmin=0,
        zmax=1,
        colorscale=[list(stop) for stop in DIVERGING],
        xgap=int(few),  # on a phone, gaps between many columns would be wider than the columns
        ygap=1,
        hoverongaps=False,
        colorbar={"title": {"text": "row ahead", "side": "top"}, "thickness": 12, "tickformat": ".0%"},
        customdata=np.stack([_names(systems, z.shape), across, *told], axis=-1),
        hovertemplate="%{customdata[0]} ahead of<br>%{customdata[1]}: %{z:.2%}"
        + ("<br>difference %{customdata[2]}" if told else "")
        + "<extra></extra>",
    )
    fig.update_layout(images=[_dots(separated & ~np.isnan(z))])
    rows_axis(fig, systems)
    fig.update_layout(margin_r=110)
    columns_axis(fig, systems if few else (), side="bottom")
    return fig


def _written_out(difference: Estimate) -> np.ndarray:
    """(M, M) each difference with its interval, as text."""
    each = zip(*(values.ravel().tolist() for values in vars(difference).values()), strict=True)
    lines = [f"{numeral(value, '+z.2f')} {ends(low, high, '+z.2f')}" for value, low, high in each]
    return np.array(lines, dtype=object).reshape(difference.value.shape)


def _dots(there: BoolArray) -> dict[str, Any]:
    """Dots in the middle of the True cells (M, M), as a single SVG image: thousands of markers would be slow."""
    size = len(there)
    path = "".join(f"M{column} {row}h0" for row, column in np.argwhere(there).tolist())
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-.5 -.5 {size} {size}" preserveAspectRatio="none">'
        f'<path d="{path}" stroke="white" stroke-width="5" stroke-linecap="round" vector-effect="non-scaling-stroke"/>'
        "</svg>"
    )
    place = {
        "xref": "x",
        "yref": "y",
        "x": -0.5,
        "y": -0.5,
        "sizex": size,
        "sizey": size,
        "sizing": "stretch",
    }
    return {"source": "data:image/svg+xml," + quote(drawn, safe=" =:/"), **place}


def score_against_ability(systems: Sequence[str], theta: FloatArray, score: FloatArray) -> go.Figure:
    """Score S against ability θ, (M,) each. The scoring rules matter if the two orders differ."""
    fig = figure("ability θ", "score S", height=420, showlegend=False)
    named_points(fig, systems, theta, score, "θ = %{x:.2f}, S = %{y:.3f}")
    return fig


def bank_against_pool(systems: Sequence[str], bank: FloatArray, pool: FloatArray) -> go.Figure:
    """Ability from the bank alone against ability from all rubrics that pass, (M,) each."""
    fig = figure("θ from all rubrics that pass", "θ from the bank", height=420, showlegend=False)
    both = np.concatenate([bank, pool])
    if np.isfinite(both).any():
        ends = [float(np.nanmin(both)), float(np.nanmax(both))]
        fig.add_scatter(x=ends, y=ends, mode="lines", line={"color": GREY, "dash": "dot"}, hoverinfo="skip")
    named_points(fig, systems, pool, bank, "all: %{x:.2f}, bank: %{y:.2f}")
    return fig


def tier_names(leaderboard: pd.DataFrame) -> list[str] | None:
    """The name of each system's tier, with its group if there are several; None if the table has no tiers."""
    if "tier" not in leaderboard:
        return None
    if "group" not in leaderboard:
        return [f"Tier {tier}" for tier in leaderboard["tier"]]
    return [f"Group {g}, tier {tier}" for g, tier in leaderboard[["group", "tier"]].to_numpy()]


def _bands(fig: go.Figure, tiers: Sequence[str]) -> None:
    """Add a band behind every other tier, and the names of the tiers to the right, in one slow update of the layout."""
    bands, names = [], []
    top = -0.5
    for at, (tier, rows) in enumerate(groupby(tiers)):
        bottom = top + len(list(rows))
        if at % 2 == 0:
            bands.append(row_band(top, bottom))
        place = {"x": 1, "xref": "paper", "xanchor": "left", "y": (top + bottom) / 2}
        names.append({**place, "text": f" {tier}", "showarrow": False, "font": {"size": 12}})
        top = bottom
    fig.update_layout(shapes=[*fig.layout.shapes, *bands], annotations=[*fig.layout.annotations, *names])


def _estimates(
    fig: go.Figure,
    systems: Sequence[str],
    estimate: Estimate,
    rows: FloatArray,
    name: str,
    colour: str,
    symbol: str,
) -> None:
    low, high = _ends(estimate)
    fig.add_scatter(
        x=estimate.value,
        y=rows,
        mode="markers",
        name=name,
        marker={"color": colour, "size": 9, "symbol": symbol},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": high - estimate.value,
            "arrayminus": estimate.value - low,
            "color": colour,
            "thickness": 2,
            "width": 4,
        },
        customdata=np.array(
            [labels(systems, 80), *([_written(v) for v in each] for each in vars(estimate).values())],
            dtype=object,
        ).T,
        hovertemplate="%{customdata[0]}<br>%{customdata[1]} [%{customdata[2]}, %{customdata[3]}]"
        "<extra>" + name + "</extra>",
    )
    for which, end, symbol in (("low", low, "triangle-left"), ("high", high, "triangle-right")):
        beyond = np.isinf(getattr(estimate, which))
        if beyond.any():
            fig.add_scatter(
                x=np.where(beyond, end, np.nan),
                y=rows,
                mode="markers",
                marker={"color": colour, "size": 9, "symbol": symbol},
                showlegend=False,
                meta=OPEN_END[which],
                hovertemplate="open: nothing bounds it on this side<extra></extra>",
            )


def _ends(estimate: Estimate) -> tuple[FloatArray, FloatArray]:
    """The ends (low, high) of the bars: those of open intervals lie a little beyond all other values."""
    every = np.concatenate([estimate.value, estimate.low, estimate.high])
    known = every[np.isfinite(every)]
    if not len(known):
        return estimate.low, estimate.high
    room = 0.08 * max(float(np.ptp(known)), 0.1)
    low = np.where(np.isneginf(estimate.low), known.min() - room, estimate.low)
    return low, np.where(np.isposinf(estimate.high), known.max() + room, estimate.high)


def _written(value: float) -> str:
    return "—" if np.isnan(value) else numeral(value) if np.isfinite(value) else "open"


def _names(systems: Sequence[str], shape: tuple[int, ...]) -> np.ndarray:
    return np.broadcast_to(np.array(labels(systems, 80), dtype=object)[:, None], shape)
