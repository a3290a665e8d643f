"""Native files of published rubric benchmarks: small ones, as they are published, and what each is read as."""

# ruff: noqa: E501 - a layout's records, each in one line
from __future__ import annotations

import json
import sqlite3

import duckdb
import pandas as pd
import pytest

from crubric_core.errors import IngestError
from tests.labels.readers.test_layouts import MODELS, cells, label, lines, table

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


def test_advancedif_rubrics_within_json_texts_are_those_of_the_conversation(ws):
    """The table was refused, as nothing in it was known."""
    said = json.dumps([{"role": "user", "content": "Be brief."}])
    packed = json.dumps({"rubrics": json.dumps(["Is it brief?", "Is it polite?"])})
    read(
        ws,
        table(["conversation_history", "benchmark_name", "prompt_metadata"], [[said, "x", packed]]),
        "x.csv",
    )
    assert rubrics(ws, "query", "text")["user: Be brief.#1"] == ("user: Be brief.", "Is it polite?")


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


# Answers, points and weights are no labels


@pytest.mark.parametrize("right", ["is_correct", "correct"])
def test_gaia_answers_that_are_numbers_are_no_labels(ws, right):
    """The right answers were read as labels of a criterion of their own."""
    rows = [[q, m, 2, f"What is {q}?", 42, 40 + label(q, m), bool(label(q, m))] for q, m in ASKED]
    header = ["task_id", "model", "Level", "Question", "Final answer", "Model answer", right]
    found, report = read(ws, table(header, rows), "x.csv")
    assert found == wanted(levels=lambda q, m, _: label(q, m), criteria=(right,))
    assert "Not used of x.csv: Level, Final answer, Model answer." in report


def test_a_column_of_answers_is_not_offered_as_the_system(ws):
    rows = [[q, f"What is {q}?", 41, 42, bool(label(q))] for q in QUERIES]
    told = refused(
        ws, table(["id", "Question", "Model answer", "Ground truth", "Correct"], rows), "gpt-4o.csv"
    )
    assert '"system": "Model answer"' not in told
    assert '"label": "Correct"' in told


def test_scores_that_each_criterion_always_has_are_points_beside_a_verdict(ws):
    """They were read as labels in place of the verdicts."""
    records = [
        {"task_id": q, "model": m, "rubric": [{"criterion": f"{q}, {c}", "score": 5 - c, "met": bool(v)} for c, v in enumerate(verdicts(q, m))]}
        for q, m in ASKED
    ]  # fmt: skip
    found, report = read(ws, document(records))
    assert {(s, q, r): v for (s, q, r, _), v in found.items()} == {
        (m, q, f"{q}, {c}"): label(q, m, c) for q, m in ASKED for c in (0, 1)
    }
    assert "'rubric[].score' of 1 file looks like labels, but nothing is read from there" in report


def test_deep_research_bench_weights_of_dimensions_are_not_offered_as_labels(ws):
    records = [
        {"id": i, "prompt": f"Why {i}?", "dimension_weight": {"insight": 0.25 * i, "readability": 1 - 0.25 * i},
         "criterions": {"insight": [{"criterion": "Explains.", "explanation": "so", "weight": 1.0}]}}
        for i in range(4)
    ]  # fmt: skip
    assert "dimension_weight{}" not in refused(ws, lines(records), "criteria.jsonl")


# Names of criteria


def test_assessments_of_mlflow_are_named_by_their_scorer(ws):
    """All of them were labels of one rubric by different judges."""
    records = [
        {"trace_id": f"{q}-{m}", "request": q, "model": m, "assessments": [
            {"assessment_name": "safety", "source": {"source_type": "LLM_JUDGE", "source_id": "gpt-4"}, "feedback": {"value": ["no", "yes"][label(q, m)]}},
            {"assessment_name": "relevance", "source": {"source_type": "HUMAN", "source_id": "ann"}, "feedback": {"value": ["yes", "no"][label(q, m)]}},
        ]}
        for q, m in ASKED
    ]  # fmt: skip
    found, _ = read(ws, document(records))
    safety = wanted("gpt-4", lambda q, m, _: label(q, m), ("safety",))
    assert found == safety | wanted("ann", lambda q, m, _: 1 - label(q, m), ("relevance",))


