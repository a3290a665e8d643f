"""Mappings that refusals show: each reads the file as it is meant."""

from __future__ import annotations

import json

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest
from tests.labels.readers.test_layouts import MODELS, cells, label, lines, table

QUERIES = [f"q{q}" for q in range(8)]
CRITERIA = ("clarity", "helpfulness", "correctness")


def proposal(ws, content: bytes, name: str = "x.csv") -> dict:
    with pytest.raises(IngestError) as told:
        ws.ingest(content, "d", name=name)
    sentence = str(told.value)
    shown, _ = json.JSONDecoder().raw_decode(sentence[sentence.index('{"') :])
    return {c: "=a" if v == "=…" else v for c, v in shown.items()}


def scored(*keys: object) -> list[int]:
    return [1 + label(*keys, c) + 2 * label(c, *keys) for c in CRITERIA]


def test_what_an_answer_should_hold_makes_no_systems_of_criteria(ws):
    rows = [[q, f"Must name {q}", f"answer {q}", *scored(q)] for q in QUERIES]
    shown = proposal(ws, table(["test_id", "expected_criteria", "llm_output", *CRITERIA], rows))
    assert shown == {"system": "=a", "query": "test_id", "rubric": list(CRITERIA)}


def test_numbered_samples_of_a_task_are_its_runs_and_no_rubrics(ws):
    rows = [[f"t/{q}", m, s, label(m, q, s)] for m in MODELS for q in QUERIES for s in range(2)]
    content = table(["task_id", "model", "sample_id", "passed"], rows)
    shown = proposal(ws, content)
    assert (shown["query"], shown["run"], shown["rubric"]) == ("task_id", "sample_id", "=passed")
    ws.ingest(content, "d", name="x.csv", mapping=shown)
    assert {r for _, _, r, _ in cells(ws)} == {f"t/{q}#passed" for q in QUERIES}


def test_seconds_that_each_question_took_are_no_query(ws):
    rows = [[f"p{i}", *scored(i), f"{i + 1}.{i}7"] for i in range(8)]
    shown = proposal(ws, table(["token", *CRITERIA, "Time for the question"], rows))
    assert shown == {"system": "=a", "rubric": list(CRITERIA), "query": "token"}


def test_scores_of_a_judge_beside_answers_named_alike_are_the_systems(ws):
    rows = [[f"What is {q}?", f"a {q}", f"b {q}", *scored(q)[:2]] for q in QUERIES]
    heads = ["question", "base_answer", "tuned_answer", "base_judge_score", "tuned_judge_score"]
    content = table(heads, rows)
    shown = proposal(ws, content)
    assert shown["system"] == ["base_judge_score", "tuned_judge_score"]
    ws.ingest(content, "d", name="x.csv", mapping=shown)
    assert len(cells(ws)) == 2 * len(QUERIES)


def test_annotators_of_sentences_are_judges(ws):
    rows = [[f"Sentence {q}.", label(q, "a"), label(q, "b")] for q in QUERIES]
    content = table(["sentence", "annotator_1", "annotator_2"], rows)
    shown = proposal(ws, content)
    assert (shown["judge"], shown["query"]) == (["annotator_1", "annotator_2"], "sentence")
    ws.ingest(content, "d", name="x.csv", mapping=shown)
    assert {j for *_, j in cells(ws)} == {"annotator_1", "annotator_2"}


def test_members_behind_criteria_are_judges(ws):
    heads = [f"{c}_Member{i}" for i in (1, 2) for c in CRITERIA]
    rows = [[m, q, *scored(m, q), *scored(q, m)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "query", *heads], rows), "d", name="x.csv")
    assert {j for *_, j in cells(ws)} == {"Member1", "Member2"}
    assert {r.partition("#")[2] for _, _, r, _ in cells(ws)} == set(CRITERIA)


