"""Find the columns of a table that hold labels, by their cells and names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from ..columns.label_names import (
    NOTED,
    PREDICTED,
    called_after_criteria,
    is_derived,
    is_index,
    may_hold_labels,
)
from ..columns.query_names import NAMES_OF_QUERIES, bare_name
from ..columns.specs import plain_name
from ..ground_truth import is_truth
from ..guess import ENOUGH, MODEL, Sample, cells_at, guess_columns, profile
from ..plan import FilePlan, Guess
from ..word_lists import word_set
from ..words import is_abc, is_number, letters_of, named_levels, plain, verdict_level
from .called_otherwise import criteria_called_otherwise
from .made_of_others import made_of_others
from .reasons import reason_columns
from .totals import totals_among

OR_CRITERIA = frozenset(["valid", "validity", "satisfied"])  # names of a label that may also be criteria
_LEVELS = 11  # most different labels of a criterion that is known only by its column's name


_QUERIES = 3  # least count of different numbers that each system has once, so that they are no labels
_LEAST = 4  # least number of rows in which a running number is recognised


def named_columns(columns: Sequence[str]) -> list[Guess]:
    """The canonical columns that are recognised by name with confidence above 0.6."""
    found = guess_columns("labels", columns, ())
    return [g for g in found if g.confidence > 0.6 and plain_name(g.column) not in OR_CRITERIA]


def counts_rows(cells: Sequence[str | None]) -> bool:
    """Whether cells are a running number of the rows, such as the index of a data frame, in any order."""
    known = [c for c in cells if c]
    if len(known) < max(_LEAST, len(cells)) or not all(map(is_number, known)):
        return False
    numbers = [float(c) for c in known]
    if all(b - a == 1 for a, b in pairwise(numbers)):
        return True
    distinct = len(set(numbers)) == len(numbers) > _LEVELS and all(n.is_integer() for n in numbers)
    return distinct and min(numbers) in (0, 1) and max(numbers) < 2 * len(numbers)  # scores lie wider apart


ANSWERED = re.compile(r"(?i)answer\.|output:")  # MTurk, Toloka


def _numbering_queries(columns: Sequence[str], cells: Mapping[str, Sequence[str | None]]) -> list[str]:
    """[column] that numbers the queries: each system (and judge) has each of its values once, unlike labels.

    [] if there is a query column already, no system column, or several such columns.
    """
    named = {g.canonical: g.column for g in named_columns(columns)}
    if "system" not in named or "query" in named:
        return []
    whose = list(zip(*(cells[named[c]] for c in ("system", "judge", "run") if c in named), strict=True))
    found = []
    for column in (c for c in columns if c not in named.values()):
        groups: dict[tuple[str | None, ...], list[str | None]] = {}
        for who, cell in zip(whose, cells[column], strict=True):
            groups.setdefault(who, []).append(cell)
        every = max(map(set, groups.values()), key=len, default=set())
        once = all(len(set(own)) == len(own) and set(own) <= every for own in groups.values())
        whole = sum(set(own) == every for own in groups.values()) > 1
        if once and whole and len(every) >= _QUERIES and all(every):
            found.append(column)
    return found if len(found) == 1 else []


def label_columns(columns: Sequence[str], sample: Sample, *, scores: bool = False) -> tuple[str, ...]:
    """The columns of ``columns_like_labels`` without those made of others: sums, ``tone_passed`` beside ``tone``."""
    found = columns_like_labels(columns, sample, scores=scores)
    made = made_of_others(found, columns, sample)
    found = tuple(c for c in found if c not in made)
    totals = totals_among(found, columns, sample)
    return tuple(c for c in found if c not in totals)


def columns_like_labels(columns: Sequence[str], sample: Sample, *, scores: bool = False) -> tuple[str, ...]:
    """The columns whose cells look like labels and whose names allow it, such as ``clarity`` or ``gpt-4``.

    scores: whether columns of continuous scores count, too. If some columns are named as answers of a task
    (``Answer.fluency``, ``OUTPUT:fluency``), only these count. A column with one letter in all cells counts only beside
    other letter grades. A derived column (``final_score``) counts only if no other column does.
    """
    taken = {g.column for g in named_columns(columns)}
    noted = NOTED.intersection(columns)
    taken |= noted if len(noted) > 1 else set()  # a single one may be a criterion: Progress
    cells = {c: cells_at(sample, i) for i, c in enumerate(columns)}
    taken |= {c for c, own in cells.items() if counts_rows(own)}
    taken |= {
        c
        for c in _numbering_queries(columns, cells)
        if bare_name(c) in NAMES_OF_QUERIES or not called_after_criteria([c])
    }
    held = {c: profile(own) for c, own in cells.items()}
    share = {c: max(h.labels, h.scores) if scores else h.labels for c, h in held.items()}
    criteria = set(criteria_called_otherwise(columns, sample))
    taken -= criteria
    named = [c for c in columns if (c in criteria or may_hold_labels(c)) and not is_index(c, columns)]
    could = [c for c in named if c not in taken and not _repeats_azure_field(c, columns)]
    shares = any(share[c] >= ENOUGH and _has_parts(cells[c]) for c in could)  # fractional labels occur
    alike = {
        c for c in could if shares and held[c].scores >= ENOUGH and 4 * held[c].distinct <= held[c].known
    }
    found = tuple(c for c in could if c in alike or share[c] >= ENOUGH)
    found = tuple(c for c in found if not (_is_legend(cells[c]) or _marks_some(c, cells[c])))
    found = tuple(c for c in found if ANSWERED.match(c)) or found
    reasons = {c for c in reason_columns(found) if not all(map(is_number, filter(None, cells[c])))}
    found = tuple(c for c in found if c not in reasons)
    how_run = {c for c in found if is_derived(c) or _is_run_status(c, cells[c]) or is_state(c, cells[c])}
    found = tuple(c for c in found if c not in how_run) or found
    letters = {c: letters_of(cells[c]) for c in found}
    if not all(letters.values()):  # A, B and C beside other labels are an experiment's arm, or a choice
        found = tuple(c for c in found if not is_abc(letters[c]))
    graded = any(len(own) > 1 for own in letters.values())
    return found if graded else tuple(c for c in found if len(letters[c]) != 1 or letters[c] == {"f"})


def _marks_some(column: str, cells: Sequence[str | None]) -> bool:
    """Whether a column only flags a few answers without labels: ``abstained`` is true in these rows, else blank."""
    known = [c for c in cells if c]
    return plain_name(column) in _MARKS and len(set(known)) == 1 and 2 * len(known) < len(cells)


def _is_run_status(column: str, cells: Sequence[str | None]) -> bool:
    """Whether a column holds the technical result of a system's run: ``status`` is "success" or "error"."""
    named = plain_name(column).rpartition("_")[2] in ("status", "state")
    return named and {plain(c) for c in cells if c} <= _STATES


