"""The report of one dataset as a page: one HTML file that contains its figures and needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path

import numpy as np
import plotly.graph_objects as go

from ..analysis.result import Result
from ..analysis.standings import claimed
from ..experiments.results import ExperimentResult
from ..figures.experiments import experiment_figures
from ..figures.leaderboard import forest, placing, tier_names
from ..figures.measurability import measurability_histogram
from ..figures.shared_view import PAGE, on_one_page
from ..files import write_files
from ..judges.gate import STATISTIC_NAMES, possible_values
from ..text import percent
from .sections import HOW, LIMITS, origin, report_markdown, report_title, sections
from .standalone import document
from .templating import render

Titled = tuple[str, go.Figure]


def full_report(result: Result, experiments: Sequence[ExperimentResult] = (), command: str = "") -> str:
    """The HTML report of one analysis and its experiments, with figures. command: the command line to reproduce it."""
    parts = sections(result, experiments)
    figures: dict[str, list[Titled]] = {"analysis": _analysis_figures(result)}
    figures |= {found.name: experiment_figures(found) for found in experiments}
    drawn = [figure for part in parts for _, figure in figures[part.key]]
    numbers = count()
    page = render(
        "report.html",
        title=report_title(result),
        sections=parts,
        figures={part.key: [(next(numbers), title) for title, _ in figures[part.key]] for part in parts},
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


def _analysis_figures(result: Result) -> list[Titled]:
    """Titled figures: the leaderboard with its intervals, and the measurability of the rubrics if the gate is on."""
    holds, board = result.verdict.holds, claimed(result.leaderboard, result.verdict)
    board = board[np.isfinite(placing(board)[0].value)]
    estimate, axis = placing(board)
    systems = board["system"].tolist()
    ranked = on_one_page(forest(systems, estimate, tier_names(board) if holds else None, title=axis), systems)
    title = f"{axis.split()[0].capitalize()} with its {percent(result.settings.confidence)} interval"
    titled = [(title + (", in tiers" if holds else ", by name: no order is claimed"), ranked)]
    if result.gate == "off":
        return titled
    gate = result.gating
    histogram = measurability_histogram(
        gate.values, gate.feasible, gate.threshold, possible_values(gate), STATISTIC_NAMES[gate.statistic]
    )
    titled.append(("Measurability of the rubrics", histogram))
    # Figures as high as a page come last, so that no page is left half empty before them.
    return sorted(titled, key=lambda figure: figure[1].layout.height >= PAGE)
