"""How the unanimity rule reduces the number of rubrics as the leaderboard grows (docs/method.md §4, eq:retcurve).

Every value is a mean over all subsets of m systems, in closed form: no subsets are sampled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import betaln, gammaln

from ..errors import SettingsError
from ..intervals import known_mean
from ..types import FloatArray, IntArray


@dataclass(frozen=True)
class AttritionCounts:
    """Counts of the systems with a full panel on each of J rubrics; all (J,).

    systems: M_j, systems that every judge labelled. unanimous: c_j, those with equal labels; of these all_pass (u1) and
    all_fail (u0). passed, failed: n1 and n0, by the panel's majority; ties are in neither.
    """

    systems: IntArray
    unanimous: IntArray
    all_pass: IntArray
    all_fail: IntArray
    passed: IntArray
    failed: IntArray


@dataclass(frozen=True)
class RetentionCurve:
    """Expected share of rubrics that a filter keeps on m systems; (S,) each, NaN where no rubric has m systems.

    m: 1, 2, … up to the most systems that at least half of the rubrics with a full panel have. consistency: share with
    a unanimous panel on all m. distinguishability: share with both a pass and a fail among the m. joint: share with
    both properties. n_rubrics: number of rubrics with M_j >= m, over which the means are taken.
    """

    m: IntArray
    consistency: FloatArray
    distinguishability: FloatArray
    joint: FloatArray
    n_rubrics: IntArray


@dataclass(frozen=True)
class HomogeneousFit:
    """R(m) = rho^m: every rubric keeps its unanimity with the same probability on each system.

    rho: in (0, 1]. epsilon: the judges' error rate with (1 - e)^K + e^K = rho, in [0, ½]; NaN if there is none.
    r_squared: of log R(m), about its mean. rmse: of R(m).
    """

    rho: float
    epsilon: float
    r_squared: float
    rmse: float

    def retention(self, m: ArrayLike) -> FloatArray:
        """Expected share rho^m of rubrics that are kept on m systems."""
        return np.asarray(self.rho ** np.asarray(m, dtype=np.float64))


@dataclass(frozen=True)
class BetaMixtureFit:
    """R(m) = B(a + m, b) / B(a, b): each rubric's probability of unanimity is a draw from Beta(a, b).

    a, b: > 0; NaN if the rates do not vary. rmse: of R(m).
    """

    a: float
    b: float
    rmse: float

    def retention(self, m: ArrayLike) -> FloatArray:
        """Expected share E[q^m] under Beta(a, b) of rubrics that are kept on m systems."""
        return beta_retention(self.a, self.b, m)


@dataclass(frozen=True)
class Attrition:
    """Retention under unanimity: the exact curve up to the available systems, and two models that extrapolate it."""

    curve: RetentionCurve
    homogeneous: HomogeneousFit
    mixture: BetaMixtureFit

    @property
    def one_rate(self) -> bool:
        """Whether R(2) ≤ R(1)²: the rubrics' probabilities of unanimity differ by no more than noise."""
        return len(self.curve.m) > 1 and bool(self.curve.consistency[1] <= self.curve.consistency[0] ** 2)

    def projection(self, m: ArrayLike) -> FloatArray:
        """The share kept with m systems by the Beta mixture, or by the homogeneous model if ``one_rate``.

        NaN with one system, or if each rubric is always or never unanimous: then the data do not show how the share
        falls.
        """
        model = self.homogeneous if self.one_rate else self.mixture
        return model.retention(m)


def attrition_of(panel: FloatArray) -> Attrition:
    """The retention curve of a panel (M, J, K) of 0/1 labels, NaN unknown, and both models fitted to it."""
    counts = attrition_counts(panel)
    curve = retention_curve(counts)
    return Attrition(
        curve=curve,
        homogeneous=fit_homogeneous(curve.m, curve.consistency, panel.shape[2]),
        mixture=fit_beta_mixture(counts, curve),
    )


def attrition_counts(panel: FloatArray) -> AttritionCounts:
    """Counts of a panel (M, J, K) of 0/1 labels, NaN unknown; systems without a label of every judge are skipped."""
    n_judges = panel.shape[2]
    full = ~np.isnan(panel).any(axis=2)
    passes = np.where(full, np.nan_to_num(panel).sum(axis=2), -1)
    all_pass, all_fail = (passes == n_judges).sum(axis=0), (passes == 0).sum(axis=0)
    return AttritionCounts(
        systems=full.sum(axis=0),
        unanimous=all_pass + all_fail,
        all_pass=all_pass,
        all_fail=all_fail,
        passed=(2 * passes > n_judges).sum(axis=0),
        failed=(full & (2 * passes < n_judges)).sum(axis=0),
    )


