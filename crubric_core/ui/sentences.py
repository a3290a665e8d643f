"""The first lines of the pages that take more than a format string."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .text import count, shorten

if TYPE_CHECKING:
    import pandas as pd

    from ..arrays import FloatArray


def saturated(labels: FloatArray) -> tuple[str, ...]:
    """A warning where systems pass or fail all; ``labels`` (M, B) as shares of the full mark, NaN unknown."""
    known = np.isfinite(labels).any(axis=1)
    top = int((known & (np.nan_to_num(labels, nan=1) == 1).all(axis=1)).sum())
    bottom = int((known & (np.nan_to_num(labels, nan=0) == 0).all(axis=1)).sum())
    if not top + bottom:
        return ()
    return (
        f"Every one of these rubrics is passed by {count(top, 'system')} and failed by {bottom:,}: their θ is an "
        "extrapolation and its interval too narrow. A larger bank, or all rubrics that pass, tells them apart.",
    )


def leaderboard(table: pd.DataFrame, rubrics: int, confidence: float) -> tuple[str, str]:
    """Who leads, and how many tiers the labels bear; ``table`` is sorted, best first."""
    first = table.loc[table["tier"] == table["tier"].min(), "system"].tolist()
    tiers = int(table["tier"].nunique())
    if len(first) == 1:
        lead = f"{shorten(first[0], 60)} is ahead of all others."
    elif len(first) == len(table):
        lead = f"No system is ahead: the {count(len(table), 'system')} cannot be told apart."
    else:
        lead = f"{shorten(first[0], 60)} leads, but {count(len(first) - 1, 'other')} cannot be told from it."
    return lead, (
        f"On {count(rubrics, 'rubric')} the {count(len(table), 'system')} fall into {count(tiers, 'tier')} "
        f"at {confidence:.0%}."
    )
