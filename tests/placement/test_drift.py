"""Rubrics that have become harder, and a judge that changed: flagged where it is so, and rarely where it is not."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm, t

from crubric_core import Settings
from crubric_core.bank.item_spread import Spread
from crubric_core.irt.abilities import ability_posterior
from crubric_core.irt.models import ItemParameters
from crubric_core.placement import drift
from crubric_core.placement.bank_scale import fixed_fit
from crubric_core.placement.drift import _abilities, judge_drift, rubric_drift
from tests.oracles import naive_kappa

J = 40


def calibration(seed=0):
    rng = np.random.default_rng(seed)
    a, b = np.exp(rng.normal(0, 0.3, J)), rng.normal(0, 1, J)
    fit = fixed_fit(Settings(), a, b, np.zeros(J), None, np.full(J, 2))
    return fit, Spread(np.full(J, 0.1), np.full(J, 0.15), np.zeros(J))


def labels(fit, n, rng, harder=None, effect=0.0):
    """N new systems; parameters are as uncertain as the calibration says. effect: of a query on a system."""
    b = fit.b + rng.normal(0, 0.15, J)
    if harder is not None:
        b[harder[0]] += harder[1]
    a, theta = fit.a * np.exp(rng.normal(0, 0.1, J)), rng.normal(0, 1, (n, 1))
    shift = np.repeat(rng.normal(0, effect, (n, J // 4)), 4, axis=1)
    return (rng.random((n, J)) < 1 / (1 + np.exp(-a * (theta + shift - b)))).astype(float)


@pytest.mark.parametrize(("n", "effect"), [(1, 0.0), (3, 0.0), (12, 0.0), (12, 0.7)])
def test_a_calibration_that_holds_is_rarely_flagged(n, effect):
    """Any rubric of forty in at most 5% of the tables; 40 tables leave room for two standard errors."""
    fit, spread = calibration()
    rng = np.random.default_rng(n)
    false = sum(
        rubric_drift(fit, spread, labels(fit, n, rng, effect=effect), seed).flagged.any()
        for seed in range(40)
    )
    assert false <= 40 * (0.05 + 2 * np.sqrt(0.05 * 0.95 / 40))


@pytest.mark.parametrize("rubrics", [20, 400])
def test_abilities_are_drawn_from_the_posterior_however_narrow_it_is(rubrics):
    """Drawn by weights for integrals, which may be negative, those from 400 rubrics were up to 1.4 sd too low."""
    rng = np.random.default_rng(3)
    a, b = np.exp(rng.normal(0, 0.3, rubrics)), rng.normal(0, 1, rubrics)
    fit = fixed_fit(Settings(), a, b, np.zeros(rubrics), None, np.full(rubrics, 2))
    y = (rng.random((6, rubrics)) < 1 / (1 + np.exp(-a * (rng.normal(0, 1, (6, 1)) - b)))).astype(float)
    posterior, drawn = ability_posterior(fit, y), _abilities(fit, y, rng)
    np.testing.assert_array_less(np.abs(drawn.mean(axis=1) - posterior.mean), 0.25 * posterior.sd)
    np.testing.assert_allclose(drawn.std(axis=1), posterior.sd, rtol=0.2)


def test_a_rubric_that_became_much_harder_is_found():
    fit, spread = calibration()
    rng = np.random.default_rng(7)
    easy = int(np.argmin(np.abs(fit.b + 0.8)))
    found = [rubric_drift(fit, spread, labels(fit, 20, rng, (easy, 2.5)), seed) for seed in range(12)]
    assert sum(one.flagged[easy] for one in found) >= 9
    assert all(one.shift[easy] > 0 and one.z[easy] > 0 for one in found)


def test_a_shift_is_the_most_likely_one_under_its_prior():
    """Of one rubric by SciPy; of one label it was −11.89, and of labels that are all the lowest without a bound."""
    fit, _ = calibration()
    theta, y = np.array([2.5, -0.5, 1.0]), np.full((3, J), np.nan)
    y[0, 4], y[:, 5], y[:, 6] = 0, 0, [1, 0, 1]
    found = drift._likeliest_shift(fit.items, y, theta)
    for j in (4, 5, 6):
        known = np.isfinite(y[:, j])

        def loss(shift, j=j, known=known):
            z = fit.a[j] * (theta[known] - fit.b[j] - shift)
            return -(y[known, j] * z - np.logaddexp(0, z)).sum() + shift**2 / 2

        assert found[j] == pytest.approx(minimize_scalar(loss, tol=1e-10).x, abs=1e-5)
    assert 0 < found[4] < 2.5
    assert found[7] == 0


def test_a_shift_of_levels_moves_all_thresholds_alike():
    items = ItemParameters(np.array([1.4]), np.array([0.0]), np.array([np.nan]), np.array([[-1.0, 1.0]]))
    theta, y = np.array([0.5, 1.5]), np.array([[0.0], [1.0]])

    def loss(shift):
        above = 1 / (1 + np.exp(-1.4 * (theta[:, None] - shift - np.array([-1.0, 1.0]))))
        chance = np.column_stack([1 - above[:, 0], above[:, 0] - above[:, 1], above[:, 1]])
        return -np.log(chance[[0, 1], [0, 1]]).sum() + shift**2 / 2

    found = drift._likeliest_shift(items, y, theta)
    assert found[0] == pytest.approx(minimize_scalar(loss, tol=1e-10).x, abs=1e-5)


def test_the_p_value_is_that_of_every_outcome_counted():
    """Two systems, known abilities and parameters: the score's distribution by enumeration."""
    fit, _ = calibration()
    theta, rng = np.array([[0.3], [-1.0]]), np.random.default_rng(0)
    certain = Spread(np.zeros(J), np.zeros(J), np.zeros(J))
    chance = 1 / (1 + np.exp(-fit.a[5] * (theta[:, 0] - fit.b[5])))
    share = np.zeros(3)
    for first, second in product((0, 1), repeat=2):
        share[first + second] += abs(1 - first - chance[0]) * abs(1 - second - chance[1])
    at = np.repeat(theta, drift.DRAWS, axis=1)
    for got, pattern in ((0, [0.0, 0.0]), (1, [0.0, 1.0]), (2, [1.0, 1.0])):
        p = min(1.0, 2 * min(share[: got + 1].sum(), share[got:].sum()))
        z = drift._deviate(fit, certain, 5, np.array(pattern), at, rng)
        assert 2 * norm.sf(abs(z)) == pytest.approx(p, abs=1e-9)


