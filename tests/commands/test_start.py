"""How the command line starts, what it says of itself, and the commands that it and the pages print."""

from __future__ import annotations

import importlib.metadata
import io
import json
import os
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import crubric_core
from crubric_core import environment
from crubric_core.__main__ import build_parser, main
from crubric_core.commands.catalogue import COMMANDS, GROUPS
from crubric_core.commands.terminal import print_document
from crubric_core.environment import program, recorded, typed, views_folder, workspace_path

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"numpy", "pandas", "scipy", "duckdb", "streamlit", "plotly"}


def loaded_by(source: str) -> set[str]:
    """The top-level modules that a fresh interpreter has after ``source``."""
    code = f"import atexit, sys\natexit.register(lambda: print(*sys.modules, file=sys.stderr))\n{source}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    return {name.split(".")[0] for name in done.stderr.split()}


@pytest.mark.parametrize(
    "source",
    [
        "import crubric_core",
        "from crubric_core.__main__ import main; main(['--help'])",
        "from crubric_core.__main__ import main; main(['--version'])",
        "from crubric_core.__main__ import main; main(['no-such-command'])",
    ],
)
def test_help_loads_nothing_that_computes(source: str) -> None:
    loaded = loaded_by(source)
    assert "crubric_core" in loaded
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.parametrize("command", ["app", "viewer"])
def test_a_server_starts_before_anything_that_computes_is_loaded(command: str) -> None:
    loaded = loaded_by(f"from crubric_core.__main__ import build_parser; build_parser(['{command}'])")
    assert "streamlit" in loaded
    assert loaded.isdisjoint({"numpy", "pandas", "scipy", "duckdb"})


