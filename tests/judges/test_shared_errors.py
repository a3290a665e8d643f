"""Judges who err together are worth fewer judges, and their posterior probabilities are marked as too sure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.claims_panels import equal_judges, err_together, some_of
from crubric_core.intervals import exact_binomial_interval
from crubric_core.judges.independence import ResidualCorrelation, residual_correlation
from crubric_core.judges.posterior import posterior_labels
from crubric_core.judges.shared_errors import (
    effective_judges,
    independence_note,
    redundancy_note,
    shared_errors_note,
)


def stated_and_true(panel, truth):
    found = posterior_labels(panel, np.full(200, 2))
    return found.probability.mean(), (found.y == truth).mean()


@pytest.mark.parametrize(("judges", "together"), [(3, 2), (5, 3), (5, 5), (9, 5)])
def test_probabilities_that_shared_errors_make_too_sure_are_marked(judges, together):
    panel, truth = err_together(judges, together)
    stated, true = stated_and_true(panel, truth)
    assert stated - true > 0.08
    found = effective_judges(residual_correlation(panel, some_of(truth)))
    assert found.too_sure
    assert found.effective < judges - 0.5
    note = independence_note(found)
    assert f"count as {found.effective:.1f} independent ones" in note
    assert "too extreme" in note


def majority_wrong(panel, truth):
    return ((panel.mean(axis=2) > 0.5) != truth).mean()


@pytest.mark.parametrize(("judges", "together"), [(5, 3), (9, 5)])
def test_a_majority_that_shared_errors_make_wrong_more_often_is_warned_of(judges, together):
    panel, truth = err_together(judges, together)
    assert majority_wrong(panel, truth) > majority_wrong(*err_together(judges, 0)) + 0.01
    found = effective_judges(residual_correlation(panel, some_of(truth)))
    # Readers of a shared view and of a report have no other page to be sent to.
    assert redundancy_note(found).endswith(
        f": the {judges} judges count as {found.effective:.1f} independent ones."
    )
    assert redundancy_note(effective_judges(residual_correlation(*err_together(judges, 0)))) == ""


@pytest.mark.parametrize("judges", [3, 4, 5, 9])
def test_independent_judges_count_in_full_and_their_probabilities_hold(judges):
    panel, truth = err_together(judges, 0)
    stated, true = stated_and_true(panel, truth)
    assert abs(stated - true) < 0.015
    found = effective_judges(residual_correlation(panel, some_of(truth)))
    assert not found.too_sure
    assert found.effective > 0.9 * judges
    assert independence_note(found) == ""


@pytest.mark.parametrize("seed", range(5))
def test_judges_who_are_strict_on_some_queries_do_not_share_errors(seed):
    """Nine judges, five queries, strictness that varies by 2 logits: rubrics are no units of their own."""
    truth, panel, query = equal_judges(seed, 9, 12, 5, 2.0, 0.0)
    for gold in (None, truth):
        found = residual_correlation(panel, gold, query)
        assert not found.flagged.any()
        assert found.high[0, 1] - found.low[0, 1] > 2 * np.ptp(
            [getattr(residual_correlation(panel, gold), end)[0, 1] for end in ("low", "high")]
        )


def test_errors_that_judges_share_on_all_queries_are_flagged_over_queries():
    truth, panel, query = equal_judges(0, 5, 12, 20, 0.5, 0.15)
    found = residual_correlation(panel, truth, query)
    assert found.flagged[~np.eye(5, dtype=bool)].all()


def test_three_errors_that_two_judges_share_are_no_proof():
    """A correlation of 1 on three errors of 200 cells: three of three, as the exact interval has it."""
    panel = np.zeros((1, 200, 2))
    panel[0, :3] = 1
    found = residual_correlation(panel, np.zeros((1, 200)))
    assert found.correlation[0, 1] == pytest.approx(1)
    assert found.low[0, 1] < 0.1
    assert not found.flagged.any()


@pytest.mark.parametrize("seed", range(5))
def test_no_correlation_is_surer_than_independent_cells_would_make_it(seed):
    """Eight rubrics of eight systems: two judges who happen to share no error show hardly any spread over rubrics."""
    truth, panel, _ = equal_judges(seed, 5, 8, 1, 0.0, 0.0)
    found = residual_correlation(panel, truth)
    for k, m in zip(*np.triu_indices(5, 1), strict=True):
        share, n = (1 + found.correlation[k, m]) / 2, float(found.n_cells[k, m])
        low, high = exact_binomial_interval(share * n, n, 1 - 0.05 / 10)
        assert found.low[k, m] <= 2 * low - 1 + 1e-9
        assert found.high[k, m] >= 2 * high - 1 - 1e-9


def test_of_one_judge_no_shared_errors_are_spoken_of():
    found = effective_judges(residual_correlation(err_together(3, 0)[0][:, :, :1]))
    assert independence_note(found) == "There is only one judge: only human labels can show its errors."


def test_without_gold_a_minority_who_err_together_is_seen():
    found = effective_judges(residual_correlation(err_together(9, 4)[0]))
    assert found.too_sure
    assert "at most" in independence_note(found)


def test_without_gold_errors_of_the_majority_do_not_show_and_that_is_said():
    found = effective_judges(residual_correlation(err_together(5, 5)[0]))
    assert not found.too_sure
    assert "without human labels nobody can see errors that most judges share" in independence_note(found)


@pytest.mark.parametrize("judges", [4, 5, 6, 9])
@pytest.mark.parametrize("alike", [1.0, 0.8])
def test_two_versions_of_one_judge_are_seen_without_gold(judges, alike):
    """Of a pair that always agrees Dawid–Skene makes the two that are always right."""
    rng = np.random.default_rng(judges)
    truth = rng.random((8, 120)) < np.arange(0.5, 8)[:, None] / 8
    wrong = rng.random((8, 120, judges)) < 0.15
    wrong[:, :, 1] = np.where(rng.random((8, 120)) < alike, wrong[:, :, 0], wrong[:, :, 1])
    found = residual_correlation((truth[:, :, None] ^ wrong).astype(float), None, np.repeat(np.arange(40), 3))
    assert found.flagged[0, 1]
    assert not found.flagged[:2, 2:].any()


def test_three_judges_without_gold_are_unknown():
    found = effective_judges(residual_correlation(err_together(3, 2)[0]))
    assert np.isnan(found.effective)
    assert "unknown" in independence_note(found)


@pytest.mark.parametrize(("rho", "expected"), [(0.0, 5.0), (1.0, 1.0), (0.25, 2.5)])
def test_equal_correlations_give_kish_s_effective_number(rho, expected):
    found = residual_correlation(err_together(5, 0)[0], err_together(5, 0)[1])
    square = np.where(np.eye(5, dtype=bool), np.nan, rho)
    zero = np.zeros((5, 5))
    changed = type(found)(square, zero, square, square, found.n_cells, square > 0.1, "anchors")
    assert effective_judges(changed).effective == pytest.approx(expected)


@pytest.mark.parametrize("reference", ["anchors", "leave_one_out"])
def test_what_is_said_of_pairs_and_of_the_panel_fits_together(reference):
    """Correlations of .25, each too uncertain to be shown, halve a panel of nine all the same."""
    square = np.where(np.eye(9, dtype=bool), np.nan, 0.25)
    none, cells = np.zeros((9, 9), dtype=bool), np.zeros((9, 9), dtype=int)
    unsure = ResidualCorrelation(square, np.zeros((9, 9)), square - 0.3, square + 0.3, cells, none, reference)
    found = effective_judges(unsure)
    said = shared_errors_note(found)
    assert found.effective == pytest.approx(3)
    assert said.startswith("No pair has errors that are shown to be correlated by more than 0.1")
    assert "0.25 on average, which no pair shows by itself: the 9 judges count as" in said
    assert "3.0 independent ones" in said
    note = independence_note(found)
    assert "No single pair" in note
    assert "3.0 independent ones" in note
    flagged = replace(unsure, flagged=~np.eye(9, dtype=bool))
    assert shared_errors_note(effective_judges(flagged)).startswith("36 pairs have errors")
    assert "not above 0 on average: the 9 judges count as" in shared_errors_note(
        effective_judges(replace(unsure, correlation=np.where(np.isnan(square), np.nan, 0.0)))
    )


@pytest.mark.parametrize("seed", range(6))
def test_a_pair_that_shares_rare_errors_is_flagged_though_a_simulated_judge_may_err_nowhere(seed):
    rng = np.random.default_rng(seed)
    truth, err = rng.random((12, 40)) < 0.6, rng.random((12, 40, 4)) < 0.003
    err[..., :2] |= (rng.random((12, 40)) < 0.04)[..., None]
    found = residual_correlation((truth[..., None] ^ err).astype(float), cluster=np.repeat(np.arange(10), 4))
    assert found.flagged[0, 1]
    assert np.isfinite(found.expected[np.isfinite(found.low)]).all()


def test_of_judges_who_hardly_err_nothing_is_said_in_numbers_that_are_none():
    truth = np.random.default_rng(0).random((10, 20)) < 0.6
    found = effective_judges(residual_correlation(np.repeat(truth[..., None], 4, axis=2).astype(float)))
    assert "nan" not in shared_errors_note(found) + independence_note(found)
    assert "they err on too few cells" in independence_note(found)


def test_of_independent_judges_who_err_on_fails_is_expected_what_they_show():
    """How much right judges seem to err together depends on how many cells are passes."""
    rng = np.random.default_rng(1)
    truth = rng.random((20, 400)) < 0.85
    wrong = rng.random((20, 400, 5)) < np.where(truth, 0.02, 0.35)[:, :, None]
    found = residual_correlation((truth[:, :, None] ^ wrong).astype(float))
    apart = (found.correlation - found.expected)[np.triu_indices(5, 1)]
    assert abs(apart.mean()) < 0.04
    assert not found.flagged.any()
