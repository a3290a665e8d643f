"""Tables that do not say whose answers they label: asked about, never put together; and which columns label at all."""

# ruff: noqa: E501 - a table's columns, each in one line
from __future__ import annotations

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest
from tests.labels.readers.test_layouts import MODELS, cells, label, lines, table

QUERIES = range(8)
HELPSTEER = ("helpfulness", "correctness")


def helpsteer(answers):
    return lines(
        {"prompt": f"q{q}", "response": f"answer {a} to {q}", **{c: label(q, a, c) for c in HELPSTEER}}
        for q in QUERIES
        for a in range(answers)
    )


@pytest.mark.parametrize("strict", [True, False], ids=["command line", "Data page"])
def test_several_answers_to_a_query_are_asked_about_where_no_column_names_systems(strict):
    (file,) = plan_ingest(helpsteer(2), name="helpsteer.jsonl", kind="labels", strict=strict).files
    assert "are about the same query (they differ in 'response')" in file.problem
    assert '"run": "response"' in file.problem


def test_what_was_written_is_no_query_where_answers_repeat_their_text():
    """As in Prometheus: five answers to an instruction, whose feedback alone tells the rows of a criterion apart."""
    rows = [
        [f"do {q}", f"answer {a} to {q}", f"feedback {a}", f"criterion {q}", 1 + a]
        for q in QUERIES
        for a in range(5)
    ]
    rows = [[*row, f"{row[0]}: {row[1]}"] for row in rows]
    columns = ["orig_instruction", "orig_response", "output", "orig_criteria", "score", "instruction"]
    (file,) = plan_ingest(table(columns, rows), name="mine.csv").files
    assert "query" not in file.mapping
    assert "are about the same rubric (they differ in 'orig_response')" in file.problem


def test_they_are_read_as_draws_of_one_system_where_the_user_says_so(ws):
    mapping = {"system": "=m", "run": "response", "rubric": list(HELPSTEER)}
    report = ws.ingest(helpsteer(2), "d", name="helpsteer.jsonl", mapping=mapping)
    assert (report.accepted, report.rejected) == (2 * 2 * len(QUERIES), 0)


def test_labels_of_answers_to_queries_make_no_table_of_queries():
    graded = [[f"q{q}", "a text", "so", label(q)] for q in QUERIES]
    (file,) = plan_ingest(
        table(["question_id", "question", "answer", "passed"], graded), name="gpt-4o.csv"
    ).files
    assert (file.kind, file.mapping["label"]) == ("labels", "passed")
    examples = [[f"q{q}", "a text", "the right answer", 1 + label(q)] for q in QUERIES]
    (file,) = plan_ingest(
        table(["question_id", "question", "answer", "difficulty"], examples), name="x.csv"
    ).files
    assert file.kind == "queries"


def test_one_answer_to_each_query_is_of_the_system_that_the_file_is_named_after():
    (file,) = plan_ingest(helpsteer(1), name="gpt-4o.jsonl").files
    assert (file.mapping["system"], file.problem) == ("=gpt-4o", None)


@pytest.mark.parametrize("name", ["train.jsonl", "test-00000-of-00001.jsonl", "annotations.jsonl"])
def test_a_part_of_a_data_set_names_no_system(name):
    (file,) = plan_ingest(helpsteer(1), name=name).files
    assert "system" not in file.mapping
    assert "no column for system" in file.problem


# two columns of answers → others of the same row
PAIRS = {
    "HelpSteer 3": (("response1", "response2"), lambda q: {"overall_preference": 2, "individual_preference": [{"score": label(q), "reasoning": "so"}]}),
    "HelpSteer 2 preferences": (("response_1", "response_2"), lambda q: {"preference_strength": label(q)}),
    "Prometheus preferences": (("orig_response_A", "orig_response_B"), lambda q: {"orig_score_A": f"{1 + label(q)}", "orig_score_B": "2", "orig_criteria": f"criterion {q}"}),
    "WebGPT": (("answer_0", "answer_1"), lambda q: {"score_0": label(q), "score_1": -label(q)}),
    "RewardBench 2": (("chosen", "rejected"), lambda q: {"num_correct": 1, "num_incorrect": 2 + label(q), "total_completions": 4}),
    "JudgeBench": (("response_A", "response_B"), lambda q: {"response_model": "gpt-4o", "label": "A>B"}),
}  # fmt: skip


