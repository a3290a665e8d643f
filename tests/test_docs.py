"""Commands and examples in the documentation work.

In a ``console`` block every line that starts with ``$ crubric`` or ``$ python -m`` is run, in order, in a folder that
holds only the sample data; ``$ make`` lines must name a target. A ``python`` block is run there as a script.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import unicodedata
from pathlib import Path

import pytest

import crubric_core
from benchmarks.simulated_claims import CLAIMS
from crubric_core import Settings, Workspace, run_pipeline
from crubric_core.analysis.export import FILES

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("data/*.md")])
IDS = [str(page.relative_to(ROOT)) for page in PAGES]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[list[str]]:
    lines = "\n".join(blocks(page, "console")).splitlines()
    return [shlex.split(line.removeprefix("$ ")) for line in lines if line.startswith("$ ")]


def scripts(page: Path) -> list[list[str]]:
    """The commands and Python blocks of a page, as arguments for the interpreter."""
    starts = {"python": [], "crubric": ["-m", "crubric_core"]}
    lines = [[*starts[words[0]], *words[1:]] for words in commands(page) if words[0] in starts]
    return lines + [["-c", source] for source in blocks(page, "python")]


# Runs all scripts in one interpreter, since starting one for each would take most of the time.
RUNNER = """
import json, runpy, sys
for script in json.loads(sys.argv[1]):
    print("now:", *script, file=sys.stderr)
    if script[0] == "-c":
        exec(compile(script[1], "<example>", "exec"), {"__name__": "__main__"})
        continue
    sys.argv = ["", *script[2:]]
    try:
        runpy.run_module(script[1], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code:
            sys.exit(end.code if isinstance(end.code, int) else f"{end.code}")
"""


@pytest.fixture
def fresh_folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    for sample in (ROOT / "data").glob("sample_*"):
        shutil.copy(sample, tmp_path / "data")
    return tmp_path


@pytest.mark.parametrize("page", [p for p in PAGES if scripts(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_commands_and_examples_run_as_they_stand(page: Path, fresh_folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, json.dumps(scripts(page))],
        cwd=fresh_folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_command_is_of_a_kind_that_is_checked(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), flags=re.MULTILINE))
    for words in commands(page):
        if words[0] == "make":
            assert set(words[1:]) <= targets, f"no such target: {shlex.join(words)}"
        else:
            assert words[0] in {"crubric", "pytest"} or words[:2] == ["python", "-m"], shlex.join(words)
            assert words[0] != "python" or words[2].split(".")[0] == "crubric_core", shlex.join(words)


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_benchmark_that_a_page_names_is_there_with_its_options(page: Path) -> None:
    for name, rest in re.findall(r"python -m benchmarks\.(\w+)([^`\n#]*)", page.read_text("utf-8")):
        source, words = (ROOT / f"benchmarks/{name}.py").read_text("utf-8"), rest.split()
        assert [word for word in words if word.startswith("--") and f'"{word}"' not in source] == []
        assert name != "simulated_claims" or set(words[:1]) <= set(CLAIMS)


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_between_the_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?://)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    kept = [c for c in heading.lower() if c in "-_ " or unicodedata.category(c)[0] in "LM" or c.isdecimal()]
    return "".join(kept).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_to_a_heading_name_one_that_is_there(page: Path) -> None:
    for target, heading in re.findall(r"\]\((?!https?://)([^)#]*)#([^)]+)\)", page.read_text("utf-8")):
        text = (page.parent / target if target else page).read_text("utf-8")
        headings = {slug(found) for found in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
        assert heading in headings, f"{target}#{heading}"


def test_the_first_screen_of_the_readme_has_the_two_commands() -> None:
    first_screen = "\n".join((ROOT / "README.md").read_text("utf-8").splitlines()[:25])
    assert {"$ make app", "$ make test"} <= set(first_screen.splitlines())


@pytest.mark.parametrize(
    "requirements", ["requirements.txt", "requirements-dev.txt", "requirements-spark.txt"]
)
def test_every_dependency_has_its_reason(requirements: str) -> None:
    reasons = re.findall(
        r"^\| ([a-z0-9, -]+) \|", (ROOT / "docs/dependencies.md").read_text("utf-8"), flags=re.MULTILINE
    )
    explained = {name for row in reasons for name in row.split(", ")}
    lines = (ROOT / requirements).read_text("utf-8").splitlines()
    needed = {re.split(r"[<>=[]", line)[0] for line in lines if line[:1].isalpha()}
    assert needed
    assert needed <= explained


def test_the_python_that_the_makefile_asks_for_is_the_one_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    major, minor = project["requires-python"].removeprefix(">=").split(".")
    assert f"sys.version_info < ({major}, {minor})" in (ROOT / "Makefile").read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_place_in_the_code_that_a_page_names_is_there(page: Path) -> None:
    text = page.read_text("utf-8")
    for path, name in re.findall(r"`((?:crubric_core|tests|pages|docs)/[\w/.-]+)(?::(\w+))?`", text):
        assert (ROOT / path).exists(), path
        if name:
            source = (ROOT / path).read_text("utf-8")
            assert re.search(rf"(?:def|class) {name}\b|^{name}\b", source, re.MULTILINE), f"{path}:{name}"


def test_the_map_lists_every_room_and_every_staging_table() -> None:
    text = (ROOT / "docs/architecture.md").read_text("utf-8")
    rooms = {path.parent.name for path in (ROOT / "crubric_core").glob("*/__init__.py")} - {"demo"}
    assert [room for room in sorted(rooms) if f"`{room}" not in text] == []
    sources = [path.read_text("utf-8") for path in (ROOT / "crubric_core/labels").rglob("*.py")]
    tables = {name for source in sources for name in re.findall(r"TEMP TABLE ([a-z_]+)\b(?!\{)", source)}
    assert {name for name in tables if not name.endswith("_") and f"`{name}`" not in text} == set()


def test_the_map_names_everything_that_is_public() -> None:
    text = (ROOT / "docs/architecture.md").read_text("utf-8")
    assert [name for name in crubric_core.__all__ if f"`{name}`" not in text] == []


def test_the_readme_says_of_the_sample_what_its_analysis_says() -> None:
    with Workspace() as workspace:
        workspace.ingest(ROOT / "data/sample_labels.csv", dataset="mine")
        result = run_pipeline(workspace.dataset("mine"), Settings(budget=40))
    said = "\n".join(result.claims.headline)
    assert f"```text\n{said}\n```" in (ROOT / "README.md").read_text("utf-8")
    assert result.leaderboard["score"].min() == pytest.approx(0.14, abs=0.005)
    assert result.leaderboard["score"].max() == pytest.approx(0.72, abs=0.005)


def test_the_readme_lists_the_files_that_build_writes() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert [name for name in ("bank.json", *FILES) if f"`{name}`" not in text] == []
