from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crubric_core.errors import SettingsError
from crubric_core.task_types.scoring import (
    ScoringRules,
    by_emphasis,
    explain_query,
    overall_scores,
    query_weights,
    score_ranges,
    score_systems,
)
from crubric_core.task_types.types import TASK_TYPES
from tests import oracles

NAN = np.nan


def one_query(labels, task_type, *, levels=2, **columns):
    """Scores of one system on one query."""
    y = np.array([labels], dtype=float)
    n = y.shape[1]
    return score_systems(
        y, np.full(n, levels), np.zeros(n, dtype=np.int64), 1, task_type=[task_type], **columns
    )


def test_plain_rubrics_score_the_share_passed():
    assert one_query([1, 0, 1, 1], "evidence").score == pytest.approx(3 / 4)


def test_actionability_counts_five_times_in_a_decision_query_alone():
    dimension = ["actionability", "clarity", "Actionability "]
    assert one_query([1, 0, 0], "decision", dimension=dimension).score == pytest.approx(5 / 11)
    assert one_query([1, 0, 0], "evidence", dimension=dimension).score == pytest.approx(1 / 3)


def test_creativity_counts_three_times_in_a_creative_query_alone():
    dimension = ["creativity", "clarity"]
    assert one_query([1, 0], "creative", dimension=dimension).score == pytest.approx(3 / 4)
    assert one_query([1, 0], "decision", dimension=dimension).score == pytest.approx(1 / 2)


def test_violations_cost_points_in_a_high_risk_query_alone():
    severity = ["moderate", "critical", "minor", None]
    scores = one_query([0, 0, 0, 1], "high-risk", severity=severity)
    assert scores.points.tolist() == [[-0.3, -0.5, 0.0, 1.0]]
    assert scores.score == pytest.approx((1 - 0.3 - 0.5) / 4)
    assert one_query([0, 0, 0, 1], "evidence", severity=severity).score == pytest.approx(1 / 4)


def test_a_passed_severe_rubric_costs_nothing():
    assert one_query([1, 1], "high-risk", severity=["critical", "moderate"]).score == pytest.approx(1.0)


def test_a_query_score_is_clipped_unless_told_otherwise():
    failed = {"severity": ["critical", "moderate"]}
    assert one_query([0, 0], "high-risk", **failed).score == 0
    assert one_query([0, 0], "high-risk", clip=False, **failed).score == pytest.approx(-0.4)


def test_ordered_labels_score_their_share_of_the_scale_and_fail_below_its_middle():
    scores = one_query([0, 1, 2, 4], "high-risk", levels=5, severity=["critical"] * 4)
    assert scores.points.tolist() == [[-0.5, -0.5, 0.5, 1.0]]
    assert one_query([0, 1, 2, 4], "evidence", levels=5).score == pytest.approx(7 / 16)


def test_unknown_labels_are_left_out_not_failed():
    assert one_query([1, NAN, NAN, 0], "evidence").score == pytest.approx(1 / 2)


def test_without_any_label_a_system_has_no_score():
    assert np.isnan(one_query([NAN, NAN], "evidence").score).all()


def test_weights_multiply_the_emphasis():
    scores = one_query([1, 0], "decision", dimension=["actionability", None], weights=np.array([0.2, 3.0]))
    assert scores.weights.tolist() == [1.0, 3.0]
    assert scores.score == pytest.approx(1 / 4)


def test_scores_by_emphasis_are_those_without_weights():
    y = np.array([[1.0, 0.0, NAN, 1.0], [0.0, 0.0, 1.0, 1.0]])
    columns = {
        "task_type": ["decision", "evidence"],
        "dimension": ["actionability", None, None, "actionability"],
    }
    columns["omega"] = np.array([1.0, 3.0])
    given = (y, np.full(4, 2), np.array([0, 0, 1, 1]), 2)
    weighted = score_systems(*given, **columns, weights=np.array([0.2, 3.0, 1.0, 0.1]))
    found, expected = by_emphasis(weighted, columns["omega"]), score_systems(*given, **columns)
    np.testing.assert_array_equal(found.by_query, expected.by_query)
    np.testing.assert_array_equal(found.score, expected.score)
    assert not np.array_equal(found.score, weighted.score)


def test_a_query_without_weight_has_no_score():
    assert np.isnan(one_query([1, 1], "evidence", weights=np.zeros(2)).score).all()


def test_each_query_counts_the_same_however_many_rubrics_it_has():
    y = np.array([[1.0, 0.0, 0.0, 0.0]])
    scores = score_systems(y, np.full(4, 2), np.array([0, 1, 1, 1]), 2)
    assert scores.by_query.tolist() == [[1.0, 0.0]]
    assert scores.score == pytest.approx(1 / 2)


def test_queries_without_a_score_leave_their_share_to_the_others():
    y = np.array([[1.0, NAN], [1.0, 0.0]])
    scores = score_systems(y, np.full(2, 2), np.array([0, 2]), 3, omega=np.array([1.0, 5.0, 3.0]))
    np.testing.assert_array_equal(scores.by_query, [[1.0, NAN, NAN], [1.0, NAN, 0.0]])
    assert scores.score == pytest.approx([1.0, 1 / 4])


def test_a_query_without_omega_counts_as_the_mean_of_those_given():
    by_query = np.array([[1.0, 0.0, 1.0]])
    assert overall_scores(by_query, np.array([1.0, 3.0, NAN])) == pytest.approx((1 + 2) / 6)
    assert overall_scores(by_query, np.full(3, NAN)) == pytest.approx(2 / 3)
    assert np.isnan(overall_scores(by_query, np.zeros(3))).all()


