"""Claims that hold for further domains: the queries of a domain are one unit of evidence together."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import numpy as np
import pytest

from benchmarks.false_differences import EFFECT, of_domains
from crubric_core import fit_irt
from crubric_core.leaderboard.cross_fit import cross_fit
from crubric_core.leaderboard.different_units import MANY
from crubric_core.leaderboard.inference import infer
from crubric_core.leaderboard.influence import Domains, ability_influence, score_influence
from tests import oracles
from tests.irt.conftest import simulate
from tests.tiers import at_most

QUERY = np.arange(72) // 3  # 24 queries
DOMAIN = np.random.default_rng(5).integers(0, 8, 24)
EVERY = np.ones(72, dtype=bool)
OMEGA = 1.0 + np.arange(24) % 3


@pytest.fixture(scope="module")
def cross():
    y = simulate(7, 72, seed=3).y
    y[1, QUERY < 4] = np.nan  # queries of several domains
    y[2, DOMAIN[QUERY] == 5] = np.nan  # a whole domain
    return cross_fit(y, fit_irt(y))


@pytest.fixture(scope="module")
def scores(cross):
    shares = np.random.default_rng(2).random((7, 24))
    known = np.isfinite(cross.y).reshape(7, 24, 3).any(axis=2)
    return np.where(known, shares, np.nan)


def domains(of, lone=()):
    of = np.unique(of, return_inverse=True)[1]
    return Domains(of, ~np.isin(np.arange(of.max() + 1), lone))


def both(cross, scores, units):
    """Abilities and scores by these units."""
    return (
        ability_influence(cross, EVERY, QUERY, domains=units),
        score_influence(scores, OMEGA, domains=units),
    )


def claims(found, skip=()):
    """Every array and figure of the claims, as bytes."""
    made = infer(found, np.random.default_rng(0))
    values = {f.name: getattr(made, f.name) for f in dataclasses.fields(made) if f.name not in skip}
    return {name: np.asarray(value).tobytes() for name, value in values.items()}


def test_where_each_query_is_a_domain_claims_are_those_by_query_to_the_last_digit(cross, scores):
    for by_query, by_domain in zip(
        both(cross, scores, None), both(cross, scores, domains(np.arange(24))), strict=True
    ):
        assert (by_query.unit, by_domain.unit) == ("query", "domain")
        assert claims(by_query, skip={"unit"}) == claims(by_domain, skip={"unit"})


def test_variances_are_those_of_sums_over_the_domains(cross, scores):
    labels = np.isfinite(cross.y[:, ~cross.pooled.constant])
    of = QUERY[~cross.pooled.constant]
    weights = (
        np.stack([np.bincount(of, row) for row in labels], axis=1).astype(float),
        np.isfinite(scores).T * OMEGA[:, None],
    )
    for by_query, by_domain, weight in zip(
        both(cross, scores, None), both(cross, scores, domains(DOMAIN)), weights, strict=True
    ):
        psi = by_query.psi * oracles.shown_of_unequal(weight)
        expected, units = oracles.naive_domain_variances(psi, weight, DOMAIN, by_query.floor)
        found = infer(by_domain, np.random.default_rng(0))
        assert by_domain.n_units.tolist() == units
        assert 1 < min(units) <= max(units) < 8, "the domains are uneven"
        assert found.n_units == 8
        off = ~np.eye(7, dtype=bool)
        np.testing.assert_allclose(found.difference_se[off] ** 2, expected[off])
        np.testing.assert_allclose(found.se**2, expected.diagonal())
        assert not np.allclose(found.se, infer(by_query, np.random.default_rng(0)).se)


def test_what_is_no_matter_of_units_stays_as_it_is_by_query(cross, scores):
    for by_query, by_domain in zip(
        both(cross, scores, None), both(cross, scores, domains(DOMAIN)), strict=True
    ):
        for name in ("estimate", "floor", "saturated", "within_variance"):
            np.testing.assert_array_equal(getattr(by_query, name), getattr(by_domain, name), name)


def test_the_design_effect_is_the_variance_by_domain_over_that_by_rubrics_within_queries(cross, scores):
    found = both(cross, scores, domains(DOMAIN))[0]
    factor = found.n_units / (found.n_units - 1)
    expected = ((found.psi**2).sum(axis=0) * factor).mean() / found.within_variance.mean()
    assert infer(found, np.random.default_rng(0)).design_effect == pytest.approx(expected)


def test_the_order_of_the_domains_changes_no_variance(cross, scores):
    moved = np.random.default_rng(1).permutation(8)[DOMAIN]
    for one, other in zip(
        both(cross, scores, domains(DOMAIN)), both(cross, scores, domains(moved)), strict=True
    ):
        first, second = (infer(found, np.random.default_rng(0)) for found in (one, other))
        np.testing.assert_allclose(first.difference_se, second.difference_se)
        np.testing.assert_allclose(first.low, second.low)


def test_systems_that_share_domains_but_no_query_are_not_compared():
    y = simulate(8, 72, seed=4).y
    y[:4, QUERY % 2 == 0] = np.nan
    y[4:, QUERY % 2 == 1] = np.nan
    found = ability_influence(cross_fit(y, fit_irt(y)), EVERY, QUERY, domains=domains(np.arange(24) // 2))
    assert set(found.n_units) <= {10, 11, 12}
    assert found.group.tolist() == [0] * 4 + [1] * 4
    made = infer(found, np.random.default_rng(0))
    assert made.n_groups == 2
    assert not made.separated[:4, 4:].any()


def test_queries_without_a_domain_are_counted_beside_the_domains_that_have_a_label(cross, scores):
    of = np.array([*[0] * 10, *[1] * 10, 2, 3, 4, 5])
    units = domains(of, lone=[2, 3, 4, 5])
    for found in both(cross, scores, units):
        made = infer(found, np.random.default_rng(0))
        assert (made.unit, made.n_units, made.lone) == ("domain", 6, 4)
    first = np.where(np.arange(24) < 21, scores, np.nan)
    for found in (
        score_influence(first, np.ones(24), domains=units),
        ability_influence(cross, QUERY < 21, QUERY, domains=units),
    ):
        assert (len(found.psi), found.lone) == (3, 1)


@pytest.mark.parametrize("units", [1, 9, 300])
def test_two_systems_differ_on_so_many_units_as_hold_a_query_on_which_they_do(units):
    rng = np.random.default_rng(units)
    scores, of = rng.integers(0, 3, (5, 300)) / 2, rng.integers(0, units, 300)
    scores[rng.random(scores.shape) < 0.2] = np.nan
    found = score_influence(scores, np.ones(300), domains=domains(of)).differing
    for i, k in combinations(range(5), 2):
        differ = {int(of[q]) for q in range(300) if repr(scores[i, q]) != repr(scores[k, q])}
        assert found[i, k] == found[k, i] == min(len(differ), MANY)


def test_one_domain_separates_nobody(cross, scores):
    for found in both(cross, (scores + np.arange(7)[:, None]) / 8, domains(np.zeros(24))):
        made = infer(found, np.random.default_rng(0))
        assert made.n_units == 1
        assert not made.separated.any()
        assert set(made.low) == {-np.inf if found.limits is None else 0.0}


def test_a_score_at_its_limit_in_every_domain_has_the_variance_of_so_many_domains():
    scores = np.vstack([np.ones(24), np.random.default_rng(0).random(24)])
    found = score_influence(scores, np.ones(24), domains=domains(np.arange(24) % 8))
    eight = score_influence(scores[:, :8], np.ones(8))
    assert found.saturated.tolist() == [1, 0]
    assert found.floor[0] == eight.floor[0] > 0


def test_equal_domains_show_the_variance_of_a_mean_of_domains():
    scores = np.random.default_rng(0).random((3, 24))
    found = score_influence(scores, np.ones(24), domains=domains(np.arange(24) % 8))
    means = scores.reshape(3, 3, 8).mean(axis=1)
    assert found.n_units.tolist() == [8, 8, 8]
    assert infer(found, np.random.default_rng(0)).se == pytest.approx(means.std(axis=1, ddof=1) / np.sqrt(8))


def test_a_domain_that_holds_a_third_of_the_queries_does_not_hide_how_systems_differ_by_domain():
    of, wrong = np.repeat(np.arange(21), [40, *[4] * 20]), 0
    rng = np.random.default_rng(6)
    for _ in range(120):
        scores = 0.1 * rng.normal(size=(8, 21))[:, of] + 0.1 * rng.normal(size=(8, 120))
        found = score_influence(scores, np.ones(120), low=-np.inf, high=np.inf, domains=domains(of))
        wrong += infer(found, rng).separated.any()
    assert found.n_units.tolist() == [7] * 8
    assert wrong <= 14  # 6 expected; 15 or more has probability .001; as 21 equal domains: 33


def test_only_by_domain_are_identical_systems_kept_together_that_differ_by_domain():
    boards = at_most(30, 200)
    rates = np.mean([of_domains(np.zeros(8), EFFECT, seed) for seed in range(boards)], axis=0)[:, 0]
    for by_query, by_domain in (rates[:2], rates[2:]):
        assert by_query > 0.2
        assert by_domain <= 4 / 30 if boards == 30 else by_domain < 0.1  # 5 of 30 has probability .016 at 5%
