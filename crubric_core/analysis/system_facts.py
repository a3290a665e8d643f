"""Read facts about systems as numbers, if they are numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ..types import FloatArray

_NUMBER = re.compile(
    r"[$€£]?\s*([+-]?(?:\d+(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(?:[$€£]|USD|EUR|GBP)?"
)


def numbers_of(values: Sequence[object]) -> FloatArray | None:
    """(M,) the values as numbers, NaN unknown; None unless every known value is a number and at least two differ.

    ``$0.25``, ``1,200`` and ``3 EUR`` are numbers; ``2024-05-01`` and ``7B`` are not.
    """
    found = np.array([_number(value) for value in values], dtype=np.float64)
    known = np.array([not _unknown(value) for value in values], dtype=bool)
    if np.isnan(found[known]).any() or len(np.unique(found[known])) < 2:
        return None
    return found


def _unknown(value: object) -> bool:
    return value is None or value != value or not str(value).strip()


def _number(value: object) -> float:
    match = None if _unknown(value) else _NUMBER.fullmatch(str(value).strip())
    try:
        return float(match[1].replace(",", "")) if match else float("nan")
    except ValueError:
        return float("nan")
