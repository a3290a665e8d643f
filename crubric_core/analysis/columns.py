"""The columns of the tables that users see, each declared once for pages, published views, files and reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Column:
    """One column of a table.

    title: its heading. help: what it holds, in one line. style: Python format specification of its numbers ("d" whole,
    ".2f", ".1%"); "" for text. width: width on the page; None: the usual one.
    """

    title: str
    help: str = ""
    style: str = ""
    width: Literal["small", "large"] | None = None


_INTERVAL = (
    "end of the interval of θ alone: cross-fitted, its standard error over queries, or domains, unless the settings "
    "resample rubrics; none where claims rest on scores"
)
_OF_SCORE = "end of the interval of the score alone; none where claims rest on abilities"
LEADERBOARD: Mapping[str, Column] = {
    "rank": Column(
        "rank",
        "1 + number of systems with a higher estimate; neighbours that pass, or fail, all rubrics in use share it",
        "d",
        "small",
    ),
    "system": Column("system"),
    "theta": Column("ability θ", "Ability on the basis that the leaderboard ranks on", ".2f"),
    "theta_low": Column("from", f"Lower {_INTERVAL}", ".2f"),
    "theta_high": Column("to", f"Upper {_INTERVAL}", ".2f"),
    "score": Column("score S", "Weighted share of the marks on the rubrics in use, by task type", ".3f"),
    "score_low": Column("score from", f"Lower {_OF_SCORE}", ".3f"),
    "score_high": Column("score to", f"Upper {_OF_SCORE}", ".3f"),
    "tier": Column(
        "tier", "From its first system to the last before one that is separated from it", "d", "small"
    ),
    "group": Column(
        "group",
        "Systems of different groups are not compared: ranks and tiers are within a group",
        "d",
        "small",
    ),
    "rank_low": Column("best rank", "Best rank that the comparisons leave possible", "d"),
    "rank_high": Column("worst rank", "Worst rank that the comparisons leave possible", "d"),
    "theta_se": Column("SE(θ)", "Standard error of θ, by the method of the intervals", ".3f"),
    "theta_sd": Column("posterior sd of θ", "Given the labels, item parameters known", ".3f"),
    "theta_full": Column(
        "θ, pooled fit", "Ability by the fit of all systems on all rubrics, in sample", ".2f"
    ),
    "theta_full_sd": Column("posterior sd, pooled fit", "Of that ability", ".3f"),
    "queries": Column("queries", "On how many queries the system has labels that count", "d", "small"),
    "saturated": Column("saturated", "Passes (1) or fails (-1) all rubrics in use; else 0", "d"),
    "basis": Column("basis", "The rubrics that abilities are estimated from"),
    "population": Column("population", "What the intervals generalise to"),
    "method": Column("method", "How the intervals were computed"),
    "design_effect": Column(
        "design effect", "Variance by query, or domain, divided by variance by rubric", ".2f"
    ),
}
"""Columns of leaderboard.csv in its order; the names are its header. group: only if there are several groups."""
ABILITY = ("theta", "theta_low", "theta_high")
SCORE = ("score", "score_low", "score_high")
"""Columns of the estimate that places the systems and of the ends of its interval: for abilities, and for scores."""
BY_ABILITY = (
    "group",
    "tier",
    "rank",
    "system",
    *ABILITY,
    "rank_low",
    "rank_high",
    "score",
    "theta_full",
    "queries",
)
BY_SCORE = ("group", "tier", "rank", "system", *SCORE, "rank_low", "rank_high", "queries")
"""Leaderboard columns that a page shows, in its order: if claims rest on abilities, and if they rest on scores."""
LEADERBOARD_SHARED = tuple(LEADERBOARD)[:12]
"""Leaderboard columns of a published view, in the order of its files: without the columns on what claims rest on."""
PLACES = ("tier", "rank", "rank_low", "rank_high")
"""Columns that state the place of a system; empty if no claim may be made."""
WHOLE = (*PLACES, "group")
"""Columns of whole numbers that may be unknown."""

BANK: Mapping[str, Column] = {
    "order": Column("#", "In which order the rubrics were chosen", "d", "small"),
    "rubric": Column("rubric"),
    "gain": Column("gain", "What this rubric adds to the utility of those above it", ".4f"),
    "utility": Column(
        "utility U", "What the strategy maximises, for the bank up to this rubric; not an accuracy", ".3f"
    ),
    "weight": Column("weight", "Share in the score, before task types", ".1%"),
    "query": Column("query"),
    "text": Column("text", width="large"),
    "points": Column("points", "Points of the rubric, as its file gives them", "g"),
    "polarity": Column("polarity", "-1 where meeting the rubric is bad", "d", "small"),
    "scale_min": Column("lowest label", "", "d"),
    "scale_max": Column("highest label", "", "d"),
    "pass_mark": Column("pass mark", "The lowest label that counts as met", "d"),
    "id": Column("id", "Hash of query and text: the rubric's name in bank.json and in every export"),
}
"""Columns of bank.csv in its order."""
BANK_SHOWN = ("order", "rubric", "query", "gain", "utility", "weight", "text")
"""Bank columns that the Bank page shows, in its order."""
BANK_SHARED = ("order", "rubric", "query", "text")
"""Bank columns of a published view."""


def rests_on_scores(leaderboard: pd.DataFrame) -> bool:
    """Whether the claims of a leaderboard are about scores: whether any score has an interval."""
    return "score_low" in leaderboard and bool(leaderboard["score_low"].notna().any())


def shown_columns(leaderboard: pd.DataFrame) -> tuple[str, ...]:
    """Names of the leaderboard's columns that a page shows, in order."""
    names = BY_SCORE if rests_on_scores(leaderboard) else BY_ABILITY
    return tuple(name for name in names if name in leaderboard)


def titles(columns: Mapping[str, Column]) -> dict[str, str]:
    """Map each column's name to its title."""
    return {name: column.title for name, column in columns.items()}
