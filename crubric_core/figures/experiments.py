"""Figures of the experiments, drawn from the tables of their results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..experiments.crossfit import NAMES
from ..experiments.declaration import Chart, ResultTable
from ..experiments.registry import EXPERIMENTS
from ..experiments.results import ExperimentResult
from ..experiments.stability import KINDS
from ..text import numeral
from .style import (
    BLUE,
    CATEGORIES,
    GREEN,
    GREY,
    PURPLE,
    ROW,
    VERMILION,
    band,
    figure,
    hover,
    labels,
    log_axis,
    row_height,
    rows_axis,
)

COLOURS = {
    "greedy": BLUE,
    "pairs": CATEGORIES[4],
    "plain": GREEN,
    "hard_random": PURPLE,
    "random": VERMILION,
}


def experiment_figures(result: ExperimentResult) -> list[tuple[str, go.Figure]]:
    """(title, figure) of each chart that the experiment declares; an empty list if the result has no rows."""
    if not len(result.frame()):
        return []
    return [(chart.title, _drawn(result, chart)) for chart in EXPERIMENTS[result.name].charts]


def _drawn(result: ExperimentResult, chart: Chart) -> go.Figure:
    """Draw a chart by the function that it names, or from its columns."""
    if chart.draw:
        return DRAWN[chart.draw](result)
    name = chart.table or next(iter(result.tables))
    table = result.tables[name]
    for column, value in chart.where.items():
        table = table[table[column] == value]
    declared = EXPERIMENTS[result.name].tables[name]
    return _rows(table, chart, declared) if chart.rows else _lines(table, chart, declared)


def _lines(table: pd.DataFrame, chart: Chart, declared: ResultTable) -> go.Figure:
    """The columns y against x: a line for each column and each value of the series, with intervals if declared."""
    fig = figure(chart.x_title, chart.y_title)
    if declared.column(chart.x).format == "percent":
        fig.update_xaxes(tickformat=".0%")
    if chart.log:
        log_axis(fig, 1, float(table[chart.x].max()))
    parts = list(table.groupby(chart.series, sort=False)) if chart.series else [("", table)]
    lines = [(value, part, y) for value, part in parts for y in chart.y]
    for position, (value, part, y) in enumerate(lines):
        name = declared.column(chart.series).text(value) if chart.series else declared.column(y).title
        colour = CATEGORIES[position % len(CATEGORIES)] if len(lines) > 1 else BLUE
        fig.add_scatter(
            x=part[chart.x],
            y=part[y],
            error_y=_error_bar(part[y], part[chart.low], part[chart.high]) if chart.low else None,
            name=name,
            mode="markers" if chart.marks else "lines+markers",
            line={
                "color": colour,
                "width": 3 if len(lines) > 1 and not position else 1.5,
                "dash": "solid" if position < len(CATEGORIES) else "dot",  # the colours are repeated
            },
            marker={"size": 9 if chart.low else 6},
            showlegend=len(lines) > 1,
        )
    return fig


def _rows(table: pd.DataFrame, chart: Chart, declared: ResultTable) -> go.Figure:
    """A row for each value of the column ``chart.rows``: y as a point with its interval, and a vertical line."""
    (value,) = chart.y
    column = declared.column(chart.rows)
    names = [column.text(name) for name in table[chart.rows]]
    fig = figure(chart.x_title, "", height=row_height(len(table), each=40))
    fig.add_scatter(
        x=table[value],
        y=np.arange(len(table)),
        error_x=_error_bar(table[value], table[chart.low], table[chart.high]) | {"color": GREY}
        if chart.low
        else None,
        mode="markers",
        marker={"color": BLUE, "size": 11, "symbol": "diamond"},
        hovertext=[
            f"{name}<br>{numeral(number, '.3f')}"
            for name, number in zip(labels(names, 80), table[value], strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )
    rows_axis(fig, names, 36 if column.words else ROW)
    if chart.line is not None:
        fig.add_vline(x=chart.line, line={"color": GREY, "dash": "dash"})
    return fig


def crossfit_curves(result: ExperimentResult) -> go.Figure:
    """Rank correlation with the held-out half against the budget, with intervals over the splits."""
    curves = result.tables["curves"]
    fig = figure("rubrics in the bank (B)", "Spearman's ρ with the held-out half")
    log_axis(fig, 1, float(curves["budget"].max()))
    for strategy, colour in COLOURS.items():
        part = curves[curves["strategy"] == strategy].dropna(subset=["rho"])
        if len(part):
            band(fig, part["budget"], part["low"], part["high"], colour, 0.12)
            fig.add_scatter(
                x=part["budget"],
                y=part["rho"],
                name=NAMES[strategy],
                mode="lines+markers",
                line={"color": colour},
            )
    target = float(result.frame()["target"].iloc[0])
    fig.add_hline(
        y=target,
        line={"color": GREY, "dash": "dash"},
        annotation={"text": f"target {target:.4g}", "xanchor": "left", "x": 0},
    )
    return fig


def crossfit_deltas(result: ExperimentResult) -> go.Figure:
    """AUC of the strategy "pairs" minus that of each other: a dot for each split, and the mean with its interval."""
    names = [name for name in COLOURS if name != "pairs"]
    summary = result.frame().set_index("strategy").loc[names]
    splits = result.tables["splits"]
    fig = figure("ΔAUC of pairs", "", height=row_height(len(names), each=60))
    for row, name in enumerate(names):
        difference = splits["pairs"] - splits[name]
        fig.add_scatter(
            x=difference,
            y=row + np.linspace(-0.18, 0.18, len(difference)),
            mode="markers",
            marker={"color": COLOURS[name], "size": 6, "opacity": 0.5},
            customdata=splits["split"],
            **hover("split %{customdata}: %{x:.3f}<extra></extra>"),
            showlegend=False,
        )
    fig.add_scatter(
        x=summary["delta"],
        y=np.arange(len(names)),
        error_x=_error_bar(summary["delta"], summary["delta_low"], summary["delta_high"]) | {"color": GREY},
        mode="markers",
        marker={"color": [COLOURS[name] for name in names], "size": 11, "symbol": "diamond"},
        hovertext=[numeral(number, ".3f") for number in summary["delta"]],
        hovertemplate="mean %{hovertext}<extra></extra>",
        showlegend=False,
    )
    rows_axis(fig, [f"to {NAMES[name]}" for name in names])
    fig.add_vline(x=0, line={"color": GREY, "dash": "dash"})
    return fig


def sweep_kappa(result: ExperimentResult) -> go.Figure:
    """Kappa of the rubrics kept at each threshold, with a line at the kappa of all rubrics."""
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


def sweep_coverage(result: ExperimentResult) -> go.Figure:
    """Kappa against the share of the rubrics that are kept, from no gate to the strictest threshold."""
    table = result.frame().dropna(subset=["kappa"])
    room = 1.2  # for "no gate", right of 100%
    fig = figure("share of the rubrics kept", "Cohen's κ", xaxis_tickformat=".0%", xaxis_range=[0, room])
    fig.update_xaxes(tickvals=[0, 0.5, 1])
    fig.add_scatter(
        x=table["share"],
        y=table["kappa"],
        error_y=_error_bar(table["kappa"], table["kappa_low"], table["kappa_high"]),
        mode="lines+markers+text",
        text=["no gate" if np.isnan(tau) else numeral(tau) for tau in table["tau_c"]],
        textposition=["bottom left" if row % 2 else "top right" for row in range(len(table))],
        line={"color": BLUE},
        marker={"size": 9},
        hovertemplate="τ_c %{text}: κ %{y:.3f} on %{x:.0%}<extra></extra>",
        showlegend=False,
    )
    return fig


def attrition_curves(result: ExperimentResult) -> go.Figure:
    """Share of the rubrics kept against the number of systems: by unanimity, by two models of it, by both outcomes."""
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
    """For each variant of the analysis: share of the bank kept, and rank correlation with the full analysis."""
    table = result.tables["variants"].dropna(subset=["rho"])
    kinds = table["kind"].replace(KINDS)
    names = [f"{kind}: {what}" for kind, what in zip(kinds, table["what"], strict=True)]
    fig = figure("1: the same as in the full analysis", "", height=row_height(len(names), each=20))
    shown = {"kept": ("of the bank kept", BLUE), "rho": ("Spearman's ρ with the full analysis", VERMILION)}
    for column, (what, colour) in shown.items():
        fig.add_scatter(
            x=table[column],
            y=np.arange(len(names)),
            name=what,
            mode="markers",
            marker_color=colour,
            customdata=labels(names, 80),
            **hover("%{customdata}<br>%{x:.3f}"),
        )
    rows_axis(fig, names, 32)
    least = min([0.9, *table["kept"], *table["rho"]])  # so that the axis has a width if all values are 1
    fig.update_xaxes(range=[least - 0.02, 1.02])
    fig.add_vline(x=1, line={"color": GREY, "dash": "dash"})
    return fig


DRAWN: dict[str, Callable[[ExperimentResult], go.Figure]] = {
    draw.__name__: draw
    for draw in (
        crossfit_curves,
        crossfit_deltas,
        sweep_kappa,
        sweep_coverage,
        attrition_curves,
        stability_dots,
    )
}
"""The figures that the declaration of a chart can name (``Chart.draw``)."""


def _intervals(
    fig: go.Figure,
    x: pd.Series,
    value: pd.Series,
    low: pd.Series,
    high: pd.Series,
    name: str,
    colour: str,
) -> None:
    fig.add_scatter(
        x=x,
        y=value,
        error_y=_error_bar(value, low, high),
        name=name,
        mode="lines+markers",
        line={"color": colour},
        marker={"size": 9},
        showlegend=False,
    )


def _error_bar(value: pd.Series, low: pd.Series, high: pd.Series) -> dict[str, object]:
    """The intervals around the values in plotly's form; an unknown interval has length 0."""
    above, below = (high - value).fillna(0.0), (value - low).fillna(0.0)
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
