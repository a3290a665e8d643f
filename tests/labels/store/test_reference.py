"""Labels read in place reduce as ingested ones do, and what became of their files is said."""

from __future__ import annotations

import os
import shutil
from itertools import product

import duckdb
import numpy as np
import pandas as pd
import pytest

from crubric_core import Settings, run_pipeline
from crubric_core.errors import CrubricError, DatasetError, IngestError
from crubric_core.labels import Workspace
from crubric_core.labels.store.reference import reference
from tests.labels.simulated import simulate

SETTINGS = Settings(budget=10, cross_fitted=False, replicates=50)


def write(labels: pd.DataFrame, folder, by=("judge",)):
    """A folder of Parquet files, partitioned by the values of some columns."""
    connection = duckdb.connect()
    connection.register("t", labels)
    folder.mkdir(exist_ok=True)
    columns = ", ".join(by)
    connection.execute(
        f"COPY t TO '{folder}' (FORMAT parquet, PARTITION_BY ({columns}), OVERWRITE_OR_IGNORE)"
    )
    connection.close()
    return folder


@pytest.fixture(params=["plain", "graded", "runs", "repeats"])
def both(request, tmp_path):
    """The same labels ingested as ``copied`` and referenced as ``read``."""
    labels = simulate(request.param)
    folder = write(labels, tmp_path / "labels")
    with Workspace() as ws:
        labels.to_csv(tmp_path / "labels.csv", index=False)
        ws.ingest(tmp_path / "labels.csv", "copied")
        report = reference(ws, folder, "read")
        yield ws.dataset("copied"), ws.dataset("read"), report


def test_the_reduced_tables_are_those_of_the_copy(both):
    copied, read, _ = both
    pd.testing.assert_frame_equal(copied.rubrics, read.rubrics)
    pd.testing.assert_frame_equal(copied.criteria, read.criteria)
    pd.testing.assert_frame_equal(copied.coverage(), read.coverage())
    assert (copied.systems, copied.judges, copied.runs) == (read.systems, read.judges, read.runs)
    assert (copied.counts(), copied.scale, copied.has_runs) == (read.counts(), read.scale, read.has_runs)
    cases = [("binary", tie, 0) for tie in ("unknown", "fail", "pass")]
    for case in [*cases, ("ordered", "unknown", 0), ("ordered", "unknown", 1)]:
        ours, theirs = read.reduce(*case), copied.reduce(*case)
        for name in ("y", "levels", "n_agree", "n_total", "max_panel", "unanimous"):
            np.testing.assert_array_equal(
                getattr(ours, name), getattr(theirs, name), err_msg=f"{case} {name}"
            )
        for name in vars(theirs.pairs):
            np.testing.assert_array_equal(getattr(ours.pairs, name), getattr(theirs.pairs, name))
        assert (ours.n_labels, ours.n_judges) == (theirs.n_labels, theirs.n_judges)


def test_numbers_of_labels_raise_systems_as_in_the_copy(both):
    copied, read, _ = both
    for of, (response, tie) in product(
        ["labels", "runs"], [("binary", "fail"), ("binary", "pass"), ("ordered", "unknown")]
    ):
        np.testing.assert_array_equal(
            copied.raised_by_numbers(response, tie, of), read.raised_by_numbers(response, tie, of)
        )


def test_each_label_is_read_from_the_files(both):
    copied, read, _ = both
    rubric = copied.rubrics["rubric"].iloc[0]
    pd.testing.assert_frame_equal(copied.labels(rubric=rubric), read.labels(rubric=rubric))
    np.testing.assert_array_equal(copied.panel("ordered"), read.panel("ordered"))
    pd.testing.assert_frame_equal(copied.repeats(), read.repeats())


def test_rows_that_do_not_count_are_counted_as_those_of_an_ingest(both):
    copied, read, report = both
    history = copied._workspace.ingests("copied").iloc[0]
    assert report.totals.rejected == history["rejected"]
    assert report.totals.rows == history["accepted"] + history["rejected"]
    assert bool(report.totals.sentence) == bool(history["rejected"])
    assert {f.code for f in read.checks()} >= {"elsewhere"} | ({"unusable"} if history["rejected"] else set())


