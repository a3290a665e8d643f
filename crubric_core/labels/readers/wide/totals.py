"""Find label columns that are the sum, mean or range of the others in all rows, whatever their names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ....text import listed
from ....types import FloatArray
from ..ground_truth import is_truth
from ..guess import Sample, cells_at
from ..words import is_number
from .column_names import names_a_judge, names_a_system

_LEAST = 4  # least number of rows that show it
_LEAST_ROUNDED = 8  # least number of rows for rounded means and ranges, which may agree by chance
_EXACT = 0.005  # largest difference between equal numbers
_MOST = 60  # most columns; tables with more are not searched


def totals_among(labels: Sequence[str], columns: Sequence[str], sample: Sample) -> Mapping[str, str]:
    """Column → "sum", "mean" or "range", if it is that of all other label columns, or the sum of all before it."""
    live = [c for c in labels if not is_truth(c)]
    if not 2 < len(live) <= _MOST:
        return {}
    at = {c: i for i, c in reversed(list(enumerate(columns)))}
    numbers = np.column_stack([[_number(cell) for cell in cells_at(sample, at[c])] for c in live])
    may_sum = [i for i, c in enumerate(live) if not (names_a_judge(c) or names_a_system(c))]
    found: dict[int, str] = {}
    for i in 2 * may_sum[::-1]:  # a second time, without the totals that were found
        if i not in found:
            others = [j for j in range(len(live)) if j != i and j not in found]
            before = [j for j in others if j < i]
            what = _what_of(numbers[:, i], numbers[:, others]) or "sum" * _is_sum(
                numbers[:, i], numbers[:, before]
            )
            found |= {i: what} if what else {}
    return {live[i]: what for i, what in found.items()}


def remarks_on_totals(labels: Sequence[str], columns: Sequence[str], sample: Sample) -> list[str]:
    """Remarks on the columns that are totals of others, one for each of sum, mean and range."""
    found = totals_among(labels, columns, sample)
    return [
        f"{listed([repr(c) for c in found if found[c] == what], 6)} {'is' if many == 1 else 'are'} the {what} of other "
        f"columns in all of the first rows, and {'is' if many == 1 else 'are'} not used"
        for what in ("sum", "mean", "range")
        if (many := sum(w == what for w in found.values()))
    ]


def _what_of(own: FloatArray, parts: FloatArray) -> str:
    if _is_sum(own, parts):
        return "sum"
    return "mean" if _is_mean(own, parts) else "range" if _is_range(own, parts) else ""


def _is_sum(own: FloatArray, parts: FloatArray) -> bool:
    """Whether all rows without blanks are sums of the parts, with different values and one above every part."""
    total = parts.sum(axis=1)
    whole = ~np.isnan(own + total)
    if parts.shape[1] < 2 or whole.sum() < _LEAST or np.any(np.abs(own - total)[whole] > _EXACT):
        return False
    return bool(np.ptp(own[whole]) > 0 and own[whole].max() > parts[whole].max())


def _is_mean(own: FloatArray, parts: FloatArray) -> bool:
    """Whether all rows are means, exact or rounded to whole numbers, with parts that differ in enough rows."""
    mean = parts.mean(axis=1) if parts.shape[1] > 1 else np.full(len(own), np.nan)
    whole = ~np.isnan(own + mean)
    if whole.sum() < _LEAST or np.any(np.abs(own - mean)[whole] > 0.5):
        return False
    own, mean = own[whole], mean[whole]
    telling, levels = int(np.sum(np.ptp(parts[whole], axis=1) > 0)), len(np.unique(own))
    exact = bool(np.all(np.abs(own - mean) <= _EXACT)) and levels > 1
    # With two levels, a rounded mean is the majority, and often equals one of the parts.
    rounded = levels > 2 and any(np.all(own == way) for way in (np.rint(mean), np.floor(mean + 0.5)))
    return (exact and telling >= _LEAST) or (rounded and telling >= _LEAST_ROUNDED)


def _is_range(own: FloatArray, parts: FloatArray) -> bool:
    """Whether all rows are the range of the parts (highest minus lowest), which takes at least three values."""
    whole = ~np.isnan(own + parts.sum(axis=1))
    if parts.shape[1] < 2 or whole.sum() < _LEAST_ROUNDED:
        return False
    apart = np.ptp(parts[whole], axis=1)
    return bool(np.all(np.abs(own[whole] - apart) <= _EXACT)) and len(np.unique(apart)) > 2


def _number(cell: str | None) -> float:
    return float(cell) if cell and is_number(cell) else math.nan
