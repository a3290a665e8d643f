"""Uncertainty of each rubric's parameters, for placing systems at these parameters (docs/method.md §13)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..irt.fit import IrtFit
from ..types import FloatArray
from .item_posterior import item_posterior


@dataclass(frozen=True)
class Spread:
    """Uncertainty of the rubrics' parameters, (J,) each: posterior sd of log a, sd of b, and their correlation."""

    log_a: FloatArray
    b: FloatArray
    correlation: FloatArray


def item_spread(fit: IrtFit, y: FloatArray) -> Spread:
    """Uncertainty of every rubric's parameters given the abilities of the fit; NaN if constant. y: (M, J)."""
    known = np.isfinite(fit.theta)
    posterior = item_posterior(y[known], fit.theta[known], fit.levels, fit.thresholds)
    log_a, b, weights = np.log(posterior.slope), posterior.difficulty, posterior.weights
    mean_a, mean_b = weights @ log_a, weights @ b
    var_a, var_b = weights @ log_a**2 - mean_a**2, weights @ b**2 - mean_b**2
    joint = weights @ (log_a * b) - mean_a * mean_b
    sd_a, sd_b = np.sqrt(np.maximum(var_a, 0)), np.sqrt(np.maximum(var_b, 0))
    together = np.divide(joint, sd_a * sd_b, out=np.zeros_like(joint), where=sd_a * sd_b > 0)
    found = [np.where(fit.constant, np.nan, v[posterior.row]) for v in (sd_a, sd_b, np.clip(together, -1, 1))]
    return Spread(*found)
