"""Labels deep in JSON: whose they are, which criterion each is of, and which reason belongs to which."""

# ruff: noqa: E501 - a layout's records, each in one line
from __future__ import annotations

import json
import re

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest
from tests.labels.readers.test_layouts import JUDGES, MODELS, cells, label, lines
from tests.tiers import crossed

CRITERIA = ("cites well", "clear")
QUERIES = ("p0", "p1")
SYSTEMS = ("s2s", "fusion", "plan")


def graded(q):
    """One query with the answers of all models, each with a rating and its reason a criterion, as in UltraFeedback."""
    return {
        "instruction": q,
        "completions": [
            {"model": m, "response": f"{m} says", "annotations": {c: {"Rationale": f"why {m} {q} {c}", "Rating": str(label(m, q, c))} for c in CRITERIA}}
            for m in MODELS
        ],
    }  # fmt: skip


def test_each_reason_stays_with_the_label_beside_it(ws):
    ws.ingest(lines(graded(q) for q in QUERIES), "d", name="x.jsonl")
    found = ws.dataset("d").labels()
    said = {
        (s, r.replace("#", " ")): why
        for s, r, why in found[["system", "rubric", "reason"]].itertuples(index=False)
    }
    assert said == {(m, f"{q} {c}"): f"why {m} {q} {c}" for m in MODELS for q in QUERIES for c in CRITERIA}  # fmt: skip


