"""What single labels say of abilities, at fixed item parameters: log-likelihoods, scores, information.

Every model's log-likelihood is a sum of terms ``passed (s theta + d) - seen log(1 + exp(s theta + d))`` plus what is
free of theta (see ``models``). The 1PL and 2PL have one term a rubric, the GRM one a threshold, the 3PL two a rubric:
the second counts passes, with the opposite sign and intercept d - log c. A GRM level that no system of the fit received
has thresholds that coincide, and probability 0. As a function of theta its likelihood has a limit all the same, which
these terms give.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ..compiled import compiled
from ..types import FloatArray, IntArray
from .models import ItemParameters

Signs = NDArray[np.int8]
"""Entries of -1, 0 and 1: an eighth of the memory of floats."""


@dataclass(frozen=True)
class SoftplusTerms:
    """Terms of the rubrics whose parameters are known, T in all.

    rubric: (T,) the rubric of each term. slope, intercept: (T,). step: (T,) GRM: the level above the term's threshold;
    else 1. line, passes: (T,) whether passes bring the term's line, and whether it counts passes only and with the
    opposite sign: 1 and 0, but 0 and 0, then 0 and 1 for the two terms of a 3PL rubric.
    """

    rubric: IntArray
    slope: FloatArray
    intercept: FloatArray
    step: IntArray
    line: FloatArray
    passes: FloatArray

    def softplus(self, theta: FloatArray) -> FloatArray:
        """(T, G) log(1 + exp(slope theta + intercept))."""
        z = self.slope[:, None] * theta + self.intercept[:, None]
        return np.asarray(np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z))))  # half the time of logaddexp

    def shares(self, y: FloatArray) -> tuple[Signs, Signs]:
        """(M', T) how often each term's line, and its softplus, enters the log-likelihood of labels ``y`` (M', J).

        Each is -1, 0 or 1.
        """
        labels = y[:, self.rubric]
        above, below = labels == self.step, labels == self.step - 1
        line = above & (self.line > 0)
        counts = np.where(self.passes > 0, -above.astype(np.int8), (above | below).astype(np.int8))
        return line.astype(np.int8), counts

    def at_nodes(
        self, shares: tuple[Signs, Signs], theta: FloatArray, table: FloatArray, chosen: IntArray
    ) -> FloatArray:
        """(M', G) log-likelihoods at ``theta`` (G,) of the terms ``chosen`` (indices), up to a constant.

        shares: those of the labels; table: ``softplus(theta)``. Both are computed once for all sets of rubrics.
        """
        return _at_nodes(*shares, self.slope, self.intercept, table, theta, chosen)


@compiled
def _at_nodes(
    lines: Signs,
    counts: Signs,
    slope: FloatArray,
    intercept: FloatArray,
    table: FloatArray,
    theta: FloatArray,
    chosen: IntArray,
) -> FloatArray:
    """See ``SoftplusTerms.at_nodes``."""
    loglik = np.zeros((len(lines), len(theta)))
    slopes, levels = np.zeros(len(lines)), np.zeros(len(lines))
    for term in chosen:
        for system in range(len(lines)):
            slopes[system] += lines[system, term] * slope[term]
            levels[system] += lines[system, term] * intercept[term]
            count = counts[system, term]
            if count:
                for node in range(len(theta)):
                    loglik[system, node] -= count * table[term, node]
    return loglik + slopes.reshape(-1, 1) * theta + levels.reshape(-1, 1)


def softplus_terms(items: ItemParameters) -> SoftplusTerms:
    """The terms of all rubrics with parameters; thresholds at infinity have none."""
    known = np.flatnonzero(np.isfinite(items.a))
    if items.thresholds is not None:
        row, place = np.nonzero(np.isfinite(items.thresholds[known]))
        rubric = known[row]
        slope, step = items.a[rubric], place.astype(np.int64) + 1
        intercept = -slope * items.thresholds[rubric, place]
        return SoftplusTerms(rubric, slope, intercept, step, np.ones(len(rubric)), np.zeros(len(rubric)))
    a, d = items.a[known], -items.a[known] * items.b[known]
    guessed = items.c[known] > 0
    rubric = np.r_[known, known[guessed]]
    intercept = np.r_[d, d[guessed] - np.log(items.c[known][guessed])]
    second = np.zeros(int(guessed.sum()))
    line, passes = np.r_[(~guessed).astype(float), second], np.r_[np.zeros(len(known)), second + 1]
    step = np.ones(len(rubric), dtype=np.int64)
    return SoftplusTerms(rubric, np.r_[a, a[guessed]], intercept, step, line, passes)


def label_scores(items: ItemParameters, y: FloatArray, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(M', J) d log P(y_ij) / d theta at ``theta`` (M',), and the expected information; both 0 for unknown labels.

    2PL: a (y - P), a² P (1 - P). 3PL, s = sigma(a (theta - b)): a s (y - P) / P, a² s² (1 - P) / P.
    GRM, s_l = sigma(a (theta - t_l)): a (1 - s_y - s_(y+1)), a² sum_l (s_l - s_(l+1)) (1 - s_l - s_(l+1))².
    Rubrics without parameters give 0.
    """
    known = np.isfinite(y) & np.isfinite(items.a)
    if items.thresholds is not None:
        score, info = _graded_scores(items, np.where(known, y, 0.0), theta)
    else:
        score, info = _binary_scores(items, y, theta)
    return np.where(known, score, 0.0), np.where(known, info, 0.0)


def _binary_scores(items: ItemParameters, y: FloatArray, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    a, s = items.a, expit(items.a * (theta[:, None] - items.b))
    if not (items.c > 0).any():
        score, info = y - s, s * (1 - s)
        score *= a
        info *= a * a
        return score, info
    p = items.c + (1 - items.c) * s
    return a * s * (y - p) / p, (a * s) ** 2 * (1 - p) / p


def _graded_scores(items: ItemParameters, y: FloatArray, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    thresholds = items.thresholds
    assert thresholds is not None  # noqa: S101
    a, level = items.a, y.astype(np.int64)
    score, info, above = np.zeros(y.shape), np.zeros(y.shape), np.ones(y.shape)
    for step in range(thresholds.shape[1] + 1):
        last = step == thresholds.shape[1]
        edge = (
            np.inf if last else np.where(np.isnan(thresholds[:, step]), np.inf, thresholds[:, step])
        )  # a rubric with fewer levels has no step here
        below = expit(a * (theta[:, None] - edge))
        slope = 1 - above - below
        score = np.where(level == step, slope, score)
        info += (above - below) * slope**2
        above = below
    return a * score, a * a * info
