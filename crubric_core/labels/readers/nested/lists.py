"""Labels in the items of lists within nested JSON, or in objects next to each other."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..columns.label_names import called_after_criteria, may_hold_labels
from ..columns.query_names import NAMES_OF_QUERIES, bare_name
from ..columns.specs import SPECS, Kind, rater_of
from ..guess import MODEL, profile
from ..paths import list_around, parts_of, unescaped
from ..wide.column_names import crossed_names, crossing
from ..word_lists import word_list
from ..words import is_verdict, levels_of
from .field_names import (
    GRADER,
    LABEL_ALIKE,
    holds_judges,
    holds_labels,
    is_called,
    is_label,
    last_name,
    may_be_labels,
    names_judge,
    others,
    rank,
)
from .item_names import names_criteria, naming_rank, texts_of_items, texts_shared

_SEVERAL = 4  # values from which it is no coincidence that all are the same
_FEW = 12  # different levels of a criterion that only its field's name tells, at most

OF_RUNS = re.compile(
    r"(^|\.)(tool_calls|messages|calls)\[\]\."
)  # what a system did on the way, and no label of it
_OF_CRITERIA = re.compile(r"(^|_)(scores|ratings|grades|rubrics?|criteria)$")  # objects of these, by name
# of a system, beside its labels
_TEXTS = word_list("response answer output completion generation summary text")


_OF_METRICS = word_list("metrics metric criteria dimensions scores evaluations evaluation results")
_ITEMS_NAMES = ("name", "key", "title")  # of the items of a list, where their labels are named within them
_IDS = ("id", "key", "index", "idx", "number", "no", "name")  # of an item among those of its list


def in_lists(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> dict[str, str] | None:
    """Labels in the items of a list: the deepest list whose items have a field with a label's name."""
    labels = [f for f in fields if "[]." in f and may_be_labels(kind, f, fields[f])]
    labels = [f for f in labels if not OF_RUNS.search(f)]
    labels = [f for f in labels if holds_labels(fields[f])] or labels
    if not labels:
        return None
    at_most = max(f.count("[]") for f in labels)
    deepest = [f for f in labels if f.count("[]") == at_most]
    most = max(len(fields[f]) for f in deepest)
    deepest = [f for f in deepest if 2 * len(fields[f]) >= most]  # and not what a few failed items say alone
    pooled: dict[str, list[Any]] = {}
    for f in deepest:
        pooled.setdefault(f.rpartition(".")[2], []).extend(fields[f])
    label = min(
        deepest,
        key=lambda f: (
            _is_constant(pooled[f.rpartition(".")[2]]),
            _fractional(fields[f]),
            fields[f].count(None),
            rank(kind, "label", f),
            len(f),
        ),
    )
    return _of_items(kind, fields, label)