# name → (records, mapping that has to be given, the labels that they hold)
NESTED = {
    "items that each name their system are answers to one question": (
        [{"id": q, "outputs": [{"model": m, "output": "so", "judgement": {"verdict": ("incorrect", "correct")[label(m, q)]}} for m in MODELS]} for q in QUERIES],
        {},
        {(m, q, f"{q}#verdict", "judge"): label(m, q) for m in MODELS for q in QUERIES},
    ),
    "models as keys, each with objects of judges and criteria": (
        [{"prompt_id": q, "responses": {m: {"text": "so", "grades": {j: {c: label(m, q, j, c) for c in CRITERIA} for j in ("o3", "sonnet")}} for m in MODELS}} for q in QUERIES],
        {},
        {(m, q, f"{q}#{c}", j): label(m, q, j, c) for m in MODELS for q in QUERIES for j in ("o3", "sonnet") for c in CRITERIA},
    ),
    "results of one model, each with an id": (
        [{"model": m, "results": [{"id": q, "scores": {c: label(m, q, c) for c in CRITERIA}} for q in QUERIES]} for m in MODELS],
        {},
        {(m, q, f"{q}#{c}", "judge"): label(m, q, c) for m in MODELS for q in QUERIES for c in CRITERIA},
    ),
    "results of one model, each with an id beside its scores": (
        [{"model": m, "results": [{"id": q, "clear": label(m, q, "clear"), "concise": label(m, q, "concise")} for q in QUERIES]} for m in MODELS],
        {},
        {(m, q, f"{q}#{c}", "judge"): label(m, q, c) for m in MODELS for q in QUERIES for c in ("clear", "concise")},
    ),
    "a score and a word, which some graders do not give": (
        [{"model": m, "question_id": q, "annotations": [{"name": c, "label": "yes" if c == "clear" else None, "score": label(m, q, c)} for c in CRITERIA]} for m in MODELS for q in QUERIES],
        {},
        {(m, q, f"{q}#{c}", "judge"): label(m, q, c) for m in MODELS for q in QUERIES for c in CRITERIA},
    ),
    "items that each name an annotator are about the same": (
        [{"model": m, "question_id": q, "annotations": [{"annotator": j, "score": label(m, q, j)} for j in "xy"]} for m in MODELS for q in QUERIES],
        {},
        {(m, q, f"{q}#score", j): label(m, q, j) for m in MODELS for q in QUERIES for j in "xy"},
    ),
    "items of one annotator each, with a field a criterion": (
        [{"model": m, "question_id": q, "ratings": [{"annotator": j, **{c: 1 + label(m, q, j, c) for c in CRITERIA}} for j in "xy"]} for m in MODELS for q in QUERIES],
        {},
        {(m, q, f"{q}#{c}", j): 1 + label(m, q, j, c) for m in MODELS for q in QUERIES for j in "xy" for c in CRITERIA},
    ),
    "scores of judges that are named after their makers": (
        [{"model": m, "question_id": q, "judge_scores": {j: 1 + label(m, q, j) for j in ("openai", "anthropic")}} for m in MODELS for q in QUERIES],
        {},
        {(m, q, f"{q}#score", j): 1 + label(m, q, j) for m in MODELS for q in QUERIES for j in ("openai", "anthropic")},
    ),
    "grades of judges beside the task and the model of their answer": (
        [{"meta": {"model": m, "task": q}, "grades": [{"criterion": c, "grade": 1 + label(m, q, c, j), "judge": j} for c in CRITERIA for j in "xy"]} for m in MODELS for q in QUERIES],
        {},
        {(m, q, f"{q}#{c}", j): 1 + label(m, q, c, j) for m in MODELS for q in QUERIES for c in CRITERIA for j in "xy"},
    ),
    "scores of criteria beside their sum": (
        [{"model": m, "question_id": q, "score": sum(label(m, q, c) for c in CRITERIA), "criterion_scores": {c: label(m, q, c) for c in CRITERIA}} for m in MODELS for q in QUERIES],
        {},
        {(m, q, f"{q}#{c}", "judge"): label(m, q, c) for m in MODELS for q in QUERIES for c in CRITERIA},
    ),
    "names of criteria beside their values, as in OpenAssistant": (
        [{"model": m, "question_id": q, "labels": {"name": list(CRITERIA), "value": [label(m, q, c) for c in CRITERIA], "count": [3, 2]}} for m in MODELS for q in QUERIES],
        {},
        {(m, q, f"{q}#{c}", "judge"): label(m, q, c) for m in MODELS for q in QUERIES for c in CRITERIA},
    ),
    "facts within sentences are told apart by both places, as in FActScore": (
        [{"model": m, "question_id": q, "sentences": [{"facts": [{"text": "a fact", "label": bool(label(m, q, s, f))} for f in range(2)]} for s in range(2)]} for m in MODELS for q in QUERIES],
        {"system": "model", "query": "question_id", "rubric": "sentences[].facts[].##", "label": "sentences[].facts[].label"},
        {(m, q, f"{q}#{s}.{f}", "judge"): label(m, q, s, f) for m in MODELS for q in QUERIES for s in range(2) for f in range(2)},
    ),
    "workers' answers to each sentence, whatever their field is called, as in QAGS": (
        [{"article": q, "sentences": [{"sentence": "a", "responses": [{"worker_id": j, "response": ("no", "yes")[label(q, s, j)]} for j in range(2)]} for s in range(2)]} for q in QUERIES],
        {"system": "=bart", "query": "article", "rubric": "sentences[].#", "label": "sentences[].responses[].response", "judge": "sentences[].responses[].worker_id"},
        {("bart", q, f"{q}#{s}", str(j)): label(q, s, j) for q in QUERIES for s in range(2) for j in range(2)},
    ),
    "one object of queries, each with an object of systems and their scores, as in OpenMEVA": (
        {str(q): {"prompt": f"story {q}", "gen": {m: {"text": "a story", "score": [label(m, q, j) for j in range(2)]} for m in SYSTEMS}} for q in range(4)},
        {"system": "{}.gen{}.#", "query": "{}.prompt", "rubric": "=score", "judge": "{}.gen{}.score[].#", "label": "{}.gen{}.score[]"},
        {(m, f"story {q}", f"story {q}#score", str(j)): label(m, q, j) for m in SYSTEMS for q in range(4) for j in range(2)},
    ),
    "one object of systems, each with a list of labels": (
        {m: [{"question_id": q, "criterion": c, "score": label(m, q, c)} for q in QUERIES for c in CRITERIA] for m in SYSTEMS},
        {"system": "{}.#", "query": "{}[].question_id", "rubric": "{}[].criterion", "label": "{}[].score"},
        {(m, q, f"{q}#{c}", "judge"): label(m, q, c) for m in SYSTEMS for q in QUERIES for c in CRITERIA},
    ),
    "one list of texts, and one of their scores a criterion: their places may be systems": (
        [{"id": q, "text": f"a text {q}", "summaries": ["one", "two", "three"], **{c: [label(m, q, c) for m in MODELS] for c in CRITERIA}} for q in QUERIES],
        {"system": "cites well[].#", "query": "id", "rubric": ["cites well[]", "clear[]"]},
        {(str(m), q, f"{q}#{c}", "judge"): label(MODELS[m], q, c) for m in range(3) for q in QUERIES for c in CRITERIA},
    ),
    "the model within a judge is the judge, and no system": (
        [{"model": m, "question_id": q, "judge": {"model": "gpt-4", "scores": {c: label(m, q, c) for c in CRITERIA}, "explanation": q}} for m in MODELS for q in QUERIES],
        {},
        {(m, q, f"{q}#{c}", "gpt-4"): label(m, q, c) for m in MODELS for q in QUERIES for c in CRITERIA},
    ),
    "the model beside what it judged in a list is the judge": (
        [{"model": m, "question_id": q, "judgments": [{"model": j, "score": label(m, q, j)} for j in ("o3", "sonnet")]} for m in MODELS for q in QUERIES],
        {},
        {(m, q, f"{q}#score", j): label(m, q, j) for m in MODELS for q in QUERIES for j in ("o3", "sonnet")},
    ),
    "a verdict within its judge, who is the model there": (
        [{"question_id": q, "model": m, "judge": {"model": "gpt-4", "verdict": ("fail", "pass")[label(m, q)], "reason": q}, "criterion": "x"} for m in MODELS for q in QUERIES],
        {"system": "model", "query": "question_id", "rubric": "criterion", "judge": "judge.model", "reason": "judge.reason", "label": "judge.verdict"},
        {(m, q, f"{q}#x", "gpt-4"): label(m, q) for m in MODELS for q in QUERIES},
    ),
    "objects that are models, with a name each": (
        [{"task": {"id": q, "text": "do"}, "model": {"name": m, "latency_ms": len(q + m)}, "scores": {c: label(m, q, c) for c in CRITERIA}} for m in MODELS for q in QUERIES],
        {},
        {(m, q, f"{q}#{c}", "judge"): label(m, q, c) for m in MODELS for q in QUERIES for c in CRITERIA},
    ),
    "segments of an answer beside a verdict of each are no judges, as in FELM": (
        [{"model": m, "prompt": q, "segments": ["one", "two"], "labels": [bool(label(m, q, s)) for s in range(2)], "comment": ["", ""]} for m in MODELS for q in QUERIES],
        {"system": "model", "query": "prompt", "rubric": "labels[].#", "label": "labels[]"},
        {(m, q, f"{q}#{s}", "judge"): label(m, q, s) for m in MODELS for q in QUERIES for s in range(2)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NESTED)
def test_every_nested_label_comes_to_its_cell(ws, name):
    records, mapping, wanted = NESTED[name]
    content = json.dumps(records).encode() if isinstance(records, dict) else lines(records)
    if mapping:
        with pytest.raises(IngestError) as asked:
            ws.ingest(content, "d", name="x.json")
        given = json.loads(re.findall(r"\{.*\}", str(asked.value))[-1])
        shown = {c: path for c, path in given.items() if path != "=…"}
        assert {**shown, **mapping} == {**mapping, **shown}
        assert {c for c, path in mapping.items() if c != "query" and path != "=bart"} <= set(shown) | {
            "judge"
        }
    report = ws.ingest(content, "d", name="x.json", mapping=mapping)
    assert report.rejected == 0
    assert cells(ws) == wanted


PEOPLE = ("ann", "bob")


@pytest.mark.parametrize("holder", ["judges", "raters", "annotators", "ratings_by_judge", "scores per rater"])
@pytest.mark.parametrize("within", [lambda n: n, lambda n: {"score": n, "reason": "so"}])
def test_keys_of_what_is_called_after_judges_are_judges(ws, holder, within):
    records = [{"model": m, "question_id": q, holder: {j: within(label(m, q, j)) for j in PEOPLE}} for m in MODELS for q in QUERIES]  # fmt: skip
    ws.ingest(lines(records), "d", name="x.jsonl")
    assert cells(ws) == {(m, q, f"{q}#score", j): label(m, q, j) for m in MODELS for q in QUERIES for j in PEOPLE}  # fmt: skip


@pytest.mark.parametrize("keys", [PEOPLE, ("gpt-4", "claude")])
def test_items_of_each_judge_that_name_no_criteria_are_asked_about_by_their_places(ws, keys):
    records = [{"model": m, "question_id": q, "judges": {j: [{"score": label(m, q, j, n)} for n in range(2)] for j in keys}} for m in MODELS for q in QUERIES]  # fmt: skip
    with pytest.raises(IngestError, match="seems to hold labels within its records") as told:
        ws.ingest(lines(records), "d", name="x.jsonl")
    ws.ingest(lines(records), "d", name="x.jsonl", mapping=json.loads(re.search(r"\{.*\}", str(told.value))[0]))  # fmt: skip
    assert cells(ws) == {(m, q, f"{q}#{n}", j): label(m, q, j, n) for m in MODELS for q in QUERIES for j in keys for n in range(2)}  # fmt: skip


def test_judges_whose_names_nobody_knows_have_criteria(ws):
    records = [{"model": m, "question_id": q, "judges": {j: {c: label(m, q, j, c) for c in CRITERIA} for j in PEOPLE}} for m in MODELS for q in QUERIES]  # fmt: skip
    ws.ingest(lines(records), "d", name="x.jsonl")
    assert cells(ws) == {(m, q, f"{q}#{c}", j): label(m, q, j, c) for m in MODELS for q in QUERIES for j in PEOPLE for c in CRITERIA}  # fmt: skip


@pytest.mark.parametrize("keys", [PEOPLE, CRITERIA])
def test_keys_of_judge_scores_may_be_judges_or_criteria(ws, keys):
    records = [{"model": m, "question_id": q, "judge_scores": {k: label(m, q, k) for k in keys}} for m in MODELS for q in QUERIES]  # fmt: skip
    with pytest.raises(IngestError, match="takes for criteria are judges") as told:
        ws.ingest(lines(records), "d", name="x.jsonl")
    both = [json.loads(found) for found in re.findall(r"\{\".*?\"\}(?=;|\.$)", str(told.value))]
    ws.ingest(lines(records), "d", name="x.jsonl", mapping=both[keys == PEOPLE])
    whose = [("score", k) if keys == PEOPLE else (k, "judge") for k in keys]
    assert cells(ws) == {(m, q, f"{q}#{c}", j): label(m, q, k) for m in MODELS for q in QUERIES for k, (c, j) in zip(keys, whose, strict=True)}  # fmt: skip


def test_models_as_keys_of_judgments_are_judges():
    records = [{"prompt_id": q, "evaluations": {j: {c: {"score": 1 + label(q, j, c)} for c in CRITERIA} for j in ("gpt-4o", "claude")}} for q in QUERIES]  # fmt: skip
    (file,) = plan_ingest(lines(records), name="x.jsonl").files
    assert file.mapping["judge"] == "evaluations{}.#"
    assert file.mapping.get("system", "=x") == "=x"


def test_words_that_nobody_knows_are_asked_about_and_no_label_is_lost(ws):
    words = ("grounded", "invented", "irrelevant")
    records = [{"model": m, "question_id": q, "facts": [{"label": words[(n + label(m, q)) % 3]} for n in range(3)]} for m in MODELS for q in QUERIES]  # fmt: skip
    mapping = {"system": "model", "query": "question_id", "rubric": "facts[].#", "label": "facts[].label"}
    with pytest.raises(IngestError, match=r'"label": "facts\[\]\.label"'):
        ws.ingest(lines(records), "d", name="x.jsonl")
    with pytest.raises(IngestError, match="say what it stands for"):
        ws.ingest(lines(records), "d", name="x.jsonl", mapping=mapping)


def test_ratings_of_feedbackqa_are_a_ladder(ws):
    words = ("Bad", "Could be Improved", "Acceptable", "Excellent")
    records = [{"model": m, "question": q, "rating": [words[n], words[3 - n]], "feedback": ["so", "so"]} for n, (m, q) in enumerate((m, q) for m in MODELS[:2] for q in QUERIES)]  # fmt: skip
    ws.ingest(lines(records), "d", name="x.jsonl")
    wanted = {(r["model"], r["question"], f"{r['question']}#rating", str(j)): words.index(w) for r in records for j, w in enumerate(r["rating"])}  # fmt: skip
    assert cells(ws) == wanted


def test_offsets_of_spans_are_no_labels(ws):
    spans = [{"model": m, "question_id": q, "labels": [{"start": 1 + label(q, m), "end": 4 + label(m, q, 1), "text": "x"}]} for m in MODELS for q in QUERIES]  # fmt: skip
    with pytest.raises(IngestError, match="no column for rubric and label"):
        ws.ingest(lines(spans), "d", name="x.jsonl")


# what lies beside an answer → its value for an answer and a query
METADATA = {
    "log-probabilities and tokens": lambda m, q: {"logprobs": [-0.1, -0.2], "token_ids": [5, 7]},
    "numbers below 0": lambda m, q: {"shift": [-1, label(m, q)], "drift": [-2, 1]},
    "an embedding": lambda m, q: {"embedding": [0.2, 0.7, 0.1]},
    "what was measured": lambda m, q: {"results": {"latency": 1 + label(m, q), "retries": 0}},
    "tools that were called": lambda m, q: {"tool_calls": [{"name": "find", "success": bool(label(m, q, n))} for n in range(2)]},
    "usage": lambda m, q: {"usage": {"prompt_tokens": 5, "completion_tokens": 7}},
}  # fmt: skip


@pytest.mark.parametrize("name", METADATA)
def test_what_lies_beside_answers_makes_no_labels_of_them(name):
    records = [{"model": m, "question_id": q, "response": f"{m} says {q}", **METADATA[name](m, q)} for m in MODELS for q in QUERIES]  # fmt: skip
    (file,) = plan_ingest(lines(records), name="x.jsonl").files
    assert (file.kind, file.mapping["text"]) == ("answers", "response")


def test_the_letters_of_choices_are_no_grades():
    choices = {"text": ["an apple", "a boat", "the cat"], "label": ["A", "B", "C"]}
    records = [{"question": f"what is {q}", "choices": choices, "answerKey": "B"} for q in range(6)]
    (file,) = plan_ingest(lines(records), name="x.jsonl", kind="labels", strict=True).files
    assert "no column for system and rubric and label" in file.problem
    for given in (["B", "A", "C"], ["A", "B"]):
        grades = [{"model": m, "question": q, "grades": given} for m in MODELS for q in QUERIES]
        (file,) = plan_ingest(lines(grades), name="x.jsonl", kind="labels").files
        assert file.mapping["label"] == "grades[]"


def test_criteria_of_each_segment_of_a_system_s_answer_are_not_given_to_other_systems():
    records = [{"model": m, "prompt": q, "segments": ["one", "two"], **{c: [0, 1] for c in CRITERIA}} for m in MODELS for q in QUERIES]  # fmt: skip
    (file,) = plan_ingest(lines(records), name="x.jsonl", kind="labels", strict=True).files
    assert "no column for rubric and label" in file.problem


def _of_axes():
    return [
        {"info": {"id": f"t{q}"}, "summary": {"text": "so", "policy": m, "axes": {"overall": label(m, q, j), "cites": label(m, q, j, 1)}}, "worker": j}
        for m in MODELS for q in QUERIES for j in ("w1", "w2")
    ]  # fmt: skip


def test_a_fact_that_is_looked_for_in_all_answers_is_a_rubric_by_its_text_as_in_nuggets_of_trec(ws):
    words = ("not_support", "partial_support", "support")
    records = [
        {"qid": q, "query": f"why {q}", "run_id": m, "nuggets": [{"text": f"fact {n}", "importance": "vital", "assignment": words[label(m, q, n) + label(n, q)]} for n in range(3)]}
        for m in MODELS for q in QUERIES
    ]  # fmt: skip
    with pytest.raises(IngestError, match='"system": "run_id"') as told:
        ws.ingest(lines(records), "d", name="x.jsonl")
    mapping = json.loads(re.search(r"\{.*\}", str(told.value))[0])
    ws.ingest(lines(records), "d", name="x.jsonl", mapping=mapping)
    assert cells(ws) == {(m, f"why {q}", f"why {q}#fact {n}", "judge"): label(m, q, n) + label(n, q) for m in MODELS for q in QUERIES for n in range(3)}  # fmt: skip


def _of_criteria():
    return [{"model": m, "question_id": q, **{c: {j: label(m, q, c, j) for j in ("gpt4", "human")} for c in CRITERIA}} for m in MODELS for q in QUERIES]  # fmt: skip


def _of_runs(held):
    return [{"model": m, "question_id": q, "runs": [held(m, q, n) for n in range(2)]} for m in MODELS for q in QUERIES]  # fmt: skip


# what each run holds → its labels by criterion
RUNS = {
    "a score": (lambda *r: {"seed": 7, "score": label(*r)}, lambda *r: {"score": label(*r)}),
    "fields": (lambda *r: {c: label(*r, c) for c in ("clear", "short")}, lambda *r: {c: label(*r, c) for c in ("clear", "short")}),
    "an object": (lambda *r: {"scores": {c: label(*r, c) for c in CRITERIA}}, lambda *r: {c: label(*r, c) for c in CRITERIA}),
    "a list": (lambda *r: {"checks": [{"criterion": c, "met": label(*r, c)} for c in CRITERIA]}, lambda *r: {c: label(*r, c) for c in CRITERIA}),
}  # fmt: skip


@pytest.mark.parametrize("held", RUNS)
def test_the_items_of_a_list_of_runs_are_runs(ws, held):
    ws.ingest(lines(_of_runs(RUNS[held][0])), "d", name="x.jsonl")
    found = ws.dataset("d").labels()
    read = {tuple(row) for row in found[["system", "rubric", "run", "label"]].itertuples(index=False)}
    assert read == {(m, f"{q}#{c}", str(n), v) for m in MODELS for q in QUERIES for n in range(2) for c, v in RUNS[held][1](m, q, n).items()}  # fmt: skip


def test_runs_of_a_system_each_are_no_draws():
    runs = [{"model": m, "results": [{"question_id": q, "criterion": "x", "score": label(m, q)} for q in QUERIES]} for m in MODELS]  # fmt: skip
    assert "run" not in plan_ingest(json.dumps({"runs": runs}).encode(), name="x.json").files[0].mapping


def _of_keys():
    return [
        {
            m: {q: {"question": f"why {q}", "output": "so", "utility": 1 + label(m, q)} for q in QUERIES}
            for m in MODELS
        }
    ]


NAMELESS = {  # records, what has to be said besides what the refusal shows, the labels
    "an object of criteria with a name of its own, as in OpenAI's summaries": (
        _of_axes(),
        {"system": "summary.policy"},
        {
            (m, f"t{q}", f"t{q}#summary.axes.{c}", j): label(m, q, j, *k)
            for m in MODELS for q in QUERIES for j in ("w1", "w2") for c, k in (("overall", ()), ("cites", (1,)))
        },
    ),
    "an object of judges for each criterion": (
        _of_criteria(),
        {},
        {(m, q, f"{q}#{c}", j): label(m, q, c, j) for m in MODELS for q in QUERIES for c in CRITERIA for j in ("gpt4", "human")},
    ),
    "an object of judges of one criterion": (
        [{k: v for k, v in r.items() if k != "clear"} for r in _of_criteria()],
        {},
        {(m, q, f"{q}#cites well", j): label(m, q, "cites well", j) for m in MODELS for q in QUERIES for j in ("gpt4", "human")},
    ),
    "one object of systems and queries with a record each, as in ALCE": (
        _of_keys(),
        {},
        {(m, f"why {q}", f"why {q}#utility", "judge"): 1 + label(m, q) for m in MODELS for q in QUERIES},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMELESS)
def test_labels_that_only_their_values_tell_are_asked_about_with_paths_that_read_them(ws, name):
    records, said, wanted = NAMELESS[name]
    content = lines(records) if len(records) > 1 else json.dumps(records[0]).encode()
    with pytest.raises(IngestError, match="seems to hold labels within its records") as told:
        ws.ingest(content, "d", name="x.json")
    mapping = json.loads(re.search(r"\{.*\}", str(told.value))[0]) | said
    ws.ingest(content, "d", name="x.json", mapping=mapping)
    assert cells(ws) == wanted


def test_the_means_beside_a_list_of_records_are_no_labels(ws):
    rows = [{"model": m, "question_id": q, "clear.score": label(m, q)} for m in MODELS for q in QUERIES]
    with pytest.raises(IngestError, match=r"rows\[\]\.clear"):
        ws.ingest(json.dumps({"rows": rows, "metrics": {"clear.score": 0.5}}).encode(), "d", name="x.json")


# name → (what holds the labels of a record, those that it holds)
BESIDE_CERTAINTY = {
    "criteria": (
        lambda m, q: {c: label(m, q, c) for c in CRITERIA},
        {(m, q, f"{q}#{c}", "judge"): label(m, q, c) for m in MODELS for q in QUERIES for c in CRITERIA},
    ),
    "one criterion": (
        lambda m, q: {"clear": label(m, q)},
        {(m, q, f"{q}#clear", "judge"): label(m, q) for m in MODELS for q in QUERIES},
    ),
    "judges": (
        lambda m, q: {j: label(m, q, j) for j in ("gpt-4", "claude-3")},
        {(m, q, f"{q}#score", j): label(m, q, j) for m in MODELS for q in QUERIES for j in ("gpt-4", "claude-3")},
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "case"),
    crossed(
        ["confidence", "judge_confidence", "certainty", "Confidence Score", "probability"],
        list(BESIDE_CERTAINTY),
    ),
)
def test_how_sure_labels_are_is_no_label(ws, case, name):
    held, expected = BESIDE_CERTAINTY[case]
    records = [
        {"model": m, "prompt_id": q, "scores": {**held(m, q), name: 0.37}} for m in MODELS for q in QUERIES
    ]
    report = ws.ingest(lines(records), "d", name="x.jsonl")
    assert cells(ws) == expected
    assert any(f"Not used of x.jsonl: scores.{name}" in note for note in report.notes)


def test_how_sure_each_judge_is_of_its_labels_is_no_label(ws):
    judges = ("gpt-4", "claude-3")
    given = {(m, q): {j: {c: label(m, q, j, c) for c in CRITERIA} | {"confidence": 0.3} for j in judges} for m in MODELS for q in QUERIES}  # fmt: skip
    records = [{"model": m, "prompt_id": q, "scores": scores} for (m, q), scores in given.items()]
    report = ws.ingest(lines(records), "d", name="x.jsonl")
    assert cells(ws) == {
        (m, q, f"{q}#{c}", j): label(m, q, j, c) for m, q in given for j in judges for c in CRITERIA
    }
    assert any("scores.gpt-4.confidence, scores.claude-3.confidence" in note for note in report.notes)


def test_what_lies_beside_the_labels_of_an_object_of_criteria_is_told(ws):
    records = [
        {"model": m, "prompt_id": q, "scores": {c: {"score": label(m, q, c), "tokens": 7} for c in CRITERIA}}
        for m in MODELS
        for q in QUERIES
    ]
    report = ws.ingest(lines(records), "d", name="x.jsonl")
    assert any("Not used" in note and "scores.clear.tokens" in note for note in report.notes)


@pytest.mark.parametrize("first", [0, "d0"])
def test_the_texts_of_one_system_and_one_criterion_are_its_queries(ws, first):
    """They had been one cell, to be read as draws of one judge."""
    ids = range(6) if first == 0 else [f"d{n}" for n in range(6)]
    records = [{"doc_id": i, "system_id": "s", "scores": {"consistency": n % 2}} for n, i in enumerate(ids)]
    ws.ingest(json.dumps(records).encode(), "d", name="x.json")
    found = ws.dataset("d").labels()
    assert dict(zip(found["query"], found["label"], strict=True)) == {
        str(i): n % 2 for n, i in enumerate(ids)
    }


def test_an_id_that_tells_no_results_apart_is_no_query():
    record = {
        "model": "north",
        "results": [{"id": "x", "scores": {"clear": n, "short": 2}} for n in (1, 2, 3)],
    }
    assert "query" not in plan_ingest(json.dumps(record).encode(), name="x.json").files[0].mapping


def test_keys_that_are_called_judges_are_no_queries():
    record = {m: {j: {c: 1 + len(c) % 3 for c in CRITERIA} for j in ("judge_a", "judge_b")} for m in MODELS}
    mapping = plan_ingest(json.dumps(record).encode(), name="x.json").files[0].mapping
    assert {c: mapping.get(c) for c in ("system", "judge", "rubric", "query")} == {
        "system": "{}.#",
        "judge": "{}{}.#",
        "rubric": "{}{}{}.#",
        "query": None,
    }


def test_keys_that_number_tasks_are_queries_of_one_score_each():
    """They had been criteria of one query."""
    record = {m: {f"task_{q}": (n + q) % 2 for q in range(4)} for n, m in enumerate(MODELS)}
    mapping = plan_ingest(json.dumps(record).encode(), name="x.json").files[0].mapping
    assert mapping == {"system": "{}.#", "query": "{}{}.#", "label": "{}{}", "rubric": "=score"}


def test_persons_who_rate_numbered_items_are_judges_and_no_queries():
    """``id`` names the item that several systems answered; the keys within were proposed as the queries."""
    records = [
        {
            "id": i,
            "model": m,
            "scores": {p: {c: 1 + (i + len(c)) % 4 for c in CRITERIA} for p in ("ann", "bo")},
        }
        for i in range(4)
        for m in MODELS
    ]
    mapping = plan_ingest(json.dumps(records).encode(), name="x.json").files[0].mapping
    assert {c: mapping[c] for c in ("system", "query", "judge")} == {
        "system": "model",
        "query": "id",
        "judge": "scores{}.#",
    }
    own = [record | {"id": n} for n, record in enumerate(records)]
    assert plan_ingest(json.dumps(own).encode(), name="x.json").files[0].mapping["query"] == "scores{}.#"


CHECKS = ("cites", "brief", "polite")


def checked(name, **more):
    """Results of each answer, whose checks come in another order for another model."""
    orders = {m: CHECKS[::-1] if n % 2 else CHECKS for n, m in enumerate(MODELS)}
    return lines(
        {
            "model": m,
            "question_id": q,
            "results": [{name: c, "passed": label(m, q, c), **more} for c in orders[m]],
        }
        for m in MODELS
        for q in QUERIES
    )


@pytest.mark.parametrize(
    "name", ["dimension_name", "check", "check_name", "assertion", "requirement", "trait"]
)
def test_lists_know_the_names_of_criteria_that_tables_know(ws, name):
    ws.ingest(checked(name), "d", name="x.jsonl")
    assert cells(ws) == {
        (m, q, f"{q}#{c}", "judge"): label(m, q, c) for m in MODELS for q in QUERIES for c in CHECKS
    }


@pytest.mark.parametrize("name", ["nl_assertion", "test_name", "description", "question", "whatever"])
def test_texts_that_items_share_across_records_are_asked_about_as_the_rubric_and_not_their_places(ws, name):
    """By its place a check was another one for another model."""
    with pytest.raises(IngestError) as asked:
        ws.ingest(checked(name, group="all"), "d", name="x.jsonl")
    mapping = json.loads(re.search(r"\{.*\}", str(asked.value))[0])
    assert (mapping["rubric"], mapping["query"]) == (f"results[].{name}", "question_id")
    ws.ingest(checked(name, group="all"), "d", name="x.jsonl", mapping=mapping)
    assert cells(ws) == {
        (m, q, f"{q}#{c}", "judge"): label(m, q, c) for m in MODELS for q in QUERIES for c in CHECKS
    }


def test_a_field_called_like_a_criterion_that_holds_labels_is_no_rubric(ws):
    items = [{"name": c, "quality": "good", "passed": True} for c in CHECKS]
    ws.ingest(
        lines({"model": m, "question_id": q, "results": items} for m in MODELS for q in QUERIES),
        "d",
        name="x.jsonl",
    )
    assert set(ws.dataset("d").rubrics["criterion"]) == set(CHECKS)


def test_skills_of_which_each_judge_scores_several_are_asked_about_as_rubrics(ws):
    """All labels of a judge were taken for those of one rubric."""
    records = [
        {"model": m, "question_id": q, "results": [{"judge": j, "skill": c, "score": label(m, q, c, j)} for j in "ab" for c in CHECKS]}
        for m in MODELS
        for q in QUERIES
    ]  # fmt: skip
    with pytest.raises(IngestError, match=re.escape('"rubric": "results[].skill"')):
        ws.ingest(lines(records), "d", name="x.jsonl")


def test_questions_that_each_model_answers_once_are_queries_of_one_rubric_and_asked_about(ws):
    records = [
        {"model": m, "results": [{"question": q, "score": label(m, q)} for q in QUERIES]} for m in MODELS
    ]
    with pytest.raises(IngestError, match=re.escape('"query": "results[].question", "rubric": "=score"')):
        ws.ingest(lines(records), "d", name="x.jsonl")


def evaluated(field, names):
    items = {
        (m, q): [{field: name, "score": label(m, q, name)} for name in names] for m in MODELS for q in QUERIES
    }
    return lines({"model": m, "question_id": q, "evaluations": e} for (m, q), e in items.items())


@pytest.mark.parametrize("field", ["evaluator", "evaluator_name", "scorer"])
def test_evaluators_that_are_called_after_metrics_are_rubrics(ws, field):
    """They were taken for the judges of one rubric, of which one called toxicity would be a harsh one."""
    ws.ingest(evaluated(field, ("Correctness", "Hallucination", "Toxicity")), "d", name="x.jsonl")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"Correctness", "Hallucination", "Toxicity"}


def test_evaluators_of_which_some_are_called_after_metrics_are_asked_about(ws):
    with pytest.raises(IngestError, match=r"takes for criteria are judges, with .*\"rubric\": \"=score\""):
        ws.ingest(evaluated("evaluator", ("Florence", "Bob")), "d", name="x.jsonl")


def test_other_evaluators_are_judges(ws):
    ws.ingest(evaluated("evaluator", ("alice", "gpt-4o")), "d", name="x.jsonl")
    assert set(ws.dataset("d").labels()["judge"]) == {"alice", "gpt-4o"}


GRADED = {m: [{"question_id": q, "criterion": c, "score": label(m, q, c)} for q in QUERIES for c in CRITERIA] for m in ("gpt-4o", "claude-3-opus", "llama-3")}  # fmt: skip
KEYED = {
    "objects": {m: {"judge": "o3", "results": own} for m, own in GRADED.items()},
    "objects of two models": {m: {"judge": "o3", "results": own} for m, own in [*GRADED.items()][:2]},
    "lists": GRADED,
    "objects beside others": {
        "about": {"made": "today"},
        **{m: {"results": own} for m, own in GRADED.items()},
    },
}


@pytest.mark.parametrize("name", KEYED)
def test_keys_of_one_object_that_are_models_are_asked_about_as_systems(ws, name):
    """They were offered as judges, or as queries, of a system that nothing named."""
    content = json.dumps(KEYED[name]).encode()
    with pytest.raises(IngestError) as asked:
        ws.ingest(content, "d", name="x.json")
    mapping = json.loads(re.search(r"\{.*\}", str(asked.value))[0])
    assert mapping["system"] == "{}.#"
    report = ws.ingest(content, "d", name="x.json", mapping=mapping)
    assert not any(n.startswith("Not used") and "score" in n for n in report.notes)
    held = {m for m in GRADED if m in KEYED[name]}
    judge = "o3" if "judge" in str(KEYED[name]) else "judge"
    assert cells(ws) == {
        (m, q, f"{q}#{c}", judge): label(m, q, c) for m in held for q in QUERIES for c in CRITERIA
    }


def test_a_field_whose_name_has_a_point_is_named_once_among_what_is_not_used(ws):
    records = [{"extra.note": "so", "more": {"x": 1}, "model": m, "question_id": q, "scores": {c: label(m, q, c) for c in CRITERIA}} for m in MODELS for q in QUERIES]  # fmt: skip
    report = ws.ingest(lines(records), "d", name="x.jsonl")
    assert "Not used of x.jsonl: extra.note, more.x." in report.notes


def test_the_id_beside_a_question_names_the_query_and_the_question_is_its_text(ws):
    records = [
        {"question_id": q, "question": f"What is {q}?", "model": m, "scores": {"clear": label(m, q)}}
        for m in MODELS
        for q in QUERIES
    ]
    ws.ingest(lines(records), "d", name="x.jsonl")
    assert cells(ws) == {(m, q, f"{q}#clear", "judge"): label(m, q) for m in MODELS for q in QUERIES}
    assert dict(ws.dataset("d").queries[["query", "text"]].values) == {q: f"What is {q}?" for q in QUERIES}


def test_places_of_answers_that_name_their_systems_are_no_criteria(ws):
    """As in a study of summaries: ``summary 1`` of one document is another system's than that of the next."""
    places = {q: MODELS[n % 3 :] + MODELS[: n % 3] for n, q in enumerate(("p0", "p1", "p2"))}
    content = {
        q: {"document": ["a text"], **{f"summary {n + 1}": {"score": label(m, q), "model": m} for n, m in enumerate(own)}}
        for q, own in places.items()
    }  # fmt: skip
    ws.ingest_plan(
        plan_ingest(("x.json", json.dumps(content).encode())), "d", ("x.json", json.dumps(content).encode())
    )
    assert cells(ws) == {(m, q, f"{q}#score", "judge"): label(m, q) for m in MODELS for q in places}


def test_labels_that_one_of_several_objects_calls_otherwise_are_read_and_its_flags_are_told(ws):
    """Weave's scorers name what they found as they like; a flag may be of a fault."""
    records = [
        {"model": m, "query": q, "scores": {"tone": {"correct": label(m, q) > 0}, "harm": {"flagged": label(q, m) > 0}}}
        for m in MODELS
        for q in ("q1", "q2", "q3", "q4")
    ]  # fmt: skip
    report = ws.ingest(lines(records), "d", name="x.jsonl")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"tone.correct", "harm.flagged"}
    assert any("such as harm.flagged" in c.sentence for c in report.checks if c.code == "named_after_fault")


@pytest.mark.parametrize("holder", ["scores", "metrics"])
def test_flags_and_bounds_among_keys_of_scores_are_no_criteria(ws, holder):
    """Flags that all rows share were criteria that all meet."""
    own = {"is_final": True, "completed": True, "max_score": 5}
    records = [
        {"model": m, "query_id": q, holder: {**{c: 1 + label(m, q, c) for c in ("clarity", "tone")}, **own}}
        for m in MODELS
        for q in ("q0", "q1", "q2")
    ]
    report = ws.ingest(lines(records), "d", name="x.jsonl")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"clarity", "tone"}
    assert any(f"Not used of x.jsonl: {holder}.is_final" in note for note in report.notes)


