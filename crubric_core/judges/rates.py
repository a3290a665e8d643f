"""Each judge's sensitivity and specificity, estimated with or without anchors (docs/method.md §5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import logit

from ..intervals import (
    effective_clusters_of_each,
    exact_binomial_interval,
    jackknife_half_width,
    ratio,
    share_interval,
)
from ..types import BoolArray, FloatArray, IntArray
from .dawid_skene import PatternFit, fit_patterns
from .patterns import UNKNOWN, Patterns, find_patterns

Source = Literal["anchors", "dawid_skene", "none"]

SMOOTHING = (2.0, 1.0)
"""Beta(2, 1): before any vote a judge is rather right than wrong, and never infallible."""
FEW_ANCHORS = 10
"""Anchors of either class below which they are clamped into the EM instead of counted alone."""
FEWEST_JUDGES = 3
"""Judges who must tell passes from fails for votes to fix rates: two have five unknowns and three shares that show."""
TOLD_APART = 0.999
"""Confidence at which a judge's votes must depend on the class for it to count as one of these."""
MOST_BLOCKS = 200  # more clusters than these are left out several at a time


@dataclass(frozen=True)
class Rate:
    """A share for each judge with its interval; (K,) each, value in (0, 1), ends in [0, 1], NaN without votes.

    low, high: also NaN if all votes are of one cluster, which does not show how further clusters vary.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class JudgeRates:
    """How often K judges are right.

    sensitivity, specificity: Pr(vote 1 | truth 1) and Pr(vote 0 | truth 0).
    prevalence: share of units whose truth is 1. n_anchors: number of units with a known truth.
    source: anchors: counted on these alone; dawid_skene: EM over all units, anchors fixed; none: all NaN, because there
    are few anchors and fewer than three judges are shown to distinguish passes from fails.
    converged: whether the EM did; True for anchors.
    worst: the judge whose Youden index s⁺ + s⁻ - 1 is below that of every other judge on the units that both labelled,
    each difference beyond its interval over clusters; None if there is no such judge.
    """

    sensitivity: Rate
    specificity: Rate
    prevalence: float
    n_anchors: int
    source: Source
    converged: bool
    worst: int | None = None

    @property
    def weight(self) -> FloatArray:
        """(K,) change of the log-odds from a judge's fail to a pass: logit s⁺ + logit s⁻; 0 for a judge who guesses."""
        return np.asarray(logit(self.sensitivity.value) + logit(self.specificity.value))


def judge_rates(
    votes: FloatArray,
    anchors: FloatArray | None = None,
    groups: IntArray | None = None,
    confidence: float = 0.95,
) -> JudgeRates:
    """Rates of K judges from votes (U, K) 0/1, NaN unknown, and the true classes ``anchors`` (U,), NaN unknown.

    With enough anchors of both classes: their Beta(2, 1)-smoothed shares. Otherwise two-class Dawid–Skene EM with the
    anchors fixed, smoothed in the same way. Each interval is the exact one for the number of votes with the jackknife's
    variance over ``groups`` (U,) 0..G-1, such as the query of each unit; without ``groups``, over units (Korn and
    Graubard 1998). Errors are clustered, and few clusters may hold most units; for a judge without an error each
    cluster is one vote. If all votes are in one cluster the interval is unknown.
    Rates are unknown if the EM finds fewer than three judges whose votes depend on the class: then many rates fit the
    votes equally well, the EM ends at one of them, and the jackknife does not show this.
    """
    truth = np.full(len(votes), np.nan) if anchors is None else anchors
    clusters = np.arange(len(votes)) if groups is None else groups
    if min((truth == 1).sum(), (truth == 0).sum()) >= FEW_ANCHORS:
        return _from_anchors(votes, truth, clusters, confidence)
    if (~np.isnan(votes)).any(axis=0).sum() < FEWEST_JUDGES:
        return _unknown(votes.shape[1], _number_known(truth))
    return _from_votes(votes, truth, clusters, confidence)


def rates_note(rates: JudgeRates) -> str:
    """A warning for labels that follow from undetermined rates; empty if the rates are known."""
    if rates.source != "none":
        return ""
    return (
        f"fewer than {FEWEST_JUDGES} judges are shown to tell passes from fails, so rates of errors, and the labels "
        f"that follow from them, are not determined. Use the majority, or add {FEW_ANCHORS} human labels of passes and "
        "of fails."
    )


def _number_known(truth: FloatArray) -> int:
    return int((~np.isnan(truth)).sum())


def _unknown(n_judges: int, n_anchors: int) -> JudgeRates:
    nothing = np.full(n_judges, np.nan)
    rate = Rate(nothing, nothing, nothing)
    return JudgeRates(rate, rate, np.nan, n_anchors, "none", True)


