"""Scenarios from the command line."""

from __future__ import annotations

import json

import pytest

from crubric_core.__main__ import main


@pytest.fixture
def crubric(capsys, tmp_path):
    def run(*arguments: str):
        at = ["--workspace", str(tmp_path / "w.duckdb"), "--dataset", "d"]
        status = main([*arguments[:1], *arguments[1:], *at])
        said = capsys.readouterr()
        return [json.loads(line) for line in said.out.splitlines()] if status == 0 else (status, said.err)

    return run


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "labels.csv"
    rows = [
        f"s{s},q{q},r{r},j{j},{int((s + r + q + (j * q) % 2) % 5 > 1 + r % 3)}"
        for s in range(7)
        for q in range(4)
        for r in range(5)
        for j in range(2)
    ]
    path.write_text("\n".join(["system,query,rubric,judge,label", *rows]))
    return str(path)


def test_scenarios_are_saved_renamed_compared_and_deleted(crubric, labels):
    crubric("ingest", labels)
    (saved,) = crubric("scenario", "save", "a", "--budget", "9", "--tau-c", "none")
    assert (saved["name"], saved["settings"]) == ("a", {"budget": 9})
    code, said = crubric("scenario", "save", "a")
    assert (code, "or replace it (--replace)" in said) == (2, True)
    crubric("scenario", "save", "b", "--budget", "4", "--basis", "bank")
    (change,) = crubric("scenario", "compare", "a", "b")
    figures = {row["figure"]: (row["first"], row["second"]) for row in change["figures"]}
    assert figures["Rubrics in the bank"] == ("9", "4")
    assert len(change["leaving"]) - len(change["entering"]) == 5
    assert len(change["places"]) == 7
    assert [row["name"] for row in crubric("scenario", "rename", "a", "--to", "c")] == ["b", "c"]
    assert [row["name"] for row in crubric("scenario", "delete", "b")] == ["c"]
    status, told = crubric("scenario", "compare", "c", "x")
    assert (status, "There is no scenario 'x': there are 'c'." in told) == (2, True)
    assert "takes 2 names: 1 given" in crubric("scenario", "compare", "c")[1]
