"""The standalone HTML report with its figures drawn in: one file, no network, nothing else needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from ..experiments.report import report_html
from ..experiments.results import ExperimentResult
from ..pipeline import Result
from .experiments import experiment_figure
from .leaderboard import Estimate, forest
from .measurability import *  # noqa: F403


def full_report(result: Result, experiments: Sequence[ExperimentResult] = (), command: str = "") -> str:
    """The HTML report of one analysis and its experiments, each with its figure."""
