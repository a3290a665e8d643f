"""Columns that are worded as questions about an answer and hold labels: criteria, and neither queries nor systems."""

from __future__ import annotations

import pytest

from tests.labels.readers.test_layouts import MODELS, cells, table
from tests.labels.readers.test_teams_files import followed, refused, shown

WORDED = {
    "questions": ("Is it clear?", "Does the answer cite sources?"),
    "numbered questions": ("Q1: Is it clear?", "Q2: Does the answer cite sources?"),
    "questions of how much": ("How clear is it?", "To what extent does it cite sources?"),
    "names": ("clarity", "tone"),
}


def rated(columns, systems, criteria):
    """Two labels of each item of each system, beside an answer."""
    return table(
        [*columns, "item", "answer", *criteria],
        [
            [*([m] if columns else []), f"i{q}", f"This is what {m} says of {q}.", q % 2, (q + i) % 2]
            for i, m in enumerate(systems)
            for q in range(6)
        ],
    )


def expected(systems, criteria):
    return {
        (m, f"i{q}", f"i{q}#{c}", "judge"): (q + at * i) % 2
        for i, m in enumerate(systems)
        for q in range(6)
        for at, c in enumerate(criteria)
    }


@pytest.mark.parametrize("worded", WORDED)
def test_question_columns_beside_items_and_systems_are_criteria(ws, worded):
    criteria = WORDED[worded]
    ws.ingest(rated(["system"], MODELS, criteria), "d", name="file.csv")
    assert cells(ws) == expected(MODELS, criteria)


@pytest.mark.parametrize("worded", WORDED)
def test_question_columns_beside_items_of_an_unnamed_system_are_no_systems(ws, worded):
    criteria, content = WORDED[worded], rated([], MODELS[:1], WORDED[worded])
    (mapping,) = shown(refused(content))
    assert mapping == {"system": "=…", "rubric": list(criteria)}
    assert followed(ws, content, mapping) == expected(["mine"], criteria)


def test_question_columns_are_not_offered_as_judges(ws):
    criteria = WORDED["questions"]
    content = table(
        ["model", "prompt", *criteria],
        [[m, f"Say {q}", q % 2, (q + i) % 2] for i, m in enumerate(MODELS) for q in range(6)],
    )
    report = ws.ingest(content, "d", name="file.csv")
    assert not [note for note in report.notes if "are judges of one rubric" in note]
