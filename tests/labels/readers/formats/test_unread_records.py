"""Records of nested JSON, and rows with JSON in their cells, that give no row of labels: none is lost in silence."""

from __future__ import annotations

import csv
import io
import json

import pytest

SCORES = {"clarity": 1, "tone": 2}


def record(system, query, **held):
    return {"system": system, "query": f"q{query}", **held}


def records(first, last, **held):
    return [record(s, q, **held) for q in range(first, last) for s in "ab"]


def lines(found) -> bytes:
    return "\n".join(map(json.dumps, found)).encode()


OTHER_SHAPES = {
    "a list": {"scores": [{"name": "clarity", "score": 3}]},
    "text": {"scores": "none, as it was cut off"},
    "null": {"scores": None},
    "empty": {"scores": {}},
    "another name": {"ratings": SCORES},
}


@pytest.mark.parametrize("other", OTHER_SHAPES.values(), ids=OTHER_SHAPES)
def test_records_of_another_shape_are_rejected_each_with_its_number(read, other):
    content = lines([*records(0, 15, scores=SCORES), *records(15, 30, **other)])
    dataset, report = read(content, "x.jsonl")
    assert (len(dataset.labels()), report.accepted, report.rejected) == (60, 60, 30)
    assert report.rejects["reason"][0].startswith("record 31 holds nothing at scores{}: ")
    assert "q15" in report.rejects["value"][0]


def test_values_that_are_no_objects_are_rejected(read):
    content = json.dumps([*records(0, 5, scores=SCORES), None, "oops", 5, *records(5, 9, scores=SCORES)])
    _, report = read(content.encode(), "x.json")
    assert (report.accepted, report.rejected) == (36, 3)
    assert report.rejects["reason"].tolist() == [f"record {n} is no object: correct it" for n in (11, 12, 13)]


def test_an_item_within_a_record_that_gives_nothing_is_rejected_by_its_place(read):
    results = [{"id": f"q{i}", "scores": SCORES if i != 3 else None} for i in range(6)]
    content = json.dumps([{"model": m, "results": results} for m in ("x", "y")]).encode()
    dataset, report = read(content, "x.json")
    assert (len(dataset.labels()), report.rejected) == (20, 2)
    assert report.rejects["reason"][0].startswith("record 1, item 3 holds nothing at results[].scores{}")


def table(*rows) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows([("system", "query", "scores", "note"), *rows])
    return text.getvalue().encode()


GOOD = [(s, f"q{q}", json.dumps(SCORES), "x") for q in range(6) for s in "ab"]


def test_rows_with_json_in_their_cells_that_cannot_be_split_are_rejected(read):
    content = table(*GOOD, ("c", "q1", json.dumps(SCORES), "x", "y", "z"), ("c", "q2"))
    dataset, report = read(content, "x.csv")
    assert (len(dataset.labels()), report.rejected) == (24, 2)
    assert [reason.split(":")[0] for reason in report.rejects["reason"]] == [
        "row 14 has 6 cells where the header has 4 columns",
        "row 15 has 2 cells where the header has 4 columns",
    ]


def test_labels_of_a_cell_that_cannot_be_stored_are_rejected_with_the_row_of_the_file(read):
    _, report = read(table(*GOOD, ("", "q1", json.dumps(SCORES), "x")), "x.csv")
    assert report.rejected == 2
    assert all(reason.endswith("(row 14)") for reason in report.rejects["reason"])
