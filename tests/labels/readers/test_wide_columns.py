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
