"""Lists and objects where a table has the name of a system, query, rubric or judge."""

from __future__ import annotations

import json
import re

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest
from tests.labels.readers.test_layouts import MODELS, cells, label, lines, table

QUERIES, CRITERIA = ("p0", "p1"), ("clear", "short")
EACH = [(m, q) for m in MODELS for q in QUERIES]


def records(**fields):
    """A record of each system and query; a field may be a function of them, and is left out where it is None."""
    whole = [
        {"model": m, "prompt_id": q} | {k: v(m, q) if callable(v) else v for k, v in fields.items()}
        for m, q in EACH
    ]
    return [{k: v for k, v in record.items() if v is not None} for record in whole]


# what holds the criteria → its value for a system and a query
HOLDING = {
    "criteria": lambda m, q: [{"name": c, "score": label(m, q, c)} for c in CRITERIA],
    "rubric": lambda m, q: [{"criterion": c, "met": bool(label(m, q, c))} for c in CRITERIA],
    "criterion": lambda m, q: [{"title": c, "verdict": ("no", "yes")[label(m, q, c)]} for c in CRITERIA],
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("holder", HOLDING)
def test_labels_of_criteria_are_read_beside_that_of_the_whole(ws, holder, packed):
    given = records(score=lambda m, q: 1 + label(q, m), **{holder: HOLDING[holder]})
    rows = [[json.dumps(v) if isinstance(v, list) else v for v in r.values()] for r in given]
    content = table(list(given[0]), rows) if packed else lines(given)
    report = ws.ingest(content, "d", name="x.csv" if packed else "x.jsonl")
    assert cells(ws) == {(m, q, f"{q}#{c}", "judge"): label(m, q, c) for m, q in EACH for c in CRITERIA}
    assert any("Not used of x" in note and "score" in note for note in report.notes)


def test_an_object_of_criteria_is_read_beside_a_verdict_of_the_whole(ws):
    given = records(
        passed=lambda m, q: bool(label(q, m)),
        criteria=lambda m, q: {c: bool(label(m, q, c)) for c in CRITERIA},
    )
    ws.ingest(lines(given), "d", name="x.jsonl")
    assert cells(ws) == {(m, q, f"{q}#{c}", "judge"): label(m, q, c) for m, q in EACH for c in CRITERIA}


def test_values_in_the_place_of_a_rubric_s_name_are_asked_about(ws):
    given = records(score=1, rubric=lambda m, q: {c: 1 + label(m, q, c) for c in CRITERIA})
    with pytest.raises(IngestError, match="seems to hold labels within its records") as told:
        ws.ingest(lines(given), "d", name="x.jsonl")
    ws.ingest(lines(given), "d", name="x.jsonl", mapping=json.loads(re.search(r"\{.*\}", str(told.value))[0]))
    assert set(cells(ws).values()) == {1, 2}


# what is told → (the fields that are objects, system, query, rubric and judge of each label)
NAMED = {
    "the judge is judge.name": (
        {"judge": {"name": "gpt-4", "temperature": 0.0}, "criterion": "x"},
        lambda m, q: (m, q, f"{q}#x", "gpt-4"),
    ),
    "the judge is annotator.id": (
        {"annotator": {"id": "ann"}, "criterion": "x"},
        lambda m, q: (m, q, f"{q}#x", "ann"),
    ),
    "the system is model.name": (
        {"model": lambda m, q: {"id": 3, "name": m, "latency_ms": len(m + q)}, "criterion": "x"},
        lambda m, q: (m, q, f"{q}#x", "judge"),
    ),
    "the query is prompt.id": (
        {"prompt": lambda _, q: {"text": f"do {q}", "id": f"t{q}"}, "prompt_id": None, "criterion": "x"},
        lambda m, q: (m, f"t{q}", f"t{q}#x", "judge"),
    ),
    "the rubric is criterion.id": (
        {"criterion": {"text": "is it clear?", "id": "c1"}},
        lambda m, q: (m, q, f"{q}#c1", "judge"),
    ),
    "the rubric is rubric.description": (
        {"rubric": {"description": "is it clear?", "weight": 2}},
        lambda m, q: (m, q, f"{q}#is it clear?", "judge"),
    ),
}


@pytest.mark.parametrize("told", NAMED)
def test_an_object_in_the_place_of_a_name_goes_by_its_own(ws, told):
    fields, key = NAMED[told]
    given = records(**fields, score=lambda m, q: label(m, q))
    report = ws.ingest(lines(given), "d", name="x.jsonl")
    assert cells(ws) == {key(m, q): label(m, q) for m, q in EACH}
    assert any(told in note for note in report.notes)


def test_the_judge_of_a_wide_table_goes_by_its_name(ws):
    criteria = {c: lambda m, q, c=c: label(m, q, c) for c in CRITERIA}
    given = records(judge={"name": "gpt-4", "seed": 3}, **criteria)
    ws.ingest(lines(given), "d", name="x.jsonl")
    assert {key[-1] for key in cells(ws)} == {"gpt-4"}


def test_answers_go_by_the_names_that_their_labels_go_by(tmp_path, ws):
    whose = {"model": lambda m, _: {"name": m}, "prompt": lambda _, q: {"id": q}, "prompt_id": None}
    for name, fields in {"labels": {"criterion": "x", "score": label}, "answers": {"answer": "so"}}.items():
        (tmp_path / f"{name}.jsonl").write_bytes(lines(records(**whose, **fields)))
    ws.ingest([tmp_path / "labels.jsonl", tmp_path / "answers.jsonl"], "d")
    answers = ws.dataset("d").answers()
    assert set(zip(answers["system"], answers["query"], strict=True)) == set(EACH)


def test_a_judge_that_holds_its_labels_and_has_no_name_is_none(ws):
    given = records(
        evaluator=lambda m, q: {"results": [{"criterion": c, "score": label(m, q, c)} for c in CRITERIA]}
    )
    ws.ingest(lines(given), "d", name="x.jsonl")
    assert cells(ws) == {(m, q, f"{q}#{c}", "judge"): label(m, q, c) for m, q in EACH for c in CRITERIA}


@pytest.mark.parametrize("labels", [{"criterion": "x", "score": label}, {"scores": {"clear": 1, "short": 2}}])
@pytest.mark.parametrize("judge", [["ann", "bob"], {"temperature": 0.5}, [{"name": "ann"}]])
def test_a_judge_that_is_a_list_or_has_no_name_is_asked_about(ws, judge, labels):
    given = lines(records(judge=judge, **labels))
    with pytest.raises(IngestError, match="the judge would be 'judge', whose cells are lists or objects"):
        ws.ingest(given, "d", name="x.jsonl")
    ws.ingest(given, "d", name="x.jsonl", mapping={"judge": ""})
    assert {key[-1] for key in cells(ws)} == {"judge"}


def test_each_judge_of_a_list_gets_the_label_where_that_is_said(ws):
    given = lines(records(judge=["ann", "bob"], criterion="x", score=label))
    ws.ingest(given, "d", name="x.jsonl", mapping={"judge": "judge[]"})
    assert cells(ws) == {(m, q, f"{q}#x", j): label(m, q) for m, q in EACH for j in ("ann", "bob")}


def test_objects_that_their_names_do_not_tell_apart_are_asked_about():
    given = [
        {"model": {"name": m, "temperature": t}, "prompt_id": q, "criterion": "x", "score": label(m, q, t)}
        for m, q in EACH
        for t in (0.0, 1.0)
    ]
    (file,) = plan_ingest(lines(given), name="x.jsonl").files
    assert '{"system": "model.name"}' in file.problem


def test_a_conversation_names_its_query_as_before(ws):
    chat = {q: [{"role": "user", "content": f"do {q}"}] for q in QUERIES}
    given = records(prompt=lambda _, q: chat[q], prompt_id=None, criterion="x", score=label)
    ws.ingest(lines(given), "d", name="x.jsonl")
    assert len({query for _, query, _, _ in cells(ws)}) == len(QUERIES)
