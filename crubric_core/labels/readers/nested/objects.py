"""Find labels that are the values of objects within nested JSON, keyed by criteria, judges, systems or queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..columns.label_names import called_after_criteria, is_certainty, may_hold_labels
from ..columns.specs import Kind, plain_name, rater_of
from ..file_names import split_by
from ..guess import MODEL
from ..paths import list_around, parts_of, unescaped
from ..wide.column_names import called_after_queries, called_judge, drawn_names, repeats_among, without_draws
from ..wide.label_columns import is_state
from ..word_lists import word_set
from .criteria import lists_names
from .field_names import (
    GRADER,
    LABEL_ALIKE,
    holds_judges,
    holds_labels,
    is_called,
    is_label,
    last_name,
    names_judge,
    others,
)

# names of objects whose keys are criteria (or judges) and whose values are labels
HOLDERS = word_set(
    "scores score ratings rating grades labels annotations feedback metrics metric verdicts votes "
    "judgments judgements rubric_grades evaluation evaluations criteria results dimensions feedback_stats "
    "rubric_scores judge_scores criteria_scores criterion_scores dimension_scores aspect_scores "
    "axis_scores criteria_results criterion_results rubric_results judge_response judge_output "
    "judge_reply judge_result judgment judgement parsed parsed_response parsed_output parsed_reply parsed_scores "
    "parsed_judgment parsed_judgement"
)

_FAILED = frozenset(("error", "errors", "error_message", "parse_error", "exception"))  # beside no labels
_BOUNDS = word_set(
    "max_score min_score max_points min_points max_marks points_possible possible_points out_of"
)


def in_objects(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> Mapping[str, str | tuple[str, ...]] | None:
    """Canonical column → path for labels in an object such as ``scores``, keyed by criteria or judges; None if none."""
    groups: dict[str, list[str]] = {}
    for field in fields:
        if holder := _holder_of(parts_of(field)):
            groups.setdefault(holder, []).append(field)
    for holder, members in groups.items():
        if _sums_up(fields, holder, members):
            continue
        within, known = _without_names(kind, fields, holder, members)
        labels = [m for m in within if not _is_no_label(fields, m, within)]
        known = {f: v for f, v in known.items() if f not in within or f in labels}
        if each := _one_each(kind, known, holder, labels):
            return each
        inner = _object_within(holder, labels)
        alone = inner is not None and inner[1] == labels != list(members)  # the rest names the judge
        mapping = _of_object(kind, known, holder, labels) if labels and not alone else None
        if mapping is not None:
            return mapping if len(labels) == len(members) else _one_by_one(mapping, labels)
        if inner and (found := _of_object(kind, known, *inner)):
            return found
    return None


def _one_each(
    kind: Kind, fields: Mapping[str, Sequence[Any]], holder: str, members: Sequence[str]
) -> dict[str, str | tuple[str, ...]] | None:
    """Paths of the labels of scorers that have different fields for them (``a.passed``, ``b.value``); else None.

    The label of a scorer is its only yes or no, else its only field with a label's name.
    """
    scorers: dict[str, list[str]] = {}
    for member in members:
        key, *rest = parts_of(member.removeprefix(f"{holder}."))
        if len(rest) != 1 or "[]" in key + rest[0]:
            return None
        scorers.setdefault(key, []).append(member)
    own = [{last_name(m) for m in held if is_label(kind, m)} for held in scorers.values()]
    if len(own) < 2 or set.intersection(*own):
        return None
    found = []
    for held in scorers.values():
        said = [m for m in held if all(isinstance(v, bool) for v in fields[m])]
        labels = said or [m for m in held if is_label(kind, m) and holds_labels(fields[m])]
        if len(labels) != 1:
            return None
        found += labels
    return {"rubric": tuple(found), **others(kind, fields, list_around(holder), set(members))}


def _without_names(
    kind: Kind, fields: Mapping[str, Sequence[Any]], holder: str, members: Sequence[str]
) -> tuple[list[str], Mapping[str, Sequence[Any]]]:
    """(the fields of an object that may be labels, all fields), without names of judges and reasons among the former.

    If a field around the object names the judge, the names of judges within are removed from all fields.
    """
    own = [m for m in members if m.rpartition(".")[0] == holder]
    judge = [m for m in own if names_judge(kind, m, fields[m])]
    said = [m for m in own if is_called(kind, "reason", m) and not holds_labels(fields[m])]
    labels = [m for m in members if m not in (*judge, *said)]
    if not labels or len(labels) == len(members):
        return list(members), fields
    around = ("", list_around(holder))
    outside = [f for f in fields if f not in members and list_around(f) in around]
    without = judge if any(names_judge(kind, f, fields[f]) for f in outside) else judge[1:]
    return labels, {f: v for f, v in fields.items() if f not in without}


def _is_no_label(fields: Mapping[str, Sequence[Any]], member: str, members: Sequence[str]) -> bool:
    """Whether a field among labels is a certainty, an error, a maximum (``max_score``) or a state (``is_final``)."""
    name, values = last_name(member), fields[member]
    if is_certainty(name) or name in _FAILED or name in _BOUNDS:
        return True
    flag = all(isinstance(v, bool) for v in values) and is_state(name, [str(v) for v in values])
    others = (v for m in members if m != member for v in fields[m])
    return flag and (name.startswith("is_") or any(not isinstance(v, bool) for v in others))


def _object_within(holder: str, members: Sequence[str]) -> tuple[str, list[str]] | None:
    """(path, fields) of the first inner object with a name in HOLDERS: ``metrics.criteria_scores``; None if none."""
    for member in members:
        key, *rest = parts_of(member.removeprefix(f"{holder}."))
        inner = f"{holder}.{key}"
        if rest and plain_name(key).strip("_") in HOLDERS:
            return inner, [m for m in members if m.startswith(f"{inner}.")]
    return None


def _holder_of(trail: Sequence[str]) -> str:
    """The first object on a field's path with a name in HOLDERS, else the first named after judges; or ""."""
    homes = [depth for depth in range(1, len(trail)) if "[]" not in trail[depth - 1]]
    named = [d for d in homes if plain_name(trail[d - 1]).strip("_") in HOLDERS]
    named = named or [d for d in homes if holds_judges(trail[d - 1])]
    return ".".join(trail[: named[0]]) if named else ""


