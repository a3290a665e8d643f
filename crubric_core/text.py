"""Plain sentences that pages, published views and reports share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

NAMED = 3  # systems of the first tier that are named


def shorten(text: str, limit: int = 80) -> str:
    """At most ``limit`` characters on one line, the cut shown by an ellipsis."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """``1 rubric``, ``4,052 rubrics``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


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
