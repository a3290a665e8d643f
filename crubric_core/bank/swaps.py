"""Replacements for a rubric of the bank, and the change of utility that each brings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..types import BoolArray, FloatArray, IntArray
from .constraints import Constraints
from .guarantee import within
from .utility import Utility


@dataclass(frozen=True)
class Replacements:
    """rubrics: (n,) indices, best first. change: (n,) U(S - out + rubric) - U(S) of each."""

    rubrics: IntArray
    change: FloatArray


def replacements(
    utility: Utility,
    bank: IntArray,
    out: int,
    candidates: BoolArray,
    constraints: Constraints | None = None,
    most: int = 10,
) -> Replacements:
    """The best ``most`` candidates (J,) from outside the bank (B,) to replace its rubric ``out``; ties by index.

    If ``constraints`` are given, only candidates with which the bank keeps all of them.
    """
    rest = bank[bank != out]
    total = utility.totals(rest).sum(axis=0)
    outside = candidates.copy()
    outside[bank] = False
    rivals = np.flatnonzero(outside)
    value = float(utility.value(total)) + utility.gains(utility.prepared(rivals), total)
    by_value = np.argsort(-value, kind="stable")
    found: list[int] = []
    for place in by_value.tolist():
        if len(found) == most:
            break
        if constraints is None or within(constraints, np.append(rest, rivals[place])):
            found.append(place)
    now = float(utility.value(utility.totals(bank).sum(axis=0)))
    return Replacements(rivals[found], value[found] - now)
