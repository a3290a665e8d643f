"""What judges wrote as JSON in a text of a record, fenced or among words; the JSON that systems wrote stays text."""

from __future__ import annotations

import json

import pytest

from tests.labels.readers.test_layouts import MODELS, cells, label, lines, table

CRITERIA = ("accuracy", "tone")
QUERIES = ("p0", "p1")
FENCED = "```json\n{}\n```"
GIVEN = {(m, q, f"{q}#{c}", "judge"): label(m, q, c) for m in MODELS for q in QUERIES for c in CRITERIA}


def records(field, form):
    """One reply for each answer, with a label for each criterion."""
    return [
        {"qid": q, "model": m, field: form.replace("{}", json.dumps({c: label(m, q, c) for c in CRITERIA}))}
        for m in MODELS
        for q in QUERIES
    ]


@pytest.mark.parametrize("form", ["{}", FENCED, f"Sure:\n{FENCED}\nAnything else?"])
@pytest.mark.parametrize("field", ["judge_response", "evaluation"])
def test_a_reply_is_read_from_json_lines_and_from_tables(ws, field, form):
    found = records(field, form)
    ws.ingest(lines(found), "lines", name="x.jsonl")
    ws.ingest(table(list(found[0]), [list(r.values()) for r in found]), "table", name="x.csv")
    assert cells(ws, "lines") == cells(ws, "table") == GIVEN


def test_a_reply_that_is_no_json_is_rejected_alone(ws):
    found = records("judge_response", FENCED)
    found[1]["judge_response"] = "I cannot judge this"
    report = ws.ingest(lines(found), "d", name="x.jsonl")
    lost = {(found[1]["model"], found[1]["qid"], f"{found[1]['qid']}#{c}", "judge") for c in CRITERIA}
    assert cells(ws) == {cell: level for cell, level in GIVEN.items() if cell not in lost}
    assert (report.rejected, report.rejects["value"][0].count("cannot judge")) == (1, 1)


@pytest.mark.parametrize("field", ["response", "output"])
def test_the_json_of_an_answer_is_no_label(ws, field):
    def said(model):
        return json.dumps({"score": 7, "by": model})

    found = [
        {"query_id": q, "model": m, "criterion": c, "label": label(m, q, c), field: said(m)}
        for m in MODELS
        for q in QUERIES
        for c in CRITERIA
    ]
    ws.ingest(lines(found), "d", name="x.jsonl")
    assert cells(ws) == GIVEN
    assert set(ws.dataset("d").answers()["text"]) == set(map(said, MODELS))


def test_a_query_that_is_written_as_json_keeps_its_name(ws):
    prompt = '[{"role":"user","content":"Hi"}]'
    found = [{"prompt": prompt, "model": m, "scores": {"clear": label(m), "short": 1}} for m in MODELS]
    ws.ingest(lines(found), "lines", name="x.jsonl")
    text = table(
        ["prompt", "model", "scores"], [[prompt, r["model"], json.dumps(r["scores"])] for r in found]
    )
    ws.ingest(text, "table", name="x.csv")
    assert {cell[1] for name in ("lines", "table") for cell in cells(ws, name)} == {prompt}
