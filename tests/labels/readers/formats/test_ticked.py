"""Questions whose choices have a column each: the number that a row ticks is its label."""

from __future__ import annotations

import pytest

from .conftest import labels_of

MODELS = ("gpt-4o", "claude-3")
CELLS = {(m, f"q{q}"): 1 + (3 * i + q) % 5 for i, m in enumerate(MODELS) for q in range(6)}


def table(heads: list[str], cells) -> bytes:
    rows = [[m, q, *cells(number)] for (m, q), number in CELLS.items()]
    return "\n".join(",".join(row) for row in [["model", "prompt_id", *heads], *rows]).encode()


def radio(number: int) -> list[str]:
    return [("false", "true")[n == number] for n in range(1, 6)]


@pytest.mark.parametrize(
    ("heads", "cells"),
    [
        ([f"Answer.tone.{n}" for n in range(1, 6)], radio),
        ([f"tone_{n}" for n in range(1, 6)], lambda number: [("", "x")[n == number] for n in range(1, 6)]),
        (
            [f"tone:::scale_{n}" for n in range(1, 6)],
            lambda number: [(str(n) if n == number else "") for n in range(1, 6)],
        ),
    ],
)
def test_the_number_that_is_ticked_is_the_label(read, heads, cells):
    dataset, report = read(table(heads, cells), "export.csv")
    assert {(m, q, label) for m, q, _, _, label in labels_of(dataset)} == {
        (m, q, n) for (m, q), n in CELLS.items()
    }
    assert report.rejected == 0
    assert any("the number that each row ticks is read as" in note for note in report.notes)


@pytest.mark.parametrize("first", [0, 1])
def test_columns_that_are_numbers_alone_are_levels_of_one_scale(read, first):
    numbers = range(first, first + 5)
    heads = [str(n) for n in numbers]
    dataset, report = read(table(heads, lambda k: [str(int(n - first + 1 == k)) for n in numbers]), "x.csv")
    expected = {(m, q, f"{q}#label", "judge", n - 1 + first) for (m, q), n in CELLS.items()}
    assert labels_of(dataset) == expected
    assert any("the number that each row ticks is read as 'label'" in note for note in report.notes)


def test_numbered_columns_of_which_rows_have_several_or_none_are_criteria(read):
    heads = [str(n) for n in range(1, 6)]
    dataset, _ = read(table(heads, lambda number: [str(int(n < number)) for n in range(1, 6)]), "x.csv")
    assert {rubric.partition("#")[2] for _, _, rubric, _, _ in labels_of(dataset)} == set(heads)


def test_a_question_that_was_not_answered_has_no_label(read):
    heads = [f"Answer.tone.{n}" for n in range(1, 6)]
    dataset, _ = read(table(heads, radio) + b"\ngpt-4o,q9,,,,,", "export.csv")
    assert [row[4] for row in labels_of(dataset) if row[1] == "q9"] == [None]


def test_a_row_that_ticks_two_numbers_is_rejected(read):
    rows = [
        f"{m},q{q},{','.join(radio(1 + (3 * i + q) % 5))}" for i, m in enumerate(MODELS) for q in range(150)
    ]
    heads = ",".join(f"Answer.tone.{n}" for n in range(1, 6))
    content = "\n".join([f"model,prompt_id,{heads}", *rows, "gpt-4o,q999,true,true,false,false,false"])
    _, report = read(content.encode(), "export.csv")
    assert report.rejects["value"].tolist() == ["1, 2"]


def test_criteria_that_are_numbered_and_met_together_stay_criteria(read):
    heads = [f"criterion_{n}" for n in range(1, 6)]
    dataset, _ = read(table(heads, lambda number: [str(int(n <= number)) for n in range(1, 6)]), "export.csv")
    assert len({row[2].partition("#")[2] for row in labels_of(dataset)}) == 5
