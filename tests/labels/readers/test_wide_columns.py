"""Which columns of a wide table hold labels: of criteria, of systems and of judges, and what is told of the others."""

from __future__ import annotations

import pytest

from crubric_core.labels.readers.bundle import plan_ingest
from tests.labels.readers.test_layouts import MODELS, table


def some(*at):
    """A level of 1 to 5, another one in each row and column."""
    return 1 + sum((place + 1) * (2 * number + 1) for place, number in enumerate(at)) % 5


def of_criteria(*names, first=(), begin=None):
    """A row for each query and system; of the first columns what a function says of them."""
    keys = [(q, m) for q in range(6) for m in range(3)]
    rows = [
        [*(begin(q, m) if begin else ()), MODELS[m], f"q{q}", *(some(q, m, at) for at in range(len(names)))]
        for q, m in keys
    ]
    return table([*first, "model", "question_id", *names], rows)


def planned(content, **options):
    (found,) = plan_ingest(("wide.csv", content), kind="labels", strict=True, **options).files
    assert found.problem is None
    return found


@pytest.mark.parametrize("overall", ["score", "rating", "Verdict", "label", "points_awarded"])
def test_a_column_called_a_label_beside_criteria_is_one_more_and_told(overall):
    found = planned(of_criteria("clarity", "tone", overall))
    assert found.mapping["rubric"] == ("clarity", "tone", overall)
    assert any(f"{overall!r} is read as one more rubric" in remark for remark in found.remarks)


@pytest.mark.parametrize("holder", ["scores", "judge", "llm_judge", "eval", "evaluation", "feedback"])
def test_the_object_that_all_criteria_were_keys_of_is_no_part_of_their_names(ws, holder):
    """Those of a judge's own object had its name before theirs, as if each were another criterion."""
    names = [f"{holder}.{c}" for c in ("clarity", "tone")]
    ws.ingest(of_criteria(*names), "d", name="wide.csv")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"clarity", "tone"}


def test_what_may_be_a_judge_stays_in_the_names_of_criteria(ws):
    ws.ingest(of_criteria("gpt4.clarity", "gpt4.tone"), "d", name="wide.csv")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"gpt4.clarity", "gpt4.tone"}


def test_a_criterion_may_be_called_label(ws):
    ws.ingest(of_criteria("clarity", "tone", "label"), "d", name="wide.csv")
    assert {name.partition("#")[2] for name in ws.dataset("d").rubrics["rubric"]} == {
        "clarity",
        "tone",
        "label",
    }


def test_whether_predictions_are_right_is_the_only_rubric_beside_them():
    found = planned(of_criteria("pred", "label", "correct"))
    assert found.mapping["label"] == "correct"


def test_what_stands_beside_the_only_rubric_and_may_hold_labels_is_told():
    found = planned(of_criteria("score", "critical"))
    assert found.mapping["label"] == "score"
    assert any("'critical' may hold labels, and is not used" in remark for remark in found.remarks)


@pytest.mark.parametrize("name", ["No.", "#", "Nr.", "S.No", "sr no", "№", "Seq", "Case", "record"])
def test_running_numbers_are_no_rubric_in_whatever_order_the_rows_are(name):
    found = planned(of_criteria("clarity", "tone", first=[name], begin=lambda q, m: [1 + q + 6 * m]))
    assert found.mapping["rubric"] == ("clarity", "tone")


@pytest.mark.parametrize("gap", [0, 1])
def test_numbers_that_no_two_rows_share_are_no_rubric_whatever_they_are_called(gap):
    found = planned(of_criteria("clarity", "tone", first=["Lot"], begin=lambda q, m: [1 + q * (3 + gap) + m]))
    assert found.mapping["rubric"] == ("clarity", "tone")


def test_scores_to_a_hundred_that_no_two_rows_share_are_labels():
    found = planned(of_criteria("clarity", "tone", first=["depth"], begin=lambda q, m: [(q * 3 + m) * 5]))
    assert found.mapping["rubric"] == ("depth", "clarity", "tone")


