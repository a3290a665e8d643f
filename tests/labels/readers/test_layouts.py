"""Layouts of evaluation tools and benchmarks, written from their documentation: read whole, or asked about."""

# ruff: noqa: E501 - a layout's records and the labels that they hold, each in one line
from __future__ import annotations

import csv
import io
import json

import pandas as pd
import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest
from tests.labels.readers.formats.test_workbooks import sheet, workbook

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


def cells(ws, dataset="d"):
    found = ws.dataset(dataset).labels()
    return {
        tuple(row[:-1]): row[-1]
        for row in found[["system", "query", "rubric", "judge", "label"]].itertuples(index=False)
    }


def segments(system, segment):
    """Two raters' scores of each segment of a document, under these names of columns."""
    keys = [(m, q, j) for m in MODELS for q in range(3) for j in ("r1", "r2")]
    return (
        table(
            ["lp", system, "rater", "doc_id", segment, "score"],
            [["en-de", m, j, "doc1", q, label(m, q, j)] for m, q, j in keys],
            "\t",
        ),
        {},
        {(m, str(q), f"{q}#score", j): label(m, q, j) for m, q, j in keys},
    )


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
    "questions of a checklist, asked of each text, a column a judge": (
        table(
            ["doc_id", "system_id", "aspect", "sub_aspect", "question", *JUDGES],
            [[f"d{q}", m, "tone", "wit", f"Is it {k}?", *(("No", "Yes")[label(m, q, k, j)] for j in JUDGES)] for m in MODELS for q in range(2) for k in range(3)],
        ),
        {},
        {(m, f"d{q}", f"d{q}#Is it {k}?", j): label(m, q, k, j) for m in MODELS for q in range(2) for k in range(3) for j in JUDGES},
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
    "one score a segment, as in WMT": segments("system", "seg_id"),
    "one score a segment, with WMT's short names": segments("sys", "seg"),
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
    "MT-Bench judgments, whose judge is a model and a prompt's name": (
        lines(
            {"question_id": q, "model": m, "judge": ["gpt-4", f"single-v1{'-multi-turn' * (t - 1)}"], "user_prompt": "p",
             "judgment": "Rating: [[1]]", "score": -1 if (m, q, t) == ("gpt-4o", 81, 2) else 1 + label(m, q, t), "turn": t, "tstamp": 1.5}
            for m in MODELS for q in (81, 82) for t in (1, 2)
        ),
        {},
        {
            (m, str(q), f"{q}#turn {t}", "gpt-4"): None if (m, q, t) == ("gpt-4o", 81, 2) else 1 + label(m, q, t)
            for m in MODELS for q in (81, 82) for t in (1, 2)
        },
    ),
    "columns that count, time and sum up are no criteria": (
        table(
            ["model", "question_id", "clarity", "tone", "instance_idx", "lead_time", "Duration (in seconds)", "average", "Total score"],
            [[m, q, label(m, q), label(m, q, 1), q, 12, 3, 1, label(m, q) + label(m, q, 1)] for m in MODELS for q in range(2)],
        ),
        {},
        {(m, str(q), f"{q}#{c}", "judge"): label(m, q, *extra) for m in MODELS for q in range(2) for c, extra in (("clarity", ()), ("tone", (1,)))},
    ),
    "a survey of Qualtrics, with three rows of headers": (
        table(
            ["StartDate", "Progress", "Duration (in seconds)", "Finished", "ResponseId", "model", "question_id", "Q1_1", "Q1_2"],
            [
                ["Start Date", "Progress", "Duration (in seconds)", "Finished", "Response ID", "model", "question_id", "Rate - Clarity", "Rate - Tone"],
                [json.dumps({"ImportId": i}) for i in ("startDate", "progress", "duration", "finished", "_recordId", "model", "question_id", "QID1_1", "QID1_2")],
                *(["2026-01-01", 100, 30, "True", f"R{m}{q}", m, q, label(m, q), label(m, q, 1)] for m in MODELS for q in range(2)),
            ],
        ),
        {},
        {(m, str(q), f"{q}#{c}", "judge"): label(m, q, *extra) for m in MODELS for q in range(2) for c, extra in (("Q1_1", ()), ("Q1_2", (1,)))},
    ),
    "points that were awarded, next to those that could be": (
        table(
            ["model", "task_id", "criterion", "points_awarded", "points_possible"],
            [[m, q, c, label(m, q, c), 1 + len(c) % 2] for m in MODELS for q in range(2) for c in ("cites", "tone")],
        ),
        {},
        {(m, str(q), f"{q}#{c}", "judge"): label(m, q, c) for m in MODELS for q in range(2) for c in ("cites", "tone")},
    ),
    "several annotators' controls, as in Label Studio": (
        json.dumps([
            {"id": f"{m}{q}", "data": {"prompt": f"p{q}", "model": m, "answer": "…"}, "annotations": [
                {"completed_by": {"id": n, "email": j}, "result": [
                    {"from_name": "clarity", "to_name": "a", "type": "rating", "value": {"rating": 1 + label(m, q, j)}},
                    {"from_name": "correct", "to_name": "a", "type": "choices", "value": {"choices": ["Yes" if label(m, q, j, 1) else "No"]}},
                    {"from_name": "note", "to_name": "a", "type": "textarea", "value": {"text": ["so"]}},
                ]} for n, j in enumerate(("ann", "bea"))] + [{"completed_by": 9, "was_cancelled": True, "result": []}]}
            for m in MODELS for q in range(2)
        ]).encode(),
        {},
        {
            (m, f"p{q}", f"p{q}#{c}", j): value
            for m in MODELS for q in range(2) for j in ("ann", "bea")
            for c, value in (("clarity", 1 + label(m, q, j)), ("correct", label(m, q, j, 1)))
        },
    ),
    "judges with the version of a model in their name": (
        table(
            ["id", "response_model", "instance_idx", "gpt4_score", "gpt4_04_turbo_score", "claude_score", "claude_feedback"],
            [[f"g{q}", m, q, *(label(m, q, k) for k in range(3)), "well said"] for m in MODELS for q in range(2)],
        ),
        {},
        {(m, f"g{q}", f"g{q}#score", j): label(m, q, k) for m in MODELS for q in range(2) for k, j in enumerate(("gpt4", "gpt4_04_turbo", "claude"))},
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
    "one object whose keys name its records, as in BiGGen-Bench": (
        json.dumps({
            f"plan_{q}": {
                "id": f"plan_{q}", "input": f"do {q}", "score_rubric": {"criteria": "Is it good?", "score1_description": "no"},
                "response": "so", "response_model_name": "gpt-4o", "feedback": "ok", "score": [label(q, t) + 4 for t in range(2)],
                "eval_model_name": "prometheus-7b"}
            for q in range(2)}).encode(),
        {},
        {("gpt-4o", f"plan_{q}", "Is it good?", "prometheus-7b"): label(q, 1) + 4 for q in range(2)},
    ),
    "criteria in groups, each with its score, as in DeepResearch Bench II": (
        lines(
            {"model": m, "idx": q, "result": {"task": "t", "scores": {
                d: {f"{d} {i}": {"score": label(m, q, d, i), "reason": "r"} for i in range(2)} for d in ("recall", "analysis")}}}
            for m in MODELS for q in range(2)
        ),
        {},
        {(m, str(q), f"{d} {i}", "judge"): label(m, q, d, i) for m in MODELS for q in range(2) for d in ("recall", "analysis") for i in range(2)},
    ),
    "columns of scores after fields of a trace": (
        table(
            ["id", "trace_id", "display_name", "inputs.question", "inputs.model", "output.scores.tone.pass", "output.scores.cites.pass", "latency"],
            [[f"{m}{q}", "t", "evaluate", f"p{q}", m, bool(label(m, q)), bool(label(m, q, 1)), 2] for m in MODELS for q in range(2)],
        ),
        {},
        {(m, f"p{q}", f"p{q}#output.scores.{c}.pass", "judge"): label(m, q, *k) for m in MODELS for q in range(2) for c, k in (("tone", ()), ("cites", (1,)))},
    ),
    "answers of workers to tasks of models, as in MTurk": (
        table(
            ["HITId", "Title", "MaxAssignments", "WorkerId", "LifetimeApprovalRate", "Input.prompt_id", "Input.model", "Answer.clear", "Answer.cites", "Approve"],
            [[f"{m}{q}", "T", 2, j, "100% (9/9)", f"p{q}", m, label(m, q, j), label(m, q, j, 1), "x"] for m in MODELS for q in range(3) for j in ("A1", "A2")],
        ),
        {},
        {(m, f"p{q}", f"p{q}#Answer.{c}", j): label(m, q, j, *k) for m in MODELS for q in range(3) for j in ("A1", "A2") for c, k in (("clear", ()), ("cites", (1,)))},
    ),
    "the same as MTurk writes it, whose rows end before the columns of the review": (
        table(
            ["HITId", "WorkerId", "Input.prompt_id", "Input.model", "Answer.clear", "Answer.cites", "Approve", "Reject"],
            [[f"{m}{q}", j, f"p{q}", m, label(m, q, j), label(m, q, j, 1)] for m in MODELS for q in range(3) for j in ("A1", "A2")],
        ),
        {},
        {(m, f"p{q}", f"p{q}#Answer.{c}", j): label(m, q, j, *k) for m in MODELS for q in range(3) for j in ("A1", "A2") for c, k in (("clear", ()), ("cites", (1,)))},
    ),
    "inputs, outputs and a worker of each assignment, as in Toloka": (
        table(
            ["INPUT:prompt", "INPUT:model", "OUTPUT:clear", "OUTPUT:cites", "GOLDEN:clear", "ASSIGNMENT:task_id", "ASSIGNMENT:worker_id", "ASSIGNMENT:status"],
            [[f"p{q}", m, label(m, q, j), label(m, q, j, 1), "", f"t{m}{q}", j, "APPROVED"] for m in MODELS for q in range(3) for j in ("w1", "w2")],
            "\t",
        ),
        {},
        {(m, f"p{q}", f"p{q}#OUTPUT:{c}", j): label(m, q, j, *k) for m in MODELS for q in range(3) for j in ("w1", "w2") for c, k in (("clear", ()), ("cites", (1,)))},
    ),
    "columns of the tool begin with an underscore, as in Appen": (
        table(
            ["_unit_id", "_golden", "_id", "_tainted", "_trust", "_worker_id", "clear", "cites", "model", "question"],
            [[f"{m}{q}", "false", f"{m}{q}{j}", "false", 0.9, j, ("no", "yes")[label(m, q, j)], ("no", "yes")[label(m, q, j, 1)], m, f"p{q}"] for m in MODELS for q in range(3) for j in ("41", "42")],
        ),
        {},
        {(m, f"p{q}", f"p{q}#{c}", j): label(m, q, j, *k) for m in MODELS for q in range(3) for j in ("41", "42") for c, k in (("clear", ()), ("cites", (1,)))},
    ),
    "a test run whose inputs are the queries, as in deepeval": (
        json.dumps({"testCases": [
            {"name": "case", "input": f"why {q}", "actualOutput": "so", "metricsData": [
                {"name": c, "success": bool(label(q, c)), "score": 0.31, "evaluationModel": "gpt-4.1"} for c in ("cites", "clear")]}
            for q in range(3)], "hyperparameters": {"model": "gpt-4o"}}).encode(),
        {},
        {("gpt-4o", f"why {q}", f"why {q}#{c}", "gpt-4.1"): label(q, c) for q in range(3) for c in ("cites", "clear")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_every_label_of_a_layout_comes_to_its_cell(ws, name):
    content, mapping, expected = WHOLE[name]
    ws.ingest(content, "d", name="x.json", mapping=mapping)
    bare = {(s, q, r.removeprefix(f"{q}#"), k): v for (s, q, r, k), v in cells(ws).items()}
    bare = {key: None if v is pd.NA else v for key, v in bare.items()}
    assert bare == {(s, q, r.removeprefix(f"{q}#"), k): v for (s, q, r, k), v in expected.items()}


ASKED = {
    "verdicts without names": (WHOLE["verdicts without names, in the order of the rubric"][0], r"judge_responses\[\]\.#"),
    "one object of everything": (WHOLE["one object of systems, queries and criteria"][0], r'"system": "\{\}\.#"'),
    "no column called query": (WHOLE["grades by a rubric's id, as in PRBench"][0].replace(b"task", b"matter"), "perhaps 'matter'"),
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
    "one object of queries, criteria and systems": (
        json.dumps({q: {c: {m: label(m, q, c) for m in MODELS} for c in ("cites", "clear")} for q in ("p0", "p1")}).encode(),
        r'"system": "\{\}\{\}\{\}\.#", "query": "\{\}\.#", "rubric": "\{\}\{\}\.#"',
    ),
    "one object of systems, judges and rubrics": (
        json.dumps({m: {j: {c: label(m, j, c) for c in ("cites", "clear")} for j in JUDGES} for m in MODELS}).encode(),
        r'"system": "\{\}\.#", "judge": "\{\}\{\}\.#", "rubric"',
    ),
    "a log of events of several kinds, as of OpenAI evals": (
        lines([{"spec": {"run_id": "r"}}, *({"run_id": "r", "sample_id": f"s{i}", "data": {"score": 1.0 * label(i)}} for i in range(6)), {"final_report": {"score": 0.5}}]),
        r'seems to hold labels within its records: .*"label": "data.score"',
    ),
    "two answers in each row with labels of both, as surveys store them": (
        table(
            ["participant_id", "item_1_model", "item_1_clear", "item_1_cites", "item_2_model", "item_2_clear", "item_2_cites"],
            [[f"w{n}", MODELS[n % 3], label(n), label(n, 1), MODELS[(n + 1) % 3], label(n, 2), label(n, 3)] for n in range(6)],
        ),
        r"holds two answers in each row \(item_1_model, item_2_model\), and labels of both: put each answer into a row",
    ),
    "a column for each of two choices, of which each row ticks one, as radio buttons in MTurk": (
        table(
            ["WorkerId", "Input.model", "Input.prompt", *(f"Answer.clear.{n}" for n in (1, 2))],
            [[j, m, f"p{q}", *(("false", "true")[n == label(m, q, j)] for n in range(2))] for m in MODELS for q in range(2) for j in ("w1", "w2")],
        ),
        r"'Answer.clear.1' and 'Answer.clear.2' of x.json are the choices of one question",
    ),
    "two columns that may each be the rubric, with a label": (
        table(["model", "prompt_id", "item_id", "criterion", "weight", "met"], [[m, "p", k, f"do {k}", 1 + k, label(m, k)] for m in MODELS for k in range(2)]),
        r"could each be the rubric: say which \(mapping\)\.$",
    ),
    "spans of errors, as in MQM": (
        table(["system", "doc_id", "seg_id", "rater", "category", "severity"], [[m, "d", 1, "r", "Accuracy", "Major"] for m in MODELS], "\t"),
        "lists errors with their category, place or severity",
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


def folder(path, **files):
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


def bare(ws):
    return {(s, q, r.removeprefix(f"{q}#"), k): v for (s, q, r, k), v in cells(ws).items()}


def test_a_file_a_system_with_questions_and_scores_is_labels_and_no_table_of_queries(ws, tmp_path):
    files = {
        f"{m}_review.jsonl": lines(
            {"question_id": q, "text": f"Why {q}?", "score": {c: label(m, q, c) for c in ("depth", "tone")}}
            for q in range(3)
        )
        for m in MODELS
    }
    ws.ingest(folder(tmp_path / "reviews", **files), "d")
    assert bare(ws) == {
        (m, str(q), c, "judge"): label(m, q, c) for m in MODELS for q in range(3) for c in ("depth", "tone")
    }


def test_a_query_that_only_an_index_names_is_found_where_the_file_names_the_system(ws, tmp_path):
    files = {
        f"{m}.jsonl": lines(
            {
                "index": q,
                "scores": {c: [{"score": label(m, q, c), "reason": "so"}] for c in ("depth", "tone")},
            }
            for q in range(1, 4)
        )
        for m in MODELS
    }
    ws.ingest(folder(tmp_path / "scores", **files), "d")
    assert bare(ws) == {
        (m, str(q), c, "judge"): label(m, q, c)
        for m in MODELS
        for q in range(1, 4)
        for c in ("depth", "tone")
    }


def graded(m, node, depth=0):
    """A graded tree, deeper on one side."""
    inner = (
        [graded(m, f"{node}{k}", depth + 1) for k in range(2)]
        if depth < 1 or (depth < 2 and node.endswith("1"))
        else []
    )
    score = 0.5 if inner else float(label(m, node))
    return {
        "id": node,
        "requirements": f"do {node}",
        "weight": 1 + int(node[-1]),
        "score": score,
        "valid_score": True,
        "sub_tasks": inner,
    }


def test_the_leaves_of_a_graded_tree_are_rubrics_and_its_model_is_the_judge(ws, tmp_path):
    trees = {
        f"{m}/grader_output.json": {
            "model_name": "o3-mini",
            "score": 0.5,
            "graded_task_tree": graded(m, "r0"),
        }
        for m in MODELS
    }
    ws.ingest(folder(tmp_path / "runs", **{name: json.dumps(t).encode() for name, t in trees.items()}), "d")
    leaves = ("r00", "r010", "r011")
    assert bare(ws) == {(m, "r0", leaf, "o3-mini"): label(m, leaf) for m in MODELS for leaf in leaves}
    weights = ws.dataset("d").rubrics.set_index("rubric")["weight"].to_dict()
    assert weights == pytest.approx({"r0#r00": 1 / 3, "r0#r010": 2 / 9, "r0#r011": 4 / 9}, abs=1e-6)


def test_runs_of_papers_are_of_the_system_that_their_group_names(ws, tmp_path):
    judged = {"completer_config": {"model": "o3"}, "graded_task_tree": graded("m", "r0")}
    result = json.dumps({"paperbench_result": {"paper_id": "rice", "judge_output": judged}}).encode()
    runs = {f"2026_run-group_agent_{m}/rice_{k}/grade.json": result for m in ("a", "b") for k in (1, 2)}
    ws.ingest(folder(tmp_path / "runs", **runs), "d")
    assert {(s, q, k) for s, q, _, k in bare(ws)} == {(f"agent_{m}", "rice", "o3") for m in ("a", "b")}
    assert set(ws.dataset("d").labels()["run"]) == {"rice_1", "rice_2"}
    with pytest.raises(IngestError, match="does not say which system"):
        ws.ingest(tmp_path / "runs" / "2026_run-group_agent_a" / "rice_1", "other")


def test_an_annotation_marked_as_ground_truth_is_gold(ws):
    def by(who, value, **more):
        chosen = {"from_name": "clear", "type": "rating", "value": {"rating": value}}
        return {"completed_by": who, "result": [chosen], **more}

    task = {"id": 1, "data": {"model": "a"}, "annotations": [by(1, 3), by(2, 4, ground_truth=True)]}
    ws.ingest(json.dumps([task]).encode(), "d")
    assert bare(ws) == {("a", "1", "clear", "1"): 3}
    assert ws.dataset("d").gold()[["annotator", "label"]].values.tolist() == [["2", 4]]


def test_a_graded_tree_alone_does_not_say_its_system(ws):
    with pytest.raises(IngestError, match="does not say which system"):
        ws.ingest(
            json.dumps({"model_name": "o3-mini", "graded_task_tree": graded("m", "r0")}).encode(),
            "d",
            name="grader_output.json",
        )


def test_a_sheet_a_system_is_read_with_its_columns_as_rubrics(ws):
    pages = {
        m: [
            ["question_id", "clarity", "depth"],
            *([q, label(m, q), label(m, q, 1)] for q in ("p0", "p1", "p2")),
        ]
        for m in MODELS
    }
    ws.ingest(workbook(**{m: sheet(rows) for m, rows in pages.items()}), "d", name="grades.xlsx")
    asked = (("clarity", ()), ("depth", (1,)))
    assert bare(ws) == {
        (m, q, c, "judge"): label(m, q, *extra)
        for m in MODELS
        for q in ("p0", "p1", "p2")
        for c, extra in asked
    }


def test_sheets_of_labels_that_do_not_say_whose_they_are_are_asked_about(ws):
    wide = {
        j: [
            ["model", "question_id", "clarity", "tone"],
            *([m, q, label(j, q), label(m, j)] for m in MODELS for q in ("p0", "p1")),
        ]
        for j in ("Ann", "Bea")
    }
    with pytest.raises(IngestError, match=r"say what each file is, a judge \(--pattern '\* › \{judge\}'\)"):
        ws.ingest(workbook(**{j: sheet(rows) for j, rows in wide.items()}), "d", name="grades.xlsx")
    pages = {
        m: [
            ["question_id", "criterion", *JUDGES],
            *([q, "tone", label(m, q), label(m, q, 1)] for q in ("p0", "p1", "p2")),
        ]
        for m in MODELS
    }
    content = ("grades.xlsx", workbook(**{m: sheet(rows) for m, rows in pages.items()}))
    with pytest.raises(IngestError, match=r"or a system \(--pattern '\* › \{system\}'"):
        ws.ingest(content[1], "d", name=content[0])
    plan = plan_ingest(content, pattern="* › {system}", mapping={"judge": list(JUDGES)})
    ws.ingest_plan(plan, "d", content)
    assert bare(ws) == {
        (m, q, "tone", j): label(m, q, *extra)
        for m in MODELS
        for q in ("p0", "p1", "p2")
        for j, extra in zip(JUDGES, ((), (1,)), strict=True)
    }


def test_sheets_that_describe_queries_stay_so(ws):
    pages = {
        n: [["question_id", "text", "difficulty"], *([f"{n}{q}", f"Why {q}?", q % 3] for q in range(4))]
        for n in ("easy", "hard")
    }
    labelled = [
        ["model", "question_id", "rubric", "label"],
        *([m, f"{n}{q}", "tone", label(m, q)] for m in MODELS for n in pages for q in range(4)),
    ]
    ws.ingest(
        workbook(labels=sheet(labelled), **{n: sheet(rows) for n, rows in pages.items()}),
        "d",
        name="study.xlsx",
    )
    assert len(cells(ws)) == 24
    assert sorted(ws.dataset("d").queries["text"].unique()) == [f"Why {q}?" for q in range(4)]


def test_what_a_survey_notes_of_its_responses_is_told_as_not_used(ws):
    columns = ["StartDate", "Progress", "model", "question_id", "Clarity", "Tone"]
    heads = [columns, [json.dumps({"ImportId": name}) for name in columns]]
    rows = [["2026-01-01", 100, m, q, 1, 0] for m in ("gpt-4o", "claude-3") for q in range(3)]
    report = ws.ingest(table(columns, [*heads, *rows]), "d", name="survey.csv")
    assert report.columns["rubric"] == "Clarity, Tone"
    assert "Not used of survey.csv: StartDate, Progress." in report.notes


def test_labels_within_records_that_name_their_query_and_run_are_no_queries():
    records = [
        {"qid": q, "query": f"ask {q}", "run_id": run, "nuggets": [{"text": f"fact {q} {k}", "assignment": ("support", "partial_support", "not_support")[(q + k) % 3]} for k in range(3)]}
        for run in ("uni-1", "lab-a") for q in range(4)
    ]  # fmt: skip
    (file,) = plan_ingest(lines(records), name="x.jsonl").files
    assert (file.kind, file.mapping["system"], file.mapping["label"]) == (
        "labels",
        "run_id",
        "nuggets[].assignment",
    )
    assert {g.confidence for g in file.guesses if g.canonical == "label"} == {0.5}


def test_sheets_of_one_criterion_each_with_a_column_a_system_may_be_named_as_rubrics(ws):
    """Only judges, draws and systems were offered."""
    pages = {
        c: sheet([["q", *MODELS], *([f"q{q}", *(label(m, q, c) for m in MODELS)] for q in range(6))])
        for c in ("cites", "clear")
    }
    given = {"system": list(MODELS), "query": "q", "rubric": "=score"}
    content = ("grades.xlsx", workbook(**pages))
    with pytest.raises(IngestError, match=r"a rubric \(--pattern '\* › \{rubric\}'\)"):
        ws.ingest(content[1], "d", name=content[0], mapping=given)
    ws.ingest_plan(plan_ingest(content, mapping=given, pattern="* › {rubric}"), "d", content)
    assert bare(ws) == {
        (m, f"q{q}", c, "judge"): label(m, q, c) for m in MODELS for q in range(6) for c in ("cites", "clear")
    }
