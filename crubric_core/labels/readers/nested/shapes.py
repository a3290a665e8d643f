"""Find labels within nested JSON by their values if no field has a label's name; the result is only a proposal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..columns.label_names import RATERS, called_after_criteria, may_hold_labels
from ..columns.query_names import IDS_OF_ANSWERS, NAMES_OF_QUERIES
from ..columns.specs import Kind, rater_of
from ..columns.synonyms import INSTEAD_OF_SYSTEM, ITEMS
from ..guess import MODEL
from ..paths import parts_of, unescaped, up_to_items
from ..wide.column_names import called_after_queries, called_judge, names_a_judge
from .field_names import GRADER, OF_SYSTEMS, holds_judges, holds_labels, is_label, last_name, others
from .item_names import names_criteria, naming_rank, texts_of_items, texts_shared
from .lists import OF_RUNS

Found = dict[str, str | tuple[str, ...]]
_FEW = 12  # most different levels of a field without a label's name


@dataclass
class _Node:
    """A node of the tree of fields: the inner keys with their nodes, or the values of a field."""

    inner: dict[str, _Node] = field(default_factory=dict)
    values: list[Any] = field(default_factory=list)
    keys: tuple[str, ...] = ()

    def count(self) -> int:
        """The number of values of the field below this node that occurs most often."""
        return max((len(self.values), *(node.count() for node in self.inner.values())))

    def shape(self) -> frozenset[Any]:
        """The inner keys, with their shapes; equal for nodes with the same structure."""
        return frozenset((key, node.shape()) for key, node in self.inner.items())


def in_shapes(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> Found | None:
    """Canonical column → path for the object with the most fields that look like labels; None if no field does.

    Sibling objects with the same structure are joined (``{}``), and their keys become systems if they are models, else
    another missing column.
    """
    folded = dict(_folded(_tree(fields), "", ()))
    flat = {path: node.values for path, (node, _) in folded.items()}
    groups = _groups(flat)
    if not groups:
        return None
    home, labels = max(
        groups.items(), key=lambda g: (any(is_label(kind, p) for p in g[1]), len(g[1]), g[0].count("[]"))
    )
    named = [p for p in labels if is_label(kind, p)]
    within = home if home.endswith(("[]", "{}")) else ""
    found: Found = dict(others(kind, flat, up_to_items(home), set(labels)))
    found.pop("label", None)
    if len(labels) > 1 and "query" not in found and last_name(str(found.get("rubric", ""))) in ITEMS:
        found["query"] = found.pop("rubric")  # an item with several labels
    beside = [unescaped(parts_of(p)[-1]) for p in labels if p not in named]
    one_more = not within and "rubric" not in found and called_after_criteria(beside)  # or a total of these
    if _are_of_judges(kind, found, labels):
        found |= _by_judges(kind, home, labels, flat)
    elif len(labels) > 1 and (len(named) != 1 or one_more) and (what := _what_each_is(kind, found, labels)):
        each = what == "rubric" and all(_may_be_label(p, flat[p]) for p in labels)
        whole = not each and _is_whole(home, labels, flat)  # of which other records may hold more
        found |= _whole(home, what) if whole else {what: tuple(labels)}
    else:
        found["label"] = named[0] if named else labels[0]
        naming = [p for p, v in flat.items() if p.rpartition(".")[0] == home and names_criteria(p, v)]
        naming = [p for p in naming or texts_shared(flat, home) if p != found["label"]]
        if "rubric" not in found and naming and within:
            found["rubric"] = min(naming, key=naming_rank)
    around = {p: v for p, v in flat.items() if p not in labels}
    levels = folded[labels[0]][1]
    if "system" in found and "query" not in found and not any(called_after_queries(k) for _, k in levels):
        found |= _numbered(around, flat.get(str(found["system"]), ()))
    _name_rest(kind, found, levels, around)
    if "rubric" not in found and within.endswith("[]") and len(labels) == 1:
        paths = {c: path for c, path in found.items() if isinstance(path, str)}
        shared = texts_of_items(flat, within, paths, ())
        found |= {"rubric": shared} if shared else {}
    if "rubric" not in found:
        by_place = within.endswith("[]") and not str(found.get(rater_of(kind), "")).startswith(f"{within}.")
        found["rubric"] = f"{within}.#" if by_place else f"={last_name(str(found.get('label', labels[0])))}"
    return found


def _groups(flat: Mapping[str, Sequence[Any]]) -> dict[str, list[str]]:
    """Path of an object → its fields that look like labels, or are constant with a label of the others as the value."""
    inside: dict[str, list[str]] = {}
    for path in flat:
        inside.setdefault(path.rpartition(".")[0], []).append(path)
    groups = {}
    for home, paths in inside.items():
        labels = [p for p in paths if _may_be_label(p, flat[p])]
        levels = {str(v) for p in labels for v in flat[p]}
        if not labels and _are_of_others(home, paths, flat):
            groups[home] = paths
        elif labels:
            groups[home] = [p for p in paths if p in labels or _repeats_one_level(p, flat[p], levels)]
    return groups


def _repeats_one_level(path: str, values: Sequence[Any], levels: set[str]) -> bool:
    """Whether a field is constant, and its value is one of ``levels``, the labels of the fields beside it."""
    return _may_hold(path) and len(set(map(str, values))) == 1 and str(values[0]) in levels


def _are_of_others(home: str, paths: Sequence[str], flat: Mapping[str, Sequence[Any]]) -> bool:
    """Whether the fields of an object, each constant, look like labels together, as tests of a single task do."""
    pooled = [v for p in paths for v in flat[p]]
    several = 1 < len(set(map(str, pooled))) <= _FEW and len(paths) > 1
    return bool(home) and several and all(map(_may_hold, paths)) and holds_labels(pooled)


def _is_whole(home: str, labels: Sequence[str], flat: Mapping[str, Sequence[Any]]) -> bool:
    """Whether an object holds these labels and nothing else."""
    inside = [p for p in flat if p.startswith(f"{home}.")]
    return bool(home) and not home.endswith(("[]", "{}")) and sorted(inside) == sorted(labels)


def _whole(home: str, what: str) -> Found:
    return {"label": f"{home}{{}}", what: f"{home}{{}}.#"}


def _what_each_is(kind: Kind, found: Found, labels: Sequence[str]) -> str:
    """The canonical column of the names of parallel labels: "rubric", the judge or "system"; "" if all are known."""
    who = rater_of(kind)
    names = [unescaped(parts_of(path)[-1]) for path in labels]
    wanted = ("rubric", who, "system") if all(map(names_a_judge, names)) else ("rubric", "system", who)
    return next((c for c in wanted if c not in found), "")


def _tree(fields: Mapping[str, Sequence[Any]]) -> _Node:
    """The tree of keys of the fields."""
    root = _Node()
    for name, values in fields.items():
        node = root
        for part in parts_of(name):
            node = node.inner.setdefault(part, _Node())
        node.values.extend(values)
    return root


def _are_of_judges(kind: Kind, found: Found, labels: Sequence[str]) -> bool:
    """Whether several label fields are named like judges, and the system but no judge is known."""
    names = [unescaped(parts_of(path)[-1]) for path in labels]
    free = "system" in found and rater_of(kind) not in found
    return len(names) > 1 and free and all(map(names_a_judge, names))


def _by_judges(kind: Kind, home: str, labels: Sequence[str], flat: Mapping[str, Sequence[Any]]) -> Found:
    """Canonical column → path, with the label fields as judges; the object around them is the criterion."""
    who = rater_of(kind)
    if home.endswith(("[]", "{}")):
        return {who: tuple(labels)}
    criterion = f"={unescaped(parts_of(home)[-1])}"
    if sum(path.startswith(f"{home}.") for path in flat) > len(labels):
        return {who: tuple(labels), "rubric": criterion}
    return {"label": f"{home}{{}}", who: f"{home}{{}}.#", "rubric": criterion}


def _folded(
    node: _Node, path: str, levels: tuple[tuple[str, tuple[str, ...]], ...]
) -> Iterator[tuple[str, tuple[_Node, tuple[tuple[str, tuple[str, ...]], ...]]]]:
    """(path, (node, joined objects on the way with their keys)) of each field; similar sibling objects are joined.

    levels: the joined objects so far, each as (path with ``{}``, keys).
    """
    alike: dict[tuple[str, frozenset[Any]], list[str]] = {}
    for key, inner in node.inner.items():
        if inner.inner:
            alike.setdefault((key[len(_bare(key)) :], inner.shape()), []).append(key)
    for (marks, _), keys in alike.items():
        own = f"{path}{{}}"
        counts = [node.inner[key].count() for key in keys]
        if len(keys) > 1 and 2 * min(counts) >= max(counts):  # otherwise they occur in different records
            whole = _Node()
            for key in keys:
                _merge(whole, node.inner[key])
            names = tuple(unescaped(_bare(key)) for key in keys)
            yield from _folded(whole, own + marks, (*levels, (own, names)))
            continue
        for key in keys:
            yield from _folded(node.inner[key], f"{path}.{key}" if path else key, levels)
    for key, inner in node.inner.items():
        if not inner.inner:
            yield f"{path}.{key}" if path else key, (inner, levels)


def _bare(key: str) -> str:
    return key.rstrip("[]{}") if key.endswith(("[]", "{}")) else key


def _merge(into: _Node, node: _Node) -> None:
    into.values.extend(node.values)
    for key, inner in node.inner.items():
        _merge(into.inner.setdefault(key, _Node()), inner)


def _may_be_label(path: str, values: Sequence[Any]) -> bool:
    """Whether a field within lists or objects holds few different values that may be labels."""
    return _may_hold(path) and 1 < len(set(map(str, values))) <= _FEW and holds_labels(values)


def _may_hold(path: str) -> bool:
    """Whether a field lies within lists or objects, and may hold labels as far as its name tells."""
    inside = "." in path and not path.endswith("[]") and not OF_RUNS.search(path)
    return inside and may_hold_labels(last_name(path))


def _name_rest(
    kind: Kind,
    found: Found,
    levels: Sequence[tuple[str, tuple[str, ...]]],
    around: Mapping[str, Sequence[Any]],
) -> None:
    """Add the missing canonical columns to ``found``, from fields around the labels and from the keys on the way.

    Keys have precedence over fields if they are many, or are named like queries.
    """
    if any(called_after_queries(keys) or len(keys) > _FEW for _, keys in levels):
        _name_levels(kind, found, levels)
        _name_around(kind, found, around)
    else:
        own = {
            p for p, v in around.items() if last_name(p) in IDS_OF_ANSWERS and len(set(map(str, v))) == len(v)
        }
        _name_around(kind, found, {p: v for p, v in around.items() if p not in own})
        _name_levels(kind, found, levels)
        _name_around(kind, found, around)


def _name_levels(kind: Kind, found: Found, levels: Sequence[tuple[str, tuple[str, ...]]]) -> None:
    """Add to ``found`` what the keys on the way to the labels are: systems, judges, else another missing column."""
    who = rater_of(kind)
    free: dict[str, tuple[str, ...]] = {}
    for path, keys in levels:
        inner = str(found.get("query", "")).partition(f"{path}.")[2]
        if inner and "[]" not in inner and path == levels[-1][0]:
            continue  # each key is about one query, whose text is known
        of_systems = any(map(MODEL.search, keys)) or OF_SYSTEMS.search(
            last_name(path.removesuffix("{}") or "x")
        )
        if of_systems and "system" not in found and not holds_judges(path.removesuffix("{}")):
            found["system"] = f"{path}.#"
        elif who not in found and (
            holds_judges(path.removesuffix("{}"))
            or all(GRADER.search(k) or MODEL.search(k) or called_judge(k) for k in keys)
        ):
            found[who] = f"{path}.#"
        else:
            free[path] = keys
    missing = [c for c in ("rubric", "query", who, "system") if c not in found]
    for path, keys in reversed(free.items()):
        own = str(found.get("system", "")).startswith(f"{path}.")
        if own and "query" in missing and not called_after_criteria(keys):
            canonical = "query"  # the system is a field within
        elif path == "{}" and {"system", "query"} <= set(missing) and "rubric" not in missing:
            canonical = "query" if _are_ids(keys) else "system"
        elif path == "{}" and missing == [who, "system"] and str(found["query"]).startswith("{}"):
            canonical = "system"  # the keys of the queries lie within
        else:
            canonical = missing[0] if missing else ""
        if canonical:
            found[canonical] = f"{path}.#"
            missing.remove(canonical)


def _are_ids(keys: Sequence[str]) -> bool:
    """Whether most of the keys contain digits, so that they are ids of records and not names."""
    return 2 * sum(any(map(str.isdigit, key)) for key in keys) > len(keys)


def _numbered(flat: Mapping[str, Sequence[Any]], systems: Sequence[Any]) -> Found:
    """{"query": "id"} if ``id`` is a whole number that mostly occurs with several systems; else {}."""
    ids = flat.get("id", ())
    if len(ids) != len(systems) or not all(isinstance(i, int) or str(i).isdigit() for i in ids):
        return {}
    whose: dict[str, set[str]] = {}
    for i, system in zip(ids, systems, strict=True):
        whose.setdefault(str(i), set()).add(str(system))
    shared = sum(len(names) > 1 for names in whose.values())
    return {"query": "id"} if len(whose) > 1 and 2 * shared > len(whose) else {}


def _name_around(kind: Kind, found: Found, flat: Mapping[str, Sequence[Any]]) -> None:
    """Add system, judge and query to ``found`` from plain fields with less usual names (``llm``, ``doc_id``)."""
    who = rater_of(kind)
    for canonical, names in (("system", INSTEAD_OF_SYSTEM), (who, RATERS), ("query", NAMES_OF_QUERIES)):
        fits = [
            path
            for path, values in flat.items()
            if "[]" not in path
            and "{}" not in path
            and path not in found.values()
            and last_name(path) in names
            and len(set(map(str, values))) > 1
        ]
        if canonical not in found and fits:
            found[canonical] = min(fits, key=lambda p: names.index(last_name(p)))
