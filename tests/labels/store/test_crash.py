"""Whatever stops a writer, the workspace holds what it held before, or all of what was asked for."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from crubric_core.labels import Workspace
from tests.tiers import at_most, crossed

ROOT = Path(__file__).resolve().parents[3]
WRITERS = {
    "ingest": "ws.ingest(source, 'd', on_conflict='last')",
    "undo": "ws.undo('d')",
    "duplicate": "ws.duplicate('d', 'copy')",
}
# A process that has all imported and forks one writer a line: starting Python anew would take most of the time.
FORKS = """
import os, resource, signal, sys, traceback
from crubric_core.errors import CrubricError
from crubric_core.labels import Workspace
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def write(writer, path, source, room):
    with Workspace(path) as ws:
        if room:
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(room), resource.RLIM_INFINITY))
        print("go", os.getpid(), flush=True)
        try:
            eval(writer)
            print("done", flush=True)
        except CrubricError as error:
            print("refused", error, flush=True)
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            print(*ws.datasets()["fingerprint"], len(ws.ingests("d")), flush=True)
            eval(writer)
            print("done", flush=True)
for line in sys.stdin:
    if not (child := os.fork()):
        try:
            write(*line.rstrip("\\n").split("\\t"))
        except BaseException as error:
            print("failed", *traceback.format_exception(error)[-1].splitlines(), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    print("ended", flush=True)
"""


def block(systems: range, label: int) -> bytes:
    rows = (
        f"s{i},q{j % 7},r{j},j{k},{(i * j + k + label) % 2}"
        for i in systems
        for j in range(150)
        for k in range(3)
    )
    return "\n".join(["system,query,rubric,judge,label", *rows]).encode()


def content(path: Path) -> dict[str, tuple]:
    """Everything that counts: each dataset's fingerprint, figures and history, recomputed."""
    with Workspace(path) as ws:
        found = {}
        for name in ws.datasets()["name"]:
            ds = ws.dataset(name)
            history = ws.ingests(name)[["kind", "source", "changes"]].values.tolist()
            found[name] = (ds.fingerprint, ds.counts()["labels"], ds.labels()["label"].sum(), history)
        return found


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A workspace with two ingests, and a file that adds systems and replaces labels."""
    folder = tmp_path_factory.mktemp("study")
    with Workspace(folder / "before.duckdb") as ws:
        ws.ingest(block(range(6), 0), "d", name="first.csv")
        ws.ingest(block(range(3, 20), 1), "d", on_conflict="last", name="second.csv")
    (folder / "third.csv").write_bytes(block(range(15, 60), 0))
    return folder


class Forks:
    """Writers in processes of their own."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", FORKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True
        )

    def line(self) -> str:
        return self.process.stdout.readline().rstrip("\n")

    def start(self, writer: str, path: Path, source: Path, room: str = "") -> int:
        """The process that writes, once it has opened the workspace."""
        self.process.stdin.write("\t".join([WRITERS[writer], str(path), str(source), room]) + "\n")
        self.process.stdin.flush()
        word, pid = self.line().split(" ", 1)
        assert word == "go", pid
        return int(pid)

    def end(self) -> list[str]:
        """What the writer said until it was gone."""
        said = []
        while (line := self.line()) != "ended":
            said.append(line)
        return said


@pytest.fixture(scope="module")
def forks():
    found = Forks()
    yield found
    found.process.stdin.close()
    found.process.wait()
    found.process.stdout.close()


def fresh(study: Path, path: Path) -> Path:
    path.write_bytes((study / "before.duckdb").read_bytes())
    path.with_name(path.name + ".wal").unlink(missing_ok=True)
    return path


@pytest.mark.parametrize(
    ("writer", "kills"), [("ingest", at_most(8, 20)), ("undo", at_most(5, 10)), ("duplicate", at_most(5, 10))]
)
def test_a_writer_killed_at_any_moment_leaves_the_state_before_or_after(
    study, forks, tmp_path, writer, kills
):
    before, source = content(study / "before.duckdb"), study / "third.csv"
    path = fresh(study, tmp_path / "whole.duckdb")
    forks.start(writer, path, source)
    started = time.monotonic()
    assert forks.line() == "done"
    duration = time.monotonic() - started
    assert forks.end() == []
    after = content(path)
    assert after != before
    moments = random.Random(f"{writer} killed")
    for number in range(kills):
        path = fresh(study, tmp_path / f"{number}.duckdb")
        process = forks.start(writer, path, source)
        time.sleep(moments.random() * duration)
        with suppress(ProcessLookupError):  # it was quicker
            os.kill(process, signal.SIGKILL)
        forks.end()
        assert content(path) in (before, after)
        path.unlink()


@pytest.mark.parametrize(("writer", "room"), crossed(list(WRITERS), [1, 1 << 12, 1 << 14]))
def test_a_full_disk_gives_a_sentence_and_the_state_before_and_once_there_is_room_all_goes_on(
    study, forks, tmp_path, writer, room
):
    path = fresh(study, tmp_path / "study.duckdb")
    with Workspace(path) as ws:
        before = f"{ws.dataset('d').fingerprint} {len(ws.ingests('d'))}"
    forks.start(writer, path, study / "third.csv", str(room))
    sentence, left, done = forks.end()
    assert sentence.startswith("refused ")
    assert "(the disk is full); the workspace is as it was" in sentence
    assert left == before
    assert done == "done"
    assert content(path) != content(study / "before.duckdb")
