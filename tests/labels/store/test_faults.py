"""A damaged, a locked and a read-only workspace; a backup while it is used, and its way back; what kills leave."""

from __future__ import annotations

import ast
import os
import random
import re
import subprocess
import sys
import threading
import time
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import duckdb
import pytest

from crubric_core.errors import InUseError, WorkspaceError
from crubric_core.jobs.backups import Backups, answer
from crubric_core.labels import Workspace
from crubric_core.labels.readers.scratch import DAY, scratch_folder, sweep
from crubric_core.labels.store import backup as backups
from tests.faults import ROOT, die, killed, no_room, read_only
from tests.labels.store.test_crash import block, content

BLOCK = 262_144  # bytes of a block of the database


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    path = tmp_path / "study.duckdb"
    with Workspace(path) as ws:
        ws.ingest(block(range(12), 0), "d", name="first.csv")
        ws.ingest(block(range(6, 14), 1), "d", on_conflict="last", name="second.csv")
    return path


def read_all(path: Path) -> None:
    with Workspace(path) as ws:
        ds = ws.dataset("d")
        ds.counts(), ds.labels(), ds.reduce(), ws.ingests("d"), ws.rejects("d")


def test_a_damaged_block_is_said_with_the_way_back_and_nothing_is_claimed_of_the_data(
    workspace: Path,
) -> None:
    whole, told = workspace.read_bytes(), []
    for start in range(0, len(whole), BLOCK):
        spoiled = bytearray(whole)
        for at in range(start + 40, min(start + 3_000, len(whole)), 97):
            spoiled[at] ^= 0xFF
        workspace.write_bytes(spoiled)
        try:
            read_all(workspace)
        except WorkspaceError as error:
            told.append(str(error))
    assert len(told) >= 2
    for sentence in told:
        assert re.search(
            r"is damaged \(.+\)\. Stop every program .* restore --workspace .* BACKUP", sentence
        ), sentence
        assert "as it was" not in sentence
        assert "unchanged" not in sentence


def test_a_damaged_block_that_a_writer_meets_is_said_in_the_same_words(workspace: Path) -> None:
    whole, told = workspace.read_bytes(), []
    for start in range(3 * 4096, len(whole), BLOCK):
        spoiled = bytearray(whole)
        for at in range(start + 40, min(start + 3_000, len(whole)), 97):
            spoiled[at] ^= 0xFF
        workspace.write_bytes(spoiled)
        try:
            with Workspace(workspace) as ws:
                ws.undo("d")
        except WorkspaceError as error:
            told.append(str(error))
        workspace.with_name("study.duckdb.wal").unlink(missing_ok=True)
    assert told
    assert all("is damaged (" in sentence and "as it was" not in sentence for sentence in told)


LOOK = """
import sys
from crubric_core.errors import WorkspaceError
from crubric_core.labels import Workspace
with Workspace(sys.argv[1]) as ws:
    ds = ws.dataset("d")
    ws.backup(sys.argv[2])
    print(ds.fingerprint, ds.reduce().n_labels, len(ds.labels()), len(ws.ingests("d")))
    for change in (lambda: ws.undo("d"), lambda: ws.ingest(b"system,query,rubric,judge,label\\na,q,r,j,1\\n", "d")):
        try:
            change()
        except WorkspaceError as error:
            print(error)
"""


@pytest.mark.parametrize("unsettled", [False, True], ids=["resolved_levels", "with a log beside it"])
def test_a_workspace_that_cannot_be_written_can_be_looked_at(tmp_path: Path, unsettled: bool) -> None:
    folder = tmp_path / "archive"
    folder.mkdir()
    path = folder / "study.duckdb"
    with Workspace(path) as ws:
        ws.ingest(block(range(12), 0), "d")
        if unsettled:
            ws.ingest(block(range(12, 13), 0), "d")
            copies = {p.name: p.read_bytes() for p in folder.iterdir()}
        ds = ws.dataset("d")
        expected = [ds.fingerprint, ds.reduce().n_labels, len(ds.labels()), len(ws.ingests("d"))]
    if unsettled:
        for name, data in copies.items():
            (folder / name).write_bytes(data)
    first, *refused = read_only(folder, LOOK, path, tmp_path / "copy.duckdb").splitlines()
    assert first.split() == [str(value) for value in expected]
    assert len(refused) == 2
    assert all("can be looked at and not changed" in sentence for sentence in refused)
    with Workspace(tmp_path / "copy.duckdb") as ws:
        assert ws.dataset("d").fingerprint == expected[0]


