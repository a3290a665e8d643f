"""Names of columns that evaluation tables often have, beyond the first words for system, query, rubric and judge."""

from __future__ import annotations

import json
import re

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest
from tests.labels.readers.test_layouts import JUDGES, MODELS, cells, label, table
from tests.tiers import at_most

QUERIES = range(1, 5)


@pytest.mark.parametrize("number", ["Question #", "Question No.", "question_number", "QuestionNum"])
def test_a_questions_number_is_the_query_and_no_judge(ws, number):
    """Beside words, numbers from 1 on had become a judge's labels, and the words were refused for their sake."""
    rows = [
        [m, q, "clear", *(("Fail", "Pass")[label(m, q, j)] for j in JUDGES)] for m in MODELS for q in QUERIES
    ]
    report = ws.ingest(table(["Model", number, "Criterion", *JUDGES], rows), "d")
    assert report.rejected == 0
    assert cells(ws) == {
        (m, str(q), f"{q}#clear", j): label(m, q, j) for m in MODELS for q in QUERIES for j in JUDGES
    }


@pytest.mark.parametrize("query", ["prompt_idx", "question_index", "exampleIdx"])
@pytest.mark.parametrize("rubric", ["rubric_idx", "criterion_index"])
def test_the_places_of_queries_and_criteria_name_them(ws, query, rubric):
    """Neither was used: all rows were of one query and one rubric, and contradicted each other."""
    keys = [(m, q, c) for m in MODELS for q in QUERIES for c in range(3)]
    rows = [[m, q, c, f"Rubric {c} of {q}", *(label(m, q, c, j) for j in JUDGES)] for m, q, c in keys]
    ws.ingest(table(["model", query, rubric, "rubric_text", *JUDGES], rows), "d")
    assert cells(ws) == {(m, str(q), f"{q}#{c}", j): label(m, q, c, j) for m, q, c in keys for j in JUDGES}


def test_places_beside_names_are_not_used(ws):
    keys = [(m, q, c) for m in MODELS for q in QUERIES for c in range(3)]
    rows = [[m, q, f"p{q}", c, f"criterion {c}", label(m, q, c)] for m, q, c in keys]
    ws.ingest(table(["model", "prompt_idx", "prompt_id", "rubric_idx", "criterion", "score"], rows), "d")
    wanted = {(m, f"p{q}", f"p{q}#criterion {c}", "judge"): label(m, q, c) for m, q, c in keys}
    assert cells(ws) == wanted


@pytest.mark.parametrize("heads", [["item.id", "sample.model"], ["item.id", "model"], ["id", "model"]])
def test_the_items_that_an_eval_is_run_on_are_its_queries(ws, heads):
    rows = [[f"i{q}", m, "clear", j, label(m, q, j)] for m in MODELS for q in QUERIES for j in JUDGES]
    ws.ingest(table([*heads, "criterion", "grader_name", "passed"], rows), "d")
    assert cells(ws) == {
        (m, f"i{q}", f"i{q}#clear", j): label(m, q, j) for m in MODELS for q in QUERIES for j in JUDGES
    }


def test_the_export_of_an_eval_with_a_column_a_grader_is_read_as_it_is(ws):
    graders = ("correct", "style")
    heads = ["item.id", "item.question", "sample.output_text", "sample.model"]
    rows = [
        [f"i{q}", f"ask {q}", f"{m} {q}", m, *(("false", "true")[label(m, q, g)] for g in graders)]
        for m in MODELS
        for q in QUERIES
    ]
    ws.ingest(table([*heads, *(f"grades.{g}.passed" for g in graders)], rows), "d")
    assert cells(ws) == {
        (m, f"ask {q}", f"ask {q}#grades.{g}.passed", "judge"): label(m, q, g)
        for m in MODELS
        for q in QUERIES
        for g in graders
    }


def test_one_verdict_on_each_item_of_an_eval_is_its_only_rubric(ws):
    rows = [[f"i{q}", m, label(m, q)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["item.id", "sample.model", "passed"], rows), "d")
    assert cells(ws) == {(m, f"i{q}", f"i{q}#passed", "judge"): label(m, q) for m in MODELS for q in QUERIES}


@pytest.mark.parametrize("number", ["attempt_num", "Trial #", "Run Number"])
def test_a_draws_number_is_the_run(ws, number):
    rows = [[m, q, "clear", k, label(m, q, k)] for m in MODELS for q in QUERIES for k in (1, 2)]
    ws.ingest(table(["model", "question_id", "criterion", number, "score"], rows), "d")
    found = ws.dataset("d").labels()
    assert len(found) == len(rows)
    assert set(found["run"]) == {"1", "2"}


