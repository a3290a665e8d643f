"""Kappas and alphas equal the independent libraries'."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from crubric_core.errors import SettingsError
from crubric_core.intervals import share_interval
from crubric_core.judges.agreement import agreement, cohen_kappa
from tests.tiers import examples

EXACT = {"rtol": 0, "atol": 1e-12}


def panel(seed, units=120, raters=4, levels=5, missing=0.2):
    """Correlated ratings with gaps."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, levels, units)
    labels = np.where(
        rng.random((units, raters)) < 0.5, truth[:, None], rng.integers(0, levels, (units, raters))
    )
    return np.where(rng.random(labels.shape) < missing, np.nan, labels.astype(float))


@settings(max_examples=examples(60))
@given(st.integers(0, 10_000), st.sampled_from(["nominal", "ordinal", "interval"]), st.integers(2, 6))
def test_alpha_equals_krippendorffs_package_with_missing_labels(seed, metric, levels):
    labels = panel(seed, units=30, levels=levels, missing=0.3)
    expected = krippendorff.alpha(reliability_data=labels.T, level_of_measurement=metric)
    found = agreement(labels, f"alpha_{metric}")
    np.testing.assert_allclose(found.value, expected, **EXACT)


@pytest.mark.parametrize("levels", [2, 5])
def test_cohens_kappa_equals_scikit_learns(levels):
    labels = panel(1, raters=2, levels=levels)
    both = labels[~np.isnan(labels).any(axis=1)].astype(int)
    expected = cohen_kappa_score(*both.T)
    np.testing.assert_allclose(cohen_kappa(labels[:, 0], labels[:, 1]), expected, **EXACT)
    np.testing.assert_allclose(agreement(labels, "cohen").value, expected, **EXACT)


def test_cohens_kappa_of_many_rubrics_is_that_of_each():
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 2, (2, 15, 40)).astype(float)
    first[rng.random(first.shape) < 0.1] = np.nan
    columns = [cohen_kappa(first[:, j], second[:, j]) for j in range(40)]
    np.testing.assert_allclose(cohen_kappa(first, second), columns, **EXACT)


def test_fleiss_kappa_equals_statsmodels_on_the_full_panels():
    labels = panel(2)
    full = labels[~np.isnan(labels).any(axis=1)].astype(int)
    found = agreement(labels, "fleiss")
    np.testing.assert_allclose(found.value, fleiss_kappa(aggregate_raters(full)[0]), **EXACT)


def test_percent_agreement_is_the_mean_share_of_equal_pairs():
    labels = np.array([[1, 1, 1], [1, 1, 0], [0, 1, np.nan], [1, np.nan, np.nan]], dtype=float)
    found = agreement(labels, "percent")
    assert found.value == pytest.approx((1 + 1 / 3 + 0) / 3, abs=1e-15)


