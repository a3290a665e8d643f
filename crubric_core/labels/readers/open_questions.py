"""What a table of labels leaves open and its rows tell: which column is the query, which the label, and one rubric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from ...errors import IngestError
from .column_names import repeats_among
from .columns import INSTEAD_OF_RUBRIC, choose_columns, plain_name, synonyms_of
from .guess import profile
from .label_names import is_measured
from .plan import FilePlan, Guess
from .words import is_number, levels_of

# names of columns that tell queries apart, where none is called query, question, prompt or task; best first
NAMES_OF_QUERIES = (
    *(
        "query_uid",
        "prompt_uid",
        "instance_id",
        "sample_id",
        "example_id",
        "doc_id",
        "document_id",
        "dialogue_id",
    ),
    *(
        "dialog_id",
        "conversation_id",
        "case_id",
        "test_case_id",
        "test_id",
        "request_id",
        "problem_id",
        "paper_id",
    ),
    *(
        "datasource_item_id",
        "dataset_item_id",
        "reference_example_id",
        "segment_id",
        *("seg_id", "segment", "seg"),
        "session_id",
        "trace_id",
        "article_id",
        "input_id",
        *("essay_id", "text_id", "post_id", "passage_id", "story_id", "call_id", "qid", "case_name"),
        "uid",
        "span_id",
    ),
    *(
        "instruction",
        "user_input",
        "input",
        "inputs",
        "request",
        "orig_instruction",
        "document",
        "context",
        "example",
        *("doc", "dialogue", "conversation", "article", "test_case", "scenario"),
        *("topic_id", "topic", "doc_no", "docno"),
        *("task", "task_name", "problem", "exercise", "case", "test"),
        "id",
        "uuid",
        "index",
        "idx",
    ),
)
# those of them that name what a request, a run or a row is about as often as a query
IDS_OF_ANSWERS = frozenset(
    (
        *("sample_id", "conversation_id", "test_id", "request_id", "session_id", "trace_id", "span_id"),
        *("input_id", "essay_id", "text_id", "uid", "id", "uuid", "index", "idx"),
    )
)
_PREDICTED = frozenset(("prediction", "predicted", "pred", "predicted_label"))
_RIGHT = frozenset(("correct", "is_correct", "match", "exact_match", "right"))
_LABELS, _NO_LABELS = 0.8, 0.5  # share of a column's cells that look like labels: from, and below
_LEAST = 4  # rows below which nothing is said


def with_query(plan: FilePlan, rows: Sequence[Sequence[Any]], *, strict: bool) -> FilePlan:
    """The plan with the query's column, where none is called so: one with a name that speaks of texts or tasks.

    Where rows would contradict each other without it, it must tell all rows apart; ``strict`` makes a problem of a
    table that has no such name. A table in which nothing else tells rows apart stays as it is.
    """
    if plan.kind not in ("labels", "gold") or plan.problem or "query" in plan.mapping or len(rows) < _LEAST:
        return plan
    before = rows_of_keys(plan, rows)
    if len(set(before)) == len(before):
        return _with_named_query(plan, rows)
    spread = any(isinstance(v, tuple) for v in plan.mapping.values())
    free = [c for c in plan.unused if c in plan.columns and not is_written(c)]
    free = [c for c in free if bare_name(c) in NAMES_OF_QUERIES or not is_measured(c)]
    offers = [c for c in free if _parts(cells_of(plan, rows, c), before, spread)]
    systems = (
        cells_of(plan, rows, str(plan.mapping["system"]))
        if plan.mapping.get("system") in plan.columns
        else []
    )
    alone = {c: bool(systems) and _of_one_system(cells_of(plan, rows, c), systems) for c in offers}
    offers.sort(key=lambda c: alone[c])
    named = sorted(
        (c for c in offers if bare_name(c) in NAMES_OF_QUERIES),
        key=lambda c: (alone[c], NAMES_OF_QUERIES.index(bare_name(c))),
    )
    criteria = [c for c in offers if plain_name(c) in INSTEAD_OF_RUBRIC]
    if criteria and not named and plain_name(str(plan.mapping.get("rubric", ""))) in ("item", "item_id"):
        return _with_items_as_queries(plan, criteria[0])
    if named or (offers and not strict):
        column = named[0] if named else offers[0]
        return _taken(plan, column, 0.75 if named else 0.4)
    if not offers:
        return _with_shared_query(plan, rows, before, systems)
    some = " or ".join(repr(c) for c in offers[:3])
    problem = (
        f"Rows of {plan.name} repeat the same system, rubric and judge, and no column is called query: say which "
        f'column says what each row is about, perhaps {some} ({{"query": "{offers[0]}"}} in the mapping).'
    )
    return replace(plan, problem=problem)


def with_texts_as_queries(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> FilePlan:
    """The plan of a table whose questions are asked of each text (doc_id, question): these are its rubrics.

    Without the text rows would contradict each other, and with it none do.
    """
    question = plan.mapping.get("query")
    if plan.kind not in ("labels", "gold") or question not in plan.columns or len(rows) < _LEAST:
        return plan
    before = rows_of_keys(plan, rows)
    if plain_name(str(question)) != "question" or len(set(before)) == len(before):
        return plan
    texts = (c for c in plan.unused if bare_name(c) in NAMES_OF_QUERIES)
    for text in sorted(texts, key=lambda c: NAMES_OF_QUERIES.index(bare_name(c))):
        asked = replace(plan, mapping={**plan.mapping, "rubric": question})
        after = rows_of_keys(replace(asked, mapping={**asked.mapping, "query": text}), rows)
        if len(set(after)) < len(after) or not all(cells_of(plan, rows, text)):
            continue
        kept = tuple(g for g in plan.guesses if g.canonical not in ("query", "rubric"))
        spare = [c for c in (plan.mapping.get("rubric"),) if c in plan.columns]
        asked = replace(asked, guesses=kept, unused=(*plan.unused, *spare))
        asked = taken(asked, "rubric", str(question), 0.75, f"it is asked of each {text!r}", "")
        remark = (
            f"the query is its column {text!r}, of which each {question!r}, which is the rubric, is asked"
        )
        return taken(asked, "query", text, 0.75, "without it rows would be about the same cell", remark)
    return plan


def _with_items_as_queries(plan: FilePlan, criterion: str) -> FilePlan:
    """The plan of a table in which each item is rated on several criteria: the item is the query, and no rubric."""
    item = str(plan.mapping["rubric"])
    kept = tuple(g for g in plan.guesses if g.canonical != "rubric")
    moved = replace(plan, mapping={**plan.mapping, "query": item}, guesses=kept)
    remark = f"the query is its column {item!r}, as several values of {criterion!r}, which is the rubric, are of each"
    return taken(moved, "rubric", criterion, 0.75, f"several are of each {item!r}", remark)


def _with_shared_query(
    plan: FilePlan,
    rows: Sequence[Sequence[Any]],
    before: Sequence[tuple[Any, ...]],
    systems: Sequence[Any],
) -> FilePlan:
    """The plan with a query that is named after texts and shared by systems, where rows repeat with it, too."""
    for column in sorted(
        (c for c in plan.unused if c in plan.columns and bare_name(c) in NAMES_OF_QUERIES),
        key=lambda c: NAMES_OF_QUERIES.index(bare_name(c)),
    ):
        cells = cells_of(plan, rows, column)
        more = len(set(zip(before, cells, strict=True))) > len(set(before))
        if (
            bare_name(column) not in IDS_OF_ANSWERS
            and all(cells)
            and len(set(cells)) < len(cells)
            and more
            and not _of_one_system(cells, systems)
        ):
            remark = f"the query is its column {column!r}, as no column is called query"
            return taken(plan, "query", column, 0.75, f"{column!r} speaks of what is answered", remark)
    return plan


def _with_named_query(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> FilePlan:
    """The plan with the query's column by its name alone: all rows have one, and systems share what it says.

    Without it the rubrics of different texts would be those of one query, and claims for further queries too sure.
    """
    systems, rubrics = (cells_of(plan, rows, str(plan.mapping.get(c, ""))) for c in ("system", "rubric"))
    named = [c for c in plan.unused if c in plan.columns and bare_name(c) in NAMES_OF_QUERIES]
    for column in sorted(named, key=lambda c: NAMES_OF_QUERIES.index(bare_name(c))):
        cells = cells_of(plan, rows, column)
        if any(c in (None, "") for c in cells) or _of_one_system(cells, systems):
            continue
        groups = 1 < len(set(cells)) < len(set(rubrics)) == len(set(zip(rubrics, cells, strict=True)))
        if bare_name(column) not in IDS_OF_ANSWERS or (groups and len(set(systems)) > 1):
            remark = f"the query is its column {column!r}, as no column is called query"
            return taken(plan, "query", column, 0.75, f"{column!r} speaks of what is answered", remark)
    return plan


def told_of_own_queries(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> FilePlan:
    """The plan with a remark where no two systems share a query, and they share the values of an unused column."""
    query, system = (str(plan.mapping.get(c, "")) for c in ("query", "system"))
    if query not in plan.columns or system not in plan.columns or len(rows) < _LEAST:
        return plan
    systems = cells_of(plan, rows, system)
    if not _of_one_system(cells_of(plan, rows, query), systems):
        return plan
    names = ("query", *synonyms_of("labels", "query"), *NAMES_OF_QUERIES)
    for column in sorted(
        (c for c in plan.unused if bare_name(c) in names), key=lambda c: names.index(bare_name(c))
    ):
        cells = cells_of(plan, rows, column)
        if all(cells) and len(set(cells)) > 1 and not _of_one_system(cells, systems):
            remark = (
                f"no two systems share a value of its column {query!r}, which is taken as the query, and they share "
                f'those of {column!r}: if that is what each row is about, map it ({{"query": "{column}"}})'
            )
            return replace(plan, remarks=(*plan.remarks, remark))
    return plan


def label_by_content(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> dict[str, str]:
    """The label's column where several have names of labels: the only one that has any, or that looks like labels.

    Where several say the same of each row (a verdict, and its score), the first with whole levels. Beside predictions,
    the label is what was to be predicted, and whether that is right is what counts.
    """
    if plan.kind not in ("labels", "gold") or "label" in plan.mapping:
        return {}
    right = [c for c in plan.columns if plain_name(c) in _RIGHT]
    if len(right) == 1 and any(plain_name(c) in _PREDICTED for c in plan.columns):
        return {"label": right[0]}
    names = ("label", *synonyms_of(plan.kind, "label"))
    named = [c for c in plan.columns if plain_name(c) in names]
    if len(named) < 2 or any(plain_name(c) == "label" for c in named):
        return {}
    held = {c: found for c in named if (found := profile(cells_of(plan, rows, c))).known}
    if len(held) < 2:
        return {"label": next(iter(held))} if held else {}
    alike = [c for c in held if held[c].labels >= _LABELS]
    if len(alike) == len(held):
        return _said_twice({c: cells_of(plan, rows, c) for c in alike})
    others = [c for c in held if held[c].labels < _NO_LABELS]
    return {"label": alike[0]} if len(alike) == 1 and len(others) == len(held) - 1 else {}


def _said_twice(given: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    """The first column with whole levels of those that order all rows alike; {} where they do not."""
    levels = {}
    for column, cells in given.items():
        words = levels_of(str(c) for c in cells if c)
        levels[column] = [float(c) if c and is_number(c) else words.get(c) for c in cells]
    first, *others = levels.values()
    for other in others:
        pairs = set(zip(first, other, strict=True))
        ordered = sorted((a, b) for a, b in pairs if a is not None and b is not None)
        if len(ordered) < max(2, len(pairs)) or any(a >= c or b >= d for (a, b), (c, d) in pairwise(ordered)):
            return {}
    whole = [c for c, own in levels.items() if all(x is None or float(x).is_integer() for x in own)]
    return {"label": whole[0]} if whole else {}


def runs_as_systems(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> dict[str, str]:
    """The system where no column is called so, and the runs have names, as those of TREC."""
    if plan.kind not in ("labels", "gold") or "system" in plan.mapping:
        return {}
    systems = ("system", *synonyms_of("labels", "system"))
    runs = [c for c in plan.columns if plain_name(c) in ("run", "run_id")]
    if len(runs) != 1 or any(plain_name(c) in systems for c in plan.columns):
        return {}
    return {"system": runs[0]} if names_runs(cells_of(plan, rows, runs[0])) else {}


def names_runs(values: Sequence[Any]) -> bool:
    """Whether runs have names that several records share: each is a system, and no repeated draw."""
    names = {str(v) for v in values if v not in (None, "")}
    numbered = repeats_among(tuple(names)) or any(name.isdigit() for name in names)
    return bool(names) and 2 * len(names) <= len(values) and not numbered


def ids_of_labels(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> dict[str, str]:
    """Query and rubric by their texts, where the ids next to them are of the labels: no two systems share one."""
    system = next(
        (c for c in plan.columns if plain_name(c) in ("system", *synonyms_of("labels", "system"))), None
    )
    if plan.kind not in ("labels", "gold") or len(rows) < _LEAST:
        return {}
    if system is None:
        return _ids_of_texts(plan, rows)
    systems = cells_of(plan, rows, system)
    found: dict[str, str] = {}
    for canonical in {"query", "rubric"} - set(plan.mapping):
        names = {plain_name(c): c for c in plan.columns if plain_name(c) in synonyms_of("labels", canonical)}
        for name, column in names.items():
            text = names.get(name.removesuffix("_id"), column)
            if _of_one_system(cells_of(plan, rows, column), systems) and not _of_one_system(
                cells_of(plan, rows, text), systems
            ):
                found[canonical] = text
    return _ids_of_texts(plan, rows) | found


def _ids_of_texts(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> dict[str, str]:
    """The id of the query where names fit several columns that say the same of each row: task_id, question."""
    named = [c for c in plan.columns if plain_name(c) in ("query", *synonyms_of("labels", "query"))]
    ids = [c for c in named if plain_name(c).endswith("_id")]
    if "query" in plan.mapping or len(named) < 2 or len(ids) != 1:
        return {}
    cells = [cells_of(plan, rows, c) for c in named]
    distinct = {len(set(own)) for own in cells} | {len(set(zip(*cells, strict=True)))}
    return {"query": ids[0]} if len(distinct) == 1 and all(map(all, cells)) else {}


def one_rubric(
    plan: FilePlan, rows: Sequence[Sequence[Any]], named: Mapping[str, str], fixed: Mapping[str, Any]
) -> str | None:
    """The name of the only rubric of a table with one score for each system, query and judge; None for any other."""
    if plan.kind not in ("labels", "gold") or "rubric" in {*named, *fixed} or not rows:
        return None
    columns = (*plan.columns, *fixed)
    try:
        choose_columns(plan.kind, columns, named, plan.name)
    except IngestError:
        pass
    else:
        return None
    try:
        chosen = choose_columns(plan.kind, (*columns, "rubric"), named, plan.name)
    except IngestError:
        return None
    keys = [i for c, i in chosen.items() if c not in ("label", "reason", "rubric") and i < len(plan.columns)]
    own = [tuple(row[i] if i < len(row) else None for i in keys) for row in rows]
    label = chosen["label"]
    if label >= len(plan.columns):
        return None
    if "query" in chosen:
        return plan.columns[label] if len(set(own)) == len(own) else None
    free = [
        c for i, c in enumerate(plan.columns) if i not in chosen.values() and bare_name(c) in NAMES_OF_QUERIES
    ]
    spread_known = len(own) >= _LEAST and any(
        _parts(cells_of(plan, rows, c), own, spread=False) for c in free
    )
    return plan.columns[label] if spread_known else None


def told_of_one_rubric(name: str) -> str:
    """What is said of a table that names no rubric."""
    return f"no column names a rubric, so that {name!r} is taken as the only rubric of each query"


def _taken(plan: FilePlan, column: str, sure: float) -> FilePlan:
    why = "without it rows would be about the same cell"
    remark = f"the query is its column {column!r}, without which rows would be about the same cell"
    return taken(plan, "query", column, sure, why, remark)


def taken(plan: FilePlan, canonical: str, column: str, sure: float, why: str, remark: str) -> FilePlan:
    """The plan with one more of its columns, and the remark that says so."""
    return replace(
        plan,
        mapping={**plan.mapping, canonical: column},
        guesses=(*plan.guesses, Guess(canonical, column, sure, why)),
        unused=tuple(c for c in plan.unused if c != column),
        suspects=tuple(c for c in plan.suspects if c != column),
        remarks=(*plan.remarks, remark) if remark else plan.remarks,
    )


def rows_of_keys(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """What each of the first rows is about: its cells of all mapped columns but label and reason."""
    keys = [v for c, v in plan.mapping.items() if isinstance(v, str) and c not in ("label", "reason")]
    own = [cells_of(plan, rows, column) for column in keys]
    return list(zip(*own, strict=True)) if own else [()] * len(rows)


def _parts(cells: Sequence[Any], before: Sequence[tuple[Any, ...]], spread: bool) -> bool:
    """Whether a column tells all rows apart, and is no mere number of the row."""
    if any(c in (None, "") for c in cells) or len(set(zip(before, cells, strict=True))) < len(cells):
        return False
    return len(set(cells)) < len(cells) or (spread and len(set(before)) == 1)


def _of_one_system(cells: Sequence[Any], systems: Sequence[Any]) -> bool:
    """Whether no value comes with two systems, where there are several: an id of an answer, and of no query."""
    return len(set(systems)) > 1 and len(set(zip(cells, systems, strict=True))) == len(set(cells))


def cells_of(plan: FilePlan, rows: Sequence[Sequence[Any]], column: str) -> list[Any]:
    """A column's cells of the first rows; of what is the same for the whole file, that."""
    if column.startswith("=") and column not in plan.columns:
        return [column] * len(rows)
    at = plan.columns.index(column) if column in plan.columns else -1
    return [row[at] if 0 <= at < len(row) else None for row in rows]


_WRITTEN = frozenset(  # last words of names of what systems, and those who judge them, write
    (
        *("response", "output", "completion", "generation", "reply", "answer"),
        *("feedback", "rationale", "explanation", "reason", "critique", "comment", "review"),
    )
)


def is_written(column: str) -> bool:
    """Whether a column is named after an answer, or after what is said of it: no query, whatever it holds."""
    return bare_name(column).rpartition("_")[2] in _WRITTEN


def bare_name(column: str) -> str:
    """A column's name as it is compared, without underscores around it."""
    return plain_name(column).strip("_")
