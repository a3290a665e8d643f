"""Agreement of judges as Cohen's kappa, and whether a gate that has read some systems raises it for the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..analysis.fitted import gate
from ..intervals import (
    coefficient_interval,
    difference_interval,
    effective_clusters,
    jackknife_half_width,
    known_mean,
)
from ..judges.agreement import kappa_of_counts
from ..judges.consensus import majority
from ..types import BoolArray, FloatArray, IntArray
from .inputs import Inputs, reduce_panel
from .statistics import confusion, sum_by_query

HUMAN, OTHERS = "human gold", "the other judges"


@dataclass(frozen=True)
class KappaComparison:
    """What kappa is taken of. against: HUMAN or OTHERS. counts: (P, J, 4) agreement counts of each pair of raters."""

    against: str
    counts: FloatArray

    def kappa(self, kept: BoolArray) -> float:
        """Mean over the pairs of kappa pooled over the kept rubrics (J,)."""
        return float(known_mean(kappa_of_counts(self.counts[:, kept].sum(axis=1))))

    def by_rubric(self) -> FloatArray:
        """(J,) mean over the pairs of each rubric's own kappa; NaN where it never varies."""
        return known_mean(kappa_of_counts(self.counts))

    def pooled(self, kept: BoolArray, query_index: IntArray) -> PooledKappa:
        """Kappa of the kept rubrics (J,) and what its interval rests on. query_index: (J,)."""
        counts = np.stack([sum_by_query(pair, query_index, kept) for pair in self.counts])
        total = counts.sum(axis=1, keepdims=True)
        both_pass, first, second, _ = total.sum(axis=(0, 1)) / max(total.sum(), 1.0)
        one, other = both_pass + first, both_pass + second
        rubrics = np.count_nonzero(self.counts[:, kept].sum(axis=(0, 2)))
        return PooledKappa(
            known_mean(kappa_of_counts(np.concatenate([total, total - counts], axis=1))),
            counts.sum(axis=(0, 2)),
            2 * rubrics * float(one * (1 - other) + other * (1 - one)),
            bool(kept.all()),
        )


@dataclass(frozen=True)
class PooledKappa:
    """Kappa of the rubrics kept. values: (1 + N,) kappa, then without each query. cells: (N,) compared, by query.

    trials: as many rubrics as would tell as much were either label as likely as the other. all_kept: of all rubrics.
    """

    values: FloatArray
    cells: FloatArray
    trials: float
    all_kept: bool

    @property
    def clusters(self) -> float:
        """As many queries of equal size as these are worth."""
        return effective_clusters(self.cells)

    def interval(self, confidence: float) -> tuple[float, float]:
        """(low, high) of kappa for further queries; NaN where kappa is.

        Where nobody disagrees, no spread tells how disagreement would gather: each rubric is one trial, whatever the
        number of its systems.
        """
        value, clusters = float(self.values[0]), self.clusters
        if np.isnan(value) or clusters <= 1:
            return float("nan"), float("nan")
        return coefficient_interval(value, self.values[1:], self.trials, confidence, clusters)

    def change(self, base: PooledKappa, confidence: float) -> tuple[float, float, float]:
        """Kappa less that of ``base``, of all rubrics, with its interval: the wider ends of two, as far as kappas go.

        That of a difference of shares is too narrow where few disagree with either, the jackknife of the difference
        where few rubrics or few of those who disagree are not common to both.
        """
        difference = self.values - base.values
        if self.all_kept and difference[0] == 0:
            return 0.0, 0.0, 0.0
        ends = [(float(kappa.values[0]), *kappa.interval(confidence)) for kappa in (self, base)]
        if not np.isfinite(ends).all():
            return float(difference[0]), float("nan"), float("nan")
        low, high = difference_interval(ends[0], ends[1], np.stack([self.values[1:], base.values[1:]]))
        left = difference[1:][np.isfinite(difference[1:])]
        half = float(jackknife_half_width(left, confidence, clusters=self.clusters))
        return (
            float(difference[0]),
            float(np.fmax(np.fmin(low, difference[0] - half), -1 - ends[1][2])),
            float(np.fmin(np.fmax(high, difference[0] + half), 1 - ends[1][1])),
        )


def mean_of(kappas: Sequence[PooledKappa]) -> PooledKappa:
    """The mean of kappas of the same queries; without each query of those that are known with all."""
    values = np.array([kappa.values for kappa in kappas])
    return PooledKappa(
        known_mean(values),
        np.sum([kappa.cells for kappa in kappas], axis=0),
        float(np.mean([kappa.trials for kappa in kappas])),
        all(kappa.all_kept for kappa in kappas),
    )


def compare(panel: FloatArray, gold: FloatArray | None) -> KappaComparison:
    """Majority against human gold (M, J), or each judge of the panel (M, J, K) against the majority of the others."""
    if gold is not None:
        return KappaComparison(HUMAN, confusion(majority(panel), gold)[None])
    judges = range(panel.shape[2])
    pairs = [confusion(panel[:, :, k], majority(np.delete(panel, k, axis=2))) for k in judges]
    return KappaComparison(OTHERS, np.stack(pairs))


def unread_changes(
    inputs: Inputs, gold: FloatArray | None, thresholds: Sequence[float], splits: int
) -> list[tuple[float, float, float]]:
    """(mean, low, high) by threshold: kappa of the rubrics kept less that of all, on systems the gate has not read.

    The systems are split into halves again and again; the measurability of one half keeps rubrics, kappa is of the
    other. To filter and to count on the same labels raises kappa by construction. The mean over both halves of all
    splits, with its interval over queries.
    """
    settings, size = inputs.settings, len(inputs.reduction.systems)
    panel, binary = inputs.dataset.panel(settings.response), inputs.dataset.panel("binary")
    everything = [np.arange(n) for n in panel.shape[1:]]
    rng = np.random.default_rng([settings.seed, 21])
    found: list[list[tuple[PooledKappa, PooledKappa]]] = [[] for _ in thresholds]
    for order in (rng.permutation(size) for _ in range(splits if size > 1 else 0)):
        for read, unread in (
            (order[: size // 2], order[size // 2 :]),
            (order[size // 2 :], order[: size // 2]),
        ):
            q = gate(reduce_panel(inputs, panel, np.sort(read), *everything), settings)["q_mean"].to_numpy()
            comparison = compare(binary[unread], None if gold is None else gold[unread])
            base = comparison.pooled(np.ones(len(q), dtype=bool), inputs.query_index)
            for pairs, tau in zip(found, thresholds, strict=True):
                kappa = comparison.pooled(q >= tau, inputs.query_index)
                if np.isfinite(kappa.values[0] - base.values[0]):
                    pairs.append((kappa, base))
    unknown = (float("nan"), float("nan"), float("nan"))
    return [
        mean_of([kappa for kappa, _ in pairs]).change(
            mean_of([base for _, base in pairs]), settings.confidence
        )
        if pairs
        else unknown
        for pairs in found
    ]