def test_a_criterion_called_completed_beside_verdicts_is_one(ws):
    records = [
        {
            "model": m,
            "query_id": q,
            "scores": {"clear": bool(label(m, q)), "completed": True, "is_final": True},
        }
        for m in MODELS
        for q in ("q0", "q1", "q2")
    ]
    ws.ingest(lines(records), "d", name="x.jsonl")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"clear", "completed"}


def test_the_name_of_a_set_of_criteria_is_none_of_these_where_judges_give_labels(ws):
    """The criteria were offered as judges of the set."""
    keys = [(m, q, c, j) for m in MODELS for q in ("p0", "p1") for c in ("clarity", "tone") for j in JUDGES]
    content = lines(
        {
            "model": m,
            "query_id": q,
            "rubric": "set 1",
            "scores": {j: {c: label(m, q, c, j) for c in ("clarity", "tone")} for j in JUDGES},
        }
        for m in MODELS
        for q in ("p0", "p1")
    )
    ws.ingest(content, "d", name="x.jsonl")
    assert cells(ws) == {(m, q, f"{q}#{c}", j): label(m, q, c, j) for m, q, c, j in keys}


GIVEN = {"objects": lambda grade: {"score": grade, "reason": "so"}, "numbers": lambda grade: grade}
AROUND = {
    "beside the criteria": lambda who, j, criteria: {"scores": {who: j, **criteria}},
    "beside an object of criteria": lambda who, j, criteria: {"evaluation": {who: j, "scores": criteria}},
    "in an object of no list of names": lambda who, j, criteria: {"assessment": {who: j, **criteria}},
}


