"""Find criteria that a record lists apart from its labels, in the same order: the i-th label is on the i-th one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..columns.label_names import RATERS
from ..guess import MODEL
from ..paths import parts_of
from ..word_lists import word_set
from .field_names import GRADER, last_name
from .item_names import NAMING, count_of, naming_rank

_PLURAL = "s"
_CRITERIA = word_set(
    "rubric criterion criteria metric dimension aspect requirement checklist checklist_item rubric_item "
    "rubric_text rubric_criteria"
)
_NAMES = ("id", "text")  # fields with the name of a criterion in a list of criteria
SAID = ("feedback", "reason", "rationale", "explanation", "comment", "critique", "justification")


def singular(field: str) -> str:
    """The last key of a path in the singular, without "s": "judge" for ``judges[]``."""
    return last_name(field).replace("{}", "").removesuffix(_PLURAL)


def lists_names(field: str) -> bool:
    """Whether a path leads to the names of listed criteria: ``criteria[]``, ``rubrics[].name``."""
    parts = parts_of(field)
    if parts[-1].endswith("[]"):
        return singular(field) in _CRITERIA or last_name(field) in _CRITERIA
    return (
        len(parts) > 1
        and parts[-2].endswith("[]")
        and last_name(field) in (*NAMING, *_NAMES)
        and lists_names(".".join(parts[:-1]))
    )


def criteria_around(fields: Mapping[str, Sequence[Any]], labels: str) -> str:
    """The list of texts at an outer level with as many items as each list of labels; "" if there is none.

    A list named after criteria is preferred. Lists of raters or of their comments do not count.
    """
    found = [f for f in fields if _is_around(f, labels) and _names_each(fields, f, labels)]
    return min(
        found, key=lambda f: (not lists_names(f), naming_rank(f), last_name(f) in _NAMES[1:]), default=""
    )


def _is_around(field: str, labels: str) -> bool:
    """Whether a list, or the list that holds a field, lies in an object around the object of the labels."""
    holder, place = _holder(field), parts_of(labels)[:-1]
    return holder is not None and len(holder) < len(place) and place[: len(holder)] == holder


def _holder(field: str) -> list[str] | None:
    """The keys to the object that holds a list, or that holds the list of a field; None if the field is in no list."""
    parts = parts_of(field)
    way = parts if parts[-1].endswith("[]") else parts[:-1]
    return way[:-1] if way and way[-1].endswith("[]") and not way[-1].endswith("[][]") else None


def _names_each(fields: Mapping[str, Sequence[Any]], field: str, labels: str) -> bool:
    """Whether a list of texts may name the labels one by one: it has as many items, and they are no raters."""
    names = fields[field]
    listed = parts_of(field)[-1 if field.endswith("[]") else -2]
    texts = all(isinstance(name, str) and name for name in names) and len(set(names)) > 1
    raters = GRADER.search(listed) or all(map(MODEL.search, map(str, names)))
    if not texts or raters or singular(listed) in (*RATERS, *SAID):
        return False
    holders = count_of(fields, _holder(field) or []), count_of(fields, parts_of(labels)[:-1])
    if all(holders):
        return len(names) * holders[1] == len(fields[labels]) * holders[0]
    return len(fields[labels]) % len(names) == 0
