"""Inspect one file: recognise its format and plan how it is read, as a table or as a native layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...errors import IngestError
from ...text import as_json, with_article
from .columns.label_names import is_date
from .columns.query_names import NAMES_OF_QUERIES, is_written
from .columns.specs import COLUMNS, MISSING, listed_columns, names_of, plain_name
from .formats import TABLES, check_format, open_reader, recognise
from .formats.delimited import DelimitedReader
from .formats.native.base import MissingError, NativeFormat, Record, Setting, label_of
from .formats.records import Fault
from .listed_rubrics import with_listed
from .native_files import companions, first_records, native_of, native_rows
from .nested.field_names import last_name
from .nested.labels import Nested, find_nested, keys_as_systems, keys_of_judges, with_nested_unused
from .nested.objects import HOLDERS
from .not_labels import why_no_labels, why_pairs, why_pairs_within, why_sides
from .packed_cells import holds_packed
from .packed_keys import is_packed, own_names, packed_keys, question_of
from .paths import fields_of_records, is_path, parts_of, unescaped
from .plan import Columns, FilePlan, Guess, Overrides, wide_columns
from .rules import is_led, sources_of, with_derived
from .sources import Piece
from .tables.described import paths_beside
from .tables.plan import QUESTION, plan_of_table
from .tables.plan_cells import repeats, rows_of_keys
from .tables.query_column import turns_as_queries
from .tables.unused import unused_fields, watched
from .words import levels_among

_SHORT = 120  # most characters of a value that may name a record
_TRIED = 10  # most fields that are tried as the query: the whole file is inspected for each


@dataclass(frozen=True)
class Found:
    """The plan of a file, with its first rows (of a table) or the first canonical rows that it gives (native layout).

    needs: names that the file's path must give, such as "system". queries: in a native layout, name of a query → the
    longer text that distinguishes it from other queries of that name (``Setting.query``).
    """

    plan: FilePlan
    rows: tuple[Any, ...] = ()
    needs: tuple[str, ...] = ()
    queries: Mapping[str, str] = field(default_factory=dict)

    def changed(self, *remarks: str, **fields: Any) -> Found:
        """A copy with further remarks in its plan and new values of some of the plan's fields."""
        return replace(self, plan=replace(self.plan.with_remarks(*remarks), **fields))


def describe(piece: Piece, overrides: Overrides, pieces: Sequence[Piece] = ()) -> Found:
    """How a file would be read, as ``look_into``; a file that cannot be read has the reason in ``plan.problem``."""
    try:
        return look_into(piece, overrides, pieces)
    except IngestError as error:
        return Found(FilePlan(piece.name, "unknown", kind=overrides.kind or "labels", problem=str(error)))


def look_into(piece: Piece, overrides: Overrides, pieces: Sequence[Piece] = ()) -> Found:
    """How a file would be read: its format, columns and problems. Raises IngestError where it cannot be opened.

    overrides: what the user decided. pieces: all files of the ingest, among which companion files are found.
    """
    check_format(overrides.format)
    basic = recognise(piece.path, piece.name)
    records = [] if overrides.format in TABLES else first_records(piece, basic)
    native = None if overrides.format in TABLES else native_of(records, overrides.format)
    if native is not None:
        return _describe_native(piece, native, overrides, companions(piece, pieces), records)
    if basic == "zip":
        raise IngestError(
            f"{piece.name} is packed as an Inspect log is, and holds no table and no eval: export the log again, or "
            "give no format."
        )
    opened = open_reader(piece.path, piece.name, overrides.format, piece.scratch)
    beside = (
        paths_beside(overrides.mapping, fields_of_records(piece)) if is_led(overrides.mapping, opened) else ()
    )
    reader, mapping = with_derived(opened, overrides.mapping, piece, beside)
    asked, overrides = overrides.mapping, replace(overrides, mapping=mapping)
    file_format = basic if overrides.format == "auto" else overrides.format
    found = Found(*plan_of_table(piece.name, reader, file_format, overrides))
    found = _with_remarks_on_rules(found, asked, mapping)
    if "query" not in asked and (turns := turns_as_queries(found.plan, found.rows)):
        return _of_turns(
            look_into(piece, replace(overrides, mapping={**asked, "query": turns}), pieces), turns
        )
    if not asked and (pairs := why_pairs(piece.name, reader.columns, found.rows)):
        kind = overrides.kind or "labels"
        return found.changed(kind=kind, tables=(kind,), problem=pairs)
    places = {column: n for n, column in enumerate(found.plan.columns)}
    texts = [c for c in opened.columns if c in places]
    packed = any(holds_packed(c, found.rows, places[c]) for c in texts) or is_led(asked, opened)
    if not packed and (isinstance(opened, DelimitedReader) or not getattr(opened, "nested", True)):
        return _with_better_problem(found, {})
    fields = fields_of_records(piece)
    within = _within(piece, found, replace(overrides, mapping=asked), fields)
    if within:
        return within
    if by_name := _by_own_names(piece, found, replace(overrides, mapping=asked), pieces):
        return by_name
    plan = with_listed(with_nested_unused(found.plan, fields), found.rows, fields)
    return _with_better_problem(replace(found, plan=plan), fields)