@pytest.mark.parametrize(
    "name",
    at_most(
        ["LLM", "DialogModel"],
        [
            "LLM",
            "llm_name",
            "Checkpoint",
            "model_version",
            "System under test",
            "DialogModel",
            "blinded_system_id",
        ],
    ),
)
def test_a_language_model_is_the_system_where_no_column_is_called_so(ws, name):
    rows = [[m, f"d{q}", "clear", j, label(m, q, j)] for m in MODELS for q in QUERIES for j in JUDGES]
    ws.ingest(table([name, "doc_id", "criterion", "rater", "score"], rows), "d")
    assert cells(ws) == {
        (m, f"d{q}", f"d{q}#clear", j): label(m, q, j) for m in MODELS for q in QUERIES for j in JUDGES
    }


@pytest.mark.parametrize(
    "name", at_most(["result", "stars"], ["result", "Marks", "is_correct", "final_score", "stars"])
)
def test_one_column_that_may_be_the_label_is_it_beside_system_and_rubric(ws, name):
    rows = [
        [m, f"d{q}", c, j, label(m, q, c, j)] for m in MODELS for q in QUERIES for c in "xy" for j in JUDGES
    ]
    ws.ingest(table(["model", "doc_id", "criterion", "rater", name], rows), "d")
    assert cells(ws) == {
        (m, f"d{q}", f"d{q}#{c}", j): label(m, q, c, j)
        for m in MODELS for q in QUERIES for c in "xy" for j in JUDGES
    }  # fmt: skip


def test_of_two_columns_that_may_be_the_label_none_is_taken_for_it(ws):
    rows = [[m, f"d{q}", "c", label(m, q), label(q, m)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "doc_id", "criterion", "result", "stars"], rows), "d")
    assert set(ws.dataset("d").judges) == {"result", "stars"}
    rated = [[*row[:3], "ann", *row[3:]] for row in rows]
    with pytest.raises(IngestError, match="no column for label"):
        ws.ingest(table(["model", "doc_id", "criterion", "rater", "result", "stars"], rated), "e")


@pytest.mark.parametrize(
    "name",
    at_most(
        ["Grading model", "expert_id"],
        ["scorer", "Grading model", "judge_llm", "llm_judge", "expert_id", "autorater"],
    ),
)
def test_a_column_of_names_that_is_called_after_judges_is_the_judge(ws, name):
    rows = [[m, f"d{q}", "c", j, label(m, q, j)] for m in MODELS for q in QUERIES for j in JUDGES]
    ws.ingest(table(["model", "doc_id", "criterion", name, "score"], rows), "d")
    assert set(ws.dataset("d").judges) == set(JUDGES)


def test_what_an_expert_says_beside_a_score_is_no_name_of_a_judge(ws):
    rows = [[m, f"d{q}", "c", label(q, m), label(m, q)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "doc_id", "criterion", "critic", "score"], rows), "d")
    assert set(ws.dataset("d").judges) == {"judge"}


def test_a_column_of_labels_that_is_called_after_a_judge_holds_that_judges_labels(ws):
    rows = [[m, f"d{q}", "c", label(m, q), label(q, m)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "doc_id", "criterion", "llm_judge", "autorater"], rows), "d")
    assert set(ws.dataset("d").judges) == {"llm_judge", "autorater"}


@pytest.mark.parametrize(
    "name", at_most(["property", "unit_test"], ["property", "rule", "category", "unit_test"])
)
def test_the_mapping_that_is_shown_takes_what_tells_rows_apart_for_the_rubric(ws, name):
    rows = [
        [m, f"d{q}", c, j, label(m, q, c, j)] for m in MODELS for q in QUERIES for c in "xy" for j in JUDGES
    ]
    content = table(["model", "question_id", name, "rater", "score"], rows)
    with pytest.raises(IngestError, match="no column for rubric") as told:
        ws.ingest(content, "d")
    shown = json.loads(str(told.value).partition("would read it: ")[2].removesuffix("."))
    ws.ingest(content, "d", mapping=shown)
    assert cells(ws) == {
        (m, f"d{q}", f"d{q}#{c}", j): label(m, q, c, j)
        for m in MODELS for q in QUERIES for c in "xy" for j in JUDGES
    }  # fmt: skip