def _from_anchors(votes: FloatArray, truth: FloatArray, groups: IntArray, confidence: float) -> JudgeRates:
    known = ~np.isnan(truth)
    patterns = find_patterns(np.column_stack([votes, truth])[known])
    counts = np.vstack([patterns.count, _without_each(patterns, groups[known])])
    of_class = (patterns.values[:, -1:] == (0, 1)).astype(np.float64)
    given, posterior = patterns.values[:, :-1], np.broadcast_to(of_class, (len(counts), *of_class.shape))
    sensitivity, specificity = _rates(
        _tallies(given, counts, posterior), _clusters(given, counts, posterior), confidence
    )
    lowest = _lowest(given, counts, posterior)
    shown = lowest is not None and _is_worst(lowest, given, counts, posterior, confidence)
    worst = lowest if shown else None
    prevalence = float(truth[known].mean())
    return JudgeRates(sensitivity, specificity, prevalence, _number_known(truth), "anchors", True, worst)


def _from_votes(votes: FloatArray, truth: FloatArray, groups: IntArray, confidence: float) -> JudgeRates:
    voted = ~np.isnan(votes).all(axis=1)
    patterns = find_patterns(np.column_stack([votes, truth])[voted])
    values = patterns.values
    left = _without_each(patterns, groups[voted])
    point, counts, posterior = _two_classes(values, patterns.count, left)
    if _informative(values[:, :-1], counts, posterior).sum() < FEWEST_JUDGES:
        return _unknown(votes.shape[1], _number_known(truth))
    tallies, clusters = (find(values[:, :-1], counts, posterior) for find in (_tallies, _clusters))
    sensitivity, specificity = _rates(tallies, clusters, confidence)
    return JudgeRates(
        sensitivity=sensitivity,
        specificity=specificity,
        prevalence=float(point.prior[0, 1]),
        n_anchors=_number_known(truth),
        source="dawid_skene",
        converged=point.converged,
        worst=_worst_by_votes(values, counts, posterior, confidence),
    )


def _two_classes(
    values: IntArray, count: IntArray, left: FloatArray
) -> tuple[PatternFit, FloatArray, FloatArray]:
    """EM over patterns (P, K + 1), for all units and then without each of G clusters.

    Returns the fit to all units, the counts (1 + G, P) of both kinds, and their posteriors (1 + G, P, 2). count: (P,).
    left: (G, P).
    """
    point = fit_patterns(values, count[None], 2, tolerance=1e-10, limit=10_000)
    again = fit_patterns(values, left, 2, tolerance=1e-9, limit=2_000, start=point.posterior[0])
    return point, np.vstack([count, left]), np.concatenate([point.posterior, again.posterior])


def _worst_by_votes(
    values: IntArray, counts: FloatArray, posterior: FloatArray, confidence: float
) -> int | None:
    """The judge who is worse than every other judge beyond chance, or None.

    A judge who labelled only some units is compared by the EM over these units. In the EM over all units, a judge who
    labels mostly difficult cells would count for less, and its errors would look larger because of its own small
    weight.
    """
    lowest = _lowest(values[:, :-1], counts, posterior)
    if lowest is None:
        return None
    own = values[:, lowest] != UNKNOWN
    if not own.all():
        values, (count, *left) = values[own], counts[:, own]
        _, counts, posterior = _two_classes(values, count, np.array(left))
        if _informative(values[:, :-1], counts, posterior).sum() < FEWEST_JUDGES:
            return None
    return lowest if _is_worst(lowest, values[:, :-1], counts, posterior, confidence) else None


def _without_each(patterns: Patterns, groups: IntArray) -> FloatArray:
    """(G, P) count of each pattern without each cluster; with many clusters, without each of MOST_BLOCKS blocks."""
    blocks = np.unique(groups, return_inverse=True)[1] % MOST_BLOCKS
    return np.asarray(patterns.count - patterns.group_counts(blocks).toarray())


def _tallies(votes: IntArray, counts: FloatArray, posterior: FloatArray) -> FloatArray:
    """(R, 2, 2, K): for passes and for fails, smoothed right and wrong votes, each unit weighted by its posterior.

    votes (P, K), counts (R, P), posterior (R, P, 2). NaN for a judge without votes.
    """
    mass = posterior * counts[:, :, None]
    none = np.where((votes != UNKNOWN).any(axis=0), 0.0, np.nan)
    found = [
        [
            mass[:, :, label] @ (votes == said) + smooth + none
            for said, smooth in zip((label, 1 - label), SMOOTHING, strict=True)
        ]
        for label in (1, 0)
    ]
    return np.moveaxis(np.array(found), 2, 0)


