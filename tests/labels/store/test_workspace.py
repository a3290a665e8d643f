"""The file that holds the datasets: opening, threads, other processes, housekeeping."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

from crubric_core.errors import DatasetError, IngestError, WorkspaceError
from crubric_core.labels import Workspace
from crubric_core.labels.store.opening import SCHEMA_VERSION
from tests.tiers import at_most

ROOT = Path(__file__).resolve().parents[3]


def block(system: str, rubrics: int = 200, judges: int = 3) -> bytes:
    rows = (f"{system},q{r % 7},r{r},j{k},{(r + k) % 2}" for r in range(rubrics) for k in range(judges))
    return "\n".join(["system,query,rubric,judge,label", *rows]).encode()


def test_a_workspace_is_kept_in_its_file(tmp_path, table):
    path = tmp_path / "study.duckdb"
    with Workspace(path) as ws:
        before = ws.ingest(table("a q r j 1", "b q r j 0"), "d").fingerprint
    with Workspace(path) as ws:
        assert ws.dataset("d").fingerprint == before
        assert ws.dataset("d").reduce().y.tolist() == [[1], [0]]


def test_a_closed_workspace_says_so(table):
    with Workspace() as ws:
        ws.ingest(table("a q r j 1"), "d")
        ds = ws.dataset("d")
    with pytest.raises(WorkspaceError, match="is closed"):
        ds.reduce()


def test_a_file_that_is_no_database_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("no database\n" * 500)
    with pytest.raises(WorkspaceError, match=r"notes.txt is not a workspace"):
        Workspace(path)
    assert path.read_text().startswith("no database")


def test_a_database_of_something_else_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "other.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE shop AS SELECT 1 AS price")
    with pytest.raises(WorkspaceError, match="database of something else"):
        Workspace(path)
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("shop",)]


def test_a_workspace_of_another_schema_version_is_refused(tmp_path):
    path = tmp_path / "future.duckdb"
    Workspace(path).close()
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE settings SET value = '99' WHERE key = 'schema_version'")
    with pytest.raises(
        WorkspaceError, match=f"schema version 99, and this program reads versions up to {SCHEMA_VERSION}:"
    ):
        Workspace(path)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(WorkspaceError, match=r"no folder .*nowhere"):
        Workspace(tmp_path / "nowhere" / "study.duckdb")


def test_a_workspace_in_use_by_another_process_says_so(tmp_path):
    path = tmp_path / "study.duckdb"
    code = (
        "import sys; from crubric_core.labels import Workspace\n"
        "with Workspace(sys.argv[1]): print(1, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        text=True,
    ) as other:
        assert other.stdout.readline() == "1\n"
        with pytest.raises(
            WorkspaceError, match=rf"is in use by another process \(PID {other.pid}\): close it"
        ):
            Workspace(path)
        other.communicate("\n")
    Workspace(path).close()


def test_two_handles_of_one_process_share_the_file(tmp_path, table):
    path = tmp_path / "study.duckdb"
    with Workspace(path) as one, Workspace(path) as two:
        one.ingest(table("a q r j 1"), "d")
        two.ingest(table("b q r j 1"), "d")
        assert one.dataset("d").systems == two.dataset("d").systems == ("a", "b")


def test_readers_see_whole_ingests_while_one_writes(tmp_path):
    """Every reading is a state between two ingests: systems × 200 rubrics × 3 judges, nothing in between."""
    writing, ingests = threading.Event(), at_most(4, 8)
    with Workspace(tmp_path / "study.duckdb") as ws:
        ws.ingest(block("s000"), "d")

        def read(_: int) -> list[int]:
            seen = []
            while not writing.is_set():
                found = ws.dataset("d").reduce()
                assert found.n_labels == len(found.systems) * 600
                assert found.y.shape == (len(found.systems), 200)
                assert (found.n_total == len(found.systems)).all()
                seen.append(len(found.systems))
            return seen

        with ThreadPoolExecutor(4) as pool:
            readers = [pool.submit(read, i) for i in range(4)]
            try:
                for i in range(1, ingests + 1):
                    ws.ingest(block(f"s{i:03}"), "d")
            finally:
                writing.set()
            for reader in readers:
                assert reader.result() == sorted(reader.result())
        assert len(ws.dataset("d").systems) == ingests + 1


def test_writers_in_several_threads_lose_nothing(tmp_path):
    with Workspace(tmp_path / "study.duckdb") as ws:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda i: ws.ingest(block(f"s{i}", 20), f"d{i % 2}"), range(12)))
        assert [len(ws.dataset(d).systems) for d in ("d0", "d1")] == [6, 6]
        assert ws.datasets()["labels"].tolist() == [360, 360]
        assert ws.ingests("d0")["ingest_id"].is_unique


def test_a_failure_in_the_middle_leaves_no_trace(ws, table):
    ws.ingest(table("a q r j 1"), "d")

    class StopError(Exception):
        pass

    def stop(share: float, _message: str) -> None:
        if share > 0.8:
            raise StopError

    with pytest.raises(StopError):
        ws.ingest(table("b q r j 1"), "d", progress=stop)
    assert ws.dataset("d").systems == ("a",)
    ws.ingest(table("b q r j 1"), "d")
    assert ws.dataset("d").systems == ("a", "b")


def test_an_unknown_dataset_is_answered_with_those_there_are(ws, table):
    with pytest.raises(DatasetError, match=r"no dataset 'x': there is none yet"):
        ws.dataset("x")
    ws.ingest(table("a q r j 1"), "d")
    with pytest.raises(DatasetError, match=r"no dataset 'x': there are 'd'"):
        ws.dataset("x")


def test_datasets_are_listed_with_their_sizes(ws, table):
    assert ws.datasets().empty
    ws.ingest(table("a q r j 1", "b q r k 0", "b q s k NA"), "two")
    ws.ingest(table("a q r j 1"), "one")
    found = ws.datasets()
    assert found["name"].tolist() == ["one", "two"]
    assert found.iloc[1][["systems", "queries", "rubrics", "judges", "labels"]].tolist() == [2, 1, 2, 2, 2]
    assert found["fingerprint"].tolist() == [ws.dataset(n).fingerprint for n in ("one", "two")]


def test_deleting_a_dataset_leaves_nothing_of_it_and_all_of_the_others(ws, table):
    for name in ("gone", "kept"):
        ws.ingest(table("a q r j 1", "b q r j maybe"), name)
        ws.ingest(b"system,rubric,label\na,r,1\n", name, "gold")
        ws.ingest(b"system,rank\na,1\n", name, "reference")
        ws.ingest(b"query,text\nq,why?\n", name, "queries")
    before = ws.dataset("kept").fingerprint
    deleted = ws.dataset("gone")
    ws.delete("gone")
    assert ws.datasets()["name"].tolist() == ["kept"]
    assert ws.dataset("kept").fingerprint == before
    with ws.reading() as cursor:
        for table_name in ("labels", "gold", "reference_ranking", "rubrics", "queries", "systems", "judges"):
            assert len(cursor.execute(f"SELECT DISTINCT dataset_id FROM {table_name}").fetchall()) == 1
        assert cursor.execute("SELECT count(*) FROM rejects").fetchall() == [(1,)]
    ws.ingest(table("a q r j 0"), "gone")
    assert ws.dataset("gone").reduce().y.tolist() == [[0]]
    reads = [
        lambda: deleted.fingerprint,
        lambda: deleted.systems,
        deleted.counts,
        deleted.labels,
        deleted.reduce,
    ]
    for read in reads:
        with pytest.raises(DatasetError, match="'gone' was deleted"):
            read()


def test_the_id_of_a_deleted_dataset_is_never_used_again(tmp_path, table):
    """Who still holds it would read, or write, another dataset's."""
    path, seen = tmp_path / "w.duckdb", []
    for name in ("first", "second", "third"):
        with Workspace(path) as ws:
            ws.ingest(table("a q r j 1"), name)
            seen.append(ws.dataset(name).id)
            ws.duplicate(name, "copy")
            seen.append(ws.dataset("copy").id)
            ws.delete("copy")
            ws.undo(name)
            assert ws.datasets().empty
    assert len(set(seen)) == len(seen)


