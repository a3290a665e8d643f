"""Propose a mapping for a table whose column names are not sufficient, in the sentence that refuses the table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...text import as_json, listed, with_article
from .columns.label_names import (
    ENDINGS,
    NOTED,
    RATERS,
    called_after_criteria,
    is_derived,
    is_index,
    may_hold_labels,
)
from .columns.query_names import NAMES_OF_QUERIES, bare_name, is_answer, is_written, unbracketed
from .columns.specs import MISSING, SPECS, names_of, plain_name
from .columns.synonyms import ITEMS
from .ground_truth import is_truth
from .guess import MODEL, Profile, fits_name, profile
from .plan import FilePlan
from .proposed_keys import (
    LABELS,
    is_hint,
    key_columns,
    names_columns,
    parts_of_answers,
    query_of,
    what_is_asked,
)
from .tables.kind import kind_of_table
from .tables.open_questions import label_by_content, runs_as_systems
from .tables.plan_cells import cells_of, repeats, rows_of_keys
from .values import shortened
from .wide.column_names import (
    called_after_queries,
    called_judge,
    crossed_names,
    crossing,
    names_a_judge,
    repeats_among,
    spread_names,
    without_queries,
)
from .wide.label_columns import ANSWERED, counts_rows, label_columns
from .wide.made_of_others import made_of_others
from .wide.plan import systems_times_judges
from .wide.spread import spread_key
from .wide.totals import totals_among
from .words import is_abc, is_number, is_verdict, letters_of

_MARKS = (
    r"(?i)<(?:score|rating|grade|verdict|label|result)>\s*([^<\s]+)\s*</",
    r"\[\[\s*([^\]\s]+)\s*\]\]",
    r"(?i)(?:score|rating|grade|verdict)\s*[:=]\s*\**\s*(\w+(?:\.\d+)?)",
)  # expressions that find a marked label in a judge's text
_FEW = 12  # most different labels of a column
_OF_NAMES = {"system": crossing("system", "rubric")}
_CONTRADICTING = 0.2  # least share of contradicting rows that are read as several systems
_SUMMING = ("pass", "passed", "outcome", "decision")  # columns that sum up the criteria beside them
_CRITERIA = 3  # least number of criteria beside a column that sums them up
_BESIDE_LABELS = ("queries", "rubrics", "answers")  # kinds whose columns may also occur in a table of labels


def with_proposal(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> FilePlan:
    """The plan with a proposed mapping added to its problem, if it is a table of labels that lacks a needed column."""
    problem = plan.problem or ""
    if plan.kind not in ("labels", "gold") or MISSING not in problem or "label" in plan.mapping or plan.wide:
        return plan
    other = kind_of_table(plan.name, tuple(plan.columns), tuple(rows), plan.mapping)
    of_another = plan.kind == "labels" and other not in ("labels", "gold")
    if of_another and not (other in _BESIDE_LABELS and _looks_like_labels(plan, rows)):
        return _refused_as(plan, other)
    if _begins_with_data(plan, rows):
        first = ", ".join(map(repr, plan.columns[:6]))
        what = f"{plan.name} seems to have no line of column names, because its first line holds {first}"
        return replace(
            plan, problem=f"{what}: put one above it, such as system, query, rubric, judge, label."
        )
    if runs := runs_as_systems(plan, rows):
        known = {c: v for c, v in plan.mapping.items() if v != runs["system"]}
        plan = replace(plan, mapping={**known, **runs})
    held = {c: profile(cells_of(plan, rows, c)) for c in plan.columns if _is_free(plan, rows, c)}
    label = next((c for c in held if plain_name(c) in names_of(plan.kind, "label")), None)
    label = label or label_by_content(plan, rows).get("label")
    if label is not None and plain_name(label) in _SUMMING:
        criteria = [c for c in _alike(plan, rows, held)[0] if c != label and called_after_criteria([c])]
        label = None if len(criteria) >= _CRITERIA else label  # it only sums up these criteria
        held = held if label else {c: own for c, own in held.items() if plain_name(c) not in _SUMMING}
    if label is not None:
        keys = key_columns(plan, rows, held, [label])
        told = _long(plan, rows, {"system": "=…", "rubric": f"={plain_name(label)}", **keys, "label": label})
    else:
        told = _wide(plan, rows, held) or _of_texts(plan, rows, held)
    told = told or ("" if of_another else _of_people(plan, rows))
    return (
        replace(plan, problem=f"{problem.partition('; rename one')[0].rstrip('.')}. {told}") if told else plan
    )


def _looks_like_labels(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> bool:
    """Whether a column is named after labels or raters (``judge_verdict``), or several columns hold labels."""
    last = {bare_name(c).rpartition("_")[2] for c in plan.columns} - _OTHER
    named = not last.isdisjoint((*ENDINGS, "evaluation", "assessment", "reward"))
    named = named or any(bare_name(c) in RATERS for c in plan.columns)
    scores = [c for c in label_columns(plan.columns, rows, scores=True) if may_hold_labels(c)]
    return named or len(scores) > 1 or called_after_criteria(scores)


_OTHER = {"label", "labels", "feedback", "present"}  # words that may also describe queries and rubrics


def _refused_as(plan: FilePlan, kind: str) -> FilePlan:
    said = (plan.problem or "").partition("; rename one")[0]
    told = f"These are the columns of {with_article(kind)} table: read it as one (--kind {kind})."
    return replace(plan, problem=f"{said}. {told}")


def _of_people(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> str:
    """A proposal for a table whose only labels are one column of people's (``human_rating``); "" for other tables."""
    people = {c: profile(cells_of(plan, rows, c)) for c in plan.columns if is_truth(c)}
    labels = [c for c, held in people.items() if held.labels >= LABELS and held.distinct > 1]
    if len(labels) != 1:
        return ""
    held = {c: profile(cells_of(plan, rows, c)) for c in plan.columns if _is_free(plan, rows, c)}
    keys = key_columns(plan, rows, held, labels)
    mapping = {"system": "=…", "rubric": f"={plain_name(labels[0])}", **keys, "label": labels[0]}
    return _long(plan, rows, mapping)


