"""Find the paths to labels within nested JSON, and to their system, query, rubric and judge, from the field names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ....text import as_json
from ..columns.label_names import called_after_criteria
from ..columns.specs import SPECS, Kind, rater_of
from ..guess import MODEL
from ..paths import PLACE, is_path, keys_in, leads_to, list_around, parts_of, unescaped
from ..plan import Columns, FilePlan, named_columns, wide_columns
from ..rules import sources_of
from ..tables.open_questions import names_runs
from ..tables.unused import MOST, is_verdict_field
from ..wide.column_names import is_crossing
from .beside import beside, named_raters
from .criteria import lists_names
from .draws import in_draws, may_be_else
from .field_names import GRADER, OF_SYSTEMS, holds_labels, is_called, is_rater_name, last_name
from .item_names import is_named
from .levels import leaves_others, with_levels
from .lists import in_lists, in_verdicts, in_wide_items, names_beside, side_by_side
from .objects import HOLDERS, in_objects, in_tree
from .prodigy import in_prodigy
from .shapes import in_shapes


@dataclass(frozen=True)
class Nested:
    """The paths to labels within nested records.

    mapping: canonical column → path. sure: whether the field names settle it. missing: needed columns without a path.
    judges: the changes of the mapping if keys that were taken for criteria are judges; None if they cannot be.
    drawn: whether the items of a list of verdicts are read as runs, although they may be of different judges.
    """

    mapping: Columns
    sure: bool
    missing: tuple[str, ...]
    judges: Columns | None = None
    drawn: bool = False

    def question(self, name: str, mapping: Columns) -> str:
        """The question for a file whose labels may lie at these paths. name: of the file. mapping: to propose."""
        shown = as_json(dict.fromkeys(self.missing, "=…") | dict(mapping))
        lacking = f", with its {' and '.join(self.missing)} in place of …" if self.missing else ""
        asked = f"{name} seems to hold labels within its records: if so, read it with the mapping {shown}{lacking}"
        if self.drawn:
            other = as_json({"judge" if c == "run" else c: path for c, path in mapping.items()})
            return f"{asked} where its items are repeated draws, and with {other} where each is a judge's."
        if not self.judges:
            return f"{asked}."
        other = as_json({**mapping, **self.judges})
        return f"{asked}; if what this takes for criteria are judges, with {other}."


def keys_as_systems(found: Columns, fields: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    """The mapping if the keys of an object of labels are systems, not criteria or judges; {} if they cannot be."""
    if wide_columns(found):
        return {}
    label = str(found.get("label", ""))
    holder, _, tail = label.removesuffix("[]").rpartition("{}")
    if label.endswith("[]") or "." in tail[1:] or "[]" in tail:
        tail = ""
    holder = holder if tail or label.endswith(("{}", "{}[]")) else label
    whose = next((c for c, path in found.items() if path == f"{holder}{{}}.#"), "")
    keys = keys_in(holder, (f for f in fields if f.endswith(tail)))
    named = called_after_criteria(keys) or all(map(GRADER.search, keys))
    if whose in ("", "system", "query") or "system" in found or not keys or named:
        return {}
    kept = {c: str(path) for c, path in found.items() if c != whose}
    only = tail[1:] if tail else "score"
    return {"system": f"{holder}{{}}.#", "rubric": f"={only}"} | kept


def keys_of_judges(found: Columns, fields: Mapping[str, Sequence[Any]]) -> list[str]:
    """The keys of an object (``scores{}``), or of the records, that are read as judges or criteria; [] if none are."""
    paths = (str(found.get(c, "")) for c in ("judge", "annotator", "rubric"))
    holder = next((path.removesuffix("{}.#") for path in paths if path.endswith("{}.#")), None)
    if holder is None:
        return []
    label = found.get("label") or next(iter(wide_columns(found)), "")
    tail = str(label).removeprefix(f"{holder}{{}}")
    return list(dict.fromkeys(keys_in(holder, (f for f in fields if f.endswith(tail)))))


_WEIGHTS = re.compile(r"(?i)(^|_)weights?$")  # objects of weights: dimension_weight


def find_nested(kind: Kind, fields: Mapping[str, Sequence[Any]], given: Columns) -> Nested | None:
    """The paths to the labels of nested records; None if no list or object within them holds labels.

    fields: path → values, as ``paths.fields_of_records`` returns them. given: the user's mapping.
    """
    if kind not in ("labels", "gold"):
        return None
    fields = {f: v for f, v in fields.items() if not any(map(_WEIGHTS.search, parts_of(f)[:-1]))}
    prodigy = in_prodigy(kind, fields)
    named = None if prodigy else _found(kind, fields)
    if named and leaves_others(named, fields):
        named = None
    found = prodigy or named or in_shapes(kind, fields)
    if found is None:
        return None
    found, asked = with_levels(kind, found, fields, given)
    asked = asked or _was_parsed(found)
    found = _without_keys_again(found, fields)
    if "query" not in {**found, **given} and _are_keyed_by_system(found, fields):
        found = {**found, "query": PLACE}  # of the record
    wide = bool(wide_columns(found))
    lacking = tuple(c for c in SPECS[kind].needed if c not in found and not (wide and c == "label"))
    whole = all(re.fullmatch(r"\{\}\.[^#]+", str(found.get(c, ""))) for c in ("system", "rubric"))
    within = str(found.get("label", "")).startswith("{}") and not whole
    by_place = any(str(found.get(c, "")).endswith(("[].#", "[].##")) for c in ("rubric", "system")) or within
    by_place = by_place or str(found.get("run", "")).endswith("{}[].#") or _pairs_unnamed(found, fields)
    by_place = by_place or _names_by_values(kind, fields, found) or _asks_each(found)
    by_place = (
        by_place or asked or " + " in str(found.get("rubric")) or is_crossing(str(found.get("system", "")))
    )
    by_place = by_place or found.get("system") == f"{str(found.get('label')).removesuffix('[]')}.#"
    by_place = by_place or (wide and _keys_unlike_models(found, fields))
    drawn = may_be_else(found, fields)
    sure = named is not None and set(lacking) <= {"system"} and not by_place and not drawn
    if not sure and "system" in lacking and names_runs(fields.get(str(found.get("run")), ())):
        found = {"system" if c == "run" else c: path for c, path in found.items()}
        lacking = tuple(c for c in lacking if c != "system")
    judges = _if_judges(kind, found, fields)
    return Nested(found, sure and not judges, lacking, judges, drawn)


def _was_parsed(found: Columns) -> bool:
    """Whether labels come from a judge's reply (``parsed_response.score``), and no system is known."""
    label = str(found.get("label") or next(iter(wide_columns(found)), ""))
    return "system" not in found and any(part.startswith("parsed") for part in parts_of(label)[:-1])


