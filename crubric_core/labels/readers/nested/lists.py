"""Find labels in the items of lists within nested JSON, or in sibling objects."""

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

_SEVERAL = 4  # least number of equal values that is no coincidence
_FEW = 12  # most different levels of a criterion that is known only by its field's name

OF_RUNS = re.compile(
    r"(^|\.)(tool_calls|messages|calls)\[\]\."
)  # steps of a system, which hold no labels of it
_OF_CRITERIA = re.compile(r"(^|_)(scores|ratings|grades|rubrics?|criteria)$")  # names of objects of criteria
# names of a system's answer beside its labels
_TEXTS = word_list("response answer output completion generation summary text")


_OF_METRICS = word_list("metrics metric criteria dimensions scores evaluations evaluation results")
_ITEMS_NAMES = ("name", "key", "title")  # names of a list's items that hold objects of metrics
_IDS = ("id", "key", "index", "idx", "number", "no", "name")  # ids of the items of a list


def in_lists(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> dict[str, str] | None:
    """Canonical column → path for labels in the items of the deepest list that has a field with a label's name.

    Example: ``results[].score``. None if there is no such list.
    """
    labels = [f for f in fields if "[]." in f and may_be_labels(kind, f, fields[f])]
    labels = [f for f in labels if not OF_RUNS.search(f)]
    labels = [f for f in labels if holds_labels(fields[f])] or labels
    if not labels:
        return None
    at_most = max(f.count("[]") for f in labels)
    deepest = [f for f in labels if f.count("[]") == at_most]
    most = max(len(fields[f]) for f in deepest)
    deepest = [f for f in deepest if 2 * len(fields[f]) >= most]  # no fields that only a few items have
    deepest = [f for f in deepest if not _are_points(kind, f, fields)] or deepest
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


def _are_points(kind: Kind, field: str, fields: Mapping[str, Sequence[Any]]) -> bool:
    """Whether numbers beside a yes or no are the points of their criteria: each criterion always has the same."""
    home, numbers = field.rpartition(".")[0], fields[field]
    beside = [
        f for f in fields if f.rpartition(".")[0] == home and f != field and len(fields[f]) == len(numbers)
    ]
    names = next(
        (fields[f] for f in beside if is_called(kind, "rubric", f) or names_criteria(f, fields[f])), ()
    )
    said = any(is_label(kind, f) and _holds_both_verdicts(fields[f]) for f in beside)
    plain = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in numbers)
    pairs = {(str(name), number) for name, number in zip(names, numbers, strict=False)}
    repeated = len(pairs) == len(set(map(str, names))) < len(numbers)
    return said and plain and repeated and len(set(numbers)) > 1


