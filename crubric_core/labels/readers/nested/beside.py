"""Find labels in parallel lists of a record: one list for each criterion, or ``judges[]`` beside ``scores[]``.

A data frame as one object of columns (``{"label": {"0": 1, …}}`` or ``{"label": [1, …]}``) is read in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..columns.label_names import RATERS, may_hold_labels
from ..columns.specs import SPECS, Kind, rater_of
from ..guess import MODEL
from ..paths import parts_of
from ..words import is_number, is_verdict
from .criteria import SAID, criteria_around, lists_names, singular
from .field_names import GRADER, holds_labels, is_called, is_label, last_name, may_be_labels, others
from .item_names import NAMING
from .lists import siblings

Found = dict[str, str | tuple[str, ...]]
_FARTHEST = 100
_SEVERAL = 4  # least number of labels beside one and the same model, so that it is no coincidence


def beside(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> Found | None:
    """Canonical column → path for labels in parallel lists (``clarity[]``, ``tone[]``) or one list (``scores[]``).

    None if there are none. fields: path → values, as in ``paths.fields_of_records``.
    """
    gathered = _columns_of_frame(fields) or fields
    groups: dict[tuple[str, int], list[str]] = {}
    for field, values in gathered.items():
        if field.endswith(("[]", "{}")) and not field.endswith("[][]"):
            groups.setdefault((".".join(parts_of(field)[:-1]), len(values)), []).append(field)
    found = (
        _of_group(kind, gathered, home, group)
        for (home, _), group in sorted(groups.items(), key=lambda g: -len(g[1]))
    )
    return next((mapping for mapping in found if mapping), None)


def _columns_of_frame(fields: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Path of a column (``label{}``) → values, of a data frame written as objects with row numbers as keys; or {}."""
    parts = [parts_of(field) for field in fields]
    if not parts or any(len(own) != 2 or not own[1].isdigit() for own in parts):
        return {}
    columns: dict[str, list[Any]] = {}
    for field, (column, _) in zip(fields, parts, strict=True):
        columns.setdefault(f"{column}{{}}", []).extend(fields[field])
    return columns if len(columns) > 1 else {}


def _of_group(
    kind: Kind, fields: Mapping[str, Sequence[Any]], home: str, group: Sequence[str]
) -> Found | None:
    named = _named_among(kind, group)
    alike = [f for f in group if _looks_like_labels(kind, f, fields[f])]
    labels = [f for f in alike if f not in named.values()]
    label = named.get("label") if named.get("label") in alike else None
    named.pop("label", None)
    if label is None and not labels:
        return None
    if len(group) == 1 and (label is None or siblings(fields, label)[0] >= 0):
        return None
    around = others(kind, fields, home, set(group))
    found: Found = {**{c: v for c, v in around.items() if c != "label"}, **named}
    first = label or labels[0]
    texts = _texts_beside(fields, home, {*labels, first}, set(group) - set(named.values()))
    if label is not None or (len(labels) == 1 and "rubric" in found):
        found["label"] = first
        found.setdefault("rubric", f"{first}.#" if texts else f"={last_name(first)}")
    elif "rubric" in found or (texts and (len(labels) == 1 or "system" in found)):
        return None
    elif _are_some(fields, home, labels) or all(MODEL.search(last_name(f)) for f in labels):
        return None  # the lists of one judge or system among several, or one list for each system
    else:
        found["rubric"] = tuple(labels)
        found |= {"system": f"{first}.#"} if texts else {}
    who = rater_of(kind)
    if who not in found and not texts and not {"system", "rubric"} & set(named):
        named_outside = "label" in found and "rubric" not in around and _by_criteria(fields, first)
        found |= named_outside or {who: _raters_of(fields, first)}
    if who in around and not named and not texts:
        return _repeated(found, fields, first)
    return _by_one_model(found, fields, first, who)


def _are_some(fields: Mapping[str, Sequence[Any]], home: str, labels: Sequence[str]) -> bool:
    """Whether another object at the same depth holds lists of the same names, so that these are only some of all."""
    keys = {parts_of(f)[-1] for f in labels}
    homes = {".".join(parts_of(f)[:-1]) for f in fields if parts_of(f)[-1] in keys}
    return bool(home) and len([h for h in homes if h.count(".") == home.count(".")]) > 1


