"""Scoring rules of a dataset: what they may say, which rubrics they touch, and who follows them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd
import pytest

from crubric_core import ScoringRules, Settings, Workspace, run_pipeline
from crubric_core.__main__ import main
from crubric_core.demo import simulate
from crubric_core.errors import SettingsError
from crubric_core.experiments import run_experiment
from crubric_core.labels.store.dataset_rules import save_rules
from crubric_core.labels.store.snapshot import Snapshot
from crubric_core.scoring_rules import ANY, Assignment, Loss, TaskType
from crubric_core.task_types.assignment import assign, preview
from crubric_core.task_types.types import TASK_TYPES

RUBRICS = pd.DataFrame(
    {
        "rubric": ["r0", "r1", "r2", "r3", "r4"],
        "text": ["Warns of the dose", "Names a date", None, "Is warm", "Calls 911"],
        "weight": [10.0, -8.0, -3.0, np.nan, 5.0],
        "dimension": ["safety", None, "style", None, None],
        "severity": ["major", None, None, None, "moderate"],
        "tags": ["axis:accuracy,level:example", "Axis: Safety", None, "level:cluster", ""],
    }
)
FAST = Settings(tau_c=0.5, budget=20, replicates=10)


def assigned(*rules):
    found = assign(RUBRICS, ScoringRules(assign=rules))
    return [None if pd.isna(v) else v for v in found[rules[0].sets]]


@pytest.mark.parametrize(
    ("fits", "expected"),
    [("<= -8", [1]), ("<-3", [1]), ("= 5", [4]), (" >= -3 ", [0, 2, 4]), ("> 9.5", [0])],
)
def test_points_are_compared_and_unknown_points_never_fit(fits, expected):
    found = assigned(Assignment("dimension", "points", fits, "here"))
    assert [j for j, value in enumerate(found) if value == "here"] == expected


def test_a_star_in_the_value_is_what_the_star_of_the_pattern_stood_for():
    found = assigned(Assignment("dimension", "tags", "axis:*", "*"))
    assert found == ["accuracy", "Safety", "style", None, None], (
        "one of several tags, in any case; else the file's"
    )


def test_a_pattern_without_a_star_wants_the_whole_text():
    assert assigned(Assignment("severity", "text", "warns", "critical"))[0] == "major"
    assert assigned(Assignment("severity", "text", "*WARNS*", "critical"))[0] == "critical"
    assert assigned(Assignment("severity", "severity", "major", "critical"))[0] == "critical"


def test_the_first_rule_that_fits_decides():
    rules = (
        Assignment("severity", "points", "<= -8", "critical"),
        Assignment("severity", "points", "< 0", "moderate"),
        Assignment("dimension", "points", "< 0", "harm"),
    )
    found = assign(RUBRICS, ScoringRules(assign=rules))
    assert found["severity"].tolist()[1:3] == ["critical", "moderate"]
    assert found["dimension"].tolist()[1:3] == ["harm", "harm"]
    shown = preview(RUBRICS, ScoringRules(assign=rules))
    assert shown["rubrics"].tolist() == [1, 2, 2]
    assert shown["decides"].tolist() == [1, 1, 2]
    assert shown["example"].tolist() == ["r1", "r2", "r1"]


def test_a_table_without_tags_has_none_that_fit_and_nothing_given_is_changed():
    before = RUBRICS.copy()
    rule = Assignment("dimension", "tags", "axis:*", "*")
    assert (
        assign(RUBRICS.drop(columns="tags"), ScoringRules(assign=(rule,)))["dimension"].tolist()[0]
        == "safety"
    )
    assign(RUBRICS, ScoringRules(assign=(rule,)))
    pd.testing.assert_frame_equal(RUBRICS, before)
    assert preview(RUBRICS, ScoringRules()).empty


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("[", "not valid JSON"),
        ("[1]", "is not a JSON object"),
        ('{"critcal": -1}', "'critcal' is not a scoring rule"),
        ('{"critical": 1}', "critical = 1 is out of range"),
        ('{"actionability": "5"}', "actionability = '5' is out of range"),
        ('{"creativity": true}', "creativity = True is out of range"),
        ('{"moderate": NaN}', "moderate = nan is out of range"),
        ('{"assign": {}}', "is not a list"),
        ('{"assign": [{"sets": "severity"}]}', "lacks 'source'"),
        ('{"assign": [3]}', "is not a JSON object"),
        (json.dumps({"assign": [{"sets": "weight", "source": "tags", "fits": "a", "value": "b"}]}), "sets = 'weight'"),
        (json.dumps({"assign": [{"sets": "severity", "source": "tag", "fits": "a", "value": "b"}]}), "source = 'tag'"),
        (json.dumps({"assign": [{"sets": "severity", "source": "points", "fits": "5", "value": "b"}]}), "comparison"),
        (json.dumps({"assign": [{"sets": "severity", "source": "tags", "fits": " ", "value": "b"}]}), "lacks 'fits'"),
        (json.dumps({"assign": [{"sets": "severity", "source": "tags", "fits": "a", "value": 3}]}), "lacks 'value'"),
        (json.dumps({"assign": [{"sets": "severity", "source": "tags", "fits": "a", "value": "*"}]}), "for nothing"),
        ('{"losses": {}}', "losses = {} is not a list"),
        ('{"losses": [{"task_type": "*", "loss": 1}]}', "'losses' lacks 'severity': give task_type, severity and loss"),
        ('{"losses": [{"task_type": "risky", "severity": "*", "loss": 1}]}', "task_type = 'risky' is unknown"),
        ('{"losses": [{"task_type": "*", "severity": " ", "loss": 1}]}', "A loss lacks 'severity'"),
        ('{"losses": [{"task_type": "*", "severity": "*", "loss": -1}]}', "loss = -1 is out of range"),
        ('{"losses": [{"task_type": "*", "severity": "*", "loss": Infinity}]}', "loss = inf is out of range"),
    ],
)  # fmt: skip
def test_rules_that_cannot_be_are_refused_with_a_sentence(given, sentence):
    with pytest.raises(SettingsError, match=sentence):
        ScoringRules.from_json(given)


def test_rules_survive_json():
    rules = ScoringRules(
        critical=-1,
        assign=(Assignment("severity", "points", "< 0", "critical"),),
        losses=(Loss("*", "*", 2.5),),
    )
    assert ScoringRules.from_json(json.dumps(rules.as_dict())) == rules
    assert ScoringRules.from_json("{}") == ScoringRules()


def test_rules_without_losses_are_written_as_they_were_before_there_were_any():
    assert "losses" not in ScoringRules().as_dict()
    assert Settings(rules=ScoringRules()).as_dict()["rules"] == ScoringRules().as_dict()


def test_a_loss_is_of_any_task_type_or_of_one_of_the_four():
    assert get_args(TaskType) == (ANY, *TASK_TYPES)


STRICT = ScoringRules(critical=-2.0, moderate=-1.0, actionability=9.0)


@pytest.fixture
def workspace():
    made = simulate(seed=3, systems=6, queries=8, pool=(6, 9))
    with Workspace() as ws:
        for kind in ("labels", "rubrics", "queries"):
            ws.ingest(getattr(made, kind).to_csv(index=False).encode(), dataset="small", kind=kind)
        yield ws


def test_the_rules_of_a_dataset_are_the_papers_until_edited_and_again_after_a_reset(workspace):
    ds = workspace.dataset("small")
    assert ds.scoring_rules() == ScoringRules()
    save_rules(workspace, "small", STRICT)
    assert ds.scoring_rules() == STRICT
    save_rules(workspace, "small", ScoringRules())
    assert ds.scoring_rules() == ScoringRules()


def test_rules_go_with_their_dataset(workspace):
    save_rules(workspace, "small", STRICT)
    workspace.delete("small")
    workspace.ingest(b"system,rubric,judge,label\na,r,j,1\n", dataset="next")
    assert workspace.dataset("next").scoring_rules() == ScoringRules()


def test_rules_are_copied_with_their_dataset_and_stay_its_own(workspace):
    save_rules(workspace, "small", STRICT)
    workspace.duplicate("small", "copy")
    save_rules(workspace, "small", ScoringRules())
    assert workspace.dataset("copy").scoring_rules() == STRICT


def test_the_pipeline_scores_by_the_datasets_rules_unless_the_settings_name_others(workspace):
    ds = workspace.dataset("small")
    paper = run_pipeline(ds, FAST)
    save_rules(workspace, "small", STRICT)
    own = run_pipeline(ds, FAST)
    again = run_pipeline(ds, replace(FAST, rules=ScoringRules()))
    assert own.settings.rules == STRICT
    assert (own.leaderboard["score"] != paper.leaderboard["score"]).any()
    pd.testing.assert_frame_equal(again.leaderboard, paper.leaderboard)
    pd.testing.assert_series_equal(own.leaderboard["theta"], paper.leaderboard["theta"])


def test_assigned_severities_reach_the_scores(workspace):
    ds = workspace.dataset("small")
    plain = ScoringRules(assign=(Assignment("severity", "rubric", "*", "none"),))
    harsh = ScoringRules(assign=(Assignment("severity", "rubric", "*", "critical"),))
    lenient, strict = (run_pipeline(ds, replace(FAST, rules=rules)) for rules in (plain, harsh))
    assert set(strict.reduction.rubrics["severity"]) == {"critical"}
    assert np.nanmin(lenient.ranking.scores.points) == 0
    assert np.nanmin(strict.ranking.scores.points) == -0.5
    assert strict.leaderboard["score"].mean() < lenient.leaderboard["score"].mean()


def test_experiments_follow_the_rules_too_even_in_another_process(workspace):
    save_rules(workspace, "small", STRICT)
    ds = workspace.dataset("small")
    by_rules = run_experiment("perturbation", ds, FAST)
    by_paper = run_experiment("perturbation", ds, replace(FAST, rules=ScoringRules()))
    assert by_rules.settings["rules"]["critical"] == -2
    assert by_rules.tables["scorers"]["gap"][0] != by_paper.tables["scorers"]["gap"][0]
    carried = run_experiment("perturbation", Snapshot(ds, FAST), FAST)
    pd.testing.assert_frame_equal(carried.tables["scorers"], by_rules.tables["scorers"])


def test_rules_on_the_command_line(tmp_path, capsys):
    store, rules = str(tmp_path / "w.duckdb"), tmp_path / "rules.json"
    where = ["--workspace", store, "--dataset", "d"]
    made = simulate(seed=3, systems=6, queries=8, pool=(6, 9))
    for kind in ("labels", "rubrics", "queries"):
        getattr(made, kind).to_csv(tmp_path / f"{kind}.csv", index=False)
        assert main(["ingest", *where, "--kind", kind, str(tmp_path / f"{kind}.csv")]) == 0
    assign_all = {"sets": "severity", "source": "rubric", "fits": "*", "value": "critical"}
    rules.write_text(json.dumps({"critical": -2, "assign": [assign_all]}))
    capsys.readouterr()

    assert main(["rules", *where, "--set", str(rules)]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["critical"] == -2
    assert shown["assigned"] == [{"rubrics": len(made.rubrics), "decides": len(made.rubrics)}]

    def scores(*options):
        assert (
            main(["build", *options, "--budget", "20", "--replicates", "5", "--out", str(tmp_path / "out")])
            == 0
        )
        return pd.read_csv(tmp_path / "out" / "leaderboard.csv")["score"].tolist()

    stored = scores(*where)
    files = [f"--{kind}={tmp_path / kind}.csv" for kind in ("labels", "rubrics", "queries")]
    assert scores(*files, "--rules", str(rules)) == stored
    assert scores(*files) != stored
    assert main(["rules", *where, "--reset"]) == 0
    assert scores(*where) == scores(*files)
    assert main(["rules", *where, "--set", str(tmp_path / "absent.json")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_tags_come_from_the_file_of_rubrics_and_from_healthbench():
    rule = Assignment("dimension", "tags", "level:*", "*")
    labels = b"system,query,rubric,judge,label\na,q,r1,j,1\na,q,r2,j,0\n"
    rubrics = b'rubric,query,tags\nr1,q,"axis:accuracy,level:example"\nr2,q,\n'
    with Workspace() as ws:
        ws.ingest(labels, "d")
        before = ws.dataset("d").fingerprint
        ws.ingest(rubrics, "d", "rubrics")
        assert ws.dataset("d").fingerprint != before
        found = assign(ws.dataset("d").rubrics, ScoringRules(assign=(rule,)))
        assert found["dimension"].tolist() == ["example", None]

    item = {"criterion": "Says to call 911", "points": 9, "tags": ["axis:accuracy", "level:cluster"]}
    record = {"prompt_id": "p", "prompt": "Help", "rubrics": [item]}
    with Workspace() as ws:
        ws.ingest((json.dumps(record) + "\n").encode(), "h", "rubrics", name="healthbench.jsonl")
        assert ws.dataset("h").rubrics["tags"].tolist() == ["axis:accuracy,level:cluster"]