def test_krippendorffs_own_example():
    """Krippendorff (2011), four observers and twelve units: .743 nominal, .815 ordinal, .849 interval."""
    table = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, np.nan, np.nan, np.nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, np.nan, 3],
        [np.nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, np.nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, np.nan],
    ]
    labels = np.array(table).T
    for metric, alpha in (("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)):
        assert round(agreement(labels, f"alpha_{metric}").value, 3) == alpha


@pytest.mark.parametrize(
    "coefficient", ["cohen", "fleiss", "alpha_nominal", "alpha_ordinal", "alpha_interval"]
)
def test_raters_without_variation_have_no_kappa(coefficient):
    found = agreement(np.ones((10, 2)), coefficient)
    assert np.isnan([found.value, found.low, found.high]).all()


@pytest.mark.parametrize(
    "coefficient", ["percent", "fleiss", "alpha_nominal", "alpha_ordinal", "alpha_interval"]
)
def test_nobody_shares_a_unit_so_nothing_is_known(coefficient):
    labels = np.array([[1.0, np.nan], [np.nan, 0.0]])
    found = agreement(labels, coefficient)
    assert np.isnan(found.value)
    assert found.n_units == 0


@pytest.mark.parametrize(
    "coefficient", ["percent", "fleiss", "alpha_nominal", "alpha_ordinal", "alpha_interval"]
)
def test_the_interval_is_that_of_a_share_computed_again_without_each_group(coefficient):
    labels, groups = panel(4, units=40, missing=0.0), np.repeat(np.arange(20), 2)
    found = agreement(labels, coefficient, 0.9, groups)
    left = np.array([agreement(labels[groups != g], coefficient).value for g in range(20)])
    if coefficient == "percent":
        expected = share_interval(found.value, left, 20, 0.9)
    else:
        expected = 2 * np.array(share_interval((1 + found.value) / 2, (1 + left) / 2, 20, 0.9)) - 1
    assert found.low == pytest.approx(expected[0], abs=1e-12)
    assert expected[1] - 1e-12 < found.high < 1.03 * expected[1]  # of few pairs of labels somewhat above
    assert found.low < found.value < found.high


def test_the_names_of_the_groups_and_units_without_a_pair_change_nothing():
    labels, groups = panel(6, units=60), np.repeat(np.arange(12), 5)
    alone = np.array([[1.0, np.nan, np.nan, np.nan]] * 3)
    found = agreement(labels, "alpha_nominal", groups=groups)
    other = agreement(
        np.vstack([labels, alone]), "alpha_nominal", groups=np.append(11 - groups, [12, 12, 13])
    )
    assert (found.low, found.high) == pytest.approx((other.low, other.high), abs=1e-12)


def test_few_groups_give_no_interval():
    labels = panel(7, units=40)
    assert np.isnan(agreement(labels, "fleiss", groups=np.repeat(np.arange(4), 10)).low)
    assert np.isfinite(agreement(labels, "fleiss", groups=np.repeat(np.arange(5), 8)).low)


def test_where_nobody_disagrees_the_interval_is_not_a_point():
    labels = np.repeat(np.random.default_rng(0).integers(0, 2, (60, 1)).astype(float), 2, axis=1)
    few, many = (agreement(labels, "cohen", groups=np.arange(60) % n) for n in (6, 30))
    assert few.high == many.high == 1
    assert few.low < many.low < 1


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    """Two raters who share a fair coin with chance ½ and toss their own otherwise: kappa is ½."""
    rng, covered = np.random.default_rng(0), 0
    for _ in range(200):
        own = rng.integers(0, 2, (150, 2))
        labels = np.where(rng.random((150, 1)) < 0.5, own[:, :1], own).astype(float)
        found = agreement(labels, "cohen")
        covered += found.low <= 0.5 <= found.high
    assert 0.90 <= covered / 200 <= 0.985


@pytest.mark.parametrize(("queries", "share"), [(5, 0.6), (5, 0.98), (20, 0.6), (20, 0.98)])
@pytest.mark.parametrize("effect", [0.0, 1.0])
def test_intervals_of_agreement_hold_for_further_queries(queries, share, effect):
    """Two raters copy a fair coin each with a chance that differs by query, else toss: kappa is the mean chance²."""
    rng, covered = np.random.default_rng(1), 0
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    level = np.log(share / (1 - share))
    truth = float((weights / weights.sum()) @ (1 / (1 + np.exp(-level - effect * nodes))) ** 2)
    group = np.repeat(np.arange(queries), 40)
    for _ in range(200):
        copies = 1 / (1 + np.exp(-level - effect * rng.standard_normal(queries)))[group]
        coin, own = rng.integers(0, 2, (len(group), 1)), rng.integers(0, 2, (len(group), 2))
        labels = np.where(rng.random((len(group), 2)) < copies[:, None], coin, own).astype(float)
        found = agreement(labels, "cohen", groups=group)
        covered += found.low <= truth <= found.high
    assert covered / 200 >= 0.93


@pytest.mark.parametrize("coefficient", ["cohen", "fleiss", "alpha_nominal"])
@pytest.mark.parametrize(("units", "fails"), [(240, 0.02), (240, 0.1), (1500, 0.01)])
def test_raters_who_agree_by_chance_alone_are_not_shown_to_disagree(coefficient, units, fails):
    """Where one level is rare, two raters seldom give it to one unit, and no group shows that they might have."""
    rng = np.random.default_rng(5)
    groups = np.arange(units) % 20
    found = [
        agreement((rng.random((units, 2)) > fails).astype(float), coefficient, groups=groups)
        for _ in range(60)
    ]
    assert np.mean([each.low <= 0 <= each.high for each in found]) >= 0.93


def test_raters_whose_rare_labels_never_meet_though_they_are_many_are_shown_to_disagree():
    labels = np.ones((2000, 2))
    labels[:300, 0] = labels[300:600, 1] = 0
    found = agreement(labels, "cohen", groups=np.random.default_rng(0).integers(0, 50, 2000))
    assert found.high < 0


def test_whole_groups_widen_the_interval_where_units_repeat():
    labels = np.repeat(panel(5, units=30, missing=0), 10, axis=0)
    alone = agreement(labels, "alpha_nominal")
    whole = agreement(labels, "alpha_nominal", groups=np.repeat(np.arange(30), 10))
    assert whole.high - whole.low > 2 * (alone.high - alone.low)


def test_a_wrong_question_gets_a_sentence():
    with pytest.raises(SettingsError, match="compares 2 raters"):
        agreement(np.zeros((3, 3)), "cohen")
    with pytest.raises(SettingsError, match="coefficient"):
        agreement(np.zeros((3, 3)), "alpha_ratio")