def in_verdicts(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> dict[str, str] | None:
    """Canonical column → path, if exactly one field in the items of lists holds yes and no; None otherwise."""
    items = [f for f in fields if "[]." in f and not f.endswith("[]") and not OF_RUNS.search(f)]
    said = [f for f in items if _holds_both_verdicts(fields[f])]
    alone = len(said) == 1 and not _shares_words_with_neighbour(fields, items, said[0])
    return _of_items(kind, fields, said[0]) if alone else None


def _shares_words_with_neighbour(
    fields: Mapping[str, Sequence[Any]], items: Sequence[str], said: str
) -> bool:
    """Whether a field beside ``said`` in the same inner object holds only words that ``said`` has, too."""
    home, words = said.rpartition(".")[0], {str(v) for v in fields[said] if v is not None}
    beside = [f for f in items if f.rpartition(".")[0] == home and f != said and not home.endswith("[]")]
    return any({str(v) for v in fields[f]} <= words and may_hold_labels(last_name(f)) for f in beside)


def _holds_both_verdicts(values: Sequence[Any]) -> bool:
    words = {str(v) for v in values if v is not None}
    return set(levels_of(words).values()) >= {0, 1} and all(map(is_verdict, words))


def _of_items(kind: Kind, fields: Mapping[str, Sequence[Any]], label: str) -> dict[str, str]:
    """Canonical column → path, given the path of a label in the items of a list.

    If no field names the criteria, the rubric is found otherwise, at last as the position of the item.
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
    """The paths for labels in an object of metrics within the items: ``cases[].metrics.tone.score``.

    The keys are the rubrics, if they are no judges; they are filled in later if there are several. A plain name of the
    items becomes the query. Unchanged for other paths.
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
    """Rubric and query if the items' questions are asked about each answer to an outer query; else {}."""
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
    """The rubric of labels in the items of a list without names of criteria: a path, or "=name" of a single rubric.

    In order: names from a parallel list, shared texts of the items, or the position of the item, with the positions in
    outer lists if nothing else is mapped there. If each item is a system's or a judge's, the rubric comes from the
    outer list, or there is a single one.
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
    """The path of the rubrics' names in a parallel list of the same length: ``rubric[].criterion``; "" without one.

    If the items of both lists have the same ids, it is the id in the labels' own list, because the order may differ.
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
    """The next outer list of a list: ``cases[]`` for ``cases[].scores[]``; "" if there is none."""
    outer = home.removesuffix("[]").rpartition("[]")[0]
    return f"{outer}[]" if outer else ""


def _is_known(home: str, mapping: Mapping[str, str]) -> bool:
    """Whether a mapped path is a field of the items of a list themselves, not of inner lists."""
    return any(
        path.startswith(f"{home}.") and "[]" not in path.removeprefix(home) for path in mapping.values()
    )


def in_wide_items(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> dict[str, str | tuple[str, ...]] | None:
    """Canonical column → path for items with one label field for each criterion: ``items[].clarity``, ``items[].tone``.

    The items or the objects around them must have a system or a judge. None if there are no such items.
    """
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
            )  # the model named in the file is the judge, or the same for all
        found = [_with_siblings(kind, fields, {**mapping, "label": label}) for label in labels]
        kept = {c: path for c, path in found[0].items() if c not in ("label", "rubric")}
        holder, alike, _ = found[0]["label"].partition("{}")  # sibling lists
        keys = f"{holder}{{}}.#"
        if alike and not {"system", keys} & {*kept, *kept.values()} and _share_queries(fields, mapping, home):
            kept["system"] = keys
        return {**kept, "rubric": tuple(f["label"] for f in found)}
    return None


def _share_queries(fields: Mapping[str, Sequence[Any]], mapping: Mapping[str, str], home: str) -> bool:
    """Whether sibling lists mostly have the same queries, so that each list is a system's, not a group of queries."""
    holder, _, name = mapping.get("query", "").rpartition("[].")
    if f"{holder}[]" != home:
        return False
    before = parts_of(home)[:-1]
    alike = [f for f in fields if f.endswith(f"[].{name}") and parts_of(f)[:-2] == before]
    asked = [set(map(str, fields[f])) for f in alike]
    return len(asked) > 1 and 2 * len(set.intersection(*asked)) > len(set.union(*asked))


def _are_levels(values: Sequence[Any]) -> bool:
    """Whether values look like labels, with 2 to 12 different ones."""
    held = profile([None if v is None else str(v).lower() if isinstance(v, bool) else str(v) for v in values])
    return held.labels >= LABEL_ALIKE and 1 < held.distinct <= _FEW


def _is_constant(values: Sequence[Any]) -> bool:
    """Whether there are at least four values, all equal, so that a varying field is preferred as the label."""
    return len(values) >= _SEVERAL and len({str(v) for v in values if v is not None}) == 1


def _fractional(values: Sequence[Any]) -> bool:
    return any(isinstance(v, float) and not v.is_integer() for v in values)


def siblings(fields: Mapping[str, Sequence[Any]], label: str) -> tuple[int, list[str]]:
    """(position in the label's path, keys there), if other labels have the same path except for one key; or (-1, []).

    Example: (0, ["primary", "secondary"]) for ``primary.score`` and ``secondary.score``.
    """
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
    """The paths extended to all sibling objects, with their keys as judges, rubrics, systems or queries."""
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
    if numbered and not rated:  # the keys are ids of records, not names
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
    if models and "system" not in found and "rubric" in found:  # the file is one object keyed by systems
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
    """Whether a field has a name of queries."""
    return bare_name(field) in NAMES_OF_QUERIES or is_called("labels", "query", field)


def _are_ids(keys: Sequence[str]) -> bool:
    """Whether keys differ mainly in their numbers, and are no models or judges: ``C01``, ``C02``; ``task-3``."""
    numbered = all(any(map(str.isdigit, key)) for key in keys) and not any(map(MODEL.search, keys))
    forms = {re.sub(r"\d+", "#", unescaped(key)) for key in keys}
    return numbered and not any(map(GRADER.search, keys)) and 2 * len(forms) <= len(keys)


def side_by_side(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> dict[str, str] | None:
    """Canonical column → path for labels in sibling objects, one for each judge; None if there are none.

    Example: ``primary.verdict``, ``secondary.verdict``.
    """
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
    """Whether sibling objects occur about equally often, unlike those in a log of different events."""
    parts = parts_of(label)
    counts = [len(fields[".".join([*parts[:at], key, *parts[at + 1 :]])]) for key in keys]
    return 2 * min(counts) >= max(counts)
