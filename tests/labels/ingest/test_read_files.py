"""Of a folder that is ingested again only new and changed files are read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.ingest.read_files import WHY
from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.readers.policies import Policies
from tests.labels.ingest.test_undo import label_map

HEADER = "system,query,rubric,judge,label\n"


@pytest.fixture
def folder(tmp_path):
    """Two files of labels."""
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text(f"{HEADER}{name},q,r,j,1\n{name},q,s,j,0\n")
    return tmp_path


def skipped(report) -> list[str]:
    return [note for note in report.notes if WHY in note]


def test_a_file_that_has_not_changed_is_not_read_again(ws, folder):
    ws.ingest(folder, "d")
    (folder / "c.csv").write_text(f"{HEADER}c,q,r,j,1\n")
    report = ws.ingest(folder, "d")
    assert (report.accepted, report.changes.added, report.changes.same) == (1, 1, 0)
    assert skipped(report) == [f"a.csv, b.csv were skipped: {WHY}."]
    assert len(label_map(ws)) == 5


def test_a_file_with_another_row_is_read(ws, folder):
    ws.ingest(folder, "d")
    with (folder / "b.csv").open("a") as file:
        file.write("z,q,r,j,1\n")
    report = ws.ingest(folder, "d")
    assert (report.accepted, report.changes.added, report.changes.same) == (3, 1, 2)
    assert skipped(report) == [f"a.csv was skipped: {WHY}."]


@pytest.mark.parametrize("policies", [Policies(fractions="down"), Policies("last")])
def test_it_is_read_again_where_it_is_to_be_read_otherwise_or_to_count_again(ws, folder, policies):
    ws.ingest(folder, "d", policies=Policies(policies.on_conflict))
    (folder / "c.csv").write_text(f"{HEADER}c,q,r,j,1\n")
    report = ws.ingest(folder, "d", policies=policies)
    assert (report.accepted, skipped(report)) == (5, [])


def test_an_ingest_that_was_undone_has_read_nothing(ws, folder):
    ws.ingest(f"{HEADER}z,q,r,j,1\n".encode(), "d")
    ws.ingest(folder, "d")
    ws.undo("d")
    (folder / "c.csv").write_text(f"{HEADER}c,q,r,j,1\n")
    assert ws.ingest(folder, "d").accepted == 5


def test_a_preview_and_a_failed_ingest_are_not_remembered(ws, folder):
    ws.preview(folder, "d")
    assert ws.ingest(folder, "d").accepted == 4
    (folder / "a.csv").write_text(f"{HEADER}a,q,r,j,never\n")
    with pytest.raises(IngestError):
        ws.ingest(folder, "d")
    (folder / "c.csv").write_text(f"{HEADER}c,q,r,j,1\n")
    (folder / "a.csv").write_text(f"{HEADER}a,q,r,j,1\na,q,s,j,0\n")
    assert ws.ingest(folder, "d").accepted == 1


def test_a_folder_of_which_nothing_changed_says_what_was_known(ws, folder):
    before = ws.ingest(folder, "d").fingerprint
    report = ws.ingest(folder, "d")
    assert (report.changes.same, report.fingerprint) == (4, before)


def test_a_file_is_read_again_where_other_columns_are_ground_truth(ws, tmp_path):
    """It was skipped as read in the same way, and its ground truth was lost."""
    for name in "abc":
        (tmp_path / f"{name}.csv").write_text(f"system,query,rubric,judge,label,expert\n{name},q,r,j,1,1\n")
    plan = plan_ingest(tmp_path)
    first = replace(plan, files=tuple(replace(f, gold=(), skip=f.name == "c.csv") for f in plan.files))
    ws.ingest_plan(first, "d", tmp_path)
    again = plan_ingest(tmp_path)
    ws.ingest_plan(
        replace(again, files=tuple(replace(f, gold=("expert",)) for f in again.files)), "d", tmp_path
    )
    assert len(ws.dataset("d").gold()) == 3