def _sums_up(fields: Mapping[str, Sequence[Any]], holder: str, members: Sequence[str]) -> bool:
    """Whether an object has the keys of the items of a list, whose means it holds: ``metrics`` beside ``rows[]``."""
    keys = [unescaped(m.removeprefix(f"{holder}.")) for m in members]
    items = [unescaped(f) for f, values in fields.items() if "[]." in f and len(values) > 1]
    ended = sum(any(item.endswith((f".{key}", f"[].{key}")) for item in items) for key in keys)
    return "[]" not in holder and 2 * ended > len(keys)


def _of_object(
    kind: Kind, fields: Mapping[str, Sequence[Any]], holder: str, members: Sequence[str]
) -> dict[str, str] | None:
    within = [parts_of(m.removeprefix(holder + ".")) for m in members]
    tails, keys = {".".join(parts[1:]) for parts in within}, {parts[0] for parts in within}
    plain_keys, home = [unescaped(k).removesuffix("[]") for k in keys], list_around(holder)
    listed = all(k.endswith("[]") for k in keys) and tails == {""}
    inner = [t for t in tails if t and is_label(kind, t)]
    of_each = len(inner) == 1 and not _is_one_more(inner[0], tails)
    if not of_each and _two_deep(within) and (two := _of_two(kind, fields, holder, members)):
        return two
    if tails == {""}:
        label = f"{holder}{{}}" + ("[]" if listed else "")
        held = members
    elif len(inner) == 1:
        label = f"{holder}{{}}.{inner[0]}"
        held = [m for m in members if m.endswith(f".{inner[0]}")]
    elif found := _of_dimensions(fields, holder, members) or _of_panels(fields, holder, members, kind):
        around = others(kind, fields, home, set(members))
        return None if set(found) & set(around) else around | found
    elif records := _of_groups(kind, holder, within):
        return records | others(kind, fields, "", set(members))
    else:
        return None
    if not held or sum(holds_labels(fields[m]) for m in held) < LABEL_ALIKE * len(held):
        return None
    if 2 * sum(map(may_hold_labels, plain_keys)) < len(keys):
        return None  # latency, retries
    mapping = {"label": label} | _around(kind, fields, home, members, plain_keys)
    reasons = [t for t in tails if t and is_called(kind, "reason", t)]
    mapping |= {"reason": f"{holder}{{}}.{reasons[0]}"} if len(reasons) == 1 else {}
    if listed:
        criteria = _criteria_beside(fields, plain_keys, members)
        keyed = _keyed_lists(kind, mapping, plain_keys, holder, criteria)
    else:
        keyed = _keyed_by(kind, mapping, plain_keys, holder)
    return None if keyed is None else mapping | keyed


