"""Starting point of the search: each rubric's own logistic regression on the systems' normal scores.

A start from pass rates alone is so far off for steep and easy rubrics that their first steps overshoot, and one
rubric's overshoot shortens the step of all. This start costs less than one evaluation of the objective and saves two of
three evaluations where systems are many.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri

from ..settings import Priors
from ..types import FloatArray
from .models import smoothed_logit

STEPS = 5  # of Fisher scoring
CELLS = 100_000  # labels of a block: its arrays stay in the processor's cache
LONGEST = 1.0  # longest step of log a; that of b is 1.5 times as long
WEAK = Priors(log_a_sd=1.0, b_sd=4.0)  # in place of flat priors, only here


def normal_scores(passed: FloatArray, mask: FloatArray | None) -> FloatArray:
    """(M,) Blom scores of the systems' ranks by their passes in excess of their rubrics' pass rates. passed: (J, M)."""
    if mask is None:
        excess = passed.mean(axis=0)
    else:
        rates = passed.sum(axis=1) / mask.sum(axis=1)
        excess = (passed.sum(axis=0) - rates @ mask) / np.maximum(mask.sum(axis=0), 1)
    return np.asarray(ndtri((pd.Series(excess).rank() - 0.375) / (len(excess) + 0.25)))


def regress_rubrics(
    passed: FloatArray, mask: FloatArray | None, priors: Priors
) -> tuple[FloatArray, FloatArray]:
    """Modes of log a and b, (J,) each, from labels ``passed`` (J, M), 0 where ``mask`` (J, M) is 0."""
    theta = normal_scores(passed, mask)
    size = max(1, CELLS // passed.shape[1])
    blocks = [slice(start, start + size) for start in range(0, len(passed), size)]
    found = [_regress(passed[b], None if mask is None else mask[b], theta, priors) for b in blocks]
    return np.concatenate([log_a for log_a, _ in found]), np.concatenate([b for _, b in found])


def _regress(
    passed: FloatArray, mask: FloatArray | None, theta: FloatArray, priors: Priors
) -> tuple[FloatArray, FloatArray]:
    """Modes of log a and b by Fisher scoring, for a block of rubrics."""
    slope_precision = (priors.log_a_sd or WEAK.log_a_sd or 1.0) ** -2
    precision = (priors.b_sd or WEAK.b_sd or 1.0) ** -2
    known = passed.shape[1] if mask is None else mask.sum(axis=1)
    log_a, b = np.zeros(len(passed)), -1.3 * smoothed_logit(passed.sum(axis=1), known)
    for _ in range(STEPS):
        a = np.exp(log_a)
        z = a[:, None] * (theta - b[:, None])
        p = expit(z)
        residual, weight = passed - p, p * (1 - p)
        if mask is not None:
            residual, weight = residual * mask, weight * mask
        by_a = (residual * z).sum(axis=1) - slope_precision * log_a
        by_b = -a * residual.sum(axis=1) - precision * b
        aa = (weight * z * z).sum(axis=1) + slope_precision
        ab = -a * (weight * z).sum(axis=1)
        bb = a * a * weight.sum(axis=1) + precision
        determinant = aa * bb - ab * ab
        log_a = log_a + np.clip((bb * by_a - ab * by_b) / determinant, -LONGEST, LONGEST)
        b = b + np.clip((aa * by_b - ab * by_a) / determinant, -1.5 * LONGEST, 1.5 * LONGEST)
    return log_a, b
