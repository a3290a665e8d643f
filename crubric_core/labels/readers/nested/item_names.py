"""What names the items of a list within nested JSON: fields called after criteria, else texts that they share."""

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
    """Whether a field is called like a criterion's name: of words that may be its label, too, where it holds texts."""
    name = last_name(path)
    return name in NAMING or (name in INSTEAD_OF_RUBRIC and _are_texts(values) and not holds_labels(values))


def _are_texts(values: Sequence[Any]) -> bool:
    return all(isinstance(v, str) and v for v in values)


def naming_rank(path: str) -> int:
    """How usual the last name of a path is for a criterion."""
    return _ALL_NAMING.index(last_name(path)) if last_name(path) in _ALL_NAMING else len(_ALL_NAMING)


def is_named(path: str) -> bool:
    """Whether a path ends in a name of criteria, and not in a field that values alone tell."""
    return last_name(path) in (*_ALL_NAMING, *_LOOKED_FOR)


def texts_shared(fields: Mapping[str, Sequence[Any]], home: str) -> list[str]:
    """The text of each item of a list, where the items of several records share it: what is looked for in answers."""
    texts = [f for f in (f"{home}.{name}" for name in _LOOKED_FOR) if f in fields and f.count("[]") == 1]
    return [f for f in texts if 2 * len(set(map(str, fields[f]))) <= len(fields[f])]


def texts_of_items(
    fields: Mapping[str, Sequence[Any]], home: str, mapping: Mapping[str, str], told: Sequence[str]
) -> str:
    """The shortest texts of the items of a list that may be their names: told apart in each list, shared by several.

    told: the fields that say whose each item is, beside which a name repeats.
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
    """Whether a field holds texts that are neither labels nor whose these are, nor why."""
    name = last_name(path)
    whose = name in RATERS or GRADER.search(name) or all(map(MODEL.search, map(str, values)))
    return (
        _are_texts(values)
        and not whose
        and not holds_labels(values)
        and not is_called("labels", "reason", path)
    )


def count_of(fields: Mapping[str, Sequence[Any]], holder: Sequence[str]) -> int:
    """How many objects of a kind there are, by what each holds once, or else what holds each; 0 where nothing tells."""
    own = [len(fields[f]) for f in fields if parts_of(f)[:-1] == list(holder) and not f.endswith("[]")]
    within = bool(holder) and not own and not holder[-1].endswith(("[]", "{}"))
    return count_of(fields, holder[:-1]) if within else max(own, default=0)
