"""The few statistics that the experiments share, as array kernels."""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations

import numpy as np
import pandas as pd
from scipy.special import gammaln, stdtr, stdtrit

from ..intervals import FEWEST_CLUSTERS, cluster_sums, ratio
from ..types import BoolArray, FloatArray, IntArray

COUNTED = 64  # up to so many systems ranks are counted, beyond they are sorted
EXACT = 8  # up to so many values the p of a rank correlation is of all their orders
TIE_DIGITS = 8  # abilities computed from the same labels may differ by rounding: they tie


def rank_correlation(values: FloatArray, reference: FloatArray) -> FloatArray:
    """Spearman's rho of each row with ``reference``. values (…, M), reference (M,) → (…) in [-1, 1].

    Systems without a reference are left out; ties get mean ranks. NaN for fewer than 3 systems, where a value is
    NaN, and where all values tie: such a row orders nothing.
    """
    known = np.isfinite(reference)
    if known.sum() < 3:
        return np.full(values.shape[:-1], np.nan)
    kept = np.round(values[..., known], TIE_DIGITS)
    ranks, target = _centred_ranks(kept), _centred_ranks(np.round(reference[known], TIE_DIGITS))
    return ratio(ranks @ target, np.sqrt((ranks**2).sum(axis=-1) * (target**2).sum()))


def spearman_p(values: FloatArray, reference: FloatArray) -> float:
    """Two-sided p of Spearman's rho of values with reference (n,), all known; NaN for n < 3 or where all values tie.

    Up to EXACT values it is the share of all their orders with a rho as far from 0: the t approximation, used beyond,
    has p = 0 for values in order, so that of these the share is counted, too.
    """
    rho, n = float(rank_correlation(values, reference)), len(values)
    if n < 3 or not np.isfinite(rho):
        return float("nan")
    if n <= EXACT:
        ranks, target = (_centred_ranks(np.round(each, TIE_DIGITS)) for each in (values, reference))
        return float(np.mean(np.abs(ranks[_orders(n)] @ target) >= abs(ranks @ target) - 1e-9))
    if abs(rho) >= 1 - 1e-12:
        return _share_in_order(reference)
    return float(2 * stdtr(n - 2, -abs(rho) * np.sqrt((n - 2) / (1 - rho**2))))


def _share_in_order(reference: FloatArray) -> float:
    """Share of the orders of values that tie as ``reference`` (n,) does which are in its order, or in the reverse."""
    ties = np.unique(np.round(reference, TIE_DIGITS), return_counts=True)[1]
    alike = float(np.exp(gammaln(ties + 1.0).sum() - gammaln(len(reference) + 1.0)))
    return alike * (2 if (ties == ties[::-1]).all() else 1)


@lru_cache(maxsize=EXACT)
def _orders(n: int) -> IntArray:
    """(n!, n) all orders of n places."""
    return np.array(list(permutations(range(n))))


def mean_interval(
    values: FloatArray, confidence: float = 0.95, *, held_out: float = 0.0
) -> tuple[float, float, float, int]:
    """Mean, t interval (low, high) and number of the known ``values`` (n,); NaN where n is too small.

    held_out: of values from random splits of the same data, the size of the part held out over that of the other:
    the variance of their mean is s² (1/n + held_out), not s²/n (Nadeau and Bengio 2003).
    """
    known = values[np.isfinite(values)]
    n = len(known)
    if not n:
        return float("nan"), float("nan"), float("nan"), 0
    mean = float(known.mean())
    if n < 2:
        return mean, float("nan"), float("nan"), n
    spread = known.std(ddof=1) * np.sqrt(1 / n + held_out)
    half = float(stdtrit(n - 1, (1 + confidence) / 2) * spread)
    return mean, mean - half, mean + half, n


def half_width(drawn: FloatArray, repeats: FloatArray, units: int, confidence: float) -> float:
    """Half the width of the interval of a mean over random repeats (S,) of one table.

    drawn: (R,) the mean with the table's units drawn anew. The variances of the draws and of the mean over the
    repeats add up; Student's t with units - 1 degrees of freedom.
    NaN where one of them is unknown, or with fewer than FEWEST_CLUSTERS units.
    """
    drawn = drawn[np.isfinite(drawn)]
    if min(len(drawn), len(repeats)) < 2 or units < FEWEST_CLUSTERS:
        return float("nan")
    variance = drawn.var(ddof=1) + repeats.var(ddof=1) / len(repeats)
    return float(stdtrit(units - 1, (1 + confidence) / 2) * np.sqrt(variance))


def confusion(first: FloatArray, second: FloatArray) -> FloatArray:
    """(J, 4) cells of each rubric: both pass, only first, only second, both fail. first, second (M, J), NaN unknown."""
    passes = [first == 1, first == 0], [second == 1, second == 0]
    return np.stack([(a & b).sum(axis=0) for a in passes[0] for b in passes[1]], axis=1).astype(float)


def query_draws(query_index: IntArray, replicates: int, rng: np.random.Generator) -> IntArray:
    """(replicates, N) how often each query is drawn when as many as there are, N, are drawn with replacement."""
    n = int(query_index.max()) + 1
    return rng.multinomial(n, np.full(n, 1 / n), size=replicates)


def sum_by_query(values: FloatArray, query_index: IntArray, kept: BoolArray) -> FloatArray:
    """(N, …) sums of the kept rubrics' rows. values (J, …)."""
    return cluster_sums(values[kept], query_index[kept], int(query_index.max()) + 1)


def interquartile_range(values: FloatArray) -> float:
    """75% quantile less 25% quantile of the known values; NaN without any."""
    known = values[np.isfinite(values)]
    return float(np.subtract(*np.quantile(known, [0.75, 0.25]))) if len(known) else float("nan")


def _centred_ranks(values: FloatArray) -> FloatArray:
    """Mean ranks along the last axis less their mean; NaN where a value is."""
    if values.shape[-1] > COUNTED:
        rows = pd.DataFrame(values.reshape(-1, values.shape[-1])).rank(axis=1).to_numpy()
        return np.asarray(rows - rows.mean(axis=1, keepdims=True)).reshape(values.shape)
    # Twice a centred rank is how many are below less how many are above: far cheaper than sorting a few.
    difference = values[..., :, None] - values[..., None, :]
    return np.asarray(np.sign(difference).sum(axis=-1) / 2)
