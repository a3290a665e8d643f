"""Numbers with a decimal comma: read where nothing else can be meant, and told; refused with what to do elsewhere."""

from __future__ import annotations

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.policies import Policies
from tests.labels.readers.test_layouts import MODELS, label

QUERIES = ("q0", "q1", "q2")
WIDE = ["model", "question_id", "clarity", "tone"]


def text(header, rows):
    return "\n".join(";".join(map(str, row)) for row in (header, *rows)).encode()


def wide(spelled, header=WIDE):
    rows = [
        [m, q, *(spelled[label(m, q, c) + (q == "q2")] for c in header[2:])] for m in MODELS for q in QUERIES
    ]
    return text(header, rows)


def levels(ws, dataset="d"):
    found = ws.dataset(dataset).labels()
    return {(s, r): level for s, r, level in found[["system", "rubric", "label"]].itertuples(index=False)}


def expected(meaning, criteria=("clarity", "tone")):
    return {
        (m, f"{q}#{c}"): meaning[label(m, q, c) + (q == "q2")]
        for m in MODELS
        for q in QUERIES
        for c in criteria
    }


@pytest.mark.parametrize("spelled", [("2,0", "3,0", "4,0"), ("2", "3,0", "4"), ("2,00", "3,00", "4.0")])
def test_labels_of_a_wide_table_may_have_decimal_commas(ws, spelled):
    """The table was refused: no column was seen to hold labels."""
    report = ws.ingest(wide(spelled), "d", name="x.csv")
    assert levels(ws) == expected((2, 3, 4))
    (told,) = (n for n in report.notes if "decimal commas" in n)
    assert "'clarity' and 'tone' have decimal commas: " in told


def test_columns_of_judges_may_have_decimal_commas(ws):
    rows = [[m, q, "clear", "1,0", "0,0"] for m in MODELS for q in QUERIES]
    ws.ingest(text(["model", "question_id", "rubric", "gpt4", "claude"], rows), "d", name="x.csv")
    assert ws.dataset("d").judges == ("claude", "gpt4")


def test_a_long_table_says_that_its_labels_have_decimal_commas(ws):
    rows = [[m, q, "clear", ("3,0", "4,0", "N/A")[label(m, q)]] for m in MODELS for q in QUERIES]
    report = ws.ingest(text(["model", "question_id", "rubric", "score"], rows), "d", name="x.csv")
    assert any("its column 'score' has decimal commas: " in n for n in report.notes)
    assert levels(ws) == {(m, f"{q}#clear"): (3, 4)[label(m, q)] for m in MODELS for q in QUERIES}


@pytest.mark.parametrize("kind", ["wide", "long"])
def test_three_digits_are_a_part_where_other_numbers_tell_so(ws, kind):
    """``1,000`` beside ``0,875`` is 1: neither was a number."""
    spelled = ("0,125", "0,875", "1,000")
    content, mapping = wide(spelled), {"system": "model", "query": "question_id", "rubric": WIDE[2:]}
    if kind == "long":
        rows = [
            [m, q, c, spelled[label(m, q, c) + (q == "q2")]]
            for m in MODELS
            for q in QUERIES
            for c in WIDE[2:]
        ]
        content = text(["model", "question_id", "rubric", "score"], rows)
        mapping = {}
    ws.ingest(content, "d", name="x.csv", mapping=mapping, policies=Policies(threshold=0.5))
    assert levels(ws) == expected((0, 1, 1))


def test_numbers_whose_comma_may_be_of_thousands_are_refused_with_what_to_do(ws):
    with pytest.raises(
        IngestError, match=r"such as \d,000 in its columns 'clarity' and 'tone', whose comma may be a"
    ):
        ws.ingest(wide(("1,000", "2,000", "3,000")), "d", name="x.csv")
    rows = [[m, q, "clear", "1,000"] for m in MODELS for q in QUERIES]
    with pytest.raises(
        IngestError,
        match="1,000 has a comma that may be a decimal comma or a thousands separator: write it with",
    ):
        ws.ingest(text(["model", "question_id", "rubric", "score"], rows), "d", name="x.csv")


def test_scores_with_decimal_commas_are_asked_about_as_others_are(ws):
    with pytest.raises(IngestError, match="look like continuous scores"):
        ws.ingest(wide(("0,67", "0,33", "0,91")), "d", name="x.csv")


def test_what_has_a_comma_and_is_no_number_stays_what_it_is(ws):
    rows = [[m, q, label(m, q), "1,3" if q == "q0" else "all"] for m in MODELS for q in QUERIES]
    report = ws.ingest(text(["model", "question_id", "clarity", "steps"], rows), "d", name="x.csv")
    assert not any("decimal" in n for n in report.notes)