def _are_keyed_by_system(found: Columns, fields: Mapping[str, Sequence[Any]]) -> bool:
    """Whether several records have systems as their keys, and no plain field that may be the query."""
    several = any(len(values) > 1 for f, values in fields.items() if "[]" not in f)
    return found.get("system") == "{}.#" and several and all(len(parts_of(f)) > 1 for f in fields)


def _without_keys_again(found: Columns, fields: Mapping[str, Sequence[Any]]) -> Columns:
    """The paths without keys that repeat the query within them: without ``eval{}.#`` beside ``eval{}[].task_id``."""
    query = str(found.get("query", ""))
    again = {
        c: path
        for c, path in found.items()
        if c != "query" and str(path).endswith("{}.#") and query.startswith(str(path).removesuffix(".#"))
    }
    for canonical, path in again.items():
        keys = {key.removesuffix("[]") for key in keys_in(str(path).removesuffix("{}.#"), fields)}
        held = {str(v) for f, values in fields.items() if leads_to(query, f) for v in values}
        if held == keys and len(held) > 1:
            left = {c: v for c, v in found.items() if c != canonical}
            only = {"rubric": f"={last_name(str(found.get('label')))}"} if canonical == "rubric" else {}
            found = {**left, **only}
    return found


def _keys_unlike_models(found: Columns, fields: Mapping[str, Sequence[Any]]) -> bool:
    """Whether the systems are the keys of an object, and at most half of the keys are named after models."""
    holder, _, end = str(found.get("system", "")).partition("{}.#")
    if not holder or end or "{}.#" not in str(found.get("system")):
        return False
    depth = len(parts_of(holder))
    keys = {parts_of(f)[depth] for f in fields if f.startswith(f"{holder}.") and len(parts_of(f)) > depth}
    return 2 * sum(bool(MODEL.search(unescaped(key))) for key in keys) <= len(keys)


