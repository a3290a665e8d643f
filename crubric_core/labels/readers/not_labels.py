"""Recognise evaluation files without labels of single answers: preferences, error spans, relevance of documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .columns.label_names import ENDINGS
from .columns.specs import plain_name
from .guess import ENOUGH, Sample, cells_at, filled_cells
from .word_lists import word_set
from .words import is_number, is_verdict

_ANSWERS = word_set(
    "response output answer completion reply generation conversation message summary story candidate "
    "model system generator assistant"
)
_MERGED = ("x", "y")  # merged tables of a single answer have these suffixes, too
_SIDES = (("1", "2"), ("a", "b"), ("0", "1"), ("left", "right"), ("chosen", "rejected"), _MERGED)
_WINNERS = frozenset(
    ("winner", "preferred", "preference", "preferred_response", "preferred_model", "better_response")
)
_CHOICES = ({"a", "b", "tie"}, {"a", "b", "draw"}, {"a", "b", "equal"})
_PAIRS = frozenset(("pair", "pair_id", "pair_idx", "comparison", "comparison_id", "battle_id"))
_EITHER = frozenset(("a", "b", "tie", "both", "neither"))
_PREFERENCE = re.compile(r"\W*[AB]\W*(?:>{1,2}|<{1,2}|=)\W*[AB]\W*")  # A>B, B>>A, A=B
_OUTPUT = re.compile(r"\[[^\[\]]+\] .+", re.DOTALL)  # [provider] prompt
_PROMPTFOO = frozenset(("Status", "Grader Reason"))  # beside each output
_PASSED = re.compile(r"\[(PASS|FAIL|ERROR)\]")
_LISTS_OF_VERDICTS = re.compile(
    r"(.*\.)?((not_)?(passed|failed|met|unmet|missed|satisfied|unsatisfied|violated)_(criteria|rubrics|items"
    r"|checks|requirements|rubric_items)|(criteria|rubrics|items|checks|requirements)_(not_)?(passed|failed|met|unmet"
    r"|missed|satisfied|unsatisfied|violated))\[\]"
)
_NARROWEST = 4  # columns of TREC's files
_KINDS = {"label_type", "error_type", "label", "type", "category", "severity"}
_SPANS = ({"severity", "category"}, {"severity", "error_type"}, {"severity", "error_span"})


def why_no_labels(
    name: str, columns: Sequence[str], rows: Sample, fields: Mapping[str, Sequence[Any]]
) -> str | None:
    """Why no labels are found in a file: a sentence, from its columns, rows and nested fields; None if not known.

    It recognises preferences, lists of criteria by verdict, error spans, promptfoo's table and files of TREC.
    """
    plain = {plain_name(c) for c in columns}
    if any(prefers(values) for values in fields.values()) or _names_winners(columns, rows):
        return _compares(name, None)
    if _wins_within(fields):
        return _compares(name, None)
    if lists := [f.removesuffix("[]") for f in fields if _LISTS_OF_VERDICTS.fullmatch(plain_name(f))]:
        shown = '{"system": …, "query": …, "results": [{"criterion": …, "met": true}, …]}'
        return (
            f"{name} lists criteria by their verdict ({', '.join(lists)}), and a label is the verdict on one: "
            f"write each criterion of each list with its label, true or false, such as {shown}."
        )
    if any(plain >= spans for spans in _SPANS) or _lists_spans(columns, fields):
        return (
            f"{name} lists errors with their category, place or severity, and a rubric's label is of one "
            "answer: count the errors of each answer and category (0 where there is none), and give these counts as "
            "labels."
        )
    if any(_is_output(column, cells_at(rows, i), columns) for i, column in enumerate(columns)):
        return (
            f"{name} is promptfoo's table, which tells only whether all assertions of a test hold: export the eval as "
            "JSON (promptfoo eval -o results.json), which has each assertion, and read that."
        )
    return _why_trec(name, columns, rows)


def _names_winners(columns: Sequence[str], rows: Sample) -> bool:
    """Whether a column names the winner of two answers (``winner``, or A, B, tie), and no column is called a score."""
    given = [{cell.lower() for cell in filled_cells(rows, i)} for i in range(len(columns))]
    if any(cells in _CHOICES for cells in given):
        return True
    plain, of_pairs = {plain_name(c) for c in columns}, any(cells and cells <= _EITHER for cells in given)
    # Whether a judge of pairs is right is a label of that judge.
    if of_pairs and plain & _PAIRS and not plain & {"correct", "is_correct"}:
        return True
    if any(plain_name(c).rpartition("_")[2] in ENDINGS for c in columns):
        return False
    won = [cells_at(rows, i) for i, c in enumerate(columns) if plain_name(c) in _WINNERS]
    return any(len({cell for cell in cells if cell}) > 1 and _are_texts(cells) for cells in won)


def _wins_within(fields: Mapping[str, Sequence[Any]]) -> bool:
    """Whether fields within lists name the winner of two answers (or A, B, tie), and no field is called a score."""
    names = {f: plain_name(f.removesuffix("[]").rpartition(".")[2]) for f in fields}
    if any(name.rpartition("_")[2] in ENDINGS for name in names.values()):
        return False
    listed = {f: [str(v) for v in values if v is not None] for f, values in fields.items() if "[]" in f}
    winners = [v for f, v in listed.items() if names[f] in _WINNERS]
    ties = [{w.lower() for w in v} for f, v in listed.items() if f.endswith("[]")]
    return any(len(set(v)) > 1 and _are_texts(v) for v in winners) or any(t in _CHOICES for t in ties)


def _lists_spans(columns: Sequence[str], fields: Mapping[str, Sequence[Any]]) -> bool:
    """Whether the items of a list mark spans of a text (``start``, ``end``, ``label``), and no column has labels."""
    keys: dict[str, set[str]] = {}
    for field in fields:
        home, _, key = field.rpartition("[].")
        keys.setdefault(home, set()).add(key)
    spans = {home for home, own in keys.items() if home and own >= {"start", "end"} and own & _KINDS}
    return bool(spans) and not any(plain_name(c).rpartition("_")[2] in ENDINGS for c in {*columns} - spans)


def _is_output(column: str, cells: Sequence[str | None], columns: Sequence[str]) -> bool:
    """Whether a column holds the outputs of one provider, ``[provider] prompt``, in a table of promptfoo."""
    marked = any(_PASSED.match(cell) for cell in cells if cell)
    return bool(_OUTPUT.fullmatch(column)) and (marked or set(columns) >= _PROMPTFOO)


def _why_trec(name: str, columns: Sequence[str], rows: Sample) -> str | None:
    """Why a file of TREC (no column names, often columns separated by spaces) cannot be read; None for other files."""
    spaced = len(columns) == 1
    records = [columns[0].split(), *((row[0] or "").split() for row in rows)] if spaced else [columns, *rows]
    widths = {len(record) for record in records}
    if len(widths) != 1 or min(widths) < _NARROWEST:
        return None
    if len(records) > 1 and {record[1] for record in records} <= {"0", "Q0"}:
        return (
            f"{name} looks like relevance judgements, or a run, of TREC, which are about documents: a rubric's label "
            "is of one system's answer, in a row with system, query, rubric and label."
        )
    if spaced and is_number(records[0][-1] or ""):
        return (
            f"{name} seems to have spaces between its columns and no line of column names: separate the columns by "
            "commas or tabs, and add such a line at the top: query, system, rubric, label."
        )
    return None


def why_pairs(name: str, columns: Sequence[str], rows: Sample) -> str | None:
    """Why a table with two or more answers in each row cannot be read as labels; None for any other table.

    Two columns of texts, not labels, are named after two sides (``response_1``, ``response_2``; ``model_a``,
    ``model_b``), and there is no third such column. Or three or more columns name systems (``sys1``).
    """
    return _why_pairs(name, {c: cells_at(rows, i) for i, c in enumerate(columns)})


def why_pairs_within(name: str, home: str, fields: Mapping[str, Sequence[Any]]) -> str | None:
    """``why_pairs`` for the items of a list. home: the path of the list, such as ``results[]``."""
    own = {f.removeprefix(f"{home}."): values for f, values in fields.items() if f.startswith(f"{home}.")}
    flat = {f: values for f, values in own.items() if "[]" not in f}
    return _why_pairs(
        name, {f: [None if v is None else str(v) for v in values] for f, values in flat.items()}
    )


def _why_pairs(name: str, cells: Mapping[str, Sequence[str | None]]) -> str | None:
    texts = [c for c, own in cells.items() if _are_texts(own)]
    sides: dict[tuple[str, str], dict[str, str]] = {}
    for column in texts:
        for at, word, rest in _words(column):
            if word in ("chosen", "rejected") or _ANSWERS.intersection(rest):
                sides.setdefault((" ".join(rest), str(at)), {})[word] = column
    for own in sides.values():
        pair = next((p for p in _SIDES if set(p) <= set(own)), None)
        third = {"3", "c", "z", "2" if pair == ("0", "1") else "3"} & set(own)
        same = pair == _MERGED and not _differ(cells[own["x"]], cells[own["y"]])
        if pair and not third and not same:
            both = (own[pair[0]], own[pair[1]])
            rated = [c for c in cells if c not in texts]
            of_both = _on_each_side(rated, pair) or any(_holds_two(c, values) for c, values in cells.items())
            return _holds_both(name, both) if of_both else _compares(name, both)
    systems = _numbered_systems(cells, texts)
    return _holds_several(name, systems) if systems else None


def _numbered_systems(cells: Mapping[str, Sequence[str | None]], texts: Sequence[str]) -> list[str]:
    """Three or more columns that name the systems of a row (``sys1``), with columns of labels (``quality1``); or []."""
    sides: dict[tuple[str, ...], dict[str, str]] = {}
    for column in cells:
        for _, word, rest in _words(column):
            if word.isdigit():
                sides.setdefault((*rest,), {})[word] = column
    for stem, own in sides.items():
        named = len(own) > len(_SIDES[0]) and stem and stem[-1] in ("sy", "system", "model", "llm")
        names = [{cell for cell in cells[c] if cell} for c in own.values()]
        alike = named and set(own.values()) <= set(texts) and len(set().union(*names)) < sum(map(len, names))
        if alike and any(o.keys() >= own.keys() and not {*o.values()} & {*texts} for o in sides.values()):
            return list(own.values())
    return []


def _holds_two(column: str, cells: Sequence[str | None]) -> bool:
    """Whether a column with the name of a label holds two numbers in each cell, one for each side: ``score`` [8, 7]."""
    named = plain_name(column).rpartition("_")[2] in ENDINGS
    return named and any(cells) and all(_TWO.fullmatch(cell) for cell in cells if cell)


_TWO = re.compile(r"\s*[\[(]\s*-?\d+(\.\d+)?\s*,\s*-?\d+(\.\d+)?\s*[\])]\s*")


def _differ(one: Sequence[str | None], other: Sequence[str | None]) -> bool:
    """Whether two columns hold different texts in most rows."""
    return 2 * sum(a != b for a, b in zip(one, other, strict=False)) > len(one)


def why_sides(name: str, keys: Sequence[str], columns: Sequence[str] = ()) -> str | None:
    """Why labels under keys such as ``scores_a`` and ``scores_b`` (the sides of a comparison) belong to no system.

    None where the keys are not such sides, and the labels may be read. Three or more letters are sides if each has a
    column with its answer (``candidate_C``).
    """
    if len(keys) != len(_SIDES[0]):
        answers = [_answer_of(key, columns) for key in keys if len(key) == 1 and key.isalpha()]
        answered = len(keys) > len(_SIDES[0]) and len(answers) == len(keys) and all(answers)
        return _holds_several(name, answers) if answered else None
    if {key.lower() for key in keys} == {"a", "b"}:
        return _holds_both(name, (keys[0], keys[1]))
    sided = _ANSWERS | {ending.removesuffix("s") for ending in ENDINGS}
    first, other = ({(at, *rest): word for at, word, rest in _words(key) if sided & {*rest}} for key in keys)
    pairs = {(first[place], other[place]) for place in first.keys() & other.keys()}
    return _holds_both(name, (keys[0], keys[1])) if pairs & {*_SIDES} else None


def _answer_of(key: str, columns: Sequence[str]) -> str:
    """The column with the answer of a side: ``candidate_C`` for the letter C; "" if there is none."""
    named = ((c, word, rest) for c in columns for _, word, rest in _words(c))
    return next((c for c, word, rest in named if word == key.lower() and _ANSWERS.intersection(rest)), "")


def _words(column: str) -> Iterator[tuple[int, str, list[str]]]:
    """(place, word, the other words) of each word of a column's name."""
    words = re.findall(r"[a-z]+|\d+", plain_name(column))
    for at, word in enumerate(words):
        yield at, word, [w.removesuffix("s") for w in (*words[:at], *words[at + 1 :])]


