"""Figures of the leaderboard page: who is really ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from ..types import BoolArray, FloatArray, IntArray
from .style import BAND, BLUE, DIVERGING, FADING, GREY, figure, label, labels, row_height, rows_axis


@dataclass(frozen=True)
class Estimate:
    """A point with its interval for each system: value, low and high, (M,) each, NaN where unknown."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


def forest(
    systems: Sequence[str], bank: Estimate, tiers: IntArray | None, pool: Estimate | None = None
) -> go.Figure:
    """Abilities with intervals, best first, in tier bands where given; the full pool's beside the bank's, too."""
    fig = figure("ability θ", "", height=row_height(len(systems), each=30))
    if tiers is not None:
        _bands(fig, tiers)
    rows = np.arange(len(systems), dtype=np.float64)
    shift = 0.16 if pool is not None else 0.0
    _estimates(fig, systems, bank, rows - shift, "bank" if pool is not None else "ability", BLUE, "circle")
    if pool is not None:
        _estimates(fig, systems, pool, rows + shift, "all rubrics that pass", GREY, "diamond-open")
    rows_axis(fig, systems)
    fig.update_layout(showlegend=pool is not None, margin_r=56)
    return fig


def rank_intervals(systems: Sequence[str], rank: IntArray, low: IntArray, high: IntArray) -> go.Figure:
    """The ranks that each system may hold (M,), best first."""
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
    _rank_axis(fig, len(systems))
    return fig


def rank_probability(systems: Sequence[str], probability: FloatArray) -> go.Figure:
    """P(rank ≤ k): systems (rows, best first) × k = 1 … M, (M, M)."""
    fig = figure("k: among the first k", "", height=row_height(len(systems)))
    fig.add_heatmap(
        z=probability,
        x=np.arange(1, len(systems) + 1),
        zmin=0,
        zmax=1,
        colorscale=[list(stop) for stop in FADING],
        xgap=1,
        ygap=1,
        colorbar={"title": {"text": "P(rank ≤ k)", "side": "top"}, "thickness": 12, "tickformat": ".0%"},
        customdata=_names(systems, probability.shape),
        hovertemplate="%{customdata}<br>among the first %{x}: %{z:.0%}<extra></extra>",
    )
    rows_axis(fig, systems)
    _rank_axis(fig, len(systems))
    return fig


def separation_matrix(systems: Sequence[str], ahead: FloatArray, separated: BoolArray) -> go.Figure:
    """Probability that the row is above the column (M, M); a dot where the pair is separated."""
    size = len(systems)
    fig = figure("", "", height=row_height(size) + 60)
    z = np.where(np.eye(size, dtype=bool), np.nan, ahead)
    across = np.broadcast_to(np.array(labels(systems, 80), dtype=object)[None, :], z.shape)
    fig.add_heatmap(
        z=z,
        zmin=0,
        zmax=1,
        colorscale=[list(stop) for stop in DIVERGING],
        xgap=1,
        ygap=1,
        text=np.where(separated & ~np.isnan(z), "●", ""),
        texttemplate="%{text}",
        textfont={"size": 9},
        hoverongaps=False,
        colorbar={"title": {"text": "row ahead", "side": "top"}, "thickness": 12, "tickformat": ".0%"},
        customdata=np.stack([_names(systems, z.shape), across], axis=-1),
        hovertemplate="%{customdata[0]} ahead of<br>%{customdata[1]}: %{z:.0%}<extra></extra>",
    )
    rows_axis(fig, systems)
    fig.update_xaxes(
        tickmode="array",
        tickvals=list(range(size)),
        ticktext=labels(systems, 20),
        tickangle=-45,
        showgrid=False,
    )
    return fig


