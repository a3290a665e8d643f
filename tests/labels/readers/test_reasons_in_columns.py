"""Reasons in wide tables: each column of labels may have one beside it that says why."""

from __future__ import annotations

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels import Workspace

MODELS = ("gpt-4o", "claude-3")


@pytest.fixture
def ws():
    with Workspace() as workspace:
        yield workspace


def table(*columns: str) -> bytes:
    """Two criteria, and what the columns after them say of each cell."""
    rows = [
        [m, f"q{q}", str(1 + q % 3), str(1 + (q + 1) % 3), *(f"{m} {q} {c}" for c in columns[4:])]
        for m in MODELS
        for q in range(4)
    ]
    return "\n".join(",".join(row) for row in [list(columns), *rows]).encode()


def reasons(ws, content: bytes, **options) -> dict[tuple[str, str], str]:
    report = ws.ingest(content, "d", name="wide.csv", **options)
    assert report.rejected == 0
    found = ws.dataset("d").labels()
    found = found[(found["system"] == "gpt-4o") & (found["query"] == "q1")]
    why = found["reason"] if "reason" in found else [None] * len(found)
    return {r.rpartition("#")[2]: w for r, w in zip(found["rubric"], why, strict=True)}


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        (("clarity", "tone"), ("clarity_reason", "tone_reason")),
        (("clarity", "tone"), ("Clarity Explanation", "Tone Explanation")),
        (("clarity/score", "tone/score"), ("clarity/explanation", "tone/explanation")),
        (("clarity_score", "tone_score"), ("clarity_rationale", "tone_rationale")),
        (("clarity", "tone"), ("feedback_clarity", "feedback_tone")),
    ],
)
def test_the_column_beside_a_criterion_that_says_why_is_its_reason(ws, labels, why):
    content = table("system", "query", *labels, *why)
    assert reasons(ws, content) == {"clarity": f"gpt-4o 1 {why[0]}", "tone": f"gpt-4o 1 {why[1]}"}


def test_where_only_some_criteria_have_reasons_the_others_have_none(ws):
    found = reasons(ws, table("system", "query", "clarity", "tone", "tone_comment"))
    assert found["tone"] == "gpt-4o 1 tone_comment"
    assert not isinstance(found["clarity"], str)


def test_the_report_says_where_reasons_come_from_and_does_not_list_them_as_unused(ws):
    report = ws.ingest(
        table("system", "query", "clarity", "tone", "clarity_reason", "notes"), "d", name="wide.csv"
    )
    assert any("the reasons are read from 'clarity_reason'" in note for note in report.notes)
    assert [note for note in report.notes if "Not used" in note] == ["Not used of wide.csv: notes."]


def test_a_mapping_may_name_the_columns_of_reasons_by_a_rule(ws):
    content = table("system", "query", "clarity", "tone", "why clarity?", "why tone?")
    mapping = {"rubric": ["clarity", "tone"], "reason": "~ why {column}"}
    assert reasons(ws, content, mapping=mapping) == {
        "clarity": "gpt-4o 1 why clarity?",
        "tone": "gpt-4o 1 why tone?",
    }


def test_a_rule_that_finds_no_reasons_is_refused(ws):
    with pytest.raises(IngestError, match=r"finds no column of wide\.csv"):
        reasons(ws, table("system", "query", "clarity", "tone"), mapping={"reason": "~ why {column}"})


def test_reasons_of_judges_in_columns_are_theirs(ws):
    rows = [f"{m},q{q},clear,1,0,{m} {q} a,{m} {q} b" for m in MODELS for q in range(4)]
    content = "\n".join(["system,query,rubric,gpt4_score,o3_score,gpt4_reason,o3_reason", *rows]).encode()
    ws.ingest(content, "d", name="wide.csv")
    found = ws.dataset("d").labels()
    found = found[(found["system"] == "gpt-4o") & (found["query"] == "q0")]
    assert dict(zip(found["judge"], found["reason"], strict=True)) == {
        "gpt4": "gpt-4o 0 a",
        "o3": "gpt-4o 0 b",
    }


