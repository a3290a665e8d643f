"""Find numbers among labels that are no level of their scale: codes for a missing label, and typing errors.

A scale is inferred from the labels of a criterion, so that one wrong number would stretch it for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping

CODES = frozenset({-9999, -999, -998, -99, -98, -97, -9, -8, -7, 99, 999, 9999})
FAR = 4  # a number is no level if it lies more than so many widths of the others' range outside it
_RARE = 0.02  # share of all labels of a file above which a number is common
_FEW = 0.05  # share of a criterion's labels that strays may have together
_ALONE = 0.01  # share of a criterion's labels up to which a number at an end of the scale is alone
_LEAST = 20  # labels that a criterion must have for a number to be rare,
_MANY = 100  # unless the whole file has as many as this


def candidates(counts: Mapping[int, int]) -> frozenset[int]:
    """The numbers that could be strays, by how often each occurs in the whole file: codes, and rare ones."""
    rare = max(1.0, _RARE * sum(counts.values()))
    return frozenset(v for v, n in counts.items() if v in CODES or n <= rare)


def find_strays(
    counts: Mapping[int, int], suspects: frozenset[int], everywhere: int = 0
) -> dict[int, tuple[int, int]]:
    """Stray numbers of one criterion → (lowest, highest) level without them.

    counts: number → its frequency. everywhere: number of labels in the whole file. A number is far if it lies further
    outside the range of the others than FAR times its width (a code: than its width): 0 beside 3 and 4 is a rare level,
    11 beside 0 and 1 is not. A far code is always a stray; other far numbers are strays if together they are few.
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
    """Rare numbers that stretch the scale of one criterion, but may be levels → (lowest, highest) level without them.

    They are a 0 below labels that begin at 1, and a highest number far above the next: 9 above 1 to 5.
    counts, everywhere: as in ``find_strays``.
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


_LEVELS, _BETWEEN = 3, 2  # other levels at least; the highest is alone if further above the next than this


def _reach(value: int, low: int, high: int) -> int:
    return (1 if value in CODES else FAR) * max(high - low, 1)


def why(value: int, count: int, total: int, low: int, high: int, criterion: str) -> str:
    """The reason for the rejection of a stray, with ways to keep the row. low, high: range of the other labels."""
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