def test_a_rubric_without_a_new_label_is_unknown():
    fit, spread = calibration()
    y = labels(fit, 4, np.random.default_rng(0))
    y[:, 3] = np.nan
    found = rubric_drift(fit, spread, y, 0)
    assert np.isnan([found.z[3], found.shift[3]]).all()
    assert np.isfinite(np.delete([found.z, found.shift], 3, axis=1)).all()
    assert (found.labels[3], bool(found.flagged[3])) == (0, False)


def test_two_versions_of_a_judge_are_compared_on_common_cells():
    rng = np.random.default_rng(1)
    old = rng.integers(0, 2, 200).astype(float)
    new = np.where(rng.random(200) < 0.15, 1 - old, old)
    old[:10] = np.nan
    query = np.repeat(np.arange(20), 10)
    found = judge_drift(old, new, query, 0.95)
    assert (found.cells, found.queries) == (190, 19)
    assert found.flips[0] == (old[10:] != new[10:]).mean()
    assert found.kappa[0] == pytest.approx(naive_kappa(old[10:], new[10:]))
    assert found.shift[0] == pytest.approx((new[10:] - old[10:]).mean())
    for value, low, high in (found.flips, found.kappa, found.shift):
        assert low < value < high


def test_where_flips_come_by_query_the_interval_is_the_one_of_a_mean_by_query():
    """Equal queries: the jackknife is the t interval of the queries' means."""
    rng = np.random.default_rng(2)
    old, query = rng.integers(0, 2, 60).astype(float), np.repeat(np.arange(12), 5)
    new = np.where(np.isin(query, [1, 4, 5, 8, 10]), 1 - old, old)
    means = (old != new).reshape(12, 5).mean(axis=1)
    half = t.ppf(0.975, 11) * means.std(ddof=1) / np.sqrt(12)
    found = judge_drift(old, new, query, 0.95)
    assert found.flips == pytest.approx((means.mean(), max(means.mean() - half, 0), means.mean() + half))
    kappa, left = naive_kappa(old, new), [naive_kappa(old[query != q], new[query != q]) for q in range(12)]
    half = t.ppf(0.975, 11) * np.sqrt(11 / 12 * ((left - np.mean(left)) ** 2).sum())
    assert found.kappa == pytest.approx((kappa, kappa - half, min(kappa + half, 1)))


