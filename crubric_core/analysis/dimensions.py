"""Abilities by dimension of the rubrics, and whether they differ from a single ability (docs/method.md §12).

Each dimension's rubrics are fitted separately (simple structure), and no system is placed by parameters fitted on its
own labels. Two dimensions order the systems differently only if they separate a pair in opposite ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..irt.fit import IrtFit, fit_irt
from ..leaderboard import cross_fit
from ..leaderboard.cross_fit import FEW_SYSTEMS, CrossFit, FoldFits, too_few_to_cross_fit
from ..leaderboard.inference import Inference, infer, marginal_intervals
from ..leaderboard.influence import ability_influence
from ..leaderboard.traits import Correlation, latent_correlation, traits_of
from ..text import count, numeral, short_names, verb
from .agreement import directions
from .board import LONGEST, name
from .selection import query_positions

if TYPE_CHECKING:
    from ..labels.store.reduction import Reduction
    from ..leaderboard.influence import Domains
    from ..settings import Settings
    from ..types import BoolArray, FloatArray, IntArray, Progress

FEWEST_QUERIES = 10  # of a dimension; fewer do not show how its errors correlate with another's

Fits = tuple[IrtFit, FoldFits]


@dataclass(frozen=True)
class Dimensions:
    """Abilities of M systems on D dimensions; each dimension has its own scale.

    names: the D dimensions. left_out: dimensions with rubrics on too few queries. standings: one for each dimension,
    with pairs separated at a level that holds for all dimensions together. low, high: (D, M) interval of each ability
    alone, at the settings' level. pairs: positions of the two dimensions of each pair. correlations: of the abilities
    of each pair, with intervals that hold for all pairs together.
    """

    names: tuple[str, ...]
    left_out: tuple[str, ...]
    standings: tuple[Inference, ...]
    low: FloatArray
    high: FloatArray
    pairs: tuple[tuple[int, int], ...]
    correlations: tuple[Correlation, ...]

    def correlation_table(self) -> pd.DataFrame:
        """Table with first, second (dimensions), correlation, low, high; ascending, with unknown correlations last."""
        rows = [
            (self.names[a], self.names[b], found.shown, found.low, found.high)
            for (a, b), found in zip(self.pairs, self.correlations, strict=True)
        ]
        table = pd.DataFrame(rows, columns=["first", "second", "correlation", "low", "high"])
        return table.sort_values("correlation", kind="stable", ignore_index=True)

    def ability_table(self, systems: Sequence[str]) -> pd.DataFrame:
        """Table with a row for each dimension and system: system, dimension, theta, low, high; NaN if not ranked."""
        parts = [
            pd.DataFrame(
                {
                    "system": list(systems),
                    "dimension": each,
                    "theta": standing.estimate,
                    "low": low,
                    "high": high,
                }
            )
            for each, standing, low, high in zip(self.names, self.standings, self.low, self.high, strict=True)
        ]
        return pd.concat(parts, ignore_index=True)


def dimension_names(reduction: Reduction) -> np.ndarray:
    """(J,) dimension of each rubric, without blanks around it; "" if it has none."""
    return reduction.rubrics["dimension"].fillna("").astype(str).str.strip().to_numpy(dtype=object)


def dimension_list(reduction: Reduction) -> tuple[str, ...]:
    """The sorted names of all dimensions."""
    return tuple(sorted({name for name in dimension_names(reduction) if name}))


def measurable(reduction: Reduction, use: BoolArray, query_index: IntArray) -> tuple[list[str], list[str]]:
    """Dimensions with rubrics of ``use`` (J,) on FEWEST_QUERIES or more, and all others; both lists sorted by name."""
    named = dimension_names(reduction)
    enough: list[str] = []
    few: list[str] = []
    for each in dimension_list(reduction):
        queries = np.unique(query_index[use & (named == each)])
        (enough if len(queries) >= FEWEST_QUERIES else few).append(each)
    return enough, few


def dimension_fits(
    reduction: Reduction,
    varying: BoolArray,
    query_index: IntArray,
    settings: Settings,
    progress: Progress | None = None,
) -> tuple[Fits, ...]:
    """For each measurable dimension: the model of its varying rubrics (J,) alone, and its fits without each fold."""
    named, found = dimension_names(reduction), []
    names = measurable(reduction, varying, query_index)[0]
    for at, each in enumerate(names):
        if progress is not None:
            progress(at / len(names), f"Fitting dimension {at + 1} of {len(names)} without each system")
        its = np.flatnonzero((named == each) & varying)
        y = reduction.y[:, its]
        fit = fit_irt(y, settings.model, settings.quadrature, settings.priors, levels=reduction.levels[its])
        found.append((fit, cross_fit.fold_fits(y, fit)))
    return tuple(found)


def by_dimension(
    reduction: Reduction,
    fits: Sequence[Fits],
    varying: BoolArray,
    pool: BoolArray,
    queries: pd.DataFrame,
    settings: Settings,
    domains: Domains | None = None,
    progress: Progress | None = None,
) -> Dimensions | str:
    """Abilities by dimension and their correlations on the rubrics of ``pool`` (J,), or a sentence why there are none.

    fits: result of ``dimension_fits`` for these ``varying`` (J,) rubrics. domains: units of evidence in place of
    queries.
    """
    query_index, named = query_positions(queries, reduction), dimension_names(reduction)
    unit_index = query_index if domains is None else domains.of[query_index]
    fitted = dict(zip(measurable(reduction, varying, query_index)[0], fits, strict=True))
    names, few = measurable(reduction, pool, unit_index)
    names, few = (
        [each for each in names if each in fitted],
        [*few, *(each for each in names if each not in fitted)],
    )
    if len(names) < 2:
        unit = "queries" if domains is None else "domains"
        return f"Abilities by dimension need two dimensions with rubrics that pass on {FEWEST_QUERIES} {unit} or more."
    claims, plain, units = [], [], []
    for each in names:
        its = np.flatnonzero((named == each) & varying)
        cross = CrossFit.of(reduction.y[:, its], *fitted[each])
        claims.append(ability_influence(cross, pool[its], query_index[its], domains=domains))
        plain.append(claims[-1] if domains is None else ability_influence(cross, pool[its], query_index[its]))
        of_rows = np.unique(query_index[its][pool[its]])
        units.append(of_rows if domains is None else domains.of[of_rows])
    if any(found.group is not None and np.ptp(found.group[found.ranked]) for found in claims):
        return "There are no abilities by dimension, since too few queries of a dimension link the systems."
    level = 1 - (1 - settings.confidence) / len(names)
    standings = tuple(
        infer(found, np.random.default_rng([settings.seed, 9, at]), confidence=level)
        for at, found in enumerate(claims)
    )
    pairs, traits = tuple(combinations(range(len(names)), 2)), traits_of(plain, units)
    of_all = 1 - (1 - settings.confidence) / len(pairs)
    low, high = zip(*(marginal_intervals(found, settings.confidence) for found in claims), strict=True)
    correlations = []
    for at, pair in enumerate(pairs):
        if progress is not None:
            progress(at / len(pairs), f"Correlation {at + 1} of {len(pairs)} of the dimensions")
        correlations.append(latent_correlation(traits, *pair, of_all))
    return Dimensions(
        names=tuple(names),
        left_out=tuple(few),
        standings=standings,
        low=np.stack(low),
        high=np.stack(high),
        pairs=pairs,
        correlations=tuple(correlations),
    )


def numbered(names: np.ndarray) -> IntArray:
    """The group of each element as a number from 0, in the sorted order of the groups' names; -1 for "" or None."""
    known = np.array([bool(each) for each in names], dtype=bool)
    found = np.full(len(names), -1)
    found[known] = np.unique(names[known].astype(str), return_inverse=True)[1]
    return found