def _on_each_side(columns: Sequence[str], pair: Sequence[str]) -> bool:
    """Whether at least two properties have a column for each side: ``item_1_clarity`` and ``item_2_clarity``."""
    sides = [{(at, *rest) for c in columns for at, word, rest in _words(c) if word == side} for side in pair]
    return len(sides[0] & sides[1]) > 1


def _holds_both(name: str, pair: tuple[str, str]) -> str:
    return (
        f"{name} holds two answers in each row ({', '.join(pair)}), and labels of both: put each answer into a row of "
        "its own, with its system, query and labels."
    )


def _holds_several(name: str, columns: Sequence[str]) -> str:
    return (
        f"{name} holds several answers in each row ({', '.join(columns)}), and labels of each: put each answer into a "
        "row of its own, with its system, query and labels."
    )


def _are_texts(cells: Sequence[str | None]) -> bool:
    """Whether cells are not all empty, and most are neither numbers nor plain verdicts."""
    known = [c for c in cells if c]
    return bool(known) and sum(is_number(c) or is_verdict(c) for c in known) < ENOUGH * len(known)


def _compares(name: str, pair: tuple[str, str] | None) -> str:
    some = f" ({', '.join(pair)})" if pair else ""
    return (
        f"{name} says which of two answers is better{some}, and a rubric's label is of one answer: have each "
        "answer judged by itself, in a row of its own, or say what counts as system, rubric and label (mapping)."
    )


def prefers(values: Sequence[Any]) -> bool:
    """Whether there are texts, and all express a preference between two answers: ``A>B``."""
    texts = [v for v in values if isinstance(v, str) and v.strip()]
    return bool(texts) and all(_PREFERENCE.fullmatch(text) for text in texts)
