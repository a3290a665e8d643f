"""All pairs of systems compared at once, or each alone (docs/method.md §10).

With psi the contributions of n units to the estimates (see ``influence``):

    Var(theta_i - theta_k) = n / (n - 1) sum_q (psi_iq - psi_kq)²,  at least the sum of both posterior variances.

Simultaneous: the largest of all pairs' |Z_i - Z_k| / sd_ik, Z = W psi' sqrt(n / (n - 1)) with W (R, n) standard
normal, exceeds c in 5% of the rows. The variances are themselves estimated from n units, so c is carried to Student's t
with n - 1 degrees of freedom at the same tail probability. Of simulated boards of 15 identical systems, 6% show a
difference over 104 units if c is used as it is, 12% over 30, 27% over 15; carried over, 5%, 5% and 7%. Below 15 units
the draws do not show how the pairs depend on each other: c is then at least Bonferroni's bound (docs/inference.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from ..types import BoolArray, FloatArray, IntArray
from .simultaneous import adjusted_p, as_normal, as_student, largest_differences, threshold

FEW_UNITS = 15  # fewer do not show how the pairs depend on each other
ROUNDING = 1e-12  # a difference or a variance below this share of its terms is rounding


@dataclass(frozen=True)
class Comparisons:
    """All (M, M), row less column; the diagonal is 0 and never separated.

    difference, se. low, high: interval of the difference, infinite where a saturated system leaves it open.
    p_value: two-sided, of the pair alone; p_simultaneous: adjusted for all pairs. separated: the interval excludes 0.
    ahead: probability that the row is above the column, from the pair alone.
    critical: multiple of ``se`` that a separated pair with the most units exceeds.
    """

    difference: FloatArray
    se: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray
    p_simultaneous: FloatArray
    separated: BoolArray
    ahead: FloatArray
    critical: float


@dataclass(frozen=True)
class Evidence:
    """What M ranked systems' estimates rest on.

    estimate: (M,). contributions: (n, M) psi sqrt(n_i / (n_i - 1)): their squares sum to the variance; 0 of one unit.
    floor: (M,) least variance. units: (M,) units of each. saturated: (M,) 1, -1 or 0.
    """

    estimate: FloatArray
    contributions: FloatArray
    floor: FloatArray
    units: IntArray
    saturated: IntArray


def compare(
    evidence: Evidence, draws: FloatArray, confidence: float = 0.95, *, simultaneous: bool = True
) -> Comparisons:
    """Every pair of systems. draws: (R, M) Z of the module's formula."""
    difference = evidence.estimate[:, None] - evidence.estimate
    se, df = pair_errors(evidence), np.minimum.outer(evidence.units, evidence.units) - 1
    z = _deviates(difference, se, df, evidence)
    p_value = 2 * ndtr(-z)
    largest = largest_differences(draws, se)
    n_pairs = max(len(se) * (len(se) - 1) // 2, 1)
    bonferroni = n_pairs if len(evidence.contributions) < FEW_UNITS else 0
    critical = -float(ndtri((1 - confidence) / 2))
    if simultaneous:
        bound = -float(ndtri((1 - confidence) / (2 * n_pairs))) if bonferroni else 0.0
        critical = max(critical, threshold(largest, confidence), bound)
    multiple = as_student(critical, df)
    half = np.multiply(multiple, se, out=np.full_like(se, np.inf), where=(se > 0) & np.isfinite(multiple))
    half[(se == 0) & (z > critical)] = 0.0
    low, high = _open(difference - half, difference + half, evidence.saturated)
    return Comparisons(
        difference=difference,
        se=se,
        low=low,
        high=high,
        p_value=p_value,
        p_simultaneous=np.maximum(adjusted_p(z, largest), np.minimum(p_value * bonferroni, 1.0)),
        separated=(z > critical) & ((low > 0) | (high < 0)),
        ahead=np.where(difference > 0, 1 - p_value / 2, p_value / 2),
        critical=float(multiple.min(initial=np.inf)),
    )


def pair_errors(evidence: Evidence) -> FloatArray:
    """(M, M) standard error of each difference; 0 on the diagonal."""
    psi = evidence.contributions
    product = psi.T @ psi
    own = product.diagonal()
    variance = own[:, None] + own - 2 * product
    variance[variance < ROUNDING * (own[:, None] + own)] = 0.0
    variance = np.maximum(variance, evidence.floor[:, None] + evidence.floor)
    np.fill_diagonal(variance, 0.0)
    return np.sqrt(variance)


def _deviates(difference: FloatArray, se: FloatArray, df: IntArray, evidence: Evidence) -> FloatArray:
    """(M, M) normal deviate of each pair's tail probability: 0 where the pair allows no claim.

    A difference that is the same on each of n units has no error to be divided by: the sign test's 2^(1 - n) is taken.
    """
    scale = np.abs(evidence.estimate)
    apart = np.abs(difference) > ROUNDING * (scale[:, None] + scale)
    t = np.divide(np.abs(difference), se, out=np.zeros_like(se), where=se > 0)
    signs = -ndtri(np.exp2(-np.minimum(df + 1.0, 1000.0)))
    upper = np.triu_indices(len(t), 1)
    z = np.zeros_like(t)
    z[upper] = as_normal(t[upper], df[upper])
    z = np.where(se > 0, z + z.T, signs)
    side = evidence.saturated
    both = (side[:, None] == side) & (side != 0)
    return np.where(apart & ~both, z, 0.0)


def _open(low: FloatArray, high: FloatArray, saturated: IntArray) -> tuple[FloatArray, FloatArray]:
    """Differences have no upper bound where the row is saturated at the top or the column at the bottom, and so on."""
    rows, columns = saturated[:, None], saturated[None, :]
    low = np.where((rows == -1) | (columns == 1), -np.inf, low)
    high = np.where((rows == 1) | (columns == -1), np.inf, high)
    for ends in (low, high):
        np.fill_diagonal(ends, 0.0)
    return low, high
