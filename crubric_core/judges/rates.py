"""Each judge's sensitivity and specificity, from anchors or without any (docs/method.md §5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats
from scipy.special import logit

from ..types import FloatArray, IntArray
from .dawid_skene import fit_patterns
from .patterns import UNKNOWN, find_patterns
from .resampling import Bootstrap

Source = Literal["anchors", "dawid_skene", "none"]

SMOOTHING = (2.0, 1.0)
"""Beta(2, 1): before any vote a judge is rather right than wrong, and never infallible."""
FEW_ANCHORS = 10
"""Anchors of either class below which they are clamped into the EM instead of counted alone."""
FEWEST_JUDGES = 3
"""Judges below which votes alone fix no rates: two have five unknowns and three shares that show."""


@dataclass(frozen=True)
class Rate:
    """A share per judge with its interval; (K,) each, in (0, 1), NaN for a judge without votes."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class JudgeRates:
    """How often K judges are right.

    sensitivity, specificity: Pr(vote 1 | truth 1) and Pr(vote 0 | truth 0).
    prevalence: share of units whose truth is 1. n_anchors: units with a known truth.
    source: anchors: counted on these alone; dawid_skene: EM over all units, anchors clamped; none: all NaN, for there
    are fewer than three judges and no anchor.
    converged: whether the EM did; True for anchors.
    """

    sensitivity: Rate
    specificity: Rate
    prevalence: float
    n_anchors: int
    source: Source
    converged: bool

    @property
    def weight(self) -> FloatArray:
        """(K,) by how much a judge's pass moves the log-odds beyond a fail: logit s⁺ + logit s⁻; 0 for a coin."""
        return np.asarray(logit(self.sensitivity.value) + logit(self.specificity.value))


def judge_rates(
    votes: FloatArray,
    anchors: FloatArray | None = None,
    bootstrap: Bootstrap | None = None,
    groups: IntArray | None = None,
) -> JudgeRates:
    """Rates of K judges from votes (U, K) 0/1, NaN unknown, and true classes (U,) where known.

    With enough anchors of both classes: their Beta(2, 1)-smoothed shares, and Beta intervals that take units as
    independent. Otherwise two-class Dawid–Skene EM with the anchors clamped, smoothed alike, and percentile
    intervals over resamples of units, or of ``groups`` (U,) 0..G-1 drawn whole.
    """
    how = bootstrap or Bootstrap()
    truth = np.full(len(votes), np.nan) if anchors is None else anchors
    if min((truth == 1).sum(), (truth == 0).sum()) >= FEW_ANCHORS:
        return _from_anchors(votes, truth, how.confidence)
    if (~np.isnan(votes)).any(axis=0).sum() < FEWEST_JUDGES and np.isnan(truth).all():
        return _unknown(votes.shape[1])
    return _from_votes(votes, truth, how, groups)


def _unknown(n_judges: int) -> JudgeRates:
    nothing = np.full(n_judges, np.nan)
    rate = Rate(nothing, nothing, nothing)
    return JudgeRates(rate, rate, np.nan, 0, "none", True)


def _from_anchors(votes: FloatArray, truth: FloatArray, confidence: float) -> JudgeRates:
    sensitivity, specificity = (_share(votes[truth == label], label, confidence) for label in (1, 0))
    known = truth[~np.isnan(truth)]
    return JudgeRates(sensitivity, specificity, float(known.mean()), len(known), "anchors", True)


def _share(votes: FloatArray, label: int, confidence: float) -> Rate:
    """How often each judge says ``label``, after the smoothing."""
    right = SMOOTHING[0] + (votes == label).sum(axis=0)
    wrong = SMOOTHING[1] + (votes == 1 - label).sum(axis=0)
    voted, tail = ~np.isnan(votes).all(axis=0), (1 - confidence) / 2
    bounds = (right / (right + wrong), stats.beta.ppf(tail, right, wrong), stats.beta.isf(tail, right, wrong))
    return Rate(*(np.where(voted, bound, np.nan) for bound in bounds))


def _from_votes(
    votes: FloatArray, truth: FloatArray, bootstrap: Bootstrap, groups: IntArray | None
) -> JudgeRates:
    voted = ~np.isnan(votes).all(axis=1)
    patterns = find_patterns(np.column_stack([votes, truth])[voted])
    values = patterns.values
    point = fit_patterns(values, patterns.count[None], 2, tolerance=1e-10, limit=10_000)
    counts = patterns.resample(bootstrap, None if groups is None else groups[voted])
    again = fit_patterns(values, counts, 2, tolerance=1e-7, limit=500, start=point.posterior[0])
    best = _smoothed(values, patterns.count[None], point.posterior)[0]
    low, high = bootstrap.interval(_smoothed(values, counts, again.posterior))
    return JudgeRates(
        sensitivity=Rate(best[0], low[0], high[0]),
        specificity=Rate(best[1], low[1], high[1]),
        prevalence=float(point.prior[0, 1]),
        n_anchors=int((~np.isnan(truth)).sum()),
        source="dawid_skene",
        converged=point.converged,
    )


def _smoothed(values: IntArray, counts: FloatArray | IntArray, posterior: FloatArray) -> FloatArray:
    """(R, 2, K): sensitivity and specificity with each unit counted by its posterior (R, P, 2)."""
    mass = posterior * np.asarray(counts, dtype=np.float64)[:, :, None]
    votes = values[:, :-1]
    shares = []
    for label in (1, 0):
        right = mass[:, :, label] @ (votes == label) + SMOOTHING[0]
        wrong = mass[:, :, label] @ (votes == 1 - label) + SMOOTHING[1]
        shares.append(np.where((votes != UNKNOWN).any(axis=0), right / (right + wrong), np.nan))
    return np.stack(shares, axis=1)
