"""Propose the columns of system, query, rubric and judge for a table whose column names are not sufficient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .columns.label_names import NOTED, RATERS, is_setting
from .columns.query_names import IDS_OF_ANSWERS, NAMES_OF_QUERIES, TURNS, bare_name, unbracketed
from .columns.specs import SPECS, names_of, plain_name, rater_of
from .ground_truth import is_truth
from .guess import MODEL, Profile, fits_name, guess_columns
from .nested.field_names import GRADER
from .plan import FilePlan
from .tables.plan_cells import cells_of, repeats, rows_of_keys
from .tables.query_column import with_query
from .tables.raters import with_distinguishing_column
from .word_lists import word_list
from .words import is_number

LABELS = 0.8  # least share of label-like cells in a column of labels
_HINT = 0.5  # confidence that a name must exceed to be proposed although its cells look like labels
_IDS_OF_ANSWERS = ("run", "run_id")  # in traces, the id of a single answer, not a repeated run
_PLACES = ("idx", "index", "sentence", "sent", "claim", "fact", "step", "position")  # of parts of an answer
_DRAWS = word_list(  # columns that number the samples of a query
    "sample sample_id sample_idx sample_index seed iteration iter generation generation_id generation_idx "
    "completion_id completion_idx"
)
_WAYS = word_list(  # columns with the way of asking a model: part of the system
    "strategy method approach condition variant version setting technique arm pipeline config configuration "
    "prompting prompt_strategy prompting_strategy prompt_type generation_mode retriever"
)
_NAMES_OF_SYSTEMS = word_list(  # columns of systems in shared tasks and in school classes
    "submission submission_id team team_id team_name student student_id student_name student_username idstud"
)
# further names of the rubric's column, used if no column has a synonym of "rubric"
_NAMING = word_list("name key title question nugget_id nugget fact_id claim_id")


def key_columns(
    plan: FilePlan, rows: Sequence[Sequence[Any]], held: dict[str, Profile], labels: Sequence[str]
) -> dict[str, str]:
    """Canonical key (system, query, ...) → the proposed column, by the names of the columns.

    held: column → profile, of the columns that may be used. labels: columns of labels, which are never keys.
    """
    free = [c for c in held if c not in labels and plain_name(c) not in _IDS_OF_ANSWERS and held[c].known]
    free = [c for c in free if not names_columns(plan, rows, c)]
    of_keys = {
        c for c in free if _last(c).endswith(("_id", "_system", "_model")) or _last(c) in _NAMES_OF_SYSTEMS
    }
    names = of_keys | {c for c in free if held[c].labels < LABELS and not _is_amount(plan, rows, c)}
    given = {c: v for c, v in plan.mapping.items() if isinstance(v, str)}
    wanted = SPECS[plan.kind].keys
    sure = [g for g in guess_columns(plan.kind, free, ()) if g.column in names or g.confidence > _HINT]
    found = {g.canonical: g.column for g in sure if g.canonical in wanted} | given
    left = [c for c in free if c in names and c not in found.values()]
    judges = cells_of(plan, rows, found["judge"]) if found.get("judge") in plan.columns else []
    models_in = (c for c in left if _names_models(plan, rows, c) and not _follows(plan, rows, c, judges))
    if "system" not in found and (models := next(models_in, "")):
        found["system"] = models
        left.remove(models)
    if is_hint(plan, "query", found.get("query")) and len(set(cells_of(plan, rows, found["query"]))) == 1:
        del found["query"]  # a column with one value is no query
    if is_hint(plan, "query", found.get("query")) and any(_last(c) in NAMES_OF_QUERIES for c in left):
        left.append(found.pop("query"))  # prompt_variant beside qid
    words_for = {"system": _NAMES_OF_SYSTEMS, "query": NAMES_OF_QUERIES, "rubric": _NAMING}
    for canonical, words in words_for.items():
        named = sorted(
            (c for c in left if _last(c) in words),
            key=lambda c: (_last(c) in IDS_OF_ANSWERS, words.index(_last(c))),
        )
        if canonical == "query":
            named = _finest_first(plan, rows, named)
        if named and canonical not in found and (canonical != "rubric" or len(labels) == 1):
            found[canonical] = named[0]
            left.remove(named[0])
    found |= _criteria_of_texts(plan, rows, found, left) | _rater_of(plan, rows, found, left)
    return {c: found[c] for c in wanted if c in found}


def _is_amount(plan: FilePlan, rows: Sequence[Sequence[Any]], column: str) -> bool:
    """Whether a column holds mostly fractional numbers, such as seconds, and has no name of a key."""
    if bare_name(column) in NAMES_OF_QUERIES or fits_name(column):
        return False
    known = [cell for cell in cells_of(plan, rows, column) if cell]
    amounts = [cell for cell in known if is_number(cell)]
    return len(amounts) == len(known) and 2 * sum(not float(c).is_integer() for c in amounts) > len(known) > 0


def is_hint(plan: FilePlan, canonical: str, column: str | None) -> bool:
    """Whether a proposed column is neither in the plan's mapping nor named by a synonym: ``prompt_variant`` (query)."""
    names = names_of(plan.kind, canonical)
    return bool(column) and column not in plan.mapping.values() and plain_name(str(column)) not in names