@pytest.mark.parametrize("outer", ["model", "query"])
def test_checkeval_questions_of_each_dimension_are_offered_as_criteria_and_not_as_judges(ws, outer):
    """Of systems, queries, dimensions and questions one level was left out, or the dimensions were judges."""

    def asked(q, m):
        return {d: {f"q{c}": label(q, m, d, c) for c in (0, 1)} for d in ("coherence", "fluency")}

    by_model = {m: {q: asked(q, m) for q in QUERIES} for m in MODELS}
    by_query = {q: {m: asked(q, m) for m in MODELS} for q in QUERIES}
    told = refused(ws, document(by_model if outer == "model" else by_query))
    mapping = json.loads(told[told.index("{") : told.rindex("}") + 1])
    ws.ingest(document(by_model if outer == "model" else by_query), "d", name="x.json", mapping=mapping)
    assert cells(ws) == {
        (m, q, f"{q}#{d}/q{c}", "judge"): label(q, m, d, c)
        for q, m in ASKED
        for d in ("coherence", "fluency")
        for c in (0, 1)
    }


def test_biggen_bench_criteria_are_the_texts_of_the_rubrics(ws):
    """They were not used."""
    records = [
        {"id": q, "capability": "grounding", "model_name": m, "response": "So.", "score": 1 + 3 * label(q, m), "feedback": "Well done.",
         "score_rubric": {"criteria": f"Is {q} grounded?", **{f"score{n}_description": f"level {n}" for n in range(1, 6)}}}
        for q, m in ASKED
    ]  # fmt: skip
    found, _ = read(ws, document(records))
    assert found == wanted(levels=lambda q, m, _: 1 + 3 * label(q, m), criteria=("score",))
    assert rubrics(ws, "text", "scale_max")["t1#score"] == ("Is t1 grounded?", 5)


def test_apex_verifiers_of_one_criterion_each_are_no_judges(ws):
    """Each was a judge of the one criterion that it verifies."""
    rows = [[q, m, f"States {c}.", ["fail", "pass"][label(q, m, c)], f"ver_{c}", 300 + c] for q, m in ASKED for c in (0, 1)]  # fmt: skip
    found, report = read(
        ws, table(["task_id", "model", "criteria", "verdict", "verifier", "tokens"], rows), "x.csv"
    )
    assert found == wanted(criteria=("States 0.", "States 1."))
    assert "Not used of x.csv: verifier, tokens." in report


def test_tags_of_criteria_in_a_list_reject_no_criterion(ws):
    """Two tags of a criterion were two rows that contradicted each other."""
    criteria = [{"criterion": f"States {c}.", "points": 5 - c, "tags": ["a", "b"]} for c in (0, 1)]
    records = [
        {"id": q, "model": m, "rubrics": criteria, "grades": [{"criterion": f"States {c}.", "criteria_met": bool(label(q, m, c))} for c in (0, 1)]}
        for q, m in ASKED
    ]  # fmt: skip
    found, report = read(ws, lines(records), "x.jsonl")
    assert found == wanted(criteria=("States 0.", "States 1."))
    assert rubrics(ws, "weight")["t0#States 1."] == (4,)
    assert "rejected: " not in report


# Checkpoints, tests, checklists beside a score


def checkpoints(q, m):
    return {
        "checkpoints": [{"total": 1, "result": label(q, m)}, {"total": 3, "result": 2 * label(q, m, 1)}],
        "final_score": {"total": 4, "result": 2},
    }