@pytest.mark.parametrize("item", ["item", "item_id"])
def test_items_beside_criteria_are_queries(ws, item):
    long = [[m, f"i{q}", c, label(m, q, c)] for m in MODELS for q in QUERIES for c in ("clarity", "tone")]
    ws.ingest(table(["model", item, "criterion", "score"], long), "long")
    wide = [[m, f"i{q}", *(label(m, q, c) for c in ("clarity", "tone"))] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", item, "clarity", "tone"], wide), "wide")
    for dataset in ("long", "wide"):
        assert cells(ws, dataset) == {(m, q, f"{q}#{c}", "judge"): value for m, q, c, value in long}


def told_mapping(report):
    (told,) = (n for n in report.notes if "if each item is" in n)
    return json.loads(re.search(r"\{.*\}", told)[0])


def test_one_score_of_an_item_is_its_only_rubric(ws):
    """Each item had been a rubric without a query, on a scale of its own."""
    content = table(
        ["model", "item_id", "rater", "score"],
        [[m, f"i{q}", j, 1 + label(m, q, j)] for m in MODELS for q in QUERIES for j in JUDGES],
    )
    report = ws.ingest(content, "d", name="x.csv")
    assert cells(ws) == {
        (m, f"i{q}", f"i{q}#score", j): 1 + label(m, q, j) for m in MODELS for q in QUERIES for j in JUDGES
    }
    ws.ingest(content, "rubrics", mapping=told_mapping(report), name="x.csv")
    assert set(ws.dataset("rubrics").rubrics["rubric"]) == {f"i{q}" for q in QUERIES}


@pytest.mark.parametrize("named", ["essay_id", "scenario"])
def test_items_of_texts_are_their_rubrics(ws, named):
    rows = [[m, f"e{q}", f"i{k}", label(m, q, k)] for m in MODELS for q in QUERIES for k in range(3)]
    report = ws.ingest(table(["model", named, "item_id", "score"], rows), "d", name="x.csv")
    assert cells(ws) == {(m, e, f"{e}#{i}", "judge"): value for m, e, i, value in rows}
    assert any("the query is its column" in n and repr(named) in n for n in report.notes)


@pytest.mark.parametrize("named", ["essay_id", "weight"])
def test_items_beside_a_text_or_a_weight_stay_rubrics_also_where_no_name_repeats(ws, named):
    rows = [[m, 1 + q, f"i{q} {k}", label(m, q, k)] for m in MODELS for q in QUERIES for k in range(3)]
    ws.ingest(table(["model", named, "item_id", "score"], rows), "d", name="x.csv")
    assert set(ws.dataset("d").rubrics["criterion"]) == {row[2] for row in rows}


@pytest.mark.parametrize("keys", [["task", "item_id"], ["item"]])
def test_that_items_are_rubrics_is_told(ws, keys):
    keyed = {"task": "t{}", "item_id": "i{}", "item": "i{}"}
    rows = [[m, *(keyed[k].format(q) for k in keys), label(m, q)] for m in MODELS for q in QUERIES]
    content = table(["model", *("task_id" if k == "task" else k for k in keys), "score"], rows)
    report = ws.ingest(content, "d", name="x.csv")
    assert set(ws.dataset("d").rubrics["criterion"]) == {f"i{q}" for q in QUERIES}
    ws.ingest(content, "queries", mapping=told_mapping(report), name="x.csv")
    assert cells(ws, "queries") == {
        (m, f"i{q}", f"i{q}#score", "judge"): label(m, q) for m in MODELS for q in QUERIES
    }


def test_columns_beside_items_that_may_be_criteria_or_judges_are_asked_about(ws):
    """They had become judges without a word, also where they were called after criteria."""
    rows = [[m, f"i{q}", *(label(m, q, j) for j in ("ann", "bob"))] for m in MODELS for q in QUERIES]
    content = table(["model", "item", "ann", "bob"], rows)
    with pytest.raises(IngestError, match="nothing says whether they are criteria or judges") as told:
        ws.ingest(content, "d")
    (file,) = plan_ingest(content, strict=False).files
    assert any("nothing says whether they are criteria or judges" in remark for remark in file.remarks)
    criteria, judges = map(json.loads, re.findall(r"\{.*?\}", str(told.value)))
    ws.ingest(content, "criteria", mapping=criteria)
    assert set(ws.dataset("criteria").rubrics["criterion"]) == {"ann", "bob"}
    ws.ingest(content, "judges", mapping=judges)
    assert set(ws.dataset("judges").judges) == {"ann", "bob"}


@pytest.mark.parametrize("names", [("j1", "j2"), ("Coder A", "Coder B"), ("physician_1", "physician_2")])
def test_columns_that_are_called_after_judges_are_judges_of_one_rubric(ws, names):
    rows = [[m, f"q{q}", *(label(m, q, j) for j in names)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "question_id", *names], rows), "d")
    assert set(ws.dataset("d").judges) == set(names)


