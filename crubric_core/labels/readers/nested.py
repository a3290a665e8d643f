"""Labels that lie within nested JSON: which paths hold them, from the names of the fields."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .columns import SPECS, Kind, plain_name, synonyms_of
from .guess import MODEL, profile
from .open_questions import IDS_OF_ANSWERS, NAMES_OF_QUERIES
from .paths import is_path, parse_path, parts_of, shape_of, unescaped
from .plan import Columns, FilePlan
from .rules import source_of
from .unused import MOST, is_verdict_field

# names of objects whose keys are criteria (or judges) and whose values are labels
_HOLDERS = frozenset(
    (
        *("scores", "score", "ratings", "rating", "grades", "labels", "annotations", "feedback", "metrics"),
        *("verdicts", "votes", "judgments", "judgements", "rubric_grades", "evaluation", "evaluations"),
        *(
            "criteria",
            "results",
            "rubric_scores",
            "judge_scores",
            "criteria_scores",
            "dimensions",
            "feedback_stats",
        ),
    )
)
_NAMING = (
    "rubric",
    "criterion",
    "criteria",
    "metric",
    "dimension",
    "aspect",
    "name",
    "key",
    "requirements",
    "title",
)
_LABELS = (
    "success",
    "correct",
    "is_correct",
    "avg",
)  # names of labels, where nothing but their place says so
_LABEL_ALIKE = 0.8


@dataclass(frozen=True)
class Nested:
    """Canonical column → path; sure: whether names alone tell it; missing: what the labels still lack."""

    mapping: Mapping[str, str]
    sure: bool
    missing: tuple[str, ...]

    def question(self, name: str, mapping: Columns) -> str:
        """What to ask of a file whose labels may lie there."""
        shown = json.dumps(mapping, ensure_ascii=False)
        lacking = f", and say its {' and '.join(self.missing)}" if self.missing else ""
        return f"{name} seems to hold labels within its records: if so, read it with the mapping {shown}{lacking}."


def find_nested(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> Nested | None:
    """The paths to the labels of nested records; None where no list or object within them holds any.

    fields: path → values, as ``paths.fields_of_records`` gathers them.
    """
    if kind not in ("labels", "gold"):
        return None
    found = (
        _in_lists(kind, fields)
        or _in_objects(kind, fields)
        or _side_by_side(kind, fields)
        or _in_tree(fields)
    )
    if found is None:
        return None
    lacking = tuple(c for c in SPECS[kind].needed if c not in found)
    whole = all(re.fullmatch(r"\{\}\.[^#]+", found.get(c, "")) for c in ("system", "rubric"))
    by_place = found.get("rubric", "").endswith("[].#") or (found["label"].startswith("{}") and not whole)
    return Nested(found, set(lacking) <= {"system"} and not by_place, lacking)


def with_nested_unused(plan: FilePlan, fields: Mapping[str, Sequence[Any]]) -> FilePlan:
    """The plan with the fields within records that nothing is taken from, in place of the columns that hold them."""
    used = {c for v in plan.mapping.values() for c in (v if isinstance(v, tuple) else (v,))}
    used |= {source_of(c) or c for c in used}
    shapes = {shape_of(c) for c in used}
    ends = [
        parts_of(c)[1:] for c in used if c.startswith("{}")
    ]  # of the records of one object, whatever its keys
    inner = {
        f: v
        for f, v in fields.items()
        if is_path(f)
        and not any(_covers(s, f) for s in shapes)
        and parts_of(f)[1:] not in ends
        and [] not in ends
    }
    tops = {_top(f) for f in fields if is_path(f)}
    suspects = [f for f, v in inner.items() if is_verdict_field(f, v)]
    return replace(
        plan,
        unused=(*(c for c in plan.unused if c not in tops), *inner)[:MOST],
        suspects=tuple(dict.fromkeys([*plan.suspects, *suspects])),
    )


def _covers(shape: str, field: str) -> bool:
    return field == shape or (field.startswith((f"{shape}.", f"{shape}[")) and bool(shape))


def _top(field: str) -> str:
    return field.partition(".")[0].partition("[")[0]


def _in_lists(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> dict[str, str] | None:
    """Labels in the items of a list: the deepest list whose items have a field with a label's name."""
    labels = [f for f in fields if "[]." in f and _is_label(kind, f) and _holds_labels(fields[f])]
    if not labels:
        return None
    at_most = max(f.count("[]") for f in labels)
    deepest = [f for f in labels if f.count("[]") == at_most]
    label = min(deepest, key=lambda f: (_fractional(fields[f]), _rank(kind, "label", f), len(f)))
    home = label.rpartition("[]")[0] + "[]"
    mapping = {"label": label} | _others(kind, fields, home, {label})
    if "rubric" not in mapping:
        named = [
            f
            for f in fields
            if f.startswith(home + ".") and _last(f) in _NAMING and f not in mapping.values()
        ]
        if named:
            mapping["rubric"] = min(named, key=lambda f: (_NAMING.index(_last(f)), len(f)))
    mapping = _with_siblings(kind, fields, mapping)
    return mapping if "rubric" in mapping else {**mapping, "rubric": f"{home}.#"}


