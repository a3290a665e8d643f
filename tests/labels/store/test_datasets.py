"""Datasets as wholes: copied, and written out so that they come back the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crubric_core.analysis.export import write_dataset
from crubric_core.errors import DatasetError
from crubric_core.labels import Workspace
from crubric_core.labels.readers.policies import Policies
from tests.tiers import examples

FILES = {
    "queries": b"query,text,domain,omega,task_type\nq1,How?,law,0.1,decision_support\nq2,'-quoted,,2,\n",
    "rubrics": b'rubric,query,text,scale_max,weight\nr,q1,=SUM(A1),1,2\nr,q2,"two\nlines",,-1\ns,,for every query,4,\n',
    "labels": b"system,query,rubric,judge,label\n=a,q1,r,j,1\n'=a,q1,r,j,0\nb,q2,r,@k,NA\nb,q2,r,j,1\nc,,t,j,0\n",
    "gold": b"system,query,rubric,label\nb,q2,r,0\n",
    "reference": b"system,rank,score\nb,1,0.30000000000000004\n",
}


def fill(ws: Workspace, name: str = "d") -> str:
    for kind, content in FILES.items():
        ws.ingest(content, name, kind)
    return ws.dataset(name).fingerprint


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_a_dataset_written_out_and_read_again_is_the_same(ws, tmp_path, file_format):
    before = fill(ws)
    paths = write_dataset(ws.dataset("d"), tmp_path, file_format)
    assert [path.stem for path in paths] == list(FILES)
    policies = Policies(apostrophes="strip" if file_format == "csv" else "keep")
    for path in paths:
        report = ws.ingest(path, "again", path.stem, policies=policies)
        assert report.rejected == 0
    assert ws.dataset("again").fingerprint == before


def test_no_cell_of_an_exported_csv_begins_a_formula(ws, tmp_path):
    fill(ws)
    for path in write_dataset(ws.dataset("d"), tmp_path, "csv"):
        for line in path.read_text().splitlines()[1:]:
            assert not line.startswith(("=", "@")), line
            assert ",=" not in line
            assert ",@" not in line


def test_names_with_a_guard_are_pointed_out_where_it_was_kept(ws, tmp_path):
    fill(ws)
    labels = next(p for p in write_dataset(ws.dataset("d"), tmp_path, "csv") if p.stem == "labels")
    kept = ws.ingest(labels, "kept")
    assert {f.code: f.count for f in kept.checks}["disarmed"] == 3
    stripped = ws.ingest(labels, "stripped", policies=Policies(apostrophes="strip"))
    assert stripped.applied == {"apostrophes": 3}
    assert ws.dataset("stripped").systems == ("'=a", "=a", "b", "c")


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6).filter(
    str.strip
)


@given(
    names=st.lists(NAMES, min_size=1, max_size=6), labels=st.lists(st.integers(0, 4), min_size=6, max_size=6)
)
@settings(max_examples=examples(40))
def test_any_text_comes_back_from_csv_as_it_was(tmp_path_factory, names, labels):
    lines = [
        f'"{n.replace(chr(34), chr(34) * 2)}",q,r,{v}'
        for n, v in zip(dict.fromkeys(names), labels, strict=False)
    ]
    content = "\n".join(["system,query,rubric,label", *lines]).encode()
    with Workspace() as ws:
        before = ws.ingest(content, "d", on_conflict="last", format="csv").fingerprint
        for path in write_dataset(ws.dataset("d"), tmp_path_factory.mktemp("out"), "csv"):
            ws.ingest(path, "again", path.stem, policies=Policies(apostrophes="strip"))
        assert ws.dataset("again").fingerprint == before


def test_a_copy_is_independent_of_the_original(ws, table):
    before = fill(ws)
    ws.ingest(table("x q r j 1"), "other")
    ws.duplicate("d", "copy")
    assert ws.dataset("copy").fingerprint == before
    assert ws.ingests("copy").drop(columns="ingest_id").equals(ws.ingests("d").drop(columns="ingest_id"))
    ws.ingest(table("z q1 r j 1"), "copy")
    ws.undo("d")
    assert "z" in ws.dataset("copy").systems
    assert len(ws.dataset("copy").reference_ranking()) == 1
    assert ws.dataset("d").reference_ranking().empty
    ws.delete("d")
    ws.undo("copy")
    assert ws.dataset("copy").fingerprint == before


def test_a_copy_needs_a_name_that_is_free(ws, table):
    ws.ingest(table("x q r j 1"), "d")
    for name, words in (("d", "'d' already"), ("  ", "name is blank")):
        with pytest.raises(DatasetError, match=words):
            ws.duplicate("d", name)


def test_a_table_that_is_written_has_the_reasons_that_came_with_labels_read_again(ws):
    labels = b"system,query,rubric,judge,label\na,q,r,j,1\nb,q,r,j,0\n"
    ws.ingest(labels, "d")
    ws.ingest(b"system,query,rubric,judge,label,reason\na,q,r,j,1,because\nb,q,r,j,0,so\n", "d")
    table = ws.dataset("d").tables()["labels"]
    assert table["reason"].tolist() == ["because", "so"]
    ws.ingest(table.to_csv(index=False).encode(), "again")
    assert ws.dataset("again").fingerprint == ws.dataset("d").fingerprint