def test_a_backup_is_one_state_though_others_write_meanwhile(workspace: Path, tmp_path: Path) -> None:
    states, stopped = set(), threading.Event()
    with Workspace(workspace) as ws:
        states.add(ws.dataset("d").fingerprint)

        def write() -> None:
            for n in range(3):
                ws.ingest(block(range(20 + n, 21 + n), 0), "d")
                states.add(ws.dataset("d").fingerprint)
            stopped.set()

        writer = threading.Thread(target=write)
        writer.start()
        copies = []
        while not copies or (not stopped.is_set() and len(copies) < 3):
            copies.append(ws.backup(tmp_path / f"copy{len(copies)}.duckdb"))
        writer.join()
    for copy in copies:
        backups.check_whole(copy)
        with Workspace(copy) as found:
            assert found.dataset("d").fingerprint in states
            assert found.dataset("d").counts()["labels"] % 450 == 0, "whole ingests alone"


@pytest.mark.parametrize("name", ["table.csv", "workspace.duckdb"])
def test_a_file_that_is_no_backup_is_refused_by_its_content(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("system,rubric,label\na,r,1\n")
    with pytest.raises(WorkspaceError, match=r"is no workspace: name a backup of one"):
        backups.check_whole(tmp_path / name)
    with pytest.raises(WorkspaceError, match=r"cannot be read \(No such file or directory\)"):
        backups.check_whole(tmp_path / f"no {name}")


def test_a_backup_without_room_is_a_sentence_and_leaves_nothing(workspace: Path, tmp_path: Path) -> None:
    with Workspace(workspace) as ws:
        with (
            no_room(8_192),
            pytest.raises(WorkspaceError, match=r"could not be written \(the disk is full\)"),
        ):
            ws.backup(tmp_path / "copy.duckdb")
        assert ws.dataset("d").counts()["labels"] > 0
    assert [p.name for p in tmp_path.iterdir()] == ["study.duckdb"]


def test_a_backup_is_asked_of_the_program_that_has_the_workspace_open(
    workspace: Path, tmp_path: Path
) -> None:
    with Workspace(workspace) as ws:
        answering = Backups(ws, every=0.05)
        try:
            command = [sys.executable, "-m", "crubric_core", "backup", "--workspace", str(workspace)]
            done = subprocess.run(
                [*command, "--out", str(tmp_path / "copy.duckdb"), "--patience", "60"],
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            answering.close()
    assert (done.returncode, done.stderr) == (0, "")
    assert content(tmp_path / "copy.duckdb") == content(workspace)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["copy.duckdb", "study.duckdb"]


def test_a_backup_waits_for_another_that_is_asked_for(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from crubric_core.commands import backup as command

    monkeypatch.setattr(command, "Workspace", lambda path: raised(InUseError("It is in use.")))
    backups.request_path(workspace).write_text("a" * 32)
    with Workspace(workspace) as ws:
        meanwhile = SimpleNamespace(monotonic=time.monotonic, sleep=lambda seconds: answer(ws))
        monkeypatch.setattr(command, "time", meanwhile)
        command.run_backup(Namespace(workspace=workspace, out=tmp_path / "copy.duckdb", patience=60))
        other, _ = backups.answer_paths(workspace, "a" * 32)
        assert content(other) == content(tmp_path / "copy.duckdb") == content(workspace)
    assert not backups.request_path(workspace).exists()


def test_a_request_that_nobody_finished_holds_up_no_backup(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from crubric_core.commands import backup as command

    monkeypatch.setattr(command, "Workspace", lambda path: raised(InUseError("It is in use.")))
    backups.request_path(workspace).touch()
    with Workspace(workspace) as ws:
        later = time.time() + 2 * command.UNFINISHED
        meanwhile = SimpleNamespace(
            monotonic=time.monotonic, time=lambda: later, sleep=lambda seconds: answer(ws)
        )
        monkeypatch.setattr(command, "time", meanwhile)
        command.run_backup(Namespace(workspace=workspace, out=tmp_path / "copy.duckdb", patience=60))
        assert content(tmp_path / "copy.duckdb") == content(workspace)


def raised(error: Exception) -> NoReturn:
    raise error


def test_a_program_that_does_not_answer_is_named(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from crubric_core.__main__ import main
    from crubric_core.commands import backup as command

    def locked(_path: Path) -> Workspace:
        raise InUseError("The workspace is in use by another process (PID 1).")

    monkeypatch.setattr(command, "Workspace", locked)
    options = ["--workspace", str(workspace), "--out", str(tmp_path / "copy.duckdb"), "--patience", "0"]
    assert main(["backup", *options]) == 2
    assert "did not answer a request for a backup" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["study.duckdb"]


def test_a_restored_workspace_is_the_backup_and_the_damaged_one_is_kept(
    workspace: Path, tmp_path: Path
) -> None:
    with Workspace(workspace) as ws:
        copy = ws.backup(tmp_path / "copy.duckdb")
    before = content(workspace)
    workspace.write_bytes(b"damaged")
    workspace.with_name("study.duckdb.wal").write_bytes(b"of the damaged one")
    kept = backups.restore(copy, workspace)
    assert kept is not None
    assert kept.read_bytes() == b"damaged"
    assert kept.with_name(f"{kept.name}.wal").read_bytes() == b"of the damaged one"
    assert content(workspace) == before == content(copy)


def test_a_log_without_its_workspace_is_set_aside_and_a_backup_with_one_is_refused(
    workspace: Path, tmp_path: Path
) -> None:
    """The restored workspace could not be opened, or lacked what the backup's log held."""
    with Workspace(workspace) as ws:
        copy = ws.backup(tmp_path / "copy.duckdb")
    workspace.unlink()
    workspace.with_name("study.duckdb.wal").write_bytes(b"of one that is gone")
    assert backups.restore(copy, workspace) is None
    assert content(workspace) == content(copy)
    copy.with_name("copy.duckdb.wal").write_bytes(b"")
    with pytest.raises(WorkspaceError, match=r"has not taken in its log copy.duckdb.wal: open it once"):
        backups.restore(copy, workspace)


def test_a_workspace_that_this_process_has_open_is_not_replaced(workspace: Path, tmp_path: Path) -> None:
    with Workspace(workspace) as ws:
        copy = ws.backup(tmp_path / "copy.duckdb")
        with pytest.raises(WorkspaceError, match="is in use"):
            backups.restore(copy, workspace)


def test_opening_a_workspace_again_deletes_nothing_of_who_has_it_open(workspace: Path) -> None:
    with Workspace(workspace):
        mine = workspace.with_name("study.duckdb.tmp")
        mine.mkdir(exist_ok=True)
        (mine / "spilled").write_bytes(b"x")
        with Workspace(workspace):
            assert (mine / "spilled").exists()
    with Workspace(workspace):
        assert not (mine / "spilled").exists()


def test_what_is_no_sound_backup_is_not_put_in_anybodys_place(workspace: Path, tmp_path: Path) -> None:
    before, other = workspace.read_bytes(), tmp_path / "other.duckdb"
    with duckdb.connect(str(other)) as connection:
        connection.execute("CREATE TABLE x (y INTEGER)")
    spoiled = tmp_path / "spoiled.duckdb"
    data = bytearray(before)
    for at in range(len(data) // 2, len(data), 1_000):
        data[at] ^= 0xFF
    spoiled.write_bytes(data)
    for wrong in (other, spoiled, tmp_path / "nowhere.duckdb"):
        with pytest.raises(WorkspaceError, match="name a"):
            backups.restore(wrong, workspace)
        assert workspace.read_bytes() == before


def test_a_workspace_in_use_is_not_replaced(workspace: Path, tmp_path: Path) -> None:
    with Workspace(workspace) as ws:
        copy = ws.backup(tmp_path / "copy.duckdb")
    hold = f"import duckdb, sys; c = duckdb.connect({str(workspace)!r}); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(WorkspaceError, match="is in use"):
            backups.restore(copy, workspace)
        with pytest.raises(InUseError, match=r"in use by another process \(PID \d+\)"):
            Workspace(workspace)
        holder.communicate()


def test_a_backup_killed_at_any_moment_leaves_the_workspace_whole_and_the_next_opening_sweeps(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(workspace)
    copy = tmp_path / "study.duckdb.backup-1"

    def work() -> None:
        with Workspace(workspace) as ws:
            ws.backup(copy)

    with monkeypatch.context() as patched:
        patched.setattr(backups, "_sync", die)
        killed(work)
    assert (tmp_path / "study.duckdb.backup-1.part").exists()
    assert content(workspace) == before
    assert [p.name for p in tmp_path.iterdir()] == ["study.duckdb"]


def test_what_kills_left_beside_a_workspace_is_swept_and_nothing_else(workspace: Path) -> None:
    left = [
        "study.duckdb.part",
        "study.duckdb.v1.part",
        "study.duckdb.v1.part.wal",
        "study.duckdb.backup-9.part",
    ]
    others = ["study.duckdb.v1", "other.duckdb.v1.part", "notes.part", "study.duckdb.before-2030"]
    for name in left + others:
        (workspace.parent / name).write_bytes(b"x")
    (workspace.parent / "study.duckdb.tmp").mkdir()
    Workspace(workspace).close()
    assert sorted(p.name for p in workspace.parent.iterdir()) == sorted([*others, "study.duckdb"])


def test_folders_of_processes_that_are_gone_are_swept(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    old = time.time() - 2 * DAY
    for name in (f"crubric-{gone.pid}-a", f"crubric-{os.getpid()}-b", "crubric-x-c", "other-1-d"):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (old, old))
    (tmp_path / f"crubric-{gone.pid}-young").mkdir()
    sweep(tmp_path)
    left = sorted(p.name for p in tmp_path.iterdir())
    assert left == sorted(
        [f"crubric-{os.getpid()}-b", "crubric-x-c", "other-1-d", f"crubric-{gone.pid}-young"]
    )


def test_a_scratch_folder_has_its_process_in_its_name_and_is_gone_afterwards() -> None:
    with scratch_folder() as folder:
        assert Path(folder).name.startswith(f"crubric-{os.getpid()}-")
    assert not Path(folder).exists()


def connects() -> list[tuple[Path, str]]:
    """Every call of duckdb.connect in the program."""
    return [
        (path, ast.unparse(node))
        for room in ("labels", "sharing")
        for path in (ROOT / "crubric_core" / room).glob("**/*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "duckdb.connect"
    ]


def test_no_connection_of_ours_loads_extensions_by_itself(workspace: Path) -> None:
    assert len(connects()) > 5
    for path, call in connects():
        assert re.search(r"config=(dict\(LOCAL\)|\{\*\*LOCAL)", call), (path, call)
    asked = (
        "SELECT current_setting('autoload_known_extensions'), current_setting('autoinstall_known_extensions')"
    )
    with Workspace(workspace) as ws:
        assert ws.cursor().execute(asked).fetchone() == (False, False)


def test_a_clock_that_goes_backwards_changes_no_order_of_ingests(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ingests are ordered by their number, and undone in that order, whatever their time says."""
    with Workspace(workspace) as ws:
        fingerprint = ws.dataset("d").fingerprint
        ws.ingest(block(range(30, 31), 0), "d", name="third.csv")
        with ws.writing() as cursor:
            cursor.execute(
                "UPDATE ingests SET ingested_at = TIMESTAMP '1999-01-01' WHERE source = 'third.csv'"
            )
        assert ws.ingests("d")["source"].tolist()[-1] == "third.csv"
        ws.undo("d")
        assert ws.dataset("d").fingerprint == fingerprint


def test_random_bytes_are_no_workspace(tmp_path: Path) -> None:
    path = tmp_path / "noise.duckdb"
    path.write_bytes(random.Random(0).randbytes(300_000))
    with pytest.raises(WorkspaceError, match="is not a workspace"):
        Workspace(path)


def test_a_pipe_is_no_workspace(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.duckdb")
    with pytest.raises(WorkspaceError, match="no plain file"):
        Workspace(tmp_path / "pipe.duckdb")