def _siblings(fields: Mapping[str, Sequence[Any]], label: str) -> tuple[int, list[str]]:
    """(which part of a label's path, its values) where fields that differ in one key alone hold labels too."""
    parts = parts_of(label)
    for at, part in enumerate(parts[:-1]):
        marks = "[]" if part.endswith("[]") else ""
        alike = []
        for field in fields:
            other = parts_of(field)
            same = len(other) == len(parts) and other[:at] + other[at + 1 :] == parts[:at] + parts[at + 1 :]
            if same and other[at].endswith("[]") == bool(marks) and _holds_labels(fields[field]):
                alike.append(other[at].removesuffix("[]"))
        if len(alike) > 1:
            return at, alike
    return -1, []


def _with_siblings(
    kind: Kind, fields: Mapping[str, Sequence[Any]], mapping: dict[str, str]
) -> dict[str, str]:
    """The same paths through all objects of which one was found: two graders next to each other are two judges."""
    at, keys = _siblings(fields, mapping["label"])
    if at < 0:
        return mapping
    parts = parts_of(mapping["label"])
    before, marks = parts[:at], "[]" if parts[at].endswith("[]") else ""
    old, holder = ".".join(parts[: at + 1]), ".".join(before) + "{}"
    found = {
        c: holder + marks + path.removeprefix(old) if path == old or path.startswith(old + ".") else path
        for c, path in mapping.items()
    }
    who = "annotator" if kind == "gold" else "judge"
    graders = all(GRADER.search(unescaped(k)) or MODEL.search(unescaped(k)) for k in keys)
    if "rubric" not in found and not graders:
        found["rubric"] = f"{holder}.#"
    elif not before and not graders:  # a file of one object whose keys name its records
        found.setdefault("query", f"{holder}.#")
    elif who not in found:
        found[who] = f"{holder}.#"
    return found


