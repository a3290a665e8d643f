"""Criteria in a list, with and without verdicts in a list beside them."""

# ruff: noqa: E501 - a record of a layout, in one line

from __future__ import annotations

import json

import pandas as pd
import pytest

from crubric_core.errors import IngestError
from tests.labels.readers.test_layouts import label, lines
from tests.tiers import crossed

MODELS = ("gpt-4o", "claude-3-opus")


def graded(model, q, **more):
    """A graded task as CL-bench writes it."""
    return {
        "idx": f"t{q}",
        "messages": [{"role": "user", "content": f"Why {q}?"}],
        "model_output": f"{model} says",
        "rubrics": [f"It should do {i} of {q}" for i in range(3)],
        "metadata": {"task_id": f"t{q}", "context_category": "Rules", "context_id": "c"},
        "grading_rationale": "because",
        "requirement_status": [("no", "yes")[label(model, q, i)] for i in range(3)],
        "score": 0,
    } | more


def prbench():
    """Results as PRBench writes them: one object of models and tasks."""
    outputs = {
        m: {
            f"t{q}": {
                "convo": f"user: Why {q}?\nassistant: {m} says",
                "id": f"t{q}",
                "grades": [("false", "true")[label(m, q, i)] for i in range(2)],
                "categories": ["Accuracy", "Style"],
                "weights": [10, -4],
                "rubric_texts": [f"Cites {q}", f"Lies on {q}"],
                "field": "Legal",
            }
            for q in range(2)
        }
        for m in MODELS
    }
    config = {"judge_model_name": "o4-mini", "trial_number": 3}
    return json.dumps({"mean_normalized": dict.fromkeys(MODELS, 0.5), "outputs": outputs, "config": config})


def cells(ws):
    found = ws.dataset("d").labels()
    return {
        tuple(row[:-1]): row[-1]
        for row in found[["system", "rubric", "judge", "label"]].itertuples(index=False)
    }


def test_each_verdict_of_a_list_is_that_of_the_criterion_at_its_place(ws, tmp_path):
    for m in MODELS:
        (tmp_path / f"{m}_graded.jsonl").write_bytes(lines(graded(m, q) for q in range(2)))
    ws.ingest(tmp_path, "d")
    assert cells(ws) == {
        (m, f"t{q}#{i}", "judge"): label(m, q, i) for m in MODELS for q in range(2) for i in range(3)
    }
    described = ws.dataset("d").rubrics.set_index("rubric")["text"]
    assert described["t1#2"] == "It should do 2 of 1"
    queries = ws.dataset("d").queries.set_index("query")
    assert (queries.loc["t0", "text"], queries.loc["t0", "domain"]) == ("user: Why 0?", "Rules")


def test_a_record_without_verdicts_is_rejected_with_what_it_says(ws):
    failed = graded(
        "gpt-4o", 1, requirement_status=[], grading_rationale="No model output (counted as score 0)"
    )
    short = graded("gpt-4o", 2, requirement_status=["yes"])
    report = ws.ingest(lines([graded("gpt-4o", 0), failed, short]), "d", mapping={"system": "=gpt-4o"})
    reasons = [r for part in report.parts for r in part.rejects["reason"]]
    assert reasons == [
        "record 2 has 0 verdicts for 3 criteria (No model output (counted as score 0))",
        "record 3 has 1 verdicts for 3 criteria",
    ]
    assert len(cells(ws)) == 3


def test_results_of_several_models_in_one_object_are_read_with_weights_judge_and_trial(ws):
    ws.ingest(prbench().encode(), "d", name="results.json")
    assert cells(ws) == {
        (m, f"t{q}#{i}", "o4-mini"): label(m, q, i) for m in MODELS for q in range(2) for i in range(2)
    }
    rubrics = ws.dataset("d").rubrics.set_index("rubric")
    assert rubrics.loc["t0#1", ["text", "weight", "polarity", "dimension"]].tolist() == [
        "Lies on 0",
        -4,
        -1,
        "Style",
    ]
    assert set(ws.dataset("d").labels()["run"]) == {"3"}


def test_points_by_class_of_importance_and_ids_of_criteria_are_kept(ws):
    rubric = [
        {"id": "c1", "title": "Cites", "annotations": {"weight_class": "critically important", "critically_important_weight": 10, "law_criteria_category": "Accuracy"}},
        {"id": "c2", "title": "Lies", "annotations": {"weight_class": "detrimental", "detrimental_weight": -4}},
    ]  # fmt: skip
    ws.ingest(lines([{"task": "t0", "field": "Legal", "prompt_0": "Why?", "response_0": "So.", "prompt_1": "And?", "rubric": rubric}]), "d")  # fmt: skip
    found = ws.dataset("d").rubrics
    assert found[["rubric", "text", "weight", "polarity"]].to_numpy().tolist() == [
        ["t0#c1", "Cites", 10, 1],
        ["t0#c2", "Lies", -4, -1],
    ]
    assert ws.dataset("d").queries["text"].tolist() == ["Why?\n\nSo.\n\nAnd?"]


@pytest.mark.parametrize(
    "record",
    [
        {"question_id": "q", "question": "Why?", "rubrics": [{"title": "T", "description": "Do it", "weight": 5}]},
        {"data_source": "x", "prompt": [{"role": "user", "content": "Why?"}], "reward_model": {"style": "rubric", "rubrics": [{"criterion": "T: Do it", "points": 5}]}, "extra_info": {"index": "q"}},
        {"sample_id": "q", "prompt": "Why?", "rubrics": [{"criterion": "T: Do it", "weight": 5, "axis": "Explicit"}]},
    ],
)  # fmt: skip
def test_prompts_with_criteria_are_queries_and_rubrics(ws, record):
    ws.ingest(lines([record]), "d")
    found = ws.dataset("d").rubrics
    assert found[["rubric", "query", "text", "weight"]].to_numpy().tolist() == [["q#0", "q", "T: Do it", 5]]


