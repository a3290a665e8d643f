"""Find columns of human verdicts beside those of judges: ground truth (gold), not one more judge (docs/data.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from .columns.label_names import ENDINGS
from .columns.specs import plain_name
from .guess import ENOUGH, MODEL, Sample, cells_at, profile
from .plan import FilePlan
from .words import is_number, is_verdict, letters_of, plain

_TRUTH = re.compile(
    r"gold(en)?|(ground_?)?truth|adjudicat(ed|ion|or)|consensus|majority|experts?|humans?|physicians?|clinicians?|doctors?"
)
_EXPECTED = re.compile(  # the expected label; each of these words may also begin a criterion's name
    rf"(expected|true|actual|reference|target|gt|oracle|correct|official|resolved)_({'|'.join(ENDINGS)})"
    r"|actual|gt|y_true"
)
_PERSON = re.compile(r"(annotator|rater|reviewer|coder)s?")
_MACHINE = re.compile(r"judge|grader|llm|model|auto|evaluator")
_DERIVED = re.compile(r"consensus|majority")


def with_gold(plan: FilePlan, rows: Sample, named: Sequence[str] = ()) -> FilePlan:
    """The plan with the columns of ground truth moved from the judges to ``gold``, and remarks with the reasons.

    named: columns that the user declared as judges, which are never moved. A column that only repeats the majority of
    the judges is no independent evidence, so it is not used.
    """
    if plan.kind != "labels" or plan.problem or not plan.mapping:
        return plan
    spread = next((c for c in ("judge", "run") if isinstance(plan.mapping.get(c), tuple)), "judge")
    judges = tuple(plan.mapping.get(spread, ())) if isinstance(plan.mapping.get(spread), tuple) else ()
    if not judges and ("label" not in plan.mapping or plan.wide):
        return plan
    found = tuple(c for c in _truths(plan, judges, rows) if c not in named)
    others = tuple(c for c in judges if c not in found)
    if not found or (judges and not others):
        return plan
    repeating = tuple(
        c for c in found if judges and _DERIVED.search(plain_name(c)) and _repeats(plan, c, others, rows)
    )
    gold = tuple(c for c in found if c not in repeating)
    remarks = [
        f"{_quoted(gold)} {'is' if len(gold) == 1 else 'are'} read as ground truth (gold), because of the name, and "
        f"{'is no judge' if len(gold) == 1 else 'are no judges'}"
    ] * bool(gold)
    remarks += [f"{c!r} repeats the majority of the {spread}s: it is not used" for c in repeating]
    mapping = {**plan.mapping, spread: others} if judges else plan.mapping
    tables = (*plan.tables, "gold") if gold else plan.tables
    return replace(plan.with_remarks(*remarks), mapping=mapping, gold=gold, tables=tables)


def gold_part(file: FilePlan) -> FilePlan:
    """The plan that reads the gold columns of a table of labels as gold labels, each column an annotator."""
    keys = {c: v for c, v in file.mapping.items() if c in ("system", "query", "rubric")}
    return replace(file, kind="gold", mapping={**keys, "annotator": file.gold}, gold=())


def _truths(plan: FilePlan, judges: Sequence[str], rows: Sample) -> tuple[str, ...]:
    """Columns of labels that are named like ground truth, or like persons if other columns are named like machines."""
    taken = {v for v in plan.mapping.values() if isinstance(v, str)}
    held = [c for c in plan.columns if c not in taken and profile(_cells(plan, c, rows)).labels >= ENOUGH]
    machines = any(_MACHINE.search(plain_name(c)) or MODEL.search(c) for c in judges if not is_truth(c))
    people = [c for c in held if machines and c in judges and _has_word(_PERSON, c)]
    found = (c for c in held if (is_truth(c) or c in people) and _is_constant(plan, c, judges, rows))
    found = (c for c in found if not _are_answers(plan, c, judges, rows))
    return tuple(c for c in found if not _is_expected(c) or _may_be_expected(plan, c, judges, rows))


def is_truth(column: str) -> bool:
    """Whether a column's name means ground truth: ``human_gold``, ``Expert 2``, ``expected_verdict``."""
    return _is_expected(column) or (_has_word(_TRUTH, column) and not _MACHINE.search(plain_name(column)))