def _side_by_side(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> dict[str, str] | None:
    """Labels in objects next to each other in a record, one a judge: ``primary.verdict, secondary.verdict``."""
    labels = [
        f
        for f in fields
        if f.count(".")
        and "[]" not in f.removesuffix("[]")
        and _is_label(kind, f)
        and _holds_labels(fields[f])
    ]
    for label in labels:
        at, keys = _siblings(fields, label)
        if at >= 0 and _in_same_records(fields, label, at, keys):
            inside = ".".join(parts_of(label)[: at + 1])
            mapping = {"label": label} | _others(kind, fields, "", {label})
            own = {
                c: f
                for f in fields
                for c in SPECS[kind].columns
                if c != "label" and f.startswith(inside + ".") and _is(kind, c, f)
            }
            outside = {c: f for c, f in mapping.items() if "." not in f or c == "label"}
            found = _with_siblings(kind, fields, outside | own)
            return found | ({"run": f"{found['label']}.#"} if label.endswith("[]") else {})
    return None


def _in_same_records(fields: Mapping[str, Sequence[Any]], label: str, at: int, keys: Sequence[str]) -> bool:
    """Whether most records with one of these objects have the others too: not a log of events of several kinds."""
    parts = parts_of(label)
    counts = [len(fields[".".join([*parts[:at], key, *parts[at + 1 :]])]) for key in keys]
    return 2 * min(counts) >= max(counts)


GRADER = re.compile(
    r"(?i)judge|grader|rater|human|annotator|reviewer|expert|evaluator|physician|doctor|nurse|assessor"
)


def _in_objects(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> dict[str, str] | None:
    """Labels as the values of an object such as ``scores``: its keys are criteria, else judges."""
    groups: dict[str, list[str]] = {}
    for field in fields:
        trail = parts_of(field)
        for depth in range(1, len(trail)):
            if plain_name(trail[depth - 1].replace("[]", "")) in _HOLDERS and "[]" not in trail[depth - 1]:
                groups.setdefault(".".join(trail[:depth]), []).append(field)
                break
    for holder, members in groups.items():
        mapping = _of_object(kind, fields, holder, members)
        if mapping is not None:
            return mapping
    return None


def _of_object(
    kind: Kind, fields: Mapping[str, Sequence[Any]], holder: str, members: Sequence[str]
) -> dict[str, str] | None:
    within = [parts_of(m.removeprefix(holder + ".")) for m in members]
    tails, keys = {".".join(parts[1:]) for parts in within}, {parts[0] for parts in within}
    listed = all(k.endswith("[]") for k in keys) and tails == {""}
    inner = [t for t in tails if t and _is_label(kind, t)]
    if tails == {""}:
        label = f"{holder}{{}}" + ("[]" if listed else "")
        held = members
    elif len(inner) == 1:
        label = f"{holder}{{}}.{inner[0]}"
        held = [m for m in members if m.endswith(f".{inner[0]}")]
    elif _two_deep(within):
        return _of_two(kind, fields, holder, members)
    elif records := _of_groups(kind, holder, within):
        return records | _others(kind, fields, "", set(members))
    else:
        return None
    if not held or sum(_holds_labels(fields[m]) for m in held) < _LABEL_ALIKE * len(held):
        return None
    home = holder[: holder.rindex("[]") + 2] if "[]" in holder else ""
    mapping = {"label": label} | _others(kind, fields, home, set(members))
    reasons = [t for t in tails if t and _is(kind, "reason", t)]
    mapping |= {"reason": f"{holder}{{}}.{reasons[0]}"} if len(reasons) == 1 else {}
    who = "annotator" if kind == "gold" else "judge"
    names = [unescaped(k).removesuffix("[]") for k in keys]
    if "rubric" in mapping and who not in mapping:
        mapping[who] = f"{holder}{{}}.#"
    elif "rubric" in mapping or (all(map(MODEL.search, names)) and who not in mapping):
        return None
    else:
        mapping["rubric"] = f"{holder}{{}}.#"
        if listed and who not in mapping:
            mapping[who] = f"{holder}{{}}[].#"
    return mapping


def _of_groups(kind: Kind, holder: str, within: Sequence[Sequence[str]]) -> dict[str, str] | None:
    """``scores.clarity.Is it short?.score``: criteria in groups (dimensions, or judges), each with a label."""
    fields = {parts[-1] for parts in within}
    labels = [f for f in fields if _is_label(kind, f)]
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
    if not judges and len(set(names)) < len(names):
        return None
    inner = f"{holder}{{}}{{}}"
    found = {"label": f"{inner}.{labels[0]}", "rubric": f"{inner}.#"}
    reason = next((f for f in sorted(fields) if _is(kind, "reason", f)), None)
    found |= {"reason": f"{inner}.{reason}"} if reason else {}
    return found | ({"annotator" if kind == "gold" else "judge": f"{holder}{{}}.#"} if judges else {})


def _two_deep(within: Sequence[Sequence[str]]) -> bool:
    """Whether an object holds objects with the same keys each: judges of criteria, or criteria of judges."""
    keys: dict[str, set[str]] = {}
    for parts in within:
        keys.setdefault(parts[0], set()).add(".".join(parts[1:]))
    alike = len({frozenset(k) for k in keys.values()}) == 1
    return len(keys) > 1 and alike and all(len(p) == 2 and "[]" not in p[0] + p[1] for p in within)


def _of_two(
    kind: Kind, fields: Mapping[str, Sequence[Any]], holder: str, members: Sequence[str]
) -> dict[str, str] | None:
    """``scores{}{}``: the keys that name judges tell which of the two levels is the judge's."""
    if sum(_holds_labels(fields[m]) for m in members) < _LABEL_ALIKE * len(members):
        return None
    who = "annotator" if kind == "gold" else "judge"
    levels = [[unescaped(parts_of(m.removeprefix(holder + "."))[i]) for m in members] for i in (0, 1)]
    names = [all(MODEL.search(k) or GRADER.search(k) for k in level) for level in levels]
    if names[0] == names[1]:
        return None
    home = holder[: holder.rindex("[]") + 2] if "[]" in holder else ""
    mapping = {"label": f"{holder}{{}}{{}}"} | _others(kind, fields, home, set(members))
    if {who, "rubric"} & set(mapping):
        return None
    outer, inner = (who, "rubric") if names[0] else ("rubric", who)
    return mapping | {outer: f"{holder}{{}}.#", inner: f"{holder}{{}}{{}}.#"}


def _in_tree(fields: Mapping[str, Sequence[Any]]) -> dict[str, str] | None:
    """One record whose keys are systems, queries and criteria, in any order, and whose leaves are all labels.

    Keys that are named after models tell the systems; where two levels are, the inner one has the judges.
    """
    depths = {len(parts_of(field)) for field in fields}
    if depths not in ({2}, {3}) or any("[]" in f or not _holds_labels(v) for f, v in fields.items()):
        return None
    depth = max(depths)
    models = [i for i in range(depth) if all(MODEL.search(parts_of(field)[i]) for field in fields)]
    if not 0 < len(models) < depth:
        return None
    named = dict(zip(("system", "judge"), models, strict=False))
    others = [i for i in range(depth) if i not in models]
    named |= dict(zip(("query", "rubric")[-len(others) :], others, strict=True))
    return {c: "{}" * (i + 1) + ".#" for c, i in named.items()} | {"label": "{}" * depth}


def _others(kind: Kind, fields: Mapping[str, Sequence[Any]], home: str, taken: set[str]) -> dict[str, str]:
    """The other columns by their names: of the list's items first, then of what is around them."""
    steps = parse_path(f"{home}.x").steps if home else ()
    usable = [
        f
        for f in fields
        if f not in taken and (t := parse_path(f).steps) == steps[: len(t)] and not f.endswith("[]")
    ]
    found: dict[str, str] = {}
    for canonical in SPECS[kind].columns:
        fits = [
            f for f in usable if f not in found.values() and canonical != "label" and _is(kind, canonical, f)
        ]
        # the deeper, the nearer to the label; of the same depth the shorter path and the more usual word
        fits.sort(key=lambda f: (-f.count("[]"), f.count("."), _rank(kind, canonical, f)))
        if fits:
            found[canonical] = fits[0]
    texts = [f for f in usable if _may_be_query(f, home) and f not in found.values()]
    if "query" not in found and texts:  # of a column of its own that is decided later
        found["query"] = min(texts, key=lambda f: NAMES_OF_QUERIES.index(_last(f)))
    return found


def _may_be_query(path: str, home: str) -> bool:
    """Whether a field within a record, outside the labels themselves, is named after what is answered."""
    name = _last(path)
    inside = home and path.startswith(home + ".")
    return is_path(path) and not inside and name in NAMES_OF_QUERIES and name not in IDS_OF_ANSWERS


def _last(path: str) -> str:
    return plain_name(unescaped(parts_of(path)[-1]).replace("[]", ""))


def _is_label(kind: Kind, path: str) -> bool:
    return _is(kind, "label", path) or _last(path) in _LABELS


def _fractional(values: Sequence[Any]) -> bool:
    return any(isinstance(v, float) and not v.is_integer() for v in values)


def _is(kind: Kind, canonical: str, path: str) -> bool:
    return _last(path) in (canonical, *synonyms_of(kind, canonical))


def _rank(kind: Kind, canonical: str, path: str) -> int:
    names = (canonical, *synonyms_of(kind, canonical))
    return names.index(_last(path)) if _last(path) in names else len(names)


def _holds_labels(values: Sequence[Any]) -> bool:
    cells = [None if v is None else str(v).lower() if isinstance(v, bool) else str(v) for v in values]
    numbers = all(isinstance(v, (int, float)) for v in values if v is not None)
    return any(c is not None for c in cells) and (numbers or profile(cells).labels >= _LABEL_ALIKE)
