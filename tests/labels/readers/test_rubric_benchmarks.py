"""Native files of published rubric benchmarks: small ones, as they are published, and what each is read as."""

# ruff: noqa: E501 - a layout's records, each in one line
from __future__ import annotations

import json

import pytest

from crubric_core.errors import IngestError
from tests.labels.readers.test_layouts import MODELS, cells, label, lines

QUERIES = ("t0", "t1", "t2", "t3")
ASKED = tuple((q, m) for q in QUERIES for m in MODELS)


def document(value) -> bytes:
    return json.dumps(value).encode()


def read(ws, content, name="x.json", **given):
    """The cells that a file gives, and the text of the report."""
    report = ws.ingest(content, "d", name=name, **given)
    return cells(ws), str(report)


def rubrics(ws, *columns):
    """Rubric → the values of these columns."""
    found = ws.dataset("d").rubrics[["rubric", *columns]]
    return {row[0]: tuple(row[1:]) for row in found.itertuples(index=False)}


def refused(ws, content, name="x.json", **given) -> str:
    with pytest.raises(IngestError) as told:
        ws.ingest(content, "d", name=name, **given)
    return str(told.value)


def verdicts(*key):
    return [label(*key, c) for c in range(2)]


def wanted(judge="judge", levels=label, criteria=("0", "1")):
    """The labels of all models, queries and criteria by ``levels(query, model, place of the criterion)``."""
    return {(m, q, f"{q}#{c}", judge): levels(q, m, i) for q, m in ASKED for i, c in enumerate(criteria)}


# Criteria with a list of verdicts


@pytest.mark.parametrize(
    ("judged", "judge"),
    [
        (lambda q, m: {"judge_result": verdicts(q, m)}, "judge"),
        (lambda q, m: {"judge": str(verdicts(q, m))}, "judge"),
        (lambda q, m: {"judge": {"judge_model": "o3", "point_judges": verdicts(q, m), "point_explanations": ["a", "b"]}}, "o3"),
    ],
)  # fmt: skip
def test_cfbench_verdicts_under_the_name_of_the_judge_are_labels(ws, judged, judge):
    """They were left out, and the file was read as prompts that nobody has graded; priorities are no labels."""
    records = [
        {"idx": q, "model": m, "prompt": f"Write {q}.", "criteria": ["Uses bullets.", "Is short."],
         "requirement_priority": [1, 0], **judged(q, m)}
        for q, m in ASKED
    ]  # fmt: skip
    found, report = read(ws, lines(records), "x.jsonl")
    assert found == wanted(judge)
    assert "Not used of x.jsonl: requirement_priority." in report
    assert rubrics(ws, "text")["t0#1"] == ("Is short.",)


def test_followbench_levels_of_an_example_are_queries_of_their_own(ws):
    """The lists of verdicts were not read."""
    records = [
        {"example_id": 7, "category": "style", "level": level, "instruction": f"Write, {level}.", "model": m,
         "constraints": [f"rule {c}" for c in range(level)], "judge": [label(m, level, c) for c in range(level)]}
        for level in (1, 2, 3) for m in MODELS
    ]  # fmt: skip
    found, _ = read(ws, lines(records), "x.jsonl")
    assert found == {
        (m, f"style/7/{n}", f"style/7/{n}#{c}", "judge"): label(m, n, c)
        for n in (1, 2, 3)
        for m in MODELS
        for c in range(n)
    }


@pytest.mark.parametrize(
    ("record", "text", "weight"),
    [
        ({"qid": "t0", "question": "Why?", "checklists": ["Does it cover costs?"]}, "Does it cover costs?", None),
        ({"id": "t0", "query": "Why?", "rubric": [{"rubric_item": "Does it say how?", "type": "Info"}]}, "Does it say how?", None),
        ({"case_id": "t0", "question": "Why?", "ingredients": [{"name": "must", "criterion": "Cites it.", "weight": 0.4, "snippets": ["s"]}]}, "Cites it.", 0.4),
        ({"case_id": "t0", "initial_prompt": "Why?", "metric_config": {"name": "rubric", "config": {"question": "Why?", "length_weight": 0.05, "other_properties": [{"name": "must", "criterion": "Cites it.", "weight": 0.4, "evidence": ["s"]}]}}}, "Cites it.", 0.4),
    ],
    ids=["LiveResearchBench", "ResearchQA", "ScholarQA-CS", "ScholarQA-CS's configuration"],
)  # fmt: skip
def test_prompts_with_a_checklist_are_queries_and_rubrics(ws, record, text, weight):
    """Their criteria were not known as such: the refusal offered to read the file without them."""
    read(ws, document([record]))
    (found,) = rubrics(ws, "query", "text", "weight").values()
    assert found[:2] == ("t0", text)
    assert found[2] == pytest.approx(weight, nan_ok=True) if weight else found[2] != found[2]


# Points and weights


def gdpval(**more):
    item = {"criterion": "States the total.", "tags": [], "required": None}
    return [
        {**item, "rubric_item_id": f"r{c}", "score": points, **{k: v(c) for k, v in more.items()}}
        for c, points in enumerate((5, -2))
    ]