def _follows(plan: FilePlan, rows: Sequence[Sequence[Any]], column: str, judges: Sequence[Any]) -> bool:
    """Whether a column maps one to one to the judges, so that it is only another name of them."""
    if not judges:
        return False
    cells = cells_of(plan, rows, column)
    return len(set(zip(judges, cells, strict=True))) == len(set(judges)) == len(set(cells)) > 1


def names_columns(plan: FilePlan, rows: Sequence[Sequence[Any]], column: str) -> bool:
    """Whether all cells of a column are names of columns of the table, such as the best of several."""
    return set(cells_of(plan, rows, column)) - {None, ""} <= set(plan.columns)


def _names_models(plan: FilePlan, rows: Sequence[Sequence[Any]], column: str) -> bool:
    """Whether a column holds mostly model names, each in several rows on average, and is not called like a judge."""
    cells = cells_of(plan, rows, column)
    named = {cell for cell in cells if cell}
    several = 1 < len(named) <= len(cells) // 2
    models = sum(map(bool, map(MODEL.search, named)))
    return several and 2 * models > len(named) and not GRADER.search(column)


def _finest_first(plan: FilePlan, rows: Sequence[Sequence[Any]], named: list[str]) -> list[str]:
    """The columns with that of segments before that of documents, if each segment lies in one document and repeats."""
    cells = {c: cells_of(plan, rows, c) for c in named}
    for fine in named[1:]:
        first, own = cells[named[0]], cells[fine]
        within = len(set(zip(first, own, strict=True))) == len(set(own)) > len(set(first))
        if within and repeats(own) and _last(fine) not in IDS_OF_ANSWERS:
            return [fine, *(c for c in named if c != fine)]
    return named


def _criteria_of_texts(
    plan: FilePlan, rows: Sequence[Sequence[Any]], found: dict[str, str], left: Sequence[str]
) -> dict[str, str]:
    """Query and rubric if the same questions are asked about each text: ``doc_id`` (query) and ``question`` (rubric).

    Empty unless rows repeat without this and no longer repeat with it.
    """
    text = next((c for c in left if bare_name(c) in NAMES_OF_QUERIES and bare_name(c) not in _DRAWS), None)
    if text is None or "query" not in found:
        return {}
    other = found | {"query": text, "rubric": found["query"]}
    before, after = (rows_of_keys(replace(plan, mapping=m), rows) for m in (found, other))
    return {c: other[c] for c in ("query", "rubric")} if repeats(before) and not repeats(after) else {}


