"""The standalone HTML report with its figures drawn in: one file that needs no network and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import plotly.graph_objects as go

from ..errors import ExportError
from ..experiments.report import ANALYSIS, experiment_heading, report_html, report_markdown
from ..experiments.results import ExperimentResult
from ..exports import write_whole
from ..pipeline import Result
from .experiments import experiment_figure
from .leaderboard import Estimate, forest
from .measurability import measurability_histogram


def full_report(result: Result, experiments: Sequence[ExperimentResult] = (), command: str = "") -> str:
    """The HTML report of one analysis and its experiments, each with its figures; ``command`` reproduces it."""
    drawn = {ANALYSIS: _analysis_figures(result)}
    drawn |= {experiment_heading(found): [experiment_figure(found)] for found in experiments}
    library = True  # plotly itself goes in once, with the first figure
    parts: dict[str, str] = {}
    for heading, figures in drawn.items():
        for figure in figures:
            html = figure.to_html(full_html=False, include_plotlyjs=library, config={"displaylogo": False})
            parts[heading] = parts.get(heading, "") + html
            library = False
    return report_html(result, experiments, command, parts)


def write_report(
    result: Result, experiments: Sequence[ExperimentResult], command: str, folder: str | Path
) -> list[Path]:
    """Write report.html and report.md into ``folder``, each whole or not at all; raises ExportError."""
    out = Path(folder)
    contents = {
        "report.html": full_report(result, experiments, command),
        "report.md": report_markdown(result, experiments, command),
    }
    try:
        out.mkdir(parents=True, exist_ok=True)
        return [write_whole(out / name, content.encode()) for name, content in contents.items()]
    except OSError as error:
        raise ExportError(
            f"The report could not be written to {out} ({error.strerror}): name a folder that can be written."
        ) from error


def _analysis_figures(result: Result) -> list[go.Figure]:
    """The leaderboard with its intervals, and the measurability of the rubrics."""
    board = result.leaderboard[result.leaderboard["tier"].notna()]
    theta, low, high = (board[c].to_numpy(dtype=float) for c in ("theta", "theta_low", "theta_high"))
    tiers = board["tier"].to_numpy(dtype=np.int64)
    table, on = result.measurability, result.gate == "on"
    measured = table["n_total"].to_numpy(dtype=float)
    return [
        forest(board["system"].tolist(), Estimate(theta, low, high), tiers),
        measurability_histogram(
            table["q_mean"].to_numpy(),
            table["feasible"].to_numpy(),
            result.settings.tau_c if on else None,
            float(np.median(measured)),
        ),
    ][: 2 if on else 1]
