"""A workspace of an earlier schema version opens, keeps everything, and lies beside itself as it was."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from crubric_core.errors import DatasetError, WorkspaceError
from crubric_core.labels import Workspace
from crubric_core.labels.ingest import fingerprint
from crubric_core.labels.store import opening
from crubric_core.labels.store.backup import restore
from crubric_core.labels.store.results import load_result
from tests.tiers import at_most

VERSION_1 = Path(__file__).with_name("version_1.sql").read_text()
FINGERPRINTS = {"fin": "67dc20fbe559c6458c88397d035d76a9", "tiny": "1d0e019dc1ced676ef737be3eb0b2a63"}


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "it's a study.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(VERSION_1)
    return path


def tables(path: Path) -> dict[str, list[tuple]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        names = [row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return {name: connection.execute(f'FROM "{name}" ORDER BY ALL').fetchall() for name in names}


def test_an_old_workspace_keeps_all_its_content(old):
    with Workspace(old) as ws:
        assert dict(ws.datasets()[["name", "fingerprint"]].values.tolist()) == FINGERPRINTS
        ds = ws.dataset("fin")
        with ws.writing() as cursor:
            assert fingerprint.renew(cursor, ds.id) == FINGERPRINTS["fin"], "computed anew it is the same"
        assert ds.systems == ("=c", "a", "b")
        assert ds.labels()["label"].tolist() == [1, 0, 0, 5, 0, 1, 3]
        assert ds.queries["type_source"].tolist() == ["edited", None]
        assert ds.rubrics["text"].tolist() == ["Names the source", "It's brief", "Warns, where it must"]
        assert len(ds.gold()) == len(ds.reference_ranking()) == 2
        assert ws.rejects("fin")["reason"].tolist() == ["9 lies outside the scale of r1, 1 to 5"]
        assert load_result(ws, FINGERPRINTS["tiny"], "crossfit", {"seed": 0}) == {"auc": 0.5}


def test_every_row_of_the_old_tables_is_there_afterwards(old):
    before = tables(old)
    Workspace(old).close()
    after = tables(old)
    for name, rows in before.items():
        width = len(rows[0])
        if name != "settings":
            assert [row[:width] for row in after[name]] == rows or name == "rubrics", name
    assert dict(after["settings"])["schema_version"] == str(opening.SCHEMA_VERSION)


def test_the_old_file_is_kept_beside_the_new_one(old):
    before = tables(old)
    Workspace(old).close()
    copy = old.with_name(f"{old.name}.v1")
    assert tables(copy) == before
    Workspace(old).close()
    assert sorted(p.name for p in old.parent.iterdir()) == [old.name, copy.name]


def test_what_an_old_release_ingested_stays_and_what_comes_later_can_be_taken_back(old):
    with Workspace(old) as ws:
        assert ws.ingests("fin")["undo"].str.contains("by an earlier release").all()
        with pytest.raises(
            DatasetError, match=r"task types .* cannot be undone: it was ingested by an earlier release"
        ):
            ws.undo("fin")
        ws.ingest(b"system,query,rubric,judge,label\na,q1,r1,j,1\nd,q1,r1,j,1\n", "fin", on_conflict="last")
        ws.ingest(b"rubric,query,weight\nr1,q1,7\n", "fin", "rubrics", on_conflict="last")
        assert ws.dataset("fin").rubrics["weight"].tolist()[0] == 7
        ws.undo("fin")
        ws.undo("fin")
        assert ws.dataset("fin").fingerprint == FINGERPRINTS["fin"]


def test_a_migration_that_fails_leaves_the_file_as_it_was(old, monkeypatch, tmp_path):
    before = tables(old)
    broken = tmp_path / "schema"
    broken.mkdir()
    (broken / "2.sql").write_text("CREATE TABLE halfway (x INTEGER); SELECT nonsense;")
    monkeypatch.setattr(opening, "_SCHEMA", broken)
    with pytest.raises(WorkspaceError, match=r"could not be brought to version \d+ .*; it is as it was"):
        Workspace(old)
    assert tables(old) == before


def test_a_new_workspace_has_the_same_tables_as_an_old_one_brought_up(old, tmp_path):
    Workspace(old).close()
    new = tmp_path / "new.duckdb"
    Workspace(new).close()
    columns = (
        "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal ORDER BY ALL"
    )
    found = []
    for path in (old, new):
        with duckdb.connect(str(path), read_only=True) as connection:
            found.append(connection.execute(columns).fetchall())
    assert found[0] == found[1]


RELEASES = {
    1: FINGERPRINTS,
    2: {"fin": "5e73b429d08c4a15a99404532023481f", "tiny": "1db3e2bf71d91f7a6bbd828b5ebca41f"},
    3: {"fin": "5fec8180fcb4d572763fa90af6d812a4", "tiny": "1db3e2bf71d91f7a6bbd828b5ebca41f"},
    4: {"fin": "5fec8180fcb4d572763fa90af6d812a4", "tiny": "1db3e2bf71d91f7a6bbd828b5ebca41f"},
    5: {"fin": "4941aa40c23994b838d37abfa7a98fe3", "tiny": "1db3e2bf71d91f7a6bbd828b5ebca41f"},
    6: {"fin": "4941aa40c23994b838d37abfa7a98fe3", "tiny": "1db3e2bf71d91f7a6bbd828b5ebca41f"},
    7: {"fin": "4941aa40c23994b838d37abfa7a98fe3", "tiny": "aeb5af4d2bb50341eba5d6aa082cdc41"},
    8: {"fin": "4941aa40c23994b838d37abfa7a98fe3", "tiny": "aeb5af4d2bb50341eba5d6aa082cdc41"},
}
EARLIER = {version: found for version, found in RELEASES.items() if version < opening.SCHEMA_VERSION}


@pytest.fixture(params=at_most([1, 5, max(EARLIER)], list(EARLIER)))
def written(request, tmp_path):
    """The version of an earlier release, and a file with the very rows that it wrote of two datasets."""
    path = tmp_path / "study.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(Path(__file__).with_name(f"version_{request.param}.sql").read_text("utf-8"))
    return request.param, path


def test_there_is_a_file_of_every_earlier_version():
    assert set(EARLIER) == set(range(1, opening.SCHEMA_VERSION))


def test_a_file_of_every_earlier_release_is_brought_up_copied_and_used_as_before(written):
    version, path = written
    before = tables(path)
    with Workspace(path) as ws:
        assert dict(ws.datasets()[["name", "fingerprint"]].values.tolist()) == EARLIER[version]
        ds = ws.dataset("fin")
        assert ds.counts()["labels"] == 7
        assert ds.reduce().n_labels > 0
        with ws.writing() as cursor:
            renewed = fingerprint.renew(cursor, ds.id)  # the release of version 2 computed it otherwise
        assert renewed == EARLIER[version]["fin"] or version == 2
        ws.ingest(b"system,query,rubric,judge,label\nd,q1,r1,j,1\n", "fin")
        ws.undo("fin")
        assert ws.dataset("fin").fingerprint == renewed
        backup = ws.backup(path.with_name("backup.duckdb"))
    assert tables(path.with_name(f"study.duckdb.v{version}")) == before
    with Workspace(backup) as ws:
        assert dict(ws.datasets()[["name", "fingerprint"]].values.tolist()) == EARLIER[version] | {
            "fin": renewed
        }


def test_an_earlier_file_that_cannot_be_written_is_left_alone_in_one_sentence(written):
    version, path = written
    says = rf"of schema version {version} and cannot be written: open a copy"
    with duckdb.connect(str(path), read_only=True) as connection, pytest.raises(WorkspaceError, match=says):
        opening.prepare(connection, str(path), read_only=True)


def test_a_backup_of_an_earlier_release_is_restored_and_brought_up(written, tmp_path):
    version, path = written
    restore(path, tmp_path / "new.duckdb")
    with Workspace(tmp_path / "new.duckdb") as ws:
        assert dict(ws.datasets()[["name", "fingerprint"]].values.tolist()) == EARLIER[version]
