"""All pairs of systems compared at once, or each alone (docs/method.md §10).

With psi the contributions of n units to the estimates (see ``influence``):

    Var(theta_i - theta_k) = n / (n - 1) sum_q (psi_iq - psi_kq)²,  at least the sum of both posterior variances.

Simultaneous: the largest of all pairs' |Z_i - Z_k| / sd_ik, Z = W psi' sqrt(n / (n - 1)) with W (R, n) standard
normal, exceeds c in 5% of the rows. The variances are themselves estimated from n units, so c is carried to Student's t
with n - 1 degrees of freedom at the same tail probability. Of simulated boards of 15 identical systems, 6% show a
difference over 104 units if c is used as it is, 12% over 30, 27% over 15; carried over, 5%, 5% and 7%. Below 15 units
the draws do not show how the pairs depend on each other: c is then at least Bonferroni's bound (docs/inference.md).

Scores of two systems that differ on k units alone are never separated beyond the sign test of these, 2^(1 - k): the
t of 5 of 100 queries, all for one system, has p = .025, the exact test .0625.
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

FEW_UNITS = 15  # fewer do not show how the pairs depend on each other
ROUNDING = 1e-12  # a difference or a variance below this share of its terms is rounding


@dataclass(frozen=True)
class Comparisons:
    """All (M, M), row less column; the diagonal is 0 and never separated.

    difference, se. low, high: interval of the difference, infinite where a saturated system leaves it open.
    p_value: two-sided, of the pair alone; p_simultaneous: adjusted for all pairs. separated: the interval excludes 0.
    ahead: probability that the row is above the column, beside how far all systems spread (``spread``).
    critical: multiple of ``se`` that a separated pair with the most units exceeds.
    excused: pairs that would be separated if their panels were equal. spread: how far the systems spread.
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
    """What M ranked systems' estimates rest on.

    estimate: (M,). contributions: (n, M) psi sqrt(n_i / (n_i - 1)): their squares sum to the variance; 0 of one unit.
    floor: (M,) least variance. units: (M,) units of each. saturated: (M,) 1, -1 or 0.
    group: (M,) systems of different groups are not compared; None: all are one.
    allowance: for unequal panels, by which intervals are wider; None: by nothing.
    limits: two of (M,), the least and the most that an estimate can be; None: there are none.
    differing: (M, M) units that both have and on which they differ; None: all that both have.
    unequal: whether units weigh very unequally.
    pair_units: (M, M) units on which each difference rests; None: those of the system that has fewer.
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
        """(M, M) units that each difference rests on."""
        own = np.minimum.outer(self.units, self.units)
        return own if self.pair_units is None else np.minimum(own, self.pair_units)

    @cached_property
    def fewer(self) -> FloatArray:
        """(M, M) what n / (n - 1) is more of the units of each difference than of those of its systems."""
        units, whole = self.compared_units, np.minimum.outer(self.units, self.units)
        return np.where(units > 1, units / np.maximum(units - 1, 1) * (whole - 1) / np.maximum(whole, 1), 1.0)

    @property
    def linked(self) -> BoolArray:
        """(M, M) pairs that can be compared."""
        group = np.zeros(len(self.estimate)) if self.group is None else self.group
        return np.asarray(group[:, None] == group)

    @cached_property
    def difference(self) -> FloatArray:
        """(M, M) row less column."""
        return self.estimate[:, None] - self.estimate

    @cached_property
    def sign_test(self) -> FloatArray:
        """(M, M) the normal deviate of 2^(1 - k), the p-value of k equal signs: no pair's is larger."""
        units = self.compared_units
        if self.differing is not None:
            units = np.minimum(units, self.differing)
        return np.asarray(-ndtri(np.exp2(-np.clip(units, 1, 1000).astype(np.float64))))


def compare(
    evidence: Evidence, draws: FloatArray, confidence: float = 0.95, *, simultaneous: bool = True
) -> Comparisons:
    """Every pair of systems. draws: (R, M) Z of the module's formula."""
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
    """(M, M) the probability that the row is above the column, ½ on the diagonal; each pair is computed once."""
    upper = np.triu_indices(len(z), 1)
    found = np.full(z.shape, 0.5)
    found[upper] = spread.ahead(z[upper], se[upper], *upper)
    found.T[upper] = 1 - found[upper]
    return found


