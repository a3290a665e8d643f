"""Layouts of evaluation tools and benchmarks, written from their documentation: read whole, or asked about."""

# ruff: noqa: E501 - a layout's records and the labels that they hold, each in one line
from __future__ import annotations

import csv
import io
import json

import pytest

from crubric_core.errors import IngestError

MODELS = ("gpt-4o", "claude-3-opus", "llama-3-70b")
JUDGES = ("gpt-4.1", "o3")


def lines(records):
    return "".join(json.dumps(r) + "\n" for r in records).encode()


def table(header, rows, separator=","):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerows([header, *rows])
    return text.getvalue().encode()


def label(*key):
    """Some label of a cell, the same in every run of the tests."""
    return sum(map(ord, "".join(map(str, key)))) % 2


def cells(ws):
    found = ws.dataset("d").labels()
    return {
        tuple(row[:-1]): row[-1]
        for row in found[["system", "query", "rubric", "judge", "label"]].itertuples(index=False)
    }


# name → (content, mapping that has to be given, the labels that it holds)
WHOLE = {
    "scores as an object of criteria": (
        lines(
            {"model": m, "question_id": q, "judge": j, "scores": {c: label(m, q, j, c) for c in ("cites", "clear")}}
            for m in MODELS for q in ("p0", "p1") for j in JUDGES
        ),
        {},
        {(m, q, f"{q}#{c}", j): label(m, q, j, c) for m in MODELS for q in ("p0", "p1") for j in JUDGES for c in ("cites", "clear")},
    ),
    "scores as an object of judges": (
        lines(
            {"model": m, "prompt_id": q, "criterion": "cites", "scores": {j: label(m, q, j) for j in JUDGES}}
            for m in MODELS for q in ("p0", "p1")
        ),
        {},
        {(m, q, f"{q}#cites", j): label(m, q, j) for m in MODELS for q in ("p0", "p1") for j in JUDGES},
    ),
    "a list of ratings, one a dimension": (
        lines(
            {"model": m, "question_id": q, "judge": j,
             "ratings": [{"dimension": c, "rating": label(m, q, j, c), "rationale": "so"} for c in ("cites", "clear")]}
            for m in MODELS for q in ("p0", "p1") for j in JUDGES
        ),
        {},
        {(m, q, f"{q}#{c}", j): label(m, q, j, c) for m in MODELS for q in ("p0", "p1") for j in JUDGES for c in ("cites", "clear")},
    ),
    "verdicts without names, in the order of the rubric": (
        lines(
            {"model": m, "prompt_id": q, "judge_responses": [{"explanation": "e", "criteria_met": bool(label(m, q, i))} for i in (0, 1)]}
            for m in MODELS for q in ("p0", "p1")
        ),
        {"system": "model", "query": "prompt_id", "rubric": "judge_responses[].#", "label": "judge_responses[].criteria_met"},
        {(m, q, f"{q}#{i}", "judge"): label(m, q, i) for m in MODELS for q in ("p0", "p1") for i in (0, 1)},
    ),
    "deepeval test run": (
        json.dumps({"testCases": [
            {"name": q, "success": True, "metricsData": [
                {"name": c, "score": 0.37, "success": bool(label(q, c)), "reason": "r"} for c in ("cites", "clear")]}
            for q in ("t0", "t1")]}).encode(),
        {"system": "=gpt-4o", "query": "testCases[].name"},
        {("gpt-4o", q, f"{q}#{c}", "judge"): label(q, c) for q in ("t0", "t1") for c in ("cites", "clear")},
    ),
    "one object of systems, queries and criteria": (
        json.dumps({m: {q: {c: label(m, q, c) for c in ("cites", "clear")} for q in ("p0", "p1")} for m in MODELS}).encode(),
        {"system": "{}.#", "query": "{}{}.#", "rubric": "{}{}{}.#", "label": "{}{}{}"},
        {(m, q, f"{q}#{c}", "judge"): label(m, q, c) for m in MODELS for q in ("p0", "p1") for c in ("cites", "clear")},
    ),
    "lists of annotators within criteria, as in FED": (
        lines(
            {"context": f"hi {q}", "response": "…", "system": m, "annotations": {"Fluent": [label(m, q, k) for k in range(3)]}}
            for m in MODELS for q in range(2)
        ),
        {},
        {(m, f"hi {q}", f"hi {q}#Fluent", str(k)): label(m, q, k) for m in MODELS for q in range(2) for k in range(3)},
    ),
    "one score a segment, as in WMT": (
        table(
            ["lp", "system", "rater", "doc_id", "seg_id", "score"],
            [["en-de", m, j, "doc1", q, label(m, q, j)] for m in MODELS for q in range(3) for j in ("r1", "r2")],
            "\t",
        ),
        {},
        {(m, str(q), f"{q}#score", j): label(m, q, j) for m in MODELS for q in range(3) for j in ("r1", "r2")},
    ),
    "a wide table of a document's ratings, as in SummEval": (
        table(
            ["doc_id", "system_id", "annotator_id", "coherence", "fluency"],
            [[f"d{q}", m, j, label(m, q, j), label(m, q, j, 1)] for m in MODELS for q in range(2) for j in ("A1", "A2")],
        ),
        {},
        {
            (m, f"d{q}", f"d{q}#{c}", j): label(m, q, j, *extra)
            for m in MODELS for q in range(2) for j in ("A1", "A2") for c, extra in (("coherence", ()), ("fluency", (1,)))
        },
    ),
    "columns that are judges times criteria": (
        table(
            ["model", "question_id", *(f"{j}_{c}" for j in ("gpt4", "claude") for c in ("clarity", "tone"))],
            [[m, f"q{q}", *(label(m, q, j, c) for j in ("gpt4", "claude") for c in ("clarity", "tone"))] for m in MODELS for q in range(2)],
        ),
        {},
        {(m, f"q{q}", f"q{q}#{c}", j): label(m, q, j, c) for m in MODELS for q in range(2) for j in ("gpt4", "claude") for c in ("clarity", "tone")},
    ),
    "one score column a judge, as in BiGGen-Bench": (
        table(
            ["id", "model_name", "response", "human_score", "gpt4_score", "prometheus_8x7b_score"],
            [[f"g{q}", m, "text", *(label(m, q, k) for k in range(3))] for m in MODELS for q in range(2)],
        ),
        {},
        {(m, f"g{q}", f"g{q}#score", j): label(m, q, k) for m in MODELS for q in range(2) for k, j in ((1, "gpt4"), (2, "prometheus_8x7b"))},
    ),
    "grades by a rubric's id, as in PRBench": (
        lines(
            {"task": f"t{q}", "model": m, "rubric_grades": {f"r{i}": bool(label(m, q, i)) for i in range(2)}}
            for m in MODELS for q in range(2)
        ),
        {"query": "task"},
        {(m, f"t{q}", f"t{q}#r{i}", "judge"): label(m, q, i) for m in MODELS for q in range(2) for i in range(2)},
    ),
    "two turns of a question, as in MT-Bench": (
        lines(
            {"question_id": q, "model": m, "judge": "gpt-4", "judgment": f"Rating: [[{label(m, q, t)}]]", "score": label(m, q, t), "turn": t}
            for m in MODELS for q in (81, 82) for t in (1, 2)
        ),
        {"rubric": "turn"},
        {(m, str(q), f"{q}#{t}", "gpt-4"): label(m, q, t) for m in MODELS for q in (81, 82) for t in (1, 2)},
    ),
    "two graders in a list, each with an object of scores": (
        lines(
            {"model": m, "question_id": q, "judgments": [
                {"judge_model": j, "scores": {c: label(m, q, c, j) for c in ("cites", "clear")}} for j in JUDGES]}
            for m in MODELS for q in ("p0", "p1")
        ),
        {},
        {(m, q, f"{q}#{c}", j): label(m, q, c, j) for m in MODELS for q in ("p0", "p1") for j in JUDGES for c in ("cites", "clear")},
    ),
    "scores of criteria within judges": (
        lines(
            {"model": m, "question_id": q, "scores": {j: {c: label(m, q, c, j) for c in ("cites", "clear")} for j in JUDGES}}
            for m in MODELS for q in ("p0", "p1")
        ),
        {},
        {(m, q, f"{q}#{c}", j): label(m, q, c, j) for m in MODELS for q in ("p0", "p1") for j in JUDGES for c in ("cites", "clear")},
    ),
    "verdicts of two graders next to each other within a criterion": (
        lines(
            {"model": m, "prompt_id": q, "criteria": [
                {"name": c, "points": 3} | {j: {"verdict": ("no", "yes")[label(m, q, c, j)]} for j in ("human", "gpt4")}
                for c in ("cites", "clear")]}
            for m in MODELS for q in ("p0", "p1")
        ),
        {},
        {(m, q, f"{q}#{c}", j): label(m, q, c, j) for m in MODELS for q in ("p0", "p1") for j in ("human", "gpt4") for c in ("cites", "clear")},
    ),
    "lists of criteria within judges": (
        lines(
            {"model": m, "question_id": q, "evaluations": {
                j: [{"criterion": c, "met": bool(label(m, q, c, j)), "why": "w"} for c in ("cites", "clear")] for j in JUDGES}}
            for m in MODELS for q in ("p0", "p1")
        ),
        {},
        {(m, q, f"{q}#{c}", j): label(m, q, c, j) for m in MODELS for q in ("p0", "p1") for j in JUDGES for c in ("cites", "clear")},
    ),
    "a first and a second verdict in one record": (
        lines(
            {"model": m, "question_id": q, "criterion": "cites",
             "primary": {"judge": "o3", "verdict": label(m, q, "o3")}, "secondary": {"judge": "gpt-4.1", "verdict": label(m, q, "gpt-4.1")},
             "usage": {"tokens": 12}}
            for m in MODELS for q in ("p0", "p1")
        ),
        {"label": "{}.verdict", "judge": "{}.judge"},
        {(m, q, f"{q}#cites", j): label(m, q, j) for m in MODELS for q in ("p0", "p1") for j in JUDGES},
    ),
    "columns that begin alike, one a judge, in words": (
        table(
            ["ModelName", "PromptID", "CriterionName", "verdict_gpt4", "verdict_claude"],
            [[m, q, "cites", *(("NOT_MET", "MET")[label(m, q, j)] for j in ("gpt4", "claude"))] for m in MODELS for q in ("p0", "p1")],
        ),
        {},
        {(m, q, f"{q}#cites", j): label(m, q, j) for m in MODELS for q in ("p0", "p1") for j in ("gpt4", "claude")},
    ),
    "accepted and rejected tasks, as in Prodigy": (
        lines(
            {"text": "t", "meta": {"model": m, "prompt_id": q, "criterion": c}, "answer": ("reject", "accept")[label(m, q, c, k)], "_annotator_id": k}
            for m in MODELS for q in ("p0", "p1") for c in ("cites", "clear") for k in ("db-ann", "db-bob")
        ),
        {"system": "meta.model", "query": "meta.prompt_id", "rubric": "meta.criterion", "label": "answer", "judge": "_annotator_id"},
        {(m, q, f"{q}#{c}", k): label(m, q, c, k) for m in MODELS for q in ("p0", "p1") for c in ("cites", "clear") for k in ("db-ann", "db-bob")},
    ),
    "two graders of one assertion, as in promptfoo": (
        json.dumps({"evalId": "e", "results": {"version": 3, "results": [
            {"provider": {"id": m}, "testIdx": q, "promptIdx": 0, "gradingResult": {"pass": True, "componentResults": [
                {"pass": bool(label(m, q, j)), "reason": "r", "assertion": {"type": "llm-rubric", "value": "cites", "metric": "cites", "provider": j}}
                for j in JUDGES]}}
            for q in (0, 1) for m in MODELS]}}).encode(),
        {},
        {(m, f"test{q}", f"test{q}#cites", j): label(m, q, j) for m in MODELS for q in (0, 1) for j in JUDGES},
    ),
    "items whose own ids are those of answers, as in OpenAI's evals": (
        lines(
            {"id": f"{m}-{q}", "datasource_item_id": q, "sample": {"model": m}, "results": [
                {"name": c, "score": float(label(m, q, c)), "passed": True} for c in ("cites", "clear")]}
            for m in MODELS for q in (0, 1)
        ),
        {},
        {(m, str(q), f"{q}#{c}", "judge"): label(m, q, c) for m in MODELS for q in (0, 1) for c in ("cites", "clear")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_every_label_of_a_layout_comes_to_its_cell(ws, name):
    content, mapping, expected = WHOLE[name]
    ws.ingest(content, "d", name="x.json", mapping=mapping)
    bare = {(s, q, r.removeprefix(f"{q}#"), k): v for (s, q, r, k), v in cells(ws).items()}
    assert bare == {(s, q, r.removeprefix(f"{q}#"), k): v for (s, q, r, k), v in expected.items()}


ASKED = {
    "verdicts without names": (WHOLE["verdicts without names, in the order of the rubric"][0], r"judge_responses\[\]\.#"),
    "one object of everything": (WHOLE["one object of systems, queries and criteria"][0], r'"system": "\{\}\.#"'),
    "no column called query": (WHOLE["grades by a rubric's id, as in PRBench"][0], "perhaps 'task'"),
    "no rubric": (WHOLE["two turns of a question, as in MT-Bench"][0], "no column for rubric"),
    "no system": (WHOLE["deepeval test run"][0], "no column for system"),
    "a first and a second verdict": (WHOLE["a first and a second verdict in one record"][0], r'"label": "\{\}\.verdict"'),
    "preferences, as in Arena": (
        lines({"question_id": q, "model_a": "gpt-4o", "model_b": m, "winner": "model_a", "judge": "u"} for m in MODELS for q in (1, 2)),
        r"which of two answers is better \(model_a, model_b\)",
    ),
    "preferences between named answers": (
        lines({"prompt": q, "response_a_model": "a", "response_b_model": m, "winner_model": m} for m in MODELS for q in (1, 2)),
        r"which of two answers is better \(response_a_model, response_b_model\)",
    ),
    "preferences in words, as in Arena-Hard": (
        lines({"question_id": q, "model": m, "judge": "j", "games": [{"score": "A>B"}, {"score": "B>>A"}]} for m in MODELS for q in (1, 2)),
        "which of two answers is better, and",
    ),
    "spans of errors, as in MQM": (
        table(["system", "doc_id", "seg_id", "rater", "category", "severity"], [[m, "d", 1, "r", "Accuracy", "Major"] for m in MODELS], "\t"),
        "lists errors with their category and severity",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_what_only_a_person_can_know_is_asked_with_the_mapping_that_would_do(ws, name):
    content, sentence = ASKED[name]
    with pytest.raises(IngestError, match=sentence):
        ws.ingest(content, "d", name="x.json")
    assert ws.datasets().empty


def test_verdicts_within_records_that_a_layout_does_not_read_are_warned_of(ws):
    rubrics = [{"criterion": "cites", "points": 3, "reviews": [{"criteria_met": True, "explanation": "e"}]}]
    report = ws.ingest(lines([{"prompt_id": "p", "model": "m", "rubrics": rubrics}]), "d")
    warned = [f.sentence for f in report.checks if f.severity == "warning"]
    assert any("rubrics[].reviews[].criteria_met" in sentence for sentence in warned)


def test_two_graders_within_a_criterion_are_two_judges(ws):
    grades = {"first_grader": {"criteria_met": True}, "second_grader": {"criteria_met": False}}
    rubrics = [{"criterion": "cites", "points": 3, **grades}]
    ws.ingest(lines([{"prompt_id": "p", "model": "m", "rubrics": rubrics}]), "d")
    said = ws.dataset("d").labels()
    assert dict(zip(said["judge"], said["label"], strict=True)) == {"first_grader": 1, "second_grader": 0}