def test_reasons_of_one_word_are_no_labels(ws):
    rows = [f"{m},q{q},1,0,no,{m} {q}" for m in MODELS for q in range(4)]
    content = "\n".join(["system,query,clear,short,clear_reason,short_reason", *rows]).encode()
    assert reasons(ws, content) == {"clear": "no", "short": "gpt-4o 1"}


def test_a_criterion_that_is_named_like_a_reason_holds_labels_where_it_has_numbers(ws):
    rows = [f"{m},q{q},1,{q % 3},2" for m in MODELS for q in range(4)]
    content = "\n".join(["system,query,right,right_reasoning,short", *rows]).encode()
    ws.ingest(content, "d", name="wide.csv")
    rubrics = {r.rpartition("#")[2] for r in ws.dataset("d").labels()["rubric"]}
    assert rubrics == {"right", "right_reasoning", "short"}


@pytest.mark.parametrize("why", ["so " * 35_000, '"' + "so\n" * 35_000 + '"'])
def test_a_row_of_two_million_characters_hides_no_column(ws, why):
    names = [f"criterion {i}" for i in range(20)]
    header = ["system", "query", *(c for n in names for c in (n, f"{n}_reason"))]
    rows = [[m, f"q{q}", *(["1", why] * 20)] for m in MODELS for q in range(2)]
    content = "\n".join(",".join(row) for row in [header, *rows]).encode()
    report = ws.ingest(content, "d", name="wide.csv")
    assert (report.rejected, len(ws.dataset("d").labels()["rubric"].unique())) == (0, 40)


@pytest.mark.parametrize(
    "columns",
    [
        ("accuracy", "reasoning", "style"),
        ("Reasoning", "Accuracy"),
        ("Explanation", "Justification", "Rationale"),
        ("clarity", "Comment"),
    ],
)
def test_a_criterion_with_labels_that_is_called_like_a_reason_is_a_criterion(ws, columns):
    rows = [
        [m, f"q{q}", *(str(1 + (q + at) % 5) for at in range(len(columns)))] for m in MODELS for q in range(4)
    ]
    content = "\n".join(",".join(row) for row in [["model", "question", *columns], *rows]).encode()
    found = reasons(ws, content)
    assert set(found) == set(columns)
    assert not any(isinstance(why, str) for why in found.values())


def test_the_reason_is_the_text_beside_a_criterion_that_is_called_like_one(ws):
    rows = [[m, f"q{q}", str(1 + q), str(5 - q), f"since {q}"] for m in MODELS for q in range(4)]
    header = ["model", "question", "reasoning", "accuracy", "comment"]
    content = "\n".join(",".join(row) for row in [header, *rows]).encode()
    assert reasons(ws, content) == {"reasoning": "since 1", "accuracy": "since 1"}


def test_a_comment_in_few_rows_is_no_criterion_whatever_it_says(ws):
    rows = [[m, f"q{q}", str(1 + q), str(5 - q), "yes" * (q == 1)] for m in MODELS for q in range(4)]
    header = ["model", "question", "depth", "tone", "comment"]
    content = "\n".join(",".join(row) for row in [header, *rows]).encode()
    assert reasons(ws, content) == {"depth": "yes", "tone": "yes"}


def test_labels_are_no_reasons_of_the_columns_that_a_mapping_names(ws):
    rows = [[m, f"q{q}", str(1 + q), str(5 - q), str(q % 3)] for m in MODELS for q in range(4)]
    content = "\n".join(
        ",".join(row) for row in [["model", "question", "depth", "tone", "reasoning"], *rows]
    ).encode()
    found = reasons(ws, content, mapping={"rubric": ("depth", "tone")})
    assert not any(isinstance(why, str) for why in found.values())