def _are_answers(plan: FilePlan, column: str, judges: Sequence[str], rows: Sample) -> bool:
    """Whether a column holds the right answers of a task, not labels: ``ground_truth`` "B" beside ``is_correct``.

    Its cells are all letters while the labels are not, or numbers other than 0 and 1 while all labels are verdicts.
    """
    labels = [c for c in (*judges, plan.mapping.get("label")) if c in plan.columns and not is_truth(str(c))]
    given = [cell for c in labels for cell in _cells(plan, str(c), rows) if cell]
    own = [cell for cell in _cells(plan, column, rows) if cell]
    if letters_of(own) and not letters_of(given):
        return True
    numbers = all(map(is_number, own)) and any(float(cell) not in (0, 1) for cell in own)
    return numbers and bool(given) and all(map(is_verdict, given))


def _is_expected(column: str) -> bool:
    return bool(_EXPECTED.fullmatch(plain_name(column)))


def _may_be_expected(plan: FilePlan, column: str, judges: Sequence[str], rows: Sample) -> bool:
    """Whether a column such as ``expected_label`` holds labels. In a wide table it does.

    In a long table its values must differ, and the judges must use most of them, too. ``actual`` beside a column
    ``expected...`` is the answer, not a label.
    """
    name = plain_name(column)
    if name == "actual" and any(plain_name(c).startswith("expected") for c in plan.columns):
        return False
    label = plan.mapping.get("label")
    if judges or label not in plan.columns:
        return bool(judges)
    said = {_same(cell) for cell in _cells(plan, str(label), rows)} - {""}
    own = [known for cell in _cells(plan, column, rows) if (known := _same(cell))]
    return len(set(own)) > 1 and 2 * sum(cell in said for cell in own) > len(own)


def _has_word(pattern: re.Pattern[str], column: str) -> bool:
    """Whether a word, or a pair of words, of the column's name matches the pattern: ``human_gold``, ``Expert 2``."""
    words = re.sub(r"\d+", "_", plain_name(column)).split("_")
    pairs = [f"{a}_{b}" for a, b in pairwise(words)]
    return any(pattern.fullmatch(word) for word in (*words, *pairs))


def _cells(plan: FilePlan, column: str, rows: Sample) -> list[str | None]:
    return cells_at(rows, plan.columns.index(column))


def _is_constant(plan: FilePlan, column: str, judges: Sequence[str], rows: Sample) -> bool:
    """Whether a column of a long table has one value for each cell, whatever the judge; True for a wide table."""
    if judges:
        return True
    keys = [
        v
        for c in ("system", "query", "rubric")
        if isinstance(v := plan.mapping.get(c), str) and v in plan.columns
    ]
    seen: dict[tuple[str | None, ...], str | None] = {}
    cells = zip(*(_cells(plan, c, rows) for c in (*keys, column)), strict=True)
    return all(seen.setdefault(cell[:-1], cell[-1]) == cell[-1] for cell in cells)


def _repeats(plan: FilePlan, column: str, judges: Sequence[str], rows: Sample) -> bool:
    """Whether a column equals the judges' majority in all rows that have one, and the judges differ in some of them."""
    divided = 0
    for value, labels in _votes(plan, column, judges, rows):
        most = max(set(labels), key=labels.count)
        if 2 * labels.count(most) <= len(labels):
            continue
        if value != most:
            return False
        divided += labels.count(most) < len(labels)
    return divided > 0


def _votes(
    plan: FilePlan, column: str, judges: Sequence[str], rows: Sample
) -> Iterator[tuple[str, list[str]]]:
    table = zip(*(_cells(plan, c, rows) for c in (column, *judges)), strict=True)
    for value, *labels in ([_same(c) for c in row] for row in table):
        known = [label for label in labels if label]
        if value and known:
            yield value, known


def _same(cell: str | None) -> str:
    """A label in a normal form for comparisons: 1 and 1.0 are equal; "" for None."""
    return "" if cell is None else str(float(cell)) if is_number(cell) else plain(cell)


def _quoted(columns: Sequence[str]) -> str:
    return " and ".join(", ".join(map(repr, columns)).rsplit(", ", 1))