def _of_turns(found: Found, rule: str) -> Found:
    """The plan of a table of conversations with a remark that each turn is a query. rule: such as "id + turn"."""
    remark = f"the query is {rule}, because rows of a conversation differ only in the turn"
    return found.changed(remark)


def _by_own_names(piece: Piece, found: Found, overrides: Overrides, pieces: Sequence[Piece]) -> Found | None:
    """The plan that reads a name within each column of JSON objects, such as ``model.name``; None if there is none.

    Columns of objects are looked for as system, query, rubric and judge. If a system or judge has no field that names
    it, the plan's problem asks for one.
    """
    plan = found.plan
    keys = packed_keys(plan, found.rows, overrides.mapping)
    if names := own_names(plan, found.rows, keys):
        asked = replace(overrides, kind=plan.kind, mapping={**overrides.mapping, **names})
        named = look_into(piece, asked, pieces)
        if _repeat(found) or not _repeat(named):
            told = tuple(f"the {c} is {path}, because {keys[c]!r} holds objects" for c, path in names.items())
            return named.changed(*told)
    unnamed = next((c for c in keys if c not in ("query", "rubric")), None)
    if unnamed is None or plan.problem:
        return None
    return found.changed(problem=question_of(plan, found.rows, unnamed, keys[unnamed]))


def _with_better_problem(found: Found, fields: Mapping[str, Sequence[Any]]) -> Found:
    """If no labels are found, replace the problem by a more precise one, if the columns show why there are none."""
    plan = found.plan
    if plan.problem is None or plan.kind not in ("labels", "gold"):
        return found
    why = why_no_labels(plan.name, plan.columns, found.rows, fields)
    return found.changed(problem=why) if why else found


def _within(
    piece: Piece, found: Found, overrides: Overrides, fields: Mapping[str, list[Any]]
) -> Found | None:
    """The plan of records with labels in nested lists or objects (``scores[].value``); None if no field name shows it.

    Paths that the field names do not settle are guesses. With ``overrides.strict`` they are a question in the problem.
    """
    plan = found.plan
    if overrides.kind is None and plan.kind in ("queries", "rubrics", "reference", "answers"):
        nested = find_nested("labels", fields, overrides.mapping)
        held = nested and (nested.sure or not nested.missing)
        return look_into(piece, replace(overrides, kind="labels")) if held else None
    nested = _nested_of(found, overrides, fields)
    if nested is None:
        return None
    if not overrides.mapping and (sides := _why_sides_within(plan, nested, fields)):
        return found.changed(mapping={}, guesses=(), problem=sides)
    given = set(overrides.mapping.values())
    mapping = {c: v for c, v in nested.mapping.items() if v not in given} | dict(overrides.mapping)
    systems = keys_as_systems(nested.mapping, fields) if "system" not in overrides.mapping else {}
    if overrides.strict and not nested.sure:
        query = {} if "query" in mapping else _query_that_parts(piece, plan, overrides, mapping)
        of_records = str(nested.mapping.get("label", "")).startswith("{}.")
        other = {**systems, **query} if systems and of_records else {}
        problem = nested.question(plan.name, mapping | query) + _if_systems(other)
        return found.changed(mapping={}, guesses=(), problem=problem)
    complete = look_into(piece, replace(overrides, mapping=mapping))
    if keys := packed_keys(replace(plan, mapping=complete.plan.mapping), found.rows, mapping):
        names = own_names(plan, found.rows, keys)
        names |= {c: "" for c in keys if c not in names and _lies_in(nested, {c: keys[c]})}
        if unnamed := next((c for c in keys if c not in names and c not in ("query", "rubric")), None):
            problem = question_of(plan, found.rows, unnamed, keys[unnamed])
            return replace(found, plan=replace(complete.plan, problem=problem))
        mapping |= names
        complete = look_into(piece, replace(overrides, mapping=mapping))
    complete = _with_query(piece, complete, overrides, mapping, fields)
    return _with_remark_on_paths(_with_own_columns(complete, plan.columns, systems), nested, mapping)


