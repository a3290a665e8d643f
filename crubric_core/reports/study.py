"""The report of one dataset as a page: one file with its figures drawn in, that needs no network and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from ..analysis.result import Result
from ..experiments.results import ExperimentResult
from ..experiments.titles import FIGURES, column_title
from ..figures.experiments import SECOND_FIGURE, experiment_figure
from ..figures.leaderboard import Estimate, forest
from ..figures.measurability import measurability_histogram
from ..files import write_files
from ..judges.measurability import STATISTIC_NAMES, possible_values
from .sections import HOW, LIMITS, cells, origin, report_markdown, report_title, sections
from .standalone import document
from .templating import call, render

Titled = tuple[str, go.Figure]


@dataclass(frozen=True)
class Table:
    """A table as people read it. heads: each column's title and kind, number or text. rows: its cells."""

    label: str
    heads: list[tuple[str, str]]
    rows: list[list[str]]


def full_report(result: Result, experiments: Sequence[ExperimentResult] = (), command: str = "") -> str:
    """The HTML report of one analysis and its experiments, each with its figures; ``command`` reproduces it."""
    parts = sections(result, experiments)
    figures: dict[str, list[Titled]] = {"analysis": _analysis_figures(result)}
    figures |= {found.name: _experiment_figures(found) for found in experiments}
    drawn = [figure for part in parts for _, figure in figures[part.key]]
    numbers = count()
    page = render(
        "report.html",
        title=report_title(result),
        sections=parts,
        figures={part.key: [(next(numbers), title) for title, _ in figures[part.key]] for part in parts},
        tables={part.key: [_table(table, name) for name, table in part.tables.items()] for part in parts},
        origin=origin(result, command),
        how=HOW,
        limits=LIMITS,
    )
    return document(report_title(result), page, drawn)


def write_report(
    result: Result, experiments: Sequence[ExperimentResult], command: str, folder: str | Path
) -> list[Path]:
    """Write report.html and report.md into ``folder``, each whole or not at all; raises ExportError."""
    contents = {
        "report.html": full_report(result, experiments, command).encode(),
        "report.md": report_markdown(result, experiments, command).encode(),
    }
    return write_files(contents, folder)


def html_table(table: pd.DataFrame, name: str) -> str:
    """The table as escaped HTML, numbers to the right; unknown is —."""
    return call("parts.html", "plain_table", _table(table, name))


def _table(table: pd.DataFrame, label: str) -> Table:
    numeric = [is_numeric_dtype(kind) and not is_bool_dtype(kind) for kind in table.dtypes]
    heads = [
        (column_title(str(column)), "number" if number else "text")
        for column, number in zip(table.columns, numeric, strict=True)
    ]
    return Table(label, heads, cells(table))


def _experiment_figures(found: ExperimentResult) -> list[Titled]:
    if not len(found.frame()):
        return []
    first = [(FIGURES[found.name], experiment_figure(found))]
    if found.name not in SECOND_FIGURE:
        return first
    title, draw = SECOND_FIGURE[found.name]
    return [*first, (title, draw(found))]


def _analysis_figures(result: Result) -> list[Titled]:
    """The leaderboard with its intervals, and the measurability of the rubrics where the gate is on."""
    board = result.leaderboard[result.leaderboard["tier"].notna()]
    theta, low, high = (board[c].to_numpy(dtype=float) for c in ("theta", "theta_low", "theta_high"))
    ranked = forest(
        board["system"].tolist(), Estimate(theta, low, high), board["tier"].to_numpy(dtype=np.int64)
    )
    titled = [(f"Ability with its {result.settings.confidence:.0%} interval, in tiers", ranked)]
    if result.gate == "off":
        return titled
    gate = result.gating
    histogram = measurability_histogram(
        gate.values, gate.feasible, gate.threshold, possible_values(gate), STATISTIC_NAMES[gate.statistic]
    )
    return [*titled, ("Measurability of the rubrics", histogram)]
