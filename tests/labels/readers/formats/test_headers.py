"""Headers of files as spreadsheets and data frames write them: two rows, a line for Excel, columns without a name."""

from __future__ import annotations

import pandas as pd
import pytest

from crubric_core.labels.readers.formats.headers import joined_header, rows_above
from tests.labels.readers.formats.conftest import labels_of
from tests.labels.readers.formats.test_workbooks import sheet, workbook
from tests.labels.readers.test_layouts import MODELS, cells, label

JUDGES, CRITERIA = ("judge 1", "judge 2"), ("clear", "well cited")
CELLS = {("a", "q1"): (1, 0, 1, 1), ("b", "q1"): (0, 1, 0, 0)}
EXPECTED = {
    (system, query, f"{query}#{criterion}", judge, given[2 * j + c])
    for (system, query), given in CELLS.items()
    for j, judge in enumerate(JUDGES)
    for c, criterion in enumerate(CRITERIA)
}


def bare(dataset):
    return {(s, q, f"{q}#{r.removeprefix(f'{q}#')}", j, label) for s, q, r, j, label in labels_of(dataset)}


def rows(upper, lower):
    return [upper, lower, *([*key, *map(str, given)] for key, given in CELLS.items())]


UPPER = {
    "the group stands over its first column": (["model", "question", "judge 1", "", "judge 2", ""], ["", ""]),
    "the group is repeated": (["model", "question", "judge 1", "judge 1", "judge 2", "judge 2"], ["", ""]),
    "the keys stand in the second row": (["", "", "judge 1", "", "judge 2", ""], ["model", "question"]),
}


@pytest.mark.parametrize("name", UPPER)
@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_two_rows_of_headers_are_judges_over_criteria(read, name, kind):
    upper, keys = UPPER[name]
    table = rows(upper, [*keys, *CRITERIA, *CRITERIA])
    text = "\n".join(",".join(row) for row in table).encode()
    content = text if kind == "csv" else workbook(S=sheet([[c or None for c in row] for row in table]))
    dataset, _ = read(content, f"x.{kind}")
    assert bare(dataset) == EXPECTED


def test_a_pivot_table_that_a_data_frame_wrote_is_read(read):
    long = pd.DataFrame(
        [(s, q, r.split("#")[1], j, label) for s, q, r, j, label in EXPECTED],
        columns=["model", "question", "criterion", "judge", "label"],
    )
    wide = long.pivot_table(index=["model", "question"], columns=["judge", "criterion"], values="label")
    dataset, _ = read(wide.astype(int).to_csv().encode(), "x.csv")
    assert bare(dataset) == EXPECTED


def test_criteria_under_one_title_keep_their_names(read):
    table = rows(["model", "question", "Ratings", "", "", ""], ["", "", "clear", "cites", "short", "kind"])
    dataset, _ = read("\n".join(",".join(row) for row in table).encode(), "x.csv")
    assert {r.split("#")[-1] for r in dataset.rubrics["rubric"]} == {"clear", "cites", "short", "kind"}


@pytest.mark.parametrize(
    "table",
    [
        [["model", "question", "score", ""], ["a", "q1", "1", "late"], ["b", "q1", "0", "late"]],
        [["model", "", "score"], ["a", "x", "yes"], ["b", "x", "no"]],
        [["model", "score", "note", "note2"], ["", "1", "", ""], ["b", "0", "", ""]],
        [["model", "score"], ["a", "1"]],
    ],
)
def test_a_row_of_a_table_is_no_second_header(table):
    assert joined_header(table) == ((), 0)


def test_a_column_without_a_name_is_no_label_and_is_told(read):
    content = b"model,question,clear,cites,\na,q1,1,0,1\nb,q1,0,1,0\na,q2,1,1,1\nb,q2,0,1,1\n"
    dataset, report = read(content, "x.csv")
    assert {r.split("#")[-1] for r in dataset.rubrics["rubric"]} == {"clear", "cites"}
    assert "Not used of x.csv: unnamed column 5." in report.notes