def _pairs_unnamed(found: Columns, fields: Mapping[str, Sequence[Any]]) -> bool:
    """Whether the rubrics are a parallel outer list that is not named after criteria, or raters are listed, too."""
    rubric, label = str(found.get("rubric", "")), str(found.get("label", ""))
    within = label.endswith("[]") and "[]" in rubric and len(parts_of(rubric)) <= len(parts_of(label))
    apart = within and rubric.partition("[]")[0] != label.partition("[]")[0]
    raters = "judge" not in found and label in fields and named_raters(fields, label)
    return apart and parts_of(rubric)[:-1] != parts_of(label)[:-1] and bool(raters or not lists_names(rubric))


def _names_by_values(kind: Kind, fields: Mapping[str, Sequence[Any]], found: Columns) -> bool:
    """Whether the rubric is a field of the items that was found by its values, not by its name or a parallel list."""
    rubric, label = str(found.get("rubric", "")), str(found.get("label", ""))
    home, _, name = rubric.rpartition("[].")
    beside_label = bool(home) and label.startswith(f"{home}[].") and "#" not in name
    if (
        not beside_label
        or is_called(kind, "rubric", rubric)
        or is_named(rubric)
        or is_rater_name(kind, rubric)
    ):
        return False
    return label not in fields or names_beside(kind, fields, list_around(label), label) != rubric


def _asks_each(found: Columns) -> bool:
    """Whether the items of a list hold only a question, a label and a reason, so that they are queries or criteria."""
    home = list_around(str(found.get("label", ""))) + "."
    inside = {c for c, path in found.items() if str(path).startswith(home)}
    return (
        str(found.get("rubric", "")).startswith("=")
        and "query" in inside
        and inside <= {"label", "query", "reason"}
    )


def _if_judges(kind: Kind, found: Columns, fields: Mapping[str, Sequence[Any]]) -> Columns | None:
    """The changes of the mapping if the keys of ``judge_scores`` are judges, not criteria; None if they cannot be."""
    who, rubric = rater_of(kind), str(found.get("rubric", ""))
    named = _short_names(fields.get(rubric, ()))
    if is_rater_name(kind, rubric) and named:  # see ``_by_metrics``
        sure = all(called_after_criteria([name]) for name in named)
        return None if sure else {who: rubric, "rubric": f"={last_name(str(found.get('label')))}"}
    holder, _, _ = rubric.rpartition("{}.#")
    name = last_name(holder) if holder else ""
    if "_" not in name or not GRADER.search(name) or who in found:
        return None
    keys = sorted(set(keys_in(holder, fields)))
    return None if called_after_criteria(keys) else {who: rubric, "rubric": "=score"}