def _nested_of(found: Found, overrides: Overrides, fields: Mapping[str, list[Any]]) -> Nested | None:
    """The paths to labels within records; None if there are none, or if plain columns of the table match better."""
    plan = found.plan
    single = str(plan.mapping.get("rubric", "")).startswith("=") and "rubric" not in overrides.mapping
    weak = single or plan.problem is not None or any(g.confidence < QUESTION for g in plan.guesses)
    label = plan.mapping.get("label")
    weak = weak or (label in plan.columns and is_packed(found.rows, plan.columns.index(label)))
    packed = packed_keys(plan, found.rows, overrides.mapping)
    nested = find_nested(plan.kind, fields, overrides.mapping) if weak or packed else None
    if nested is None or set(nested.mapping) <= set(overrides.mapping):
        return None
    if not weak and not _lies_in(nested, packed):
        return None
    mapping = _with_model_of_judge(nested.mapping, found, fields)
    return replace(nested, mapping=_with_plain_columns(mapping, plan.columns))


def _with_model_of_judge(paths: Columns, found: Found, fields: Mapping[str, Sequence[Any]]) -> Columns:
    """The paths with the model beside the labels as the judge, if a column outside that object names other systems.

    Only for objects, such as ``evaluation.model`` beside a column ``model``: items of lists may be answers of systems.
    """
    model, columns = str(paths.get("system", "")), found.plan.columns
    home = model.rpartition(".")[0]
    outer = [c for c in columns if plain_name(c) in names_of("labels", "system")]
    labels = wide_columns(paths) or [str(paths.get("label", ""))]
    in_object = last_name(home) in HOLDERS and not home.endswith(("[]", "{}"))
    if not in_object or len(outer) != 1 or any(p.rpartition(".")[0] != home for p in labels):
        return paths
    systems = {str(row[columns.index(outer[0])]) for row in found.rows}
    if not systems.isdisjoint(map(str, fields.get(model, ()))):
        return paths
    return {"judge": model, **paths, "system": outer[0]}


def _why_sides_within(plan: FilePlan, nested: Nested, fields: Mapping[str, list[Any]]) -> str | None:
    """The problem if nested labels belong to the two sides of a comparison (``scores_a``, ``scores_b``), else None."""
    criteria = wide_columns({"rubric": nested.mapping.get("rubric", "")})
    raters = nested.mapping.get("judge", "")
    sided = [unescaped(parts_of(path)[-1]) for path in raters] if isinstance(raters, tuple) else []
    sides = why_sides(plan.name, sided, plan.columns)  # article_1_score, article_2_score
    if "system" in nested.missing and not sides:
        inner = [unescaped(parts_of(path)[-1]) for path in criteria]
        sides = why_sides(plan.name, keys_of_judges(nested.mapping, fields), plan.columns)
        sides = sides or why_sides(plan.name, inner, plan.columns)
    home = _list_of(criteria or (str(nested.mapping.get("label", "")),))
    return sides or (why_pairs_within(plan.name, home, fields) if home else None)


def _with_remark_on_paths(found: Found, nested: Nested, mapping: Columns) -> Found:
    """The plan of nested labels with the paths that were found as its guesses, and a remark that lists the paths."""
    remark = (
        f"its labels lie within its records, at {', '.join(wide_columns(mapping)) or mapping.get('label')}"
    )
    if "label" in mapping:
        named = [(c, str(mapping.get(c, ""))) for c in ("system", "judge", "rubric", "run")]
        remark += "".join(f", the {c} at {path}" for c, path in named if is_path(path) and path[0] != "=")
        remark += "".join(_remark_on_places(c, path) for c, path in named if path.endswith("[].#"))
    sure = 0.85 if nested.sure else 0.5
    own = {c: path for c, path in nested.mapping.items() if mapping.get(c) == path}
    guesses = tuple(
        Guess(c, ", ".join(path) if isinstance(path, tuple) else path, sure, "the names of its fields")
        for c, path in own.items()
    )
    return found.changed(remark, guesses=guesses)


def _remark_on_places(canonical: str, path: str) -> str:
    """The words of a remark on labels whose judge, rubric, system or run is the position in a list (``votes[].#``)."""
    draws = f" (if they are repeated draws, give the mapping {as_json({'run': path})})"
    said = f"; each place in {path.removesuffix('.#')} is read as {with_article(canonical)}"
    return said + (draws if canonical == "judge" else "")


