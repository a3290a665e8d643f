"""Files that the peers' own code wrote, each named with the version that wrote it; judges arrive as judges.

inspect-ai 0.3.285: three samples, two epochs, mock models; model_graded_qa with a grader of its own, a scorer whose
value is a dictionary, and one that keeps a panel's votes. autorubric 1.6.1: `ItemResult.to_dict` of an ensemble.
promptfoo 0.121.18: `promptfoo eval -o` of two scripted providers, two tests, two scripted judges and a plain assertion.
"""

from __future__ import annotations

from pathlib import Path

import pytest

PEERS = Path(__file__).with_name("peers")


@pytest.fixture
def inspected(ws):
    ws.ingest(PEERS / "inspect-ai-0.3.285.eval", "d")
    return ws.dataset("d")


def test_an_inspect_archive_with_zstandard_entries_is_read_whole(inspected):
    assert inspected.systems == ("mockllm/subject",)
    assert inspected.counts()["queries"] == 3
    assert len(inspected.labels()) == 36


def test_epochs_are_runs(inspected):
    assert inspected.runs == ("1", "2")
    repeats = inspected.repeats().groupby("judge")[["pairs", "agreeing"]].sum()
    assert repeats.loc["mockllm/judge-a"].tolist() == [3, 3]
    assert repeats.loc["mockllm/grader-x", "pairs"] == 3


def test_the_grader_and_each_voter_of_the_panel_are_judges(inspected):
    labels = inspected.labels()
    graded = labels[labels["rubric"].str.endswith("model_graded_qa")]
    assert set(graded["judge"]) == {"mockllm/grader-x"}
    panel = labels[labels["rubric"].str.endswith("panel")]
    assert panel.groupby("judge")["label"].unique().map(list).to_dict() == {
        "mockllm/judge-a": [1],
        "mockllm/judge-b": [0],
        "mockllm/judge-c": [1],
    }


def test_explanations_and_completions_are_kept(inspected):
    reasons = inspected.labels().set_index(["rubric", "judge", "run"])["reason"]
    assert reasons["q0#panel", "mockllm/judge-b", "1"] == "wrong"
    assert reasons["q0#checklist/cites", "judge", "1"] == "Cites one source, unclear"
    assert set(inspected.answers()["text"]) == {"Paris is it"}


def test_an_autorubric_ensemble_gives_its_standing_votes_with_their_reasons(ws):
    ws.ingest(PEERS / "autorubric-1.6.1.items.jsonl", "d", mapping={"system": "=s"})
    ds = ws.dataset("d")
    assert ds.judges == ("judge-a", "judge-b"), "a vote that an escalation replaced does not count"
    labels = ds.labels().set_index(["query", "rubric", "judge"])
    assert labels.loc[("0", "0#cites", "judge-a"), ["label", "reason"]].tolist() == [1, "a on 0"]
    assert ds.counts()["blank"] == 3
    assert ds.rubrics.set_index("rubric").loc["0#harmful", "polarity"] == -1


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_promptfoo_results_give_each_provider_as_a_system_and_each_grader_as_a_judge(ws, ending):
    ws.ingest(PEERS / f"promptfoo-0.121.18.{ending}", "d")
    ds = ws.dataset("d")
    assert ds.systems == ("system-a", "system-b"), "promptIdx counts prompts times providers"
    assert ds.judges == ("file://judge_one.js", "file://judge_two.js", "judge")
    labels = ds.labels(system="system-b", query="test0").set_index("judge")
    assert labels["label"].to_dict() == {"file://judge_one.js": 0, "file://judge_two.js": 1, "judge": 0}
    assert labels.loc["file://judge_one.js", ["rubric", "reason"]].tolist() == [
        "test0#brevity",
        "more than the city",
    ]
    assert ds.answers("system-a")["text"].tolist() == ["Paris.", "Lima."]
    assert set(ds.rubrics["weight"].dropna()) == {2.0}