@pytest.mark.parametrize("strict", [True, False], ids=["command line", "Data page"])
@pytest.mark.parametrize("name", PAIRS)
def test_two_answers_in_a_row_are_compared_and_none_of_them_is_labelled(name, strict):
    (one, two), others = PAIRS[name]
    content = lines(
        {one: f"one way {q}", two: f"another {q}", "instruction": f"q{q}", **others(q)} for q in QUERIES
    )
    kind = "labels" if strict else None
    (file,) = plan_ingest(content, name="gpt-4o.jsonl", kind=kind, strict=strict).files
    assert f"which of two answers is better ({one}, {two})" in file.problem


def test_two_columns_of_labels_are_no_two_answers(ws):
    rows = [[f"q{q}", "c", label(q), label(q, 1)] for q in QUERIES]
    ws.ingest(table(["question_id", "criterion", "model_a", "model_b"], rows), "d")
    assert ws.dataset("d").systems == ("model_a", "model_b")


def beside(column, value):
    rows = [[m, f"q{q}", f"{m} says {q}", value(m, q)] for m in MODELS for q in QUERIES]
    return table(["model", "question_id", "response", column], rows)


@pytest.mark.parametrize("kind", ["labels", None], ids=["command line", "Data page"])
def test_one_criterion_beside_the_answers_is_read_and_told(ws, kind):
    content = beside("clarity", lambda m, q: 1 + label(m, q))
    report = ws.ingest_plan(plan_ingest(content, name="x.csv", kind=kind), "d", ("x.csv", content))
    assert cells(ws) == {
        (m, f"q{q}", f"q{q}#clarity", "judge"): 1 + label(m, q) for m in MODELS for q in QUERIES
    }
    assert any("'clarity' is taken as the only rubric" in note for note in report.notes)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("num_turns", lambda m, q: 1 + label(m, q)),
        ("response_length", lambda m, q: 40 + label(m, q)),
        ("random_seed", lambda m, q: label(m, q)),
        ("cached", lambda m, q: ("false", "true")[label(m, q)]),
        ("difficulty_level", lambda m, q: q % 3),
        ("revision", lambda m, q: MODELS.index(m)),
        ("presence_penalty", lambda m, q: label(m, q)),
        ("thinking_enabled", lambda m, q: label(m, q)),
        ("finish_reason", lambda m, q: ("stop", "length")[label(m, q)]),
    ],
)  # fmt: skip
def test_what_else_is_noted_of_answers_is_no_criterion(column, value):
    (file,) = plan_ingest(beside(column, value), name="x.csv").files
    assert (file.kind, file.unused) == ("answers", (column,))


@pytest.mark.parametrize("columns", [["num_correct", "total_score"], ["response_words", "n_sources"]])
def test_counts_are_no_criteria_of_a_wide_table(columns):
    rows = [[m, f"q{q}", label(m, q), label(q)] for m in MODELS for q in QUERIES]
    (file,) = plan_ingest(table(["model", "question_id", *columns], rows), name="x.csv", kind="labels").files
    assert not any(isinstance(v, tuple) for v in file.mapping.values())


def test_a_length_alone_may_be_a_criterion(ws):
    rows = [[m, f"q{q}", 1 + label(m, q), 1 + label(q, m, 1)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "question_id", "clarity", "length"], rows), "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"clarity", "length"}


def test_scores_of_systems_that_repeat_are_labels_and_no_ranking(ws):
    content = lines({"question_id": f"q{q}", "task": "t", "model": m, "score": label(m, q)} for m in MODELS for q in QUERIES)  # fmt: skip
    ws.ingest_plan(plan_ingest(content, name="x.jsonl"), "d", ("x.jsonl", content))
    assert cells(ws) == {(m, f"q{q}", f"q{q}#score", "judge"): label(m, q) for m in MODELS for q in QUERIES}