def is_state(column: str, cells: Sequence[str | None]) -> bool:
    """Whether a column is a processing state that is the same in all rows: ``is_final`` or ``completed`` is true."""
    known = {plain(c) for c in cells if c}
    return bare_name(column).removeprefix("is_") in _READY and len(known) == 1 and len(cells) >= _LEAST


_READY = word_set(
    "final valid validated completed finished done submitted processed judged graded scored evaluated "
    "annotated labeled labelled parsed approved active latest current enabled exported locked published "
    "deleted archived"
)
_STATES = frozenset(
    (
        *("success", "succeeded", "ok", "done", "complete", "completed", "finished", "pending", "running"),
        *("error", "errored", "timeout", "timed out", "interrupted", "canceled", "cancelled", "skipped"),
    )
)
_MARKS = frozenset(("abstained", "skipped", "errored", "timed_out", "parse_failed", "failed", "refused"))


def _is_legend(cells: Sequence[str | None]) -> bool:
    """Whether a few cells, all different, explain numbers like the legend of a table: "1 = bad", "5 = good"."""
    known = [c for c in cells if c]
    return 2 * len(known) < len(cells) and len(set(known)) == len(known) and bool(named_levels(known))


def _repeats_azure_field(column: str, columns: Sequence[str]) -> bool:
    """Whether a column repeats a field of an Azure evaluator: ``relevance.gpt_relevance`` for ``relevance.relevance``.

    So do ``relevance.relevance_result`` and ``relevance.relevance_threshold``.
    """
    home, _, last = column.rpartition(".")
    name = home.rpartition(".")[2]
    again = (f"gpt_{name}", f"{name}_result", f"{name}_threshold")
    return bool(name) and last in again and f"{home}.{name}" in columns