def _list_of(paths: Sequence[str]) -> str:
    """The list that directly holds all paths: ``results[]`` for ``results[].met``. "" if there is no such list."""
    homes = {path.rpartition(".")[0] for path in paths}
    home = homes.pop() if len(homes) == 1 else ""
    return home if home.endswith("[]") else ""


def _with_own_columns(found: Found, columns: Sequence[str], systems: Columns) -> Found:
    """The plan with a problem that lists the file's own columns, not those that were derived from paths.

    systems: the mapping to propose if the keys of the labels are systems; empty if they cannot be.
    """
    problem = found.plan.problem or ""
    before, listing, after = problem.partition(COLUMNS)
    if MISSING not in problem or not listing:
        return found
    told = f"{before}{listing}{listed_columns(columns)}; rename{after.partition('; rename')[2]}"
    if f"{MISSING}system," in problem:
        told += _if_systems(systems)
    return found.changed(problem=told)


def _query_that_parts(piece: Piece, plan: FilePlan, overrides: Overrides, mapping: Columns) -> dict[str, str]:
    """{"query": column} for nested labels, if a column of the file is recognised as the query; else {}."""
    tried = look_into(piece, replace(overrides, mapping={"system": "=…", **mapping}, strict=False))
    query = tried.plan.mapping.get("query")
    return {"query": query} if isinstance(query, str) and query in plan.columns else {}


def _if_systems(mapping: Columns) -> str:
    """A sentence, to append, that gives the mapping to use if the keys are systems; "" for an empty mapping."""
    if not mapping:
        return ""
    shown = as_json(dict(mapping))
    return f" If the keys at {mapping['system']!r} are systems, read it with the mapping {shown}."


def _lies_in(nested: Nested, packed: Mapping[str, str]) -> bool:
    """Whether nested labels lie within a column of lists or objects that was taken for a key. packed: key → column.

    If the paths are not sure by name, only the column that was taken for the rubric counts.
    """
    columns = packed.values() if nested.sure else [packed.get("rubric", "")]
    if nested.sure and "rubric" in packed and nested.mapping.get("rubric") == f"{packed['rubric']}[]":
        return True  # each rubric of a list has a label in the list beside it
    label = nested.mapping.get("label", nested.mapping.get("rubric", ""))
    paths = label if isinstance(label, tuple) else (label,)
    return any(path.startswith((f"{c}.", f"{c}[]", f"{c}{{}}")) for c in columns if c for path in paths)


def _with_query(
    piece: Piece, found: Found, overrides: Overrides, mapping: Columns, fields: Mapping[str, Sequence[Any]]
) -> Found:
    """The plan of nested labels with a further field as the query, if only with it no two rows are about one cell."""
    plan = found.plan
    if "query" in plan.mapping or not _repeat(found):
        return found
    unused = [f for f in plan.unused if is_path(f)]
    paths = [f for f in unused if last_name(f) in NAMES_OF_QUERIES]
    paths.sort(key=lambda f: NAMES_OF_QUERIES.index(last_name(f)))
    first = next((v for c, v in mapping.items() if c == "label" or isinstance(v, tuple)), "")
    label = first if isinstance(first, str) else first[0]
    paths += [f for f in unused if f not in paths and _names_each(f, fields.get(f, ()), label)]
    for path in paths[:_TRIED]:
        named = look_into(piece, replace(overrides, mapping={**mapping, "query": path}))
        whole = "query" in named.plan.mapping and MISSING in (named.plan.problem or MISSING)
        if whole and not _repeat(named):
            remark = (
                f"the query is its {path!r}, because without it several rows would be about the same cell"
            )
            return named.changed(remark)
    return found


def _names_each(field: str, values: Sequence[Any], label: str) -> bool:
    """Whether a field around the label holds short texts that all differ, so that they may name the record or item.

    field: its path, such as ``results[].file``. values: its values in the first records. label: the path of the label.
    """
    texts = all(isinstance(v, str) and 0 < len(v) <= _SHORT for v in values)
    other = last_name(field) in names_of("labels", "run") or is_date(field) or is_written(field)
    around = "[]" not in field or label.startswith(f"{field.rpartition('.')[0]}.")
    return texts and around and not other and len(set(values)) == len(values) > 1


def _repeat(found: Found) -> bool:
    return repeats(rows_of_keys(found.plan, found.rows))


