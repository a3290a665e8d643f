"""Decide what each key and list on the path to nested labels is: system, query, rubric, judge or run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..columns.query_names import NAMES_OF_QUERIES, bare_name, is_answer
from ..columns.specs import Kind, rater_of
from ..guess import MODEL
from ..paths import is_path, leads_to, parts_of, unescaped
from ..plan import Columns, wide_columns
from ..rules import sources_of
from ..wide.column_names import called_judge
from .field_names import GRADER, OWN_NAMES, RATINGS, holds_judges, holds_labels, last_name


def with_levels(
    kind: Kind, found: Columns, fields: Mapping[str, Sequence[Any]], given: Columns
) -> tuple[Columns, bool]:
    """(the paths with columns for the keys and lists on the way to the labels, whether to ask if this is right).

    given: the user's mapping.
    """
    found, alike = _with_siblings(found, fields)
    found = _with_only_judge(kind, found)
    who = rater_of(kind)
    if within := _judges_within(found, who):
        found = {**found, "system": found[who], who: found["system"]}
    if answered := "system" not in {**found, **given} and _have_answers(str(found.get(who, "")), fields):
        found = {**{c: v for c, v in found.items() if c != who}, "system": found[who]}
    unlike = _keys_unlike_judges(kind, found, fields)
    if unlike:
        found = _with_keys_as_else(kind, found, _has_query_column(fields))
    if unnamed := _levels_unnamed(kind, {**found, **given}, fields):
        found = _filled(kind, found, unnamed, fields)
    return found, alike or within or answered or unlike or bool(unnamed)


def _have_answers(keys: str, fields: Mapping[str, Sequence[Any]]) -> bool:
    """Whether another object of answers (``system_outputs``) has the same keys, so that these keys are systems."""
    holder = keys.removesuffix("{}.#")
    if holder == keys:
        return False
    own = {parts_of(f.removeprefix(f"{holder}."))[0] for f in fields if f.startswith(f"{holder}.")}
    texts: dict[str, set[str]] = {}
    for field in (f for f, values in fields.items() if any(isinstance(v, str) for v in values)):
        *home, key = parts_of(field)
        texts.setdefault(".".join(home), set()).add(key)
    return any(len(own) > 1 and texts[home] == own for home in texts if is_answer(_singular(home)))


def _singular(holder: str) -> str:
    """The last word of an object's name, in the singular: "output" for ``system_outputs``."""
    word = bare_name(last_name(holder or "x")).rpartition("_")[2]
    return word.replace("ies", "y") if word.endswith("ies") else word.removesuffix("s")


def _judges_within(found: Columns, who: str) -> bool:
    """Whether keys are read as judges and models in inner lists of reviews as systems, which should be exchanged."""
    keys, system = str(found.get(who, "")), str(found.get("system", ""))
    home = system.rpartition("[].")[0]
    around = keys.endswith("{}.#") and home.startswith(keys.removesuffix("#"))
    evident = holds_judges(keys.removesuffix("{}.#"))
    return around and not evident and bool(holds_judges(home) or RATINGS.search(last_name(home)))


def leaves_others(found: Columns, fields: Mapping[str, Sequence[Any]]) -> bool:
    """Whether the paths leave out fields of the same name and depth that hold labels, too."""
    found, _ = _with_siblings(found, fields)
    read = [f for f in fields if any(leads_to(path, f) for path in _labels_of(found))]
    places = {_place(f) for f in read if is_path(f)}
    return any(_place(f) in places and holds_labels(v) for f, v in fields.items() if f not in read)


def _place(field: str) -> tuple[int, str]:
    """(number of keys in a field's path, its last key)."""
    parts = parts_of(field)
    return len(parts), parts[-1]