def _begins_with_data(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> bool:
    """Whether the line of column names seems to be data: numbers above columns of numbers, and no known name."""
    numbers = [c for c in plan.columns if is_number(c)]
    cells = [cell for c in numbers for cell in cells_of(plan, rows, c) if cell]
    return bool(cells) and all(map(is_number, cells)) and not any(map(fits_name, plan.columns))


def _is_free(plan: FilePlan, rows: Sequence[Sequence[Any]], column: str) -> bool:
    """Whether a column may be a key or a label: it is not mapped yet, no ground truth, and does not count the rows."""
    noted = column in NOTED and len(NOTED.intersection(plan.columns)) > 1
    taken = column in plan.mapping.values() or is_truth(column) or noted
    counted = counts_rows(cells_of(plan, rows, column)) and not bare_name(column).endswith("_id")
    return bool(column.strip()) and not taken and not counted


def _long(plan: FilePlan, rows: Sequence[Sequence[Any]], mapping: dict[str, str]) -> str:
    shown = {c: v for c, v in mapping.items() if c in SPECS[plan.kind].columns}
    shown |= parts_of_answers(replace(plan, mapping=shown), rows) or what_is_asked(plan, rows, shown)
    shown |= query_of(plan, rows, shown)
    parts = _parts_of_id(plan, rows)
    if parts and shown.get("system") in ("=…", parts["system"].partition(" ~ ")[0]):
        some, whole = listed(list(parts)), _shown({**shown, **parts})
        return (
            f"Its ids seem to have parts: if these are {some}, in this order, this mapping reads it: {whole}."
        )
    if shown.get("system") == "=…" and (differ := _several_systems(plan, rows, shown)):
        rest = {c: v for c, v in shown.items() if c != "system"}
        return (
            f"Several rows of it are about the same cell{differ}, and no column says which system each belongs to: "
            f"add a column called system; then this mapping reads it: {_shown(rest)}."
        )
    return f"This mapping would read it: {_shown(shown)}."


def _parts_of_id(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> dict[str, str]:
    """Rules for system, query and perhaps rubric from an id column such as ``gpt-4o__q1__tone``; {} without one."""
    for column in (c for c in plan.columns if bare_name(c).rpartition("_")[2] in ("id", "key")):
        cells = [str(cell) for cell in cells_of(plan, rows, column) if cell]
        for between in ("__", "::", "|"):
            split = [cell.split(between) for cell in cells]
            names = ("system", "query", "rubric")[: len(split[0]) if split else 0]
            if len(names) < 2 or {len(own) for own in split} != {len(names)} or not all(map(all, split)):
                continue
            if len({own[0] for own in split}) < len(set(cells)):
                rule = f"{column} ~ {between.join(f'{{{name}}}' for name in names)}"
                return dict.fromkeys(names, rule)
    return {}


def _several_systems(plan: FilePlan, rows: Sequence[Sequence[Any]], shown: dict[str, str]) -> str:
    """Words that name the text column (an answer) in which contradicting rows differ; "" if no such column is found.

    Such rows are probably of several systems.
    """
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
        (c for c in texts if not repeats(list(zip(keys, cells_of(plan, rows, c), strict=True)))), ""
    )
    return f" (they differ in {answer!r})" if answer else ""


def _wide(plan: FilePlan, rows: Sequence[Sequence[Any]], held: dict[str, Profile]) -> str:
    """A proposal for a table in which several columns, or a single one, look like labels or scores; "" if none do."""
    labels, scores = _alike(plan, rows, held)
    others = [c for c in labels if bare_name(c) not in NAMES_OF_QUERIES]
    labels = others if len(others) > 1 else labels  # a column of numbered queries is no label
    if (
        len(labels) > 1
        and not called_after_criteria(labels)
        and (criteria := [c for c in scores if called_after_criteria([c])])
    ):
        labels, scores = [], criteria  # faithfulness beside is_clean
    if len(labels) + len(scores) == 1:
        (label,) = labels or scores
        keys = key_columns(plan, rows, held, [label])
        criterion = f"={plain_name(label)}" if called_after_criteria([label]) else "=…"
        told = _long(plan, rows, {"system": "=…", "rubric": criterion, **keys, "label": label})
        return told if labels else f"{told.rstrip('.')}, with the policy threshold= or bins=."
    continuous = len(labels) < 2
    halves = [c for c in labels if any("." in cell for cell in cells_of(plan, rows, c) if cell)]
    alike = [c for c in held if c in {*scores, *halves}] if continuous else labels
    if len(alike) < 2:
        return _worded(plan, rows, held)
    what, keys = _what_each_is(plan, rows, held, alike)
    if not what:
        return ""
    made = made_of_others(alike, plan.columns, rows) if what == "rubric" else {}
    alike = [c for c in alike if c not in made]
    likeliest = max(alike, key=lambda c: all(map(is_verdict, filter(None, cells_of(plan, rows, c)))))
    shown: dict[str, Any] = {"system": "=…"} | keys | {what: likeliest if what == "label" else alike}
    shown |= query_of(plan, rows, shown) if what != "system" else {}
    if what == "system":
        shown |= {"rubric": shown.get("rubric", "=score")} | _named_with_systems(alike, shown)
    whose = "one of them is the label" if what == "label" else f"each is a {what}'s"
    kind = "continuous scores" if continuous else "labels"
    ending = ", with the policy threshold= or bins=." if continuous else "."
    some = listed([repr(c) for c in alike], 3)
    told = f"{some} look like {kind}: if {whose}, give this mapping: {_shown(shown)}{ending}"
    pairs = crossed_names(alike, 1) if what == "rubric" and shown["system"] == "=…" else None
    if not pairs:
        return told
    systems = listed(list(dict.fromkeys(repr(system) for system, _ in pairs)), 3)
    return f"{told} If {systems} in their names are systems, give {_shown(shown | _OF_NAMES)}{ending}"


def _named_with_systems(columns: Sequence[str], shown: dict[str, Any]) -> dict[str, str]:
    """Rules for the judge or the query if the columns of systems have both names, such as ``gpt-4_q1``; else empty."""
    if "query" not in shown and (found := without_queries(columns)):
        return {"query": crossing("query", "system") if found[2] == 1 else crossing("system", "query")}
    product = systems_times_judges("system", columns, shown)
    return product[0] if product else {}


def _of_texts(plan: FilePlan, rows: Sequence[Sequence[Any]], held: dict[str, Profile]) -> str:
    """A proposal for a table in which one column of texts has a marked label (``[[4]]``, ``Score: 4``); or "".

    If no label is marked, lines with a label per criterion are tried (``_of_lines``).
    """
    marked = [(c, mark) for c in held if (mark := _mark_in(cells_of(plan, rows, c)))]
    if len(marked) != 1:
        return _of_lines(plan, rows, held)
    ((column, mark),) = marked
    found = {"rubric": "=score", **key_columns(plan, rows, held, [column]), "label": f"{column} =~ {mark}"}
    return f"The texts of {column!r} seem to hold a label. {_long(plan, rows, {'system': '=…', **found})}"


def _of_lines(plan: FilePlan, rows: Sequence[Sequence[Any]], held: dict[str, Profile]) -> str:
    """A proposal for a table whose texts have a line with a label for each criterion (``Clarity: 4``); or ""."""
    for column in held:
        texts = [cell for cell in cells_of(plan, rows, column) if cell]
        lines = [{m[1]: m[2] for m in _LINE.finditer(text)} for text in texts]
        names = [n for n in (lines or [{}])[0] if sum(n in own for own in lines) >= LABELS * len(lines)]
        if len(lines) < 2 or len(names) < 2:
            continue
        label = (
            f"{column} =~ (?m)^\\W*{re.escape(names[0]).replace(chr(92) + ' ', ' ')}\\W+(\\d+(?:\\.\\d+)?)"
        )
        found = {"rubric": f"={names[0]}", **key_columns(plan, rows, held, [column]), "label": label}
        told = _long(plan, rows, {"system": "=…", **found}).replace(
            "This mapping would read it", "read each by a mapping such as this"
        )
        return f"The texts of {column!r} seem to hold a label for each of {listed([repr(n) for n in names], 3)}: {told}"
    return ""


# Every part is bounded and stays within one line. Otherwise a text of a hundred thousand numbers takes minutes.
_LINE = re.compile(
    r"(?m)^[^\w\n]{0,9}(?:\d{1,3}[^\w\n]{1,4})?([^\W\d][\w &/-]{1,40}?)[* \t]{0,6}[:=][* \t]{0,6}"
    r"(\d{1,9}(?:\.\d{1,9})?)(?:[ \t]{0,3}/[ \t]{0,3}\d{1,9})?[^\w\n]{0,9}$"
)


def _mark_in(cells: Sequence[Any]) -> str:
    """The expression in _MARKS that finds a label in nearly all texts; "" if none does."""
    texts = [cell for cell in cells if cell]
    for mark in _MARKS:
        found = [m[1] for m in map(re.compile(mark).search, texts) if m]
        if len(found) >= max(2, LABELS * len(texts)) and profile(found).labels >= LABELS:
            return mark
    return ""


def _alike(
    plan: FilePlan, rows: Sequence[Sequence[Any]], held: dict[str, Profile]
) -> tuple[list[str], list[str]]:
    """(columns whose cells look like labels, columns whose cells look like continuous scores), without totals.

    Columns with more than _FEW different labels count only if no column has fewer and there are no scores.
    """
    runs = names_of(plan.kind, "run")
    could = {
        c: found
        for c, found in held.items()
        if (may_hold_labels(c) or plain_name(c) in ("answer", "response"))
        and plain_name(unbracketed(c)) not in runs
        and not is_index(c, plan.columns)
    }
    could = {c: found for c, found in could.items() if not is_derived(c)} or could
    choices = {c for c in could if is_abc(letters_of(cells_of(plan, rows, c)))}  # A and B beside other labels
    could = {c: found for c, found in could.items() if c not in choices} or could
    labels = [c for c, found in could.items() if found.labels >= LABELS and found.distinct > 1]
    scores = [c for c, found in could.items() if found.scores >= LABELS and found.distinct > 1]
    few = [c for c in labels if could[c].distinct <= _FEW]
    labels = few or ([] if scores else labels)
    alike = [c for c in could if c in labels or (few and _is_constant(plan, rows, c, could[c], few))]
    totals = totals_among(alike, plan.columns, rows)
    return [c for c in alike if c not in totals or len(alike) - len(totals) < 2], scores


def _is_constant(
    plan: FilePlan, rows: Sequence[Sequence[Any]], column: str, held: Profile, labels: Sequence[str]
) -> bool:
    """Whether a column is named like a criterion and has the same label in all rows, one that other criteria have."""
    if held.distinct != 1 or held.labels < 1 or not called_after_criteria([column]):
        return False
    return set(cells_of(plan, rows, column)) <= {cell for c in labels for cell in cells_of(plan, rows, c)}


def _worded(plan: FilePlan, rows: Sequence[Sequence[Any]], held: dict[str, Profile]) -> str:
    """A proposal for columns that are named like labels and hold a few words of unknown meaning; or ""."""
    words = {
        c: sorted({cell for cell in cells_of(plan, rows, c) if cell}) for c in held if _is_named_label(c)
    }
    found = [c for c, own in words.items() if 1 < len(own) <= min(_FEW, held[c].known // 3)]
    if not found:
        return ""
    keys = key_columns(plan, rows, held, found)
    what = {"rubric": keys.get("rubric", "=…"), "label": found[0]} if len(found) == 1 else {"rubric": found}
    shown = {"system": "=…"} | keys | what
    some = ", ".join(repr(shortened(word)) for word in words[found[0]][:3])
    return (
        f"{listed([repr(c) for c in found], 3)} hold a few words, such as {some}: if these are labels, say what each "
        f"stands for (--answer WORD=LABEL), with this mapping: {_shown(shown | query_of(plan, rows, shown))}."
    )


def _is_named_label(column: str) -> bool:
    last = re.sub(r"[_\d]+$", "", bare_name(column)).rpartition("_")[2]
    return may_hold_labels(column) and (last in (*ENDINGS, "annotation", "status") or names_a_judge(column))


def _what_each_is(
    plan: FilePlan, rows: Sequence[Sequence[Any]], held: dict[str, Profile], alike: Sequence[str]
) -> tuple[str, dict[str, str]]:
    """(canonical column that each of the ``alike`` columns stands for, or ""; canonical key → its column).

    The first is "run", "query", "judge", "rubric", "system", or "label" if only one of the columns is the label.
    """
    keys = key_columns(plan, rows, held, alike)
    if {"system", "rubric"} <= set(keys) and "query" not in keys and called_after_queries(alike):
        return "query", keys
    if plan.kind == "labels" and {"query", "rubric"} & set(keys) and len(repeats_among(alike)) == len(alike):
        return "run", keys
    if "system" in keys and plain_name(keys.get("rubric", "")) in ITEMS:
        item = keys.pop("rubric")  # an item is the query, and each column a rubric
        return "rubric", {"query": item} | keys
    if "system" in keys:
        judges = all(map(names_a_judge, spread_names(alike)))
        return "judge" if judges else "label" if "rubric" in keys else "rubric", keys
    if all(map(ANSWERED.match, alike)):
        return "rubric", keys
    if "query" in keys and is_hint(plan, "rubric", keys.get("rubric")) and called_after_criteria(alike):
        del keys["rubric"]  # expected_criteria says what an answer should hold
        return "rubric", keys
    others = [c for c in plan.columns if c in held and c not in alike]
    first = [c for c in others if not names_columns(plan, rows, c)][:3]
    if (
        "judge" not in keys
        and set(keys.values()) < set(first)
        and all(held[c].distinct > 1 and repeats(cells_of(plan, rows, c)) for c in first)
    ):  # the first columns in the order that is usual in tables
        wanted = [c for c in ("system", "query", "rubric") if c not in keys]
        return "judge", keys | dict(zip(wanted, (c for c in first if c not in keys.values()), strict=False))
    return _beside_no_system(plan, keys, alike)


def _beside_no_system(
    plan: FilePlan, keys: dict[str, str], alike: Sequence[str]
) -> tuple[str, dict[str, str]]:
    """As ``_what_each_is`` if no column is the system: decided by the names of the label columns and answer columns."""
    what = spread_key(set(keys), alike)
    if "judge" not in keys and "rubric" not in keys and (criterion := _of_raters(alike)):
        return "judge", {"rubric": f"={criterion}"} | keys
    if what != "rubric" and _have_answers(plan, alike):
        return "system", keys
    judges = "judge" not in keys and all(map(names_a_judge, spread_names(alike)))
    some = any(map(names_a_judge, spread_names(alike))) and not any(map(MODEL.search, alike))
    if (what is None and judges and "rubric" not in keys) or (
        what == "system" and "judge" not in keys and some
    ):
        return "judge", {"rubric": "=…"} | keys  # exact_match beside llm_judge: both judge the same
    return what or ("" if "rubric" in keys else "rubric"), keys


def _of_raters(columns: Sequence[str]) -> str:
    """The common criterion of columns of raters: "domain1" for rater1_domain1, rater2_domain1; "" for other columns."""
    parted = [name.partition("_") for name in spread_names(columns)]
    criteria = {criterion for _, _, criterion in parted}
    raters = len(parted) > 1 and all(called_judge(who) for who, _, _ in parted)
    return criteria.pop() if raters and len(criteria) == 1 else ""


def _have_answers(plan: FilePlan, labels: Sequence[str]) -> bool:
    """Whether each label column has an answer column of the same system: ``base_judge_score`` and ``base_answer``."""
    answers = [bare_name(c).rpartition("_") for c in plan.columns if c not in labels]
    whose = {name for name, _, last in answers if name and is_answer(last)}
    return bool(labels) and all(bare_name(c).partition("_")[0] in whose for c in labels)


def _shown(mapping: dict[str, Any]) -> str:
    """A mapping in the form that the user types, without constants ("=value") except the rubric and "=…"."""
    known = {c: v for c, v in mapping.items() if not (isinstance(v, str) and v.startswith("=") and v != "=…")}
    kept = {c: v for c, v in mapping.items() if c in known or c == "rubric"}
    return as_json(kept)
