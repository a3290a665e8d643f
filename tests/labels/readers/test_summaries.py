"""A table that sums up others beside them is left out and told, and refuses no upload."""

from __future__ import annotations

import pytest

from tests.labels.readers.formats.test_workbooks import sheet, workbook
from tests.labels.readers.fuzzing import zipped
from tests.labels.readers.test_layouts import table

MODELS = ("gpt-4o", "claude-3-opus")
HEADER = ["model", "query_id", "Helpfulness", "Safety"]
RATINGS = [[m, f"q{q}", 1 + (q + i) % 5, 1 + (2 * q + i) % 5] for i, m in enumerate(MODELS) for q in range(6)]
MEANS = [["gpt-4o", 3.25, 4.12], ["claude-3-opus", 3.5, 2.17]]
SUMMARY = ["Model", "Helpfulness", "Safety"]


def read(ws, name, header=SUMMARY, means=MEANS):
    content = zipped({"ratings.csv": table(HEADER, RATINGS), name: table(header, means)})
    return ws.ingest(content, "d", name="study.zip")


@pytest.mark.parametrize(
    "name", ["summary.csv", "model averages.csv", "results/Overview.csv", "mean_scores.csv"]
)
@pytest.mark.parametrize("means", [MEANS, [["gpt-4o", 3, 4], ["claude-3-opus", 3, 2]]])
def test_a_table_that_sums_up_others_is_skipped_and_told(ws, name, means):
    report = read(ws, name, means=means)
    assert len(ws.dataset("d").labels()) == 2 * len(RATINGS)
    assert any("skipped: it sums up the labels of the other tables" in note for note in report.notes)


def test_so_is_a_sheet(ws):
    pages = {"Ratings": sheet([HEADER, *RATINGS]), "Summary": sheet([SUMMARY, *MEANS])}
    report = ws.ingest(workbook(**pages), "d", name="study.xlsx")
    assert len(ws.dataset("d").labels()) == 2 * len(RATINGS)
    assert any("Summary was skipped" in note for note in report.notes)


def test_so_is_one_beside_a_sheet_for_each_system(ws):
    pages = {m: sheet([HEADER[1:], *(row for of, *row in RATINGS if of == m)]) for m in MODELS}
    report = ws.ingest(workbook(**pages, Summary=sheet([SUMMARY, *MEANS])), "d", name="study.xlsx")
    assert set(ws.dataset("d").labels()["system"]) == set(MODELS)
    assert any("Summary was skipped" in note for note in report.notes)


def test_labels_of_queries_are_read_whatever_their_table_is_called(ws):
    rows = [[f"{m} again", *row] for m, *row in RATINGS]
    read(ws, "summary.csv", HEADER, rows)
    assert len(ws.dataset("d").labels()) == 4 * len(RATINGS)
