"""The mapping that would read a table whose names do not tell all: shown in the sentence that refuses it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...text import listed
from .columns.label_names import (
    ENDINGS,
    NOTED,
    RATERS,
    called_after_criteria,
    is_derived,
    is_index,
    may_hold_labels,
)
from .columns.query_names import IDS_OF_ANSWERS, NAMES_OF_QUERIES, TURNS, bare_name, is_written
from .columns.specs import MISSING, SPECS, plain_name, synonyms_of
from .ground_truth import is_truth
from .guess import MODEL, Profile, fits_name, guess_columns, profile
from .nested.field_names import GRADER
from .plan import FilePlan
from .tables.open_questions import label_by_content, runs_as_systems
from .tables.plan_cells import cells_of, rows_of_keys
from .tables.query_column import with_query
from .tables.raters import told_apart
from .values import shortened
from .wide.column_names import (
    called_after_queries,
    crossed_names,
    crossing,
    names_a_judge,
    repeats_among,
    spread_names,
    without_queries,
)
from .wide.label_columns import ANSWERED, counts_rows
from .wide.plan import systems_times_judges
from .wide.spread import spread_key
from .wide.totals import totals_among
from .words import is_abc, is_number, is_verdict, letters_of

_LABELS = 0.8  # share of a column's cells that look like labels
_MARKS = (
    r"(?i)<(?:score|rating|grade|verdict|label|result)>\s*([^<\s]+)\s*</",
    r"\[\[\s*([^\]\s]+)\s*\]\]",
    r"(?i)(?:score|rating|grade|verdict)\s*[:=]\s*\**\s*(\w+(?:\.\d+)?)",
)  # of labels in judges' texts
_FEW = 12  # different labels of a column, at most
_OF_NAMES = {"system": crossing("system", "rubric")}
_CONTRADICTING = 0.2  # of the rows, from which they are several systems
_SUMMING = ("pass", "passed", "outcome", "decision")  # what sums up criteria beside it
_CRITERIA = 3  # of these, at least
_HINT = 0.5  # confidence of a name that only contains a word for what it may be
_IDS_OF_ANSWERS = ("run", "run_id")  # of traces: each of one answer, and no repeated draw
_PLACES = ("idx", "index", "sentence", "sent", "claim", "fact", "step", "position")  # of parts of an answer
_NAMES_OF_SYSTEMS = (
    *("submission", "submission_id", "team", "team_id", "team_name"),  # of shared tasks
    *("student", "student_id", "student_name", "student_username", "idstud"),  # of classes
)
_NAMING = (
    "name",
    "key",
    "title",
    "question",
    *("nugget_id", "nugget", "fact_id", "claim_id"),
)  # what the rubric of a label may be called, where nothing is called so


def with_proposal(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> FilePlan:
    """A table of labels that lacks a column by its names: its problem with the mapping that would do."""
    spread = any(isinstance(v, tuple) for v in plan.mapping.values())
    problem = plan.problem or ""
    if plan.kind not in ("labels", "gold") or MISSING not in problem or "label" in plan.mapping or spread:
        return plan
    if _begins_with_data(plan, rows):
        first = ", ".join(map(repr, plan.columns[:6]))
        what = f"{plan.name} seems to have no line of column names, as its first line holds {first}"
        return replace(
            plan, problem=f"{what}: put one above it, such as system, query, rubric, judge, label."
        )
    if runs := runs_as_systems(plan, rows):
        known = {c: v for c, v in plan.mapping.items() if v != runs["system"]}
        plan = replace(plan, mapping={**known, **runs})
    held = {c: profile(cells_of(plan, rows, c)) for c in plan.columns if _is_free(plan, rows, c)}
    label = next((c for c in held if plain_name(c) in ("label", *synonyms_of(plan.kind, "label"))), None)
    label = label or label_by_content(plan, rows).get("label")
    if label is not None and plain_name(label) in _SUMMING:
        criteria = [c for c in _alike(plan, rows, held)[0] if c != label and called_after_criteria([c])]
        label = None if len(criteria) >= _CRITERIA else label  # the whole passes where these do
        held = held if label else {c: own for c, own in held.items() if plain_name(c) not in _SUMMING}
    if label is not None:
        keys = _keys(plan, rows, held, [label])
        told = _long(plan, rows, {"system": "=…", "rubric": f"={plain_name(label)}", **keys, "label": label})
    else:
        told = _wide(plan, rows, held) or _of_texts(plan, rows, held)
    return (
        replace(plan, problem=f"{problem.partition('; rename one')[0].rstrip('.')}. {told}") if told else plan
    )


def _begins_with_data(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> bool:
    """Whether what was taken for the names of columns is data: numbers above numbers, and no name that is known."""
    numbers = [c for c in plan.columns if is_number(c)]
    cells = [cell for c in numbers for cell in cells_of(plan, rows, c) if cell]
    return bool(cells) and all(map(is_number, cells)) and not any(map(fits_name, plan.columns))


def _is_free(plan: FilePlan, rows: Sequence[Sequence[Any]], column: str) -> bool:
    """Whether a column may be a key or a label of the table: it is no ground truth and no mere number of the row."""
    noted = column in NOTED and len(NOTED.intersection(plan.columns)) > 1
    taken = column in plan.mapping.values() or is_truth(column) or noted
    counted = counts_rows(cells_of(plan, rows, column)) and not bare_name(column).endswith("_id")
    return bool(column.strip()) and not taken and not counted


def _keys(
    plan: FilePlan, rows: Sequence[Sequence[Any]], held: dict[str, Profile], labels: Sequence[str]
) -> dict[str, str]:
    """Canonical column → the column that may be it, by the names of those whose cells are no labels."""
    free = [c for c in held if c not in labels and plain_name(c) not in _IDS_OF_ANSWERS and held[c].known]
    of_keys = {
        c for c in free if _last(c).endswith(("_id", "_system", "_model")) or _last(c) in _NAMES_OF_SYSTEMS
    }
    names = of_keys | {c for c in free if held[c].labels < _LABELS}
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
    if _is_hint(plan, found.get("query")) and any(_last(c) in NAMES_OF_QUERIES for c in left):
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


def _is_hint(plan: FilePlan, column: str | None) -> bool:
    """Whether the name of what is taken for the query only contains a word for it, and is not given."""
    names = ("query", *synonyms_of(plan.kind, "query"))
    return bool(column) and column not in plan.mapping.values() and plain_name(str(column)) not in names


def _follows(plan: FilePlan, rows: Sequence[Sequence[Any]], column: str, judges: Sequence[Any]) -> bool:
    """Whether a column has one value for each judge, and another one for each: a tag that names the judge."""
    if not judges:
        return False
    cells = cells_of(plan, rows, column)
    return len(set(zip(judges, cells, strict=True))) == len(set(judges)) == len(set(cells)) > 1


def _names_models(plan: FilePlan, rows: Sequence[Sequence[Any]], column: str) -> bool:
    """Whether a column holds the names of models, of which several rows are, and is not called like a judge."""
    cells = cells_of(plan, rows, column)
    named = {cell for cell in cells if cell}
    several = 1 < len(named) <= len(cells) // 2
    models = sum(map(bool, map(MODEL.search, named)))
    return several and 2 * models > len(named) and not GRADER.search(column)


def _finest_first(plan: FilePlan, rows: Sequence[Sequence[Any]], named: list[str]) -> list[str]:
    """The columns with the segments of a document before the document, where several rows are about each segment."""
    cells = {c: cells_of(plan, rows, c) for c in named}
    for fine in named[1:]:
        first, own = cells[named[0]], cells[fine]
        within = len(set(zip(first, own, strict=True))) == len(set(own)) > len(set(first))
        if within and _repeats(own) and _last(fine) not in IDS_OF_ANSWERS:
            return [fine, *(c for c in named if c != fine)]
    return named


def _criteria_of_texts(
    plan: FilePlan, rows: Sequence[Sequence[Any]], found: dict[str, str], left: Sequence[str]
) -> dict[str, str]:
    """Query and rubric where the question is what is asked of each text: doc_id, question."""
    text = next((c for c in left if bare_name(c) in NAMES_OF_QUERIES), None)
    if text is None or "query" not in found:
        return {}
    other = found | {"query": text, "rubric": found["query"]}
    before, after = (rows_of_keys(replace(plan, mapping=m), rows) for m in (found, other))
    return {c: other[c] for c in ("query", "rubric")} if _repeats(before) and not _repeats(after) else {}


def _rater_of(
    plan: FilePlan, rows: Sequence[Sequence[Any]], found: dict[str, str], left: Sequence[str]
) -> dict[str, str]:
    """The judge, where a column names who rated, or a user, and several rows are of one."""
    who = "annotator" if plan.kind == "gold" else "judge"
    named = next((c for c in left if bare_name(c) in (*RATERS, "user_id", "user")), None)
    if named is None or who in found or "query" not in found:
        return {}
    raters = cells_of(plan, rows, named)
    return {who: named} if len(set(raters)) > 1 and _repeats(raters) else {}


def _parts_of_answers(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> dict[str, str]:
    """What tells rows apart that repeat each other: the turn, a part of the query; else a place in the answer."""
    before, query = rows_of_keys(plan, rows), plan.mapping.get("query", "")
    places = [
        c for c in plan.columns if c not in plan.mapping.values() and bare_name(c) in (*TURNS, *_PLACES)
    ]
    places += [c for c in plan.columns if bare_name(c).rpartition("_")[2] in _PLACES and c not in places]
    for column in places if _repeats(before) else ():
        cells = cells_of(plan, rows, column)
        if not all(cells) or _repeats(list(zip(before, cells, strict=True))):
            continue
        if bare_name(column) in TURNS:
            return {"query": f"{query} + {column}"} if query else {}
        return {"rubric": column} if str(plan.mapping.get("rubric", "")).startswith("=") else {}
    return {}


def _what_is_asked(plan: FilePlan, rows: Sequence[Sequence[Any]], mapping: dict[str, str]) -> dict[str, str]:
    """The rubric, where no name tells it: a column in which rows about the same answer and judge differ."""
    if not mapping.get("rubric", "").startswith("=") or "query" not in mapping:
        return {}
    unused = tuple(c for c in plan.columns if c not in mapping.values())
    apart = told_apart(replace(plan, mapping=mapping, unused=unused), rows).apart
    return {"rubric": apart} if apart and not is_truth(apart) else {}


def _last(column: str) -> str:
    """The name of a column, or of the field that a path of a trace ends with (inputs.question)."""
    return bare_name(column if bare_name(column) in NAMES_OF_QUERIES else column.rpartition(".")[2] or column)


def _long(plan: FilePlan, rows: Sequence[Sequence[Any]], mapping: dict[str, str]) -> str:
    shown = {c: v for c, v in mapping.items() if c in SPECS[plan.kind].columns}
    shown |= _parts_of_answers(replace(plan, mapping=shown), rows) or _what_is_asked(plan, rows, shown)
    shown |= _query_of(plan, rows, shown)
    if shown.get("system") == "=…" and (differ := _several_systems(plan, rows, shown)):
        rest = {c: v for c, v in shown.items() if c != "system"}
        return (
            f"Several rows of it are about the same{differ}, and no column says which system each is of: add such a "
            f"column, called system; such a mapping then reads it: {_shown(rest)}."
        )
    return f"Such a mapping would read it: {_shown(shown)}."


def _query_of(plan: FilePlan, rows: Sequence[Sequence[Any]], shown: dict[str, Any]) -> dict[str, str]:
    """The query, where no name tells it: the column without which rows would be about the same cell."""
    if "query" in shown:
        return {}
    mapping = {c: tuple(v) if isinstance(v, list) else v for c, v in shown.items()}
    used = {v for value in mapping.values() for v in (value if isinstance(value, tuple) else (value,))}
    runs = ("run", *synonyms_of(plan.kind, "run"))
    unused = tuple(c for c in plan.columns if c not in used and c.strip() and plain_name(c) not in runs)
    found = with_query(replace(plan, mapping=mapping, unused=unused, problem=None), rows, strict=False)
    column = found.mapping.get("query")
    return {"query": column} if isinstance(column, str) else {}


def _several_systems(plan: FilePlan, rows: Sequence[Sequence[Any]], shown: dict[str, str]) -> str:
    """What differs in rows that would contradict each other, in brackets, where a text of theirs does; else ""."""
    keys, labels = (
        rows_of_keys(replace(plan, mapping=shown), rows),
        cells_of(plan, rows, shown.get("label", "")),
    )
    given: dict[Any, set[Any]] = {}
    for key, label in zip(keys, labels, strict=True):
        given.setdefault(key, set()).add(label)
    if sum(len(given[key]) > 1 for key in keys) < _CONTRADICTING * len(keys):
        return ""
    texts = (c for c in plan.columns if is_written(c) and c not in shown.values())
    answer = next(
        (c for c in texts if not _repeats(list(zip(keys, cells_of(plan, rows, c), strict=True)))), ""
    )
    return f" (they differ in {answer!r})" if answer else ""


def _wide(plan: FilePlan, rows: Sequence[Sequence[Any]], held: dict[str, Profile]) -> str:
    """What is said of a table in which several columns look like labels; "" where none or one does."""
    labels, scores = _alike(plan, rows, held)
    if len(labels) + len(scores) == 1:
        (label,) = labels or scores
        keys = _keys(plan, rows, held, [label])
        told = _long(plan, rows, {"system": "=…", "rubric": "=…", **keys, "label": label})
        return told if labels else f"{told.rstrip('.')}, with the policy threshold= or bins=."
    continuous = len(labels) < 2
    halves = [c for c in labels if any("." in cell for cell in cells_of(plan, rows, c) if cell)]
    alike = [c for c in held if c in {*scores, *halves}] if continuous else labels
    if len(alike) < 2:
        return _worded(plan, rows, held)
    what, keys = _what_each_is(plan, rows, held, alike)
    if not what:
        return ""
    likeliest = max(alike, key=lambda c: all(map(is_verdict, filter(None, cells_of(plan, rows, c)))))
    shown: dict[str, Any] = {"system": "=…"} | keys | {what: likeliest if what == "label" else alike}
    shown |= _query_of(plan, rows, shown) if what != "system" else {}
    if what == "system":
        shown |= {"rubric": shown.get("rubric", "=score")} | _named_with_systems(alike, shown)
    whose = "one of them is the label" if what == "label" else f"each is a {what}'s"
    kind = "continuous scores" if continuous else "labels"
    ending = ", with the policy threshold= or bins=." if continuous else "."
    some = listed([repr(c) for c in alike], 3)
    told = f"{some} look like {kind}: where {whose}, give such a mapping: {_shown(shown)}{ending}"
    pairs = crossed_names(alike, 1) if what == "rubric" and shown["system"] == "=…" else None
    if not pairs:
        return told
    systems = listed(list(dict.fromkeys(repr(system) for system, _ in pairs)), 3)
    return f"{told} Where {systems} in their names are systems, give {_shown(shown | _OF_NAMES)}{ending}"


def _named_with_systems(columns: Sequence[str], shown: dict[str, Any]) -> dict[str, str]:
    """The judge or the query, where columns of systems are named after these, too."""
    if "query" not in shown and (found := without_queries(columns)):
        return {"query": crossing("query", "system") if found[2] == 1 else crossing("system", "query")}
    product = systems_times_judges("system", columns, shown)
    return product[0] if product else {}


def _of_texts(plan: FilePlan, rows: Sequence[Sequence[Any]], held: dict[str, Profile]) -> str:
    """What is said of a table in which the texts of one column have a label that is marked; "" of others."""
    marked = [(c, mark) for c in held if (mark := _mark_in(cells_of(plan, rows, c)))]
    if len(marked) != 1:
        return ""
    ((column, mark),) = marked
    found = {"rubric": "=score", **_keys(plan, rows, held, [column]), "label": f"{column} =~ {mark}"}
    return f"The texts of {column!r} seem to hold a label. {_long(plan, rows, {'system': '=…', **found})}"


def _mark_in(cells: Sequence[Any]) -> str:
    """The expression that finds a label in nearly all texts, as judges are told to mark it; "" where none does."""
    texts = [cell for cell in cells if cell]
    for mark in _MARKS:
        found = [m[1] for m in map(re.compile(mark).search, texts) if m]
        if len(found) >= max(2, _LABELS * len(texts)) and profile(found).labels >= _LABELS:
            return mark
    return ""


def _alike(
    plan: FilePlan, rows: Sequence[Sequence[Any]], held: dict[str, Profile]
) -> tuple[list[str], list[str]]:
    """The columns whose cells look like labels, and those whose cells look like scores.

    Whole numbers of many levels are labels where no column has few.
    """
    runs = ("run", *synonyms_of(plan.kind, "run"))
    could = {
        c: found
        for c, found in held.items()
        if (may_hold_labels(c) or plain_name(c) in ("answer", "response"))
        and plain_name(c) not in runs
        and not is_index(c, plan.columns)
    }
    could = {c: found for c, found in could.items() if not is_derived(c)} or could
    choices = {c for c in could if is_abc(letters_of(cells_of(plan, rows, c)))}  # A and B beside other labels
    could = {c: found for c, found in could.items() if c not in choices} or could
    labels = [c for c, found in could.items() if found.labels >= _LABELS and found.distinct > 1]
    scores = [c for c, found in could.items() if found.scores >= _LABELS and found.distinct > 1]
    few = [c for c in labels if could[c].distinct <= _FEW]
    labels = few or ([] if scores else labels)
    alike = [c for c in could if c in labels or (few and _is_constant(plan, rows, c, could[c], few))]
    totals = totals_among(alike, plan.columns, rows)
    return [c for c in alike if c not in totals or len(alike) - len(totals) < 2], scores


def _is_constant(
    plan: FilePlan, rows: Sequence[Sequence[Any]], column: str, held: Profile, labels: Sequence[str]
) -> bool:
    """Whether a column is called like a criterion and has, in all rows, one number that other criteria have, too."""
    if held.distinct != 1 or held.labels < 1 or not called_after_criteria([column]):
        return False
    return set(cells_of(plan, rows, column)) <= {cell for c in labels for cell in cells_of(plan, rows, c)}


def _worded(plan: FilePlan, rows: Sequence[Sequence[Any]], held: dict[str, Profile]) -> str:
    """What is said of columns that are named after labels and hold a few words that nobody understands."""
    words = {
        c: sorted({cell for cell in cells_of(plan, rows, c) if cell}) for c in held if _is_named_label(c)
    }
    found = [c for c, own in words.items() if 1 < len(own) <= min(_FEW, held[c].known // 3)]
    if not found:
        return ""
    keys = _keys(plan, rows, held, found)
    what = {"rubric": keys.get("rubric", "=…"), "label": found[0]} if len(found) == 1 else {"rubric": found}
    shown = {"system": "=…"} | keys | what
    some = ", ".join(repr(shortened(word)) for word in words[found[0]][:3])
    return (
        f"{listed([repr(c) for c in found], 3)} hold a few words, such as {some}: where these are labels, say what "
        f"each stands for (--answer WORD=LABEL), with such a mapping: {_shown(shown | _query_of(plan, rows, shown))}."
    )


def _is_named_label(column: str) -> bool:
    last = re.sub(r"[_\d]+$", "", bare_name(column)).rpartition("_")[2]
    return may_hold_labels(column) and (last in (*ENDINGS, "annotation", "status") or names_a_judge(column))


def _what_each_is(
    plan: FilePlan, rows: Sequence[Sequence[Any]], held: dict[str, Profile], alike: Sequence[str]
) -> tuple[str, dict[str, str]]:
    """(a run, a query, a judge, a rubric or the label, as each of alike columns is, or ""; the columns of the keys)."""
    keys = _keys(plan, rows, held, alike)
    if {"system", "rubric"} <= set(keys) and "query" not in keys and called_after_queries(alike):
        return "query", keys
    if plan.kind == "labels" and {"query", "rubric"} & set(keys) and len(repeats_among(alike)) == len(alike):
        return "run", keys
    if "system" in keys and plain_name(keys.get("rubric", "")) in ("item", "item_id"):
        item = keys.pop("rubric")  # of each of which the columns say something
        return "rubric", {"query": item} | keys
    if "system" in keys:
        judges = all(map(names_a_judge, spread_names(alike)))
        return "judge" if judges else "label" if "rubric" in keys else "rubric", keys
    if all(map(ANSWERED.match, alike)):
        return "rubric", keys
    first = [c for c in plan.columns if c in held and c not in alike][:3]
    if (
        "judge" not in keys
        and set(keys.values()) <= set(first)
        and all(held[c].distinct > 1 and _repeats(cells_of(plan, rows, c)) for c in first)
    ):  # the columns as tables often begin
        wanted = [c for c in ("system", "query", "rubric") if c not in keys]
        return "judge", keys | dict(zip(wanted, (c for c in first if c not in keys.values()), strict=False))
    what = spread_key(set(keys), alike)
    judge = any(map(names_a_judge, spread_names(alike))) and not any(map(MODEL.search, alike))
    if what == "system" and "judge" not in keys and judge:
        return "judge", {"rubric": "=…"} | keys  # beside others that tell the same: exact_match, llm_judge
    return what or ("" if "rubric" in keys else "rubric"), keys


def _shown(mapping: dict[str, Any]) -> str:
    """A mapping as the user types it; what is known from elsewhere, such as a file's name, is left out."""
    known = {c: v for c, v in mapping.items() if not (isinstance(v, str) and v.startswith("=") and v != "=…")}
    kept = {c: v for c, v in mapping.items() if c in known or c == "rubric"}
    return json.dumps(kept, ensure_ascii=False)


def _repeats(cells: Sequence[Any]) -> bool:
    """Whether some rows share a value, so that a column may name what several rows are about."""
    return len(set(cells)) < len(cells)