@pytest.fixture
def folder(tmp_path):
    return write(simulate("plain"), tmp_path / "labels")


def test_the_leaderboard_is_that_of_the_copy(ws, folder, tmp_path):
    simulate("plain").to_csv(tmp_path / "labels.csv", index=False)
    ws.ingest(tmp_path / "labels.csv", "copied")
    reference(ws, folder, "read")
    copied, read = (run_pipeline(ws.dataset(name), SETTINGS) for name in ("copied", "read"))
    pd.testing.assert_frame_equal(copied.leaderboard, read.leaderboard)
    pd.testing.assert_frame_equal(copied.bank, read.bank)


def test_the_fingerprint_is_of_the_files_wherever_they_lie(ws, folder, tmp_path):
    first = reference(ws, folder, "a").fingerprint
    shutil.copytree(folder, tmp_path / "elsewhere")  # keeps the times
    assert reference(ws, tmp_path / "elsewhere", "b").fingerprint == first
    some = next((tmp_path / "elsewhere").rglob("*.parquet"))
    os.utime(some, ns=(1, 1))
    assert reference(ws, tmp_path / "elsewhere", "c").fingerprint != first


@pytest.mark.parametrize(("harm", "word"), [("remove", "missing"), ("touch", "changed since")])
def test_a_missing_or_changed_file_is_said(ws, folder, harm, word):
    reference(ws, folder, "read")
    ds, file = ws.dataset("read"), min(folder.rglob("*.parquet"))
    file.unlink() if harm == "remove" else os.utime(file, ns=(1, 1))
    for ask in (lambda: ds.fingerprint, ds.reduce, ds.panel, ds.labels):
        with pytest.raises(DatasetError, match=f"judge=.* is {word}.*put the file back"):
            ask()
    assert ws.datasets()["name"].tolist() == ["read"], "the list of datasets reads no file"


