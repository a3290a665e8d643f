"""Figures of the Measurability page: how alike the judges apply each rubric."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..judges.gate_price import GatePrices
from ..text import numeral
from ..types import BoolArray, FloatArray, IntArray
from .style import (
    BLUE,
    FEW_COLUMNS,
    GREEN,
    GREY,
    PURPLE,
    SEQUENTIAL,
    VERMILION,
    columns_axis,
    figure,
    hover,
    labels,
    marker_line,
    row_height,
    rows_axis,
)

LEAST_BINS, MOST_BINS = 10, 50
MOST_TICKS = 30  # most ticks at whole numbers that do not overlap
BESIDE = 230  # width of the cells of a grid beside a table, or on a phone, in pixels
FEW_NAMED, MOST_NAMED, TALL = 30, 80, 640
"""Most systems with rows of usual height; most systems with named rows; height in pixels of a grid of more."""


def measurability_histogram(
    values: FloatArray,
    feasible: BoolArray,
    tau_c: float | None,
    centres: FloatArray | None = None,
    name: str = "measurability q (posterior mean)",
) -> go.Figure:
    """Histogram of the gate's statistic of the rubrics, by kept and dropped, with a line at the threshold.

    values: (J,), NaN unknown. feasible: (J,) rubrics that pass. tau_c: None: the gate is off. centres: (n,) evenly
    spaced values that the statistic can have, on which bars are centred; other bins would show a comb. Without them the
    bars divide the range. name: title of the axis.
    """
    known, edges = np.isfinite(values), histogram_edges(values, centres)
    fig = figure(name, "rubrics")
    for kind, members, colour in (("kept", feasible, BLUE), ("dropped", ~feasible, GREY)):
        height, _ = np.histogram(values[members & known], bins=edges)
        if not height.any():
            continue
        fig.add_bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=height,
            width=np.diff(edges),
            name=f"{kind} ({int(members.sum()):,})",
            marker={"color": colour, "line": {"width": 0}},
            hovertext=[f"{numeral(low)} to {numeral(high)}" for low, high in pairwise(edges)],
            hovertemplate="%{hovertext}: %{y:,} " + kind + "<extra></extra>",
        )
    if tau_c is not None:
        _threshold_line(fig, tau_c)
        highest = np.histogram(values[known], bins=edges)[0].max()
        fig.update_yaxes(range=[0, 1.12 * max(int(highest), 1)])  # the name of the line is above the bars
    # By default Plotly would put the ticks at the middles of wide bars: -0.278, -0.156, ….
    fig.update_xaxes(range=[min(0.0, float(edges[0])), 1], dtick=0.2)
    fig.update_layout(showlegend=True)
    return fig


def _threshold_line(fig: go.Figure, tau_c: float) -> None:
    """Add a line at the threshold, labelled with three decimals, as on the page."""
    marker_line(fig, tau_c, f"τ<sub>c</sub> = {numeral(round(tau_c, 3), 'g')}")


def histogram_edges(values: FloatArray, centres: FloatArray | None = None) -> FloatArray:
    """(n + 1,) edges of the bars of ``measurability_histogram``, such that each known value lies in a bar.

    Without ``centres``, or with too few or too many of them, the number of bars is the square root of the rubrics'
    number, from LEAST_BINS to MOST_BINS.
    """
    known = values[np.isfinite(values)]
    low, high = float(known.min(initial=0.0)), float(known.max(initial=1.0))
    if centres is None or not LEAST_BINS <= len(centres) <= MOST_BINS:
        bins = np.clip(np.sqrt(len(known)).round(), LEAST_BINS, MOST_BINS)
        return np.linspace(low, high, int(bins) + 1)
    step = centres[1] - centres[0]
    before, after = (max(0, int(np.ceil(gap / step - 0.5))) for gap in (centres[0] - low, high - centres[-1]))
    return centres[0] + step * (np.arange(-before, len(centres) + after + 1) - 0.5)


def price_curve(prices: GatePrices, rubrics: int, tau_c: float, name: str) -> go.Figure:
    """Shares of the rubrics, of their information, and of queries with an informative rubric kept at each threshold."""
    fig = figure(name, "share kept", height=240)
    shares = {
        "information": (prices.information, BLUE, "solid"),
        "rubrics": (prices.rubrics / max(rubrics, 1), GREY, "dash"),
        "queries": (1 - prices.queries_lost / max(prices.queries, 1), GREEN, "dot"),
    }
    for what, (share, colour, dash) in shares.items():
        fig.add_scatter(
            x=prices.tau,
            y=share,
            mode="lines",
            line={"color": colour, "dash": dash, "width": 2},
            name=what,
            **hover("τ<sub>c</sub> = %{x:.2f}: %{y:.0%} of the " + what + "<extra></extra>"),
        )
    _threshold_line(fig, tau_c)
    fig.update_layout(xaxis_range=[min(0.0, float(prices.tau[0])), 1], showlegend=True)
    fig.update_yaxes(range=[0, 1.2], tickvals=[0, 0.5, 1], tickformat=".0%")
    return fig


def label_grid(
    read: FloatArray,
    given: FloatArray,
    systems: Sequence[str],
    judges: Sequence[str],
    levels: int,
    *,
    graded: bool = False,
) -> go.Figure:
    """The labels of one rubric as a grid of systems × judges (M, K), with a dash for unknown labels (NaN).

    read: labels as the model reads them, 0 … ``levels`` - 1, shown by the colour. given: labels as they were given,
    shown as text: a number if the rubric is ``graded`` (more than two levels), else pass or fail. Above MOST_NAMED
    systems, rows have neither names nor text and are sorted by label (``grid_order``); names are shown on hover.
    """
    many, order = len(systems) > MOST_NAMED, grid_order(read)
    if many:
        read, given, systems = read[order], given[order], [systems[i] for i in order]
    words = np.where(read > 0, *(("pass", "fail") if len(judges) <= FEW_COLUMNS else ("✓", "✕")))
    if graded or levels > 2:
        words = np.char.mod("%g", np.nan_to_num(given))
    words = np.where(np.isnan(given), "—", words)
    scale: object = [[0, VERMILION], [1, BLUE]] if levels == 2 else SEQUENTIAL
    low = len(systems) > FEW_NAMED  # rows, so that all are in sight beside the table
    height = TALL if many else row_height(len(systems), each=14 if low else 24)
    fig = figure("judge", "systems" if many else "", height=height)
    fig.add_heatmap(
        z=read,
        zmin=0,
        zmax=max(levels - 1, 1),
        colorscale=scale,
        opacity=0.85,
        showscale=False,
        xgap=3,
        ygap=0 if many else 1 if low else 3,
        text=words,
        texttemplate=None if many else "%{text}",
        textfont={"size": 9} if low else None,
        customdata=np.broadcast_to(np.array(labels(systems, 80), dtype=object)[:, None], read.shape),
        hovertemplate="%{customdata}<br>%{x}: %{text}<extra></extra>",
        hoverongaps=False,
    )
    if many:
        fig.update_yaxes(showticklabels=False, ticks="", showgrid=False, autorange="reversed")
    else:
        rows_axis(fig, systems)
        fig.update_yaxes(tickfont={"size": 10} if low else None)
    columns_axis(fig, judges, width=BESIDE)
    fig.update_layout(height=height + max(fig.layout.margin.t - 64, 0))  # upright names need extra height
    return fig


def grid_order(read: FloatArray) -> IntArray:
    """(M,) position of the system in each row of ``label_grid``, from the top.

    The order is as given for up to MOST_NAMED systems, else by the mean label, then by each judge's label, descending.
    """
    if len(read) <= MOST_NAMED:
        return np.arange(len(read))
    known = np.isfinite(read)
    mean = np.where(known, read, 0).sum(axis=1) / known.sum(axis=1).clip(1)
    return np.lexsort([*np.where(known, read, -1).T[::-1], mean])[::-1]


def kappa_against_coverage(thresholds: pd.DataFrame, tau_c: float, against: str) -> go.Figure:
    """Kappa with its interval against the share of rubrics kept, for each threshold.

    thresholds: the rows of the sweep; its first row has no gate. tau_c: the threshold that is highlighted. against: the
    other rater, for the title.
    """
    fig = figure("share of the rubrics kept", f"Cohen's κ against {against}", xaxis_tickformat=".0%")
    chosen = np.isclose(thresholds["tau_c"], tau_c)
    names = np.array([numeral(t) if np.isfinite(t) else "all" for t in thresholds["tau_c"]], dtype=object)
    spaced = np.abs(np.diff(thresholds["share"], append=-np.inf)) > 0.06
    kappa = thresholds["kappa"]
    fig.add_scatter(
        x=thresholds["share"],
        y=kappa,
        mode="lines+markers+text",
        line={"color": GREY, "width": 1},
        marker={"color": np.where(chosen, VERMILION, BLUE).tolist(), "size": 10, "opacity": 1},
        text=np.where(spaced | chosen, names, ""),
        textposition=np.where(spaced, "middle right", "middle left").tolist(),
        error_y={
            "type": "data",
            "array": thresholds["kappa_high"] - kappa,
            "arrayminus": kappa - thresholds["kappa_low"],
            "color": BLUE,
            "thickness": 1.5,
        },
        customdata=np.stack([names, thresholds["kept"]], axis=1),
        hovertemplate="τ<sub>c</sub> %{customdata[0]}: κ %{y:.3f}, "
        "%{customdata[1]:,} rubrics (%{x:.0%})<extra></extra>",
    )
    fig.update_layout(showlegend=False)
    return fig


def kappa_by_quartile(quartiles: pd.DataFrame) -> go.Figure:
    """Mean kappa of the rubrics in each quartile of measurability."""
    fig = figure("quartile of measurability", "mean κ of a rubric", showlegend=False)
    fig.add_bar(
        x=quartiles["quartile"],
        y=quartiles["kappa"],
        marker={"color": BLUE},
        text=[numeral(k) if np.isfinite(k) else "—" for k in quartiles["kappa"]],
        customdata=quartiles[["q_mean", "rubrics", "with_kappa"]].to_numpy(),
        **hover(
            "mean q %{customdata[0]:.2f}, %{customdata[1]:,} rubrics, %{customdata[2]:,} with a κ: %{y:.3f}"
            "<extra></extra>"
        ),
    )
    fig.update_xaxes(dtick=1)
    return fig


def retention(
    observed: dict[str, FloatArray], m: IntArray, models: dict[str, FloatArray], further: IntArray
) -> go.Figure:
    """Share of rubrics that each rule keeps, against the number of systems.

    observed: name → (S,) shares at the sizes m (S,). models: name → (F,) predicted shares at the sizes ``further``
    (F,).
    """
    fig = figure("systems on the leaderboard", "share of the rubrics kept", yaxis_tickformat=".0%")
    for (name, share), colour in zip(observed.items(), (BLUE, GREEN), strict=False):
        fig.add_scatter(
            x=m, y=share, name=name, mode="markers", marker={"color": colour, "size": 8}, hovertemplate=_SHARE
        )
    for (name, share), (colour, dash) in zip(
        models.items(), ((VERMILION, "dot"), (PURPLE, "solid")), strict=False
    ):
        line = {"color": colour, "dash": dash, "width": 2}
        fig.add_scatter(x=further, y=share, name=name, mode="lines", line=line, hovertemplate=_SHARE)
    fig.update_yaxes(rangemode="tozero")
    return fig


def dropped_for_few_splits(split: IntArray) -> go.Figure:
    """Bar chart of the number of systems on which judges split, over n rubrics that unanimity drops and the gate keeps.

    split: (n,) number of systems for each rubric.
    """
    number, rubrics = np.unique(split, return_counts=True)
    fig = figure("systems on which the judges split", "rubrics", height=300, showlegend=False)
    fig.add_bar(
        x=number,
        y=rubrics,
        marker={"color": BLUE},
        text=[f"{n:,}" for n in rubrics] if len(number) < MOST_TICKS else None,
        cliponaxis=False,
        hovertemplate="%{y:,} rubrics with %{x} split<extra></extra>",
    )
    if len(number) and number[-1] - number[0] < MOST_TICKS:
        fig.update_xaxes(dtick=1)
    return fig


_SHARE = "%{x} systems: %{y:.1%}<extra>%{fullData.name}</extra>"
