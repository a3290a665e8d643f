"""Judges whose labels agree with the others' no more than chance would (docs/method.md §5)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..text import count, ends, numeral, short_name
from ..types import FloatArray, IntArray
from .agreement import agreement
from .rates import Rate
from .votes import leave_one_out_majority

LITTLE = 0.2  # kappa, "slight" up to there (Landis & Koch 1977)
NAMED = 3  # judges whose names a sentence can hold


def kappa_with_others(panel: FloatArray, cluster: IntArray, confidence: float = 0.95) -> Rate:
    """Cohen's kappa of each judge's labels (M, J, K) 0/1 and the majority of the others; (K,), NaN where undefined.

    cluster: (J,) the query of each rubric; intervals hold for further queries like these.
    """
    others, groups = leave_one_out_majority(panel), np.tile(cluster, len(panel))
    found = [
        agreement(
            np.stack([panel[:, :, k], others[:, :, k]], axis=2).reshape(-1, 2), "cohen", confidence, groups
        )
        for k in range(panel.shape[2])
    ]
    return Rate(*(np.array([getattr(one, name) for one in found]) for name in ("value", "low", "high")))


def guessing_note(judges: pd.DataFrame) -> str:
    """Which of three judges or more are not shown to agree with the others, and at most little; empty where none is.

    judges: judge, kappa, kappa_low, kappa_high. Of two judges nothing shows which one guesses.
    """
    found = judges[(judges["kappa_low"] <= 0) & (judges["kappa_high"] < LITTLE)]
    if len(judges) <= 2 or found.empty:
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