@pytest.mark.parametrize("packed", [json.dumps, list])
def test_gdpval_scores_of_criteria_are_their_points(ws, packed):
    """They were taken for labels as soon as a record named a system."""
    records = [{"task_id": q, "prompt": f"Do {q}.", "occupation": "Clerk", "rubric_json": packed(gdpval())} for q in QUERIES]  # fmt: skip
    found, _ = read(ws, lines(records), "x.jsonl")
    assert not found
    assert rubrics(ws, "weight", "polarity")["t0#r0"] == (5, 1)
    assert rubrics(ws, "weight", "polarity")["t0#r1"] == (-2, -1)


def test_gdpval_verdicts_beside_points_are_the_labels(ws):
    records = [
        {"task_id": q, "model": m, "rubric": gdpval(met=lambda c, q=q, m=m: bool(label(q, m, c)))} for q, m in ASKED
    ]  # fmt: skip
    found, _ = read(ws, document(records))
    assert found == wanted(criteria=("r0", "r1"))
    assert rubrics(ws, "weight")["t3#r1"] == (-2,)


def test_gdpval_awarded_points_are_labels_up_to_the_points_of_their_criterion(ws):
    records = [
        {"task_id": q, "model": m, "rubric": gdpval()[:1], "grades": [{"rubric_item_id": "r0", "awarded": 5 * label(q, m)}]}
        for q, m in ASKED
    ]  # fmt: skip
    found, _ = read(ws, document(records))
    assert found == {(m, q, f"{q}#r0", "judge"): 5 * label(q, m) for q, m in ASKED}
    assert rubrics(ws, "scale_min", "scale_max")["t0#r0"] == (0, 5)


def test_healthbench_points_and_texts_beside_grades_in_their_order_are_kept(ws):
    """They were left out, so that a criterion with negative points counted as good to meet."""
    criteria = [{"criterion": "Asks.", "points": 5, "tags": ["axis:accuracy"]}, {"criterion": "Lies.", "points": -3, "tags": []}]  # fmt: skip
    records = [
        {"prompt_id": q, "model": m, "rubrics": criteria,
         "grades": [{"criteria_met": bool(v), "explanation": "so"} for v in verdicts(q, m)]}
        for q, m in ASKED
    ]  # fmt: skip
    found, _ = read(ws, lines(records), "x.jsonl")
    assert found == wanted()
    assert rubrics(ws, "text", "weight", "polarity")["t2#1"] == ("Lies.", -3, -1)


def test_prbench_results_name_no_field_as_unused_that_is_read(ws):
    """All of them were listed as unused."""
    outputs = {
        m: {q: {"convo": "user: Why?\nassistant: So.", "rubric_texts": ["Cites.", "Lies."], "weights": [8, -5],
                "grades": [["false", "true"][v] for v in verdicts(q, m)]} for q in QUERIES}
        for m in MODELS
    }  # fmt: skip
    found, report = read(ws, document({"outputs": outputs, "config": {"judge_model_name": "o4-mini"}}))
    assert found == wanted("o4-mini")
    assert rubrics(ws, "weight")["t0#1"] == (-5,)
    assert "Not used" not in report


def test_a_profbench_weight_in_an_unknown_word_is_left_out_and_told(ws):
    """The criterion was rejected, with its text."""
    record = {
        "task_id": "t0",
        "domain": "Physics",
        "prompt": "Why?",
        "rubrics": [
            {"criterion_description": f"States {w}.", "criterion_type": ["Reasoning"], "criterion_weight": w, "o3_fulfilment": True}
            for w in ("Critical", "Essential")
        ],
    }  # fmt: skip
    _, report = read(ws, lines([record]), "x.jsonl")
    assert len(ws.dataset("d").gold()) == 2
    assert {text: weight == 4 for text, weight in rubrics(ws, "text", "weight").values()} == {
        "States Critical.": True,
        "States Essential.": False,
    }
    assert "the weight 'Essential' was not read" in report


# Several people


@pytest.mark.parametrize(
    "judged",
    [
        lambda of: {"annotation": {who: of(who) for who in ("annotator_1", "annotator_2")}},
        lambda of: {who: of(who) for who in ("annotator_1", "annotator_2")},
        lambda of: {"annotations": [{"annotator": who, "eval": of(who)} for who in ("annotator_1", "annotator_2")]},
    ],
)  # fmt: skip
def test_infobench_verdicts_of_several_people_are_one_judge_each(ws, judged):
    """They were left out, and the file was read as questions alone."""
    records = [
        {"id": q, "model": m, "instruction": "Do.", "decomposed_questions": ["a?", "b?"], "output": "o",
         **judged(lambda who, q=q, m=m: [bool(v) for v in verdicts(q, m, who)])}
        for q, m in ASKED
    ]  # fmt: skip
    found, _ = read(ws, lines(records), "x.jsonl")
    assert found == {
        (m, q, f"{q}#{c}", who): label(q, m, who, c)
        for q, m in ASKED
        for who in ("annotator_1", "annotator_2")
        for c in (0, 1)
    }


def test_infobench_lists_of_verdicts_without_names_are_refused(ws):
    """Whether the outer list is of people or of questions is not known; the labels were lost row by row."""
    records = [{"id": q, "model": m, "decomposed_questions": ["a?", "b?"], "eval": [[True, False], [True, True]]} for q, m in ASKED]  # fmt: skip
    assert "nothing says whose each is: give the verdicts of each person" in refused(
        ws, lines(records), "x.jsonl"
    )
