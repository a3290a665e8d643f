"""Compare groups of queries or rubrics with the board: whether a group separates a pair of the board the other way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..leaderboard.inference import infer
from ..leaderboard.influence import score_influence
from ..text import count, listed, short_names, verb
from .agreement import OtherRanking, compare_standing, mean_scores
from .board import LONGEST, name
from .dimensions import dimension_list, dimension_names
from .selection import query_positions

if TYPE_CHECKING:
    import pandas as pd

    from ..labels.store.reduction import Reduction
    from ..leaderboard.inference import Inference
    from ..types import BoolArray, FloatArray, IntArray

NAMED = 3  # groups that a sentence names


def dimension_scores(
    reduction: Reduction, use: BoolArray, queries: pd.DataFrame
) -> tuple[tuple[str, ...], list[FloatArray]]:
    """Sorted names of the dimensions, and for each its scores (M, N): plain shares of the mark by query, NaN without.

    use: (M, J) rubrics that count for each system. Rubrics without a dimension are left out.
    """
    named, names, at = (
        dimension_names(reduction),
        dimension_list(reduction),
        query_positions(queries, reduction),
    )
    scores = []
    for each in names:
        its = np.flatnonzero(named == each)
        scores.append(
            mean_scores(reduction.y[:, its], reduction.levels[its], at[its], use[:, its], len(queries))
        )
    return names, scores


def compare_groups(
    names: Sequence[str],
    scores: Sequence[FloatArray],
    weights: FloatArray,
    shown: Inference,
    systems: IntArray,
    seed: int,
) -> tuple[OtherRanking, ...]:
    """Compare the pairs of ``systems`` (positions) that the board ``shown`` separates with each group's scores.

    scores: for each of G groups (M, N), NaN outside the group. weights: (N,) of the queries. The level holds for all
    pairs of all groups at once: each group has the level 1 - (1 - level) / G. () if the panels are unequal.
    """
    if shown.allowance is not None:
        return ()
    level = 1 - (1 - shown.confidence) / max(len(names), 1)
    return tuple(
        compare_standing(
            each,
            _only(shown, systems),
            infer(
                score_influence(group[systems], weights),
                np.random.default_rng([seed, 7, at]),
                confidence=level,
                simultaneous=True,
            ),
        )
        for at, (each, group) in enumerate(zip(names, scores, strict=True))
    )


def judges_sentence(by: str) -> str:
    """A sentence on why pairs are not compared by group if systems have different judges in one.

    by: what the groups are, for example "domain".
    """
    return (
        f"Whether separated pairs are reversed in a {by} is not shown: the systems have different judges there, and "
        "what differs between judges would look like a difference between systems."
    )


def group_sentence(by: str, found: Sequence[OtherRanking], systems: Sequence[str], level: str) -> str:
    """A sentence on which groups separate pairs of the board the other way; "" if there are no pairs to compare.

    by: what the groups are, for example "domain". systems: names of the compared systems.
    """
    pairs = max((each.separated for each in found), default=0)
    if not pairs:
        return ""
    turned = [each for each in found if each.reversed]
    told = f"of the {count(pairs, 'separated pair')} shown"
    if not turned:
        return f"No {by} separates any {told} the other way at {level}."
    first = max(turned, key=lambda each: each.reversed)
    above, below = short_names([systems[at] for at in first.example or (0, 0)], LONGEST)
    number = len(turned)
    return (
        f"{number:,} of {count(len(found), by)} {verb(number, 'separate')} some {told} the other way at {level}: "
        f"{listed([name(each.name) for each in turned], NAMED)}. In {name(first.name)}, {above} is ahead of {below}."
    )


def _only(shown: Inference, systems: IntArray) -> Inference:
    """The standing restricted to ``systems``, in the fields that ``compare_standing`` reads."""
    square = np.ix_(systems, systems)
    return replace(
        shown,
        estimate=shown.estimate[systems],
        rank=shown.rank[systems],
        difference=shown.difference[square],
        separated=shown.separated[square],
        group=None if shown.group is None else shown.group[systems],
    )