@pytest.mark.parametrize(
    "change",
    [
        lambda ws: ws.ingest(b"system,query,rubric,judge,label\na,q,r,j,1\n", "read"),
        lambda ws: ws.ingest(b"rubric,query,weight\nr0,q0,2\n", "read", "rubrics"),
        lambda ws: ws.undo("read"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(ws, folder, change):
    before = reference(ws, folder, "read").fingerprint
    with pytest.raises(CrubricError, match="lie elsewhere"):
        change(ws)
    assert ws.dataset("read").fingerprint == before
    assert ws.ingests("read")["undo"].str.contains("lie elsewhere").all()


def test_descriptions_that_came_first_are_kept(ws, folder):
    ws.ingest(b"rubric,query,weight,text\nr0,q0,2.5,Cites\n", "read", "rubrics")
    reference(ws, folder, "read")
    found = ws.dataset("read").rubrics.set_index(["query", "text"])
    assert found.loc[("q0", "Cites"), "weight"] == 2.5
    with pytest.raises(DatasetError, match="has labels already"):
        reference(ws, folder, "read")


def test_a_label_off_a_given_scale_is_refused_and_nothing_is_kept(ws, tmp_path):
    folder = write(simulate("graded"), tmp_path / "labels")
    ws.ingest(b"rubric,query,scale_min,scale_max\nr0,q0,1,2\n", "read", "rubrics")
    with pytest.raises(IngestError, match="gives rubric 'r0' the scale 1 to 2"):
        reference(ws, folder, "read")
    assert ws.dataset("read").counts()["labels"] == 0


def test_it_can_be_copied_renamed_and_deleted(ws, folder):
    reference(ws, folder, "read")
    ws.duplicate("read", "copy")
    ws.rename("read", "renamed")
    ours, theirs = ws.dataset("copy").reduce(), ws.dataset("renamed").reduce()
    np.testing.assert_array_equal(ours.y, theirs.y)
    for name in ("copy", "renamed"):
        ws.delete(name)
    with ws.reading() as cursor:
        for table in ("cell_tallies", "judge_tallies", "rubric_tallies", "label_sources", "source_files"):
            assert cursor.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "There is no Parquet file at"),
        (b"system,query\n", "is no Parquet file"),
        (pd.DataFrame({"system": ["a"], "rubric": ["r"]}), "has no column 'query'"),
        (
            pd.DataFrame({"system": [None], "query": ["q"], "rubric": ["r"], "judge": ["j"], "label": [1]}),
            "No row can be used. Of 1 rows, 1 name no system",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(ws, tmp_path, content, why):
    if isinstance(content, bytes):
        (tmp_path / "x.parquet").write_bytes(content)
    elif content is not None:
        content.to_parquet(tmp_path / "x.parquet")
    with pytest.raises(IngestError, match=why):
        reference(ws, tmp_path, "read")
    assert ws.datasets().empty


def parts(tmp_path, **files):
    """A folder with a file of labels in each of the folders ``judge=a`` and ``judge=b``."""
    for judge, table in files.items():
        folder = tmp_path / "labels" / f"judge={judge}"
        folder.mkdir(parents=True)
        duckdb.from_df(table).write_parquet(str(folder / "part.parquet"))
    return tmp_path / "labels"


def test_files_of_other_types_are_neither_rounded_nor_merged(tmp_path):
    """The types of the first file once held for all: .5 became 0, and "01" was the query 1."""
    first = pd.DataFrame({"system": "s", "query": [1, 2], "rubric": "r", "label": [0, 1]})
    other = pd.DataFrame({"system": "s", "query": ["1", "01", "2"], "rubric": "r", "label": [1.0, 1.0, 0.5]})
    with Workspace() as ws:
        report = reference(ws, parts(tmp_path, a=first, b=other), "read")
        assert report.totals.faults == {"label": 1}
        assert sorted(ws.dataset("read").rubrics["query"]) == ["01", "1", "2"]


def test_runs_that_only_a_later_file_names_are_runs(tmp_path):
    """They were rows of one key, which contradicted each other."""
    first = pd.DataFrame({"system": ["s", "t"], "query": "q", "rubric": "r", "label": [0, 1]})
    other = pd.concat(
        [first.assign(run=0), first.assign(run=1, label=[1, 1]), first.assign(run=2, label=[1, 0])]
    )
    with Workspace() as ws:
        totals = reference(ws, parts(tmp_path, a=first, b=other), "read").totals
        assert (totals.repeated, totals.contradicting) == (0, 0)
        labels = ws.dataset("read").labels(rubric="r").query("judge == 'b'")
    assert labels.groupby("system")["label"].agg(list).to_dict() == {"s": [0, 1, 1], "t": [1, 1, 0]}


def test_a_file_without_a_column_or_of_another_folder_is_named(tmp_path):
    labels = pd.DataFrame({"system": ["s", "t"], "query": "q", "rubric": "r", "label": [0, 1]})
    lacking, repeating = labels.rename(columns={"label": "score"}), labels.assign(judge="b")
    with Workspace() as ws:
        with pytest.raises(IngestError, match=r"judge=b/part\.parquet has no column 'label'"):
            reference(ws, parts(tmp_path / "1", a=labels, b=lacking), "read")
        with pytest.raises(
            IngestError, match=r"judge=a/part\.parquet has 'b' as judge, and lies in a folder of judge 'a'"
        ):
            reference(ws, parts(tmp_path / "2", a=repeating, b=repeating), "read")
        reference(ws, parts(tmp_path / "3", a=labels, b=repeating), "read")
        assert ws.dataset("read").judges == ("a", "b")


def test_a_name_that_would_stand_for_other_files_is_refused(tmp_path):
    """DuckDB takes brackets for a pattern; it ended in a KeyError."""
    for name in ("a[1].parquet", "a1.parquet"):
        pd.DataFrame(
            {"system": ["s"], "query": ["q"], "rubric": ["r"], "judge": ["j"], "label": [1]}
        ).to_parquet(tmp_path / name)
    with (
        Workspace() as ws,
        pytest.raises(IngestError, match=r"a\[1\].parquet has one of \[, \* and \? in its name"),
    ):
        reference(ws, tmp_path, "d")
