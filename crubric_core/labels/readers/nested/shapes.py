"""Labels within nested JSON whose fields have no name of labels: where values look like some, as a question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..columns.label_names import RATERS, may_hold_labels
from ..columns.query_names import NAMES_OF_QUERIES
from ..columns.specs import Kind
from ..guess import MODEL
from ..paths import parts_of, unescaped
from ..wide.column_names import called_after_queries, names_a_judge
from .field_names import GRADER, holds_labels, is_label, last_name, others
from .item_names import names_criteria, naming_rank, texts_shared
from .lists import OF_RUNS

Found = dict[str, str | tuple[str, ...]]
_FEW = 12  # different levels of a field without a name of labels, at most


@dataclass
class _Node:
    """A key of a record: the keys within it, or its values; those of an object whose keys are names, as one."""

    inner: dict[str, _Node] = field(default_factory=dict)
    values: list[Any] = field(default_factory=list)
    keys: tuple[str, ...] = ()

    def count(self) -> int:
        """How many values it holds, of the key that is there most often."""
        return max((len(self.values), *(node.count() for node in self.inner.values())))

    def shape(self) -> frozenset[Any]:
        """The keys within it, and those within these."""
        return frozenset((key, node.shape()) for key, node in self.inner.items())


def in_shapes(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> Found | None:
    """The paths to values that look like labels: the most fields that lie beside each other, or the one field.

    Objects next to each other that have the same fields are named by their keys: systems, where these are models.
    """
    folded = dict(_folded(_tree(fields), "", ()))
    flat = {path: node.values for path, (node, _) in folded.items()}
    groups: dict[str, list[str]] = {}
    for path, values in flat.items():
        if _may_be_label(path, values):
            groups.setdefault(path.rpartition(".")[0], []).append(path)
    if not groups:
        return None
    home, labels = max(
        groups.items(), key=lambda g: (any(is_label(kind, p) for p in g[1]), len(g[1]), g[0].count("[]"))
    )
    named = [p for p in labels if is_label(kind, p)]
    within = home if home.endswith(("[]", "{}")) else ""
    found: Found = dict(others(kind, flat, within, set(labels)))
    found.pop("label", None)
    if _are_of_judges(kind, found, labels):
        found |= _by_judges(kind, home, labels, flat)
    elif len(labels) > 1 and len(named) != 1 and "rubric" not in found:
        found["rubric"] = tuple(labels)
    else:
        found["label"] = named[0] if named else labels[0]
        naming = [p for p, v in flat.items() if p.rpartition(".")[0] == home and names_criteria(p, v)]
        naming = naming or texts_shared(flat, home)
        if "rubric" not in found and naming and within:
            found["rubric"] = min(naming, key=naming_rank)
    around = {p: v for p, v in flat.items() if p not in labels}
    levels = folded[labels[0]][1]
    if "system" in found and "query" not in found and not any(called_after_queries(k) for _, k in levels):
        found |= _numbered(around, flat.get(str(found["system"]), ()))
    _name_levels(kind, found, levels)
    _name_around(kind, found, around)
    if "rubric" not in found:
        found["rubric"] = f"{within}.#" if within.endswith("[]") else f"={last_name(labels[0])}"
    return found


def _tree(fields: Mapping[str, Sequence[Any]]) -> _Node:
    """The keys of the records, each with those within it."""
    root = _Node()
    for name, values in fields.items():
        node = root
        for part in parts_of(name):
            node = node.inner.setdefault(part, _Node())
        node.values.extend(values)
    return root


def _are_of_judges(kind: Kind, found: Found, labels: Sequence[str]) -> bool:
    """Whether fields with labels are called after models, or after people, beside the system that these judge."""
    names = [unescaped(parts_of(path)[-1]) for path in labels]
    free = "system" in found and ("annotator" if kind == "gold" else "judge") not in found
    return len(names) > 1 and free and all(map(names_a_judge, names))


def _by_judges(kind: Kind, home: str, labels: Sequence[str], flat: Mapping[str, Sequence[Any]]) -> Found:
    """The judges, where the labels are fields that are called after them: of the criterion that holds them."""
    who = "annotator" if kind == "gold" else "judge"
    if home.endswith(("[]", "{}")):
        return {who: tuple(labels)}
    criterion = f"={unescaped(parts_of(home)[-1])}"
    if sum(path.startswith(f"{home}.") for path in flat) > len(labels):
        return {who: tuple(labels), "rubric": criterion}
    return {"label": f"{home}{{}}", who: f"{home}{{}}.#", "rubric": criterion}


def _folded(
    node: _Node, path: str, levels: tuple[tuple[str, tuple[str, ...]], ...]
) -> Iterator[tuple[str, tuple[_Node, tuple[tuple[str, tuple[str, ...]], ...]]]]:
    """Path → (its values, the objects on the way whose keys are names); fields of objects that are alike are one."""
    alike: dict[tuple[str, frozenset[Any]], list[str]] = {}
    for key, inner in node.inner.items():
        if inner.inner:
            alike.setdefault((key[len(_bare(key)) :], inner.shape()), []).append(key)
    for (marks, _), keys in alike.items():
        own = f"{path}{{}}"
        counts = [node.inner[key].count() for key in keys]
        if len(keys) > 1 and 2 * min(counts) >= max(counts):  # else records of several kinds
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
    inside = "." in path and not path.endswith("[]") and not OF_RUNS.search(path)
    few = 1 < len(set(map(str, values))) <= _FEW
    return inside and few and may_hold_labels(last_name(path)) and holds_labels(values)


def _name_levels(kind: Kind, found: Found, levels: Sequence[tuple[str, tuple[str, ...]]]) -> None:
    """What the keys of the objects on the way to the labels are: models, graders, else what is still missing."""
    who = "annotator" if kind == "gold" else "judge"
    free = []
    for path, keys in levels:
        if str(found.get("query", "")).startswith(f"{path}.") and path == levels[-1][0]:
            continue  # each is about one query, which has a text
        if any(map(MODEL.search, keys)) and "system" not in found:
            found["system"] = f"{path}.#"
        elif all(GRADER.search(k) or MODEL.search(k) for k in keys) and who not in found:
            found[who] = f"{path}.#"
        else:
            free.append(path)
    missing = [c for c in ("rubric", "query", who, "system") if c not in found]
    for path, canonical in zip(reversed(free), missing, strict=False):
        found[canonical] = f"{path}.#"


def _numbered(flat: Mapping[str, Sequence[Any]], systems: Sequence[Any]) -> Found:
    """The query by a whole number that records of several systems share: their ``id``, if it is no record's own."""
    ids = flat.get("id", ())
    if len(ids) != len(systems) or not all(isinstance(i, int) or str(i).isdigit() for i in ids):
        return {}
    whose: dict[str, set[str]] = {}
    for i, system in zip(ids, systems, strict=True):
        whose.setdefault(str(i), set()).add(str(system))
    shared = sum(len(names) > 1 for names in whose.values())
    return {"query": "id"} if len(whose) > 1 and 2 * shared > len(whose) else {}


def _name_around(kind: Kind, found: Found, flat: Mapping[str, Sequence[Any]]) -> None:
    """Judge and query by fields around the labels that are named after raters, or what an id or a text is called."""
    who = "annotator" if kind == "gold" else "judge"
    for canonical, names in ((who, RATERS), ("query", NAMES_OF_QUERIES)):
        fits = [
            path
            for path, values in flat.items()
            if "[]" not in path
            and "{}" not in path
            and last_name(path) in names
            and len(set(map(str, values))) > 1
        ]
        if canonical not in found and fits:
            found[canonical] = min(fits, key=lambda p: names.index(last_name(p)))
