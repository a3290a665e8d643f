"""Records that lie in a Parquet file with nested columns, or in one JSON object of columns and rows."""

from __future__ import annotations

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crubric_core.errors import IngestError
from tests.labels.readers.test_layouts import MODELS, cells, label, lines, table

CRITERIA = ("cites", "clear")
QUERIES = ("p0", "p1")
SCORES = {(m, q, f"{q}#{c}", "judge"): label(m, q, c) for m in MODELS for q in QUERIES for c in CRITERIA}


def parquet(records) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(records)), file)
    return file.getvalue()


def graded(q, without=()):
    """The answers to one query, each with its scores."""
    scores = [{c: label(m, q, c) for c in CRITERIA if c not in without} for m in MODELS]
    return {
        "question": q,
        "answers": [{"model": m, "scores": own} for m, own in zip(MODELS, scores, strict=True)],
    }


def test_nested_parquet_is_read_as_the_same_records_in_json(ws):
    ws.ingest(parquet(map(graded, QUERIES)), "d", name="x.parquet")
    assert cells(ws) == SCORES
    ws.ingest(lines(map(graded, QUERIES)), "as json", name="x.jsonl")
    assert ws.dataset("as json").labels().equals(ws.dataset("d").labels())


def test_a_criterion_that_a_parquet_record_lacks_is_no_unknown_label(ws):
    ws.ingest(parquet([*map(graded, QUERIES), graded("p2", without=["clear"])]), "d", name="x.parquet")
    assert cells(ws) == SCORES | {(m, "p2", "p2#cites", "judge"): label(m, "p2", "cites") for m in MODELS}


def test_what_is_not_used_of_nested_parquet_is_told_by_its_field(ws):
    records = [{**graded(q), "meta": {"source": "web"}} for q in QUERIES]
    report = ws.ingest(parquet(records), "d", name="x.parquet")
    assert "Not used of x.parquet: meta.source." in report.notes


ROWS = [[m, q, c, label(m, q, c)] for m in MODELS for q in QUERIES for c in CRITERIA]
COLUMNS = ["model", "question_id", "criterion", "score"]


@pytest.mark.parametrize(
    "frame",
    [
        {"columns": COLUMNS, "index": list(range(len(ROWS))), "data": ROWS},
        {"columns": COLUMNS, "rows": ROWS},
    ],
    ids=["pandas, split", "columns and rows"],
)
def test_columns_beside_their_rows_are_a_table(ws, frame):
    ws.ingest(json.dumps(frame).encode(), "d", name="x.json")
    assert cells(ws) == {(m, q, f"{q}#{c}", "judge"): level for m, q, c, level in ROWS}


def test_a_row_of_such_a_table_that_lacks_a_cell_is_refused(ws):
    frame = {"columns": COLUMNS, "data": [*ROWS, ROWS[0][:3]]}
    with pytest.raises(
        IngestError, match=r"Row 13 of x\.json does not have one cell for each of its 4 columns"
    ):
        ws.ingest(json.dumps(frame).encode(), "d", name="x.json")


def long(write):
    """A row an answer, with its scores in one cell."""
    rows = [[m, q, write({c: bool(label(m, q, c)) for c in CRITERIA})] for m in MODELS for q in QUERIES]
    return table(["model", "question_id", "scores"], rows)


@pytest.mark.parametrize("write", [json.dumps, str], ids=["JSON", "Python"])
def test_objects_in_the_cells_of_a_table_are_read_as_those_of_records(ws, write):
    report = ws.ingest(long(write), "d", name="x.csv")
    assert cells(ws) == SCORES
    assert not any(note.startswith("Not used") for note in report.notes)


def test_lists_in_the_cells_of_a_table_are_labels_of_a_judge_each(ws):
    rows = [[m, q, "cites", [label(m, q, j) for j in range(3)]] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "question_id", "criterion", "ratings"], rows), "d", name="x.csv")
    assert cells(ws) == {
        (m, q, f"{q}#cites", str(j)): label(m, q, j) for m in MODELS for q in QUERIES for j in range(3)
    }


def test_lists_beside_labels_in_a_column_change_nothing(ws):
    rows = [[m, q, "cites", label(m, q), "['a', 'b']"] for m in MODELS for q in QUERIES]
    report = ws.ingest(table(["model", "question_id", "criterion", "score", "tags"], rows), "d", name="x.csv")
    assert cells(ws) == {(m, q, f"{q}#cites", "judge"): label(m, q) for m in MODELS for q in QUERIES}
    assert "Not used of x.csv: tags[]." in report.notes


@pytest.mark.parametrize(
    "cell", ["[" * 5000 + "]" * 5000, "{'a': " * 300 + "1" + "}" * 300, "[__import__('os')]"]
)
def test_a_cell_that_is_no_list_after_all_is_text(ws, cell):
    rows = [[m, q, "cites", label(m, q), cell] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "question_id", "criterion", "score", "note"], rows), "d", name="x.csv")
    assert len(cells(ws)) == len(rows)