def test_labels_of_people_alone_are_labels(ws):
    rows = [[q, m, f"text {m} {q}", 1 + label(m, q)] for m in MODELS for q in QUERIES]
    content = table(["source_sentence", "model", "translation", "human_rating"], rows)
    shown = proposal(ws, content)
    ws.ingest(content, "d", name="x.csv", mapping=shown)
    assert cells(ws) == {
        (m, q, f"{q}#human_rating", "judge"): 1 + label(m, q) for m in MODELS for q in QUERIES
    }


def test_a_numbered_repetition_is_no_criterion_and_a_justification_no_query(ws):
    heads = ["topic", "condition", "Repetition (#)", "Policy Score (1-5)", "Brief Justification (1 sentence)"]
    rows = [
        [t, c, r, 2 + label(t, c, r), f"As {t} {c} {r}."] for t in "xyz" for c in "uv" for r in range(1, 4)
    ]
    shown = proposal(ws, table(heads, rows))
    assert shown["label"] == "Policy Score (1-5)"
    assert heads[-1] not in shown.values()


def test_a_prompt_set_that_all_rows_share_is_no_query_and_participants_judge(ws):
    rows = [["P", f"s{q}", a, *scored(q, a)] for q in QUERIES for a in "uvw"]
    shown = proposal(ws, table(["prompt_set", "story", "participant_id", *CRITERIA], rows))
    assert (shown["query"], shown["judge"]) == ("story", "participant_id")


def test_variants_of_systems_are_no_rubrics(ws):
    rows = [[q, m, v, 1 + label(m, q, v)] for m in MODELS for q in QUERIES for v in ("v0", "v1")]
    shown = proposal(ws, table(["source_sentence", "model", "variant", "human_rating"], rows))
    assert "variant" not in shown.values()