def test_columns_that_may_be_judges_are_told_with_the_mapping_that_reads_them_so(ws):
    names = ("Alice", "Bob")
    rows = [[m, f"q{q}", *(label(m, q, j) for j in names)] for m in MODELS for q in QUERIES]
    content = table(["model", "question_id", *names], rows)
    report = ws.ingest(content, "criteria")
    assert set(ws.dataset("criteria").rubrics["criterion"]) == set(names)
    (told,) = (n for n in report.notes if "are judges of one rubric" in n)
    ws.ingest(content, "judges", mapping=json.loads(re.findall(r"\{.*\}", told)[0]))
    assert set(ws.dataset("judges").judges) == set(names)


@pytest.mark.parametrize("names", [("Model A", "Model B", "Model C"), ("baseline", "ours", "ablation")])
def test_columns_beside_queries_that_may_be_systems_are_offered_as_such(ws, names):
    rows = [[f"q{q}", *(label(s, q) for s in names)] for q in QUERIES]
    content = table(["question_id", *names], rows)
    with pytest.raises(IngestError, match="if each is a system") as told:
        ws.ingest(content, "d")
    ws.ingest(content, "d", mapping=json.loads(re.findall(r"\{[^{}]*\}", str(told.value))[-1]))
    assert set(ws.dataset("d").systems) == set(names)


def test_beside_a_model_its_version_is_no_system(ws):
    rows = [[m, "v2", f"d{q}", "clear", label(m, q)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "model_version", "doc_id", "criterion", "score"], rows), "d")
    assert {system for system, *_ in cells(ws)} == set(MODELS)


@pytest.mark.parametrize(
    "name",
    at_most(
        ["aspect", "Dimension", "rubric_item", "Evaluation criteria", "check"],
        ["aspect", "Dimension", "metric", "rubric_item", "checklist_item", "Evaluation criteria", "check"],
    ),
)
def test_what_is_rated_is_the_rubric_where_no_column_is_called_so(ws, name):
    rows = [
        [m, f"d{q}", c, j, label(m, q, c, j)] for m in MODELS for q in QUERIES for c in "xy" for j in JUDGES
    ]
    ws.ingest(table(["system", "doc", name, "judge", "rating"], rows), "d")
    assert cells(ws) == {
        (m, f"d{q}", f"d{q}#{c}", j): label(m, q, c, j)
        for m in MODELS for q in QUERIES for c in "xy" for j in JUDGES
    }  # fmt: skip


def test_beside_a_criterion_an_aspect_describes_it(ws):
    rows = [[m, q, "clear", "style", label(m, q)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["system", "query", "criterion", "aspect", "label"], rows), "d")
    rubrics = ws.dataset("d").rubrics
    assert set(rubrics["dimension"]) == {"style"}
    assert set(rubrics["rubric"]) == {f"{q}#clear" for q in QUERIES}


def test_of_the_ids_of_rubric_and_criterion_the_criterions_is_the_rubric(ws):
    rows = [[m, q, f"of {q}", c, label(m, q, c)] for m in MODELS for q in QUERIES for c in "xy"]
    ws.ingest(table(["model", "question_id", "rubric_id", "criterion_id", "score"], rows), "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"x", "y"}


def test_one_letter_in_all_cells_is_a_grade_beside_other_grades_alone(ws):
    tracks = [[m, q, "B", label(m, q), label(q, m)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "question_id", "track", "clear", "kind"], tracks), "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"clear", "kind"}
    grades = [[m, q, "B", "ABC"[(label(m, q) + label(q)) % 3], "F"] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "question_id", "style", "clear", "kind"], grades), "e")
    assert set(ws.dataset("e").rubrics["criterion"]) == {"style", "clear", "kind"}
    verdicts = [[m, q, "F", "FT"[label(m, q)]] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "question_id", "style", "clear"], verdicts), "f")
    assert set(ws.dataset("f").rubrics["criterion"]) == {"style", "clear"}


