"""Nested records whose outer fields are called item, llm or user: what they name, by what stands further in."""

from __future__ import annotations

import json

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest
from tests.labels.readers.test_layouts import MODELS, cells, label, lines, table

ITEMS = ("i0", "i1")
CRITERIA = ("Factual accuracy", "Tone")
PEOPLE = ("ann", "bob")


def graded(*, judges=("judge",)):
    """All labels, by criterion within an item."""
    return {
        (m, i, f"{i}#{c}", j): label(m, i, c, j)
        for m in MODELS
        for i in ITEMS
        for c in CRITERIA
        for j in judges
    }


def scores(model, item, judge="judge"):
    return {c: label(model, item, c, judge) for c in CRITERIA}


def as_asked(ws, records):
    """The cells that the mapping in the question gives."""
    with pytest.raises(IngestError, match="seems to hold labels") as asked:
        ws.ingest(lines(records), "d", name="x.jsonl")
    shown = str(asked.value)
    mapping = json.loads(shown[shown.index("{") : shown.rindex("}") + 1])
    ws.ingest(lines(records), "d", name="x.jsonl", mapping=mapping)
    return cells(ws)


def words(model, item):
    return [{"criterion": c, "grade": ("no", "yes")[v]} for c, v in scores(model, item).items()]


@pytest.mark.parametrize(
    "records",
    [
        [
            {"item_id": i, "answers": [{"model": m, "text": "so", "scores": scores(m, i)} for m in MODELS]}
            for i in ITEMS
        ],
        [
            {
                "model": m,
                "item_id": i,
                "checks": [{"title": c, "score": v} for c, v in scores(m, i).items()],
            }
            for m in MODELS
            for i in ITEMS
        ],
        [{"model": m, "item_id": i, "scores": scores(m, i)} for m in MODELS for i in ITEMS],
    ],
    ids=["answers", "list", "object"],
)
def test_an_item_of_which_several_criteria_are_judged_is_a_query(ws, records):
    """It was taken for the rubric, and the criteria for judges, or they contradicted each other."""
    ws.ingest(lines(records), "d", name="x.jsonl")
    assert cells(ws) == graded()


@pytest.mark.parametrize(
    ("who", "holder"),
    [("user", "annotations"), ("by", "reviews"), ("author", "ratings"), ("user_id", "evaluations")],
)
@pytest.mark.parametrize("inner", [True, False])
def test_who_gave_a_review_in_a_list_of_them_is_the_judge(ws, who, holder, inner):
    """``user`` was no judge: of three people's labels those that contradicted the first ones were rejected."""

    def said(model, item, judge):
        found = scores(model, item, judge)
        return {who: judge, **({"scores": found} if inner else found)}

    records = [
        {"model": m, "question_id": i, holder: [said(m, i, p) for p in PEOPLE]} for m in MODELS for i in ITEMS
    ]
    ws.ingest(lines(records), "d", name="x.jsonl")
    assert cells(ws) == graded(judges=PEOPLE)


def test_the_user_of_a_conversation_is_no_judge(ws):
    records = [
        {"model": m, "conversation_id": i, "turns": [{"id": 1, "user": "ann", "scores": scores(m, i)}]}
        for m in MODELS
        for i in ITEMS
    ]
    assert "judge" not in plan_ingest(lines(records), name="x.jsonl").files[0].mapping


@pytest.mark.parametrize(
    ("system", "judge"), [("System", "annotator_id"), ("llm", "Judge"), ("Model", "rater")]
)
def test_verdicts_in_words_are_read_as_numbers_are(ws, system, judge):
    """The system was the file's name, and of the judges' labels those that contradicted the first were rejected."""
    records = [
        {system: m, "question_id": i, judge: "ann", "rubrics": words(m, i)} for m in MODELS for i in ITEMS
    ]
    ws.ingest(lines(records), "d", name="x.jsonl")
    assert {key[:3]: v for key, v in cells(ws).items()} == {key[:3]: v for key, v in graded().items()}
    assert set(ws.dataset("d").labels()["judge"]) == {"ann"}


def test_verdicts_called_otherwise_within_criteria_are_of_the_systems_that_their_records_name(ws):
    records = [
        {
            "llm": m,
            "task_id": i,
            "rubrics": [{"text": c, "result": ("no", "yes")[v]} for c, v in scores(m, i).items()],
        }
        for m in MODELS
        for i in ITEMS
    ]
    ws.ingest(lines(records), "d", name="x.jsonl")
    assert {(s, q, v) for (s, q, _, _), v in cells(ws).items()} == {
        (s, q, v) for (s, q, _, _), v in graded().items()
    }


