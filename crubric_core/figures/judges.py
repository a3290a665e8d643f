"""Figures of the judges: error rates, leniency, shared errors, and the influence of each on the leaderboard."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..text import ends, numeral
from ..types import BoolArray, FloatArray
from .style import (
    BLUE,
    DIVERGING,
    FEW_COLUMNS,
    GREEN,
    ON_DIVERGING,
    VERMILION,
    columns_axis,
    figure,
    hover,
    labels,
    row_height,
    rows_axis,
)

RATES = {
    "sensitivity": ("sensitivity", BLUE, "circle"),
    "specificity": ("specificity", VERMILION, "diamond"),
}


def judge_rates(table: pd.DataFrame) -> go.Figure:
    """Sensitivity and specificity of each judge with intervals. table: the columns of JudgeReliability."""
    fig = figure("share right", "", height=row_height(len(table), 44))
    for offset, (column, (name, colour, symbol)) in zip((-0.14, 0.14), RATES.items(), strict=True):
        _dots(fig, table, column, name, colour, symbol, offset)
    rows_axis(fig, table["judge"].tolist())
    least = float(np.nanmin(table[[*RATES, *(f"{name}_low" for name in RATES)]], initial=0.5))
    fig.update_xaxes(range=[max(least - 0.02, -0.01), 1.01])
    return fig


def leniency(table: pd.DataFrame) -> go.Figure:
    """Pass rate of each judge minus that of the panel, with its interval."""
    fig = figure("leniency", "", height=row_height(len(table), 44))
    _dots(fig, table, "leniency", "leniency", GREEN, "circle", 0)
    rows_axis(fig, table["judge"].tolist())
    fig.add_vline(x=0, line={"color": VERMILION, "width": 1, "dash": "dash"})
    fig.update_layout(showlegend=False)
    fig.update_xaxes(tickformat=".1~%")  # if judges are nearly equal, ticks are fractions of a per cent
    return fig


def _dots(
    fig: go.Figure, table: pd.DataFrame, column: str, name: str, colour: str, symbol: str, offset: float
) -> None:
    value, low, high = (
        table[c].to_numpy(dtype=np.float64) for c in (column, f"{column}_low", f"{column}_high")
    )
    fig.add_scatter(
        x=value,
        y=np.arange(len(table)) + offset,
        mode="markers",
        name=name,
        marker={"color": colour, "size": 9, "symbol": symbol},
        error_x={
            "type": "data",
            "array": high - value,
            "arrayminus": value - low,
            "color": colour,
            "thickness": 2,
        },
        customdata=[
            (f"{judge}: {numeral(found, 'z.3f')} {ends(least, most, 'z.3f')}",)
            for judge, found, least, most in zip(labels(table["judge"], 80), value, low, high, strict=True)
        ],
        hovertemplate="%{customdata[0]}<extra></extra>",
    )


def error_correlation(correlation: FloatArray, flagged: BoolArray, judges: Sequence[str]) -> go.Figure:
    """Heat map of the correlation of the judges' errors (K, K); NaN is left empty.

    flagged: (K, K) pairs that share errors, which are framed and starred. Above FEW_COLUMNS judges the columns are
    named by the numbers of the rows, so that the cells stay wide enough to read.
    """
    many = len(judges) > FEW_COLUMNS
    fig = figure("", "", height=max(280, (30 if many else 44) * len(judges) + 130))
    known = np.isfinite(correlation)
    words = np.array([[numeral(r) if np.isfinite(r) else "" for r in row] for row in correlation], dtype=str)
    if many:
        words = np.char.replace(words, "0.", ".")
    words = np.where(flagged & known, np.char.add(words, "★" if many else " ★"), words)
    fig.add_heatmap(
        z=correlation,
        zmin=-1,
        zmax=1,
        colorscale=DIVERGING,
        colorbar={"title": {"text": "r", "side": "top"}, "thickness": 12},
        text=words,
        texttemplate="%{text}",
        textfont={"color": ON_DIVERGING, "size": 10 if many else None},
        showscale=not many,
        customdata=[[f"{a}<br>{b}" for b in labels(judges, 80)] for a in labels(judges, 80)],
        **hover("%{customdata}<br>r = %{z:.3f}<extra></extra>"),
        hoverongaps=False,
        xgap=3,
        ygap=3,
    )
    for row, column in zip(*np.nonzero(flagged), strict=True):
        box = {"x0": column - 0.48, "x1": column + 0.48, "y0": row - 0.48, "y1": row + 0.48}
        fig.add_shape(type="rect", **box, line={"color": VERMILION, "width": 3})
    numbers = range(1, len(judges) + 1)
    rows_axis(fig, [f"{n}. {name}" for n, name in zip(numbers, judges, strict=True)] if many else judges)
    columns_axis(fig, list(numbers) if many else judges, side="bottom")
    if many:
        fig.update_xaxes(tickangle=0)
    return fig


def by_rank(systems: pd.DataFrame) -> list[str]:
    """The names of the systems of a JudgeInfluence, best first, as in the rows of ``ranks_without``."""
    return list(systems.drop_duplicates("system").sort_values("rank", kind="stable")["system"])


def ranks_without(systems: pd.DataFrame) -> go.Figure:
    """Ranks gained or lost by each system without each judge, best system on top.

    systems: the table of a JudgeInfluence.
    """
    ranked = systems.drop_duplicates("system").sort_values("rank", kind="stable")
    names, judges = by_rank(systems), list(dict.fromkeys(systems["judge"]))
    without = systems.pivot_table(index="system", columns="judge", values="rank_without", dropna=False)
    place = without.reindex(index=names, columns=judges).to_numpy(dtype=np.float64)
    before = ranked["rank"].to_numpy(dtype=np.float64)
    gain = before[:, None] - place
    reach = max(3.0, float(np.nanmax(np.abs(gain), initial=0)))
    words = np.where(np.isfinite(gain), np.char.mod("%+d", np.nan_to_num(gain).astype(int)), "—")
    fig = figure("without this judge", "", height=row_height(len(names)))
    fig.add_heatmap(
        z=gain,
        zmin=-reach,
        zmax=reach,
        colorscale=DIVERGING,
        showscale=False,
        text=np.where(gain == 0, "·", words),
        texttemplate="%{text}",
        textfont={"color": ON_DIVERGING},
        customdata=np.stack(
            [
                np.broadcast_to(np.array(each, dtype=object)[:, None], place.shape)
                for each in (labels(names, 80), before)
            ]
            + [place],
            axis=2,
        ),
        hovertemplate="%{customdata[0]}<br>rank %{customdata[1]:.0f} → %{customdata[2]:.0f}<extra></extra>",
        xgap=3,
        ygap=3,
    )
    rows_axis(fig, names)
    columns_axis(fig, judges)
    return fig
