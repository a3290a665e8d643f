"""Cells on which a judge departs from the majority of the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..text import count, short_name
from ..types import FloatArray, IntArray
from .votes import leave_one_out_majority

BLOCK = 2**20  # labels of a block: comparing them takes several times their memory


@dataclass(frozen=True)
class Departures:
    """Departures of K judges on J rubrics; both arrays (J, K).

    departs: number of systems on which the judge's label is not that of the majority of the others. compared: number of
    systems with both; if the others are evenly divided there is no majority.
    """

    departs: IntArray
    compared: IntArray


def departures_of(panel: FloatArray) -> Departures:
    """Count the departures of labels (M, J, K), 0/1 or NaN, by rubric and judge: arrays (J, K)."""
    departs, compared = np.zeros((2, *panel.shape[1:]), dtype=np.int64)
    step = max(BLOCK // max(panel.shape[0] * panel.shape[2], 1), 1)
    for at in range(0, panel.shape[1], step):
        own = panel[:, at : at + step]
        others = leave_one_out_majority(own)
        known = np.isfinite(own) & np.isfinite(others)
        departs[at : at + step], compared[at : at + step] = (
            (known & (own != others)).sum(axis=0),
            known.sum(axis=0),
        )
    return Departures(departs, compared)


def departures_sentence(found: Departures, judge: int, name: str) -> str:
    """A sentence, as plain text: how often one judge departs, and on how many rubrics."""
    departs, compared = found.departs[:, judge], found.compared[:, judge]
    others = "the other judge" if found.departs.shape[1] == 2 else "the majority of the others"
    if not compared.any():
        return f"No label of {short_name(name, 60)} can be compared with {others}."
    labels = f"{departs.sum():,} of {count(int(compared.sum()), 'label')}"
    return (
        f"{short_name(name, 60)} departs from {others} on {labels}, of {count(int((departs > 0).sum()), 'rubric')}. A "
        "departure need not be an error: the others may be wrong."
    )