def score_against_ability(systems: Sequence[str], theta: FloatArray, score: FloatArray) -> go.Figure:
    """Score S against ability θ, (M,) each: where the two orders disagree, the scoring rules matter."""
    fig = figure("ability θ", "score S", height=420, showlegend=False)
    names = labels(systems, 20)
    legible = _legible(names, theta, score)
    fig.add_scatter(
        x=theta,
        y=score,
        mode="markers+text",
        text=[name if shown else "" for name, shown in zip(names, legible, strict=True)],
        textposition="top center",
        textfont={"size": 11},
        marker={"color": BLUE, "size": 9},
        customdata=labels(systems, 80),
        hovertemplate="%{customdata}<br>θ = %{x:.2f}, S = %{y:.3f}<extra></extra>",
        cliponaxis=False,
    )
    if np.isfinite(theta).any():
        room = 0.15 * max(float(np.nanmax(theta) - np.nanmin(theta)), 0.1)
        fig.update_xaxes(range=[float(np.nanmin(theta)) - room, float(np.nanmax(theta)) + room])
    return fig


def bank_against_pool(systems: Sequence[str], bank: FloatArray, pool: FloatArray) -> go.Figure:
    """Ability from the bank alone against that from all rubrics that pass, (M,) each."""
    fig = figure("θ from all rubrics that pass", "θ from the bank", height=420, showlegend=False)
    both = np.concatenate([bank, pool])
    if np.isfinite(both).any():
        ends = [float(np.nanmin(both)), float(np.nanmax(both))]
        fig.add_scatter(x=ends, y=ends, mode="lines", line={"color": GREY, "dash": "dot"}, hoverinfo="skip")
    fig.add_scatter(
        x=pool,
        y=bank,
        mode="markers",
        marker={"color": BLUE, "size": 9},
        customdata=labels(systems, 80),
        hovertemplate="%{customdata}<br>all: %{x:.2f}, bank: %{y:.2f}<extra></extra>",
    )
    return fig


def _bands(fig: go.Figure, tiers: IntArray) -> None:
    for tier in np.unique(tiers):
        rows = np.flatnonzero(tiers == tier)
        top, bottom = rows.min() - 0.5, rows.max() + 0.5
        if tier % 2:
            fig.add_hrect(y0=top, y1=bottom, fillcolor=BAND, line_width=0, layer="below")
        fig.add_annotation(
            x=1,
            xref="paper",
            xanchor="left",
            y=(top + bottom) / 2,
            text=f" Tier {tier}",
            showarrow=False,
            font={"size": 12},
        )


def _estimates(
    fig: go.Figure,
    systems: Sequence[str],
    estimate: Estimate,
    rows: FloatArray,
    name: str,
    colour: str,
    symbol: str,
) -> None:
    fig.add_scatter(
        x=estimate.value,
        y=rows,
        mode="markers",
        name=name,
        marker={"color": colour, "size": 9, "symbol": symbol},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": estimate.high - estimate.value,
            "arrayminus": estimate.value - estimate.low,
            "color": colour,
            "thickness": 2,
            "width": 4,
        },
        customdata=np.array(
            [labels(systems, 80), estimate.low.tolist(), estimate.high.tolist()], dtype=object
        ).T,
        hovertemplate="%{customdata[0]}<br>θ = %{x:.2f} [%{customdata[1]:.2f}, %{customdata[2]:.2f}]"
        "<extra>" + label(name) + "</extra>",
    )


def _names(systems: Sequence[str], shape: tuple[int, ...]) -> np.ndarray:
    return np.broadcast_to(np.array(labels(systems, 80), dtype=object)[:, None], shape)


def _legible(names: Sequence[str], x: FloatArray, y: FloatArray) -> list[bool]:
    """Which names can stand above their points (M,) without covering each other; the first come first."""
    wide, high = (
        max(float(np.ptp(v[np.isfinite(v)])) if np.isfinite(v).any() else 0.0, 1e-9) for v in (x, y)
    )
    kept: list[tuple[float, float, float]] = []
    shown = []
    for name, centre, level in zip(names, x / wide, y / high, strict=True):
        half = 0.012 * len(name)  # of the width of a figure in half a page
        free = all(abs(centre - c) > half + h or abs(level - v) > 0.06 for c, v, h in kept)
        shown.append(free)
        if free:
            kept.append((centre, level, half))
    return shown


def _rank_axis(fig: go.Figure, size: int) -> None:
    fig.update_xaxes(range=[0.5, size + 0.5], dtick=-(-size // 15), showgrid=False)
