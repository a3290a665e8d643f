"""Compare a standing of the systems with another standing, or with an order of them that has no standard errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..intervals import ratio
from ..leaderboard.inference import Inference, infer
from ..leaderboard.influence import Domains, score_influence
from ..ranks import rank_correlation
from ..types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class OtherRanking:
    """Comparison of a first standing with another ranking of the same systems.

    name: name of the other ranking, as the subject of a sentence. separated: number of pairs that the first standing
    separates and whose systems the other ranks. kept, reversed: how many of these the other orders alike, and the other
    way. example: positions of the first reversed pair (ahead in the other, ahead in the first). rho: Spearman's
    correlation; NaN if unknown, or if either ranks groups of systems that have no common scale and so no order.
    tested: whether the other counts only for pairs that it separates; else it is an order without standard errors.
    among: how many systems both rank, if the other lacks some that the first ranks; else None.
    turned: number of pairs that the first does not separate and that the other separates against the first one's order.
    turned_example: the first of these pairs, in the form of ``example``.
    """

    name: str
    separated: int
    kept: int
    reversed: int
    example: tuple[int, int] | None
    rho: float
    tested: bool
    among: int | None = None
    turned: int = 0
    turned_example: tuple[int, int] | None = None


def directions(standing: Inference) -> IntArray:
    """(M, M) 1 if the row's system is separated above the column's, -1 if below, 0 if the pair is not separated."""
    return np.where(standing.separated, np.sign(np.nan_to_num(standing.difference)), 0).astype(np.int64)


def compare_standing(name: str, first: Inference, other: Inference) -> OtherRanking:
    """Compare ``other`` with ``first``; both are of the same M systems in the same order."""
    ordered = other.n_groups == 1
    return _compare(name, first, directions(other), other.estimate, tested=True, ordered=ordered)


def compare_order(name: str, first: Inference, values: FloatArray) -> OtherRanking:
    """Compare the order of the values (M,), higher is better and NaN unknown, with ``first``."""
    apart = values[:, None] - values
    return _compare(name, first, np.sign(np.nan_to_num(apart)).astype(np.int64), values, tested=False)


def mean_scores(y: FloatArray, levels: IntArray, query: IntArray, use: BoolArray, n: int) -> FloatArray:
    """(M, n) plain mean of the labels y on the rubrics ``use`` of each query, as shares of the mark; NaN if unlabelled.

    y: (M, J) levels. levels: (J,) numbers of levels. query: (J,) position of each rubric's query. use: (J,) or (M, J).
    """
    share = np.where(use, y / (levels - 1), np.nan)
    system, rubric = np.nonzero(np.isfinite(share))
    return cell_means(system, query[rubric], share[system, rubric], (len(y), n))


def cell_means(system: IntArray, query: IntArray, share: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """(M, n) mean share of each system on each query, from its cells (C,); NaN if it has no cell there."""
    at = np.ravel_multi_index((system, query), shape)
    sums, counts = (np.bincount(at, weights, shape[0] * shape[1]) for weights in (share, None))
    return ratio(sums, counts).reshape(shape)


def mean_standing(
    scores: FloatArray,
    confidence: float,
    seed: int,
    *,
    simultaneous: bool,
    domains: Domains | None = None,
) -> Inference:
    """Claims about each system's mean of the scores (M, n) over queries of equal weight.

    domains: units of evidence in place of the queries. Systems that share too few queries are not compared.
    """
    evidence = score_influence(scores, np.ones(scores.shape[1]), domains=domains)
    rng = np.random.default_rng([seed, 4])
    return infer(evidence, rng, confidence=confidence, simultaneous=simultaneous)


def _compare(
    name: str, first: Inference, other: IntArray, values: FloatArray, *, tested: bool, ordered: bool = True
) -> OtherRanking:
    known = np.isfinite(first.estimate) & np.isfinite(values)
    here = np.triu(np.where(np.outer(known, known), directions(first), 0))
    against = np.argwhere(here * other < 0)
    order = np.nan_to_num(np.sign(first.estimate[:, None] - first.estimate))
    unseparated = np.triu(np.outer(known, known) & (directions(first) == 0))
    turned = np.argwhere(unseparated & (order * other < 0)) if tested else against[:0]
    return OtherRanking(
        name=name,
        separated=int(np.count_nonzero(here)),
        kept=int(np.count_nonzero(here * other > 0)),
        reversed=len(against),
        example=_first(against, other),
        rho=float(rank_correlation(first.estimate[known], values[known]))
        if ordered and first.n_groups == 1
        else float("nan"),
        tested=tested,
        among=int(known.sum()) if (np.isfinite(first.estimate) & ~known).any() else None,
        turned=len(turned),
        turned_example=_first(turned, other),
    )


def _first(pairs: IntArray, other: IntArray) -> tuple[int, int] | None:
    """The first of the pairs (n, 2), with the system that the other ranking puts above in front; None without pairs."""
    if not len(pairs):
        return None
    i, k = (int(at) for at in pairs[0])
    return (i, k) if other[i, k] > 0 else (k, i)
