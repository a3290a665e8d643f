"""Labels in the items of lists within nested JSON, or in objects next to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .columns import SPECS, Kind
from .guess import MODEL
from .nested_names import GRADER, holds_labels, is_called, is_label, last_name, others, rank
from .paths import parts_of, unescaped

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


def in_lists(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> dict[str, str] | None:
    """Labels in the items of a list: the deepest list whose items have a field with a label's name."""
    labels = [f for f in fields if "[]." in f and is_label(kind, f) and holds_labels(fields[f])]
    if not labels:
        return None
    at_most = max(f.count("[]") for f in labels)
    deepest = [f for f in labels if f.count("[]") == at_most]
    label = min(deepest, key=lambda f: (_fractional(fields[f]), rank(kind, "label", f), len(f)))
    home = label.rpartition("[]")[0] + "[]"
    mapping = {"label": label} | others(kind, fields, home, {label})
    if "rubric" not in mapping:
        named = [
            f
            for f in fields
            if f.startswith(home + ".") and last_name(f) in _NAMING and f not in mapping.values()
        ]
        if named:
            mapping["rubric"] = min(named, key=lambda f: (_NAMING.index(last_name(f)), len(f)))
    mapping = _with_siblings(kind, fields, mapping)
    return mapping if "rubric" in mapping else {**mapping, "rubric": f"{home}.#"}


def _fractional(values: Sequence[Any]) -> bool:
    return any(isinstance(v, float) and not v.is_integer() for v in values)


def siblings(fields: Mapping[str, Sequence[Any]], label: str) -> tuple[int, list[str]]:
    """(which part of a label's path, its values) where fields that differ in one key alone hold labels too."""
    parts = parts_of(label)
    for at, part in enumerate(parts[:-1]):
        marks = "[]" if part.endswith("[]") else ""
        alike = []
        for field in fields:
            other = parts_of(field)
            same = len(other) == len(parts) and other[:at] + other[at + 1 :] == parts[:at] + parts[at + 1 :]
            if same and other[at].endswith("[]") == bool(marks) and holds_labels(fields[field]):
                alike.append(other[at].removesuffix("[]"))
        if len(alike) > 1:
            return at, alike
    return -1, []


def _with_siblings(
    kind: Kind, fields: Mapping[str, Sequence[Any]], mapping: dict[str, str]
) -> dict[str, str]:
    """The same paths through all objects of which one was found: two graders next to each other are two judges."""
    at, keys = siblings(fields, mapping["label"])
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


def side_by_side(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> dict[str, str] | None:
    """Labels in objects next to each other in a record, one a judge: ``primary.verdict, secondary.verdict``."""
    labels = [
        f
        for f in fields
        if f.count(".") and "[]" not in f.removesuffix("[]") and is_label(kind, f) and holds_labels(fields[f])
    ]
    for label in labels:
        at, keys = siblings(fields, label)
        if at >= 0 and _in_same_records(fields, label, at, keys):
            inside = ".".join(parts_of(label)[: at + 1])
            mapping = {"label": label} | others(kind, fields, "", {label})
            own = {
                c: f
                for f in fields
                for c in SPECS[kind].columns
                if c != "label" and f.startswith(inside + ".") and is_called(kind, c, f)
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