def test_no_flip_among_few_cells_does_not_show_that_there_is_none():
    """Of 30 cells without a flip, a rate of .1 gives 4%: the exact interval ends at .116."""
    old, query = np.tile([0.0, 1.0], 15), np.repeat(np.arange(10), 3)
    found = judge_drift(old, old, query, 0.95)
    end = 1 - 0.025 ** (1 / 30)
    assert found.flips == pytest.approx((0, 0, end))
    assert found.kappa == pytest.approx((1, 1 - 2 * end, 1))
    assert found.shift[1] < -0.05 < 0.05 < found.shift[2]
    assert not found.drifted
    opposite = judge_drift(old, 1 - old, query, 0.95)
    assert opposite.flips == pytest.approx((1, 1 - end, 1))
    assert opposite.kappa == pytest.approx((-1, -1, -1 + 2 * end))


def versions(rng, queries, error, strict, effect, size=4):
    """Two versions that err independently; the new one is stricter by logits, and by query."""
    query = np.repeat(np.arange(queries), size)
    towards = np.where(rng.random(len(query)) < 0.5, 1, -1) * np.log((1 - error) / error)
    shift = rng.normal(-strict, effect, queries)[query]
    old, new = (rng.random(len(query)) < 1 / (1 + np.exp(-x)) for x in (towards, towards + shift))
    return old.astype(float), new.astype(float), query


@pytest.mark.parametrize(
    ("queries", "error", "strict", "effect"),
    [(10, 0.02, 0, 0), (10, 0.02, 1, 0), (24, 0.01, 1.5, 0), (24, 0.1, 0, 0), (24, 0.1, 0, 1)],
)
def test_the_intervals_hold_for_few_flips_and_by_query(queries, error, strict, effect):
    """The truth is that of very many queries; 300 tables leave room for two standard errors."""
    rng = np.random.default_rng(5)
    many = versions(rng, 100_000, error, strict, effect)[:2]
    truth = {
        "flips": (many[0] != many[1]).mean(),
        "kappa": naive_kappa(*many),
        "shift": (many[1] - many[0]).mean() if strict else 0.0,
    }
    held = dict.fromkeys(truth, 0)
    for _ in range(300):
        found = judge_drift(*versions(rng, queries, error, strict, effect), 0.95)
        for name, value in truth.items():
            _, low, high = getattr(found, name)
            held[name] += bool(low <= value <= high)
    assert min(held.values()) >= 300 * (0.95 - 2 * np.sqrt(0.05 * 0.95 / 300))


def test_few_large_queries_are_worth_few_and_no_end_is_beyond_what_can_be():
    """Two of 200 cells and 30 of 2: worth 2.6 queries, where 32 of one size have 31 degrees of freedom."""
    rng = np.random.default_rng(3)
    query = np.repeat(np.arange(32), [200, 200, *[2] * 30])
    old = rng.integers(1, 6, len(query)).astype(float)
    new = np.clip(old + rng.integers(0, 2, 32)[query], 1, 5)
    found = judge_drift(old, new, query, 0.95)
    left = np.array([(new - old)[query != q].mean() for q in range(32)])
    error = np.sqrt(31 / 32 * ((left - left.mean()) ** 2).sum())
    worth = len(query) ** 2 / (2 * 200**2 + 30 * 2**2)
    half = t.ppf(0.975, worth - 1) * error
    assert found.shift == pytest.approx((found.shift[0], found.shift[0] - half, found.shift[0] + half))
    lone = judge_drift(old[:201], new[:201], np.r_[np.zeros(200, dtype=int), 1], 0.95)  # worth 1.01
    assert lone.shift[1:] == (-4, 4)
    assert np.isnan(lone.kappa[1:]).all()  # of one cell there is none
    assert lone.flips[1:] == (0, 1)


def test_of_one_query_no_interval_is_known():
    found = judge_drift(np.array([1.0, 0, 1]), np.array([1.0, 1, 1]), np.zeros(3, dtype=int), 0.95)
    assert found.flips[0] == pytest.approx(1 / 3)
    assert np.isnan([*found.flips[1:], *found.kappa[1:], *found.shift[1:]]).all()


def test_nothing_in_common_is_unknown():
    found = judge_drift(np.array([np.nan, 1.0]), np.array([1.0, np.nan]), np.array([0, 1]), 0.95)
    assert found.cells == 0
    assert np.isnan(found.flips).all()
    assert np.isnan(found.kappa[0])
