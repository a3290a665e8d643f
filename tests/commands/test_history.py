"""The life of a dataset from the command line."""

from __future__ import annotations

import json

import duckdb
import pytest

from crubric_core import Workspace
from crubric_core.__main__ import main
from crubric_core.labels.store.reference import reference


@pytest.fixture
def crubric(capsys, tmp_path):
    """Run a command on one workspace; its JSON lines, or its exit status and what it said on stderr."""

    def run(command: str, *arguments: str):
        status = main([command, "--workspace", str(tmp_path / "w.duckdb"), "--dataset", "d", *arguments])
        said = capsys.readouterr()
        return [json.loads(line) for line in said.out.splitlines()] if status == 0 else (status, said.err)

    return run


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("system,query,rubric,judge,label\na,q,r,j,1.5\nb,q,r,j,hmm\nc,q,r,j,0\nd,q,r,j,2\n")
    return str(path)


def test_policies_decide_what_is_in_doubt_and_are_listed(crubric, labels):
    options = ["--policy", "fractions=down", "--policy", "zero=unknown", "--answer", "hmm=", labels]
    (seen,) = crubric("ingest", "--preview", *options)
    assert crubric("history")[0] == 2, "a preview makes no dataset"
    (report,) = crubric("ingest", *options)
    assert report == seen
    assert (report["accepted"], report["rejected"], report["blank"]) == (4, 0, 2)
    assert report["policies"] == {"fractions": 1, "zero": 1, "answers": 1}
    (row,) = crubric("history")
    assert row["changes"].startswith("adds 4 systems")
    assert row["policies"] == "fractions: down (1 row); zero: unknown (1 row); answers: hmm → None (1 row)"


@pytest.mark.parametrize("option", ["--policy", "--answer"])
def test_an_example_that_a_refusal_gives_is_accepted(crubric, labels, option):
    """--answer recommended what --answer refuses."""
    code, said = crubric("ingest", option, "foo", labels)
    assert code == 2
    example = said.strip().rsplit(" ", 1)[1].rstrip(".")
    others = ["--policy", "fractions=down", "--answer", "hmm="]
    assert crubric("ingest", option, example, *others, labels)[0]["accepted"]


def test_what_is_doubtful_is_named(crubric, labels):
    (report,) = crubric("ingest", "--policy", "multiply=2", "--policy", "off_scale=clip", labels)
    assert [line.split(":")[0] for line in report["findings"]] == ["error"]
    (finding,) = crubric("check")
    assert (finding["severity"], finding["code"], finding["count"]) == ("error", "text", 1)
    assert finding["examples"][0]["value"] == "hmm"


def test_where_no_issue_is_found_the_command_says_so(tmp_path, capsys):
    labels = "system,query,rubric,judge,label\n" + "".join(
        f"s{i},q{j},r{j},j{k},{(i + j + k) % 2}\n" for i in range(6) for j in range(6) for k in range(3)
    )
    with Workspace(tmp_path / "clean.duckdb") as workspace:
        workspace.ingest(labels.encode(), "d")
        assert not workspace.dataset("d").checks()
    assert main(["check", "--workspace", str(tmp_path / "clean.duckdb"), "--dataset", "d"]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "No data-quality issue was found.\n")


def test_labels_that_all_contradict_stored_ones_are_refused_with_the_choice(crubric, tmp_path):
    """The refusal spoke of the file and the column mapping alone."""
    for label in (0, 1):
        (tmp_path / f"{label}.csv").write_text(f"system,query,rubric,judge,label\na,q,r,j,{label}\n")
    crubric("ingest", str(tmp_path / "0.csv"))
    code, said = crubric("ingest", str(tmp_path / "1.csv"))
    assert (code, "choose which to keep (on_conflict = last or first)" in said) == (2, True)
    assert (
        crubric("ingest", "--on-conflict", "last", str(tmp_path / "1.csv"))[0]["changes"] == "changes 1 label"
    )


def test_a_dataset_whose_files_are_gone_is_copied(crubric, tmp_path):
    """It was copied, and the command said that it had failed."""
    file = tmp_path / "labels.parquet"
    duckdb.sql("SELECT 's' AS system, 'q' AS query, 'r' AS rubric, 'j' AS judge, 1 AS label").write_parquet(
        str(file)
    )
    with Workspace(tmp_path / "w.duckdb") as workspace:
        found = reference(workspace, file, "d").fingerprint
    file.unlink()
    assert crubric("duplicate", "--to", "copy") == [{"dataset": "copy", "fingerprint": found}]


def test_queries_of_labels_that_lie_elsewhere_keep_their_types(crubric, tmp_path):
    """It ended with 0, and no query had a type."""
    file = tmp_path / "labels.parquet"
    duckdb.sql("SELECT 's' AS system, 'q' AS query, 'r' AS rubric, 'j' AS judge, 1 AS label").write_parquet(
        str(file)
    )
    with Workspace(tmp_path / "w.duckdb") as workspace:
        reference(workspace, file, "d")
    code, said = crubric("types")
    assert (code, "The labels of 'd' lie elsewhere" in said) == (2, True)


def test_runs_are_counted_in_what_an_ingest_adds_and_joined_in_the_list(crubric, tmp_path):
    rows = "".join(f"a,q,r,j,{run},1\n" for run in range(3))
    (tmp_path / "runs.csv").write_text(f"system,query,rubric,judge,run,label\n{rows}")
    (report,) = crubric("ingest", str(tmp_path / "runs.csv"))
    assert report["changes"].endswith("1 rubric and 3 labels, each run counted")
    with Workspace(tmp_path / "w.duckdb") as workspace:
        assert workspace.datasets()["labels"].tolist() == [1]


def test_a_dataset_is_copied_renamed_taken_back_and_deleted(crubric, labels):
    (report,) = crubric("ingest", "--on-conflict", "first", "--policy", "fractions=up", labels)
    assert crubric("duplicate", "--to", "copy")[0]["fingerprint"] == report["fingerprint"]
    assert crubric("rename", "--to", "copy")[0] == 2
    assert "and with it the dataset d" in crubric("undo", "--ingest", "1")[0]["undone"]
    assert crubric("undo")[0] == 2
    (again,) = crubric("ingest", "--policy", "fractions=up", labels)
    assert again["fingerprint"] == report["fingerprint"]
    assert crubric("delete", "--confirm", "x") == (
        2,
        "crubric: --confirm 'x' is not 'd': nothing was deleted.\n",
    )
    assert crubric("delete", "--confirm", "d") == [{"deleted": "d"}]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--policy", "zero"], "not NAME=VALUE"),
        (["--policy", "halves=up"], "no policy 'halves'"),
        (["--policy", "fractions=nearest"], "fractions = 'nearest' is unknown"),
        (["--policy", "multiply=x"], "'x' is not a number"),
        (["--policy", "multiply=1.5"], "multiply = 1.5 is not a factor"),
        (["--answer", "=3"], "not NAME=VALUE"),
        (["--answer", "good=inf"], "expected a word and a number"),
        (["--answer", "good=nan"], "expected a word and a number"),
    ],
)
def test_a_policy_that_is_none_is_named(crubric, labels, options, words):
    status, said = crubric("ingest", *options, labels)
    assert status == 2
    assert words in said
