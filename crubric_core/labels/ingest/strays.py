"""Detect numbers among labels that are no levels of their scale: codes for a missing label, and mistakes.

A scale is inferred from the labels of a criterion, so that one wrong number would stretch it for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping

CODES = frozenset({-9999, -999, -998, -99, -98, -97, -9, -8, -7, 99, 999, 9999})
FAR = 4  # a number further outside the others' range than so many of its widths is no level
_RARE = 0.02  # largest share of all labels of a file for a rare number
_FEW = 0.05  # largest share of a criterion's labels that are strays
_ALONE = 0.01  # largest share of a criterion's labels for a rare number at an end of the scale
_LEAST = 20  # least number of a criterion's labels for a number to be rare,
_MANY = 100  # unless the whole file has at least so many labels


def candidates(counts: Mapping[int, int]) -> frozenset[int]:
    """The numbers that may be strays: codes, and rare numbers. counts: number → how often the whole file has it."""
    rare = max(1.0, _RARE * sum(counts.values()))
    return frozenset(v for v, n in counts.items() if v in CODES or n <= rare)


def find_strays(
    counts: Mapping[int, int], suspects: frozenset[int], everywhere: int = 0
) -> dict[int, tuple[int, int]]:
    """Stray number of one criterion → the ends of the scale without strays.

    everywhere: number of labels of the whole file. A number is far if it lies further outside the others' range than
    FAR times its width: 0 beside 3 and 4 is a rare level, 11 beside 0 and 1 is far. A far code is always a stray; other
    far numbers are strays only if all of them together are few.
    """
    known = [v for v in counts if v not in suspects] or [v for v in counts if v not in CODES]
    if not known:
        return {}
    low, high = min(known), max(known)
    far = [v for v in counts if not low <= v <= high]
    while near := [v for v in far if low - _reach(v, low, high) <= v <= high + _reach(v, low, high)]:
        low, high = min(low, *near), max(high, *near)
        far = [v for v in far if not low <= v <= high]
    codes = [v for v in far if v in CODES]
    others = [v for v in far if v not in CODES]
    total = sum(counts.values())
    enough = total >= _LEAST or everywhere >= _MANY
    few = enough and sum(counts[v] for v in others) <= max(1.0, _FEW * total)
    return dict.fromkeys([*codes, *(others if few else [])], (low, high))


def alone(
    counts: Mapping[int, int], suspects: frozenset[int], everywhere: int = 0
) -> dict[int, tuple[int, int]]:
    """Rare number that stretches the scale of one criterion → the ends of the scale without it.

    It is a 0 below labels that begin at 1, or a highest number with a gap to the others: 9 above 1 to 5. Such numbers
    are near enough to be levels. everywhere: as in ``find_strays``.
    """
    total = sum(counts.values())
    if len(counts) <= _LEVELS or (total < _LEAST and everywhere < _MANY):
        return {}
    (first, second, *_), (*_, before, last) = sorted(counts), sorted(counts)
    found = {}
    if (first, second) == (0, 1):
        found[first] = (second, last)
    if last - before > _BETWEEN:
        found[last] = (first, before)
    return {v: e for v, e in found.items() if v in suspects and counts[v] <= max(1.0, _ALONE * total)}


_LEVELS, _BETWEEN = 3, 2  # least number of other levels; largest gap to the next level that is usual


def _reach(value: int, low: int, high: int) -> int:
    return (1 if value in CODES else FAR) * max(high - low, 1)


def why(value: int, count: int, total: int, low: int, high: int, criterion: str) -> str:
    """The reason to reject a stray, with the way to keep the row. low, high: the range of the other labels."""
    scale = f"{low} to {high}"
    if value in CODES:
        return (
            f"{value} looks like a code for a missing label, where the other labels of {criterion} go from {scale}: "
            f"--answer={value}= reads it as unknown, --scale keeps it"
        )
    return (
        f"{value} lies far outside the other labels of {criterion}, {scale} ({count:,} of {total:,}): correct it, or "
        "give the criterion its scale (--scale)"
    )
