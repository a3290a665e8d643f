"""Claims about systems' places, groups of queries and weights of queries, where the truth is known.

Labels of judges as in ``false_differences``: rubrics that follow the 2PL, three judges, a system × query effect of .7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.special import expit

from benchmarks.false_differences import labels
from benchmarks.inference_designs import judged
from benchmarks.tables import short
from crubric_core import fit_irt
from crubric_core.analysis.groups import compare_groups
from crubric_core.analysis.profile import group_scores
from crubric_core.leaderboard.cross_fit import cross_fit
from crubric_core.leaderboard.inference import Inference, infer
from crubric_core.leaderboard.influence import ability_influence, as_equal, score_influence
from crubric_core.task_types.scoring import query_scores

BINS = (0.5, 0.7, 0.9, 0.975, 1.0 + 1e-9)
WEIGHTS: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "equal": lambda n, rng: np.ones(n),
    "lognormal, sd 1": lambda n, rng: np.exp(rng.normal(size=n)),
    "lognormal, sd 2": lambda n, rng: np.exp(2 * rng.normal(size=n)),
    "three of 50, others 1": lambda n, rng: np.where(np.arange(n) < 3, 50.0, 1.0),
}

SIZES = {
    "30 of 6": [6] * 30,
    "1 of 60, 29 of 4": [60] + [4] * 29,
    "3 of 40, 30 of 2": [40] * 3 + [2] * 30,
    "2 of 100, 40 of 3": [100] * 2 + [3] * 40,
    "2 of 20, 38 of 3": [20] * 2 + [3] * 38,
}  # number of rubrics of each query


def _scores(theta: np.ndarray, queries: int, per_query: int, seed: int) -> np.ndarray:
    y, query = labels(theta, queries, per_query, "plain", seed)
    return query_scores(y, np.ones(y.shape[1]), query, queries)


def _board(theta: np.ndarray, queries: int, seed: int) -> Inference:
    scores = _scores(theta, queries, 4, seed)
    return infer(score_influence(scores, np.ones(queries)), np.random.default_rng(seed))


def probabilities(tables: int) -> Iterator[tuple[object, ...]]:
    """Stated and true probabilities that a system is ahead of another, and among the first three.

    A system that is far below the others (the last rows) is not counted.
    """
    yield "systems", "queries", "their sd", "what", ".5 to .7", ".7 to .9", ".9 to .975", "above"
    for size, queries, spread, far in (
        (15, 30, 0.1, 0),
        (15, 30, 1.0, 0),
        (8, 10, 0.3, 0),
        (8, 100, 0.3, 0),
        (15, 30, 0.1, 1),
        (8, 30, 0.1, 1),
    ):
        alone, ahead, first = [], [], []
        near = np.arange(size) >= far
        for seed in range(tables):
            theta = spread * np.random.default_rng([31, seed]).normal(size=size)
            theta[~near] = -3.0
            found, off = _board(theta, queries, seed), ~np.eye(size, dtype=bool) & np.outer(near, near)
            p = found.p_value / 2
            alone.append((np.where(found.difference > 0, 1 - p, p)[off], (theta[:, None] > theta)[off]))
            ahead.append((found.ahead[off], (theta[:, None] > theta)[off]))
            third = (theta > theta[:, None]).sum(axis=1) < 3
            first.append((found.rank_probability[near, 2], third[near]))
        told = f"{spread}, one 3 lower" if far else spread
        for what, pairs in (("1 − p/2", alone), ("ahead", ahead), ("among the first 3", first)):
            stated, true = (np.concatenate(column) for column in zip(*pairs, strict=True))
            yield size, queries, told, what, *calibration(stated, true)


def calibration(stated: np.ndarray, true: np.ndarray, bins: tuple[float, ...] = BINS) -> Iterator[str]:
    """For each bin of stated probabilities: their mean, the share that is true, and in brackets the share in the bin.

    — for an empty bin.
    """
    for low, high in pairwise(bins):
        some = (stated >= low) & (stated < high)
        yield (
            f"{short(stated[some].mean())}, {short(true[some].mean())} ({some.mean():.0%})"
            if some.any()
            else "—"
        )


def weights(tables: int) -> Iterator[tuple[object, ...]]:
    """Shares of boards of identical systems, by scores with unequal weights of queries, that separate any pair."""
    yield "weights of the queries", "4 systems, 30 queries", "4 systems, 8 queries", "8 systems, 60 queries"
    for name, draw in WEIGHTS.items():
        rates = []
        for size, queries in ((4, 30), (4, 8), (8, 60)):
            false = []
            for seed in range(tables):
                omega = draw(queries, np.random.default_rng([32, seed]))
                found = score_influence(_scores(np.zeros(size), queries, 4, seed), omega)
                false.append(infer(found, np.random.default_rng(seed)).separated.any())
            rates.append(short(float(np.mean(false))))
        yield name, *rates


def uneven(tables: int) -> Iterator[tuple[object, ...]]:
    """Shares of boards of eight identical systems, on queries of unequal sizes, that separate any pair."""
    yield "queries and their rubrics", "system × query sd", "counted as equal", "by their labels"
    for name, sizes in SIZES.items():
        for effect in (0.0, 0.7):
            rates = np.mean([_uneven_board(sizes, effect, seed) for seed in range(tables)], axis=0)
            yield name, effect, *(short(float(rate)) for rate in rates)


def _uneven_board(sizes: list[int], effect: float, seed: int) -> tuple[bool, bool]:
    """Whether any pair is separated: with every query as an equal unit, and as on the board."""
    rng, query = np.random.default_rng([34, seed]), np.repeat(np.arange(len(sizes)), sizes)
    a, b = np.exp(rng.normal(0, 0.4, len(query))), rng.normal(0, 1.2, len(query))
    mood = effect * rng.normal(size=(8, len(sizes)))[:, query]
    y = judged(rng.random(mood.shape) < expit(mood - a * b), "plain", rng)
    fit = fit_irt(y)
    board, used = ability_influence(cross_fit(y, fit), ~fit.constant, query), query[~fit.constant]
    counts = np.unique(used, return_counts=True)[1].astype(float)[:, None]
    plain = board.psi / as_equal(counts)[0]
    equal = replace(board, psi=plain, n_units=np.full(8, len(counts)), unequal=False)
    first, second = (bool(infer(x, np.random.default_rng(seed)).separated.any()) for x in (equal, board))
    return first, second


def groups(tables: int) -> Iterator[tuple[object, ...]]:
    """One system compared with others of its ability on a group of queries: how often the interval holds 0."""
    yield "queries", "rubrics each", "passed", "held"
    for queries, per_query, level in ((5, 4, 0.0), (20, 4, 0.0), (10, 1, 5.0), (20, 1, 5.0), (20, 4, 5.0)):
        held, passed = [], []
        for seed in range(tables):
            scores = _scores(np.full(8, level), queries, per_query, seed)
            passed.append(scores.mean())
            for system in range(8):
                found = group_scores(["all"], [scores], np.ones(queries), system)
                held.append(found.low[0] <= 0 <= found.high[0])
        yield queries, per_query, short(float(np.mean(passed))), short(float(np.mean(held)))


def turned(tables: int) -> Iterator[tuple[object, ...]]:
    """Boards of eight systems on six domains of twenty queries: how often a domain reverses a separated pair."""
    yield "their sd", "one system in one domain", "tables with a pair the other way", "of another system"
    names, domain = list("abcdef"), np.arange(120) // 20
    for spread, worse in ((0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (0.5, 3.0)):
        told, wrong = [], []
        for seed in range(tables):
            theta = spread * np.random.default_rng([33, seed]).normal(size=8)
            best, there = int(theta.argmax()), theta.copy()
            there[best] -= worse
            whole, last = (_scores(level, 120, 4, seed) for level in (theta, there))
            scores = np.where(domain == 5, last, whole)
            shown = infer(score_influence(scores, np.ones(120)), np.random.default_rng(seed))
            parts = [np.where(domain == g, scores, np.nan) for g in range(6)]
            found = compare_groups(names, parts, np.ones(120), shown, np.arange(8), seed)
            told.append(any(each.reversed for each in found))
            wrong.append(any(each.example is not None and best not in each.example for each in found))
        low = f"{worse:.1f} lower" if worse else "as elsewhere"
        yield spread, low, *(short(float(np.mean(each)), ".3f") for each in (told, wrong))
