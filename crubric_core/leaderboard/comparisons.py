"""All pairs of systems compared, simultaneously or each alone (docs/method.md §10).

With psi the contributions of n units to the estimates (see ``influence``):

    Var(theta_i - theta_k) = n / (n - 1) sum_q (psi_iq - psi_kq)²,  at least the sum of both posterior variances.

Simultaneous: the largest of all pairs' |Z_i - Z_k| / sd_ik, Z = W psi' sqrt(n / (n - 1)) with W (R, n) standard normal,
exceeds c in 5% of the rows. The variances are themselves estimated from n units, so c is converted to Student's t with
n - 1 degrees of freedom at the same tail probability. In simulations of 15 identical systems with an unconverted c, 6%
of the boards show a difference at 104 units, 12% at 30 and 27% at 15; with the converted c, 5%, 5% and 7%. Below 15
units the draws do not show how the pairs depend on each other: c is then at least Bonferroni's bound
(docs/inference.md).

Scores of two systems that differ on only k units are never separated beyond the sign test of these units, 2^(1 - k): if
5 of 100 queries differ, all in favour of one system, the t has p = .025, the exact test .0625.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri

from ..judges.unequal_panels import Allowance
from ..types import BoolArray, FloatArray, IntArray
from .simultaneous import adjusted_p, as_normal, as_student, largest_differences, threshold
from .spread import SystemSpread, spread_of

FEW_UNITS = 15  # with fewer, draws do not show how the pairs depend on each other
ROUNDING = 1e-12  # a difference or a variance below this share of its terms is rounding


@dataclass(frozen=True)
class Comparisons:
    """All matrices are (M, M), row minus column; the diagonal is 0 and never separated.

    difference, se: the differences and their standard errors. low, high: interval of the difference, infinite on a side
    that a saturated system leaves open. p_value: two-sided, of the pair alone; p_simultaneous: adjusted for all pairs.
    separated: the interval excludes 0.
    ahead: probability that the row is above the column, given the spread of all systems (``spread``).
    critical: multiple of ``se`` that the difference of a separated pair with the most units exceeds.
    excused: number of pairs that would be separated if their panels were equal. spread: the distribution of the true
    values.
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
    excused: int
    spread: SystemSpread


@dataclass(frozen=True)
class Evidence:
    """The estimates of M ranked systems with their contributions, units and limits.

    estimate: (M,). contributions: (n, M) psi sqrt(n_i / (n_i - 1)), whose squares sum to the variance; 0 for a system
    with one unit. floor: (M,) least variance. units: (M,) units of each. saturated: (M,) 1, -1 or 0.
    group: (M,) systems of different groups are not compared; None: one group.
    allowance: widening of the intervals because of unequal panels; None: no widening.
    limits: two of (M,), the lowest and highest possible value of each estimate; None: no limits.
    differing: (M, M) units that both systems have and on which they differ; None: all that both have.
    unequal: whether units have very unequal weights.
    pair_units: (M, M) units on which each difference rests; None: those of the system with fewer.
    """

    estimate: FloatArray
    contributions: FloatArray
    floor: FloatArray
    units: IntArray
    saturated: IntArray
    group: IntArray | None = None
    allowance: Allowance | None = None
    limits: tuple[FloatArray, FloatArray] | None = None
    differing: IntArray | None = None
    unequal: bool = False
    pair_units: IntArray | None = None

    @cached_property
    def compared_units(self) -> IntArray:
        """(M, M) number of units on which each difference rests."""
        own = np.minimum.outer(self.units, self.units)
        return own if self.pair_units is None else np.minimum(own, self.pair_units)

    @cached_property
    def fewer(self) -> FloatArray:
        """(M, M) n / (n - 1) of the units of each difference, divided by that of its systems' units; 1 for one unit."""
        units, whole = self.compared_units, np.minimum.outer(self.units, self.units)
        return np.where(units > 1, units / np.maximum(units - 1, 1) * (whole - 1) / np.maximum(whole, 1), 1.0)

    @property
    def linked(self) -> BoolArray:
        """(M, M) pairs that can be compared."""
        group = np.zeros(len(self.estimate)) if self.group is None else self.group
        return np.asarray(group[:, None] == group)

    @cached_property
    def difference(self) -> FloatArray:
        """(M, M) estimate of the row minus that of the column."""
        return self.estimate[:, None] - self.estimate

    @cached_property
    def sign_test(self) -> FloatArray:
        """(M, M) normal deviate of 2^(1 - k), the p-value of k equal signs; an upper bound on the pair's deviate."""
        units = self.compared_units
        if self.differing is not None:
            units = np.minimum(units, self.differing)
        return np.asarray(-ndtri(np.exp2(-np.clip(units, 1, 1000).astype(np.float64))))