@pytest.mark.parametrize("separator", [";", ",", "\t"])
def test_a_line_that_tells_excel_the_separator_is_no_header(read, separator):
    table = ["system,query,rubric,judge,label", "a,q,r,j,1", "b,q,r,j,maybe"]
    lines = [f"sep={separator}", *(row.replace(",", separator) for row in table)]
    dataset, report = read(("\ufeff" + "\r\n".join(lines)).encode(), "x.csv")
    assert labels_of(dataset) == {("a", "q", "r", "j", 1)}
    assert report.rejects["row"].tolist() == [4]  # as an editor counts lines


@pytest.mark.parametrize("above", [[], [["", "", ""]], [["", "", ""], ["My ratings", "", ""]]])
def test_titles_and_empty_rows_above_a_header_are_passed_over(ws, above):
    rows = [[m, c, label(m, c)] for m in MODELS for c in ("clarity", "tone", "depth")]
    lines = [*above, ["system", "rubric", "label"], *rows, ["gpt-4o", "style", "maybe"]]
    report = ws.ingest("\n".join(",".join(map(str, line)) for line in lines).encode(), "d", name="x.csv")
    assert {(m, r): value for (m, _, r, _), value in cells(ws).items()} == {(m, c): v for m, c, v in rows}
    assert report.rejects["row"].tolist() == [len(lines)]


def test_one_name_above_data_is_no_title():
    records = [["name", "", ""], ["Ann", "3", "4"], ["Bob", "2", "5"]]
    assert rows_above(records) == 0


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("above", [["Ratings of May"], ["Ratings of May", "Team North", ""]])
def test_titles_that_were_typed_above_a_header_are_passed_over(ws, above, separator):
    rows = [[m, c, str(label(m, c))] for m in MODELS for c in ("clarity", "tone", "depth")]
    table = [["system", "rubric", "label"], *rows, ["gpt-4o", "style", "maybe"]]
    text = "\n".join([*above, *map(separator.join, table)])
    report = ws.ingest(text.encode(), "d", name="x.csv")
    assert {(m, r): str(v) for (m, _, r, _), v in cells(ws).items()} == {(m, c): v for m, c, v in rows}
    assert report.rejects["row"].tolist() == [len(above) + len(table)]


def test_a_line_of_one_cell_above_rows_of_several_widths_is_no_title():
    assert rows_above([["notes"], ["a", "b", "c"], ["1", "2"], ["1", "2", "3"]]) == 0
    assert rows_above([["notes"], ["a", "b"], ["1", "2"], ["1", "2"]]) == 0


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_a_row_of_scales_below_the_header_is_no_row(read, kind):
    """It became a system ``name``, and ``(0/1)`` a label of 0."""
    table = [
        ["model", "prompt", "clarity", "polite", "tone"],
        ["name", "id", "(1-5)", "(0/1)", "(yes/no)"],
        ["a", "p1", "4", "1", "yes"],
        ["a", "p2", "3", "0", "no"],
        ["b", "p1", "2", "1", "no"],
    ]
    text = "\n".join(",".join(row) for row in table).encode()
    dataset, report = read(text if kind == "csv" else workbook(S=sheet(table)), f"x.{kind}")
    assert (dataset.systems, report.accepted, report.rejected) == (("a", "b"), 9, 0)
    criteria = dataset.criteria.set_index("criterion")
    assert criteria.loc["clarity (1-5)", ["scale_min", "scale_max"]].tolist() == [1, 5]
    assert criteria.loc["polite (0/1)", ["scale_min", "scale_max"]].tolist() == [0, 1]


def test_a_column_of_scales_makes_no_header_of_the_first_row():
    assert joined_header([["rubric", "scale", "label"], ["clear", "(1-5)", "4"], ["kind", "(1-5)", "2"]]) == (
        (),
        0,
    )
