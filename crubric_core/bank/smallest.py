"""The least number of rubrics that is enough, each read off one nested order."""

from __future__ import annotations

import numpy as np

from ..types import FloatArray, IntArray
from .utility import coverage_utility


def first_reaching(values: FloatArray, target: float) -> int | None:
    """Least B with values[B - 1] ≥ target, or None. values (n,): what the first 1, 2, … n rubrics reach."""
    reached = np.flatnonzero(values >= target)
    return int(reached[0]) + 1 if reached.size else None


def smallest_for_utility(
    utility: FloatArray, info_sum: FloatArray, weights: FloatArray, share: float
) -> int | None:
    """Least B with U(first B) ≥ share · U(F), or None.

    utility (n,) along the order; info_sum (G,) of the whole feasible set F; share in [0, 1].
    """
    # The same sum taken in another order may end one rounding away.
    return first_reaching(utility, share * float(coverage_utility(info_sum, weights)) * (1 - 1e-12))


def standard_error(info: FloatArray, order: IntArray) -> FloatArray:
    """Largest SE(θ) = I_S(θ)^-1/2 over the abilities for the first 1, 2, … n rubrics of ``order`` (docs/method.md §7).

    info (T, J) at the T abilities that matter, order (n,) → (n,); infinite while some ability has no information.
    """
    least = np.cumsum(info[:, order], axis=1).min(axis=0)
    error = np.full(least.shape, np.inf)
    np.divide(1.0, np.sqrt(least), out=error, where=least > 0)
    return error


def smallest_for_standard_error(info: FloatArray, order: IntArray, target: float) -> int | None:
    """Least B with SE(θ) ≤ target at every ability of info (T, J), or None where the whole order is not enough."""
    return first_reaching(-standard_error(info, order), -target)