def compare(
    evidence: Evidence, draws: FloatArray, confidence: float = 0.95, *, simultaneous: bool = True
) -> Comparisons:
    """Compare every pair of systems. draws: (R, M) Z of the module's formula."""
    difference, se = evidence.difference, pair_errors(evidence)
    allowed, df = _allowed(evidence), evidence.compared_units - 1
    z = np.where(allowed, _deviates(evidence, se, df), 0.0)
    p_value = 2 * ndtr(-z)
    largest = largest_differences(draws, _of_draws(evidence, se))
    critical = _critical(evidence, largest, confidence, simultaneous=simultaneous)
    multiple = _multiple(evidence, critical)
    low, high = _limits(evidence, se, multiple, critical)
    separated = allowed & ((low > 0) | (high < 0))
    spread = spread_of(evidence.estimate, se, evidence.group)
    return Comparisons(
        difference=difference,
        se=se,
        low=low,
        high=high,
        p_value=p_value,
        p_simultaneous=np.maximum.reduce(
            [adjusted_p(z, largest), p_value, np.minimum(p_value * _bonferroni(evidence), 1.0)]
        ),
        separated=separated,
        ahead=_ahead(spread, np.where(difference > 0, z, -z), se),
        critical=float(multiple.min(initial=np.inf)),
        excused=_excused(evidence, se, multiple, critical, separated),
        spread=spread,
    )


def _ahead(spread: SystemSpread, z: FloatArray, se: FloatArray) -> FloatArray:
    """(M, M) probability that the row is above the column, ½ on the diagonal; each pair is computed once."""
    upper = np.triu_indices(len(z), 1)
    found = np.full(z.shape, 0.5)
    found[upper] = spread.ahead(z[upper], se[upper], *upper)
    found.T[upper] = 1 - found[upper]
    return found


def separated_alone(
    evidence: Evidence, draws: FloatArray, confidence: float = 0.95, *, simultaneous: bool = True
) -> BoolArray:
    """(M, M) only the ``separated`` of ``compare``, which is faster."""
    se = pair_errors(evidence)
    largest = largest_differences(draws, _of_draws(evidence, se)) if simultaneous else np.empty(0)
    critical = _critical(evidence, largest, confidence, simultaneous=simultaneous)
    low, high = _limits(evidence, se, _multiple(evidence, critical), critical)
    return _allowed(evidence) & ((low > 0) | (high < 0))


def beyond_allowance(evidence: Evidence) -> FloatArray:
    """(M, M) part of each absolute difference that unequal panels cannot explain, ≥ 0."""
    apart = np.abs(evidence.difference)
    if evidence.allowance is None:
        return apart
    pairs = evidence.allowance.pairs
    return np.maximum(apart - np.where(evidence.difference > 0, pairs, pairs.T), 0.0)


def _excused(
    evidence: Evidence, se: FloatArray, multiple: FloatArray, critical: float, separated: BoolArray
) -> int:
    if evidence.allowance is None:
        return 0
    low, high = _limits(replace(evidence, allowance=None), se, multiple, critical)
    return int((_allowed(evidence) & ((low > 0) | (high < 0)) & ~separated).sum()) // 2


def pair_errors(evidence: Evidence) -> FloatArray:
    """(M, M) standard error of each difference; 0 on the diagonal.

    Contributions carry n / (n - 1) for their system's units; if a difference rests on fewer units, it is corrected to
    these.
    """
    psi = evidence.contributions
    product = psi.T @ psi
    own = product.diagonal()
    variance = own[:, None] + own - 2 * product
    variance[variance < ROUNDING * (own[:, None] + own)] = 0.0
    if evidence.pair_units is not None:
        variance *= evidence.fewer
    variance = np.maximum(variance, evidence.floor[:, None] + evidence.floor)
    np.fill_diagonal(variance, 0.0)
    return np.sqrt(variance)


def _of_draws(evidence: Evidence, se: FloatArray) -> FloatArray:
    """(M, M) standard errors of the differences of the draws, which are scaled by system; 0 for pairs not compared."""
    drawn = se if evidence.pair_units is None else se / np.sqrt(evidence.fewer)
    return np.where(evidence.linked, drawn, 0.0)