def test_a_score_a_system_stays_a_ranking():
    (file,) = plan_ingest(
        table(["model", "score"], [[m, n] for n, m in enumerate(MODELS)]), name="x.csv"
    ).files
    assert file.kind == "reference"


def test_items_with_a_column_a_question_are_queries_and_the_questions_no_systems():
    """As in DICES: raters answer several questions on each conversation; the expected answer is none of them."""
    rows = [[f"r{j}", q, "a talk", *(("No", "Yes")[label(q, j, c)] for c in "abc")] for q in QUERIES for j in range(3)]  # fmt: skip
    content = table(["rater_id", "item_id", "context", "safety_gold", "Q1_harmful", "Q2_biased"], rows)
    (file,) = plan_ingest(content, name="x.csv", kind="labels", strict=True).files
    assert dict(file.mapping) == {
        "query": "item_id",
        "judge": "rater_id",
        "rubric": ("Q1_harmful", "Q2_biased"),
    }
    assert "no column for system" in file.problem
    assert file.suspects == ("safety_gold",)


def test_items_with_a_column_a_model_stay_rubrics(ws):
    rows = [[j, f"i{q}", label(q, j, 1), label(q, j, 2)] for q in QUERIES for j in ("ann", "bob")]
    ws.ingest(table(["rater", "item", "gpt-4o", "claude-3-opus"], rows), "d")
    assert set(ws.dataset("d").systems) == {"gpt-4o", "claude-3-opus"}


def test_an_id_and_a_text_that_name_the_same_query_are_no_question(ws):
    rows = [[m, q, f"what is {q}", c, label(m, q, c)] for m in MODELS for q in QUERIES for c in "ab"]
    ws.ingest(table(["model", "task_id", "question", "criterion", "score"], rows), "d")
    assert set(ws.dataset("d").queries["query"]) == {str(q) for q in QUERIES}
    for row in rows:
        row[2] = "the same for several" if row[1] < 4 else row[2]
    with pytest.raises(IngestError, match="'task_id' and 'question' could each be the query"):
        ws.ingest(table(["model", "task_id", "question", "criterion", "score"], rows), "e")


@pytest.mark.parametrize(("column", "asked"), [("worker", False), ("sample", True)])
def test_rows_that_a_rater_tells_apart_are_of_one_system_and_others_may_be_draws(column, asked):
    rows = [[f"q{q}", "c", n, label(q, n)] for q in QUERIES for n in "xyz"]
    content = table(["question_id", "criterion", column, "score"], rows)
    (file,) = plan_ingest(content, name="gpt-4o.csv", kind="labels", strict=True).files
    assert ("are about the same query" in file.problem) is asked
    assert ('"run": "sample"' in file.problem) is asked


@pytest.mark.parametrize("column", ["variant", "Configuration", "participant"])
def test_a_column_that_may_name_the_systems_is_offered_and_reads_them(ws, column):
    rows = [[m, f"q{q}", "c", "ann", label(m, q)] for m in MODELS for q in QUERIES]
    content = table([column, "question_id", "criterion", "rater", "score"], rows)
    with pytest.raises(IngestError) as caught:
        ws.ingest(content, "d")
    assert f'say so if {column!r} does ({{"system": "{column}"}})' in str(caught.value)
    ws.ingest(content, "d", mapping={"system": column})
    assert cells(ws) == {(m, f"q{q}", f"q{q}#c", "ann"): label(m, q) for m in MODELS for q in QUERIES}


def test_numbers_of_draws_are_not_offered_as_systems():
    rows = [[n, f"q{q}", "c", label(n, q)] for n in range(3) for q in QUERIES]
    (file,) = plan_ingest(table(["variant", "question_id", "criterion", "score"], rows), kind="labels").files
    assert '"run": "variant"' in file.problem
    assert '"system": "variant"' not in file.problem