def in_verdicts(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> dict[str, str] | None:
    """The only field in the items of a list that says yes or no, whatever it is called."""
    items = [f for f in fields if "[]." in f and not f.endswith("[]") and not OF_RUNS.search(f)]
    said = [f for f in items if _says_yes_and_no(fields[f])]
    alone = len(said) == 1 and not _says_one_beside(fields, items, said[0])
    return _of_items(kind, fields, said[0]) if alone else None


def _says_one_beside(fields: Mapping[str, Sequence[Any]], items: Sequence[str], said: str) -> bool:
    """Whether a field beside says always yes, or always no, in the same words, in an object of its own."""
    home, words = said.rpartition(".")[0], {str(v) for v in fields[said] if v is not None}
    beside = [f for f in items if f.rpartition(".")[0] == home and f != said and not home.endswith("[]")]
    return any({str(v) for v in fields[f]} <= words and may_hold_labels(last_name(f)) for f in beside)


def _says_yes_and_no(values: Sequence[Any]) -> bool:
    words = {str(v) for v in values if v is not None}
    return set(levels_of(words).values()) >= {0, 1} and all(map(is_verdict, words))


def _of_items(kind: Kind, fields: Mapping[str, Sequence[Any]], label: str) -> dict[str, str]:
    """The columns of labels in the items of a list; without a name of criteria it is the item's place.

    Items that say who judged are labels of what the list around them has.
    """
    home = list_around(label)
    mapping = {"label": label} | others(kind, fields, home, {label})
    if "rubric" not in mapping:
        inside = [f for f in fields if f.startswith(f"{home}.") and f not in mapping.values()]
        named = [f for f in inside if names_criteria(f, fields[f])] or texts_shared(fields, home)
        if named:
            mapping["rubric"] = min(named, key=lambda f: (naming_rank(f), len(f)))
    mapping = _with_siblings(kind, fields, _by_metric(fields, home, mapping))
    if "rubric" in mapping:
        return mapping
    if mapping["label"] == label and (asked := _what_is_asked(kind, fields, home, mapping)):
        return {**mapping, **asked}
    if mapping["label"] != label:
        return {**mapping, "rubric": f"{mapping['label'].rpartition('[]')[0]}[].#"}
    return {**mapping, "rubric": _unnamed(kind, fields, home, mapping)}


def _by_metric(fields: Mapping[str, Sequence[Any]], home: str, mapping: dict[str, str]) -> dict[str, str]:
    """The paths where labels lie in an object of metrics within the items: its keys are the rubrics, and no judges.

    What only names the items, is the query.
    """
    label, named = mapping["label"], mapping.get("rubric", "")
    inside = parts_of(label.removeprefix(f"{home}."))
    if len(inside) != 3 or last_name(inside[0]) not in _OF_METRICS or "[]" in inside[1]:
        return mapping
    if named and (named.rpartition(".")[0] != home or last_name(named) not in _ITEMS_NAMES):
        return mapping
    _, keys = siblings(fields, label)
    if any(GRADER.search(key) or MODEL.search(key) for key in map(unescaped, keys or [inside[1]])):
        return mapping
    found = {c: path for c, path in mapping.items() if c != "rubric"}
    found |= {"query": named} if named and "query" not in found else {}
    return found if keys else {**found, "rubric": f"={unescaped(inside[1])}"}


def _what_is_asked(
    kind: Kind, fields: Mapping[str, Sequence[Any]], home: str, mapping: Mapping[str, str]
) -> dict[str, str]:
    """Rubric and query where the items' questions are asked of each answer to another query, named further out."""
    inner = mapping.get("query", "")
    without = {c: path for c, path in mapping.items() if c != "query"}
    if not inner.startswith(f"{home}.") or texts_of_items(fields, home, without, ()) != inner:
        return {}
    outer = others(kind, {f: v for f, v in fields.items() if not f.startswith(home)}, home, set()).get(
        "query"
    )
    several = outer is not None and len(set(map(str, fields[outer]))) > 1
    return {"rubric": inner, "query": outer} if outer and several else {}


def _unnamed(kind: Kind, fields: Mapping[str, Sequence[Any]], home: str, mapping: Mapping[str, str]) -> str:
    """The rubric of labels in the items of a list that names no criteria.

    It is the item's place, with those of the lists around it that nothing else is known of. Items that are one a system
    or one a judge are about what the list around them has, or else all about the same.
    """
    whose = ("system", rater_of(kind))
    told = [mapping[c] for c in whose if mapping.get(c, "").startswith(f"{home}.")]
    if told and (named := texts_of_items(fields, home, mapping, told)):
        return named
    if any(len({str(v) for v in fields.get(path, ())}) > 1 for path in told):
        home = _around(home)
        if not home or _is_known(home, mapping):
            return f"={last_name(mapping['label'])}"
    if mapping.get("run") == f"{home}.#":
        return f"={last_name(mapping['label'])}"
    if beside := names_beside(kind, fields, home, mapping["label"]):
        return beside
    if named := texts_of_items(fields, home, mapping, told):
        return named
    if mapping.get("query", "").startswith(f"{home}."):
        return f"={last_name(mapping['label'])}"
    outer = _around(home)
    return f"{home}.##" if outer and not _is_known(outer, mapping) else f"{home}.#"


def names_beside(kind: Kind, fields: Mapping[str, Sequence[Any]], home: str, label: str) -> str:
    """The rubrics' names in the items of a list beside, as long as that of the labels: ``rubric[].criterion``.

    Where the items of both have the same ids, the labels' own, as the order may differ: the list beside describes them.
    """
    for field, names in fields.items():
        other = list_around(field)
        beside = other not in (home, "") and _around(other) == _around(home)
        if not beside or len(names) != len(fields[label]) or not all(isinstance(n, str) for n in names):
            continue
        if is_called(kind, "rubric", field):
            ids = (f.removeprefix(home) for f in fields if f.startswith(f"{home}.") and last_name(f) in _IDS)
            shared = (i for i in ids if _are_alike(fields[home + i], fields.get(other + i, ())))
            return home + own if (own := next(shared, "")) else field
    return ""


def _are_alike(some: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether two lists hold the same values, more than one, in any order."""
    return sorted(map(str, some)) == sorted(map(str, others)) and len(set(map(str, some))) > 1


def _around(home: str) -> str:
    """The list around a list; "" where there is none."""
    outer = home.removesuffix("[]").rpartition("[]")[0]
    return f"{outer}[]" if outer else ""


def _is_known(home: str, mapping: Mapping[str, str]) -> bool:
    """Whether something is mapped of the items of a list themselves, and not of lists within them."""
    return any(
        path.startswith(f"{home}.") and "[]" not in path.removeprefix(home) for path in mapping.values()
    )


def in_wide_items(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> dict[str, str | tuple[str, ...]] | None:
    """Labels in several fields of the items of a list, one a criterion, where the items or those around say whose."""
    wide: dict[str, list[str]] = {}
    for field, values in fields.items():
        home, _, key = field.rpartition("[].")
        whole = home and "[]" not in key and "." not in key and may_hold_labels(last_name(field))
        if whole and _are_levels(values):
            wide.setdefault(f"{home}[]", []).append(field)
    for home, labels in sorted(wide.items(), key=lambda item: -len(item[1])):
        if len(labels) < 2:
            continue
        mapping = {"label": labels[0]} | others(kind, fields, home, set(labels))
        if not {"system", "judge", "annotator"} & set(mapping) or "rubric" in mapping:
            continue
        names = [unescaped(parts_of(label)[-1]) for label in labels]
        if "[]" not in mapping.get("system", "[]") and crossed_names(names, 1):
            mapping["system"] = crossing(
                "system", "rubric"
            )  # the model that the file names judged, or is in each
        found = [_with_siblings(kind, fields, {**mapping, "label": label}) for label in labels]
        kept = {c: path for c, path in found[0].items() if c not in ("label", "rubric")}
        holder, alike, _ = found[0]["label"].partition("{}")  # lists next to each other
        keys = f"{holder}{{}}.#"
        if alike and not {"system", keys} & {*kept, *kept.values()} and _share_queries(fields, mapping, home):
            kept["system"] = keys
        return {**kept, "rubric": tuple(f["label"] for f in found)}
    return None


def _share_queries(fields: Mapping[str, Sequence[Any]], mapping: Mapping[str, str], home: str) -> bool:
    """Whether lists next to each other are about the same queries: each is one system's, and no group of queries."""
    holder, _, name = mapping.get("query", "").rpartition("[].")
    if f"{holder}[]" != home:
        return False
    before = parts_of(home)[:-1]
    alike = [f for f in fields if f.endswith(f"[].{name}") and parts_of(f)[:-2] == before]
    asked = [set(map(str, fields[f])) for f in alike]
    return len(asked) > 1 and 2 * len(set.intersection(*asked)) > len(set.union(*asked))


def _are_levels(values: Sequence[Any]) -> bool:
    """Whether values are whole levels of which there are few, or verdicts."""
    held = profile([None if v is None else str(v).lower() if isinstance(v, bool) else str(v) for v in values])
    return held.labels >= LABEL_ALIKE and 1 < held.distinct <= _FEW


def _is_constant(values: Sequence[Any]) -> bool:
    """Whether several values are all the same, so that what varies beside them is rather the label."""
    return len(values) >= _SEVERAL and len({str(v) for v in values if v is not None}) == 1


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
    """The paths through all objects of which one was found: two graders next to each other are two judges."""
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
    rated = bool(before) and _OF_CRITERIA.search(last_name(".".join(before))) and any(map(_is_query, fields))
    numbered = all(map(str.isdigit, keys)) or (marks and _are_ids(keys))
    if numbered and not rated:  # records, and no names
        found.setdefault("query", f"{holder}.#")
        found.setdefault("rubric", f"={last_name(mapping['label'])}")
        return found
    who = rater_of(kind)
    graders = all(GRADER.search(unescaped(k)) or MODEL.search(unescaped(k)) for k in keys)
    judges = holds_judges(".".join(before) or keys[0]) and not called_after_criteria(
        list(map(unescaped, keys))
    )
    graders = graders or judges
    models = not before and all(MODEL.search(unescaped(k)) and not GRADER.search(unescaped(k)) for k in keys)
    if models and "system" not in found and "rubric" in found:  # of one object whose keys are systems
        found["system"] = f"{holder}.#"
        return found
    if not {"system", "rubric"} & set(found) and any(f"{old}{marks}.{word}" in fields for word in _TEXTS):
        found["system"], found["rubric"] = f"{holder}.#", f"={last_name(mapping['label'])}"
    elif "rubric" not in found and not graders:
        found["rubric"] = f"{holder}.#"
    elif not before and not graders:  # a file of one object whose keys name its records
        found.setdefault("system" if "query" in found else "query", f"{holder}.#")
    elif who not in found:
        found[who] = f"{holder}.#"
    return found


def _is_query(field: str) -> bool:
    """Whether a field of the record itself is called after queries."""
    return bare_name(field) in NAMES_OF_QUERIES or is_called("labels", "query", field)


def _are_ids(keys: Sequence[str]) -> bool:
    """Whether keys are of one form but for their numbers, and no models: ``C01``, ``C02``; ``task-3``, ``task-12``."""
    numbered = all(any(map(str.isdigit, key)) for key in keys) and not any(map(MODEL.search, keys))
    forms = {re.sub(r"\d+", "#", unescaped(key)) for key in keys}
    return numbered and not any(map(GRADER.search, keys)) and 2 * len(forms) <= len(keys)


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
            holder = ".".join(parts_of(label)[:at])
            who = [f for f in fields if f.rpartition(".")[0] == holder and names_judge(kind, f, fields[f])]
            beside = {rater_of(kind): f for f in who[:1] if "." in f}
            found = _with_siblings(kind, fields, beside | outside | own)
            whose = "run" if found.get("system") != f"{found['label'].rpartition('.')[0]}.#" else "judge"
            return {whose: f"{found['label']}.#"} | found if label.endswith("[]") else found
    return None


def _in_same_records(fields: Mapping[str, Sequence[Any]], label: str, at: int, keys: Sequence[str]) -> bool:
    """Whether most records with one of these objects have the others too: not a log of events of several kinds."""
    parts = parts_of(label)
    counts = [len(fields[".".join([*parts[:at], key, *parts[at + 1 :]])]) for key in keys]
    return 2 * min(counts) >= max(counts)
