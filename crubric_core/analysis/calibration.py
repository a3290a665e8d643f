"""Fit the response model, for all systems and without each fold, and describe each rubric by it.

Gate and budget have no influence on these results.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..bank.utility import utility_grid
from ..errors import FitError
from ..irt.diagnostics import item_rest
from ..irt.fit import IrtFit, fit_irt
from ..irt.information import item_information, posterior_weighted_information
from ..labels.store.reduction import Reduction
from ..leaderboard import cross_fit
from ..leaderboard.cross_fit import CrossFit, FoldFits, too_few_to_cross_fit
from ..settings import Model, Settings
from ..text import count, verb
from ..types import FloatArray, Progress
from .result import Calibration

FEW = 50  # systems; with fewer, the errors of the slopes make the rubrics' information look unequal


def calibrate(reduction: Reduction, settings: Settings) -> Calibration:
    """Fit the item response model and compute item information; independent of tau_c, the budget and the seed.

    Raises FitError if no label is known, no rubric varies, or the judges' ties leave no consensus at all.
    """
    return calibration_of(reduction, fit_model(reduction, settings))


def fit_model(reduction: Reduction, settings: Settings) -> IrtFit:
    """Fit the response model to all rubrics that vary. Raises FitError as ``calibrate`` does."""
    y = reduction.y
    if np.isnan(y).all() and reduction.n_total.sum():
        raise FitError(
            "Every cell is a tie between judges, so no consensus label is known: "
            "choose in the settings what an even split is, or add a third judge."
        )
    return fit_irt(y, settings.model, settings.quadrature, settings.priors, levels=reduction.levels)


def calibration_of(reduction: Reduction, fit: IrtFit) -> Calibration:
    """Information and item–rest correlation of each rubric, from a fitted model and the consensus labels."""
    y = reduction.y
    grid = utility_grid(difficulty=fit.b, theta=fit.theta)
    rest = item_rest(y / (reduction.levels - 1))
    return Calibration(
        fit=fit,
        y=y,
        grid=grid,
        info=item_information(fit, grid.theta),
        nu=posterior_weighted_information(fit, y),
        item_rest=rest.correlation,
        item_rest_chance=rest.chance,
    )


def fit_folds(reduction: Reduction, calibration: Calibration, settings: Settings) -> CrossFit:
    """The fits that place each system without its own labels (docs/method.md §10)."""
    return CrossFit.of(reduction.y, calibration.fit, fold_fits(reduction, calibration.fit, settings))


def fold_fits(
    reduction: Reduction, fit: IrtFit, settings: Settings, progress: Progress | None = None
) -> FoldFits:
    """The slow part of ``fit_folds``: item parameters fitted without each fold's systems.

    One fold with all systems and the pooled parameters if the settings do not cross-fit (as in the paper), or if there
    are too few systems. With too few systems no claim rests on abilities.
    """
    if settings.cross_fitted and not too_few_to_cross_fit(reduction.n_distinct):
        return cross_fit.fold_fits(reduction.y, fit, progress=progress)
    together = np.zeros(len(reduction.systems), dtype=np.int64)
    return FoldFits(together, (fit.items,), np.array([fit.converged]))


def all_alike(model: Model) -> str:
    """Why a rubric gives no information, in words. Except in the GRM, graded labels that differ may all be a pass."""
    return "all systems have the same label" if model == "GRM" else "all systems pass, or all fail"


def reasons_of_none(y: FloatArray, fit: IrtFit) -> dict[str, int]:
    """Map each reason for giving no information to its number of rubrics; reasons without rubrics are left out.

    y: (M, J). Rubrics with labels of at most one system have a separate reason: "all systems" would mislead.
    """
    lone = fit.constant & (np.isfinite(y).sum(axis=0) < 2)
    alike = int(fit.constant.sum() - lone.sum())
    found = {all_alike(fit.model): alike, "at most one system has a consensus label": int(lone.sum())}
    return {reason: rubrics for reason, rubrics in found.items() if rubrics}


def information_sentences(
    nu: FloatArray, reasons: Mapping[str, int], model: Model, systems: int
) -> tuple[str, str]:
    """Two sentences: how few of J rubrics give half of the information, and how many give none ("" if all give some).

    nu: (J,) information of each rubric about these systems. reasons: of ``reasons_of_none``. systems: M. With few
    systems half of the information seems to come from few rubrics even if all slopes are equal (docs/method.md §7).
    """
    sharpest = np.sort(nu)[::-1].cumsum()
    half = int(np.searchsorted(sharpest, sharpest[-1] / 2)) + 1
    first = f"As fitted, half of all information about these systems comes from {half:,} of {count(len(nu), 'rubric')}"
    alike = f"; with {count(systems, 'system')} it would look much the same if all slopes were equal"
    unsure = alike if systems < FEW and model != "1PL" else ""
    constant = sum(reasons.values())
    several = [f"on {rubrics:,} {reason}" for reason, rubrics in reasons.items()]
    why = "; ".join(several) if len(reasons) > 1 else "".join(reasons)
    return f"{first}{unsure}.", f"{constant:,} {verb(constant, 'give')} none: {why}." if constant else ""
