"""Algorithm 1 of the paper: a dataset and Settings in, a Result out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..arguments import require_a
from ..errors import DatasetError, SettingsError
from ..settings import Settings
from ..types import Progress, silent
from .composition import composition_notes
from .result import Result
from .stages import Analysis
from .tables import bank_table, item_table
from .warnings import dataset_warnings, fit_warnings, gate_warnings, ranking_warnings, type_warnings

if TYPE_CHECKING:
    from ..labels.store.source import LabelSource


DEFAULTS = Settings()


def run_pipeline(ds: LabelSource, settings: Settings = DEFAULTS, progress: Progress | None = None) -> Result:
    """From the labels of one dataset to a compact bank and a tiered leaderboard.

    Parameters
    ----------
    ds : Dataset
        A dataset of a workspace, or another object with the methods of ``LabelSource``.
    settings : Settings
        All choices of the analysis, by default the robust preset; ``Settings.preset("paper")`` is Algorithm 1 of the
        paper as printed.
    progress : callable, optional
        Called with the share done, from 0 to 1, and a description of the current step.

    Returns
    -------
    Result
        Tables and claims, and everything that they rest on.

    Raises
    ------
    DatasetError
        The dataset has no labels, or no rubric passes the gate and varies between systems.
    FitError
        All labels are unknown, no rubric has two different labels, or the response model cannot be fitted otherwise.
    SettingsError
        ``settings`` are no Settings.

    Notes
    -----
    docs/method.md, in the order of its sections. The same dataset, settings and versions give the same bytes.

    """
    if not hasattr(ds, "fingerprint"):
        raise DatasetError(f"ds is {ds!r}, not a dataset: open a workspace and give workspace.dataset(NAME).")
    require_a("settings", settings, Settings, SettingsError)
    return result_of(analyse(ds, settings, progress))


def analyse(ds: LabelSource, settings: Settings, progress: Progress | None = None) -> Analysis:
    """An analysis with the stages of ``run_pipeline`` computed; further stages can be called on it."""
    report_progress = progress or silent
    analysis = Analysis.of(ds, settings)
    report_progress(0.0, "Reducing labels to agreement counts and consensus")
    analysis.measurability()
    report_progress(0.1, f"Fitting the {settings.model} model")
    analysis.calibration()
    report_progress(0.3, "Fitting the model without each system")
    analysis.folds()
    report_progress(0.6, "Assembling the bank")
    analysis.order()
    report_progress(0.8, "Comparing the systems")
    analysis.ranking()
    report_progress(1.0, "Done")
    return analysis


def result_of(analysis: Analysis) -> Result:
    """Collect the result of an analysis; stages that are not yet computed are computed now."""
    settings, data = analysis.settings, analysis.dataset
    reduction, fitted, ranking = analysis.reduction(), analysis.calibration(), analysis.ranking()
    order, feasible, verdict = analysis.order(), analysis.feasible, analysis.verdict()
    return Result(
        settings=settings,
        dataset=data.name,
        fingerprint=analysis.fingerprint,
        reduction=reduction,
        calibration=fitted,
        order=order,
        ranking=ranking,
        pool=analysis.ranking_on(analysis.placing),
        measurability=analysis.measurability(),
        items=item_table(reduction, fitted, analysis.bank(), feasible),
        bank=bank_table(reduction, fitted, order, settings),
        leaderboard=ranking.table,
        comparisons=ranking.comparisons,
        certificate=analysis.certificate(),
        claims=analysis.claims(),
        gate="off" if analysis.gating().off else "on",
        gating=analysis.gating(),
        verdict=verdict,
        warnings=(
            *gate_warnings(verdict),
            *dataset_warnings(reduction),
            *fit_warnings(fitted, analysis.candidates, settings, at_pass_marks=bool(reduction.pass_marks)),
            *ranking_warnings(ranking, settings),
            *type_warnings(ranking.scores),
            *composition_notes(settings, analysis.constraints(), order, feasible),
            *analysis.consensus_warnings(),
            *analysis.judge_warnings(),
        ),
        queries=analysis.queries(),
        judges=data.judges,
    )