def _critical(evidence: Evidence, largest: FloatArray, confidence: float, *, simultaneous: bool) -> float:
    """The critical normal deviate, which a separated pair exceeds."""
    alone = -float(ndtri((1 - confidence) / 2))
    if not simultaneous:
        return alone
    pairs = _bonferroni(evidence)
    bound = -float(ndtri((1 - confidence) / (2 * pairs))) if pairs else 0.0
    return max(alone, threshold(largest, confidence), bound)


def _bonferroni(evidence: Evidence) -> int:
    """Number of compared pairs if units are too few or too unequal to show how pairs depend on each other; else 0."""
    few = evidence.compared_units.max(initial=0) < FEW_UNITS
    return max(int(np.triu(evidence.linked, 1).sum()), 1) if few or evidence.unequal else 0


def _multiple(evidence: Evidence, critical: float) -> FloatArray:
    """(M, M) number of standard errors that a separated pair must exceed, given the units of the difference."""
    return as_student(critical, evidence.compared_units - 1)


def _limits(
    evidence: Evidence, se: FloatArray, multiple: FloatArray, critical: float
) -> tuple[FloatArray, FloatArray]:
    """(M, M) lower and upper ends of each difference's interval; it includes 0 unless the sign test excludes 0."""
    half = np.multiply(multiple, se, out=np.full_like(se, np.inf), where=(se > 0) & np.isfinite(multiple))
    exact = evidence.sign_test > critical
    half[(se == 0) & exact & _allowed(evidence)] = 0.0
    half[~evidence.linked] = np.inf
    low, high = evidence.difference - half, evidence.difference + half
    if evidence.differing is not None:
        low, high = np.where(exact, low, np.minimum(low, 0.0)), np.where(exact, high, np.maximum(high, 0.0))
    if evidence.allowance is not None:
        low, high = low - evidence.allowance.pairs, high + evidence.allowance.pairs.T
    low, high = open_ends(low, high, evidence.saturated)
    if evidence.limits is not None:
        least, most = evidence.limits
        low, high = np.maximum(low, least[:, None] - most), np.minimum(high, most[:, None] - least)
        for ends in (low, high):
            np.fill_diagonal(ends, 0.0)
    return low, high


def _allowed(evidence: Evidence) -> BoolArray:
    """(M, M) pairs that may be separated: linked, different by more than rounding, not saturated on the same side."""
    scale, side = np.abs(evidence.estimate), evidence.saturated
    apart = np.abs(evidence.difference) > ROUNDING * (scale[:, None] + scale)
    return np.asarray(apart & evidence.linked & ~((side[:, None] == side) & (side != 0)))


def _deviates(evidence: Evidence, se: FloatArray, df: IntArray) -> FloatArray:
    """(M, M) normal deviate of each pair's tail probability.

    A difference that is equal on all units has standard error 0: it gets the deviate of the sign test.
    """
    t = np.divide(beyond_allowance(evidence), se, out=np.zeros_like(se), where=se > 0)
    upper = np.triu_indices(len(t), 1)
    z = np.zeros_like(t)
    z[upper] = as_normal(t[upper], df[upper])
    z = np.where(se > 0, z + z.T, evidence.sign_test)
    return z if evidence.differing is None else np.minimum(z, evidence.sign_test)


def open_towards_zero(difference: FloatArray, rows: IntArray, columns: IntArray) -> BoolArray:
    """Whether the interval of row minus column is open on the side of 0, so that it cannot exclude 0.

    rows, columns: 1 if that system passes everything, -1 if it fails everything, else 0.
    """
    return np.where(difference > 0, (rows < 0) | (columns > 0), (rows > 0) | (columns < 0))


def open_ends(low: FloatArray, high: FloatArray, saturated: IntArray) -> tuple[FloatArray, FloatArray]:
    """Open the intervals of differences with saturated systems, to ±inf; the diagonal becomes 0.

    There is no upper bound if the row is saturated at the top or the column at the bottom; no lower bound in the
    opposite cases.
    """
    rows, columns = saturated[:, None], saturated[None, :]
    low = np.where((rows == -1) | (columns == 1), -np.inf, low)
    high = np.where((rows == 1) | (columns == -1), np.inf, high)
    for ends in (low, high):
        np.fill_diagonal(ends, 0.0)
    return low, high