def unfit(n_systems: int, judges_differ: bool, settings: Settings) -> str:
    """A sentence on why these labels give no abilities by dimension; "" if they may give some.

    judges_differ: whether systems have different judges, on all rubrics or on the rubrics of a dimension.
    """
    if not settings.cross_fitted:
        return "Abilities by dimension need cross-fitted abilities (Settings)."
    if too_few_to_cross_fit(n_systems):
        return f"Abilities by dimension need {FEW_SYSTEMS} systems or more."
    if judges_differ:
        return (
            "There are no abilities by dimension: the systems have different judges, and what differs between judges "
            "would look like a difference in ability."
        )
    return ""


def one_ability_sentence(found: Dimensions, level: str) -> str:
    """Sentences on whether the correlations show that the dimensions are more than one ability."""
    size = count(int(found.standings[0].ranked.sum()), "system")
    apart = [
        (each, pair) for each, pair in zip(found.correlations, found.pairs, strict=True) if each.high < 1
    ]
    which = "the two dimensions" if len(found.names) == 2 else "any two dimensions"
    if all((each.low, each.high) == (-1, 1) for each in found.correlations):
        return f"{size} show nothing about how {which} correlate at {level}."
    if not apart:
        sentence = f"By correlation, {size} cannot tell {which} from one ability"
        return f"{sentence}: {_reach(found)} 1 at {level}, corrected for noise."
    least, pair = min(apart, key=lambda each: each[0].high)
    a, b = (name(found.names[at]) for at in pair)
    sentence = (
        f"{a} and {b} are not one ability: they correlate at {_two(least.value)} ({_two(least.low)} to "
        f"{_two(least.high)} at {level}), corrected for noise."
    )
    if len(found.pairs) > 1:
        pairs = f"{len(apart):,} of {len(found.pairs):,} pairs of dimensions"
        sentence += f" {pairs} {verb(len(apart), 'are')} more than one ability."
    return sentence