def _by_criteria(fields: Mapping[str, Sequence[Any]], labels: str) -> dict[str, str]:
    """{"rubric": path} for the items of a list of labels, if criteria are listed at an outer level; else {}.

    If the criteria have another length, the path is the position of the item (``scores[].#``).
    """
    raters = named_raters(fields, labels)
    if (criteria := criteria_around(fields, labels)) and (lists_names(criteria) or not raters):
        return {"rubric": criteria}  # if raters are listed, too, this is asked later
    place = parts_of(labels)
    outside = (f for f in fields if lists_names(f) and len(parts_of(f)) <= len(place) and f.endswith("[]"))
    return {"rubric": f"{labels}.#"} if any(outside) and not raters else {}


def _repeated(found: Found, fields: Mapping[str, Sequence[Any]], labels: str) -> Found | None:
    """The paths with each item of a rater's list of labels as a run; None if the items are words other than verdicts.

    Such words are the choices of one question, not several labels. Unchanged if there is one label per record.
    """
    keys = [path for c, path in found.items() if c != "label" and isinstance(path, str) and path in fields]
    several = any(len(fields[labels]) > len(fields[path]) for path in keys)
    words = {str(v).lower() for v in fields[labels] if v is not None and not isinstance(v, (int, float))}
    if not several:
        return found
    return {**found, "run": f"{labels}.#"} if all(is_number(w) or is_verdict(w) for w in words) else None


def _named_among(kind: Kind, group: Sequence[str]) -> dict[str, str]:
    """Canonical column → the list with its name: ``judges[]`` for "judge"."""
    named = {c: f for f in reversed(group) for c in SPECS[kind].columns if _is_one_of(kind, c, f)}
    if "rubric" not in named and (names := [f for f in group if last_name(f) in NAMING]):
        named["rubric"] = min(names, key=lambda f: NAMING.index(last_name(f)))
    return named


def _looks_like_labels(kind: Kind, field: str, values: Sequence[Any]) -> bool:
    return may_be_labels(kind, field, values) or (_are_scores(values) and may_hold_labels(last_name(field)))


def _raters_of(fields: Mapping[str, Sequence[Any]], labels: str) -> str:
    """The path of the raters' names for a list of labels; if there is none, the position in the list."""
    return named_raters(fields, labels) or f"{labels}.#"


def named_raters(fields: Mapping[str, Sequence[Any]], labels: str) -> str:
    """The list of raters (``raters[]``) that fits a list of labels; "" if there is none."""
    raters = (f for f in fields if f.endswith("[]") and singular(f) in RATERS and _fits_in(fields, f, labels))
    return next(raters, "")


def _by_one_model(found: Found, fields: Mapping[str, Sequence[Any]], first: str, who: str) -> Found:
    """The paths with the model as the judge and the items as its runs, if all labels stand beside the same model."""
    models = list(map(str, fields.get(str(found.get("system")), ())))
    if who in found or "label" not in found or len(models) < _SEVERAL or len(set(models)) > 1:
        return found
    kept = {c: v for c, v in found.items() if c not in ("system", "rubric")}
    runs: Found = {"run": f"{first}.#"} if who == "judge" else {}
    return {**kept, who: found["system"], "rubric": f"={last_name(first)}", **runs}


def _are_scores(values: Sequence[Any]) -> bool:
    """Whether the values of a list without a label's name look like labels: all numbers lie from 0 to 100."""
    return holds_labels(values) and all(0 <= v <= _FARTHEST for v in values if isinstance(v, (int, float)))


def _texts_beside(fields: Mapping[str, Sequence[Any]], home: str, labels: set[str], group: set[str]) -> bool:
    """Whether a parallel list of texts or objects lies beside the labels, so that each label is about one of its items.

    Lists of raters or of feedback do not count, nor do lists without any text.
    """
    start = f"{home}." if home else ""
    inside = [f for f in fields if f.startswith(start) and "[]." in f.removeprefix(start)]
    texts = {f for f in group - labels if singular(f) not in (*RATERS, *SAID) and any(fields[f])}
    return bool(texts) or any(len(fields[f]) == len(fields[min(labels)]) for f in inside)


def _is_one_of(kind: Kind, canonical: str, field: str) -> bool:
    """Whether a list has the name of a canonical column, in the singular or the plural: ``score[]``, ``scores[]``."""
    names = (field.replace("{}", ""), singular(field))
    by_judges = canonical == "label" and GRADER.search(names[1]) and is_label(kind, names[1])  # judge_scores
    return bool(by_judges) or any(is_called(kind, canonical, name) for name in names)


def _fits_in(fields: Mapping[str, Sequence[Any]], raters: str, labels: str) -> bool:
    """Whether a list of raters has a place and a length that fit a list of labels."""
    holder, place = (parts_of(f)[:-1] for f in (raters, labels))
    return place[: len(holder)] == holder and len(fields[labels]) % max(1, len(fields[raters])) == 0
