"""Figures of the experiments: each takes the tables of its result."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..experiments.results import ExperimentResult
from .style import (
    BLUE,
    CATEGORIES,
    GREEN,
    GREY,
    PURPLE,
    VERMILION,
    figure,
    marker_line,
    row_height,
    rows_axis,
)

STRATEGIES = {
    "greedy": ("greedy", BLUE),
    "plain": ("plain information", GREEN),
    "hard_random": ("random in the hard set", PURPLE),
    "random": ("random", VERMILION),
}


def crossfit_curves(result: ExperimentResult) -> go.Figure:
    """Rank correlation with the other half against the budget, with intervals over the splits."""
    fig = figure("rubrics in the bank (B)", "Spearman's ρ with the unseen half", xaxis_type="log")
    curves = result.tables["curves"]
    for strategy, (name, colour) in STRATEGIES.items():
        part = curves[curves["strategy"] == strategy].dropna(subset=["rho"])
        if len(part):
            _band(fig, part["budget"], part["low"], part["high"], colour)
            fig.add_scatter(
                x=part["budget"], y=part["rho"], name=name, mode="lines+markers", line={"color": colour}
            )
    target = float(result.frame()["target"].iloc[0])
    fig.add_hline(y=target, line={"color": GREY, "dash": "dash"}, annotation_text=f"target {target:.4g}")
    return fig


def sweep_kappa(result: ExperimentResult) -> go.Figure:
    """Kappa of the rubrics kept at each threshold, beside that of all rubrics."""
    table = result.frame()
    base, rows = table.iloc[0], table.iloc[1:]
    fig = figure("measurability threshold τ_c", f"Cohen's κ against {result.options['against']}")
    _intervals(fig, rows["tau_c"], rows["kappa"], rows["kappa_low"], rows["kappa_high"], "kept", BLUE)
    fig.update_traces(
        customdata=rows[["kept", "total"]].to_numpy(),
        hovertemplate="τ_c %{x}: κ %{y:.3f}, %{customdata[0]} of %{customdata[1]} rubrics<extra></extra>",
    )
    if np.isfinite(base["kappa"]):
        fig.add_hline(y=base["kappa"], line={"color": GREY, "dash": "dash"}, annotation_text="all rubrics")
    return fig


def perturbation_gap(result: ExperimentResult) -> go.Figure:
    """How the top–bottom gap changes where task types are flipped."""
    table = result.frame()
    fig = figure(
        "share of task types flipped", "change of the top–bottom gap (points)", xaxis_tickformat=".0%"
    )
    _intervals(fig, table["flip"], table["degradation"], table["low"], table["high"], "gap", BLUE)
    return fig


def ablation_gaps(result: ExperimentResult) -> go.Figure:
    """The top–bottom gap of each configuration, with its interval."""
    table = result.frame()
    fig = figure("", "top–bottom gap (points)")
    _intervals(
        fig, table["configuration"], table["gap"], table["gap_low"], table["gap_high"], "gap", BLUE, "markers"
    )
    return fig


def attrition_curves(result: ExperimentResult) -> go.Figure:
    """Share of the rubrics that survive unanimity, beside two models, and with both outcomes asked for."""
    table = result.frame()
    fig = figure("systems on the leaderboard (m)", "share of the rubrics kept", yaxis_range=[0, 1.02])
    names = {
        "consistency": ("unanimous", "solid"),
        "homogeneous": ("one rate: ρ^m", "dot"),
        "beta": ("Beta mixture", "dash"),
        "distinguishability": ("both outcomes", "solid"),
        "joint": ("unanimous, both outcomes", "solid"),
    }
    for (column, (name, dash)), colour in zip(names.items(), CATEGORIES, strict=False):
        fig.add_scatter(
            x=table["m"], y=table[column], name=name, mode="lines", line={"color": colour, "dash": dash}
        )
    return fig


def stability_dots(result: ExperimentResult) -> go.Figure:
    """Each change: what is left of the bank, and how alike the abilities rank."""
    table = result.tables["variants"].dropna(subset=["rho"])
    names = [f"{kind}: {what}" for kind, what in zip(table["kind"], table["what"], strict=True)]
    fig = figure("share", "", height=row_height(len(names), each=20))
    rows = np.arange(len(names))
    fig.add_scatter(x=table["kept"], y=rows, name="of the bank kept", mode="markers", marker_color=BLUE)
    fig.add_scatter(
        x=table["rho"], y=rows, name="Spearman's ρ of the abilities", mode="markers", marker_color=VERMILION
    )
    rows_axis(fig, names, 48)
    marker_line(fig, 1.0, "the same")
    return fig


FIGURES: dict[str, Callable[[ExperimentResult], go.Figure]] = {
    "crossfit": crossfit_curves,
    "sweep": sweep_kappa,
    "perturbation": perturbation_gap,
    "ablation": ablation_gaps,
    "attrition": attrition_curves,
    "stability": stability_dots,
}


def experiment_figure(result: ExperimentResult) -> go.Figure:
    """The figure of any experiment's result."""
    return FIGURES[result.name](result)


def _band(fig: go.Figure, x: pd.Series, low: pd.Series, high: pd.Series, colour: str) -> None:
    known = low.notna() & high.notna()
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    fig.add_scatter(
        x=[*x[known], *x[known][::-1]],
        y=[*high[known], *low[known][::-1]],
        fill="toself",
        fillcolor=f"rgba({red}, {green}, {blue}, 0.12)",
        line={"width": 0},
        mode="lines",
        hoverinfo="skip",
        showlegend=False,
    )


def _intervals(
    fig: go.Figure,
    x: pd.Series,
    value: pd.Series,
    low: pd.Series,
    high: pd.Series,
    name: str,
    colour: str,
    mode: str = "lines+markers",
) -> None:
    above, below = (high - value).fillna(0.0), (value - low).fillna(0.0)
    bars = {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
    fig.add_scatter(
        x=x,
        y=value,
        error_y=bars,
        name=name,
        mode=mode,
        line={"color": colour},
        marker={"size": 9},
        showlegend=False,
    )
