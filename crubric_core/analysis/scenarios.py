"""Compare choices of settings on one dataset: key figures, banks, and places of the systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..declarations import choice_words
from ..errors import CrubricError, NoBankWithoutError
from ..settings import SPECS, Settings
from ..text import count, listed, verb
from ..types import IntArray
from .selection import query_positions

if TYPE_CHECKING:
    from ..bank.worth import Interval, Worth
    from .stages import Analysis

PLACES = ("system", "tier_first", "tier_second", "rank_first", "rank_second", "theta_first", "theta_second")
UNKNOWN = "—"


@dataclass(frozen=True)
class Outcome:
    """The results of one choice of settings on M systems and J rubrics.

    rubrics: J. passing: how many of them pass the gate. information: share in [0, 1] of the information that these
    keep. bank: indices of the bank's rubrics in their order, empty if nothing passes. queries: how many of the
    ``of_queries`` queries the bank covers. worth: worth of the bank for systems that it has not seen; None if none can
    be held out. places: M rows: system, rank, tier, theta, NaN if no place may be claimed. separated: number of pairs
    separated on the settings' basis. refused: why no claim may be made, or "".
    """

    name: str
    settings: Settings
    rubrics: int
    passing: int
    information: float
    bank: IntArray
    queries: int
    of_queries: int
    worth: Worth | None
    places: pd.DataFrame
    separated: int
    refused: str


@dataclass(frozen=True)
class Change:
    """The changes from a first outcome to a second one.

    entering, leaving: indices of the rubrics in the second bank only, and in the first only, in the order of that bank.
    places: one row a system with the columns PLACES, sorted by the second rank; NaN unknown.
    """

    first: Outcome
    second: Outcome
    entering: IntArray
    leaving: IntArray
    places: pd.DataFrame

    @property
    def in_both(self) -> pd.DataFrame:
        """The rows of the systems that are ranked in both outcomes."""
        return self.places.dropna(subset=["rank_first", "rank_second"])

    @property
    def other_tier(self) -> pd.DataFrame:
        """The rows of the systems ranked in both outcomes whose tier changes."""
        known = self.in_both
        return known[known["tier_first"] != known["tier_second"]]

    @property
    def other_rank(self) -> pd.DataFrame:
        """The rows of the systems ranked in both outcomes whose rank changes."""
        known = self.in_both
        return known[known["rank_first"] != known["rank_second"]]

    @property
    def moved(self) -> pd.DataFrame:
        """The rows of the systems whose tier or rank changes, or is known in one outcome only."""
        same = [
            self.places[f"{what}_first"].eq(self.places[f"{what}_second"])
            | (self.places[f"{what}_first"].isna() & self.places[f"{what}_second"].isna())
            for what in ("tier", "rank")
        ]
        return self.places[~(same[0] & same[1])]

    def ranked_only_in(self, side: str) -> list[str]:
        """Names of the systems ranked in one outcome only. side: that outcome, "first" or "second"."""
        ranked = {each: self.places[f"rank_{each}"].notna() for each in ("first", "second")}
        alone = ranked[side] & ~(ranked["first"] & ranked["second"])
        return self.places.loc[alone, "system"].to_list()


def _worth(analysis: Analysis) -> Worth | None:
    """The worth of the bank for systems that it has not seen; None if no system can be held out."""
    try:
        curve = analysis.worth(curve=False)
    except NoBankWithoutError:
        return None
    return None if curve is None else curve.chosen[0]


def outcome_of(name: str, analysis: Analysis) -> Outcome:
    """The outcome of an analysis. If nothing passes its gate, ``refused`` says so, and bank and places are empty."""
    given, verdict = analysis.given(), analysis.verdict()
    none = pd.DataFrame({"system": given.systems, "rank": np.nan, "tier": np.nan, "theta": np.nan})
    bank, worth, places, separated, refused = np.zeros(0, np.int64), None, none, 0, ""
    positions, queries = query_positions(analysis.queries(), given), len(analysis.queries())
    try:
        bank = np.asarray(analysis.bank(), dtype=np.int64)
        worth = _worth(analysis)
        refused = "" if verdict.holds else verdict.sentence
        if not refused:
            places, separated = _places(analysis, none)
    except CrubricError as error:
        refused = str(error)
    return Outcome(
        name=name,
        settings=analysis.settings,
        rubrics=len(given.rubrics),
        passing=int(analysis.feasible.sum()),
        information=verdict.information,
        bank=bank,
        queries=len(np.unique(positions[bank])),
        of_queries=queries,
        worth=worth,
        places=places,
        separated=separated,
        refused=refused,
    )


def _places(analysis: Analysis, none: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    ranking = analysis.ranking()
    table = ranking.table[["system", "rank", "tier", "theta"]]
    table = table.astype({"rank": "float64", "tier": "float64"})
    return none[["system"]].merge(table, on="system", how="left"), int(ranking.comparisons["separated"].sum())


def compare(first: Outcome, second: Outcome) -> Change:
    """The changes from the first outcome to the second; both must be of the same dataset."""
    left, right = (o.places.set_index("system") for o in (first, second))
    values = {
        f"{column}_{side}": table[column]
        for column in ("tier", "rank", "theta")
        for side, table in (("first", left), ("second", right.loc[left.index]))
    }
    places = pd.DataFrame(values).rename_axis("system").reset_index()[list(PLACES)]
    order = ["rank_second", "rank_first", "system"]
    return Change(
        first=first,
        second=second,
        entering=second.bank[~np.isin(second.bank, first.bank)],
        leaving=first.bank[~np.isin(first.bank, second.bank)],
        places=places.sort_values(order, na_position="last", ignore_index=True),
    )


def change_sentences(change: Change) -> tuple[str, ...]:
    """Sentences on the changes in the bank and in the places; plain text."""
    return (_bank_sentence(change), *_place_sentences(change))


def _bank_sentence(change: Change) -> str:
    first, second = change.first, change.second
    if lacking := [f"“{outcome.name}”" for outcome in (first, second) if not len(outcome.bank)]:
        return f"{listed(lacking)} {verb(len(lacking), 'have')} no bank."
    if not len(change.entering) and not len(change.leaving):
        return f"Both banks hold the same {count(len(second.bank), 'rubric')}."
    leave, enter = len(change.leaving), len(change.entering)
    return (
        f"From “{first.name}” to “{second.name}”, {leave:,} of {count(len(first.bank), 'rubric')} "
        f"{verb(leave, 'leave')} the bank and {enter:,} {verb(enter, 'enter')}."
    )


def _place_sentences(change: Change) -> tuple[str, ...]:
    refused = [outcome for outcome in (change.first, change.second) if outcome.refused]
    if refused:
        return tuple(f"No places can be compared: “{outcome.name}”: {outcome.refused}" for outcome in refused)
    known, tiers, ranks = change.in_both, change.other_tier, change.other_rank
    alone = tuple(filter(None, (_alone(change, "first"), _alone(change, "second"))))
    if known.empty:
        return ("No system is ranked in both.", *alone)
    if tiers.empty:
        moved = f"No system changes its tier; {len(ranks):,} of {len(known):,} change their rank."
        return (moved if len(ranks) else "No system changes its tier or its rank.", *alone)
    moves = [
        f"{system} ({before:.0f} → {after:.0f})"
        for system, before, after in zip(
            tiers["system"], tiers["tier_first"], tiers["tier_second"], strict=True
        )
    ]
    change_tier = "changes its tier" if len(tiers) == 1 else "change their tier"
    said = f"{len(tiers):,} of {count(len(known), 'system')} {change_tier}: {listed(moves)}."
    first, second = (change.places[f"tier_{side}"].nunique() for side in ("first", "second"))
    if first == second:
        return (said, *alone)
    return (
        said,
        *alone,
        f"There are {count(second, 'tier')} instead of {first:,}: where tiers merge or split, those below get another "
        "number, though nothing else about them changes.",
    )


def _alone(change: Change, side: str) -> str:
    """A sentence on the systems that are ranked in the outcome ``side`` only; "" if there are none."""
    name, other = change.first.name, change.second.name
    if side == "second":
        name, other = other, name
    found = change.ranked_only_in(side)
    ranked = (
        f"{count(len(found), 'system')} {verb(len(found), 'are')} ranked in “{name}” and not in “{other}”"
    )
    return f"{ranked}: {listed(found)}." if found else ""


def figures_table(first: Outcome, second: Outcome) -> pd.DataFrame:
    """Table of the key figures, and of the settings that differ: figure, first, second, all as text."""
    left, right = _figures(first), _figures(second)
    rows = [(what, left[what], right[what]) for what in left]
    rows += _differing(first.settings, second.settings)
    return pd.DataFrame(rows, columns=["figure", "first", "second"])


def _differing(first: Settings, second: Settings) -> list[tuple[str, str, str]]:
    found = []
    for name, spec in SPECS.items():
        left, right = getattr(first, name), getattr(second, name)
        if left != right:
            found.append((spec.title, _shown(left, spec.none), _shown(right, spec.none)))
    found += [
        (what, "differ", "differ")
        for what in ("Priors", "Rules", "Composition")
        if getattr(first, what.lower()) != getattr(second, what.lower())
    ]
    return found


def _shown(value: object, none: str) -> str:
    if value is None:
        return none
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else choice_words(value)


def _figures(outcome: Outcome) -> dict[str, str]:
    worth, ranked = outcome.worth, not outcome.refused
    return {
        "Rubrics that pass the gate": f"{outcome.passing:,} of {outcome.rubrics:,}",
        "Information that the gate keeps": _share(outcome.information),
        "Rubrics in the bank": f"{len(outcome.bank):,}",
        "Queries in the bank": f"{outcome.queries:,} of {outcome.of_queries:,}",
        "Held out: separated pairs kept by the bank": UNKNOWN if worth is None else _interval(worth.kept),
        "Held out: mean rank error": UNKNOWN if worth is None else _rank_error(worth),
        "Pairs separated": f"{outcome.separated:,}" if ranked else UNKNOWN,
        "Tiers": f"{outcome.places['tier'].nunique():,}" if ranked else UNKNOWN,
    }


def _rank_error(worth: Worth) -> str:
    if np.isnan(worth.rank_error.estimate):
        return UNKNOWN
    return f"{worth.rank_error.estimate:.2f}" + (" within groups" if worth.groups > 1 else "")


def _share(value: float) -> str:
    return f"{value:.1%}" if np.isfinite(value) else UNKNOWN


def _interval(found: Interval) -> str:
    if not np.isfinite(found.estimate):
        return UNKNOWN
    ends = f" [{found.low:.0%}, {found.high:.0%}]" if np.isfinite(found.low) else ""
    return f"{found.estimate:.0%}{ends}"
