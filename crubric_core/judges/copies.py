"""Judges whose labels are the same on all cells: one may be a copy of the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ..text import count, short_name
from ..types import FloatArray

FEWEST = 100  # cells that both labelled
RARER = 10  # of them, with another label than the most frequent: on constant labels all judges are equal


def copies_note(panel: FloatArray, judges: Sequence[str]) -> str:
    """A note on the pairs of judges that give the same label on all cells that both labelled; "" if there are none.

    panel: (M, J, K) labels or levels, NaN unknown. judges: K names. A pair needs FEWEST common cells, with RARER labels
    other than their most frequent one.
    """
    found: list[tuple[str, str, int]] = []
    for one, other in combinations(range(len(judges)), 2):
        first, second = panel[:, :, one], panel[:, :, other]
        both = np.isfinite(first) & np.isfinite(second)
        if both.sum() < FEWEST or (first[both] != second[both]).any():
            continue
        times = np.unique(first[both], return_counts=True)[1]
        if times.sum() - times.max() >= RARER:
            found.append((judges[one], judges[other], int(times.sum())))
    if not found:
        return ""
    first_name, second_name, cells = found[0]
    more = f", and so do {count(len(found) - 1, 'more pair')} of judges" if len(found) > 1 else ""
    return (
        f"{short_name(first_name, 60)} and {short_name(second_name, 60)} give the same label on all {cells:,} cells "
        f"that both labelled{more}. Is one a copy of the other? Then it is one judge, but counts as two in each "
        "majority and coefficient here."
    )