def retention_curve(counts: AttritionCounts) -> RetentionCurve:
    """eq:retcurve, exactly: C(c, m) / C(M, m) averaged over the rubrics with m systems or more; the others likewise."""
    # Beyond the number of systems that half of the rubrics have, the mean is of few rubrics.
    known = np.sort(counts.systems[counts.systems > 0])
    sizes = np.arange(1, int(known[len(known) // 2]) + 1 if len(known) else 1)
    subsets, decided = log_binomial(counts.systems, sizes), log_binomial(counts.passed + counts.failed, sizes)
    share = {name: log_binomial(getattr(counts, name), sizes) for name in _KINDS}
    consistent = _quotient(share["unanimous"], subsets)
    same = _quotient(share["all_pass"], subsets) + _quotient(share["all_fail"], subsets)
    alike = _quotient(share["passed"], decided) + _quotient(share["failed"], decided)
    return RetentionCurve(
        m=sizes,
        consistency=known_mean(consistent, axis=1),
        distinguishability=known_mean(1 - alike, axis=1),
        joint=known_mean(consistent - same, axis=1),
        n_rubrics=(counts.systems >= sizes[:, None]).sum(axis=1),
    )


def fit_homogeneous(m: ArrayLike, retention: ArrayLike, n_judges: int) -> HomogeneousFit:
    """Least squares of log R(m) = m log rho through the origin, over the points with 0 < R(m) (S,)."""
    sizes, shares = np.asarray(m, dtype=np.float64), np.asarray(retention, dtype=np.float64)
    use = shares > 0
    if not use.any():
        return HomogeneousFit(np.nan, np.nan, np.nan, np.nan)
    x, y = sizes[use], np.log(shares[use])
    slope = (x @ y) / (x @ x)
    spread = ((y - y.mean()) ** 2).sum()
    rho = float(np.exp(slope))
    return HomogeneousFit(
        rho=rho,
        epsilon=error_rate(rho, n_judges),
        r_squared=float(1 - ((y - slope * x) ** 2).sum() / spread) if spread > 0 else np.nan,
        rmse=_rmse(rho**sizes, shares),
    )


def error_rate(rho: float, n_judges: int) -> float:
    """The e in [0, ½] with (1 - e)^K + e^K = rho (as:judge); NaN with one judge or where rho < 2^(1 - K)."""
    if n_judges < 1:
        raise SettingsError(f"n_judges = {n_judges!r} is out of range: expected at least 1.")
    if n_judges == 1 or not 2.0 ** (1 - n_judges) <= rho <= 1:
        return np.nan
    return float(brentq(lambda e: (1 - e) ** n_judges + e**n_judges - rho, 0.0, 0.5, xtol=1e-14))


def fit_beta_mixture(
    counts: AttritionCounts, curve: RetentionCurve, raw_rates: bool = False
) -> BetaMixtureFit:
    """Match Beta(a, b) to R(1) = E[q] and R(2) = E[q²] of the curve.

    raw_rates: match the mean and variance of the observed rates c_j / M_j instead, as the paper does. These rates vary
    more than the probabilities behind them, since each is of few systems; R(1) and R(2) are free of that noise.
    """
    rates = counts.unanimous[counts.systems > 0] / counts.systems[counts.systems > 0]
    if raw_rates and len(rates):
        a, b = beta_moments(float(rates.mean()), float(rates.var()))
    elif not raw_rates and len(curve.m) > 1:
        mean, square = curve.consistency[:2]
        a, b = beta_moments(float(mean), float(square - mean**2))
    else:
        a, b = np.nan, np.nan
    return BetaMixtureFit(a, b, _rmse(beta_retention(a, b, curve.m), curve.consistency))


def beta_moments(mean: float, variance: float) -> tuple[float, float]:
    """(a, b) of the Beta with these moments; NaN if there is none, because 0 < variance < mean (1 - mean) fails."""
    room = mean * (1 - mean)
    if not 0 < variance < room:
        return np.nan, np.nan
    size = room / variance - 1
    return float(mean * size), float((1 - mean) * size)


def beta_retention(a: float, b: float, m: ArrayLike) -> FloatArray:
    """B(a + m, b) / B(a, b), elementwise in m ≥ 0; in (0, 1]."""
    return np.asarray(np.exp(betaln(a + np.asarray(m, dtype=np.float64), b) - betaln(a, b)))


_KINDS = ("unanimous", "all_pass", "all_fail", "passed", "failed")


def log_binomial(n: IntArray, m: IntArray) -> FloatArray:
    """Log C(n, m) for every m (S,) and n (J,): (S, J); -inf where n < m."""
    size = m[:, None]
    return np.asarray(
        gammaln(n + 1) - gammaln(size + 1) - gammaln(n - size + 1)
    )  # gammaln is inf at 0, -1, …


def _quotient(above: FloatArray, below: FloatArray) -> FloatArray:
    """exp(above - below); NaN where the divisor is C(n, m) = 0."""
    return np.exp(np.where(np.isneginf(below), np.nan, above - np.where(np.isneginf(below), 0, below)))


def _rmse(predicted: FloatArray, observed: FloatArray) -> float:
    return float(np.sqrt(np.mean((predicted - observed) ** 2))) if len(observed) else np.nan
