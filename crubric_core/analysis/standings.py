"""Build the board of a ranking, and compare other standings of the systems with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..intervals import cluster_sums
from ..judges.anchors import gold_cells
from .agreement import (
    OtherRanking,
    cell_means,
    compare_order,
    compare_standing,
    mean_standing,
)
from .board import Board, Labelled
from .columns import PLACES
from .selection import domains_of, query_positions

if TYPE_CHECKING:
    from ..judges.gate_price import GateVerdict
    from ..labels.store.reduction import Reduction
    from ..leaderboard.inference import Inference
    from ..settings import Settings
    from ..types import FloatArray
    from .result import Ranking

SCORE = "the score without the model's weights"
EVERY = "the ranking on every rubric, gate or not,"
PASSING = "the ranking on all rubrics that pass"
GOLD = "the mean of the human labels"
CORRECTED = "the judges' mean label, corrected by the human labels,"
REFERENCE = "the human ranking"


def board_of(
    systems: tuple[str, ...],
    ranking: Ranking,
    settings: Settings,
    verdict: GateVerdict,
    *,
    gated: bool,
    n_judges: int,
) -> Board:
    """The board of a ranking. If the verdict does not hold, it refuses claims about which systems are ahead."""
    return Board(
        systems=systems,
        standing=ranking.standing,
        comparisons=ranking.comparisons,
        by_score=ranking.method == "score",
        n_rubrics=ranking.n_rubrics,
        settings=settings,
        gated=gated,
        refused="" if verdict.holds else verdict.sentence,
        n_judges=n_judges,
        unequal=ranking.ability.allowance is not None,
        in_common=_in_common(ranking),
        **_labelled(ranking),
    )


def _in_common(ranking: Ranking) -> tuple[int, int] | None:
    """(queries on which both have scores, queries asked of both) for the two ranked systems with the least share.

    Pairs of different groups do not count; None if there is no pair.
    """
    standing, scores = ranking.standing, ranking.scores
    known = np.isfinite(scores.by_query)
    banks = ranking.use[:, ranking.use.any(axis=0)]
    asked = np.array([np.bincount(scores.query_index[bank], minlength=known.shape[1]) > 0 for bank in banks])
    asked = asked[ranking.fold] & known.any(axis=0)
    both, of = (np.asarray(one.astype(np.float64) @ one.T) for one in (known & asked, asked))
    pairs = (of > 0) & standing.ranked[:, None] & standing.ranked & ~np.eye(len(known), dtype=bool)
    if standing.group is not None:
        pairs &= standing.group[:, None] == standing.group
    if not pairs.any():
        return None
    least = np.unravel_index(np.argmin(np.where(pairs, both / np.maximum(of, 1), np.inf)), pairs.shape)
    return int(both[least]), int(of[least])


def _labelled(ranking: Ranking) -> dict[str, Labelled]:
    """On how many of the queries, and of the rubrics, that place it each system has consensus labels."""
    scores = ranking.scores
    asked, known = ranking.use[:, ranking.use.any(axis=0)], np.isfinite(scores.by_query)
    scored = np.flatnonzero(known.any(axis=0))
    queries = np.array([np.isin(scored, scores.query_index[bank]).sum() for bank in asked])[ranking.fold]
    labelled, rubrics = np.isfinite(scores.points), asked.sum(axis=1)[ranking.fold]
    on, together = labelled.sum(axis=1), np.ones(len(labelled))
    if (on < rubrics).any():
        by_query, of = (
            cluster_sums(every.T.astype(np.float64), scores.query_index, known.shape[1]).T
            for every in (labelled, asked)
        )
        together = missing_together(by_query, of[ranking.fold])
    return {
        "queries": Labelled(known.sum(axis=1), queries),
        "rubrics": Labelled(on, rubrics, together),
    }


def missing_together(known: FloatArray, asked: FloatArray) -> FloatArray:
    """(M,) how many rubrics are missing at once: from 1 (each independently) to all rubrics of the mean query.

    It is the variance of the number of labelled rubrics over the system's queries, as a multiple of the variance if
    rubrics were missing independently: of the system or of all systems, whichever is larger. known: (M, N) number of
    labelled rubrics of each query. asked: (M, N) number of all its rubrics.
    """
    queries = (asked > 0).sum(axis=1)
    share = (known.sum(axis=1) / np.maximum(asked.sum(axis=1), 1))[:, None]
    found = ((known - asked * share) ** 2).sum(axis=1) * queries / np.maximum(queries - 1, 1)
    alone = (asked * share * (1 - share)).sum(axis=1)
    own = np.divide(found, alone, out=np.ones(len(found)), where=alone > 0)
    pooled = found.sum() / alone.sum() if alone.sum() > 0 else 1.0
    return np.clip(np.maximum(own, pooled), 1.0, max(asked.sum() / max(queries.sum(), 1), 1.0))


def without_places(table: pd.DataFrame) -> pd.DataFrame:
    """A leaderboard that makes no claim about order: sorted by name, with the columns PLACES unknown."""
    places = dict.fromkeys(PLACES, pd.array([pd.NA] * len(table), dtype="Int64"))
    return table.assign(**places).sort_values("system", ignore_index=True)


def claimed(table: pd.DataFrame, verdict: GateVerdict) -> pd.DataFrame:
    """The leaderboard as it may be published: without places if the verdict allows no claim about systems."""
    return table if verdict.holds else without_places(table)


def gold_standing(
    gold: pd.DataFrame, reduction: Reduction, queries: pd.DataFrame, settings: Settings
) -> Inference:
    """Claims about the mean human labels of each system, by the board's units; a system without any is not ranked.

    An even split of people counts as half of the mark.
    """
    cells = gold_cells(gold, reduction, split=0.5)
    share = cells.level / (reduction.levels[cells.rubric] - 1)
    query = query_positions(queries, reduction)[cells.rubric]
    scores = cell_means(cells.system, query, share, (len(reduction.systems), len(queries)))
    return mean_standing(
        scores,
        settings.confidence,
        settings.seed,
        simultaneous=settings.simultaneous,
        domains=domains_of(queries, reduction, settings),
    )


def reference_order(reference: pd.DataFrame, systems: tuple[str, ...]) -> FloatArray:
    """(M,) the human ranking as values, higher is better; NaN for a system that it does not name.

    The values are its scores, or minus its ranks if no system has a score.
    """
    found = reference.drop_duplicates("system").set_index("system").reindex(systems)
    rank, score = (found[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in ("rank", "score"))
    return score if np.isfinite(score).any() else -rank


def others(
    shown: Inference, standings: Mapping[str, Inference], reference: FloatArray
) -> tuple[OtherRanking, ...]:
    """Compare each standing, and the human ranking (M,), with the one shown; those that rank no system are skipped."""
    found = [compare_standing(name, shown, other) for name, other in standings.items() if other.ranked.any()]
    if np.isfinite(reference).any():
        found.append(compare_order(REFERENCE, shown, reference))
    return tuple(found)
