"""The keys and lists on the way to nested labels: what each of them names, so that none is left out or mistaken."""

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
    """The paths to labels with what the keys and lists on their way name, and whether that has to be asked."""
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
    """Whether keys on the way to labels are also those of an object of answers: ``system_outputs``."""
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
    """The last word of the name of an object of several: ``output`` of ``system_outputs``."""
    word = bare_name(last_name(holder or "x")).rpartition("_")[2]
    return word.replace("ies", "y") if word.endswith("ies") else word.removesuffix("s")


def _judges_within(found: Columns, who: str) -> bool:
    """Whether keys are taken for the judges, and models within lists of reviews further in for the systems."""
    keys, system = str(found.get(who, "")), str(found.get("system", ""))
    home = system.rpartition("[].")[0]
    around = keys.endswith("{}.#") and home.startswith(keys.removesuffix("#"))
    evident = holds_judges(keys.removesuffix("{}.#"))
    return around and not evident and bool(holds_judges(home) or RATINGS.search(last_name(home)))


def leaves_others(found: Columns, fields: Mapping[str, Sequence[Any]]) -> bool:
    """Whether labels are read of some keys of an object alone, and others hold fields of the same name."""
    found, _ = _with_siblings(found, fields)
    read = [f for f in fields if any(leads_to(path, f) for path in _labels_of(found))]
    places = {_place(f) for f in read if is_path(f)}
    return any(_place(f) in places and holds_labels(v) for f, v in fields.items() if f not in read)


def _place(field: str) -> tuple[int, str]:
    """How deep a field lies, and its own name."""
    parts = parts_of(field)
    return len(parts), parts[-1]


def _with_siblings(found: Columns, fields: Mapping[str, Sequence[Any]]) -> tuple[Columns, bool]:
    """(the paths through every object with the fields of the one whose labels were found, whether there are several).

    ``outputs.first.score{}`` is ``outputs{}.score{}`` where ``outputs.second.score`` has the same criteria. The keys
    are systems where nothing else is, else judges.
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
    """The paths with the judge by the only key of an object of judges: ``reviews.gpt-4.scores{}``."""
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
    """A path, or each of several, with every key of an object in place of one."""
    if isinstance(path, tuple):
        return tuple(p.replace(one, every, 1) if p.startswith(one) else p for p in path)
    return path.replace(one, every, 1) if path.startswith(one) else path


def _labels_of(found: Columns) -> tuple[str, ...]:
    """The paths to labels: one, or those of fields beside each other."""
    return wide_columns(found) or (str(found.get("label", "")),)


def _keys_unlike_judges(kind: Kind, found: Columns, fields: Mapping[str, Sequence[Any]]) -> bool:
    """Whether keys are taken for judges that neither they nor what holds them tell to be such."""
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
    """The paths where keys that are unlike judges are queries, or criteria beside what judges within them are called.

    column: whether the query may be a column of its own.
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
    """What tells labels apart and nothing is taken from, on the way to them: keys, or items of judges or criteria.

    What the items of other lists are is looked for later, and a list beside one may say it.
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
    """Whether keys around a list are taken for the criteria, and no query is known: they may be the queries."""
    around = rubric.endswith("{}.#") and place.startswith(rubric.removesuffix("#"))
    return around and "query" not in found and not _has_query_column(fields)


def _names_item(place: str, field: str) -> bool:
    """Whether a field is a name or an id of the items of a list."""
    home, _, name = field.rpartition(".")
    return name in OWN_NAMES["rubric"] and home.endswith("[]") and leads_to(place, home)


def _differ_by_keys_alone(place: str, label: str, fields: Mapping[str, Sequence[Any]]) -> bool:
    """Whether labels of several keys of an object are the same ones, but for the key: no groups of criteria."""
    depth = sum(bool(part.strip("{}[]")) for part in parts_of(place)) + place.count("{}") - 1
    read = [parts_of(f) for f in fields if leads_to(label, f)]
    others = [tuple(parts[:depth] + parts[depth + 1 :]) for parts in read]
    return len(set(others)) < len(read)


def _filled(
    kind: Kind, found: Columns, unnamed: Sequence[str], fields: Mapping[str, Sequence[Any]]
) -> Columns:
    """The paths where what tells labels apart and is not named is the judge, criterion or query that is missing."""
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
    """The keys that a place on the way to labels stands for: those of ``tasks{}``."""
    depth = sum(bool(part.strip("{}[]")) for part in parts_of(place)) + place.count("{}") - 1
    return {parts_of(f)[depth] for f in fields if leads_to(place, f)}


def _has_query_column(fields: Mapping[str, Sequence[Any]]) -> bool:
    return any(bare_name(f) in NAMES_OF_QUERIES for f in fields)
