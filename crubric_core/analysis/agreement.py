"""How far two standings of the same systems agree: by separated pairs, or by an order that has no error of its own."""

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
    """A standing, and what else ranks the same systems.

    name: of the other, as the subject of a sentence. separated: pairs that the first standing separates, of systems
    that the other knows. kept, reversed: of these, ordered alike, and the other way, by the other. example: the first
    reversed pair, positions (ahead by the other, ahead in the first). rho: Spearman's correlation; NaN unknown, and
    where either ranks groups of systems that have no common scale, and so no order.
    tested: the other's pairs count only where it separates them; else it is an order without error.
    among: of how many systems, where the other does not know all that the first ranks; else None.
    turned: pairs that the other separates against the order of the first, which does not separate them. turned_example:
    the first of these, as ``example``.
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
    """(M, M) 1 where the row is separated above the column, -1 below, 0 where the pair is not separated."""
    return np.where(standing.separated, np.sign(np.nan_to_num(standing.difference)), 0).astype(np.int64)


def compare_standing(name: str, first: Inference, other: Inference) -> OtherRanking:
    """``other`` compared with ``first``, both of the same M systems in the same order."""
    ordered = other.n_groups == 1
    return _compare(name, first, directions(other), other.estimate, tested=True, ordered=ordered)


def compare_order(name: str, first: Inference, values: FloatArray) -> OtherRanking:
    """An order by values (M,), higher better and NaN unknown, compared with ``first``."""
    apart = values[:, None] - values
    return _compare(name, first, np.sign(np.nan_to_num(apart)).astype(np.int64), values, tested=False)


def mean_scores(y: FloatArray, levels: IntArray, query: IntArray, use: BoolArray, n: int) -> FloatArray:
    """(M, n) plain mean of the labels y (M, J) on the rubrics ``use`` of each query, as shares of the full mark."""
    share = np.where(use, y / (levels - 1), np.nan)
    system, rubric = np.nonzero(np.isfinite(share))
    return cell_means(system, query[rubric], share[system, rubric], (len(y), n))


def cell_means(system: IntArray, query: IntArray, share: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """(M, n) mean share of the cells (C,) of each system and query; NaN where there is none."""
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
    """Claims about the mean of scores (M, n) over queries of equal weight. domains: the units in place of these.

    Systems that too few queries link are not compared.
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
    """The first of some pairs (n, 2), the system first that is above by the other; None without any."""
    if not len(pairs):
        return None
    i, k = (int(at) for at in pairs[0])
    return (i, k) if other[i, k] > 0 else (k, i)