@pytest.mark.parametrize("command", ["app", "viewer", "views"])
def test_the_help_states_the_files_that_are_used(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CRUBRIC_WORKSPACE", raising=False)
    monkeypatch.delenv("CRUBRIC_VIEWS", raising=False)
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    said = "".join(capsys.readouterr().out.split())
    assert f"or{views_folder()})" in said
    assert command != "app" or f"or{workspace_path()})" in said


def test_the_help_lists_every_command_in_its_group(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    said = capsys.readouterr().out
    assert re.findall(r"^(\w+):$", said, flags=re.MULTILINE)[-len(GROUPS) :] == list(GROUPS)
    for name, command in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(command.text)}$", said, flags=re.MULTILINE)


def test_where_the_output_lacks_letters_json_has_escapes_and_what_is_no_text_is_refused(
    tmp_path: Path,
) -> None:
    """Both ended in a traceback: a pipe on Windows, or a terminal of another encoding."""
    labels = "system,query,rubric,judge,label\nτ🤖,q,r,j,1\n"
    (tmp_path / "labels.csv").write_text(labels, encoding="utf-8")

    def crubric(*words: bytes | str) -> subprocess.CompletedProcess[str]:
        command = [
            sys.executable,
            "-m",
            "crubric_core",
            "ingest",
            "--workspace",
            tmp_path / "w.duckdb",
            *words,
        ]
        env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"}
        return subprocess.run(command, env=env, capture_output=True, text=True)

    done = crubric("--dataset", "μ🤖", str(tmp_path / "labels.csv"))
    assert (done.returncode, json.loads(done.stdout)["dataset"]) == (0, "μ🤖")
    done = crubric("--dataset", b"caf\xe9", str(tmp_path / "labels.csv"))
    assert (done.returncode, done.stderr.startswith("crubric: 'caf\\udce9' is not UTF-8: ")) == (2, True)


def test_a_document_of_json_is_json_where_the_output_lacks_letters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An emoji was written as \\U0001f43c, which JSON does not know."""
    monkeypatch.setattr(
        sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="backslashreplace")
    )
    print_document(json.dumps({"é🐼": "a\nb"}, ensure_ascii=False))
    sys.stdout.flush()
    written = sys.stdout.buffer.getvalue()  # type: ignore[attr-defined]
    assert (written, json.loads(written)) == (rb'{"\u00e9\ud83d\udc3c": "a\nb"}', {"é🐼": "a\nb"})


@pytest.mark.parametrize(
    ("typed", "name", "taken"),
    [
        ("scenario save --dataset d a", "names", ["a"]),
        ("scenario compare a --dataset d b", "names", ["a", "b"]),
        ("ingest a.csv --dataset d b.csv", "files", ["a.csv", "b.csv"]),
        ("ingest --dataset d -- -b.csv", "files", ["-b.csv"]),
        ("place --bank b --labels a.csv --labels b.csv", "labels", [Path("a.csv"), Path("b.csv")]),
        (
            "report --experiments sweep --dataset d --experiments ablation --out o",
            "experiments",
            ["sweep", "ablation"],
        ),
        ("app --port 1 -- --server.address a", "options", ["--server.address", "a"]),
    ],
)
def test_names_and_files_stand_before_between_and_after_options(
    typed: str, name: str, taken: list[str]
) -> None:
    words = typed.split()
    assert vars(build_parser([words[0]]).parse_args(words))[name] == taken


def test_the_modules_add_exactly_the_commands_of_the_catalogue() -> None:
    for module in {command.module for command in COMMANDS.values()}:
        (name, *_) = names = [name for name, command in COMMANDS.items() if command.module == module]
        (commands,) = (a for a in build_parser([name])._actions if a.choices)
        assert {n for n, parser in commands.choices.items() if parser.add_help} == set(names)


def test_linear_algebra_has_one_thread_unless_the_environment_names_a_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "6")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    with pytest.raises(SystemExit):
        main(["--version"])
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "6"


def test_every_public_name_is_there_and_listed() -> None:
    for name in crubric_core.__all__:
        assert getattr(crubric_core, name).__name__ == name
    assert set(crubric_core.__all__) <= set(dir(crubric_core))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = crubric_core.nothing


def test_the_installed_command_is_printed_as_it_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = tmp_path / "crubric"
    command.touch(mode=0o755)
    assert program(str(command)) == [str(command)]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program(str(command)) == ["crubric"]
    module = program("/somewhere/crubric_core/__main__.py")
    assert module == [sys.executable, "-m", "crubric_core"]


def test_a_printed_command_can_be_typed_and_a_recorded_one_names_no_folder_of_this_machine() -> None:
    words = ["build", "--dataset", "it's; mine", "--out", "a b"]
    *start, module = program()
    assert shlex.split(typed(*words)) == [*start, module, *words]
    assert shlex.split(recorded(*words)) == ["crubric", *words]


def test_a_workspace_is_in_the_working_folder_where_the_package_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("CRUBRIC_WORKSPACE", "CRUBRIC_VIEWS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(environment, "APP", environment._INSTALLED)
    assert environment.workspace_path().absolute() == tmp_path / "crubric.duckdb"
    assert environment.views_folder().absolute() == tmp_path / "crubric-views"
    monkeypatch.setenv("CRUBRIC_WORKSPACE", "other.duckdb")
    assert environment.workspace_path() == Path("other.duckdb")


@pytest.mark.parametrize(
    "words",
    [
        ["datasets"],
        ["check", "--dataset", "d"],
        ["types", "--dataset", "d"],
        ["build", "--dataset", "d", "--out", "out"],
        ["export", "--dataset", "d", "--out", "out"],
        ["publish", "--dataset", "d"],
    ],
    ids=lambda words: words[0],
)
def test_a_wrong_name_of_a_workspace_makes_no_file(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*words, "--workspace", "typo.duckdb"]) == 2
    said = capsys.readouterr().err
    assert "There is no workspace typo.duckdb" in said
    assert typed("demo", "--workspace", "typo.duckdb") in said
    assert list(tmp_path.iterdir()) == []


def test_the_version_is_the_one_that_is_installed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda name: f"1.2.3 of {name}")
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == "crubric 1.2.3 of calibrated-rubric\n"


@pytest.mark.parametrize("server", ["app", "viewer"])
def test_a_port_that_is_taken_is_refused_with_what_to_do(server, capsys, tmp_path):
    with socket.create_server(("localhost", 0)) as taken:
        port = taken.getsockname()[1]
        assert main([server, "--views", str(tmp_path), "--port", str(port)]) == 2
    assert (
        f"crubric: Port {port} is taken: stop what runs there, or choose another one"
        in capsys.readouterr().err
    )
