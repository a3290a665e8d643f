"""A wrong file gives one clear sentence, and the workspace stays as it was."""

from __future__ import annotations

import csv
import gzip
import io
import os
import tarfile
import zipfile

import pandas as pd
import pytest

from crubric_core.errors import IngestError
from crubric_core.labels import Workspace
from tests.tiers import at_most

HEADER = b"system,query,rubric,judge,label\n"
GOOD = b"a,q,r,j,1\nb,q,r,j,0\n"


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A workspace with one dataset, and what it holds; when all files of this module were refused, its file is opened
    once more and holds the same."""
    path = tmp_path_factory.mktemp("kept") / "study.duckdb"
    with Workspace(path) as ws:
        ws.ingest(HEADER + GOOD, "kept")
        before = contents(ws)
        yield ws, before
    with Workspace(path) as ws:
        assert contents(ws) == before


@pytest.fixture
def untouched(kept):
    """A workspace with one dataset, which must be the same afterwards."""
    ws, before = kept
    yield ws
    assert contents(ws) == before


def contents(ws: Workspace) -> list[object]:
    with ws.reading() as cursor:
        tables = [
            row[0] for row in cursor.execute("SELECT table_name FROM duckdb_tables() ORDER BY ALL").fetchall()
        ]
        return [cursor.execute(f'FROM "{table}" ORDER BY ALL').fetchall() for table in tables]


def refused(ws: Workspace, source: object, **options: object) -> str:
    """The sentence; it must be one, and name no part of the program."""
    with pytest.raises(IngestError) as caught:
        ws.ingest(source, options.pop("dataset", "new"), **options)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 600
    assert not any(word in sentence for word in ("Traceback", "duckdb", "Error:", "incoming", "CREATE"))
    return sentence


WRONG = {
    "nothing": (b"", "is empty"),
    "white space": (b" \n\n \n", "is empty"),
    "a header alone": (HEADER, "has a header but no rows"),
    "an image": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 9, "binary file"),
    "a ZIP or Excel file": (b"PK\x03\x04" + bytes(200), "is not a complete ZIP archive or Excel workbook"),
    "gzip": (b"\x1f\x8b\x08" + bytes(50), "cannot be unpacked"),
    "gzip in gzip": (gzip.compress(gzip.compress(HEADER + GOOD)), "is compressed .gzip.: unpack it first"),
    "a workbook of old": (b"\xd0\xcf\x11\xe0" + bytes(200), "Excel workbook of before 2007, or encrypted"),
    "columns without rows": (
        b'{"columns": ["a", "b"], "data": {"a": 1}}',
        "columns and rows, but they are not",
    ),
    "no system column": (b"who,rubric,label\na,r,1\n", "no column for system"),
    "no rubric or label column": (b"system,x,y\na,r,1\n", "no column for rubric and label"),
    "not a header": (b"a,q,r,j,1\nb,q,r,j,0\n", "no line of column names"),
    "the same header twice": (b"system,rubric,label,label\na,r,1,1\n", "column 'label' 2 times"),
    "headers that differ in case alone": (b"system,rubric,label,Label\na,r,1,1\n", "could each be the label"),
    "label maybe": (HEADER + b"a,q,r,j,maybe\n", "maybe is not a number"),
    "label 1e400": (HEADER + b"a,q,r,j,1e400\n", "1e400 is not a"),
    "label infinity": (HEADER + b"a,q,r,j,inf\n", "inf is not a finite number"),
    "label of another kind": (HEADER + b"a,q,r,j,99999\n", "beyond any rating scale"),
    "a system without name": (HEADER + b",q,r,j,1\n", "the system has no name"),
    "a rubric without name": (HEADER + b"a,q, ,j,1\n", "the rubric has no name"),
    "a judge without name": (HEADER + b"a,q,r,,1\n", "the judge has no name"),
    "ragged rows alone": (HEADER + b"a,q,r\nb,q,r,j,1,9,9\n", "3 cells where the header has 5 columns"),
    "a quotation without end": (HEADER + b'"a,q,r,j,1\n' + GOOD, "opened in row 2 is never closed"),
    "labels in quarters": (
        HEADER + b"a,q,r,j,0.25\nb,q,r,j,0.5\nc,q,r,j,1\nd,q,r,j,0.75\n",
        "steps of 0.25.*multiply the labels .* by 4",
    ),
    "broken Parquet": (b"PAR1" + bytes(100) + b"PAR1", "cannot be read as Parquet"),
    "broken JSON": (
        b'{"system": "a", "rubric": "r", "label": 1}\n{"system": "b", \n',
        "cannot be read as JSON",
    ),
    "JSON without objects": (b"[1, 2, 3]", "no JSON objects"),
    "JSON without labels": (b'{"a": 1}\n', "no column for system and rubric and label"),
    "prose": (b"Dear reader,\nthis is no table.\n", "no column for"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_file_gives_one_sentence_and_changes_nothing(untouched, what):
    content, expected = WRONG[what]
    sentence = refused(untouched, content, name="labels.csv")
    assert pd.Series([sentence]).str.contains(expected).all(), sentence
    assert "labels.csv" in sentence


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_file_changes_nothing_in_a_dataset_that_has_labels(untouched, what):
    refused(untouched, WRONG[what][0], dataset="kept")


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("queries", b"query,text\nq1,What is it?\nq2,Why?\n"),
        ("rubrics", b"query,rubric,text,weight\nq1,r1,It says so,1\nq2,r2,It does,2\n"),
        ("answers", b"model,prompt_id,response\na,1,hello\nb,2,world\n"),
        ("systems", b"model,cost,license\na,1,MIT\nb,2,Apache\n"),
        ("reference", b"rank,model,score\n1,a,88.1\n2,b,87.2\n"),
        ("reference", b"Model,Elo,Votes\na,1288,300\nb,1170,280\n"),
    ],
)
def test_a_table_of_another_kind_than_labels_is_refused_with_its_kind_and_read_as_that(ws, kind, content):
    with pytest.raises(IngestError, match=f"columns of an? {kind} table: read it as one .--kind {kind}."):
        ws.ingest(content, "d")
    assert ws.ingest(content, "d", kind).accepted == 2


def test_a_file_that_does_not_exist_is_named(untouched, tmp_path):
    assert "nowhere.csv" in refused(untouched, tmp_path / "nowhere.csv")
    (tmp_path / "empty").mkdir()
    assert "no file" in refused(untouched, tmp_path / "empty")
    assert "no file" in refused(untouched, "https://example.org/labels.csv")


def test_rows_without_any_cell_are_no_rows(ws):
    rows = GOOD + b",,,,\n" * 9
    for content in (
        HEADER + rows,
        HEADER + b"\n" + rows + b"c,q,,j,1\n",
    ):  # read at full speed, and with care
        report = ws.ingest(content, "d", on_conflict="last")
        assert report.accepted == 2
        assert report.rejects["reason"].tolist() == ["the rubric has no name"] * content.count(b"c,q,,")


def test_a_file_of_which_nothing_but_unknown_labels_is_understood_is_refused(untouched):
    words = b"a,q,r,j,N/A\nb,q,r,j,rather\nc,q,r,j,not so much\n"
    assert "No row of labels.csv can be used (row 3: rather is not" in refused(
        untouched, HEADER + words, name="labels.csv"
    )


def test_a_file_whose_name_is_no_text_is_named(untouched, tmp_path):
    name, content = os.fsdecode(b"na\xefve.csv"), HEADER + GOOD
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / name).write_bytes(content)
    with tarfile.open(tmp_path / "d.tar", "w") as archive:
        archive.add(tmp_path / "d" / name, name)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("naïve.csv", content)
    for source in (tmp_path / "d", tmp_path / "d.tar"):
        assert "na?ve.csv', is not UTF-8: rename it." in refused(untouched, source)
    torn = packed.getvalue().replace("naïve".encode(), b"na\xef\x80ve")
    assert "d.zip holds a file whose name is not UTF-8" in refused(untouched, torn, name="d.zip")


@pytest.mark.parametrize("name", ["d.zip", "d.xlsx"])
def test_an_archive_with_a_file_that_has_no_name_is_refused(untouched, name):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("a.csv", HEADER + GOOD)
        file.writestr(zipfile.ZipInfo(""), b"")
    sentence = f"{name} is damaged, as it holds a file without a name: make the archive again."
    assert sentence in refused(untouched, packed.getvalue(), name=name)


@pytest.mark.parametrize("shape", ["one cell", "one line of many cells", "one quotation over many lines"])
def test_a_line_without_end_is_refused(untouched, tmp_path, shape):
    path = tmp_path / "long.csv"
    unit = {"one cell": b"x", "one line of many cells": b"x,", "one quotation over many lines": b"x\n"}[shape]
    quote = b'"' if "quotation" in shape else b""
    with path.open("wb") as file:
        file.write(HEADER + GOOD + quote)
        for _ in range(at_most(6, 200)):
            file.write(unit * (1_000_000 // len(unit)))
        file.write(quote + b",q,r,j,1\n" + GOOD)
    sentence = refused(untouched, path)
    path.unlink()
    assert "longer than 4,194,304 characters" in sentence
    assert "long.csv" in sentence


def test_a_first_line_of_200_mb_is_refused_soon(untouched, tmp_path):
    path = tmp_path / "long.csv"
    path.write_bytes(b"x" * 200_000_000)
    assert "is not a header" in refused(untouched, path)
    path.unlink()


def test_a_json_value_of_200_mb_is_refused_soon(untouched, tmp_path):
    path = tmp_path / "long.jsonl"
    path.write_bytes(b'{"system": "' + b"x" * 200_000_000 + b'", "rubric": "r", "label": 1}\n')
    assert "cannot be read as JSON" in refused(untouched, path)
    path.unlink()


def test_bad_rows_are_left_out_with_row_column_value_and_reason(ws):
    report = ws.ingest(
        HEADER
        + b"a,q,r,j,1\na,q,r2,j,maybe\n,q,r,j,1\nb,q,,j,1\nb,q,r,j,1e400\nb,q,r2,j,\nc,q,r\nd,q,r,j,2,\n",
        "d",
    )
    assert report.rejects.drop(columns=["reason", "file"]).to_dict("records") == [
        {"row": 3, "column": "label", "value": "maybe"},
        {"row": 4, "column": "system", "value": None},
        {"row": 5, "column": "rubric", "value": None},
        {"row": 6, "column": "label", "value": "1e400"},
        {"row": 8, "column": None, "value": "c,q,r"},
    ]
    assert report.rejects["reason"].str.len().gt(0).all()
    assert (report.accepted, report.rejected, report.blank) == (3, 5, 1)
    assert ws.rejects("d")[["row", "value"]].equals(report.rejects[["row", "value"]])
    assert ws.ingests("d")[["accepted", "rejected", "blank"]].values.tolist() == [[3, 5, 1]]


def test_row_numbers_are_those_of_a_spreadsheet(ws):
    """Records, not lines: a cell with line breaks is one row, an empty line is a row too."""
    report = ws.ingest(b'system,rubric,label\n"a\nb\nc",r,1\n\nd,r,no way\n\n\ne,r\nf,r,2\n', "d")
    assert report.rejects["row"].tolist() == [4, 7]


@pytest.mark.parametrize("clean", [True, False])
def test_row_numbers_stay_true_in_a_large_file(ws, clean):
    """Whether the fast reader takes it or a ragged row sends it to the careful one."""
    lines = [f"s{i % 50},r{i // 50},1" for i in range(250_000)]
    bad = [5, 100_000, 130_001, 249_999]
    for i in bad:
        lines[i] = f"s{i % 50},r{i // 50},oops"
    if not clean:
        lines[120_000] = "ragged"
    report = ws.ingest(("system,rubric,label\n" + "\n".join(lines) + "\n").encode(), "d")
    expected = sorted([i + 2 for i in bad] + ([] if clean else [120_002]))
    assert report.rejects["row"].tolist() == expected
    assert report.accepted == 250_000 - len(expected)


def test_records_of_json_and_parquet_are_counted_from_one(ws, tmp_path):
    ws_report = ws.ingest(
        b'{"system": "a", "rubric": "r", "label": 1}\n{"system": "b", "rubric": "r", "label": "oops"}\n',
        "json",
    )
    assert ws_report.rejects["row"].tolist() == [2]
    path = tmp_path / "x.parquet"
    pd.DataFrame({"system": ["a", "b"], "rubric": ["r", "r"], "label": ["1", "oops"]}).to_parquet(path)
    assert ws.ingest(path, "parquet").rejects["row"].tolist() == [2]


def test_a_stray_quotation_mark_costs_its_row_alone(ws):
    report = ws.ingest(HEADER + b'a,q,r,j,1\n"b"x,q,r,j,1\nc,q,r,j,0\n', "d")
    assert report.rejects["row"].tolist() == [3]
    assert ws.dataset("d").systems == ("a", "c")


def test_mixed_line_ends_are_read(ws):
    ws.ingest(b"system,rubric,label\r\na,r,1\nb,r,0\r\nc,r,1\rd,r,1", "d")
    assert ws.dataset("d").systems == ("a", "b", "c", "d")


def test_a_long_value_is_kept_short_among_the_rejects(ws):
    report = ws.ingest(HEADER + GOOD + b"c,q,r,j," + b"x" * 100_000 + b"\n", "d")
    assert len(report.rejects["value"][0]) == 200
    assert len(report.rejects["reason"][0]) <= 500


def test_the_careful_reader_and_the_fast_one_read_the_same(ws):
    """An empty line sends a file to the careful reader; everything else about it must not change."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([["system", "rubric", "label"]])
    names = ["plain", 'say "hi"', "a,b", "two\nlines", " padded ", "名前", "tab\there", "'"]
    writer.writerows([[name, f"r{i}", i % 2] for i, name in enumerate(names)])
    ws.ingest(text.getvalue().encode(), "fast")
    ws.ingest(text.getvalue().replace("plain", "\nplain", 1).encode(), "careful")
    assert ws.dataset("fast").fingerprint == ws.dataset("careful").fingerprint


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"kind": "lables"}, "kind = 'lables' is unknown"),
        ({"format": "xls"}, "format 'xls' is unknown"),
        ({"on_conflict": "mean"}, "on_conflict = 'mean' is unknown"),
        ({"dataset": " "}, "dataset has no name"),
        ({"mapping": {"model": "system"}}, "'model', which a labels table does not have"),
        ({"kind": "answers", "mapping": {"who": "system"}}, "'who', which an answers table does not have"),
        ({"format": "inspect"}, "is not an Inspect log"),
        ({"mapping": {"system": "contestant"}}, "'contestant', which upload does not have"),
        ({"format": "parquet"}, "cannot be read as Parquet"),
        ({"format": "json"}, "cannot be read as JSON|no JSON objects"),
    ],
)
def test_a_wrong_request_is_refused(untouched, options, expected):
    sentence = refused(untouched, HEADER + GOOD, **options)
    assert pd.Series([sentence]).str.contains(expected).all(), sentence


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        ("rubrics", b"text\nx\n", "no column for rubric"),
        ("rubrics", b"rubric,weight\nr,heavy\n", "heavy is not a number"),
        ("rubrics", b"rubric,scale_min,scale_max\nr,5,1\n", "ends at 1 but begins at 5"),
        ("rubrics", b"rubric,scale_max\nr,2.5\n", "2.5 lies between two levels"),
        ("rubrics", b"rubric,weight\n,1\n", "the rubric has no name"),
        ("queries", b"query,p_decision_support\nq,1.5\n", "1.5 is not a share"),
        ("queries", b"query,omega\nq,-1\n", "-1 is negative"),
        ("gold", b"system,rubric\na,r\n", "no column for label"),
        ("reference", b"system\na\n", "no column for rank or score"),
    ],
)
def test_a_wrong_table_of_another_kind_is_refused(untouched, kind, content, expected):
    assert expected in refused(untouched, content, dataset="kept", kind=kind)
