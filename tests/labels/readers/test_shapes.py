"""Labels within JSON that only their values tell: the mapping that is shown takes all of them, and names none twice."""

# ruff: noqa: E501 - a layout's records, each in one line
from __future__ import annotations

import json
import re

import pytest

from crubric_core.errors import IngestError
from tests.labels.readers.test_layouts import MODELS, cells, label

QUERIES = ("p0", "p1", "p2", "p3")


def shown(ws, records):
    """The mapping that the refusal shows, with a name in place of what it leaves open."""
    with pytest.raises(IngestError, match="seems to hold labels within its records") as asked:
        ws.ingest(json.dumps(records).encode(), "d", name="x.json")
    found = json.loads(re.search(r"\{.*\}", str(asked.value))[0])
    return {c: "=mine" if path == "=…" else path for c, path in found.items()}


def read(ws, records):
    mapping = shown(ws, records)
    ws.ingest(json.dumps(records).encode(), "d", name="x.json", mapping=mapping)
    return cells(ws)


def test_tests_that_all_pass_are_rubrics_beside_those_that_some_fail(ws):
    """Only the one that some failed was offered, and the others were named among what is not used."""
    words = ("failed", "passed")
    tests = {q: {"test_a": "passed", "test_b": words[label(q)], "test_c": "passed"} for q in QUERIES}
    records = {"id": "run", "results": [{"task_id": q, "parser_results": tests[q]} for q in QUERIES]}
    wanted = {
        ("mine", q, f"{q}#{t}", "judge"): words.index(word) for q in QUERIES for t, word in tests[q].items()
    }
    assert read(ws, records) == wanted


def test_categories_of_which_some_are_never_met_are_read_as_well(ws):
    records = [
        {"prompt": q, "model": m, "category": {"privacy": bool(label(q, m)), "animal_abuse": False}}
        for q in QUERIES
        for m in MODELS
    ]
    assert shown(ws, records)["label"] == "category{}"
    assert read(ws, records) == {
        (m, q, f"{q}#{c}", "judge"): level
        for q in QUERIES
        for m in MODELS
        for c, level in (("privacy", label(q, m)), ("animal_abuse", 0))
    }


def test_an_item_of_which_several_things_are_said_is_the_query_alone(ws):
    """It was query and rubric, and one of the two criteria was left out."""
    records = [
        {"item": q, "model": m, "evaluations": {j: {"clarity": 1 + label(q, m, j), "tone": 1 + label(q, j)} for j in ("ann", "bob")}}
        for q in QUERIES
        for m in MODELS
    ]  # fmt: skip
    assert read(ws, records) == {
        (m, q, f"{q}#{c}", j): 1 + level
        for q in QUERIES
        for m in MODELS
        for j in ("ann", "bob")
        for c, level in (("clarity", label(q, m, j)), ("tone", label(q, j)))
    }


def test_keys_of_records_that_name_their_model_are_queries(ws):
    """They were offered as rubrics, and the system of each record was left out (HLE's judged answers)."""
    records = {
        f"66e8{n}": {"model": MODELS[0], "judge_response": {"correct": ("no", "yes")[label(n)], "reasoning": "so"}}
        for n in range(6)
    }  # fmt: skip
    assert read(ws, records) == {
        (MODELS[0], f"66e8{n}", f"66e8{n}#correct", "judge"): label(n) for n in range(6)
    }


def test_names_at_the_top_are_systems_and_numbered_annotators_within_are_judges(ws):
    """The systems were offered as judges, and the annotators as queries (OpinSummEval)."""
    names, criteria = ("bart", "pegasus", "textrank"), ("relevance", "readability")
    records = {s: {a: {c: 1 + label(s, a, c) for c in criteria} for a in ("annot1", "annot2")} for s in names}
    mapping = shown(ws, records)
    assert (mapping["system"], mapping["judge"]) == ("{}.#", "{}{}.#")
    assert {(s, c, j): level for (s, _, c, j), level in read(ws, records).items()} == {
        (s, c, a): 1 + label(s, a, c) for s in names for c in criteria for a in ("annot1", "annot2")
    }


@pytest.mark.parametrize("named", [{}, {"criterion": "cites"}])
def test_where_keys_of_scores_may_be_systems_the_refusal_says_how_to_read_them_so(ws, named):
    """With a system for all rows, as it said alone, they would be criteria, or judges."""
    records = [{"question_id": q, **named, "scores": {s: label(q, s) for s in ("baseline", "finetuned")}} for q in QUERIES]  # fmt: skip
    with pytest.raises(
        IngestError, match=r"no column for system, .* are systems, read it with the mapping"
    ) as told:
        ws.ingest(json.dumps(records).encode(), "d", name="x.json")
    mapping = json.loads(re.search(r"mapping (\{.*\})", str(told.value).partition("are systems")[2])[1])
    ws.ingest(json.dumps(records).encode(), "d", name="x.json", mapping=mapping)
    assert cells(ws) == {
        (s, q, f"{q}#{named.get('criterion', 'score')}", "judge"): label(q, s)
        for q in QUERIES
        for s in ("baseline", "finetuned")
    }


def test_keys_of_scores_that_are_called_after_criteria_are_not_offered_as_systems(ws):
    records = [{"question_id": q, "scores": {"clarity": label(q), "tone": label(q, 1)}} for q in QUERIES]
    with pytest.raises(IngestError, match="no column for system") as told:
        ws.ingest(json.dumps(records).encode(), "d", name="x.json")
    assert "are systems" not in str(told.value)


def test_a_score_beside_criteria_is_one_more_of_them(ws):
    """It was the label of a rubric called clarity, and the object of the three was the name of the judge."""
    given = {
        (m, q, c): 1 + label(m, q, c) for m in MODELS for q in QUERIES for c in ("clarity", "style", "score")
    }
    records = [
        {"model": m, "question_id": q, "judge": {c: given[m, q, c] for c in ("clarity", "style", "score")}}
        for m in MODELS
        for q in QUERIES
    ]
    assert read(ws, records) == {(m, q, f"{q}#{c}", "judge"): level for (m, q, c), level in given.items()}


def test_items_that_each_name_their_annotator_are_of_one_rubric(ws):
    """As in LightTag's exports, where each place in the list was offered as a rubric."""
    given = {(m, q, a): label(m, q, a) for m in MODELS for q in QUERIES for a in ("ann", "bob")}
    records = [
        {"metadata": {"model": m, "prompt": q}, "classifications": [
            {"classname": ("bad", "good")[given[m, q, a]], "annotator": a} for a in ("ann", "bob")]}
        for m in MODELS for q in QUERIES
    ]  # fmt: skip
    assert read(ws, {"examples": records}) == {
        (m, q, f"{q}#classname", a): level for (m, q, a), level in given.items()
    }