def _around(
    kind: Kind, fields: Mapping[str, Sequence[Any]], home: str, members: Sequence[str], keys: Sequence[str]
) -> dict[str, str]:
    """Canonical column → path of the fields around an object of labels.

    A rubric with the same value in all records is left out if the keys are criteria: it names the set of criteria.
    """
    found = others(kind, fields, home, set(members))
    named = set(map(str, fields.get(found.get("rubric", ""), ())))
    if len(named) == 1 and called_after_criteria(keys):
        del found["rubric"]
    return found


def _one_by_one(
    found: Mapping[str, str], labels: Sequence[str]
) -> Mapping[str, str | tuple[str, ...]] | None:
    """The paths with each label spelt out in place of ``scores{}``, because other keys of the object are no labels."""
    home, every, tail = found["label"].rpartition("{}")
    if tail.startswith("."):
        return found
    whose = [c for c, path in found.items() if path == f"{found['label']}.#"]
    if tail or not every or len(whose) != 1:
        return None
    keys = list(dict.fromkeys(parts_of(path)[-1] for path in labels))
    kept = {c: path for c, path in found.items() if c != "label"}
    if len(keys) > 1:
        return {**kept, whose[0]: tuple(f"{home}.{key}" for key in keys)}
    return {**kept, whose[0]: f"={unescaped(keys[0])}", "label": f"{home}.{keys[0]}"}


def _keyed_lists(
    kind: Kind, mapping: Mapping[str, str], keys: Sequence[str], holder: str, criteria: str | None
) -> dict[str, str] | None:
    """Canonical columns of the keys and items of an object of lists of labels; None where the keys may be the systems.

    If criteria are listed beside it, or the keys are judges, each list is a judge's, with one item for each criterion
    or run. Otherwise each list is a criterion's, with one item for each judge.
    """
    who = rater_of(kind)
    key, item = f"{holder}{{}}.#", f"{holder}{{}}[].#"
    called = bool(GRADER.search(parts_of(holder)[-1])) or all(map(GRADER.search, keys))
    judges = called or criteria or "rubric" in mapping or all(map(MODEL.search, keys))
    if criteria and all(map(MODEL.search, keys)) and not called and "system" not in mapping:
        return {"system": key, "rubric": criteria}  # they may also be judges, which is asked
    if judges and (who in mapping or not (called or "system" in mapping)):
        return None
    if judges:
        return {who: key} | ({"run": item} if "rubric" in mapping else {"rubric": criteria or item})
    return {"rubric": key} | ({who: item} if who not in mapping else {})


def _criteria_beside(
    fields: Mapping[str, Sequence[Any]], keys: Sequence[str], members: Sequence[str]
) -> str | None:
    """The list of criteria that fits the items of the lists of labels; None if there is none, or keys are criteria."""
    longest = max(len(fields[m]) for m in members)
    for field, names in fields.items():
        known = set(map(str, names))
        texts = all(isinstance(n, str) for n in names) and len(known) > 1
        if texts and lists_names(field) and longest % len(names) == 0 and not known & set(keys):
            return field
    return None


def _keyed_by(
    kind: Kind, mapping: Mapping[str, str], keys: Sequence[str], holder: str
) -> dict[str, str] | None:
    """Canonical column → path for the keys of an object of labels (criteria, judges, runs); None if perhaps systems."""
    who = rater_of(kind)
    path, known = f"{holder}{{}}.#", {"system", "query"} <= set(mapping)
    if repeats_among(keys) == tuple(keys) and kind == "labels":
        return {"run": path} | ({} if "rubric" in mapping else {"rubric": "=score"})
    if "rubric" in mapping:
        return _with_draws({who: path}, keys) if who not in mapping else None
    if holds_judges(holder) and who not in mapping and not called_after_criteria(keys):
        return _with_draws({who: path, "rubric": "=score"}, keys)
    whose = without_draws(keys)
    if (all(map(MODEL.search, whose)) or all(map(called_judge, whose))) and who not in mapping:
        return _with_draws({who: path, "rubric": "=score"}, keys) if known else None
    return _with_draws({"rubric": path}, keys)


