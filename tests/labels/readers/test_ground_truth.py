"""Columns of human verdicts beside judges become gold, with the reason; whoever wants them as judges says so."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest

SYSTEMS, CELLS = ("a", "b", "c"), 4


def wide(columns, verdict):
    """A row a cell; ``verdict(judge, system, cell)`` gives each label."""
    rows = [
        f"{s},q{n},r{n}," + ",".join(str(verdict(k, s, n)) for k in range(len(columns)))
        for s in SYSTEMS
        for n in range(CELLS)
    ]
    return ("system,query,rubric," + ",".join(columns) + "\n" + "\n".join(rows)).encode()


def odd(judge, system, cell):
    return (judge + ord(system) + cell) % 2


def judges(ws):
    return set(ws.dataset("d").labels()["judge"])


def annotators(ws):
    return set(ws.dataset("d").gold()["annotator"])


@pytest.mark.parametrize(
    ("columns", "people"),
    [
        (["gpt4", "claude", "human_gold"], {"human_gold"}),
        (["rater 1", "rater 2", "Adjudicated"], {"Adjudicated"}),
        (["j1", "j2", "ground truth"], {"ground truth"}),
        (["j1", "j2", "expert"], {"expert"}),
        (["gpt4_score", "claude_score", "human_score"], {"human"}),
        (["gpt4", "claude", "human_1", "human_2"], {"human_1", "human_2"}),
        (["gpt4", "claude", "annotator_1", "annotator_2"], {"annotator_1", "annotator_2"}),
        (["annotator_1", "annotator_2", "annotator_3"], set()),
        (["human_1", "human_2"], set()),
        (["expert_judge_1", "expert_judge_2"], set()),
        (["gpt4", "claude", "goldfish"], set()),
        (["gpt4", "claude", "expert_judge"], set()),
    ],
)
def test_people_beside_judges_are_ground_truth_and_people_alone_are_the_judges(ws, columns, people):
    report = ws.ingest(wide(columns, odd), "d")
    assert annotators(ws) == people
    assert len(judges(ws)) == len(columns) - len(people)
    told = " ".join(report.notes)
    assert ("read as ground truth (gold), because of the name" in told) == bool(people)


def test_levels_of_people_beside_levels_of_judges_are_ground_truth_and_no_answers_of_a_task(ws):
    ws.ingest(wide(["gpt4", "claude", "ground_truth"], lambda k, s, n: 1 + (k + ord(s) + n) % 5), "d")
    assert annotators(ws) == {"ground_truth"}
    assert judges(ws) == {"gpt4", "claude"}


def test_the_count_of_judges_never_holds_the_annotators(ws):
    report = ws.ingest(wide(["gpt4", "claude", "gold"], odd), "d")
    labels, gold = report.parts
    assert "2 judges" in report.changes.sentence
    assert "2 judges and" not in gold.changes.sentence
    assert gold.changes.sentence == "adds 1 annotator and 12 gold labels"
    assert labels.accepted == 24
    assert ws.datasets()["judges"].tolist() == [2]


def test_a_column_that_repeats_the_majority_of_the_judges_is_no_evidence_and_not_used(ws):
    def verdict(judge, system, cell):
        votes = [int((ord(system) + cell) % 3 > 0), int(cell > 0), int(system == "a")]
        return votes[judge] if judge < 3 else int(sum(votes) > 1)

    report = ws.ingest(wide(["j1", "j2", "j3", "consensus"], verdict), "d")
    assert (judges(ws), annotators(ws)) == ({"j1", "j2", "j3"}, set())
    assert any("'consensus' repeats the majority of the judges" in note for note in report.notes)
    other = ws.ingest(wide(["j1", "j2", "j3", "consensus"], odd), "other")
    assert any("'consensus' is read as ground truth" in note for note in other.notes)


def test_a_long_table_with_a_gold_column_has_one_gold_label_a_cell(ws):
    rows = [
        f"{s},q{n},r{n},{k},{(n + len(k)) % 2},{n % 2}"
        for s in SYSTEMS
        for n in range(CELLS)
        for k in ("j1", "judge2")
    ]
    ws.ingest(("system,query,rubric,judge,label,gold_label\n" + "\n".join(rows)).encode(), "d")
    gold = ws.dataset("d").gold()
    assert len(gold) == len(SYSTEMS) * CELLS
    assert (gold["label"].astype(int) == gold["rubric"].str[-1].astype(int) % 2).all()


EXPECTED = """
expected_verdict expected_label expected_score true_label actual actual_label reference_label reference_score
target_label target_score gt gt_label gt_score oracle_label correct_label correct_verdict y_true
official_score resolved_score
"""


@pytest.mark.parametrize("name", EXPECTED.split())
def test_what_should_have_been_said_is_ground_truth_and_no_judge(ws, name):
    report = ws.ingest(wide(["judge_verdict", name], odd), "d")
    assert len(judges(ws)) == len(annotators(ws)) == 1
    assert any(f"{name!r} is read as ground truth" in note for note in report.notes)
    ws.ingest(wide(["label", name], odd), "long")
    assert len(ws.dataset("long").gold()) == len(SYSTEMS) * CELLS


def test_what_no_judge_says_or_what_is_always_the_same_is_not_expected_of_a_label(ws):
    ws.ingest(wide(["label", "target_score"], lambda judge, *_: judge), "always")
    ws.ingest(wide(["label", "gt"], lambda judge, s, n: n % 2 + 5 * judge), "other")
    ws.ingest(wide(["label", "expected", "actual"], odd), "answers")
    assert all(ws.dataset(name).gold().empty for name in ("always", "other", "answers"))


def test_what_should_have_been_said_is_no_criterion_beside_others(ws):
    content = wide(["clarity", "tone", "expected_score"], odd).replace(b"rubric", b"annotator")
    report = ws.ingest(content, "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"clarity", "tone"}
    assert any("'expected_score' is not used, because of its name" in note for note in report.notes)


def test_beside_the_only_criterion_it_is_ground_truth_and_told_once(ws):
    report = ws.ingest(wide(["clarity", "expected_score"], odd).replace(b"rubric", b"annotator"), "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"clarity"}
    assert len(ws.dataset("d").gold()) > 0
    assert len([note for note in report.notes if "'expected_score'" in note]) == 1


@pytest.mark.parametrize("predicted", ["predicted_label", "prediction"])
@pytest.mark.parametrize("truth", ["gold_label", "human_label", "ground_truth"])
def test_beside_ground_truth_of_rubrics_the_prediction_is_the_judges_label(ws, truth, predicted):
    report = ws.ingest(wide([truth, predicted], odd), "d")
    assert len(judges(ws)) == len(annotators(ws)) == 1
    assert any(f"the label is its column {predicted!r}" in note for note in report.notes)
    with pytest.raises(IngestError, match="no column for"):  # of a task: what systems answered
        ws.ingest(wide([truth, predicted], odd).replace(b"rubric", b"topic_no"), "e")


def test_a_column_that_differs_by_judge_is_no_ground_truth(ws):
    rows = [f"{s},q{n},r{n},j{k},{n % 2},{k}" for s in SYSTEMS for n in range(CELLS) for k in (0, 1)]
    ws.ingest(("system,query,rubric,judge,label,expert\n" + "\n".join(rows)).encode(), "d")
    assert ws.dataset("d").gold().empty


@pytest.mark.parametrize(("judge", "warned"), [("human", True), ("Gold", True), ("judge3", False)])
def test_a_judge_in_rows_that_is_named_like_ground_truth_is_warned_of(ws, judge, warned):
    rows = [
        f"{s},q{n},r{n},{k},{(n + len(k)) % 2}" for s in SYSTEMS for n in range(CELLS) for k in ("j1", judge)
    ]
    report = ws.ingest(("system,query,rubric,judge,label\n" + "\n".join(rows)).encode(), "d")
    found = [finding.sentence for finding in report.checks if finding.code == "gold_judge"]
    assert bool(found) == warned
    if warned:
        assert f"{judge} is named like ground truth and counts as one of the 2 judges" in found[0]


def test_columns_whose_names_say_nothing_are_shown_with_the_mapping_to_give(ws):
    content = wide(["Strict Sue", "lenient_Lee", "human_gold"], odd)
    content = content.replace(b"system,query,rubric", b"Machine,Task No,Check").replace(b"\n", b"\nbot ")
    with pytest.raises(IngestError, match="look like labels") as told:
        ws.ingest(content, "d")
    mapping = json.loads(str(told.value)[str(told.value).rindex("{") : -1])
    assert mapping["judge"] == ["Strict Sue", "lenient_Lee"]
    ws.ingest(content, "d", mapping=mapping)
    assert (judges(ws), annotators(ws)) == ({"Strict Sue", "lenient_Lee"}, {"human_gold"})


def test_the_user_decides_in_a_mapping_or_a_plan(ws):
    content, columns = wide(["gpt4", "claude", "human"], odd), ["gpt4", "claude", "human"]
    ws.ingest(content, "d", mapping={"judge": columns})
    assert (judges(ws), annotators(ws)) == (set(columns), set())
    plan = plan_ingest(content, name="x.csv")
    assert (plan.files[0].gold, plan.files[0].tables) == (("human",), ("labels", "gold"))
    other = replace(
        plan.files[0], mapping={**plan.files[0].mapping, "judge": ("gpt4", "human")}, gold=("claude",)
    )
    ws.ingest_plan(replace(plan, files=(other,)), "e", [("x.csv", content)])
    assert set(ws.dataset("e").labels()["judge"]) == {"gpt4", "human"}
    assert set(ws.dataset("e").gold()["annotator"]) == {"claude"}
    assert type(plan).from_json(plan.to_json()) == plan


def test_a_consensus_beside_judges_who_never_differ_is_not_taken_for_their_majority(ws):
    ws.ingest(wide(["j1", "j2", "consensus"], lambda judge, system, cell: odd(0, system, cell)), "d")
    assert annotators(ws) == {"consensus"}


@pytest.mark.parametrize("answers", ["ABCD", "1234"])
def test_the_right_answers_of_a_task_are_no_gold_labels_of_whether_it_was_solved(ws, answers):
    """A was gold 4 beside labels of 0 and 1, D gold 1."""
    rows = [
        f"{m},q{n},{answers[n % 4]},{answers[(n + k) % 4]},{str(k != n % 2).lower()}"
        for k, m in enumerate(("gpt-4o", "o3"))
        for n in range(8)
    ]
    text = "\n".join(["model,question_id,ground_truth,model_answer,is_correct", *rows])
    ws.ingest(text.encode(), "d", name="x.csv")
    assert len(ws.dataset("d").gold()) == 0
    assert len(ws.dataset("d").labels()) == 16
