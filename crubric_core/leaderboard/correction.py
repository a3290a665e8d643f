"""Mean labels of judges, corrected by human labels of some of the cells (docs/method.md §15).

Judges label every cell, people those of a random sample of queries. Both together estimate the mean label that people
would give to all cells. The estimate is unbiased whatever errors the judges make; errors only widen its interval
(prediction-powered inference, Angelopoulos, Duchi and Zrnic 2023, arXiv:2311.01453; a difference estimator in survey
sampling).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, stdtrit

from ..intervals import cluster_sums, known_mean
from ..types import BoolArray, FloatArray, IntArray
from .influence import Domains, Influence, score_influence
from .linked import linked_groups

FEWEST = 5  # queries of a system labelled by people: with fewer, the variance between queries is hardly known
DOUBT = 0.01  # p-value below which the labelled queries do not look like a random sample
NOTHING = 1e-20  # a variance below this counts as 0


@dataclass(frozen=True)
class Correction:
    """Mean human labels of M systems over all N queries, as shares of the full mark, with their evidence.

    corrected: estimate from both kinds of labels. human: from the human labels alone. judged: the judges' own mean over
    all cells. weight: lambda, the weight of the judges' mean, from 0 (unused) to 1.
    residual: (N, M) contributions of human label - weight × judges' label, which only the queries labelled by people
    determine.
    labelled: (M,) queries labelled by people; a system with fewer than FEWEST has 0 and no estimate.
    sample: whether the labelled queries look like a random sample.
    """

    corrected: Influence
    human: Influence
    judged: Influence
    weight: float
    residual: FloatArray
    labelled: IntArray
    sample: Sample

    def half_widths(self, queries: IntArray, confidence: float) -> tuple[FloatArray, FloatArray]:
        """Median half width of the systems' intervals if people had labelled ``queries`` (Q,) of the N queries.

        (Q,) from both kinds of labels, and (Q,) from the human labels alone; NaN for a number below FEWEST or above N.
        Each query is taken to have as many cells as now, with the same variances.
        """
        kept, m = self.corrected.ranked, self.labelled[self.corrected.ranked][:, None]
        n, wanted = len(self.residual), np.asarray(queries, dtype=np.float64)
        whole, residual, human = (
            (psi[:, kept] ** 2).sum(axis=0)[:, None] * m / (m - 1)
            for psi in (self.corrected.psi, self.residual, self.human.psi)
        )
        few = m / wanted
        least, alone_least = (x.floor[kept][:, None] * few**2 for x in (self.corrected, self.human))
        both = np.maximum(whole - residual + residual * few, least)
        alone = np.maximum(human * few, alone_least)
        multiple = stdtrit(wanted - 1, (1 + confidence) / 2)
        possible = (wanted >= FEWEST) & (wanted <= n)
        of_both, of_people = (
            np.where(possible, multiple * np.median(np.sqrt(part), axis=0), np.nan) for part in (both, alone)
        )
        return of_both, of_people


@dataclass(frozen=True)
class Sample:
    """Difference between the judges' mean on the cells that people labelled and that on all cells.

    system: position of the system with the smallest p; None: the mean of all systems has it. shift: the difference. p:
    two-sided, the smallest of all (Bonferroni); NaN if judges' labels do not vary, or people labelled everything.
    """

    system: int | None
    shift: float
    p: float

    @property
    def doubtful(self) -> bool:
        """Whether the labelled queries are unlikely to be a random sample."""
        return self.p < DOUBT


def correct_means(
    judged: FloatArray,
    human: FloatArray,
    there: FloatArray,
    cells: IntArray,
    domains: Domains | None = None,
) -> Correction | None:
    """S_i = human_i + lambda (judged_i - there_i), means over queries; None if no system has FEWEST labelled queries.

    judged: (M, N) judges' mean of each query over all its cells, in [0, 1]; human, there: (M, N) people's and judges'
    mean over the cells that people labelled; NaN where there is none. cells: (M,) number of cells that people labelled.
    If judges labelled systems on different queries, S_i is moved by the effect that this has on the judges' means
    (``score_influence``).
    lambda minimises the variance of the differences between systems, cut to [0, 1] (power tuning, Angelopoulos et al.
    2023, section 6, one for all systems): -sum A B / sum B², A and B the contributions of human_i and of judged_i -
    there_i minus their mean over the systems. See ``_floor`` for the least variance.
    """
    known = np.isfinite(human)
    enough = known.sum(axis=1) >= FEWEST
    if not enough.any():
        return None
    known &= enough[:, None]
    judged, human, there = (np.where(enough[:, None], scores, np.nan) for scores in (judged, human, there))
    everywhere = score_influence(judged, np.ones(human.shape[1]))
    own, people, those = (_own_means(scores) for scores in (judged, human, there))
    first, more = _between(people.psi, enough), _between(own.psi - those.psi, enough)
    seen = float((more**2).sum())
    weight = float(np.clip(-(first * more).sum() / seen, 0.0, 1.0)) + 0.0 if seen > 0 else 0.0
    labelled: IntArray = known.sum(axis=1)
    residual = people.psi - weight * those.psi
    moved = everywhere.estimate - own.estimate, everywhere.psi - own.psi
    corrected = replace(
        people,
        estimate=people.estimate + weight * (own.estimate - those.estimate) + moved[0],
        psi=residual + weight * own.psi + moved[1],
        n_units=labelled,
        floor=_floor(people, those, residual, labelled, np.where(enough, cells, 1)),
        saturated=np.zeros(len(human), dtype=np.int64),
        group=linked_groups(np.isfinite(judged).T),
        limits=None,
        differing=None,
    )
    sample = _sample(judged, there, domains)
    if domains is not None:
        corrected = _by_domain(corrected, np.isfinite(judged), known, domains)
        people = _by_domain(people, known, known, domains)
    return Correction(corrected, people, everywhere, weight, residual, labelled, sample)


def _own_means(scores: FloatArray) -> Influence:
    """Plain means of each system over its own queries, which are taken as a random sample of all queries."""
    known = np.isfinite(scores)
    count = known.sum(axis=1)
    values = np.where(known, scores, 0.0)
    mean = known_mean(scores, axis=1)
    psi = np.where(known, (values - np.nan_to_num(mean)[:, None]) / np.maximum(count, 1)[:, None], 0.0)
    found = score_influence(scores, np.ones(scores.shape[1]))
    return replace(
        found, estimate=mean, psi=psi.T, limits=None
    )  # intervals as wide as ``half_widths`` predicts


def _floor(
    people: Influence, those: Influence, residual: FloatArray, labelled: IntArray, cells: IntArray
) -> FloatArray:
    """(M,) least variance: 1 / (c (c + 2)) for c cells, as if people and judges differed on one of c + 2 cells.

    If people and judges differ equally on all m labelled queries, their variation between queries is unknown: then the
    least variance is 1 / (m (m + 2)), or that of the human labels alone if smaller.
    """
    m = np.maximum(labelled, 2)
    human = np.maximum((people.psi**2).sum(axis=0) * m / (m - 1), people.floor)
    varies = np.minimum((residual**2).sum(axis=0), ((people.psi - those.psi) ** 2).sum(axis=0))
    by_cell, by_query = 1 / (cells * (cells + 2.0)), np.minimum(1 / (m * (m + 2.0)), human)
    return np.where(varies < NOTHING, np.maximum(by_query, by_cell), by_cell)


def _between(psi: FloatArray, systems: BoolArray) -> FloatArray:
    """Contributions of ``systems`` minus their mean over these systems; unchanged if there is only one."""
    kept: FloatArray = psi[:, systems]
    return kept - kept.mean(axis=1, keepdims=True) if kept.shape[1] > 1 else kept


def _by_domain(found: Influence, in_it: BoolArray, known: BoolArray, domains: Domains) -> Influence:
    """``found`` with the queries of a domain as one unit; a system's units are the domains in which people labelled it.

    known: (M, N) queries on which people labelled the system. in_it: (M, N) queries in its estimate.
    """
    rows = np.arange(len(found.psi))
    psi, _, _, lone = domains.sums(found.psi, in_it.T, rows)
    _, units, unequal, _ = domains.sums(found.psi, known.T, rows)
    return replace(found, psi=psi, n_units=units, unit="domain", lone=lone, differing=None, unequal=unequal)


def _sample(judged: FloatArray, there: FloatArray, domains: Domains | None) -> Sample:
    """Compare the judges' scores (M, N) of the queries that people labelled with those of all queries.

    Under random sampling the difference of means has the variance of sampling without replacement (Cochran 1977),
    computed from all queries, plus that of the labelled cells within their queries. If claims are about further
    domains, people may have sampled domains, and queries within them.
    """
    kept, known = np.isfinite(there).any(axis=1), np.isfinite(judged)
    share = [x / np.maximum(x.sum(axis=1, keepdims=True), 1) for x in (np.isfinite(there), known)]
    mean = np.nansum(np.where(known, judged, 0.0) * share[1], axis=1, keepdims=True)
    around = np.where(known, judged - mean, 0.0)[kept]
    taken = (share[0] - share[1])[kept]
    inside = (share[0] * np.where(np.isfinite(there), there - judged, 0.0))[kept]
    shift = (taken * around + inside).sum(axis=1)
    size, n = len(shift), int(known.any(axis=0).sum())
    covariance = np.zeros((size, size))
    drawn = [(around, taken, n)] if domains is None else _drawn(around, taken, known[kept], domains.of)
    for scores, part, units in drawn:
        covariance += (scores @ scores.T) * (part @ part.T) / max(units - 1, 1)
    p = np.append(
        size * _two_sided(shift, covariance.diagonal() + (inside**2).sum(axis=1)),
        _two_sided(shift.mean(), covariance.mean() + (inside.mean(axis=0) ** 2).sum()),
    )
    if np.isnan(p).all():
        return Sample(None, float(shift.mean()), float("nan"))
    first = int(np.nanargmin(p))
    least = float(min(2 * p[first], 1.0)) if size > 1 else float(min(p[first], 1.0))
    if first == size or size == 1:
        return Sample(None, float(shift.mean()), least)
    return Sample(int(np.flatnonzero(kept)[first]), float(shift[first]), least)


def _drawn(
    around: FloatArray, taken: FloatArray, known: BoolArray, of: IntArray
) -> list[tuple[FloatArray, FloatArray, int]]:
    """The stages of a sample of domains: the domains, then the queries of each domain with several.

    Of each stage: scores minus their mean, (M, number); how much more each counts among those sampled, (M, number); and
    the number of units. around, taken: (M, N) these two for queries. known: (M, N) whether there is a score. of: (N,)
    the domain.
    """
    total, more, count = (cluster_sums(x.astype(np.float64).T, of).T for x in (around, taken, known))
    mean, each = (x / np.maximum(count, 1) for x in (total, more))
    drawn = [(total, each - each.mean(axis=1, keepdims=True), int(count.any(axis=0).sum()))]
    there = np.bincount(of, known.any(axis=0))
    for domain in np.flatnonzero(there > 1).tolist():
        its = of == domain
        inside = [
            np.where(known[:, its], x[:, its] - middle[:, [domain]], 0.0)
            for x, middle in ((around, mean), (taken, each))
        ]
        drawn.append((inside[0], inside[1], int(there[domain])))
    return drawn


def _two_sided(value: FloatArray, variance: FloatArray) -> FloatArray:
    """Two-sided p-values of normal values; NaN where the variance is 0."""
    error = np.sqrt(np.where(variance > NOTHING, variance, np.nan))
    return np.asarray(2 * ndtr(-np.abs(value) / error))
