"""Agreement of the abilities of systems, placed as new ones, with a reference, and its intervals over systems.

Each measure is a mean over pairs of systems, so that the jackknife leaves the pairs of one system out of the sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..intervals import disjoint_pairs, leave_one_out_sums, ratio, share_interval
from ..ranks import TIE_DIGITS
from ..types import BoolArray, FloatArray, IntArray

MEASURES = ("new_pairs", "new_old", "tau", "human")


@dataclass(frozen=True)
class Concordance:
    """How a selector orders each pair of M systems, summed over repeats, for each of the four MEASURES.

    agree: (4, budgets, M, M) symmetric sums of 1 (in the reference's order), ½ (tied) or 0 (reversed).
    count: (4, M, M) how often each pair was compared. score_error: (budgets, M) mean absolute error of each system's
    predicted pool score.
    """

    agree: FloatArray
    count: FloatArray
    score_error: FloatArray

    def with_and_without(self) -> FloatArray:
        """(4, 1 + M) each measure over all budgets and pairs, then without each system; tau and human: 2 share - 1."""
        return _scaled(self._shares())

    def intervals(self, confidence: float) -> FloatArray:
        """(4, 2) ends of the intervals of the measures, by ``share_interval`` of the shares of pairs."""
        ends = []
        for share, count in zip(self._shares(), self.count, strict=True):
            pairs = count > 0
            left, most = share[1:][pairs.any(axis=1)], float(np.triu(pairs).sum())
            ends.append(share_interval(share[0], left, disjoint_pairs(pairs), confidence, most))
        return _scaled(np.array(ends))

    def _shares(self) -> FloatArray:
        """(4, 1 + M) share of the pairs in the reference's order, then the share without each system."""
        agree, count = (
            leave_one_out_sums(values.sum(axis=-1)) for values in (self.agree.mean(axis=1), self.count)
        )
        return ratio(agree, count)

    def by_budget(self) -> FloatArray:
        """(4, budgets) the measures at each budget."""
        count = self.count.sum(axis=(1, 2))[:, None]
        return _scaled(ratio(self.agree.sum(axis=(2, 3)), count))


class Repeat:
    """The placings of M systems as new ones in one split of the systems into folds.

    reference, score: (M,) ability and score on the whole pool. theta, predicted: selector → draws of (budgets, M)
    abilities, and predicted pool scores. NaN unknown.
    """

    def __init__(self, size: int, n_budgets: int) -> None:
        self.shape = (n_budgets, size)
        self.reference, self.score = np.full(size, np.nan), np.full(size, np.nan)
        self.theta: dict[str, list[FloatArray]] = {}
        self.predicted: dict[str, list[FloatArray]] = {}

    def put(self, name: str, draw: int, new: BoolArray, theta: FloatArray, score: FloatArray) -> None:
        """Store one draw of a selector for the new systems of a fold.

        new: (M,) mask of these systems. theta, score: (budgets, new) abilities and predicted pool scores.
        """
        for kept, values in ((self.theta, theta), (self.predicted, score)):
            draws = kept.setdefault(name, [])
            if len(draws) <= draw:
                draws.append(np.full(self.shape, np.nan))
            draws[draw][:, new] = values

    def concordance(
        self, name: str, fold: IntArray, human: FloatArray, group: IntArray | None = None
    ) -> Concordance:
        """The selector's orders of all pairs, averaged over its draws.

        fold: (M,). human: (M,) scores of the human reference, NaN unknown. group: (M,) pairs of systems of different
        groups, which have no common scale, do not count; None: one group. Abilities equal to TIE_DIGITS are tied.
        """
        reference = np.round(self.reference, TIE_DIGITS)
        same = fold[:, None] == fold
        apart = np.zeros_like(same) if group is None else group[:, None] != group
        known, people = (
            np.where(apart, 0.0, np.nan_to_num(np.sign(one[:, None] - one))) for one in (reference, human)
        )
        count = np.stack([same & (known != 0), ~same & (known != 0), known != 0, people != 0], dtype=float)
        agree = np.zeros((len(MEASURES), self.shape[0], *known.shape))
        for theta in np.round(self.theta[name], TIE_DIGITS):
            both = theta[:, :, None] - theta[:, None, :]
            one = theta[:, :, None] - reference
            mixed = (_agreement(one, known) + np.swapaxes(_agreement(one, known), 1, 2)) / 2
            of_both = _agreement(both, known)
            agree += np.stack([of_both, mixed, of_both, _agreement(both, people)])
        agree *= count[:, None] / len(self.theta[name])
        error = np.mean([np.abs(score - self.score) for score in self.predicted[name]], axis=0)
        return Concordance(agree, count, error)


def _agreement(difference: FloatArray, truth: FloatArray) -> FloatArray:
    """(…, M, M) 1 if the difference has the sign in ``truth`` (M, M), ½ if it is 0 or NaN, 0 if it is reversed."""
    return (1 + np.where(np.isnan(difference), 0.0, np.sign(difference)) * truth) / 2


def total(parts: list[Concordance]) -> Concordance:
    """Add up the concordances of all repeats; score_error is their mean."""
    agree, count = sum(part.agree for part in parts), sum(part.count for part in parts)
    return Concordance(
        np.asarray(agree), np.asarray(count), np.mean([part.score_error for part in parts], axis=0)
    )


def _scaled(share: FloatArray) -> FloatArray:
    """The measures (4, …) from shares (4, …): tau and human are 2 share - 1."""
    return np.concatenate([share[:2], 2 * share[2:] - 1])


def error_layers(concordance: Concordance) -> FloatArray:
    """(1 + M,) mean error of the predicted pool score over budgets and systems, then without each system."""
    error = concordance.score_error.mean(axis=0)
    known = np.isfinite(error)
    total, count = error[known].sum(), int(known.sum())
    without = np.where(known, (total - np.where(known, error, 0.0)) / max(count - 1, 1), np.nan)
    return np.append(total / count if count else np.nan, without)