def separated_alone(
    evidence: Evidence, draws: FloatArray, confidence: float = 0.95, *, simultaneous: bool = True
) -> BoolArray:
    """(M, M) the ``separated`` of ``compare``, without what that claims besides."""
    se = pair_errors(evidence)
    largest = largest_differences(draws, _of_draws(evidence, se)) if simultaneous else np.empty(0)
    critical = _critical(evidence, largest, confidence, simultaneous=simultaneous)
    low, high = _limits(evidence, se, _multiple(evidence, critical), critical)
    return _allowed(evidence) & ((low > 0) | (high < 0))


def beyond_allowance(evidence: Evidence) -> FloatArray:
    """(M, M) how much of each difference unequal panels do not account for, ≥ 0."""
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

    Contributions carry n / (n - 1) of their system's units; of a difference that rests on fewer units it is of these.
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
    """(M, M) standard errors of the differences of what is drawn, which is by system; 0 of pairs that none compares."""
    drawn = se if evidence.pair_units is None else se / np.sqrt(evidence.fewer)
    return np.where(evidence.linked, drawn, 0.0)


def _critical(evidence: Evidence, largest: FloatArray, confidence: float, *, simultaneous: bool) -> float:
    """The normal deviate that a separated pair exceeds."""
    alone = -float(ndtri((1 - confidence) / 2))
    if not simultaneous:
        return alone
    pairs = _bonferroni(evidence)
    bound = -float(ndtri((1 - confidence) / (2 * pairs))) if pairs else 0.0
    return max(alone, threshold(largest, confidence), bound)


def _bonferroni(evidence: Evidence) -> int:
    """The pairs that are compared, where few or very unequal units do not show how these depend; else 0."""
    few = evidence.compared_units.max(initial=0) < FEW_UNITS
    return max(int(np.triu(evidence.linked, 1).sum()), 1) if few or evidence.unequal else 0


def _multiple(evidence: Evidence, critical: float) -> FloatArray:
    """(M, M) how many standard errors a separated pair is apart: by the system with fewer units."""
    return as_student(critical, evidence.compared_units - 1)


def _limits(
    evidence: Evidence, se: FloatArray, multiple: FloatArray, critical: float
) -> tuple[FloatArray, FloatArray]:
    """(M, M) the ends of each difference's interval: with 0, where the sign test does not exclude it."""
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
    """(M, M) pairs of which a claim can be made: linked, apart by more than rounding, not saturated alike."""
    scale, side = np.abs(evidence.estimate), evidence.saturated
    apart = np.abs(evidence.difference) > ROUNDING * (scale[:, None] + scale)
    return np.asarray(apart & evidence.linked & ~((side[:, None] == side) & (side != 0)))


def _deviates(evidence: Evidence, se: FloatArray, df: IntArray) -> FloatArray:
    """(M, M) normal deviate of each pair's tail probability.

    A difference that is the same on each unit has no error to be divided by: the sign test's deviate is taken.
    """
    t = np.divide(beyond_allowance(evidence), se, out=np.zeros_like(se), where=se > 0)
    upper = np.triu_indices(len(t), 1)
    z = np.zeros_like(t)
    z[upper] = as_normal(t[upper], df[upper])
    z = np.where(se > 0, z + z.T, evidence.sign_test)
    return z if evidence.differing is None else np.minimum(z, evidence.sign_test)


def open_towards_zero(difference: FloatArray, rows: IntArray, columns: IntArray) -> BoolArray:
    """Whether the interval of row less column has no end on the side of 0, so that nothing separates the two.

    rows, columns: 1 where that system passes everything, -1 where it fails everything, else 0.
    """
    return np.where(difference > 0, (rows < 0) | (columns > 0), (rows > 0) | (columns < 0))


def open_ends(low: FloatArray, high: FloatArray, saturated: IntArray) -> tuple[FloatArray, FloatArray]:
    """Differences have no upper bound where the row is saturated at the top or the column at the bottom, and so on."""
    rows, columns = saturated[:, None], saturated[None, :]
    low = np.where((rows == -1) | (columns == 1), -np.inf, low)
    high = np.where((rows == 1) | (columns == -1), np.inf, high)
    for ends in (low, high):
        np.fill_diagonal(ends, 0.0)
    return low, high