def test_the_agent_company_checkpoints_are_rubrics_up_to_their_totals(ws):
    """The files were refused, as nothing in them was known."""
    ws.ingest([(f"{m}/eval_{q}.json", document(checkpoints(q, m))) for q, m in ASKED], "d")
    assert cells(ws) == {
        (m, q, f"{q}#checkpoint {n}", "checkpoints"): n * label(q, m, *([1] if n > 1 else []))
        for q, m in ASKED
        for n in (1, 2)
    }
    assert rubrics(ws, "scale_max", "weight")["t0#checkpoint 2"] == (3, 3)


def test_a_task_of_the_agent_company_is_not_its_system(ws):
    told = refused(ws, document(checkpoints("t0", "m")), "eval_t0.json")
    assert "is of a system that nothing names" in told


def test_outcomes_of_a_pytest_report_are_labels_and_skipped_tests_have_none(ws):
    """The tests were numbered in the mapping that the refusal offered."""
    outcomes = ("passed", "failed", "error", "skipped")
    tests = [{"nodeid": f"tests/test_a.py::test_{o}[1]", "outcome": o, "call": {"duration": 0.1, "outcome": o}} for o in outcomes]  # fmt: skip
    found, report = read(
        ws, document({"exitcode": 1, "summary": {"passed": 1}, "tests": tests}), "gpt-4o.json"
    )
    assert {r: None if v is pd.NA else v for (_, _, r, _), v in found.items()} == {
        f"tests/test_a.py#test_{o}[1]": level for o, level in zip(outcomes, (1, 0, 0, None), strict=True)
    }
    assert {s for s, *_ in found} == {"gpt-4o"}
    assert "tests whose outcome is 'skipped' have no label" in report


@pytest.mark.parametrize("bare", [True, False])
def test_wildbench_verdicts_on_the_checklist_are_labels_beside_the_score(ws, bare):
    """They were not used."""
    records = [
        {"session_id": q, "model_test": m, "score": str(4 + label(q, m)), "checklist": ["Is it 0?", "Is it 1?"],
         "checklist_results": [bool(v) if bare else {"item": "Is it?", "met": bool(v)} for v in verdicts(q, m)]}
        for q, m in ASKED
    ]  # fmt: skip
    found, _ = read(ws, document(records), "eval=gpt-4/x.json")
    assert found == wanted("gpt-4") | wanted("gpt-4", lambda q, m, _: 4 + label(q, m), ("score",))
    assert rubrics(ws, "text")["t0#1"] == ("Is it 1?",)


# Databases


def test_a_database_is_named_as_such_with_what_to_do(ws, tmp_path):
    """It was called a binary file."""
    with sqlite3.connect(tmp_path / "x.db") as database:
        database.execute("CREATE TABLE labels (label INT)")
    duckdb.connect(str(tmp_path / "x.duckdb")).close()
    export = "database, and no table: export its table of labels as CSV or Parquet."
    assert refused(ws, (tmp_path / "x.db").read_bytes(), "labels.csv") == f"labels.csv is an SQLite {export}"
    assert refused(ws, (tmp_path / "x.duckdb").read_bytes(), "x.duckdb") == f"x.duckdb is a DuckDB {export}"


# Services and scorers


def test_vertex_verdicts_of_different_cases_are_of_different_queries(ws):
    """The index of the case was not used, so that equal labels of several cases were merged."""
    cases = [
        {"eval_case_index": i, "response_candidate_results": [{"response_index": 0, "metric_results": {"general_quality_v1": {
            "score": 0.5,
            "rubric_verdicts": [{"evaluated_rubric": {"rubric_id": f"r{c}"}, "verdict": bool(label(i, c)), "reasoning": "so"} for c in (0, 1)],
        }}}]}
        for i in range(4)
    ]  # fmt: skip
    found, _ = read(ws, document({"eval_case_results": cases}), mapping={"system": "=mine"})
    assert found == {("mine", str(i), f"{i}#r{c}", "judge"): label(i, c) for i in range(4) for c in (0, 1)}


