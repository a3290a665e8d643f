"""Find the field that names the items of a list within nested JSON: by its name, else by shared texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..columns.label_names import RATERS
from ..columns.synonyms import INSTEAD_OF_RUBRIC
from ..guess import MODEL
from ..paths import parts_of
from ..word_lists import word_list
from .field_names import GRADER, holds_labels, is_called, last_name

NAMING = word_list(
    "rubric criterion criteria metric metric_name dimension aspect name key requirements title"
)

_ALL_NAMING = (*NAMING, *INSTEAD_OF_RUBRIC)
_LOOKED_FOR = ("text", "fact", "nugget", "claim")


def names_criteria(path: str, values: Sequence[Any]) -> bool:
    """Whether a field is called like a criterion's name: ``criterion``, or ``requirement`` if it holds texts."""
    name = last_name(path)
    return name in NAMING or (name in INSTEAD_OF_RUBRIC and _are_texts(values) and not holds_labels(values))


def _are_texts(values: Sequence[Any]) -> bool:
    return all(isinstance(v, str) and v for v in values)


def naming_rank(path: str) -> int:
    """The rank of a path's last key among the names of criteria; 0 is the most usual name."""
    return _ALL_NAMING.index(last_name(path)) if last_name(path) in _ALL_NAMING else len(_ALL_NAMING)


def is_named(path: str) -> bool:
    """Whether a path ends in a name of criteria, so that it was not found by its values alone."""
    return last_name(path) in (*_ALL_NAMING, *_LOOKED_FOR)


def texts_shared(fields: Mapping[str, Sequence[Any]], home: str) -> list[str]:
    """Text fields of a list's items (``facts[].text``) whose values repeat, at least twice on average."""
    texts = [f for f in (f"{home}.{name}" for name in _LOOKED_FOR) if f in fields and f.count("[]") == 1]
    return [f for f in texts if 2 * len(set(map(str, fields[f]))) <= len(fields[f])]


def texts_of_items(
    fields: Mapping[str, Sequence[Any]], home: str, mapping: Mapping[str, str], told: Sequence[str]
) -> str:
    """The path of the shortest texts that may name the items of a list: unique in each list, shared by several lists.

    told: the fields of the items' system or judge; names need be unique only within each of these. "" if there is none.
    """
    label, taken = mapping["label"], set(mapping.values())
    lists = count_of(fields, parts_of(home)[:-1])
    whose = [fields[path] for path in told]
    held = [f for f in fields if f.rpartition(".")[0] == home and f not in taken]
    held = [f for f in held if len(fields[f]) == len(fields[label]) and _may_name(f, fields[f])]
    if any(len(own) != len(fields[label]) for own in whose) or not lists:
        return ""
    if told and max(Counter(zip(*whose, strict=True)).values()) <= lists:
        return ""
    apart = [f for f in held if max(Counter(zip(fields[f], *whose, strict=True)).values()) <= lists]
    shared = [f for f in apart if 2 * len(set(fields[f])) <= len(fields[f])]
    return min(shared, key=lambda f: sum(map(len, fields[f])), default="")


def _may_name(path: str, values: Sequence[Any]) -> bool:
    """Whether a field holds texts that are no labels, names of raters or models, or reasons."""
    name = last_name(path)
    whose = name in RATERS or GRADER.search(name) or all(map(MODEL.search, map(str, values)))
    return (
        _are_texts(values)
        and not whose
        and not holds_labels(values)
        and not is_called("labels", "reason", path)
    )


def count_of(fields: Mapping[str, Sequence[Any]], holder: Sequence[str]) -> int:
    """The number of objects at a place, counted by their own fields, else by the objects around them; 0 if not known.

    holder: the keys to the place.
    """
    own = [len(fields[f]) for f in fields if parts_of(f)[:-1] == list(holder) and not f.endswith("[]")]
    within = bool(holder) and not own and not holder[-1].endswith(("[]", "{}"))
    return count_of(fields, holder[:-1]) if within else max(own, default=0)