def _with_plain_columns(paths: Columns, columns: Sequence[str]) -> Columns:
    """The paths, with a column in place of a path that is the column's escaped name, such as ``feedback.score``."""

    def plain(path: str) -> str:
        return unescaped(path) if path not in columns and unescaped(path) in columns else path

    return {c: tuple(map(plain, v)) if isinstance(v, tuple) else plain(v) for c, v in paths.items()}


def _with_remarks_on_rules(found: Found, asked: Columns, mapping: Columns) -> Found:
    """The plan with the rules of the user's mapping restored, and a remark on how many of the first rows each matches.

    asked: the user's mapping. mapping: the same with the names of derived columns in place of rules.
    """
    rules = {c: v for c, v in asked.items() if isinstance(v, str) and mapping.get(c) != v}
    if not rules:
        return found
    remarks = []
    for canonical, rule in rules.items():
        at = found.plan.columns.index(str(mapping[canonical]))
        hits = sum(row[at] is not None for row in found.rows)
        remarks.append(f"{canonical} is {rule}, which matches {hits:,} of the first {len(found.rows):,} rows")
    made_from = {column for rule in rules.values() for column in sources_of(rule)}
    restored = {c: rules.get(c, v) for c, v in found.plan.mapping.items()}
    return found.changed(
        *remarks,
        mapping=restored,
        unused=tuple(c for c in found.plan.unused if c not in made_from),
        suspects=tuple(c for c in found.plan.suspects if c not in made_from),
    )


def _describe_native(
    piece: Piece,
    native: NativeFormat,
    overrides: Overrides,
    companion: Callable[[str], Iterator[Record]],
    records: Sequence[tuple[int, Any]],
) -> Found:
    asked = {k: v for k, v in overrides.mapping.items() if isinstance(v, str)}
    outside = {k: v for k, v in asked.items() if v.startswith("=") or (k == "query" and v == native.apart)}
    given = {k: v.removeprefix("=") for k, v in outside.items()}
    probe = _Probe(piece.seen_path, given, companion=companion)
    seen = [(line, watched(record)) for line, record in records]
    rows = list(native_rows(seen, native, probe))
    faults = {line: row for line, row in rows if isinstance(row, Fault)}
    kept = tuple(row for _, row in rows if not isinstance(row, Fault))
    unused, suspects = unused_fields([record for line, record in seen if line not in faults])
    kinds = tuple(
        k
        for k in ("queries", "rubrics", "labels", "gold", "reference", "answers")
        if any(r[0] == k for r in kept)
    )
    plan = FilePlan(
        piece.name,
        native.name,
        native.title,
        overrides.kind or "labels",
        kinds,
        mapping=outside,
        words=levels_among(label_of(r) for r in kept if r[0] in ("labels", "gold")),
        reason=native.recognised_by,
        unused=unused,
        suspects=suspects,
        remarks=tuple(probe.remarks),
        problem=_why_unread(piece.name, [*faults.values()], kept, probe.missing),
    )
    return Found(plan, kept, probe.needs(), probe.queries)


def _why_unread(name: str, faults: Sequence[Fault], kept: Sequence[Any], missing: set[str]) -> str | None:
    """Why a native file cannot be read: all its first records are broken, or no path gives a name such as the system.

    None if it can be read. missing: fields that no path can give.
    """
    if faults and not kept:
        return f"{name} {faults[0].reason}."
    return str(MissingError(min(missing), name)) if missing else None


@dataclass
class _Probe(Setting):
    """A setting that accepts missing names (system, judge, ...) while a file is inspected, and collects them.

    asked: fields that some records lack and a path may give. named: fields that some records hold. missing: fields that
    no path can give. queries: name of each query → the longer text that distinguishes it.
    """

    asked: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    queries: dict[str, str] = field(default_factory=dict)

    def query(self, name: str, apart: str) -> str:
        """The query's name, as in ``Setting``; also stores the name and the text that distinguishes it."""
        self.queries[name] = apart
        return super().query(name, apart)

    def _outside(self, what: str, found: Any) -> str:
        name = super()._outside(what, found)
        (self.named if name else self.asked).add(what)
        return name

    def needs(self) -> tuple[str, ...]:
        """Fields that the path must give. Not the system if some records have one, which the path would replace."""
        return tuple(sorted(self.asked - (self.named & {"system"})))

    def unknown(self, what: str) -> str:
        """The user's value of the field, else a placeholder such as "(system?)"; then the field is noted as missing."""
        if not self.given.get(what):
            self.missing.add(what)
        return super().unknown(what)

    def _fail(self, what: str) -> str:
        return f"({what}?)"