def test_scorers_of_weave_with_different_fields_are_all_read(ws):
    """Only those with the first field were, or the scores of one that gave a yes or no, too."""
    records = [
        {"example_id": q, "model": m, "scores": {
            "format": {"passed": bool(label(q, m)), "score": 0.3},
            "tone": {"value": label(q, m, 1)},
            "topic": {"is_relevant": bool(label(q, m, 2)), "confidence": 0.8},
        }}
        for q, m in ASKED
    ]  # fmt: skip
    found, report = read(ws, lines(records), "x.jsonl")
    named = ("format.passed", "tone.value", "topic.is_relevant")
    assert found == wanted(levels=lambda q, m, i: label(q, m, *([i] if i else [])), criteria=named)
    assert "Not used of x.jsonl: scores.format.score, scores.topic.confidence." in report


def test_deep_research_bench_scores_of_an_article_and_its_reference_are_not_two_judges(ws):
    records = [
        {"id": q, "model": m, "scores": {"insight": [
            {"criterion": c, "analysis": "so", "article_1_score": 4 + label(q, m, c), "article_2_score": 5 - label(q, c)} for c in ("deep", "wide")
        ]}}
        for q, m in ASKED
    ]  # fmt: skip
    assert "holds two answers in each row (article_1_score, article_2_score)" in refused(ws, lines(records))


def test_research_qa_degrees_of_coverage_are_levels(ws):
    """Their words had no level."""
    words = ("Not at all", "Barely", "Moderately", "Mostly", "Completely")
    records = [
        {"id": q, "model": m, "coverage": [{"rubric_item": f"{q}, {c}", "rating": words[(i + j + c) % 5]} for c in (0, 1, 2)]}
        for i, q in enumerate(QUERIES) for j, m in enumerate(MODELS)
    ]  # fmt: skip
    found, _ = read(ws, document(records))
    assert {(m, r): v for (m, _, r, _), v in found.items()} == {
        (m, f"{q}, {c}"): (i + j + c) % 5
        for i, q in enumerate(QUERIES)
        for j, m in enumerate(MODELS)
        for c in (0, 1, 2)
    }


@pytest.mark.parametrize(
    "judged",
    [{"annotations": [[1, 0], [1, 1]]}, {"rewards": [1, 0]}, {"by_item": {"x": True, "y": False}}],
)
def test_criteria_with_an_answer_and_unknown_verdicts_are_not_read_without_these(ws, judged):
    """They were read as prompts that nobody has graded."""
    records = [{"id": q, "prompt": f"Do {q}.", "response": "So.", "rubrics": ["is short", "is true"], **judged} for q in QUERIES]  # fmt: skip
    refused(ws, document(records), "gpt-4o.json")


def test_verdicts_in_an_object_of_the_evaluation_are_labels(ws):
    records = [
        {"id": q, "model": m, "prompt": f"Do {q}.", "rubrics": [{"criterion": "Short.", "points": 5}, {"criterion": "Lies.", "points": -3}],
         "evaluation": {"met": [bool(v) for v in verdicts(q, m)]}}
        for q, m in ASKED
    ]  # fmt: skip
    found, _ = read(ws, document(records))
    assert found == wanted()
    assert rubrics(ws, "polarity")["t0#1"] == (-1,)


def test_weights_beside_an_answer_are_no_verdicts(ws):
    record = {"id": "t0", "model": "gpt-4o", "prompt": "Why?", "response": "So.", "rubrics": ["is short", "is true"], "weights": [1, 1]}  # fmt: skip
    found, _ = read(ws, document([record]))
    assert not found
    assert rubrics(ws, "weight") == {"t0#0": (1,), "t0#1": (1,)}


def test_several_judges_beside_one_list_of_verdicts_are_refused(ws):
    """All verdicts were those of one judge without a name; whether each is a judge's is not known."""
    records = [{"id": q, "model": m, "rubrics": ["a", "b"], "judge": ["gpt-4", "claude"], "verdicts": verdicts(q, m)} for q, m in ASKED]  # fmt: skip
    assert "names several judges beside one list of verdicts" in refused(ws, document(records))
