"""Recognise columns that look like labels but describe the query, rubric or judge of each row: a difficulty, an age."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from ..guess import MODEL, Sample, cells_at
from .column_names import names_a_judge, names_a_system

_AGREEING = 20  # least number of rows that repeat another row's value, so that it is no coincidence
_LEAST = 4  # least number of rows per name, and of names with several rows, so that it is no coincidence


def not_of_judges(
    wide: Sequence[str], columns: Sequence[str], sample: Sample, judge: str | None
) -> tuple[str, ...]:
    """The columns without those that have one value for each judge, such as age or years of experience."""
    if judge is None:
        return tuple(wide)
    of_one = same_for_each(judge, wide, columns, sample)
    return tuple(c for c in wide if c not in of_one)


def same_for_each(key: str, wide: Sequence[str], columns: Sequence[str], sample: Sample) -> tuple[str, ...]:
    """The columns of ``wide`` that have one value for each name in the column ``key``, and not the same for all names.

    () if the names have few rows on average, as it may be a coincidence.
    """
    names = cells_at(sample, columns.index(key))
    if len(names) < _LEAST * len(set(names)):
        return ()
    cells = {c: cells_at(sample, columns.index(c)) for c in wide}
    of_one = (c for c in wide if len(set(zip(names, cells[c], strict=True))) == len(set(names)))
    return tuple(c for c in of_one if len(set(cells[c])) > 1)


def without_facts(
    what: str, wide: Sequence[str], columns: Sequence[str], sample: Sample, keys: Mapping[str, str]
) -> tuple[str, ...]:
    """The columns of judges or systems without those that describe the query or the rubric of each row.

    what: "judge" or "system". Beside judges, such a column has one value for each query and rubric, for all systems.
    Beside systems, it is not named like a system and has one value for each query, or for each rubric.
    """
    about = [keys[k] for k in ("query", "rubric") if k in keys]
    if what == "judge":
        facts = same_within(about, wide, columns, sample, _AGREEING) if about else ()
        return tuple(c for c in wide if c not in facts or names_a_judge(c))
    others = not_called_systems(wide)
    of_one = {c for key in about for c in same_for_each(key, others, columns, sample)}
    of_one |= {c for key in about for c in same_within([key], wide, columns, sample)}
    return tuple(c for c in wide if c not in of_one.intersection(others) or _OURS.match(c))


# names of the authors' own systems
_OURS = re.compile(r"(?i)(ours?|mine|baseline|proposed|finetuned|fine.tuned|ft)([\s_.\-]|$)")


def not_called_systems(wide: Sequence[str]) -> tuple[str, ...]:
    """The columns that are not named like models or systems, if more than half of the columns are; else ()."""
    others = tuple(c for c in wide if not (MODEL.search(c) or names_a_system(c)))
    return others if 2 * len(others) < len(wide) else ()


def same_within(
    keys: Sequence[str], wide: Sequence[str], columns: Sequence[str], sample: Sample, least: int = 1
) -> set[str]:
    """The columns with one value for each combination of the ``keys`` with several rows, while other columns differ.

    Empty if there are few such combinations or rows (``least``). A column needs at least two values that occur for
    several combinations each; otherwise it may be a coincidence.
    """
    about = list(zip(*(cells_at(sample, columns.index(key)) for key in keys), strict=True))
    many = Counter(about)
    cells = {c: cells_at(sample, columns.index(c)) for c in wide}
    values = {
        c: {pair for pair in zip(about, own, strict=True) if many[pair[0]] > 1} for c, own in cells.items()
    }
    repeated = sum(times > 1 for times in many.values())
    same = {c for c, own in values.items() if len(own) == repeated}
    agreeing = sum(times for times in many.values() if times > 1) - repeated
    if repeated < _LEAST or agreeing < least or len(same) == len(values):
        return set()
    shares = {c: Counter(value for _, value in values[c]) for c in same}
    return {c for c, found in shares.items() if sum(times > 1 for times in found.values()) > 1}
