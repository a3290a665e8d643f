"""What one more rubric adds to the utility of pairs, in machine code (docs/method.md §8, step 5)."""

from __future__ import annotations

import numpy as np

from ..compiled import compiled
from ..types import FloatArray


def pair_gains(rises: FloatArray, weights: FloatArray, left: FloatArray, root: FloatArray) -> FloatArray:
    """ΔU = Σ_p ½ w_p (√(r + e m) - √r) of rubrics with m = 1 - e^(-2d/π) in ``rises`` (n, P) → (n,).

    left: e = e^(-2x/π) at the bank's summed distances x, root: √r = √(1 - e); (P,) or (n, P).
    """
    shape = np.broadcast_shapes(left.shape, (1, rises.shape[1]))
    return _gains(rises, weights, np.broadcast_to(left, shape), np.broadcast_to(root, shape))


@compiled
def gain_of(
    rise: FloatArray, weights: FloatArray, left: FloatArray, root: FloatArray, terms: FloatArray
) -> float:
    """``pair_gains`` of one rubric; all (P,). terms: overwritten.

    Computed as e m / (√(r + e m) + √r), which keeps its digits where r is near 1. Equal rubrics have bit-equal gains.
    """
    for p in range(len(rise)):
        added = left[p] * rise[p]
        both = np.sqrt(added + root[p] * root[p]) + root[p]
        terms[p] = 0.5 * weights[p] * added / both if both > 0 else 0.0
    total = 0.0
    for p in range(len(terms)):
        total += terms[p]
    return total


@compiled
def _gains(rises: FloatArray, weights: FloatArray, left: FloatArray, root: FloatArray) -> FloatArray:
    """left, root: (1, P) or (n, P)."""
    gains, terms = np.empty(len(rises)), np.empty(len(weights))
    for j in range(len(rises)):
        at = min(j, len(left) - 1)
        gains[j] = gain_of(rises[j], weights, left[at], root[at], terms)
    return gains