def test_a_handle_follows_its_dataset_to_another_name(ws, table):
    ws.ingest(table("a q r j 1"), "d")
    handle = ws.dataset("d")
    ws.rename("d", "e")
    assert handle.systems == ("a",)
    assert handle.name == "e"


def test_names_of_datasets_have_no_spaces_around_them(ws, table):
    ws.ingest(table("a q r j 1"), " d ")
    ws.ingest(table("b q r j 1"), "d")
    ws.duplicate("d", " e")
    ws.rename("e", "f ")
    assert ws.datasets()["name"].tolist() == ["d", "f"]
    assert ws.dataset("f").systems == ("a", "b")


def test_renaming_keeps_the_content_and_refuses_a_taken_name(ws, table):
    ws.ingest(table("a q r j 1"), "d")
    ws.ingest(table("a q r j 0"), "taken")
    before = ws.dataset("d").fingerprint
    ws.rename("d", "e")
    assert ws.dataset("e").fingerprint == before
    with pytest.raises(DatasetError, match="'taken' already"):
        ws.rename("e", "taken")
    with pytest.raises(DatasetError, match="blank"):
        ws.rename("e", " ")
    with pytest.raises(DatasetError, match="no dataset 'd'"):
        ws.rename("d", "f")


def test_every_file_that_was_ingested_is_listed(ws, table):
    ws.ingest(table("a q r j 1", "b q r j oops"), "d", name="labels.csv")
    ws.ingest(b"rubric,weight\nr,2\n", "d", "rubrics", name="rubrics.csv")
    with pytest.raises(IngestError):
        ws.ingest(b"", "d", name="empty.csv")
    found = ws.ingests("d")
    assert found[["kind", "source", "accepted", "rejected"]].values.tolist() == [
        ["labels", "labels.csv", 1, 1],
        ["rubrics", "rubrics.csv", 1, 0],
    ]
