"""Judges' mean labels, corrected by the human labels of some cells (docs/method.md §15).

Judges label every cell, people a random part of them. From both comes the mean label that people would give to all
cells: an unbiased estimate whatever errors the judges make, which widen its interval and nothing else (prediction-
powered inference, Angelopoulos, Duchi and Zrnic 2023, arXiv:2311.01453; in survey sampling, a difference estimator).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from ..types import BoolArray, FloatArray, IntArray
from .influence import Domains, Influence, linked_groups, score_influence

FEWEST = 5  # queries of a system that people labelled: of fewer the variance between queries is hardly known
DOUBT = 0.01  # p-value below which the labelled cells do not look like a random sample


@dataclass(frozen=True)
class Correction:
    """Mean human labels of M systems over all N queries, as shares of the full mark, and what they rest on.

    corrected: from both. human: from the human labels alone. judged: the judges' own mean over all cells.
    weight: of the judges' mean, from 0 (unused) to 1 (lambda).
    residual: (N, M) contributions of human label - weight × judges' label, the part that people's queries alone tell.
    labelled: (M,) queries that people labelled; 0 for a system with fewer than FEWEST, which has no estimate.
    floor: (M,) least variance, see ``correct_means``.
    shift: judges' mean on the cells that people labelled less that on all cells, mean of the systems. shift_p: its
        two-sided p-value by Student's t; NaN where people labelled every query alike.
    """

    corrected: Influence
    human: Influence
    judged: Influence
    weight: float
    residual: FloatArray
    labelled: IntArray
    floor: FloatArray
    shift: float
    shift_p: float

    @property
    def doubtful(self) -> bool:
        """Whether the labelled cells are no random sample, by the judges' labels."""
        return self.shift_p < DOUBT

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
        least, few = self.floor[kept][:, None], m / wanted
        both = np.maximum(whole - residual + residual * few, least * few**2)
        alone = human * few
        multiple = stdtrit(wanted - 1, (1 + confidence) / 2)
        possible = (wanted >= FEWEST) & (wanted <= n)
        of_both, of_people = (
            np.where(possible, multiple * np.median(np.sqrt(part), axis=0), np.nan) for part in (both, alone)
        )
        return of_both, of_people


def correct_means(
    judged: FloatArray,
    human: FloatArray,
    there: FloatArray,
    cells: IntArray,
    domains: Domains | None = None,
) -> Correction | None:
    """S_i = human_i + lambda (judged_i - there_i), means over queries; None where no system has FEWEST labelled ones.

    judged: (M, N) judges' mean of each query over all its cells, in [0, 1]; human, there: (M, N) people's and judges'
    mean over the cells that people labelled; NaN where there is none. cells: (M,) how many these are.

    lambda makes the variance of the differences between systems least, cut to [0, 1] (power tuning, Angelopoulos et
    al. 2023, section 6, one for all systems): -sum A B / sum B², A and B the contributions of human_i and of
    judged_i - there_i less their mean over the systems. A variance is at least 1 / (c (c + 2)) for c cells, as if
    people and judges disagreed on one of c + 2: where they agree on all, none is seen.
    """
    known = np.isfinite(human)
    enough = known.sum(axis=1) >= FEWEST
    if not enough.any():
        return None
    one = np.ones(human.shape[1])
    everywhere, people, those = (
        score_influence(np.where(enough[:, None], scores, np.nan), one) for scores in (judged, human, there)
    )
    own, more = _between(people.psi, enough), _between(everywhere.psi - those.psi, enough)
    seen = float((more**2).sum())
    weight = float(np.clip(-(own * more).sum() / seen, 0.0, 1.0)) if seen > 0 else 0.0
    labelled: IntArray = np.where(enough, known.sum(axis=1), 0)
    count = np.where(enough, cells, 1)
    floor = 1 / (count * (count + 2.0))
    residual = people.psi - weight * those.psi
    corrected = replace(
        people,
        estimate=people.estimate + weight * (everywhere.estimate - those.estimate),
        psi=residual + weight * everywhere.psi,
        n_units=labelled,
        floor=floor,
        saturated=np.zeros(len(human), dtype=np.int64),
        group=linked_groups((known & enough[:, None]).T),
    )
    shift, shift_p = _shift(everywhere, those, enough, int(labelled.max()))
    return Correction(
        corrected if domains is None else _by_domain(corrected, judged, known & enough[:, None], domains),
        people,
        everywhere,
        weight,
        residual,
        labelled,
        floor,
        shift,
        shift_p,
    )


def _between(psi: FloatArray, systems: BoolArray) -> FloatArray:
    """Contributions less their mean over the systems; of the only one, as they are."""
    kept: FloatArray = psi[:, systems]
    return kept - kept.mean(axis=1, keepdims=True) if kept.shape[1] > 1 else kept


def _by_domain(corrected: Influence, judged: FloatArray, known: BoolArray, domains: Domains) -> Influence:
    """The same with the queries of a domain as one unit; a system has those on which people labelled it."""
    rows = np.arange(len(corrected.psi))
    psi, _, lone = domains.sums(corrected.psi, (np.isfinite(judged) & corrected.ranked[:, None]).T, rows)
    _, units, _ = domains.sums(corrected.psi, known.T, rows)
    return replace(corrected, psi=psi, n_units=units, unit="domain", lone=lone)


def _shift(everywhere: Influence, those: Influence, kept: BoolArray, units: int) -> tuple[float, float]:
    moved = (those.psi - everywhere.psi)[:, kept].mean(axis=1)
    shift = float((those.estimate - everywhere.estimate)[kept].mean())
    error = float(np.sqrt((moved**2).sum() * units / (units - 1)))
    return shift, float(2 * stdtr(units - 1, -abs(shift) / error)) if error > 1e-12 else float("nan")
