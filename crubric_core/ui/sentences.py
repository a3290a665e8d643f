"""The first lines of the pages that take more than a format string."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .text import count, shorten

if TYPE_CHECKING:
    import pandas as pd


NAMED = 3  # systems of the first tier that are named


def leaderboard(table: pd.DataFrame, rubrics: int, confidence: float) -> tuple[str, str]:
    """Who leads, and how many tiers the labels bear; ``table`` is sorted, best first."""
    first = table.loc[table["tier"] == table["tier"].min(), "system"].tolist()
    tiers = int(table["tier"].nunique())
    names = [shorten(name, 40) for name in first]
    if len(first) == 1:
        lead = f"{names[0]} is ahead of all others."
    elif len(first) == len(table):
        lead = f"No system is ahead: the {count(len(table), 'system')} cannot be told apart."
    elif len(first) <= NAMED:
        lead = f"{', '.join(names[:-1])} and {names[-1]} share the first tier: they cannot be told apart."
    else:
        lead = f"{names[0]} and {len(first) - 1} others share the first tier: they cannot be told apart."
    return lead, (
        f"On {count(rubrics, 'rubric')} the {count(len(table), 'system')} fall into {count(tiers, 'tier')} "
        f"at {confidence:.0%}."
    )