def test_what_is_the_same_in_all_rows_of_each_judge_is_no_rubric(ws):
    years = dict(zip(JUDGES, (3, 12), strict=True))
    rows = [
        [m, q, j, label(m, q, j), label(q, j, m), years[j], "yes"]
        for m in MODELS
        for q in QUERIES
        for j in JUDGES
    ]
    ws.ingest(
        table(["model", "question_id", "annotator", "clear", "kind", "experience", "polite"], rows), "d"
    )
    assert set(ws.dataset("d").rubrics["criterion"]) == {"clear", "kind", "polite"}


def test_beside_predictions_the_label_is_whether_they_are_right(ws):
    rows = [[m, q, label(q), label(m, q), int(label(q) == label(m, q))] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "question", "label", "prediction", "correct"], rows), "d")
    assert {(m, q): known for (m, q, _, _), known in cells(ws).items()} == {
        (m, str(q)): right for m, q, _, _, right in rows
    }


@pytest.mark.parametrize(
    "name", ["expected", "predicted", "confidence", "unsafe_category", "judge_confidence"]
)
def test_what_is_expected_predicted_or_sorted_is_no_rubric(ws, name):
    rows = [[m, q, label(m, q), label(q, m), label(m)] for m in MODELS for q in QUERIES]
    ws.ingest(table(["model", "question_id", "clear", "kind", name], rows), "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"clear", "kind"}


@pytest.mark.parametrize("name", ["coherence", "sophistication", "commands obeyed", "humanity", "superhuman"])
def test_words_that_hold_the_name_of_a_model_are_criteria(ws, name):
    rows = [[j, q, label(q, j), label(j, q, 1)] for q in QUERIES for j in JUDGES]
    content = table(["judge", "question_id", name, "fluency"], rows)
    with pytest.raises(IngestError, match="one column for each rubric"):
        ws.ingest(content, "d")
    ws.ingest(content, "d", mapping={"system": "=m"})
    assert set(ws.dataset("d").rubrics["criterion"]) == {name, "fluency"}


@pytest.mark.parametrize(
    "names", [("phi-3", "command-r"), ("Phi3", "opus_4"), ("cohere", "human"), ("CommandR", "o3")]
)
def test_columns_named_after_models_are_systems(ws, names):
    rows = [[j, q, label(q, j), label(j, q, 1)] for q in QUERIES for j in JUDGES]
    ws.ingest(table(["judge", "question_id", *names], rows), "d", mapping={"rubric": "=correct"})
    assert set(ws.dataset("d").systems) == set(names)


@pytest.mark.parametrize("name", ["dimension", "aspect", "metric"])
def test_an_item_that_is_rated_on_several_dimensions_is_the_query(ws, name):
    """The refusal had shown the dimension as the query of rubrics that are the items."""
    rows = [
        [m, q, d, j, label(m, q, d, j)]
        for m in MODELS
        for q in QUERIES
        for d in ("clear", "short")
        for j in JUDGES
    ]
    report = ws.ingest(table(["model", "item_id", name, "rater_id", "score"], rows), "d")
    assert any("the query is its column 'item_id'" in note for note in report.notes)
    assert cells(ws) == {
        (m, str(q), f"{q}#{d}", j): label(m, q, d, j)
        for m in MODELS
        for q in QUERIES
        for d in ("clear", "short")
        for j in JUDGES
    }


def test_thresholds_beside_scores_are_no_rubrics(ws):
    rows = [[m, q, 0.5, label(m, q), 1, label(m, q, 1)] for m in MODELS for q in QUERIES]
    head = ["model", "question_id", "cites_threshold", "cites_success", "clear_threshold", "clear_success"]
    ws.ingest(table(head, rows), "d")
    rubrics = {r.rpartition("#")[2] for r in ws.dataset("d").labels()["rubric"]}
    assert rubrics == {"cites_success", "clear_success"}


@pytest.mark.parametrize("name", ["agent", "agent_name", "bot", "Policy model", "candidate_model"])
def test_what_acts_or_answers_is_the_system(ws, name):
    rows = [[m, q, "clear", j, label(m, q, j)] for m in MODELS for q in QUERIES for j in JUDGES]
    ws.ingest(table([name, "task_id", "criterion", "judge_model", "score"], rows), "d")
    assert set(ws.dataset("d").systems) == set(MODELS)
