"""Packaging: the wheel, which contains the dashboard, the lock files, the image and the workflow."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from crubric_core.__main__ import build_parser
from tests.security.servers import Server, Talk, free_port, started
from tests.test_layers import imported

ROOT = Path(__file__).resolve().parents[1]
BUILT = (
    "app.py",
    "crubric_core",
    "pages",
    ".streamlit",
    "pyproject.toml",
    "requirements.txt",
    "README.md",
    "LICENSE",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of its source files."""
    pytest.importorskip("hatchling")
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in BUILT:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(source)]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = out.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with only our installed package; its dependencies are those of this interpreter."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", folder, wheel]
    subprocess.run(pip, check=True, capture_output=True)
    return folder


@pytest.fixture
def outside(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder outside the repository, with the installed command on the path."""
    for name in ("CRUBRIC_WORKSPACE", "CRUBRIC_VIEWS", "CRUBRIC_ROLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONPATH", str(installed))
    monkeypatch.setenv("PATH", str(installed / "bin"), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def crubric(*words: str) -> str:
    done = subprocess.run(["crubric", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_wheel_holds_the_dashboard_and_nothing_of_the_tests(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    pages = {f"crubric_core/_app/pages/{page.name}" for page in (ROOT / "pages").glob("*.py")}
    assert pages
    assert {*pages, "crubric_core/_app/app.py", "crubric_core/_app/.streamlit/config.toml"} <= names
    data = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "crubric_core").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert data <= names
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"crubric_core"}
    assert not any("secrets" in name or "__pycache__" in name for name in names)


@pytest.mark.slow
def test_the_installed_command_works_outside_the_checkout(outside: Path) -> None:
    sample = ROOT / "data" / "sample_labels.csv"
    crubric("ingest", "--dataset", "sample", str(sample))
    assert (outside / "crubric.duckdb").is_file()
    crubric("build", "--dataset", "sample", "--budget", "10", "--out", "out")
    assert (outside / "out" / "leaderboard.csv").is_file()
    message = subprocess.run(
        ["crubric", "build", "--workspace", "x", "--out", "o"], capture_output=True, text=True
    )
    assert "`crubric datasets --workspace x`" in message.stderr


@pytest.fixture
def dashboard(outside: Path) -> Iterator[Server]:
    """``crubric app`` in a working folder with a small workspace."""
    crubric("ingest", "--dataset", "sample", str(ROOT / "data" / "sample_labels.csv"))
    port = free_port()
    with started(outside / "log", ["crubric", "app", "--port", str(port)], port, cwd=outside) as server:
        yield server


@pytest.mark.slow
def test_the_installed_dashboard_shows_the_workspace_of_the_working_folder(dashboard: Server) -> None:
    with Talk(dashboard) as visitor:
        visitor.run()
        assert b"sample" in visitor.said()
        assert b"Leaderboard" in visitor.said()
    assert "Traceback" not in dashboard.log.read_text()
    assert str(dashboard.log.parent / "crubric.duckdb") in dashboard.log.read_text()


@pytest.mark.parametrize("name", ["requirements", "requirements-dev"])
def test_the_lock_holds_every_requirement_within_its_bounds_and_with_hashes(name: str) -> None:
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    lock = (ROOT / f"{name}.lock").read_text("utf-8")
    entries = [Requirement(line.removesuffix(" \\")) for line in re.findall(r"^[a-z].*$", lock, re.MULTILINE)]
    pinned = {canonicalize_name(entry.name): next(iter(entry.specifier)).version for entry in entries}
    assert lock.count("--hash=sha256:") >= len(entries)
    assert "http" not in re.sub(r"^http\S+==", "", lock, flags=re.MULTILINE)
    for line in (ROOT / f"{name}.txt").read_text("utf-8").splitlines():
        if line[:1].isalpha():
            wanted = Requirement(line)
            assert wanted.specifier.contains(pinned[canonicalize_name(wanted.name)]), line


def test_every_library_that_the_program_imports_is_a_requirement_of_its_own() -> None:
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    optional, for_types = {"distributed", "pyspark"}, {"_typeshed", "pyarrow"}
    of_module = packages_distributions()
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    required = {canonicalize_name(Requirement(line).name) for line in lines if line[:1].isalpha()}
    for path in (ROOT / "app.py", *(ROOT / "pages").glob("*.py"), *(ROOT / "crubric_core").rglob("*.py")):
        for module in imported(path) - sys.stdlib_module_names - optional - for_types - {"crubric_core"}:
            assert {canonicalize_name(name) for name in of_module[module]} & required, f"{path}: {module}"


def test_the_image_installs_locked_packages_and_runs_as_nobody_special() -> None:
    lines = [
        line for line in (ROOT / "Dockerfile").read_text("utf-8").splitlines() if not line.startswith("#")
    ]
    assert any("--require-hashes" in line and "requirements.lock" in line for line in lines)
    assert [line for line in lines if line.startswith("USER ")] == ["USER crubric"]
    assert lines.index("USER crubric") > max(i for i, line in enumerate(lines) if line.startswith("RUN"))
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    for line in lines:
        if line.startswith("COPY ") and "--from" not in line:
            for source in line.split()[1:-1]:
                assert (ROOT / source).exists(), source
                assert f"!{source}" in ignored


def test_the_image_copies_all_that_the_wheel_is_made_of() -> None:
    copies = re.findall(r"^COPY (.*)$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    copied = {word for line in copies for word in line.split()}
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]
    assert set(hatch["build"]["targets"]["wheel"]["force-include"]) <= copied
    assert set(hatch["metadata"]["hooks"]["requirements_txt"]["files"]) <= copied


def test_the_image_starts_commands_that_there_are_on_their_ports() -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8")
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    (entry,), (default,) = (
        [json.loads(line) for line in re.findall(rf"^{word} (.*)$", text, re.MULTILINE)]
        for word in ("ENTRYPOINT", "CMD")
    )
    assert entry[0] in scripts
    shown = re.findall(r"^# .*\bcrubric (\w+) --", text, re.MULTILINE)
    assert shown == ["viewer"]
    parser = build_parser([*default, *shown])
    ports = {str(parser.parse_args([name]).port) for name in (*default, *shown)}
    assert re.findall(r"^EXPOSE (.*)$", text, re.MULTILINE) == [" ".join(sorted(ports))]


def test_the_workflow_tests_every_python_that_the_package_claims() -> None:
    claimed = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text("utf-8"))
    (matrix,) = re.findall(r"python: \[(.*)\]", (ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    assert [version.strip('" ') for version in matrix.split(",")] == claimed
