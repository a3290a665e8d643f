"""The command line where the disk is full, its reader goes away, or a process is killed: no traceback, nothing lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from crubric_core.__main__ import CLOSED, main
from crubric_core.commands import analysis, data
from crubric_core.errors import ExportError, WorkspaceError
from crubric_core.files import write_files
from tests.faults import ROOT, no_room, on_a_small_disk

SAMPLE = ROOT / "data" / "sample_labels.csv"
COMMAND = [sys.executable, "-m", "crubric_core"]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with the sample."""
    path = tmp_path_factory.mktemp("kept") / "study.duckdb"
    assert main(["ingest", "--workspace", str(path), "--dataset", "d", str(SAMPLE)]) == 0
    return path


def test_results_that_find_no_room_leave_no_half_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"the earlier one")
    with no_room(10), pytest.raises(ExportError, match="could not be written"):
        write_files({"a.csv": b"x" * 100}, tmp_path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"a.csv": b"the earlier one"}


EXPERIMENT = """
import shutil, sys
from pathlib import Path
from crubric_core.__main__ import main
disk, kept, out = map(Path, sys.argv[1:])
shutil.copy(kept, disk / "study.duckdb")
with open(disk / "filler", "wb", buffering=0) as filler:
    try:
        while filler.write(bytes(4096)):
            pass
    except OSError:
        pass
sys.stderr = sys.stdout
print(main(["experiment", "sweep", "--workspace", str(disk / "study.duckdb"), "--dataset", "d", "--budget", "5",
            "--replicates", "5", "--out", str(out)]))
"""


def test_an_experiment_that_cannot_be_kept_is_written_all_the_same(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    said = on_a_small_disk(
        EXPERIMENT, tmp_path / "disk", workspace, tmp_path / "out", folder=tmp_path / "disk", megabytes=16
    )
    assert "note: the result of sweep is not kept in the workspace." in said
    assert "(the disk is full); the workspace is as it was." in said
    assert said.splitlines()[-1] == "0"
    assert json.loads((tmp_path / "out" / "sweep.json").read_text())["name"] == "sweep"


def test_a_report_is_written_though_its_experiments_cannot_be_kept(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise WorkspaceError("The change could not be stored (the disk is full); the workspace is as it was.")

    monkeypatch.setattr(analysis, "store_experiment", full)
    options = ["--workspace", str(workspace), "--dataset", "d", "--budget", "5", "--replicates", "5"]
    assert main(["report", *options, "--experiments", "sweep", "--out", str(tmp_path)]) == 0
    assert "is not kept in the workspace" in capsys.readouterr().err
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_a_reader_that_goes_away_ends_the_command_without_a_word(workspace: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "datasets", "--workspace", str(workspace)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=60), said) == (CLOSED, b"")


def test_ctrl_c_while_the_database_counts_ends_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """DuckDB makes an error of its own of it, which ended in a traceback."""

    def stopped(_: object) -> None:
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr(data, "run_datasets", stopped)
    assert main(["datasets"]) == 130
    assert capsys.readouterr().err == "crubric: stopped; no partial output remains.\n"


def test_output_that_finds_no_room_is_one_line(workspace: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "datasets", "--workspace", str(workspace)],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == b"crubric: the output: No space left on device.\n"
