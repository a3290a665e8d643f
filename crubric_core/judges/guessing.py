"""Judges whose labels agree with those of the others no more than by chance (docs/method.md §5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..text import count, ends, numeral, short_name
from ..types import FloatArray, IntArray
from .agreement import cohen_of_groups
from .rates import Rate
from .votes import leave_one_out_majority

LITTLE = 0.2  # kappa, "slight" up to there (Landis & Koch 1977)
NAMED = 3  # judges whose names a sentence can hold
FEWEST = 3  # judges with whom votes can show which one guesses


def tables_with_others(panel: FloatArray, cluster: IntArray) -> FloatArray:
    """Each judge's 0/1 labels (M, J, K) against the majority of the others, by query: (K, G, 2, 2) numbers of cells.

    Rows are the judge's label, columns the majority. cluster: (J,) the query of each rubric, 0..G-1.
    """
    others = leave_one_out_majority(panel)
    known = np.isfinite(panel) & np.isfinite(others)
    n_judges, n_groups = panel.shape[2], int(cluster.max(initial=-1)) + 1
    _, rubric, judge = np.nonzero(known)
    place = (judge * n_groups + cluster[rubric]) * 4 + (2 * panel[known] + others[known]).astype(np.int64)
    counts = np.bincount(place, minlength=n_judges * n_groups * 4)
    return counts.reshape(n_judges, n_groups, 2, 2).astype(np.float64)


def kappa_with_others(tables: FloatArray, confidence: float = 0.95) -> Rate:
    """Cohen's kappa between each judge and the majority of the others; (K,), NaN where undefined.

    tables: (K, G, 2, 2) of ``tables_with_others``; intervals hold for further queries like these.
    """
    found = [cohen_of_groups(of_judge, confidence) for of_judge in tables]
    return Rate(*(np.array([getattr(one, name) for one in found]) for name in ("value", "low", "high")))


def guessing_note_of(tables: FloatArray, judges: Sequence[str], confidence: float) -> str:
    """``guessing_note`` for judges with these K names, from the tables of ``tables_with_others``."""
    kappa = kappa_with_others(tables, confidence)
    rows = {"judge": judges, "kappa": kappa.value, "kappa_low": kappa.low, "kappa_high": kappa.high}
    return guessing_note(pd.DataFrame(rows))


def guessing_note(judges: pd.DataFrame) -> str:
    """A note on judges not shown to agree with the others, and agreeing little at most; empty if there are none.

    judges: columns judge, kappa, kappa_low, kappa_high. With only two judges it is empty: nothing shows which one
    guesses.
    """
    found = judges[(judges["kappa_low"] <= 0) & (judges["kappa_high"] < LITTLE)]
    if len(judges) < FEWEST or found.empty:
        return ""
    if len(found) == len(judges):
        return (
            "No judge is shown to agree with the majority of the others beyond chance: all intervals of κ begin at 0 "
            f"or below and end below {LITTLE:g}."
        )
    if len(found) == 1:
        (row,) = found.to_dict("records")
        return (
            f"{short_name(str(row['judge']), 60)} is not shown to agree with the majority of the others beyond chance: "
            f"κ = {numeral(row['kappa'])} {ends(row['kappa_low'], row['kappa_high'])}."
        )
    names = [short_name(str(name)) for name in found["judge"]]
    more = f" and {count(len(names) - NAMED, 'more judge')}" if len(names) > NAMED else ""
    return (
        f"{', '.join(names[:NAMED])}{more} are not shown to agree with the majority of the others beyond chance: their "
        f"intervals of κ begin at 0 or below and end below {LITTLE:g}."
    )