CRITERIA = ("complete", "polite")
OF_ROWS = {  # column → what it says of a query and a criterion
    "critical": lambda q, c: int(c == "polite"),
    "Tier": lambda q, c: 1 + CRITERIA.index(c),
    "is_safety": lambda q, c: q % 2,
    "difficulty_level": lambda q, c: q % 3,
    "has_code": lambda q, c: q % 2,
}
OF_OTHERS = ("median", "any_pass", "all_pass", "Best", "Winner", "subtotal", "Ø")
TRUE = ("gold", "ground_truth", "consensus", "majority")


def by_model(name, held):
    rows = [
        [f"p{q}", c, some(q, len(c), 1) % 2, some(q, len(c), 2) % 2, held(q, c)]
        for q in range(6)
        for c in CRITERIA
    ]
    return table(["prompt_id", "criterion", "gpt-4o", "claude-3.5-sonnet", name], rows)


def by_judge(name, held):
    keys = [(m, q, c) for q in range(6) for m in range(3) for c in CRITERIA]
    rows = [
        [MODELS[m], f"q{q}", c, *(some(m, q, len(c), j) % 2 for j in (1, 2)), held(m, q, c)]
        for m, q, c in keys
    ]
    return table(["model", "question", "criterion", "ann", "bob", name], rows)


@pytest.mark.parametrize("name", [*OF_ROWS, *OF_OTHERS, *TRUE])
def test_what_is_said_of_a_row_is_no_system_beside_models(name):
    found = planned(by_model(name, OF_ROWS.get(name, lambda q, c: some(q, len(c), 3) % 2)))
    assert found.mapping["system"] == ("gpt-4o", "claude-3.5-sonnet")
    assert name in found.unused


def test_a_system_that_is_called_like_no_model_is_read_and_told():
    found = planned(by_model("ours", lambda q, c: some(q, len(c), 3) % 2))
    assert found.mapping["system"] == ("gpt-4o", "claude-3.5-sonnet", "ours")
    assert any("'ours' is read as a system: if it is not" in remark for remark in found.remarks)


@pytest.mark.parametrize(
    "name", [*OF_ROWS, "tiebreaker", "unanimous", "match", "median", "variance", "Mittel"]
)
def test_what_is_said_of_a_row_is_no_judge(name):
    of_row = OF_ROWS.get(name)
    found = planned(by_judge(name, lambda m, q, c: of_row(q, c) if of_row else some(m, q, len(c), 3) % 2))
    assert found.mapping["judge"] == ("ann", "bob")
    assert name in found.unused


def test_what_is_left_out_of_the_judges_is_told_with_the_mapping_that_reads_it():
    found = planned(by_judge("critical", lambda m, q, c: OF_ROWS["critical"](q, c)))
    assert any("'critical' is not used" in r and '["ann", "bob", "critical"]' in r for r in found.remarks)


def test_a_judge_who_differs_between_systems_or_is_called_so_is_one():
    found = planned(by_judge("cy", lambda m, q, c: some(m, q, len(c), 3) % 2))
    assert found.mapping["judge"] == ("ann", "bob", "cy")
    strict = planned(by_judge("judge 3", lambda m, q, c: q % 2))
    assert strict.mapping["judge"] == ("ann", "bob", "judge 3")


def late(value, row, names):
    """240 rows, of which only the last have a value in the last column."""
    rows = [
        [MODELS[m], f"q{q}", *row(q, m), value(q, m) if q >= 75 else ""] for q in range(80) for m in range(3)
    ]
    return table(["model", "question_id", *names], rows)


def test_labels_that_only_later_rows_have_are_read():
    criteria = late(
        lambda q, m: some(q, m), lambda q, m: [some(q, m, 1), some(q, m, 2)], ["clarity", "tone", "safety"]
    )
    assert planned(criteria).mapping["rubric"] == ("clarity", "tone", "safety")
    verdicts = late(
        lambda q, m: q % 2, lambda q, m: ["c", m % 2, q % 2], ["criterion", "gpt-4o", "claude", "gemini"]
    )
    assert planned(verdicts).mapping["judge"] == ("gpt-4o", "claude", "gemini")
    gold = late(
        lambda q, m: q % 2, lambda q, m: ["c", "j", m % 2], ["criterion", "judge", "score", "human_gold"]
    )
    assert planned(gold).gold == ("human_gold",)


