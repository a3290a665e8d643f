"""Agreement of judges as Cohen's kappa, and whether a gate from some systems' labels raises it on other systems."""

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
    """The labels that kappa compares. against: HUMAN or OTHERS. counts: (P, J, 4) agreement counts of each pair."""

    against: str
    counts: FloatArray

    def kappa(self, kept: BoolArray) -> float:
        """Kappa pooled over the kept rubrics (J,), as the mean over the pairs of raters."""
        return float(known_mean(kappa_of_counts(self.counts[:, kept].sum(axis=1))))

    def by_rubric(self) -> FloatArray:
        """(J,) each rubric's own kappa, as the mean over the pairs of raters; NaN if its labels do not vary."""
        return known_mean(kappa_of_counts(self.counts))

    def pooled(self, kept: BoolArray, query_index: IntArray) -> PooledKappa:
        """Kappa of the kept rubrics (J,) with what its interval needs. query_index: (J,) query of each rubric."""
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
    """Kappa of the rubrics kept, for intervals over queries.

    values: (1 + N,) kappa, then kappa without each query. cells: (N,) compared cells of each query. trials: effective
    number of rubrics, fewer if one label is much more frequent than the other. all_kept: whether all rubrics are kept.
    """

    values: FloatArray
    cells: FloatArray
    trials: float
    all_kept: bool

    @property
    def clusters(self) -> float:
        """The number of queries of equal size that these are worth."""
        return effective_clusters(self.cells)

    def interval(self, confidence: float) -> tuple[float, float]:
        """(low, high) of kappa for queries like these; NaN if kappa is NaN or there is only one query.

        If there is no disagreement, nothing shows how disagreements cluster: then each rubric counts as one trial,
        whatever the number of its systems.
        """
        value, clusters = float(self.values[0]), self.clusters
        if np.isnan(value) or clusters <= 1:
            return float("nan"), float("nan")
        return coefficient_interval(value, self.values[1:], self.trials, confidence, clusters)

    def change(self, base: PooledKappa, confidence: float) -> tuple[float, float, float]:
        """(difference, low, high): kappa minus that of all rubrics, ``base``.

        The ends are the wider ones of two intervals, within the possible range. The interval for a difference of shares
        is too narrow if there are few disagreements, the jackknife's if few rubrics or disagreements are not common to
        both.
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
    """The mean of several kappas on the same queries; cells are added up, and trials averaged."""
    values = np.array([kappa.values for kappa in kappas])
    return PooledKappa(
        known_mean(values),
        np.sum([kappa.cells for kappa in kappas], axis=0),
        float(np.mean([kappa.trials for kappa in kappas])),
        all(kappa.all_kept for kappa in kappas),
    )


def compare(panel: FloatArray, gold: FloatArray | None) -> KappaComparison:
    """Compare the panel's majority with human gold (M, J), or, if that is None, each judge with the others' majority.

    panel: (M, J, K) labels as pass or fail.
    """
    if gold is not None:
        return KappaComparison(HUMAN, confusion(majority(panel), gold)[None])
    judges = range(panel.shape[2])
    pairs = [confusion(panel[:, :, k], majority(np.delete(panel, k, axis=2))) for k in judges]
    return KappaComparison(OTHERS, np.stack(pairs))


def unread_changes(
    inputs: Inputs, gold: FloatArray | None, thresholds: Sequence[float], splits: int
) -> list[tuple[float, float, float]]:
    """(mean, low, high) by threshold: kappa of the rubrics kept minus that of all, on systems not read by the gate.

    The systems are split into halves repeatedly. The measurability in one half decides which rubrics are kept, and
    kappa is computed on the other, since filtering and counting on the same labels raises kappa by construction. The
    mean is over both halves of all splits, its interval over queries.
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
