"""Agreement of judges as Cohen's kappa, and whether a gate that has read some systems raises it for the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..analysis.stages import gate
from ..judges.agreement import kappa_of_counts
from ..judges.consensus import majority
from ..types import BoolArray, FloatArray, IntArray
from .inputs import Inputs, reduce_panel
from .statistics import confusion, draw_interval, known_mean, sum_by_query

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

    def draws(self, kept: BoolArray, query_index: IntArray, weights: IntArray) -> FloatArray:
        """(R,) kappa of the kept rubrics where weights (R, N) says how often each query is drawn."""
        pairs = [weights @ sum_by_query(counts, query_index, kept) for counts in self.counts]
        return known_mean(kappa_of_counts(np.stack(pairs)))


def compare(panel: FloatArray, gold: FloatArray | None) -> KappaComparison:
    """Majority against human gold (M, J), or each judge of the panel (M, J, K) against the majority of the others."""
    if gold is not None:
        return KappaComparison(HUMAN, confusion(majority(panel), gold)[None])
    judges = range(panel.shape[2])
    pairs = [confusion(panel[:, :, k], majority(np.delete(panel, k, axis=2))) for k in judges]
    return KappaComparison(OTHERS, np.stack(pairs))


def unread_changes(
    inputs: Inputs, gold: FloatArray | None, thresholds: Sequence[float], weights: IntArray, splits: int
) -> list[tuple[float, float, float]]:
    """Of each threshold: kappa of the rubrics kept minus kappa of all, on systems that the gate has not read.

    The systems are split into halves again and again; the measurability of one half keeps rubrics, kappa is of the
    other. To filter and to count on the same labels raises kappa by construction. The mean over both halves of all
    splits, with its interval over draws of the queries, weights (R, N).
    """
    settings, size = inputs.settings, len(inputs.reduction.systems)
    panel, binary = inputs.dataset.panel(settings.response), inputs.dataset.panel("binary")
    everything = [np.arange(n) for n in panel.shape[1:]]
    rng = np.random.default_rng([settings.seed, 21])
    found: list[list[float]] = [[] for _ in thresholds]
    drawn: list[list[FloatArray]] = [[] for _ in thresholds]
    for order in (rng.permutation(size) for _ in range(splits if size > 1 else 0)):
        for read, unread in (
            (order[: size // 2], order[size // 2 :]),
            (order[size // 2 :], order[: size // 2]),
        ):
            q = gate(reduce_panel(inputs, panel, np.sort(read), *everything), settings)["q_mean"].to_numpy()
            comparison = compare(binary[unread], None if gold is None else gold[unread])
            every = np.ones(len(q), dtype=bool)
            base, base_draws = comparison.kappa(every), comparison.draws(every, inputs.query_index, weights)
            for number, tau in enumerate(thresholds):
                found[number].append(comparison.kappa(q >= tau) - base)
                drawn[number].append(comparison.draws(q >= tau, inputs.query_index, weights) - base_draws)
    return [
        (
            float(known_mean(np.array(values))),
            *draw_interval(known_mean(np.array(draws)), settings.confidence),
        )
        if np.isfinite(values).any()
        else (np.nan, np.nan, np.nan)
        for values, draws in zip(found, drawn, strict=True)
    ]
