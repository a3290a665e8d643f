"""Whether each rubric follows its curve: parametric bootstrap of the outfit, and observed points beside the curve."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ..errors import FitError
from ..intervals import percentile_interval
from ..types import FloatArray, silent
from ..workers import run_tasks
from .abilities import log_probabilities
from .diagnostics import expected_labels
from .fit import IrtFit, fit_irt
from .information import response_curve

REPLICATES = 100
LEVEL = 0.05
GROUPS = 8


@dataclass(frozen=True)
class ItemFit:
    """Parametric bootstrap of the outfit mean square, J rubrics.

    outfit: (J,) mean squared standardised residual, near 1 under the model; NaN for a constant rubric.
    p: (J,) share of replicates with an outfit at least as large, the data counted among them; NaN where untested.
    misfit: share of the tested rubrics with p < .05; chance alone gives at most .05 (docs/method.md §12).
    refits: the fits of the replicates, from which ``curve_band`` is computed.
    """

    outfit: FloatArray
    p: FloatArray
    misfit: float
    refits: tuple[IrtFit, ...]


def bootstrap_item_fit(
    fit: IrtFit,
    y: FloatArray,
    replicates: int = REPLICATES,
    seed: int = 0,
    progress: Callable[[float, str], None] | None = None,
) -> ItemFit:
    """Compare each rubric's outfit with tables simulated from the fitted model and refitted (docs/method.md §12).

    Abilities are drawn from the systems' posteriors, labels from the model, and the same cells are left unknown, so
    that the replicates overfit as much as the data do. y: (M, J).
    """
    observed = outfit(fit, y)
    rng = np.random.default_rng([seed, 7])
    exceeded, defined, refits = np.zeros(len(observed)), np.zeros(len(observed)), []
    report_progress = progress or silent
    results = run_tasks(
        _refit_simulated,
        _generators(fit, rng, replicates),
        (fit, y),
        before=lambda n: report_progress(n / replicates, f"Item fit: replicate {n + 1} of {replicates}"),
    )
    for result in results:
        if result is None:
            continue
        refit, statistic = result
        known = ~np.isnan(statistic)
        defined += known
        exceeded += known & (np.where(known, statistic, -np.inf) >= observed)
        refits.append(refit)
    tested = ~np.isnan(observed) & (defined > 0)
    p = np.where(tested, (exceeded + 1) / (defined + 1), np.nan)
    misfit = float((p[tested] < LEVEL).mean()) if tested.any() else float("nan")
    return ItemFit(observed, p, misfit, tuple(refits))


def _generators(fit: IrtFit, rng: np.random.Generator, replicates: int) -> list[np.random.Generator]:
    """Copies of the generator as it is before each replicate, so that a replicate can be simulated in any process."""
    found = []
    for _ in range(replicates):
        found.append(deepcopy(rng))
        _noise(fit, rng)
    return found


def _refit_simulated(
    fit: IrtFit, y: FloatArray, rng: np.random.Generator
) -> tuple[IrtFit, FloatArray] | None:
    """Simulate a table, refit it and compute its outfit (J,); None if all of its rubrics are constant."""
    drawn = simulate_labels(fit, y, deepcopy(rng))
    try:
        refit = fit_irt(drawn, fit.model, fit.quadrature, fit.priors, levels=fit.levels)
    except FitError:
        return None
    return refit, outfit(refit, drawn)


def outfit(fit: IrtFit, y: FloatArray) -> FloatArray:
    """(J,) mean over systems of the squared standardised residual at the EAP abilities; NaN for a constant rubric."""
    mean, variance = expected_labels(fit, fit.theta)
    squared = (y - mean) ** 2 / np.maximum(variance, 1e-12)
    known = ~np.isnan(squared)
    n = known.sum(axis=0)
    return np.where(n > 0, np.where(known, squared, 0.0).sum(axis=0) / np.maximum(n, 1), np.nan)


def simulate_labels(fit: IrtFit, y: FloatArray, rng: np.random.Generator) -> FloatArray:
    """(M, J) labels drawn from the fitted model where ``y`` is known; a constant rubric keeps its label."""
    normal, uniform = _noise(fit, rng)
    theta = fit.theta + fit.theta_sd * normal
    active = np.flatnonzero(~fit.constant)
    cumulative = np.exp(log_probabilities(fit, active, theta)).cumsum(axis=0)
    drawn = y.copy()
    drawn[:, active] = (uniform > cumulative[:-1]).sum(axis=0).T
    return np.where(np.isnan(y), np.nan, drawn)


def _noise(fit: IrtFit, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """The random numbers of one simulated table: (M,) standard normal, (J', M) uniform for the rubrics that vary."""
    normal = rng.standard_normal(len(fit.theta))
    return normal, rng.random((int((~fit.constant).sum()), len(fit.theta)))


def empirical_curve(fit: IrtFit, y: FloatArray, rubric: int, confidence: float = 0.95) -> pd.DataFrame:
    """Observed shares of the full mark of one rubric, in up to GROUPS groups of systems with similar abilities.

    y: (M, J). Columns theta (mean of the group), share, low, high (Wilson interval), systems.
    """
    known = np.flatnonzero(~np.isnan(y[:, rubric]))
    ranked = known[np.argsort(fit.theta[known], kind="stable")]
    groups = [group for group in np.array_split(ranked, min(GROUPS, max(len(ranked), 1))) if len(group)]
    top = fit.levels[rubric] - 1
    rows = []
    for group in groups:
        share = float(y[group, rubric].mean() / top)
        low, high = wilson_interval(share, len(group), confidence)
        rows.append((float(fit.theta[group].mean()), share, low, high, len(group)))
    return pd.DataFrame(rows, columns=["theta", "share", "low", "high", "systems"])


def wilson_interval(share: float, n: int, confidence: float) -> tuple[float, float]:
    """Wilson's score interval (low, high) of a ``share`` observed in ``n`` trials."""
    z2 = float(ndtri((1 + confidence) / 2)) ** 2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return float(centre - half), float(centre + half)


def curve_band(
    refits: tuple[IrtFit, ...], rubric: int, theta: FloatArray, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Percentile band (low, high), each (G,), of a rubric's curve over the bootstrap refits.

    NaN if the rubric is constant in all of them.
    """
    curves = [response_curve(refit, rubric, theta) for refit in refits if not refit.constant[rubric]]
    if not curves:
        return np.full(len(theta), np.nan), np.full(len(theta), np.nan)
    return percentile_interval(np.stack(curves), confidence)
