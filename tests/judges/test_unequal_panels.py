"""What systems owe to judges that others lack: leniency, its error, and what cannot be known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crubric_core.judges.unequal_panels import (
    MAJORITY,
    UnequalPanels,
    panels_of,
    unequal_panels,
)
from crubric_core.labels.store.judge_sums import JudgeMeetings, JudgeShares
from crubric_core.labels.store.label_numbers import raised_on_panel
from tests import oracles


def sums(panel, unit):
    """Both sums of a panel (M, J, K), as the database gives them."""
    known = ~np.isnan(panel)
    n = known.sum(axis=2)
    tied, excess = np.zeros((max(unit) + 1, *[panel.shape[2]] * 2)), np.zeros((max(unit) + 1, panel.shape[2]))
    squares = 0.0
    for i, j in zip(*np.nonzero(n > 1), strict=True):
        at = np.flatnonzero(known[i, j])
        tied[unit[j]][np.ix_(at, at)] += np.eye(len(at)) - 1 / len(at)
        above = panel[i, j, at] - panel[i, j, at].mean()
        excess[unit[j], at] += above
        squares += (above**2).sum()
    return JudgeShares(*oracles.naive_judge_shares(panel, unit)), JudgeMeetings(tied, excess, squares)


def panel_of(labelled, leniency, seed=0, noise=0.0):
    """Labels of cells between .3 and .7 that each judge shifts by its leniency; NaN where it did not label."""
    rng = np.random.default_rng(seed)
    cells = rng.uniform(0.3, 0.7, labelled.shape[:2])
    labels = cells[:, :, None] + leniency + noise * rng.standard_normal(labelled.shape)
    return np.where(labelled, labels, np.nan)


def own_judges(systems=8, rubrics=40, judges=4, seed=1):
    """Each system is labelled by two judges of its own."""
    rng = np.random.default_rng(seed)
    labelled = np.zeros((systems, rubrics, judges), dtype=bool)
    for row in labelled:
        row[:, rng.permutation(judges)[:2]] = True
    return labelled


UNIT = np.arange(40) // 2


def test_a_constant_leniency_is_found_exactly():
    leniency = np.array([0.1, -0.2, 0.05, 0.05])
    panel = panel_of(own_judges(), leniency)
    found = unequal_panels(*sums(panel, UNIT))
    share = (~np.isnan(panel)).sum(axis=1) / 80
    assert found.shift == pytest.approx(MAJORITY * (share - share.mean(axis=0)) @ leniency)
    assert np.abs(found.error).max() < 1e-12
    assert found.unlinked.shape == (8, 0)


def test_leniencies_are_the_least_squares_effects_of_judges_beside_those_of_cells():
    panel = panel_of(own_judges(), np.array([0.1, -0.2, 0.05, 0.05]), noise=0.3)
    shares, meetings = sums(panel, UNIT)
    found = unequal_panels(shares, meetings)
    apart = shares.beyond_chance - shares.beyond_chance.mean(axis=0)
    assert found.shift == pytest.approx(MAJORITY * apart @ oracles.naive_leniency(panel))
    without = (np.flatnonzero(q != UNIT) for q in range(20))
    left = [unequal_panels(shares, sums(panel[:, at], UNIT[at])[1]).shift for at in without]
    error = np.sqrt(19 / 20) * (np.array(left) - np.mean(left, axis=0))
    assert (found.error**2).sum(axis=1) == pytest.approx((error**2).sum(axis=0))


def test_the_error_is_that_of_repeated_samples():
    shifts, errors = [], []
    for seed in range(200):
        found = unequal_panels(*sums(panel_of(own_judges(), np.zeros(4), seed, noise=0.3), UNIT))
        shifts.append(found.shift)
        errors.append((found.error**2).sum(axis=1))
    moves = np.var(shifts, axis=0) > 0
    assert np.mean(errors, axis=0)[moves] / np.var(shifts, axis=0)[moves] == pytest.approx(1, abs=0.4)


@pytest.mark.parametrize("whole_queries", [False, True])
def test_judges_drawn_at_random_are_equal_panels(whole_queries):
    rng, found = np.random.default_rng(4), 0
    for _ in range(20):
        drawn = rng.integers(0, 4, (12, 50 if whole_queries else 200)).repeat(
            4 if whole_queries else 1, axis=1
        )
        labelled = np.arange(4) == drawn[:, :, None]
        share, error = oracles.naive_judge_shares(np.where(labelled, 1.0, np.nan), np.arange(200) // 4)
        found += JudgeShares(share, error).beyond_chance.any()
    assert found <= 1  # of 20 tables with 48 shares each


@pytest.mark.parametrize("missing", [0.0002, 0.002, 0.05, 0.3])
def test_labels_that_are_missing_by_chance_are_equal_panels(missing):
    rng, found = np.random.default_rng(5), 0
    for _ in range(5):
        panel = np.where(rng.random((30, 120, 6)) < missing, np.nan, 1.0)
        found += JudgeShares(*oracles.naive_judge_shares(panel, np.arange(120) // 4)).beyond_chance.any()
    assert found == 0


@pytest.mark.parametrize("common", [1, 2, 5, 20])
def test_a_few_common_cells_may_agree_by_chance(common):
    """Camps whose judges pass 80% and 50%, linked by a few cells of one system: 95% of the bounds hold the 30%."""
    labelled = np.zeros((6, 40, 4), dtype=bool)
    labelled[:3, :, :2] = labelled[3:, :, 2:] = True
    rng, held = np.random.default_rng(0), 0
    for _ in range(60):
        linked = labelled.copy()
        linked[0, rng.permutation(40)[:common]] = True
        drawn = (rng.random(linked.shape) < [0.8, 0.8, 0.5, 0.5]).astype(float)
        found = unequal_panels(*sums(np.where(linked, drawn, np.nan), UNIT))
        held += found.allowance(np.ones(6)).pairs[0, 4] >= 0.3
    assert held >= 55


@pytest.mark.parametrize("common", [2, 5, 20])
def test_cells_that_all_agree_bound_leniency_no_closer_than_their_number_allows(common):
    """Of n cells on which two judges never differ, their rates may at 95% differ by 1 - .05^(1/n) (Clopper-Pearson)."""
    panel = np.full((6, 40, 2), np.nan)
    panel[:3, :, 0] = panel[3:, :, 1] = 1.0
    panel[0, : 2 * common : 2] = 1.0
    allowed = unequal_panels(*sums(panel, UNIT)).allowance(np.ones(6))
    width = 1.96 * MAJORITY * np.sqrt(2 / common / (common + 1))
    assert allowed.pairs[1, 4] == pytest.approx(width, rel=1e-3)
    assert width >= 1 - 0.05 ** (1 / common)
    assert allowed.high[4] > width / 3, "against the mean of all, of which half have its judge"


def test_what_few_cells_tell_does_not_depend_on_which_query_they_are_of():
    for query in (0, 7):
        panel = np.full((6, 40, 2), np.nan)
        panel[:3, :, 0] = panel[3:, :, 1] = 1.0
        panel[0, 2 * query : 2 * query + 2] = 1.0
        found = unequal_panels(*sums(panel, UNIT))
        assert found.allowance(np.ones(6)).pairs[1, 4] == pytest.approx(1.0), "of one query: unlinked"


def test_judges_who_share_out_the_rubrics_alike_are_equal_panels():
    labelled = np.broadcast_to(np.arange(4) == (np.arange(40) % 4)[:, None], (8, 40, 4))
    assert not sums(np.where(labelled, 1.0, np.nan), UNIT)[0].beyond_chance.any()


def test_between_judges_who_never_meet_any_difference_is_possible():
    labelled = np.zeros((6, 40, 4), dtype=bool)
    labelled[:3, :, :2] = labelled[3:, :, 2:] = True
    found = unequal_panels(*sums(panel_of(labelled, np.array([0.2, -0.2, 0, 0])), UNIT))
    allowed = found.allowance(np.full(6, 2.0)).pairs
    assert allowed[0, 4] == pytest.approx(2.0)  # the whole scale, at a slope of 2
    assert allowed[0, 1] == pytest.approx(0.0, abs=1e-9)
    one = found.allowance(np.full(6, 2.0)).high[0]
    assert one == pytest.approx(1.0), "half of it beside the mean of all"
    unlike = found.allowance(np.array([2.0, 1, 1, 1, 1, 1])).pairs
    assert unlike[0, 4] == unlike[4, 0] == pytest.approx(2.0), "at the larger slope of both"


def test_one_cell_of_both_sides_links_them_but_leaves_the_difference_unsure():
    labelled = np.zeros((6, 40, 4), dtype=bool)
    labelled[:3, :, :2] = labelled[3:, :, 2:] = True
    labelled[0, 0] = True
    found = unequal_panels(*sums(panel_of(labelled, np.array([0.2, -0.2, 0, 0]), noise=0.3), UNIT))
    assert found.unlinked.shape == (6, 0)
    assert found.allowance(np.ones(6)).pairs[0, 4] > 0.1


def test_an_allowance_holds_with_the_leniencies_taken_off_and_as_they_are():
    found = UnequalPanels(np.array([0.1, 0.0, -0.05]), np.zeros((3, 1)), np.zeros((3, 3)), np.empty((3, 0)))
    allowed = found.allowance(np.array([2.0, 1.0, 1.0]))
    assert allowed.pairs == pytest.approx(np.array([[0, 0.2, 0.25], [0, 0, 0.05], [0, 0, 0]]))
    assert allowed.high == pytest.approx([0.2, 0, 0])
    assert allowed.low == pytest.approx([0, 0, 0.05])
    numbers = np.array([[0, 0.05, -0.2], [-0.05, 0, 0], [0.2, 0, 0]])
    more = replace(found, numbers=numbers).allowance(np.array([2.0, 1.0, 1.0]))
    assert more.pairs == pytest.approx(np.array([[0, 0.3, 0], [0, 0, 0.05], [0.15, 0, 0]]))
    assert more.high == pytest.approx([0.1, 0, 0.05 / 3])
    assert more.low == pytest.approx([0, 0.05 / 3, 0])
    some = allowed.of(np.array([True, False, True]))
    assert some.pairs == pytest.approx(np.array([[0, 0.25], [0, 0]]))


def graded(labelled, seed=0):
    """Labels 0 to 4 of cells whose judges differ by chance alone; NaN where a judge did not label."""
    rng = np.random.default_rng(seed)
    labels = rng.uniform(0, 4, (*labelled.shape[:2], 1)) + rng.normal(0, 1, labelled.shape)
    return np.where(labelled, labels.round().clip(0, 4), np.nan)


def test_of_ordered_labels_systems_with_even_numbers_are_lower():
    labelled = np.ones((8, 40, 3), dtype=bool)
    labelled[4:, :, 2] = False
    panel, levels = graded(labelled), np.full(40, 5)
    low, middle, high = np.sort(panel[:4], axis=2).reshape(-1, 3).T
    higher = ((2 * low + middle) / 3 - middle).mean() / 4  # the lower one of two of three labels
    assert higher < -0.02
    numbers = panels_of(panel, UNIT, levels, ["fail"]).numbers
    assert panels_of(panel, UNIT, levels).numbers is None
    assert numbers[:4, 4:].mean() == pytest.approx(-MAJORITY * higher)
    assert numbers == pytest.approx(-numbers.T)
    assert not numbers[:4, :4].any()
    assert (high >= low).all()


def test_numbers_of_labels_count_where_all_judges_have_the_same_shares():
    places = np.random.default_rng(2).random((8, 200, 4)).argsort(axis=2).argsort(axis=2)
    labelled = places < np.repeat([3, 2], 4)[:, None, None]
    panel, unit, levels = graded(labelled), np.arange(200) // 4, np.full(200, 5)
    assert panels_of(panel, unit, levels) is None
    assert panels_of(panel, unit, levels, ["fail"]).numbers[:4, 4:].min() > 0.04


def test_where_most_cells_pass_those_without_even_splits_look_better():
    labelled = np.ones((8, 200, 4), dtype=bool)
    labelled[4:, :, 3] = False
    unit, two = np.arange(200) // 4, np.full(200, 2)
    passes = np.where(labelled, graded(np.ones_like(labelled)) >= 1.5, np.nan)
    first, last = 0, 7
    assert raised_on_panel(passes, unit, two, ["unknown"])[first, last] > 0.01
    assert raised_on_panel(1 - passes, unit, two, ["unknown"])[first, last] < -0.01
    assert raised_on_panel(passes, unit, two, ["fail"])[first, last] < 0
    assert raised_on_panel(passes, unit, two, ["pass"])[first, last] > 0


@pytest.mark.parametrize("missing", [0, 0.2])
def test_numbers_of_labels_that_are_equal_but_for_chance_raise_nobody(missing):
    labelled = np.random.default_rng(3).random((8, 200, 4)) >= missing
    panel, unit, levels = graded(labelled), np.arange(200) // 4, np.full(200, 5)
    assert not raised_on_panel(panel, unit, levels, ["fail"]).any()
