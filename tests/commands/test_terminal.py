"""What people see on a terminal, and programs in a pipe."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from crubric_core.__main__ import main
from crubric_core.commands.printable import printable
from crubric_core.commands.terminal import readable
from crubric_core.labels.readers.plan import FilePlan, Plan

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample_labels.csv"


@pytest.fixture
def crubric(capsys, monkeypatch, tmp_path):
    """Run a command; what it said on a terminal, or in a pipe, and on stderr."""

    def run(command, *arguments, terminal=True):
        monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
        assert main([command, "--workspace", str(tmp_path / "w.duckdb"), *map(str, arguments)]) == 0
        said = capsys.readouterr()
        return said.out, said.err

    return run


def test_a_list_is_a_table_on_a_terminal_and_lines_of_json_in_a_pipe(crubric):
    for name in ("first", "second"):
        crubric("ingest", "--dataset", name, SAMPLE)
    head, *rows = crubric("datasets")[0].splitlines()
    assert head.split()[:3] == ["name", "systems", "queries"]
    assert [row.split()[:6] for row in rows] == [
        [n, "6", "8", "127", "3", "2,121"] for n in ("first", "second")
    ]
    piped = [json.loads(line) for line in crubric("datasets", terminal=False)[0].splitlines()]
    assert [(row["name"], row["labels"]) for row in piped] == [("first", 2121), ("second", 2121)]


def test_a_plan_tells_people_which_column_is_what_and_programs_the_plan(crubric):
    shown, _ = crubric("ingest", "--dataset", "d", "--plan", SAMPLE)
    first, *lines = shown.splitlines()
    assert first == "sample_labels.csv: labels"
    columns = ("system", "query", "rubric", "judge", "label")
    assert [line.split()[:3] for line in lines] == [[column, "from", column] for column in columns]
    assert all("the name" in line for line in lines)
    assert json.loads(crubric("ingest", "--dataset", "d", "--plan", SAMPLE, terminal=False)[0])["files"][0][
        "mapping"
    ]


def test_files_that_are_read_alike_are_told_once(crubric, tmp_path):
    for model in ("a", "b", "c", "d"):
        (tmp_path / f"{model}.csv").write_text("query,rubric,judge,label\nq,r,j,1\nq,s,j,0\n")
    files = sorted(tmp_path.glob("*.csv"))
    first, *lines = crubric("ingest", "--dataset", "d", "--plan", *files)[0].splitlines()
    assert first == "a.csv, b.csv, c.csv and 1 more: labels"
    assert [line.split("  ")[2].strip() for line in lines if line.startswith("  system")] == [
        "is a, b, c and 1 more"
    ]


def test_a_file_that_cannot_be_read_is_not_told_with_those_that_can():
    columns = {"system": "model"}
    read = FilePlan("a.csv", "csv", mapping=columns)
    shown = str(Plan((read, FilePlan("b.csv", "csv", mapping=columns, problem="b.csv has no label."))))
    assert shown.splitlines() == [
        *("a.csv: labels", "  system  from model"),
        *("b.csv: labels", "  system  from model", "  Cannot be read: b.csv has no label."),
    ]


def test_a_plan_tells_what_is_not_used_and_what_cannot_be_read(crubric, tmp_path):
    (tmp_path / "notes.csv").write_text("system,query,rubric,label,mood\na,q,r,1,fine\nb,q,r,0,fine\n")
    assert (
        "Not used of notes.csv: mood."
        in crubric("ingest", "--dataset", "d", "--plan", tmp_path / "notes.csv")[0]
    )
    (tmp_path / "prose.csv").write_text("a text\nof two lines\n")
    assert (
        "Cannot be read: prose.csv"
        in crubric("ingest", "--dataset", "d", "--plan", tmp_path / "prose.csv")[0]
    )


@pytest.mark.parametrize("terminal", [True, False])
def test_a_name_from_a_file_cannot_steer_the_terminal(crubric, tmp_path, terminal):
    """A colour, a new title of the window, a cleared screen, a line that begins again."""
    names = ["\x1b[31mred", "\x1b]0;title\x07b", "\x9b2Jc", "\rd"]
    rows = [f'"{s}",q{q},r,{j},{(q + n) % 2}' for n, s in enumerate(names) for q in range(3) for j in "ab"]
    rows += [f'"{s}",q3,r,a,"odd{s}"' for s in names]
    (tmp_path / "l.csv").write_text("\n".join(["system,query,rubric,judge,label", *rows]), newline="")
    said = "".join(crubric("ingest", "--dataset", "d", tmp_path / "l.csv", terminal=terminal))
    said += "".join(crubric("check", "--dataset", "d", terminal=terminal))
    assert r"\x1b" in said or r"\u001b" in said
    assert not [c for c in said if c in "\x1b\x07\x9b\r"]


def test_what_does_not_steer_is_shown_as_it_is():
    assert printable("ζ\tд\n模型 👩‍🔬") == "ζ\tд\n模型 👩‍🔬"


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ({"labels": 2121, "undo": None, "mark_given": True}, ["labels: 2,121", "undo: —", "mark given: yes"]),
        ({"policies": {}, "notes": [], "names": ["one"]}, ["policies: —", "notes: —", "names: one"]),
        ({"bank": {"rubrics": 3}}, ["bank:", "  rubrics: 3"]),
        ({"notes": ["first", "second"]}, ["notes:", "  first", "  second"]),
        ([{"a": 1, "b": None}, {"a": 20, "c": [1, 2]}], ["a   b  c", "1   —  —", "20  —  1, 2"]),
    ],
)
def test_a_result_is_readable(value, lines):
    assert readable(value) == lines


def test_a_placement_is_a_table_of_systems_on_a_terminal(capsys, monkeypatch, tmp_path):
    assert main(["build", "--labels", str(SAMPLE), "--budget", "40", "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert main(["place", "--bank", str(tmp_path), "--labels", str(SAMPLE), "--allow-unused"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split("  ")[0] == "system"
    assert [row.split()[0] for row in rows][:2] == ["aldera-4-mini", "aldera-4-research"]
    assert len(rows) == 6
