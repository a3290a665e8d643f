"""Files of any origin, from the command line."""

from __future__ import annotations

import json
import shutil
import zipfile

import pytest

from crubric_core.__main__ import main
from crubric_core.labels import Workspace
from crubric_core.labels.readers.formats import FORMATS

GRADE = json.dumps(
    {"prompt_id": "p", "score": 1, "grades": [{"criteria_met": True}, {"criteria_met": False}]}
)
LONG = "system,query,rubric,judge,label\na,q,r,j,1\nb,q,r,j,0\n"


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def ingest(capsys, tmp_path, *arguments):
    return run(capsys, "ingest", "--workspace", tmp_path / "w.duckdb", "--dataset", "d", *arguments)


@pytest.mark.parametrize(("ending", "kind"), [(".zip", "zip"), (".tar", "tar"), (".tar.gz", "gztar")])
def test_an_archive_may_hold_tables_of_several_kinds(capsys, tmp_path, ending, kind):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "labels.csv").write_text(LONG)
    (tmp_path / "in" / "rubrics.csv").write_text("rubric,query,text\nr,q,It is right.\n")
    shutil.make_archive(str(tmp_path / "study"), kind, tmp_path / "in")
    assert ingest(capsys, tmp_path, tmp_path / f"study{ending}")[0] == 0
    with Workspace(tmp_path / "w.duckdb") as workspace:
        assert workspace.dataset("d").rubrics["text"].tolist() == ["It is right."]
        assert len(workspace.dataset("d").labels()) == 2


def test_an_archive_is_read_with_what_its_names_say(capsys, tmp_path):
    with zipfile.ZipFile(tmp_path / "grades.zip", "w") as archive:
        for name in ("m1__j1", "m1__j2", "m2__j1"):
            archive.writestr(f"grades/{name}.jsonl", GRADE)
    code, out, err = ingest(capsys, tmp_path, tmp_path / "grades.zip")
    assert code == 0
    assert json.loads(out)["accepted"] == 6
    assert "grades/m1__j2.jsonl was taken for system m1 and judge j2." in err
    with Workspace(tmp_path / "w.duckdb") as workspace:
        assert workspace.dataset("d").judges == ("j1", "j2")


def test_a_pattern_tells_systems_from_judges(capsys, tmp_path):
    (tmp_path / "gpt-judges-o3.jsonl").write_text(GRADE)
    code, _, err = ingest(
        capsys, tmp_path, "--pattern", "{judge}-judges-{system}.jsonl", tmp_path / "gpt-judges-o3.jsonl"
    )
    assert code == 0
    assert "was taken for judge gpt and system o3" in err


def test_a_plan_is_printed_edited_and_carried_out(capsys, tmp_path):
    (tmp_path / "labels.csv").write_text(LONG.replace("system", "who").replace("label", "mark"))
    code, out, _ = ingest(capsys, tmp_path, "--plan", tmp_path / "labels.csv")
    plan = json.loads(out)
    assert code == 0
    assert not (tmp_path / "w.duckdb").exists()
    code, out, err = ingest(capsys, tmp_path, tmp_path / "labels.csv")
    assert (code, out) == (2, "")
    assert "labels.csv" in err
    plan["files"][0] |= {"mapping": {"system": "who", "query": "query", "rubric": "rubric", "label": "mark"}}
    plan["files"][0]["problem"] = None
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    code, out, _ = ingest(capsys, tmp_path, "--mapping", tmp_path / "plan.json", tmp_path / "labels.csv")
    assert (code, json.loads(out)["accepted"]) == (0, 2)


def test_several_files_are_all_read_or_none(capsys, tmp_path):
    (tmp_path / "labels.csv").write_text(LONG)
    (tmp_path / "rubrics.csv").write_text("rubric,query,points\nr,q,-3\n")
    code, out, _ = ingest(capsys, tmp_path, tmp_path / "labels.csv", tmp_path / "rubrics.csv")
    assert code == 0
    assert [json.loads(line)["kind"] for line in out.splitlines()] == ["rubrics", "labels"]
    (tmp_path / "broken.json").write_text('{"system": ')
    code, out, err = run(
        capsys, "ingest", "--workspace", tmp_path / "w.duckdb", "--dataset", "e", tmp_path / "labels.csv",
        tmp_path / "broken.json",
    )  # fmt: skip
    assert (code, out) == (2, "")
    assert "broken.json" in err
    with Workspace(tmp_path / "w.duckdb") as workspace:
        assert workspace.datasets()["name"].tolist() == ["d"]


def test_a_constant_in_the_mapping_names_what_the_file_does_not(capsys, tmp_path):
    (tmp_path / "run.csv").write_text("rubric,label\nr,1\n")
    (tmp_path / "map.json").write_text('{"system": "=gpt"}')
    code, _, err = ingest(capsys, tmp_path, "--mapping", tmp_path / "map.json", tmp_path / "run.csv")
    assert code == 0
    assert "run.csv was taken for system gpt." in err


def test_anchors_are_a_kind_of_table(capsys, tmp_path):
    (tmp_path / "labels.csv").write_text(LONG)
    (tmp_path / "anchors.csv").write_text("rubric,query,valid,annotator\nr,q,1,ann\n")
    _, out, _ = ingest(capsys, tmp_path, tmp_path / "labels.csv", tmp_path / "anchors.csv")
    changes = {told["kind"]: told["changes"] for told in map(json.loads, out.splitlines())}
    assert "adds 1 annotator and 1 anchor" in changes["anchors"], "an annotator is no judge"
    assert "1 judge," in changes["labels"]
    with Workspace(tmp_path / "w.duckdb") as workspace:
        assert workspace.dataset("d").anchors()["valid"].tolist() == [1]


def test_help_lists_every_format(capsys):
    with pytest.raises(SystemExit):
        main(["ingest", "--help"])
    said = "".join(capsys.readouterr().out.split())
    assert all(name in said for name in FORMATS)