def opposed(found: Dimensions, board: Inference) -> BoolArray:
    """(M, M) pairs that a dimension separates one way, and another dimension or the board the other way.

    Only the upper triangle is filled, so that each pair counts once.
    """
    up, down = _ways(found, board)
    return np.triu(up.any(axis=0) & down.any(axis=0))


def _ways(found: Dimensions, board: Inference) -> tuple[BoolArray, BoolArray]:
    """(D + 1, M, M) whether each dimension, then the board, separates the row above the column, and below it."""
    ways = np.stack([directions(each) for each in (*found.standings, board)])
    return ways > 0, ways < 0


def order_sentence(found: Dimensions, board: Inference, systems: Sequence[str], level: str) -> str:
    """A sentence on whether a dimension separates a pair one way, and another dimension or the board the other way."""
    where = [*(f"in {name(each)}" for each in found.names), "on the board"]
    up, down = _ways(found, board)
    turned, pairs = np.argwhere(opposed(found, board)), int(np.triu((up | down).any(axis=0)).sum())
    if not pairs:
        return f"No dimension separates any pair of systems at {level}."
    if not len(turned):
        return (
            f"No two dimensions, nor a dimension and the board, separate any two systems in opposite ways at {level}; "
            f"{count(pairs, 'pair')} {verb(pairs, 'are')} separated by at least one of them."
        )
    i, k = turned[0]
    above, below = short_names([systems[i], systems[k]], LONGEST)
    first, second = (where[int(np.flatnonzero(way[:, i, k])[0])] for way in (up, down))
    return (
        f"The order depends on the dimension, so there is more than one ability: {len(turned):,} of "
        f"{count(pairs, 'separated pair')} of systems {verb(len(turned), 'are')} separated both ways at "
        f"{level}. {above} is ahead of {below} {first}, behind {second}."
    )


def _reach(found: Dimensions) -> str:
    if len(found.pairs) > 1:
        return f"the intervals of all {len(found.pairs)} correlations reach"
    (only,) = found.correlations
    return f"their correlation, {_two(only.value)}, may be anything from {_two(only.low)} to"


def _two(value: float) -> str:
    """The value with two decimals, or with three if it is below 1 but would round to 1.00."""
    return numeral(value, "z.3f" if 0.995 <= value < 1 else "z.2f")