@pytest.mark.parametrize("status", [("base_status", "plus_status"), ("status",)])
def test_keys_that_a_query_within_repeats_are_neither_judges_nor_rubrics(status):
    """As in EvalPlus's and BigCodeBench's results: each key is the task_id of the results that it holds."""

    def said(n: int) -> dict:
        return {s: ("pass", "fail")[n // (1 + i) % 2] for i, s in enumerate(status)}

    tasks = [f"HumanEval/{n}" for n in range(6)]
    results = {t: [{"task_id": t, "solution": "def f(): ...", **said(n)}] for n, t in enumerate(tasks)}
    problem = plan_ingest(json.dumps({"eval": results}).encode(), name="x.json", strict=True).problems[0]
    assert '"query": "eval{}[].task_id"' in problem
    assert '"eval{}.#"' not in problem


def test_raters_of_one_criterion_are_judges(ws):
    """As in ASAP's essays: they were criteria."""
    rows = [[q, "an essay", 1 + label(q, 1), 1 + label(q, 2)] for q in QUERIES]
    shown = proposal(ws, table(["essay_id", "essay", "rater1_domain1", "rater2_domain1"], rows))
    assert (shown["rubric"], shown["judge"]) == ("=domain1", ["rater1_domain1", "rater2_domain1"])
    ws.ingest(table(["essay_id", "essay", "rater1_domain1", "rater2_domain1"], rows), "d", mapping=shown)
    assert ws.dataset("d").labels()["judge"].nunique() == 2


def tasks(own):
    """Tasks of Prodigy: two annotators of each system's answer to each query, who said what ``own`` tells."""
    return lines(
        {"text": f"{m} to {q}", "meta": {"model": m, "query": q}, "_input_hash": i, "_task_hash": -i,
         "_annotator_id": f"db-{k}", "_session_id": f"db-{k}", "_view_id": "choice", **own(label(m, q, k))}
        for m in MODELS for i, q in enumerate(QUERIES) for k in ("ann", "bob")
    )  # fmt: skip


TASKS = {
    "a choice": (
        lambda x: {"options": [{"id": 0, "text": "bad"}, {"id": 1, "text": "ok"}], "accept": [x], "answer": "accept"},
        "choice",
    ),
    "none": (lambda x: {"options": [{"id": 1, "text": "good"}], "accept": [1] * x, "answer": "accept"}, "choice"),
    "yes or no": (lambda x: {"label": "HELPFUL", "answer": ("reject", "accept")[x]}, "HELPFUL"),
}  # fmt: skip


@pytest.mark.parametrize("case", TASKS)
def test_tasks_of_prodigy(ws, case):
    """The labels were the options' texts, or the only label there was; the query was the annotator's session."""
    own, rubric = TASKS[case]
    shown = proposal(ws, tasks(own), "x.jsonl")
    assert (shown["system"], shown["query"], shown["judge"]) == ("meta.model", "meta.query", "_annotator_id")
    ws.ingest(tasks(own), "d", name="x.jsonl", mapping=shown)
    wanted = {
        (m, q, f"{q}#{rubric}", f"db-{k}"): x
        for m in MODELS
        for q in QUERIES
        for k in ("ann", "bob")
        if (x := label(m, q, k)) or case != "none"
    }
    assert cells(ws) == wanted


def test_several_choices_of_a_task_of_prodigy_are_no_labels(ws):
    several = tasks(
        lambda x: {"options": [{"id": i} for i in range(3)], "accept": [x, 2], "answer": "accept"}
    )
    shown = proposal(ws, several, "x.jsonl")
    with pytest.raises(IngestError, match="conflicts with row 3"):
        ws.ingest(several, "d", name="x.jsonl", mapping=shown)


GROUPS = {"style": ("clarity", "tone"), "content": ("clarity", "depth")}


@pytest.mark.parametrize("form", [lambda x: x, lambda x: {"score": x, "reason": "because"}])
def test_criteria_of_one_name_in_several_groups_are_called_after_these_too(ws, form):
    """The mapping read the first group alone."""
    keys = [(m, q, g, c) for m in MODELS for q in QUERIES for g, own in GROUPS.items() for c in own]

    def scores(m: str, q: str) -> dict:
        return {g: {c: form(label(m, q, g, c)) for c in own} for g, own in GROUPS.items()}

    content = lines({"model": m, "query_id": q, "scores": scores(m, q)} for m in MODELS for q in QUERIES)
    ws.ingest(content, "d", name="x.jsonl", mapping=proposal(ws, content, "x.jsonl"))
    assert cells(ws) == {(m, q, f"{q}#{g}/{c}", "judge"): label(m, q, g, c) for m, q, g, c in keys}


@pytest.mark.parametrize("outer", ["system", "model"])
@pytest.mark.parametrize("home", ["scores", "evaluation"])
def test_a_model_among_the_labels_of_another_one_is_their_judge(ws, home, outer):
    """The mapping that was shown took it for the system, and left the system out."""
    judges = ("gpt-4.1", "claude-4")
    records = [
        {outer: m, "query": q, home: {"model": j, **dict(zip(CRITERIA, scored(m, q, j), strict=True))}}
        for m in MODELS
        for q in QUERIES
        for j in judges
    ]
    shown = proposal(ws, lines(records), name="x.jsonl")
    assert (shown["system"], shown["judge"]) == (outer, f"{home}.model")
    ws.ingest(lines(records), "d", name="x.jsonl", mapping=shown)
    assert {(s, j) for s, _, _, j in cells(ws)} == {(m, j) for m in MODELS for j in judges}


def test_a_model_among_labels_that_repeats_the_one_around_them_is_no_judge(ws):
    records = [
        {"system": m, "query": q, "scores": {"model": m, **dict(zip(CRITERIA, scored(m, q), strict=True))}}
        for m in MODELS
        for q in QUERIES
    ]
    assert "judge" not in proposal(ws, lines(records), name="x.jsonl")


def test_the_models_of_a_list_of_results_are_the_systems_whatever_names_the_record(ws):
    records = [
        {"model": "suite", "query": q, "results": [{"model": m, "score": label(m, q)} for m in MODELS]}
        for q in QUERIES
    ]
    ws.ingest(lines(records), "d", name="x.jsonl")
    assert {(system, judge) for system, _, _, judge in cells(ws)} == {(m, "judge") for m in MODELS}