def test_a_record_with_grades_elsewhere_is_no_mere_list_of_criteria(ws):
    records = [
        {
            "model": m,
            "question_id": "q",
            "question": "Why?",
            "rubrics": ["cites"],
            "scores": {"cites": label(m)},
        }
        for m in MODELS
    ]
    ws.ingest(lines(records), "d")
    assert ws.dataset("d").labels()["label"].tolist() == [label(m) for m in sorted(MODELS)]


def beside(q, model, verdicts):
    """A record as TICK's and IFEval's evaluations have it: the verdicts in a list that is called anyhow."""
    return {
        "id": f"q{q}",
        "instruction": f"Why {q}?",
        "model": model,
        "checklist": [f"Is it {i}?" for i in range(2)],
        "evaluations": verdicts,
    }


def within(q, model, verdicts):
    """The same with each verdict in its criterion, beside its reason."""
    checklist = [
        {"question": f"Is it {i}?", "answer": v, "reason": f"so {v}"} for i, v in enumerate(verdicts)
    ]
    return beside(q, model, None) | {"checklist": checklist, "judge": "judge"}


@pytest.mark.parametrize(
    ("record", "words"), [(beside, ("NO", "YES")), (beside, (False, True)), (within, ("NO", "YES"))]
)
def test_a_yes_or_no_to_each_criterion_is_a_label_whatever_it_is_called(ws, record, words):
    """They were read as prompts with criteria, and the labels were lost."""
    records = [record(q, m, [words[label(m, q, i)] for i in range(2)]) for m in MODELS for q in range(2)]
    records[0] = record(0, MODELS[0], [words[label(MODELS[0], 0, 0)], None])
    ws.ingest(lines(records), "d")
    expected = {(m, f"q{q}#{i}", "judge"): label(m, q, i) for m in MODELS for q in range(2) for i in range(2)}
    found = cells(ws)
    assert found.pop((MODELS[0], "q0#1", "judge")) is pd.NA
    del expected[MODELS[0], "q0#1", "judge"]
    assert found == expected
    assert ws.dataset("d").rubrics["text"].tolist() == ["Is it 0?", "Is it 1?"] * 2


def test_the_reason_of_a_verdict_within_its_criterion_is_kept(ws):
    ws.ingest(lines([within(0, m, ["no", "yes"]) for m in MODELS]), "d")
    assert set(ws.dataset("d").labels()["reason"]) == {"so no", "so yes"}


def test_two_lists_of_verdicts_are_no_mere_list_of_criteria(ws):
    """Which of the two counts is not guessed, and neither is lost in silence."""
    record = beside(0, "m", ["yes", "no"]) | {"second": ["no", "no"]}
    with pytest.raises(IngestError):
        ws.ingest(lines([record]), "d")


@pytest.mark.parametrize(
    ("holder", "verdict"),
    crossed(["grades", "evaluations", "judgments", "results"], ["met", "criteria_met", "score", "value"]),
)
def test_criteria_with_a_list_of_verdict_objects_beside_are_no_mere_list_of_criteria(ws, holder, verdict):
    """Their labels were left out: the records were taken for prompts that nobody has graded."""
    rubric = [{"criterion": f"c{i}", "points": i + 1} for i in range(3)]
    content = lines(
        {"prompt": f"Why {q}?", "model": m, "rubric": rubric,
         holder: [{verdict: bool(label(m, q, i)), "why": f"so {i}"} for i in range(3)]}
        for m in MODELS for q in range(3)
    )  # fmt: skip
    ws.ingest(content, "d", name="x.jsonl")
    found = ws.dataset("d").labels()
    assert {tuple(row) for row in found[["system", "query", "rubric", "label"]].itertuples(index=False)} == {
        (m, f"Why {q}?", f"Why {q}?#c{i}", label(m, q, i)) for m in MODELS for q in range(3) for i in range(3)
    }
    assert sorted(set(ws.dataset("d").rubrics["weight"])) == [1, 2, 3]


def test_criteria_with_flags_of_their_own_are_still_a_list_of_criteria(ws):
    rubric = [{"criterion": f"c{i}", "points": 1, "is_negative": i > 0} for i in range(3)]
    content = lines({"prompt": f"Why {q}?", "rubric": rubric} for q in range(3))
    ws.ingest(content, "d", name="x.jsonl")
    assert len(ws.dataset("d").rubrics) == 9


def test_flags_of_messages_are_no_grades(ws):
    said = [{"role": "user", "content": "Why?", "cached": True}]
    content = lines(
        {"messages": said, "rubrics": [f"It does {i}" for i in range(3)], "id": q} for q in range(2)
    )
    ws.ingest(content, "d", name="x.jsonl")
    assert len(ws.dataset("d").rubrics) == 6


def test_what_serves_a_model_is_not_the_system_that_the_file_is_named_after(ws):
    """Two models were one system called vllm."""
    for model in ("gpt-4o", "claude-3"):
        records = [
            {
                "instruction": f"do {q}",
                "checklist": ["cites", "is short"],
                "verdicts": ["yes", "no"],
                "engine": "vllm",
            }
            for q in range(3)
        ]
        ws.ingest(json.dumps(records).encode(), "d", name=f"{model}.json")
    assert ws.dataset("d").systems == ("claude-3", "gpt-4o")
