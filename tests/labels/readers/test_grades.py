"""Points of classes, ranks, statuses and metrics of evaluators: which column is the label, the rubric or the system."""

from __future__ import annotations

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.readers.policies import Policies
from tests.labels.readers.test_layouts import MODELS, table
from tests.labels.readers.test_mistaken import mappings

METRICS = ("Correctness", "Hallucination", "Toxicity")


def level(*at):
    return sum((place + 1) * (2 * number + 1) for place, number in enumerate(at)) % 5


@pytest.mark.parametrize("name", ["evaluator", "evaluator_name", "scorer", "grader"])
def test_metrics_of_evaluators_are_rubrics_and_no_judges(ws, name):
    rows = [
        [m, f"q{q}", c, level(i, q, k) % 2]
        for i, m in enumerate(MODELS)
        for q in range(5)
        for k, c in enumerate(METRICS)
    ]
    content = table(["model", "query_id", name, "score"], rows)
    report = ws.ingest(content, "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == set(METRICS)
    assert any(f"the rubric is its column {name!r}, which names criteria" in note for note in report.notes)
    (shown,) = [found for note in report.notes for found in mappings(note)]
    ws.ingest(content, "judges", mapping=shown)
    assert set(ws.dataset("judges").labels()["judge"]) == set(METRICS)


@pytest.mark.parametrize("judges", [("ann", "bob"), ("gpt-4o-judge", "claude-judge")])
def test_evaluators_with_other_names_are_judges(ws, judges):
    rows = [
        [m, f"q{q}", j, level(i, q, k) % 2]
        for i, m in enumerate(MODELS)
        for q in range(5)
        for k, j in enumerate(judges)
    ]
    ws.ingest(table(["model", "query_id", "evaluator", "score"], rows), "d")
    assert set(ws.dataset("d").labels()["judge"]) == set(judges)


def graded(system, query, *names):
    rows = [
        [s, a, c, level(i, a, k, g), 4, f"g{g}"]
        for i, s in enumerate(MODELS)
        for a in (1, 2)
        for k, c in enumerate(("Thesis", "Evidence"))
        for g in (1, 2)
    ]
    return table([system, query, *names], rows)


@pytest.mark.parametrize("most", ["max_points", "Points Possible", "max_score"])
def test_points_beside_the_most_points_are_the_label(ws, most):
    report = ws.ingest(graded("model", "task_id", "criterion", "points", most, "grader"), "d")
    assert len(ws.dataset("d").labels()) == len(MODELS) * 8
    assert any("the label is its column 'points'" in note for note in report.notes)


def test_points_without_a_most_are_the_weight_of_a_rubric(ws):
    with pytest.raises(IngestError, match="no column for label"):
        ws.ingest(graded("model", "task_id", "criterion", "points", "cohort", "grader"), "d")


def test_a_gradebook_is_refused_with_the_mapping_that_reads_it(ws):
    content = graded("Student", "Assignment", "Criterion", "Points", "Max Points", "Grader")
    with pytest.raises(IngestError, match="no column for system") as told:
        ws.ingest(content, "d")
    (shown,) = mappings(told.value)
    assert (shown["system"], shown["label"]) == ("Student", "Points")
    ws.ingest(content, "d", mapping=shown)
    assert len(ws.dataset("d").labels()) == len(MODELS) * 8


def test_an_id_of_students_is_no_rubric(ws):
    rows = [[s, g, *(level(s, g, k) for k in range(3))] for s in range(1, 9) for g in (1, 2)]
    with pytest.raises(IngestError, match="look like labels") as told:
        ws.ingest(table(["idstud", "rater", "k1", "k2", "k3"], rows), "d")
    assert mappings(told.value)[0] == {"system": "idstud", "judge": "rater", "rubric": ["k1", "k2", "k3"]}


@pytest.mark.parametrize("name", ["status", "judge_status"])
def test_a_status_in_words_is_shown_with_what_to_answer(ws, name):
    rows = [
        [m, f"q{q}", c, ("DONE", "ABORTED")[level(i, q, k) % 2]]
        for i, m in enumerate(MODELS)
        for q in range(4)
        for k, c in enumerate(("thesis", "evidence"))
    ]
    content = table(["model", "query_id", "criterion", name], rows)
    with pytest.raises(IngestError, match="hold a few words, such as 'ABORTED', 'DONE'") as told:
        ws.ingest(content, "d")
    answers = Policies(answers={"DONE": 1, "ABORTED": 0})
    ws.ingest(content, "d", mapping=mappings(told.value)[0], policies=answers)
    assert set(ws.dataset("d").labels()["label"]) == {0, 1}


def test_ranks_in_columns_are_asked_about_as_the_first_is_the_best(ws):
    rows = [[f"q{q}", c, 1 + (q + k) % 2, 2 - (q + k) % 2] for q in range(6) for k, c in enumerate("ab")]
    content = table(["query_id", "criterion", "rank_gpt-4o", "rank_claude-3"], rows)
    with pytest.raises(IngestError, match=r"hold ranks, of which 1 is the best.*--polarity '\*=-1'"):
        ws.ingest(content, "d")
    ws.ingest(content, "d", policies=Policies(polarity={"*": -1}))
    assert set(ws.dataset("d").rubrics["polarity"]) == {-1}
    assert set(ws.dataset("d").labels()["system"]) == {"gpt-4o", "claude-3"}


def test_sentences_are_no_names_of_judges():
    criteria = ["The response cites a source", "The response names the drug", "The answer is short"]
    rows = [
        [m, f"q{q}", *(level(i, q, k) % 2 for k in range(3))] for i, m in enumerate(MODELS) for q in range(6)
    ]
    (found,) = plan_ingest(table(["model", "query_id", *criteria], rows)).files
    assert found.mapping["rubric"] == tuple(criteria)
    assert not [remark for remark in found.remarks if "are judges" in remark]