def _has_parts(cells: Sequence[str | None]) -> bool:
    """Whether some cells are fractional numbers."""
    return any(cell and is_number(cell) and not float(cell).is_integer() for cell in cells)


def ticked_among(columns: Sequence[str], sample: Sample) -> tuple[str, ...]:
    """The columns of one question of which each row ticks exactly one: ``Answer.clear.1``, ``Answer.clear.2``."""
    if len(sample) < _TICKED:
        return ()
    groups: dict[str, list[str]] = {}
    for column in columns:
        if numbered := _CHOICE.fullmatch(column):
            groups.setdefault(numbered[1], []).append(column)
    cells = {c: [plain(cell or "") for cell in cells_at(sample, i)] for i, c in enumerate(columns)}
    for choices in groups.values():
        levels = [
            [verdict_level(word) for word in row] for row in zip(*(cells[c] for c in choices), strict=True)
        ]
        if len(choices) > 1 and all(sorted(row, key=str) == [0] * (len(row) - 1) + [2] for row in levels):
            return tuple(choices)
    return ()


_CHOICE = re.compile(r"(.*[^\W\d].*?)[\W_]+\d{1,2}")
_TICKED = 8  # least number of rows, so that it is no coincidence


def only_criterion(
    plan: FilePlan, sample: Sample, named: Collection[str], fixed: Collection[str]
) -> dict[str, str]:
    """{"label": column} if no column is named label, and a single one (``clarity``) holds labels; else {}.

    There must be a system and a query. The column has 2 to 11 different values, and is not the same in all rows of each
    system or of each query: then it would describe these, such as a version or a difficulty.
    named, fixed: canonical columns that the mapping gives.
    """
    if plan.kind not in ("labels", "gold") or {"label", "rubric"} & {*named, *fixed}:
        return {}
    found = {g.canonical for g in named_columns(plan.columns)} | {*named, *fixed}
    held = label_columns(plan.columns, sample)
    wide = tuple(c for c in held if not is_truth(c)) or held
    if len(wide) != 1 or not {"system", "query"} <= found or {"label", "rubric"} & found:
        return {}
    if any(map(is_truth, held)) and any(plain_name(c) in PREDICTED for c in plan.columns):
        return {}  # the right answers of a task
    cells = cells_at(sample, plan.columns.index(wide[0]))
    keys = [g.column for g in named_columns(plan.columns) if g.canonical in ("system", "query")]
    about = [cells_at(sample, plan.columns.index(key)) for key in keys]
    of_one = any(len(set(zip(own, cells, strict=True))) == len(set(own)) < len(own) for own in about)
    return {"label": wide[0]} if 1 < profile(cells).distinct <= _LEVELS and not of_one else {}


def named_after_models(columns: Sequence[str], sample: Sample) -> bool:
    """Whether at least two columns hold labels and are named after models, so that the table is wide."""
    return sum(bool(MODEL.search(c)) for c in label_columns(columns, sample)) > 1