def _with_draws(found: dict[str, str], keys: Sequence[str]) -> dict[str, str]:
    """The paths with a rule for the run, if each key also contains a numbered run: ``gpt4_run1``; else unchanged."""
    whose, path = next(iter(found.items()))
    drawn = drawn_names(keys)
    wanted = [{"run": run, whose: name} for run, name in drawn or ()]
    for separator in "_- ./":
        for rule in (f"{{{whose}}}{separator}{{run}}", f"{{run}}{separator}{{{whose}}}"):
            if wanted and [split_by(rule, key) for key in keys] == wanted:
                return {**found, whose: f"{path} ~ {rule}", "run": f"{path} ~ {rule}"}
    return found


def _of_groups(kind: Kind, holder: str, within: Sequence[Sequence[str]]) -> dict[str, str] | None:
    """Paths for criteria in groups (dimensions or judges), each with a label field; None for other objects.

    Example: ``scores.clarity.Is it short?.score``.
    """
    fields = {parts[-1] for parts in within}
    labels = [f for f in fields if is_label(kind, f)]
    criteria: dict[str, set[str]] = {}
    for parts in within:
        criteria.setdefault(parts[0], set()).add(parts[1] if len(parts) == 3 else "")
    names = [name for own in criteria.values() for name in own]
    if (
        len(labels) != 1
        or "" in names
        or any(len(parts) != 3 or "[]" in parts[0] + parts[1] for parts in within)
    ):
        return None
    judges = all(GRADER.search(k) or MODEL.search(k) for k in map(unescaped, criteria))
    again = not judges and len(set(names)) < len(names)
    if again and len({frozenset(own) for own in criteria.values()}) == 1:
        return None  # judges, or systems
    inner = f"{holder}{{}}{{}}"
    found = {
        "label": f"{inner}.{labels[0]}",
        "rubric": f"{holder}{{}}.# + {inner}.#" if again else f"{inner}.#",
    }
    reason = next((f for f in sorted(fields) if is_called(kind, "reason", f)), None)
    found |= {"reason": f"{inner}.{reason}"} if reason else {}
    return found | ({rater_of(kind): f"{holder}{{}}.#"} if judges else {})


def _of_dimensions(
    fields: Mapping[str, Sequence[Any]], holder: str, members: Sequence[str]
) -> dict[str, str]:
    """Paths for criteria in groups that are no judges, as in ``scores.style.tone``; {} for other objects.

    If a criterion's name occurs in several groups, the rubric's name includes the group.
    """
    within = [parts_of(m.removeprefix(f"{holder}.")) for m in members]
    groups = {unescaped(parts[0]) for parts in within}
    whole = all(len(parts) == 2 and "[]" not in parts[0] + parts[1] for parts in within)
    names = {parts[-1] for parts in within}
    keys = {
        frozenset(parts[1] for parts in within if unescaped(parts[0]) == group) for group in groups if whole
    }
    apart = len(within) > len(groups) > 1 and (len(names) == len(within) or len(keys) > 1)
    judges = any(GRADER.search(key) or MODEL.search(key) for key in groups)
    if not whole or not apart or judges or not all(holds_labels(fields[m]) for m in members):
        return {}
    label = f"{holder}{{}}{{}}"
    again = len(names) < len(within)
    return {"label": label, "rubric": f"{holder}{{}}.# + {label}.#" if again else f"{label}.#"}


def _of_panels(
    fields: Mapping[str, Sequence[Any]], holder: str, members: Sequence[str], kind: Kind
) -> dict[str, str]:
    """Paths for judges within each criterion, as in ``scores.tone.per_judge.ann``; {} for other objects."""
    within = {m: parts_of(m.removeprefix(f"{holder}.")) for m in members}
    held = {m: parts for m, parts in within.items() if len(parts) == 3 and holds_judges(parts[1])}
    panels = {parts[1] for parts in held.values()}
    every = {parts[0] for parts in held.values()} == {parts[0] for parts in within.values()}
    if len(panels) != 1 or not every or not all(holds_labels(fields[m]) for m in held):
        return {}
    label, who = f"{holder}{{}}.{min(panels)}{{}}", rater_of(kind)
    return {"label": label, "rubric": f"{holder}{{}}.#", who: f"{label}.#"}