def test_a_negative_omega_is_refused():
    with pytest.raises(SettingsError, match="omega = -1 is below 0"):
        overall_scores(np.ones((1, 2)), np.array([-1.0, 2.0]))


def test_an_unlikely_type_is_scored_plainly_and_flagged():
    columns = {"severity": ["critical", None], "dimension": ["actionability", None]}
    unsure = np.array([[0.3, 0.3, 0.4, 0.0]])
    scores = one_query([0, 1], "high-risk", probabilities=unsure, tau_t=0.5, **columns)
    assert scores.score == pytest.approx(1 / 2)
    assert scores.fallback.tolist() == [True]
    assert scores.task_type.tolist() == [None]
    surer = one_query([0, 1], None, probabilities=unsure, tau_t=0.4, **columns)
    assert surer.score == pytest.approx(1 / 4)
    assert surer.fallback.tolist() == [False]


def test_the_numbers_of_the_table_can_be_changed():
    rules = ScoringRules(actionability=1.5, moderate=-1.0)
    scores = one_query([1, 0], "decision", dimension=["actionability", None], rules=rules)
    assert scores.score == pytest.approx(1.5 / 2.5)
    scores = one_query([1, 0], "high-risk", severity=[None, "moderate"], rules=rules, clip=False)
    assert scores.score == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"actionability": 0.0}, "above 0"),
        ({"creativity": NAN}, "above 0"),
        ({"moderate": 0.1}, "at most 0"),
        ({"critical": -np.inf}, "at most 0"),
    ],
)
def test_rules_outside_their_range_are_refused(rule, expected):
    with pytest.raises(SettingsError, match=expected):
        ScoringRules(**rule)


@st.composite
def studies(draw):
    systems, rubrics, queries = draw(st.integers(1, 3)), draw(st.integers(1, 7)), draw(st.integers(1, 3))

    def column(values, size):
        return draw(st.lists(st.sampled_from(values), min_size=size, max_size=size))

    levels = np.array(column([2, 3, 5], rubrics))
    share = np.array(column([0.0, 0.3, 0.6, 1.0, NAN], systems * rubrics)).reshape(systems, rubrics)
    return {
        "y": np.round(share * (levels - 1)),
        "levels": levels,
        "query_index": np.array(column(range(queries), rubrics)),
        "n_queries": queries,
        "types": column([None, *TASK_TYPES], queries),
        "dimension": column(["actionability", "creativity", "clarity", None], rubrics),
        "severity": column(["moderate", "critical", None], rubrics),
        "weights": np.array(column([0.0, 0.5, 2.0], rubrics)),
        "omega": np.array(column([0.0, 1.0, 3.0], queries)),
        "clip": draw(st.booleans()),
    }


def scored(study):
    columns = {name: value for name, value in study.items() if name != "types"}
    return score_systems(**columns, task_type=study["types"])


@given(studies())
def test_scores_are_those_of_the_plain_loop(study):
    np.testing.assert_allclose(scored(study).score, oracles.naive_scores(**study), atol=1e-12)


@given(studies())
def test_the_range_of_a_score_is_that_from_all_labels_failed_to_all_passed(study):
    y, tops = study["y"], np.broadcast_to(study["levels"] - 1.0, study["y"].shape)
    low, high = (
        scored({**study, "y": np.where(np.isnan(y), y, level), "clip": False}).score for level in (0.0, tops)
    )
    np.testing.assert_allclose(score_ranges(scored(study), study["omega"]), high - low, atol=1e-12)


@given(studies())
def test_the_worked_example_adds_up_to_the_query_score(study):
    scores = scored(study)
    for system in range(len(study["y"])):
        for query in range(study["n_queries"]):
            example = explain_query(scores, system, query)
            known = np.isfinite(study["y"][system]) & (study["query_index"] == query)
            assert example.rubrics.tolist() == np.flatnonzero(known).tolist()
            np.testing.assert_array_equal(example.score, scores.by_query[system, query])
            np.testing.assert_allclose(
                example.contribution.sum() if np.isfinite(example.raw) else NAN, example.raw
            )
            expected = np.clip(example.raw, 0, 1) if study["clip"] else example.raw
            np.testing.assert_allclose(example.score, expected, atol=1e-12)


def test_a_worked_example_by_hand():
    scores = one_query([1, 0, NAN], "decision", dimension=["clarity", "actionability", "clarity"])
    example = explain_query(scores, 0, 0)
    assert example.rubrics.tolist() == [0, 1]
    assert example.points.tolist() == [1.0, 0.0]
    assert example.emphasis.tolist() == [1.0, 5.0]
    assert example.weights.tolist() == [1.0, 5.0]
    assert example.contribution == pytest.approx([1 / 6, 0.0])
    assert example.score == pytest.approx(1 / 6)


def test_a_query_without_a_weight_counts_as_the_usual_one():
    assert query_weights(np.array([1.0, NAN, 3.0])).tolist() == [1.0, 2.0, 3.0]
    assert query_weights(np.full(2, NAN)).tolist() == [1.0, 1.0]


@given(studies())
def test_the_order_of_systems_and_rubrics_does_not_matter(study):
    flipped = dict(study)
    for name in ("levels", "query_index", "dimension", "severity", "weights"):
        flipped[name] = study[name][::-1]
    flipped["y"] = study["y"][::-1, ::-1]
    np.testing.assert_allclose(scored(flipped).score[::-1], scored(study).score, atol=1e-12)
