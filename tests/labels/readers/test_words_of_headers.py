"""What stands behind or within names of columns: verdicts in brackets, scenarios, respondents, penalties."""

from __future__ import annotations

import pytest

from crubric_core.errors import IngestError
from tests.labels.readers.test_layouts import MODELS, cells, label, table

QUERIES = ("p0", "p1", "p2", "p3")


@pytest.mark.parametrize(
    ("words", "behind"), [("NY", "(Y/N)"), (("No", "Yes"), "[yes/no]"), ("FT", "(T / F)")]
)
def test_the_verdicts_that_a_header_names_are_no_part_of_its_name(ws, words, behind):
    criteria = (f"Cites {behind}", f"Polite {behind}")
    rows = [[m, q, *(words[label(m, q, c)] for c in criteria)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["Model", "Prompt", *criteria], rows), "d", name="x.csv")
    assert cells(ws) == {
        (m, q, f"{q}#{c}", "judge"): label(m, q, c) for m in MODELS for q in QUERIES for c in criteria
    }


def test_scenarios_by_name_are_the_queries_of_their_own_checks(ws):
    rows = [[q, m, f"{q} check {k}", label(m, q, k)] for m in MODELS for q in QUERIES for k in range(2)]
    ws.ingest(table(["scenario_name", "model", "check", "verdict"], rows), "d", name="x.csv")
    assert {cell[1] for cell in cells(ws)} == set(QUERIES)


def test_each_respondent_of_limesurvey_is_a_judge(ws):
    rows = [
        [n, "2024-01-01 10:00:00", 3, "en", m, q, label(m, q, n), label(m, q, n, 1)]
        for n in (1, 2, 3)
        for m in MODELS
        for q in QUERIES
    ]
    header = [
        "Response ID",
        "Date submitted",
        "Last page",
        "Start language",
        "Model",
        "Prompt",
        "Tone",
        "Clarity",
    ]
    ws.ingest(table(header, rows), "d", name="results-survey.csv")
    assert {cell[3] for cell in cells(ws)} == {"1", "2", "3"}
    assert {cell[2].split("#")[1] for cell in cells(ws)} == {"Tone", "Clarity"}


def test_a_penalty_that_is_not_used_is_told(ws):
    rows = [
        [m, q, f"c{k}", ("no", "yes")[k], label(m, q, k)] for m in MODELS for q in QUERIES for k in range(2)
    ]
    report = ws.ingest(
        table(["model", "prompt_id", "criterion", "is_penalty", "met"], rows), "d", name="x.csv"
    )
    assert any("'is_penalty' seems to say which rubrics are bad to meet" in note for note in report.notes)


def test_numbered_assignments_of_a_gradebook_are_offered_as_the_query(ws):
    rows = [[m, q, *(label(m, q, c) for c in "abc"), "ok"] for m in ("Ann", "Bob") for q in range(1, 6)]
    content = table(["Student", "Assignment", "Thesis", "Evidence", "Grammar", "Comments"], rows)
    shown = r'\{"system": "Student", "rubric": \["Thesis", "Evidence", "Grammar"\], "query": "Assignment"\}'
    with pytest.raises(IngestError, match=shown):
        ws.ingest(content, "d", name="x.csv")
