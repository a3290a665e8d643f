"""Log-likelihoods, scores and information of single labels as functions of ability, at fixed item parameters.

Every model's log-likelihood is a sum of terms ``passed (s theta + d) - seen log(1 + exp(s theta + d))`` plus a part
that does not depend on theta (see ``models``). The 1PL and 2PL have one term a rubric, the GRM one a threshold, the 3PL
two a rubric: the second counts passes, with the opposite sign and intercept d - log c. A GRM level that no system of
the fit received has thresholds that coincide, and probability 0. As a function of theta its likelihood has a limit all
the same, which these terms give.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..compiled import compiled
from ..types import BoolArray, FloatArray, IntArray
from ..workers import run_threads
from .models import ItemParameters

AT_ONCE = 2**15  # numbers of one block
LARGE = 2**20  # numbers from which threads save time: with fewer, their steps are too short
_BLOCK = 16  # terms whose rows stay in the processor's cache while all systems of a set read them


class SoftplusTerms(NamedTuple):
    """All T terms of the rubrics with known parameters, from one or several sets of parameters.

    set: (T,) index of the term's set of parameters, ascending. rubric: (T,) index of its rubric. slope, intercept:
    (T,). step: (T,) GRM: the level above the term's threshold; else 1. line: (T,) whether a pass adds slope × theta +
    intercept. passes: (T,) whether the term counts passes only, with the opposite sign. The two terms of a 3PL rubric
    have neither, then ``passes`` alone; every other term has ``line`` alone.
    """

    set: IntArray
    rubric: IntArray
    slope: FloatArray
    intercept: FloatArray
    step: IntArray
    line: BoolArray
    passes: BoolArray

    def softplus(self, theta: FloatArray) -> FloatArray:
        """(T, G) log(1 + exp(slope theta + intercept)), computed in blocks that stay in the processor's cache."""
        found, step = np.empty((len(self.slope), len(theta))), max(AT_ONCE // len(theta), 1)

        def fill(start: int) -> None:
            some = slice(start, start + step)
            z, part = self.slope[some, None] * theta + self.intercept[some, None], found[some]
            np.exp(-np.abs(z), out=part)
            np.log(
                1 + part, out=part
            )  # errs by 1e-16 of 1, as the sum of its terms does; log1p takes twice the time
            part += np.maximum(z, 0.0)

        run_threads(fill, range(0, len(found), step), gains=found.size >= LARGE)
        return found

    def of(self, use: BoolArray) -> IntArray:
        """Indices of the terms whose rubric is used by their set. use: (F, J), by set and rubric."""
        return np.flatnonzero(use.reshape(-1)[self.set * use.shape[1] + self.rubric])

    def at_nodes(
        self, terms: IntArray, y: FloatArray, placed_by: IntArray, theta: FloatArray, table: FloatArray
    ) -> FloatArray:
        """(M, G) log-likelihoods of labels ``y`` (M, J) at ``theta`` (G,) from some ``terms``, up to a constant.

        terms: their indices. placed_by: (M,) the set of parameters of each system. table: ``softplus(theta)``, computed
        once for all terms.
        """
        systems = np.argsort(placed_by, kind="stable")
        sets = np.arange(int(placed_by.max(initial=-1)) + 2)
        ends = np.searchsorted(self.set[terms], sets), np.searchsorted(placed_by[systems], sets)
        return np.asarray(_at_nodes(self, terms, systems, ends, y, theta, table))


@compiled
def _at_nodes(
    kinds: SoftplusTerms,
    terms: IntArray,
    systems: IntArray,
    starts: tuple[IntArray, IntArray],
    y: FloatArray,
    theta: FloatArray,
    table: FloatArray,
) -> FloatArray:
    """See ``SoftplusTerms.at_nodes``.

    systems: sorted by set. starts: where each set begins in ``terms`` and in ``systems``.
    """
    loglik = np.zeros((len(y), len(theta)))
    slopes, levels = np.zeros(len(y)), np.zeros(len(y))
    for which in range(len(starts[0]) - 1):
        members = systems[starts[1][which] : starts[1][which + 1]]
        of_set = terms[starts[0][which] : starts[0][which + 1]]
        for start in range(0, len(of_set), _BLOCK):
            for system in members:
                row = loglik[system]
                for term in of_set[start : start + _BLOCK]:
                    label, step = y[system, kinds.rubric[term]], kinds.step[term]
                    above = label == step
                    # A product instead of a branch that the processor seldom predicts.
                    passed = above & kinds.line[term]
                    slopes[system] += passed * kinds.slope[term]
                    levels[system] += passed * kinds.intercept[term]
                    if not kinds.passes[term]:
                        if above | (label == step - 1):
                            for node in range(len(row)):
                                row[node] -= table[term, node]
                    elif above:
                        for node in range(len(row)):
                            row[node] += table[term, node]
    return loglik + slopes.reshape(-1, 1) * theta + levels.reshape(-1, 1)


def softplus_terms(sets: Sequence[ItemParameters]) -> SoftplusTerms:
    """The terms of all rubrics with parameters; infinite thresholds have no term."""
    found = [_terms_of(items) for items in sets]
    of = np.repeat(np.arange(len(sets)), [len(terms[0]) for terms in found])
    return SoftplusTerms(of, *map(np.concatenate, zip(*found, strict=True)))


def _terms_of(items: ItemParameters) -> tuple[FloatArray | IntArray | BoolArray, ...]:
    """Arrays rubric, slope, intercept, step, line and passes of ``SoftplusTerms`` for one set of parameters."""
    known = np.flatnonzero(np.isfinite(items.a))
    if items.thresholds is not None:
        row, place = np.nonzero(np.isfinite(items.thresholds[known]))
        rubric = known[row]
        slope, step = items.a[rubric], place.astype(np.int64) + 1
        intercept = -slope * items.thresholds[rubric, place]
        return (
            rubric,
            slope,
            intercept,
            step,
            np.ones(len(rubric), dtype=bool),
            np.zeros(len(rubric), dtype=bool),
        )
    a, d = items.a[known], -items.a[known] * items.b[known]
    guessed = items.c[known] > 0
    rubric = np.r_[known, known[guessed]]
    intercept = np.r_[d, d[guessed] - np.log(items.c[known][guessed])]
    second = np.ones(int(guessed.sum()), dtype=bool)
    line, passes = np.r_[~guessed, ~second], np.r_[np.zeros(len(known), dtype=bool), second]
    return rubric, np.r_[a, a[guessed]], intercept, np.ones(len(rubric), dtype=np.int64), line, passes


class ScoredItems(NamedTuple):
    """F sets of parameters of J rubrics.

    slope: (F, J). edges: (F, J, L - 1) thresholds. guess: (F, J) lower asymptotes.
    """

    slope: FloatArray
    edges: FloatArray
    guess: FloatArray


def scored_items(sets: Sequence[ItemParameters]) -> ScoredItems:
    """These sets of parameters as the arrays that ``label_scores`` and ``unit_scores`` read."""
    a, c = (np.stack([getattr(items, name) for items in sets]) for name in "ac")
    return ScoredItems(a, np.stack([items.edges for items in sets]), c)


def label_scores(items: ItemParameters, y: FloatArray, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(M', J) d log P(y_ij) / d theta at ``theta`` (M',), and the expected information; both 0 for unknown labels.

    2PL: a (y - P), a² P (1 - P). 3PL, s = sigma(a (theta - b)): a s (y - P) / P, a² s² (1 - P) / P.
    GRM, s_l = sigma(a (theta - t_l)): a (1 - s_y - s_(y+1)), a² sum_l (s_l - s_(l+1)) (1 - s_l - s_(l+1))².
    Rubrics without parameters give 0.
    """
    score, information = np.zeros(y.shape), np.zeros(y.shape)
    read, y = scored_items([items]), np.ascontiguousarray(y)

    step = max(AT_ONCE // max(y.shape[1], 1), 1)

    def fill(start: int) -> None:
        some = slice(start, start + step)
        _label_scores(read, y[some], theta[some], score[some], information[some])

    run_threads(fill, range(0, len(y), step), gains=y.size >= LARGE)
    return score, information


@compiled
def _label_scores(
    items: ScoredItems, y: FloatArray, theta: FloatArray, score: FloatArray, information: FloatArray
) -> None:
    """Fill ``score`` and ``information`` (M', J) in place, at the known labels of rubrics with parameters."""
    for system in range(len(y)):
        for rubric in range(y.shape[1]):
            label = y[system, rubric]
            if np.isfinite(label) and np.isfinite(items.slope[0, rubric]):
                found = _label_score(items, 0, rubric, label, theta[system])
                score[system, rubric], information[system, rubric] = found


class UnitScores(NamedTuple):
    """Sums of the label scores by unit and system. sums, squares, labels: (n, M) of scores, their squares, and counts.

    information: (M,) sum over the system's labels. saturated: (M,) 1 if all its labels are the highest level, -1 if all
    are the lowest, else 0.
    """

    sums: FloatArray
    squares: FloatArray
    labels: FloatArray
    information: FloatArray
    saturated: IntArray


@compiled
def unit_scores(
    items: ScoredItems,
    placed_by: IntArray,
    y: FloatArray,
    use: BoolArray,
    levels: IntArray,
    theta: FloatArray,
    units: IntArray,
) -> UnitScores:
    """``label_scores`` of y (M, J), each system with the parameters of its set, summed by unit.

    placed_by: (M,) set of each system. use: (F, J) which rubrics of each set count; all of them must have parameters.
    levels: (J,) numbers of levels. theta: (M,). units: (J,) unit of each rubric, from 0; -1 for rubrics that no set
    uses.
    """
    shape = 0 if len(units) == 0 else units.max() + 1, len(y)
    sums, squares, labels = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    found = UnitScores(sums, squares, labels, np.zeros(len(y)), np.zeros(len(y), dtype=np.int64))
    for which in range(len(use)):
        chosen = np.flatnonzero(use[which])
        for system in np.flatnonzero(placed_by == which):
            top = bottom = True
            for rubric in chosen:
                label = y[system, rubric]
                if np.isfinite(label):
                    score, information = _label_score(items, which, rubric, label, theta[system])
                    found.sums[units[rubric], system] += score
                    found.squares[units[rubric], system] += score * score
                    found.labels[units[rubric], system] += 1
                    found.information[system] += information
                    top, bottom = top and label == levels[rubric] - 1, bottom and label == 0
            found.saturated[system] = int(top) - int(bottom)
    return found


@compiled
def _label_score(
    items: ScoredItems, which: int, rubric: int | np.int64, label: float, theta: float
) -> tuple[float, float]:
    """Score and information of one label, by the formulas of ``label_scores``."""
    a, c, edges = items.slope[which, rubric], items.guess[which, rubric], items.edges[which, rubric]
    if len(edges) == 1:
        s = 1 / (1 + np.exp(-a * (theta - edges[0])))
        if not c > 0:
            return a * (label - s), a * a * s * (1 - s)
        p = c + (1 - c) * s
        return a * s * (label - p) / p, (a * s) ** 2 * (1 - p) / p
    score, information, above = 0.0, 0.0, 1.0
    for level in range(len(edges) + 1):
        below = 0.0  # no threshold above: the rubric's last level, or beyond it
        if level < len(edges) and not np.isnan(edges[level]):
            below = 1 / (1 + np.exp(-a * (theta - edges[level])))
        rise = 1 - above - below
        if label == level:
            score = a * rise
        information += (above - below) * rise**2
        above = below
    return score, a * a * information