def judged(who, within, around, **more):
    """(the labels of criteria that name their judge within an object, their records)."""
    given = {
        (m, q, f"{q}#{c}", j): 1 + label(m, q, c, j)
        for m in MODELS
        for q in QUERIES
        for c in ("accuracy", "clarity")
        for j in JUDGES
    }
    records = [
        {
            "model": m,
            "query_id": q,
            **{field: f"{j}{mark}" for field, mark in more.items()},
            **AROUND[around](
                who, j, {c: GIVEN[within](given[m, q, f"{q}#{c}", j]) for c in ("accuracy", "clarity")}
            ),
        }
        for m in MODELS
        for q in QUERIES
        for j in JUDGES
    ]
    return given, lines(records)


@pytest.mark.parametrize(
    ("who", "within", "around"),
    [
        ("judge", "objects", "beside the criteria"),
        ("judge", "numbers", "beside the criteria"),
        ("graded_by", "objects", "beside the criteria"),
        ("reviewer", "numbers", "beside the criteria"),
        ("judge", "objects", "beside an object of criteria"),
        ("annotator", "objects", "in an object of no list of names"),
    ],
)
def test_a_text_called_after_judges_beside_criteria_is_the_judge_of_their_labels(ws, who, within, around):
    """It was dropped, and the rows of several judges contradicted each other."""
    given, content = judged(who, within, around)
    report = ws.ingest(content, "d", name="x.jsonl")
    assert cells(ws) == given
    assert report.rejected == 0


@pytest.mark.parametrize("within", GIVEN)
@pytest.mark.parametrize("elsewhere", ["judge", "reviewer"])
def test_a_judge_that_the_record_names_goes_before_one_among_the_criteria(ws, within, elsewhere):
    given, content = judged("grader", within, "beside the criteria", **{elsewhere: "!"})
    report = ws.ingest(content, "d", name="x.jsonl")
    assert cells(ws) == {(m, q, c, f"{j}!"): x for (m, q, c, j), x in given.items()}
    assert "scores.grader" in str(report)


def test_what_is_said_beside_the_grades_of_criteria_is_their_reason(ws):
    records = [
        {
            "model": m,
            "query_id": q,
            "scores": {"accuracy": 1 + label(m, q), "clarity": 1, "comment": f"{m} {q}"},
        }
        for m in MODELS
        for q in QUERIES
    ]
    ws.ingest(lines(records), "d", name="x.jsonl")
    found = ws.dataset("d").labels()
    assert list(found["reason"]) == [f"{m} {q}" for m, q in zip(found["system"], found["query"], strict=True)]