def _clusters(votes: IntArray, counts: FloatArray, posterior: FloatArray) -> FloatArray:
    """(2, K) effective number of clusters of each judge's votes on passes and on fails; arguments of ``_tallies``."""
    sizes, known = counts[0] - counts[1:], votes != UNKNOWN
    of_class = [(sizes * posterior[0, :, label]) @ known for label in (1, 0)]
    return effective_clusters_of_each(np.stack(of_class, axis=1))


def _informative(votes: IntArray, counts: FloatArray, posterior: FloatArray) -> BoolArray:
    """(K,) whether the Youden index s⁺ + s⁻ - 1 differs from 0. counts: of all units, then without each cluster."""
    youden = _youden(_tallies(votes, counts, posterior))
    clusters = _clusters(votes, counts, posterior).min(axis=0)
    half = jackknife_half_width(youden[1:], TOLD_APART, clusters=clusters)
    return np.asarray(np.abs(youden[0]) > half)


def _youden(tallies: FloatArray) -> FloatArray:
    """(R, K) Youden index s⁺ + s⁻ - 1."""
    return np.asarray((tallies[:, :, 0] / tallies.sum(axis=2)).sum(axis=1) - 1)


def _rates(tallies: FloatArray, clusters: FloatArray, confidence: float) -> tuple[Rate, Rate]:
    """Sensitivity and specificity. tallies: of all units, then without each cluster. clusters: of ``_clusters``."""
    value = tallies[0, :, 0] / tallies[0].sum(axis=1)
    right, wrong = (np.maximum(tallies[:, :, n] - SMOOTHING[n], 0.0) for n in (0, 1))
    share, votes = ratio(right, right + wrong), right[0] + wrong[0]
    low, high = np.full((2, *value.shape), np.nan)
    for at in np.argwhere(np.isfinite(value)) if len(tallies) > 2 else ():
        row, judge = (int(n) for n in at)
        low[row, judge], high[row, judge] = _share_of_votes(
            share[:, row, judge], float(votes[row, judge]), float(clusters[row, judge]), confidence
        )
    sensitivity, specificity = (
        Rate(value[n], np.minimum(low, value)[n], np.maximum(high, value)[n]) for n in (0, 1)
    )
    return sensitivity, specificity


def _share_of_votes(
    share: FloatArray, votes: float, clusters: float, confidence: float
) -> tuple[float, float]:
    """(low, high) of a share of right votes. share: (1 + G,) of all units, then without each cluster.

    If none or all are right, up to half a vote, the votes do not show how errors are clustered: each cluster is one
    trial.
    """
    if votes <= 0:
        return 0.0, 1.0
    found = float(share[0])
    if votes * min(found, 1 - found) < 0.5:
        return exact_binomial_interval(round(found) * clusters, clusters, confidence)
    return share_interval(found, share[1:], clusters, confidence, votes, clusters)


def _lowest(votes: IntArray, counts: FloatArray, posterior: FloatArray) -> int | None:
    """The judge whose Youden index is below that of every other judge, or None.

    counts: (1 + G, P), the first of all units.
    """
    known = np.flatnonzero((votes != UNKNOWN).any(axis=0))
    for judge in known.tolist() if len(known) > 1 else ():
        if (_ahead(votes, judge, known[known != judge], counts[:1], posterior[:1]) > 0).all():
            return judge
    return None


def _is_worst(
    judge: int, votes: IntArray, counts: FloatArray, posterior: FloatArray, confidence: float
) -> bool:
    """Whether every other judge is ahead of ``judge`` by more than the half width of the difference's interval.

    counts: of all units, then without each cluster.
    """
    known = np.flatnonzero((votes != UNKNOWN).any(axis=0))
    others = known[known != judge]
    ahead = _ahead(votes, judge, others, counts, posterior)
    clusters = _clusters(_common(votes, judge, others), counts, posterior).min(axis=0)
    half = jackknife_half_width(ahead[1:], confidence, clusters=clusters)
    return bool(len(known) > 1 and np.all(ahead[0] > half))


def _ahead(
    votes: IntArray, judge: int, others: IntArray, counts: FloatArray, posterior: FloatArray
) -> FloatArray:
    """(R, K - 1) Youden's index of the ``others`` minus that of ``judge``, each pair on the units that both labelled.

    A judge who labels difficult cells errs more because of that. NaN if two judges have no unit in common.
    """
    theirs = _common(votes, judge, others)
    own = np.where(theirs != UNKNOWN, votes[:, [judge]], UNKNOWN)
    return _youden(_tallies(theirs, counts, posterior)) - _youden(_tallies(own, counts, posterior))


def _common(votes: IntArray, judge: int, others: IntArray) -> IntArray:
    """(P, K - 1) votes of the ``others`` on the units on which ``judge`` voted too; UNKNOWN elsewhere."""
    return np.where(votes[:, [judge]] != UNKNOWN, votes[:, others], UNKNOWN)