def _with_siblings(found: Columns, fields: Mapping[str, Sequence[Any]]) -> tuple[Columns, bool]:
    """(the paths extended to all sibling objects with the same fields, whether there are such objects).

    ``outputs.first.score{}`` becomes ``outputs{}.score{}`` if ``outputs.second.score`` has common criteria. The keys
    are the systems if there is no other system, else the judges.
    """
    label = found.get("label")
    if not isinstance(label, str) or not label.endswith("{}") or is_path(label.partition(".")[0]):
        return found, False
    trail = parts_of(label.removesuffix("{}"))
    whose = next((c for c in ("system", "judge") if c not in found), "")
    for depth in range(1, len(trail) - 1):
        before, after = ".".join(trail[:depth]), ".".join(trail[depth + 1 :])
        inside = [parts_of(f) for f in fields if f.startswith(f"{before}.")]
        criteria: dict[str, set[str]] = {}
        for parts in inside:
            if ".".join(parts[depth + 1 : len(trail)]) == after and len(parts) == len(trail) + 1:
                criteria.setdefault(parts[depth], set()).add(parts[-1])
        own = criteria.pop(trail[depth], set())
        if whose and own and criteria and all(own & other for other in criteria.values()):
            one, every = f"{before}.{trail[depth]}.", f"{before}{{}}."
            return {**{c: _of_every_key(v, one, every) for c, v in found.items()}, whose: f"{every}#"}, True
    return found, False


def _with_only_judge(kind: Kind, found: Columns) -> Columns:
    """The paths with the judge from the key of an object of judges or reviews: ``reviews.gpt-4.scores{}``."""
    who, (label, *_) = rater_of(kind), _labels_of(found)
    trail = parts_of(label)
    for at in range(1, len(trail) - 1):
        holder, key = last_name(trail[at - 1]), unescaped(trail[at])
        of_judges = holds_judges(holder) or RATINGS.search(holder)
        if who not in found and of_judges and (MODEL.search(key) or called_judge(key)):
            home = ".".join(trail[:at])
            of_all = {c: _of_every_key(v, f"{home}.{trail[at]}.", f"{home}{{}}.") for c, v in found.items()}
            return {**of_all, who: f"{home}{{}}.#"}
    return found


def _of_every_key(path: str | tuple[str, ...], one: str, every: str) -> str | tuple[str, ...]:
    """A path, or each path of a tuple, with its beginning ``one`` replaced by ``every``."""
    if isinstance(path, tuple):
        return tuple(p.replace(one, every, 1) if p.startswith(one) else p for p in path)
    return path.replace(one, every, 1) if path.startswith(one) else path


def _labels_of(found: Columns) -> tuple[str, ...]:
    """The paths to labels: a single one, or those of a wide layout."""
    return wide_columns(found) or (str(found.get("label", "")),)


def _keys_unlike_judges(kind: Kind, found: Columns, fields: Mapping[str, Sequence[Any]]) -> bool:
    """Whether keys are read as judges although neither they nor their object are named like judges."""
    holder, _, end = str(found.get(rater_of(kind), "")).rpartition("{}.#")
    if end or not holder or holds_judges(holder) or GRADER.search(last_name(holder)):
        return False
    known = "query" in found or _has_query_column(fields)
    if known and ("system" not in found or RATINGS.search(last_name(holder))):
        return False  # they may be systems, which is asked about later; else each gave some of the ratings
    depth = sum(bool(part.strip("{}[]")) for part in parts_of(holder)) + holder.count("{}")
    read = [parts_of(f) for f in fields if any(leads_to(path, f) for path in _labels_of(found))]
    keys = {unescaped(parts[depth]) for parts in read if len(parts) > depth}
    return not all(GRADER.search(k) or MODEL.search(k) or called_judge(k) for k in keys)


def _with_keys_as_else(kind: Kind, found: Columns, column: bool) -> Columns:
    """The paths with keys unlike judges as the queries, or as the criteria if the items within them name the judges.

    column: whether a plain column may be the query.
    """
    who = rater_of(kind)
    others, keys, rubric = (
        {c: v for c, v in found.items() if c != who},
        found[who],
        str(found.get("rubric", "")),
    )
    if "query" not in found and not column:
        return {**others, "query": keys}
    home, _, name = rubric.rpartition("[].")
    of_judges = name != "#" and (holds_judges(home) or RATINGS.search(last_name(home or "x")))
    return {**others, who: rubric, "rubric": keys} if of_judges else found