@pytest.mark.parametrize("who", [PEOPLE, ("A1", "A2")])
@pytest.mark.parametrize(
    ("system", "query"), [("model", "qid"), ("llm", "test_case"), ("generator", "input_id")]
)
def test_few_keys_around_criteria_are_judges_where_the_record_names_its_query(ws, who, system, query):
    """The mapping shown had the keys for queries, and left out the field that names them, or the system."""
    records = [
        {system: m, query: i, "ratings": {p: scores(m, i, p) for p in who}} for m in MODELS for i in ITEMS
    ]
    assert as_asked(ws, records) == graded(judges=who)


def test_models_in_lists_of_reviews_of_models_are_the_judges(ws):
    """The models that were reviewed were the judges, and those that reviewed them the systems."""
    judges = ("gpt-4.1", "claude-3-haiku")
    records = [
        {
            "question_id": i,
            "completions": {
                m: {
                    "rubrics": [
                        {
                            "criterion": c,
                            "reviews": [{"model": j, "score": label(m, i, c, j)} for j in judges],
                        }
                        for c in CRITERIA
                    ]
                }
                for m in MODELS
            },
        }
        for i in ITEMS
    ]
    assert as_asked(ws, records) == graded(judges=judges)


@pytest.mark.parametrize(("outer", "inner"), [("judges", "reviews"), ("by_annotator", "ratings")])
def test_keys_of_what_is_called_after_judges_stay_judges(ws, outer, inner):
    """Models within lists of reviews are not those who reviewed where the keys around them are."""
    records = [
        {
            "question_id": i,
            outer: {
                p: {
                    inner: [
                        {"model": m, "criterion": c, "score": label(m, i, c, p)}
                        for m in MODELS
                        for c in CRITERIA
                    ]
                }
                for p in ("rater_1", "rater_2")
            },
        }
        for i in ITEMS
    ]
    ws.ingest(lines(records), "d", name="x.jsonl")
    assert cells(ws) == graded(judges=("rater_1", "rater_2"))


def test_an_item_beside_its_dimensions_is_the_query_of_each(ws):
    records = [
        {
            "dimension": c,
            "item_id": i,
            "model": m,
            "evaluations": [{"rater": p, "score": label(m, i, c, p)} for p in PEOPLE],
        }
        for c in CRITERIA
        for i in ITEMS
        for m in MODELS
    ]
    ws.ingest(lines(records), "d", name="x.jsonl")
    assert cells(ws) == graded(judges=PEOPLE)


def test_keys_that_nothing_is_taken_from_are_asked_about_as_the_queries(ws):
    """Labels of different queries were of one, and contradicted each other."""
    records = [
        {
            "agent": m,
            "annotator": p,
            "tasks": {
                i: {"rubrics": [{"name": c, "label": v} for c, v in scores(m, i, p).items()]} for i in ITEMS
            },
        }
        for m in MODELS
        for p in PEOPLE
    ]
    assert as_asked(ws, records) == graded(judges=PEOPLE)


@pytest.mark.parametrize("query", ["conversation_id", "sample_id", "id"])
@pytest.mark.parametrize("nested", [True, False])
def test_an_id_that_systems_share_is_the_query_also_where_each_has_a_rater_of_its_own(ws, query, nested):
    """No row is about the same as another without it, so that all rubrics were of one query."""
    keys = [(m, f"c{n}", f"u{n}") for n in range(5) for m in MODELS]
    if nested:
        content = lines(
            {query: i, "model": m, "ratings": [{"user": u, **{c: label(m, i, c) for c in CRITERIA}}]}
            for m, i, u in keys
        )
    else:
        content = table(
            ["model", query, "annotator", *CRITERIA],
            [[m, i, u, *(label(m, i, c) for c in CRITERIA)] for m, i, u in keys],
        )
    ws.ingest(content, "d", name="x.jsonl" if nested else "x.csv")
    assert cells(ws) == {(m, i, f"{i}#{c}", u): label(m, i, c) for m, i, u in keys for c in CRITERIA}


def test_an_id_of_its_own_for_each_answer_is_no_query(ws):
    rows = [[m, f"{m} {n}", f"u{n}", *(label(m, n, c) for c in CRITERIA)] for n in range(5) for m in MODELS]
    ws.ingest(table(["model", "sample_id", "annotator", *CRITERIA], rows), "d", name="x.csv")
    assert set(ws.dataset("d").labels()["query"]) == {"all"}


@pytest.mark.parametrize("holder", ["reviews", "judges"])
def test_the_only_judge_of_an_object_of_judges_keeps_its_name(ws, holder):
    """Its labels were read as those of a judge called judge."""
    records = [
        {
            "model": m,
            "task_id": i,
            holder: {
                "gpt-4.1": {
                    "dimensions": [{"metric": c, "passed": v} for c, v in scores(m, i, "gpt-4.1").items()]
                }
            },
        }
        for m in MODELS
        for i in ITEMS
    ]
    ws.ingest(lines(records), "d", name="x.jsonl")
    assert cells(ws) == graded(judges=("gpt-4.1",))