def _found(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> Columns | None:
    joined, systems = _of_systems(fields)
    found = _found(kind, joined) if systems else None
    if found and "system" not in found and f"{systems}." in repr(found):
        return {**found, "system": f"{systems}.#"}
    if (whole := _of_keyed_systems(fields)) and not (_branches(fields) and in_tree(fields)):
        found = _found(kind, whole)
        if found and "system" not in found:
            return {**found, "system": "{}.#"}
    if (inner := _of_keyed_records(fields)) and not in_tree(fields):
        found = _found(kind, inner)
        keyed = {
            c: tuple(map(_keyed, v)) if isinstance(v, tuple) else _keyed(v) for c, v in (found or {}).items()
        }
        return {"query": "{}.#"} | keyed if found else None
    found = (
        in_lists(kind, fields)
        or in_objects(kind, fields)
        or in_wide_items(kind, fields)
        or in_draws(kind, fields)
        or beside(kind, fields)
        or side_by_side(kind, fields)
        or in_tree(fields)
        or in_verdicts(kind, fields)
    )
    return found and _by_metrics(kind, _without_slots(found, fields), fields)


def _without_slots(found: Columns, fields: Mapping[str, Sequence[Any]]) -> Columns:
    """The paths with a single rubric if the keys of an object only number answers: ``summary 1``, ``summary 2``.

    Each key holds its own system, and the systems of one record all differ, so that no answer is rated twice.
    """
    holder, _, name = str(found.get("system", "")).partition("{}.")
    if not name or "{}" in name or name.startswith("#") or found.get("rubric") != f"{holder}{{}}.#":
        return found
    depth = len(parts_of(holder)) if holder else 0
    inside = [f for f in fields if (not holder or f.startswith(f"{holder}.")) and len(parts_of(f)) > depth]
    systems = [fields[f] for f in inside if ".".join(parts_of(f)[depth + 1 :]) == name]
    if len(systems) < 2 or len({len(own) for own in systems}) > 1:
        return found
    apart = all(len(set(map(str, own))) == len(own) for own in zip(*systems, strict=True))
    return {**found, "rubric": f"={last_name(str(found['label']))}"} if apart else found


def _by_metrics(kind: Kind, found: Columns, fields: Mapping[str, Sequence[Any]]) -> Columns:
    """The paths with the judge's field as the rubric, if it holds criteria, as evaluators that are metrics do."""
    who = rater_of(kind)
    path = str(found.get(who, ""))
    named = _short_names(fields.get(path, ()))
    if not str(found.get("rubric", "")).startswith("=") or len(named) < 2 or not called_after_criteria(named):
        return found
    if any(GRADER.search(name) or MODEL.search(name) for name in named):
        return found
    return {**{c: v for c, v in found.items() if c != who}, "rubric": path}


def _short_names(values: Sequence[Any]) -> list[str]:
    return sorted({v for v in values if isinstance(v, str) and v.strip()})


def _of_systems(fields: Mapping[str, Sequence[Any]]) -> tuple[dict[str, list[Any]], str]:
    """(fields with ``{}`` in place of the systems, path of the object keyed by systems); ({}, "") if there is none.

    The keys are mostly models, each with the same inner fields: ``answers.gpt-4o.grades.clear``. An object named after
    labels or judges does not count, because its keys are judges.
    """
    held: dict[str, dict[str, dict[str, Sequence[Any]]]] = {}
    for field, values in fields.items():
        parts = parts_of(field)
        for at in range(1, len(parts) - (1 if parts[-1].endswith("[]") else 2)):
            place = held.setdefault(".".join(parts[:at]), {})
            place.setdefault(parts[at], {})[".".join(parts[at + 1 :])] = values
    for home, keyed in held.items():
        if last_name(home) in HOLDERS or GRADER.search(last_name(home)):
            continue
        alike = len({frozenset(own) for own in keyed.values()}) == 1
        models = (
            len(keyed) if OF_SYSTEMS.search(last_name(home)) else sum(map(bool, map(MODEL.search, keyed)))
        )
        if len(keyed) > 1 and alike and 2 * models > len(keyed) and not any("[" in key for key in keyed):
            joined = {f: list(v) for f, v in fields.items() if not f.startswith(f"{home}.")}
            for own in keyed.values():
                for rest, values in own.items():
                    joined.setdefault(f"{home}{{}}.{rest}", []).extend(values)
            return joined, f"{home}{{}}"
    return {}, ""


def _keyed(path: str) -> str:
    return path if path.startswith("=") else f"{{}}{path}" if path.startswith("{}") else f"{{}}.{path}"


def _branches(fields: Mapping[str, Sequence[Any]]) -> bool:
    """Whether the fields have several different second keys."""
    return len({parts_of(field)[1] for field in fields}) > 1


def _of_keyed_systems(fields: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """The fields, with ``{}`` in place of the models, of a file that is one object keyed by models; {} for other files.

    Each model holds an object or a list with the same fields.
    """
    keyed: dict[str, dict[str, Sequence[Any]]] = {}
    for field, values in fields.items():
        first, *rest = parts_of(field)
        keyed.setdefault(first, {})[".".join(rest)] = values
    keys = [unescaped(key.removesuffix("[]")) for key in keyed]
    marks = {key[len(key.removesuffix("[]")) :] for key in keyed}
    models = sum(bool(MODEL.search(key)) and not GRADER.search(key) for key in keys)
    alike = len({frozenset(own) for own in keyed.values()}) == len(marks) == 1
    if len(keyed) < 2 or not alike or 2 * models <= len(keyed) or any("" in own for own in keyed.values()):
        return {}
    joined: dict[str, list[Any]] = {}
    for own in keyed.values():
        for inner, values in own.items():
            joined.setdefault(f"{{}}{min(marks)}.{inner}", []).extend(values)
    return joined


def _of_keyed_records(fields: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """The fields of the records in a file that is one object keyed by record; {} for other files.

    There are at least three records, all with the same fields, some of them nested.
    """
    records: dict[str, dict[str, Sequence[Any]]] = {}
    for field, values in fields.items():
        first, *rest = parts_of(field)
        records.setdefault(first, {})[".".join(rest)] = values
    shapes = {frozenset(own) for own in records.values()}
    if len(records) < 3 or len(shapes) > 1 or not any(is_path(f) for shape in shapes for f in shape):
        return {}
    merged: dict[str, list[Any]] = {}
    for own in records.values():
        for field, values in own.items():
            merged.setdefault(field, []).extend(values)
    return merged if "" not in merged else {}


def with_nested_unused(plan: FilePlan, fields: Mapping[str, Sequence[Any]]) -> FilePlan:
    """The plan with unused nested fields in ``unused`` and ``suspects``, in place of the columns that hold them."""
    used = set(named_columns(plan.mapping))
    used |= {source for c in used for source in sources_of(c)}
    tops = {_top(f) for f in fields if is_path(f)}
    keyed = {c.removeprefix("{}.") for c in used if c.startswith("{}.")}  # of the records of one object
    if keyed:
        # With many keys, some are not among the fields.
        tops |= {c for c in plan.unused if c not in fields and not is_path(c)}
        fields = {_of_any_key(f): v for f, v in fields.items() if is_path(f)}
    inner = {
        f: v
        for f, v in fields.items()
        if is_path(f)
        and not _is_plain(f)
        and unescaped(f) not in used
        and not any(leads_to(path, f) for path in used)
        and not {"{}", "{}{}", "{}{}{}"} & used
    }
    suspects = [
        f for f, v in inner.items() if is_verdict_field(f, v) or _is_called_otherwise(f, fields, used)
    ]
    return replace(
        plan,
        unused=tuple(dict.fromkeys([*(c for c in plan.unused if c not in tops), *inner]))[:MOST],
        suspects=tuple(dict.fromkeys([*plan.suspects, *suspects])),
    )


def _is_called_otherwise(field: str, fields: Mapping[str, Sequence[Any]], used: set[str]) -> bool:
    """Whether a field holds labels under another name than the one that is read in its sibling objects.

    Example: ``scores.tone.flagged``, if ``scores{}.correct`` is read and ``scores.tone.correct`` does not exist.
    """
    *holder, key, _ = ["", "", *parts_of(field)]
    home = ".".join(filter(None, holder))
    names = [path.removeprefix(f"{home}{{}}.") for path in used if home and path.startswith(f"{home}{{}}.")]
    missing = [n for n in names if "#" not in n and f"{home}.{key}.{n}" not in fields]
    return bool(missing) and holds_labels(fields[field])


def _is_plain(field: str) -> bool:
    """Whether a field is a top-level column whose name contains points, not a nested field."""
    return len(parts_of(field)) == 1 and not field.endswith("[]")


def _of_any_key(field: str) -> str:
    """A path with ``{}`` in place of its first key: ``{}[].score`` for ``gpt-4o[].score``."""
    first, *rest = parts_of(field)
    marks = "[]" if first.endswith("[]") else ""
    return ".".join([f"{{}}{marks}", *rest])


def _top(field: str) -> str:
    return field.partition(".")[0].partition("[")[0]