def _levels_unnamed(kind: Kind, found: Columns, fields: Mapping[str, Sequence[Any]]) -> list[str]:
    """The places on the labels' path that no canonical column is read from: ``{}``, or ``[]`` of judges or criteria.

    Other lists are handled later.
    """
    label, *_ = _labels_of(found)
    named = (v for c, v in found.items() if c not in ("label", "reason"))
    parts = (v if isinstance(v, tuple) else sources_of(v) or (v,) for v in named)
    paths = [path for own in parts for path in own if path not in _labels_of(found)]
    who, rubric = rater_of(kind), str(found.get("rubric", "="))
    beside = "[]" in rubric and not label.startswith(rubric.partition("[]")[0])
    unnamed = []
    for mark in re.finditer(r"\{\}(?=.)|\[\](?=.)", label):
        place, holder = label[: mark.end()], last_name(label[: mark.start()] or "x")
        inside = [path.removeprefix(f"{place}.") for path in paths if path.startswith(f"{place}.")]
        of_judges = who not in found and not beside and (holds_judges(holder) or RATINGS.search(holder))
        if any("[]" not in rest and "{}" not in rest for rest in inside):
            continue
        if mark[0] == "{}":
            unnamed += [place] if _differ_by_keys_alone(place, label, fields) else []
        elif of_judges or (
            (rubric.startswith("=") or _is_around(rubric, place, found, fields))
            and any(_names_item(place, f) for f in fields)
        ):
            unnamed.append(place)
    return unnamed


def _is_around(rubric: str, place: str, found: Columns, fields: Mapping[str, Sequence[Any]]) -> bool:
    """Whether keys around a list are read as criteria and no query is known, so that they may be the queries."""
    around = rubric.endswith("{}.#") and place.startswith(rubric.removesuffix("#"))
    return around and "query" not in found and not _has_query_column(fields)


def _names_item(place: str, field: str) -> bool:
    """Whether a field is a name or an id of the items of a list."""
    home, _, name = field.rpartition(".")
    return name in OWN_NAMES["rubric"] and home.endswith("[]") and leads_to(place, home)


def _differ_by_keys_alone(place: str, label: str, fields: Mapping[str, Sequence[Any]]) -> bool:
    """Whether several keys at a place have the same inner labels, so that the keys are no groups of criteria."""
    depth = sum(bool(part.strip("{}[]")) for part in parts_of(place)) + place.count("{}") - 1
    read = [parts_of(f) for f in fields if leads_to(label, f)]
    others = [tuple(parts[:depth] + parts[depth + 1 :]) for parts in read]
    return len(set(others)) < len(read)


def _filled(
    kind: Kind, found: Columns, unnamed: Sequence[str], fields: Mapping[str, Sequence[Any]]
) -> Columns:
    """The paths with each unnamed place as the judge, criterion, query or run that is still missing."""
    who, filled = rater_of(kind), dict(found)
    known = "query" in found or _has_query_column(fields)
    for place in unnamed:
        named = (f"{place}.{name}" for name in (*OWN_NAMES[who], *OWN_NAMES["rubric"]))
        held = {f for f in fields if leads_to(place, f)}
        name = (
            f"{place}.#"
            if place.endswith("{}")
            else next((n for n in named if any(leads_to(n, f) for f in held)), "")
        )
        holder = last_name(place.rstrip("[]{}") or "x")
        if not name:
            continue
        if who not in filled and (holds_judges(holder) or RATINGS.search(holder)):
            filled[who] = name
        elif str(filled.get("rubric", "=")).startswith("="):
            filled["rubric"] = name
        elif _is_around(str(filled["rubric"]), place, filled, fields):
            filled |= {"query": filled["rubric"], "rubric": name}
        elif not known and "query" not in filled:
            filled["query"] = name
        elif who not in filled and place.endswith("{}"):
            filled[who] = name
        elif "run" not in filled and kind == "labels" and all(map(str.isdigit, _keys_at(place, fields))):
            filled["run"] = name
    return filled


def _keys_at(place: str, fields: Mapping[str, Sequence[Any]]) -> set[str]:
    """The keys that occur at a place, such as ``tasks{}``."""
    depth = sum(bool(part.strip("{}[]")) for part in parts_of(place)) + place.count("{}") - 1
    return {parts_of(f)[depth] for f in fields if leads_to(place, f)}


def _has_query_column(fields: Mapping[str, Sequence[Any]]) -> bool:
    return any(bare_name(f) in NAMES_OF_QUERIES for f in fields)