def _rater_of(
    plan: FilePlan, rows: Sequence[Sequence[Any]], found: dict[str, str], left: Sequence[str]
) -> dict[str, str]:
    """{"judge": column} (or "annotator") if a column names raters or users and has several rows for one; else empty."""
    who = rater_of(plan.kind)
    respondent = next((c for c in left if bare_name(c) == "response_id"), None)
    if who not in found and respondent and len(NOTED.intersection(plan.columns)) > 1:
        return {who: respondent}  # of a survey
    named = next((c for c in left if bare_name(c) in (*RATERS, "user_id", "user")), None)
    if named is None or who in found or ("query" not in found and bare_name(named) not in RATERS):
        return {}
    raters = cells_of(plan, rows, named)
    return {who: named} if len(set(raters)) > 1 and repeats(raters) else {}


def parts_of_answers(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> dict[str, str]:
    """The column that makes repeated rows unique: a turn is added to the query (``id + turn``), a place is the rubric.

    Empty if no rows repeat, or no such column (``turn``; ``sentence``, ``step``) makes them unique.
    """
    before, query = rows_of_keys(plan, rows), plan.mapping.get("query", "")
    places = [
        c for c in plan.columns if c not in plan.mapping.values() and bare_name(c) in (*TURNS, *_PLACES)
    ]
    places += [c for c in plan.columns if bare_name(c).rpartition("_")[2] in _PLACES and c not in places]
    for column in places if repeats(before) else ():
        cells = cells_of(plan, rows, column)
        if not all(cells) or repeats(list(zip(before, cells, strict=True))):
            continue
        if bare_name(column) in TURNS:
            return {"query": f"{query} + {column}"} if query else {}
        return {"rubric": column} if str(plan.mapping.get("rubric", "")).startswith("=") else {}
    return {}


def what_is_asked(plan: FilePlan, rows: Sequence[Sequence[Any]], mapping: dict[str, str]) -> dict[str, str]:
    """The rubric if no column has its name: a column that differs between rows of the same answer and judge.

    A column of files is the query instead, one that numbers samples is the run, and one with ways of asking a model
    (``strategy``) is part of the system. Empty if the mapping has a rubric column or no query.
    """
    if not mapping.get("rubric", "").startswith("=") or "query" not in mapping:
        return {}
    unused = tuple(c for c in plan.columns if c not in mapping.values())
    apart = with_distinguishing_column(replace(plan, mapping=mapping, unused=unused), rows).apart
    if not apart or is_truth(apart) or bare_name(apart) in ("order", "position"):
        return {}
    if bare_name(apart).rpartition("_")[2] in ("file", "filename", "path"):
        return {"query": apart}
    if bare_name(apart) in _DRAWS and repeats(cells_of(plan, rows, apart)):
        return {"run": apart}
    if bare_name(apart) in _WAYS or is_setting(apart):
        known = mapping.get("system", "=")
        return {"system": apart if known.startswith("=") else f"{known} + {apart}"}
    return {"rubric": apart}


def query_of(plan: FilePlan, rows: Sequence[Sequence[Any]], shown: dict[str, Any]) -> dict[str, str]:
    """{"query": column} if no column has its name: the column without which several rows would be about one cell."""
    if "query" in shown:
        return {}
    mapping = {c: tuple(v) if isinstance(v, list) else v for c, v in shown.items()}
    used = {v for value in mapping.values() for v in (value if isinstance(value, tuple) else (value,))}
    runs = names_of(plan.kind, "run")
    unused = tuple(
        c for c in plan.columns if c not in used and c.strip() and plain_name(unbracketed(c)) not in runs
    )
    found = with_query(replace(plan, mapping=mapping, unused=unused, problem=None), rows, strict=False)
    column = found.mapping.get("query")
    return {"query": column} if isinstance(column, str) else {}


def _last(column: str) -> str:
    """The plain name of a column, or of the last field of a path: ``question`` for ``inputs.question``."""
    return bare_name(column if bare_name(column) in NAMES_OF_QUERIES else column.rpartition(".")[2] or column)
