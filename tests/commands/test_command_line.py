"""The command line, as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from crubric_core.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "data"


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_files_become_six_files(capsys, tmp_path):
    code, out, err = run(
        capsys, "build", "--labels", SAMPLE / "sample_labels.csv", "--rubrics", SAMPLE / "sample_rubrics.csv",
        "--queries", SAMPLE / "sample_queries.csv", "--tau-c", 0.7, "--budget", 30, "--out", tmp_path / "out",
    )  # fmt: skip
    assert code == 0
    names = ["bank.csv", "items.csv", "measurability.csv", "leaderboard.csv", "report.json", "bank.json"]
    assert [Path(line).name for line in out.split()] == names
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(names)
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert " ".join(report["claims"]["headline"]) in err
    settings = report["settings"]
    assert (settings["tau_c"], settings["budget"]) == (0.7, 30)


def test_a_workspace_is_filled_listed_and_built_from(capsys, tmp_path):
    workspace = tmp_path / "w.duckdb"
    for kind in ("queries", "rubrics", "labels"):
        file = SAMPLE / f"sample_{kind}.csv"
        code, out, err = run(
            capsys, "ingest", "--workspace", workspace, "--dataset", "d", "--kind", kind, file
        )
        assert code == 0
        assert json.loads(out)["rejected"] == 0
        assert ("d has no labels yet" in err) == (kind != "labels")
    code, out, _ = run(capsys, "datasets", "--workspace", workspace)
    row = json.loads(out)
    assert (row["name"], row["systems"], row["judges"]) == ("d", 6, 3)
    assert row["fingerprint"]
    code, out, _ = run(capsys, "build", "--workspace", workspace, "--dataset", "d", "--out", tmp_path / "out")
    assert code == 0


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_an_exported_dataset_comes_back_the_same(capsys, tmp_path, file_format):
    first, second, out = tmp_path / "a.duckdb", tmp_path / "b.duckdb", tmp_path / "out"
    for kind in ("queries", "rubrics", "labels"):
        run(
            capsys,
            "ingest",
            "--workspace",
            first,
            "--dataset",
            "d",
            "--kind",
            kind,
            SAMPLE / f"sample_{kind}.csv",
        )
    code, said, _ = run(
        capsys, "export", "--workspace", first, "--dataset", "d", "--format", file_format, "--out", out
    )
    assert code == 0
    assert [Path(line).stem for line in said.split()] == ["queries", "rubrics", "labels"]
    for path in said.split():
        run(capsys, "ingest", "--workspace", second, "--dataset", "d", "--kind", Path(path).stem, path)
    listed = [
        json.loads(run(capsys, "datasets", "--workspace", w)[1])["fingerprint"] for w in (first, second)
    ]
    assert listed[0] == listed[1]


def test_the_demo_is_made_once(capsys, tmp_path):
    workspace = tmp_path / "w.duckdb"
    code, out, _ = run(capsys, "demo", "--workspace", workspace, "--seed", 3)
    assert code == 0
    assert json.loads(out)["systems"] == 15
    code, out, err = run(capsys, "demo", "--workspace", workspace)
    assert (code, out) == (2, "")
    assert "already" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("build", "--labels", "nowhere.csv", "--out", "out"),
        ("build", "--out", "out"),
        ("build", "--labels", "a.csv", "--workspace", "w.duckdb", "--out", "out"),
        ("build", "--workspace", "w.duckdb", "--out", "out"),
        ("ingest", "--workspace", "w.duckdb", "--dataset", "d", "nowhere.csv"),
        ("ingest", "--workspace", "w.duckdb", "--dataset", "d", "--mapping", "nowhere.json", "x.csv"),
        ("datasets", "--workspace", "."),
    ],
)
def test_bad_input_ends_with_2_and_one_line(capsys, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "option", "expected"),
    [
        ("app --port 99999999", "--port", "a whole number from 1 to 65535"),
        ("viewer --port -1", "--port", "a whole number from 1 to 65535"),
        ("viewer --port http", "--port", "a whole number from 1 to 65535"),
        ("place --bank b --labels l --next -5", "--next", "a whole number of at least 0"),
        ("build --labels l --out o --budget abc", "--budget", "a whole number of at least 1"),
        ("build --labels l --out o --tau-c 7", "--tau-c", "a number from -1 to 1, or None"),
        ("build --labels l --out o --tau-c high", "--tau-c", "a number from -1 to 1, or None"),
    ],
)
def test_a_number_out_of_its_range_is_refused_with_the_range(capsys, words, option, expected):
    *_, value = words.split()
    with pytest.raises(SystemExit, match="2"):
        main(words.split())
    said = f"argument {option}: {value!r} is out of range: expected {expected}"
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    "command",
    ["build", "experiment attrition", "report", "losses", "human-labels", "judges", "export --dataset d"],
)
def test_a_file_in_the_place_of_a_folder_is_refused_before_anything_is_read(capsys, tmp_path, command):
    """The whole analysis ran first."""
    file = tmp_path / "README.md"
    file.touch()
    with pytest.raises(SystemExit, match="2"):
        main([*command.split(), "--out", str(file)])
    assert f"argument --out: {file} is a file: name a folder" in capsys.readouterr().err


def test_a_setting_that_no_table_follows_is_refused(capsys, tmp_path):
    code, _, err = run(capsys, "export", "--dataset", "d", "--budget", 10, "--out", tmp_path / "out")
    assert (code, "--budget is for the result as a page" in err) == (2, True)


def test_a_second_table_of_a_kind_is_refused(capsys):
    """The last one counted, and nothing said so."""
    with pytest.raises(SystemExit, match="2"):
        main(["build", "--labels", "a.csv", "--labels", "b.csv", "--out", "out"])
    assert "--labels is given twice: ingest several tables" in capsys.readouterr().err


def test_rejected_rows_are_told_and_the_others_are_kept(capsys, tmp_path):
    file = tmp_path / "labels.csv"
    file.write_text("system,query,rubric,judge,label\na,q,r,j,1\nb,q,r,j,maybe\nb,q,r,k,0\n")
    code, out, err = run(capsys, "ingest", "--workspace", tmp_path / "w.duckdb", "--dataset", "d", file)
    assert code == 0
    assert json.loads(out)["accepted"] == 2
    assert "row 3" in err
    assert "maybe" in err


@pytest.mark.parametrize("in_a_file", [True, False])
def test_a_mapping_names_the_files_own_columns(capsys, tmp_path, in_a_file):
    file, mapping = tmp_path / "labels.csv", '{"system": "who", "rubric": "what", "label": "how"}'
    file.write_text("who,what,how\na,r,1\nb,r,0\n")
    if in_a_file:
        (tmp_path / "map.json").write_text(mapping)
        mapping = tmp_path / "map.json"
    code, out, _ = run(
        capsys, "ingest", "--workspace", tmp_path / "w.duckdb", "--dataset", "d", "--mapping", mapping, file
    )
    assert code == 0
    assert json.loads(out)["accepted"] == 2


def test_help_needs_no_file_and_shows_every_setting():
    said = subprocess.run(
        [sys.executable, "-m", "crubric_core", "build", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for option in ("--tau-c", "--budget", "--model", "--quadrature", "--seed", "--tier-rule", "--bootstrap"):
        assert option in said


def experiment(capsys, out, name, *options):
    files = [(f"--{kind}", SAMPLE / f"sample_{kind}.csv") for kind in ("labels", "rubrics", "queries")]
    return run(capsys, "experiment", name, *(x for pair in files for x in pair), "--out", out, *options)


def test_an_experiment_becomes_a_table_and_its_whole_result(capsys, tmp_path):
    code, out, err = experiment(capsys, tmp_path, "sweep", "--seed", 4)
    assert code == 0
    assert [Path(line).name for line in out.split()] == ["sweep.json", "sweep.csv"]
    written = json.loads((tmp_path / "sweep.json").read_text())
    assert (written["name"], written["settings"]["seed"]) == ("sweep", 4)
    assert written["found"] in err
    lines = (tmp_path / "sweep.csv").read_text().splitlines()
    assert lines[0].split(",") == written["tables"]["thresholds"]["columns"]
    assert len(lines) == 1 + len(written["tables"]["thresholds"]["rows"])


def test_an_experiment_with_one_seed_gives_the_same_bytes(capsys, tmp_path):
    for folder in ("a", "b"):
        experiment(capsys, tmp_path / folder, "perturbation", "--seed", 1)
    for name in ("perturbation.json", "perturbation.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_an_unknown_experiment_is_answered_with_the_names_of_all(capsys, tmp_path):
    with pytest.raises(SystemExit) as ended:
        experiment(capsys, tmp_path, "alchemy")
    assert ended.value.code == 2
    assert "crossfit" in capsys.readouterr().err


def kept_study(capsys, tmp_path):
    workspace = tmp_path / "w.duckdb"
    for kind in ("queries", "rubrics", "labels"):
        file = SAMPLE / f"sample_{kind}.csv"
        run(capsys, "ingest", "--workspace", workspace, "--dataset", "d", "--kind", kind, file)
    return "--workspace", workspace, "--dataset", "d"


def test_an_experiment_of_a_workspace_is_kept_there_and_not_run_twice(capsys, tmp_path, monkeypatch):
    study = kept_study(capsys, tmp_path)
    run(capsys, "experiment", "sweep", *study, "--out", tmp_path / "a")
    ran = []
    monkeypatch.setattr("crubric_core.commands.analysis.run_experiment", lambda *a, **k: ran.append(a))
    code, _, err = run(capsys, "experiment", "sweep", *study, "--out", tmp_path / "b")
    assert (code, ran) == (0, [])
    assert "--again runs sweep again" in err
    for name in ("sweep.json", "sweep.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_an_experiment_is_run_again_where_asked_or_under_other_settings(capsys, tmp_path):
    study = kept_study(capsys, tmp_path)
    run(capsys, "experiment", "attrition", *study, "--out", tmp_path)
    for options in (["--again"], ["--seed", 5]):
        _, _, err = run(capsys, "experiment", "attrition", *study, *options, "--out", tmp_path)
        assert "kept in the workspace" not in err


def test_an_experiment_runs_on_one_domain_or_on_every_block(capsys, tmp_path):
    queries = pd.read_csv(SAMPLE / "sample_queries.csv")
    domain = queries["domain"].dropna().iloc[0]
    code, out, _ = experiment(capsys, tmp_path / "one", "attrition", "--domain", domain)
    assert code == 0
    alone = json.loads((tmp_path / "one" / "attrition.json").read_text())
    assert alone["dataset"].endswith(domain)
    code, out, _ = experiment(capsys, tmp_path / "all", "attrition", "--each-block")
    assert code == 0
    found = [json.loads(Path(line).read_text()) for line in out.split() if line.endswith(".json")]
    assert len(found) >= queries["domain"].nunique()
    assert alone["tables"] in [written["tables"] for written in found]
    code, _, err = experiment(capsys, tmp_path, "attrition", "--domain", "astrology")
    assert code == 2
    assert f"{domain}" in err


def test_a_report_shows_what_the_workspace_keeps_or_what_is_asked_for(capsys, tmp_path):
    study = kept_study(capsys, tmp_path)
    run(capsys, "experiment", "attrition", *study, "--out", tmp_path)
    code, out, _ = run(capsys, "report", *study, "--out", tmp_path / "kept")
    assert code == 0
    assert [Path(line).name for line in out.split()] == ["report.html", "report.md"]
    run(capsys, "report", *study, "--experiments", "sweep", "--out", tmp_path / "asked")
    kept, asked = ((tmp_path / name / "report.md").read_text() for name in ("kept", "asked"))
    assert "Attrition" in kept
    assert "Threshold sweep" not in kept
    assert "Threshold sweep" in asked
    assert "Attrition" not in asked


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("ingest --dataset d --mapping nofile.json x.csv", "The mapping nofile.json"),
        ("build --labels x.csv --out o --rules nofile.json", "The scoring rules nofile.json"),
        ("build --labels x.csv --out o --composition nofile.json", "The composition nofile.json"),
        ("build --labels x.csv --out o --costs nofile.csv", "The costs nofile.csv"),
    ],
)
def test_a_file_of_choices_that_is_not_there_is_named(capsys, tmp_path, monkeypatch, words, what):
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, *words.split(), *(["--workspace", "w.duckdb"] if "ingest" in words else []))
    assert code == 2
    assert err == f"crubric: {what} cannot be read (No such file or directory): name a file that is there.\n"