@pytest.mark.parametrize(
    "name", ["response_length", "Effort", "Order", "Position", "Choice", "Confidence", "Category"]
)
def test_an_unused_column_with_the_same_cells_as_the_labels_is_warned_of(name):
    assert planned(of_criteria("clarity", "tone", name)).suspects == (name,)


def test_what_is_unreadable_in_a_third_of_its_rows_is_warned_of():
    content = of_criteria(
        "clarity", "tone", first=["depth"], begin=lambda q, m: ["see note" if m == q % 3 else some(q, m)]
    )
    assert planned(content).suspects == ("depth",)


@pytest.mark.parametrize("held", [lambda q, m: q % 5, lambda q, m: m, lambda q, m: 100 + q * m])
def test_what_describes_a_query_or_a_system_or_has_other_cells_is_not_warned_of(held):
    content = of_criteria("clarity", "tone", first=["Order"], begin=lambda q, m: [held(q, m)])
    assert planned(content).suspects == ()


def test_a_criterion_that_each_judge_labels_alike_is_told():
    keys = [(q, m, judge) for q in range(6) for m in range(3) for judge in ("ann", "bob")]
    rows = [[MODELS[m], f"q{q}", j, some(q, m, len(j)), some(q, m), int(j == "ann")] for q, m, j in keys]
    found = planned(table(["model", "question_id", "judge", "clarity", "tone", "safety"], rows))
    assert found.mapping["rubric"] == ("clarity", "tone")
    assert any("'safety' is not used" in remark for remark in found.remarks)


@pytest.mark.parametrize("systems", [2, 3])
def test_a_rubric_with_one_value_for_each_query_is_told_from_two_systems_on(systems):
    keys = [(q, m) for q in range(8) for m in range(systems)]
    rows = [[f"q{q}", MODELS[m], q % 2, some(q, m), some(q, m, 1)] for q, m in keys]
    found = planned(table(["query_id", "model", "has_image", "clarity", "tone"], rows))
    assert any(
        "'has_image' is read as labels and has one value in all rows of each query" in r
        for r in found.remarks
    )


def test_a_legend_beside_a_table_holds_no_labels():
    content = of_criteria(
        "clarity", "tone", first=["Legend"], begin=lambda q, m: [{0: "1=bad", 1: "5=good"}.get(3 * q + m, "")]
    )
    assert planned(content).mapping["rubric"] == ("clarity", "tone")


@pytest.mark.parametrize("names", [("turn_1", "turn_2"), ("before", "after"), ("Phase 1", "Phase 2")])
def test_labels_at_several_times_are_asked_about(names):
    keys = [(m, q, c) for q in range(4) for m in range(3) for c in CRITERIA]
    rows = [[MODELS[m], f"q{q}", c, some(q, m, 1), some(q, m, 2)] for m, q, c in keys]
    content = table(["model", "question", "criterion", *names], rows)
    (found,) = plan_ingest(("wide.csv", content), kind="labels", strict=True).files
    assert "named like turns or times" in found.problem
    assert planned(content, mapping={"run": names}).mapping["run"] == names
    assert planned(content, mapping={"judge": names}).mapping["judge"] == names


@pytest.mark.parametrize("words", [["success"], ["success", "error"], ["Completed", "timeout"]])
def test_how_a_run_ended_is_no_rubric_beside_others(ws, words):
    """LangSmith's export has a status beside its scores."""
    rows = [
        [m, q, (i + n) % 2, n // 2 % 2, words[n % len(words)]]
        for i, m in enumerate(MODELS)
        for n, q in enumerate(f"q{n}" for n in range(8))
    ]
    report = ws.ingest(table(["model", "query_id", "tone", "wit", "status"], rows), "d")
    assert set(ws.dataset("d").rubrics["criterion"]) == {"tone", "wit"}
    assert any("Not used" in note and "status" in note for note in report.notes)


def test_whether_a_case_failed_is_a_rubric_whatever_it_is_called(ws):
    rows = [
        [m, f"q{n}", (i + n) % 2, ("pass", "fail")[n % 2]] for i, m in enumerate(MODELS) for n in range(8)
    ]
    ws.ingest(table(["model", "query_id", "tone", "lint_status"], rows), "d")
    assert len(set(ws.dataset("d").rubrics["criterion"])) == 2
