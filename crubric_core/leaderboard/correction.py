"""Judges' mean labels, corrected by the human labels of some cells (docs/method.md §15).

Judges label every cell, people those of a random sample of queries. From both comes the mean label that people would
give to all cells: an unbiased estimate whatever errors the judges make, which widen its interval and nothing else
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

FEWEST = 5  # queries of a system that people labelled: of fewer the variance between queries is hardly known
DOUBT = 0.01  # p-value below which the labelled queries do not look like a random sample
NOTHING = 1e-20  # a variance that is none


@dataclass(frozen=True)
class Correction:
    """Mean human labels of M systems over all N queries, as shares of the full mark, and what they rest on.

    corrected: from both. human: from the human labels alone. judged: the judges' own mean over all cells.
    weight: of the judges' mean, from 0 (unused) to 1 (lambda).
    residual: (N, M) contributions of human label - weight × judges' label, the part that people's queries alone tell.
    labelled: (M,) queries that people labelled; 0 for a system with fewer than FEWEST, which has no estimate.
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
        """(Q,) each: median half width of the systems' intervals if people had labelled ``queries`` (Q,) of the N.

        From both, and from the human labels alone. Each query with as many cells as now, and variances as now.
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
    """How far judges' means on the cells that people labelled are above those on all cells.

    system: position of the only system that it is about; None: it is the mean of all. shift: the difference. p:
    two-sided, of the smallest of all (Bonferroni); NaN where judges' labels do not vary, or people labelled everything.
    """

    system: int | None
    shift: float
    p: float

    @property
    def doubtful(self) -> bool:
        """Whether the queries are no random sample."""
        return self.p < DOUBT


def correct_means(
    judged: FloatArray,
    human: FloatArray,
    there: FloatArray,
    cells: IntArray,
    domains: Domains | None = None,
) -> Correction | None:
    """S_i = human_i + lambda (judged_i - there_i), means over queries; None where no system has FEWEST labelled ones.

    judged: (M, N) judges' mean of each query over all its cells, in [0, 1]; human, there: (M, N) people's and judges'
    mean over the cells that people labelled; NaN where there is none. cells: (M,) how many these are. Where judges
    labelled systems on different queries, S_i is moved by what that makes of the judges' means (``score_influence``).

    lambda makes the variance of the differences between systems least, cut to [0, 1] (power tuning, Angelopoulos et
    al. 2023, section 6, one for all systems): -sum A B / sum B², A and B the contributions of human_i and of
    judged_i - there_i less their mean over the systems. See ``_floor`` for the least variance.
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
    """Plain means of each system over its own queries: a random sample of them tells of all, whichever they are."""
    known = np.isfinite(scores)
    count = known.sum(axis=1)
    values = np.where(known, scores, 0.0)
    mean = known_mean(scores, axis=1)
    psi = np.where(known, (values - np.nan_to_num(mean)[:, None]) / np.maximum(count, 1)[:, None], 0.0)
    found = score_influence(scores, np.ones(scores.shape[1]))
    return replace(found, estimate=mean, psi=psi.T, limits=None)  # lengths that ``half_widths`` foretells


def _floor(
    people: Influence, those: Influence, residual: FloatArray, labelled: IntArray, cells: IntArray
) -> FloatArray:
    """(M,) the least variance: 1 / (c (c + 2)) of c cells, as if people and judges differed on one of c + 2.

    Where people and judges differ alike on all m labelled queries, nothing shows how far they differ on whole queries:
    then 1 / (m (m + 2)), if the human labels alone do not say less.
    """
    m = np.maximum(labelled, 2)
    human = np.maximum((people.psi**2).sum(axis=0) * m / (m - 1), people.floor)
    varies = np.minimum((residual**2).sum(axis=0), ((people.psi - those.psi) ** 2).sum(axis=0))
    by_cell, by_query = 1 / (cells * (cells + 2.0)), np.minimum(1 / (m * (m + 2.0)), human)
    return np.where(varies < NOTHING, np.maximum(by_query, by_cell), by_cell)


def _between(psi: FloatArray, systems: BoolArray) -> FloatArray:
    """Contributions less their mean over the systems; of the only one, as they are."""
    kept: FloatArray = psi[:, systems]
    return kept - kept.mean(axis=1, keepdims=True) if kept.shape[1] > 1 else kept


def _by_domain(found: Influence, in_it: BoolArray, known: BoolArray, domains: Domains) -> Influence:
    """``found`` with the queries of a domain as one unit; a system's units are the domains where people labelled it.

    known: (M, N) queries on which people labelled it. in_it: (M, N) the queries in its estimate.
    """
    rows = np.arange(len(found.psi))
    psi, _, _, lone = domains.sums(found.psi, in_it.T, rows)
    _, units, unequal, _ = domains.sums(found.psi, known.T, rows)
    return replace(found, psi=psi, n_units=units, unit="domain", lone=lone, differing=None, unequal=unequal)


def _sample(judged: FloatArray, there: FloatArray, domains: Domains | None) -> Sample:
    """By the judges' scores of all queries (M, N), of which those that people labelled are a part.

    Of a random sample the difference of means has the variance of sampling without replacement (Cochran 1977), known
    from all queries, and that of the labelled cells within their queries. Where claims are of further domains, people
    may have drawn domains, and queries in them.
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
    """What may have been drawn at random: domains, then the queries in each of several; their number, and (M, number).

    Scores less their mean, and how much more each counts among those drawn; around, taken: (M, N) the same of queries.
    known: (M, N) where there is a score. of: (N,) the domain.
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
    """p-values of normal values; NaN where they do not vary."""
    error = np.sqrt(np.where(variance > NOTHING, variance, np.nan))
    return np.asarray(2 * ndtr(-np.abs(value) / error))