def _two_deep(within: Sequence[Sequence[str]]) -> bool:
    """Whether an object holds several objects with the same keys: judges within criteria, or the reverse."""
    keys: dict[str, set[str]] = {}
    for parts in within:
        keys.setdefault(parts[0], set()).add(".".join(parts[1:]))
    alike = len({frozenset(k) for k in keys.values()}) == 1
    return len(keys) > 1 and alike and all(len(p) == 2 and "[]" not in p[0] + p[1] for p in within)


def _is_one_more(label: str, keys: Collection[str]) -> bool:
    """Whether a key with a label's name lies beside several keys named like criteria, and so is a criterion, too."""
    others = [unescaped(key) for key in keys if key != label]
    return len(others) > 1 and called_after_criteria(others)


def _of_two(
    kind: Kind, fields: Mapping[str, Sequence[Any]], holder: str, members: Sequence[str]
) -> dict[str, str] | None:
    """Paths for ``scores{}{}`` if the keys of one level are judges or numbered runs; None if this cannot be decided."""
    if sum(holds_labels(fields[m]) for m in members) < LABEL_ALIKE * len(members):
        return None
    who = rater_of(kind)
    levels = [[unescaped(parts_of(m.removeprefix(holder + "."))[i]) for m in members] for i in (0, 1)]
    names = [all(MODEL.search(k) or GRADER.search(k) for k in level) for level in levels]
    names = [True, False] if holds_judges(holder) and not called_after_criteria(levels[0]) else names
    runs = [repeats_among(level) == tuple(level) and kind == "labels" for level in levels]
    if names[0] == names[1] and not any(runs):
        return None
    keys = [key for level in levels for key in level if called_after_criteria(level)]
    mapping = {"label": f"{holder}{{}}{{}}"} | _around(kind, fields, list_around(holder), members, keys)
    if any(runs):
        whose = who if any(names) or "rubric" in mapping else "rubric"
        outer, inner = ("run", whose) if runs[0] else (whose, "run")
        mapping = {"rubric": "=score"} | mapping if whose == who else mapping
        return (
            mapping | {outer: f"{holder}{{}}.#", inner: f"{holder}{{}}{{}}.#"}
            if whose not in mapping
            else None
        )
    if {who, "rubric"} & set(mapping):
        return None
    outer, inner = (who, "rubric") if names[0] else ("rubric", who)
    return mapping | {outer: f"{holder}{{}}.#", inner: f"{holder}{{}}{{}}.#"}


def in_tree(fields: Mapping[str, Sequence[Any]]) -> dict[str, str] | None:
    """Paths for one record with two to four levels of keys (systems, queries, criteria) and only labels as its values.

    Keys named after models are the systems. If two levels are, the inner one is the judges, as is a level named like
    judges. Keys that number tasks or questions are the queries. Of three other levels the last two are a dimension and
    its criteria. None for other records.
    """
    depths = {len(parts_of(field)) for field in fields}
    if depths not in ({2}, {3}, {4}) or any("[]" in f or not holds_labels(v) for f, v in fields.items()):
        return None
    depth = max(depths)
    keys = [[parts_of(field)[i] for field in fields] for i in range(depth)]
    models = [i for i in range(depth) if all(map(MODEL.search, keys[i]))]
    if not 0 < len(models) < depth:
        return None
    judges = [i for i in range(depth) if i not in models and all(map(called_judge, keys[i]))]
    named = dict(zip(("system", "judge"), [*models, *judges], strict=False))
    others = [i for i in range(depth) if i not in named.values()]
    numbered = [i for i in others if called_after_queries(dict.fromkeys(keys[i]))]
    if len(numbered) == 1 and not (len(others) == 3 and numbered[0] == depth - 1):  # criteria of a dimension
        others = [*numbered, *(i for i in others if i not in numbered)]
    if len(others) > 3:
        return None
    wanted = ("query", "rubric") if len(others) > 1 else ("query",) if numbered else ("rubric",)
    named |= dict(zip(wanted, others, strict=False))
    found = {c: "{}" * (i + 1) + ".#" for c, i in named.items()} | {"label": "{}" * depth}
    if len(others) == 3:
        found["rubric"] += " + " + "{}" * (others[2] + 1) + ".#"
    return found if "rubric" in found else found | {"rubric": "=score"}
