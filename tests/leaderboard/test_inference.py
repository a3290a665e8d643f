from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from crubric_core.judges.unequal_panels import UnequalPanels
from crubric_core.leaderboard.comparisons import FEW_UNITS, Evidence, compare, pair_errors
from crubric_core.leaderboard.from_draws import infer_from_draws
from crubric_core.leaderboard.inference import comparison_table, covariance_root, infer, separated_pairs
from crubric_core.leaderboard.influence import Influence, score_influence
from crubric_core.leaderboard.linked import linked_groups
from crubric_core.leaderboard.places import rank_shares, ranks_by_counting, tiers_by_first, tiers_by_neighbour
from crubric_core.leaderboard.simultaneous import (
    FEW,
    adjusted_p,
    as_normal,
    as_student,
    largest_differences,
    threshold,
)
from tests import oracles
from tests.tiers import examples


def influence(estimate, units=30, noise=0.3, floor=1e-6, seed=0, saturated=None):
    """Estimates whose contributions are independent noise."""
    rng = np.random.default_rng(seed)
    size = len(estimate)
    psi = rng.normal(0, noise / units**0.5, (units, size))
    return Influence(
        estimate=np.asarray(estimate, dtype=float),
        psi=psi - psi.mean(axis=0),
        n_units=np.full(size, units),
        unit="query",
        floor=np.full(size, floor),
        within_variance=np.full(size, np.nan),
        saturated=np.zeros(size, dtype=np.int64) if saturated is None else np.asarray(saturated),
    )


def allowance(size, seed):
    """Of systems of which some have lenient judges."""
    rng = np.random.default_rng(seed)
    shift, error = rng.normal(0, 0.2, size), rng.normal(0, 0.05, (size, 4))
    panels = UnequalPanels(shift, error, np.zeros((size, size)), np.empty((size, 0)))
    return panels.allowance(np.ones(size))


def inferred(estimate, seed=0, simultaneous=True, unequal=False, **kwargs):
    found = influence(estimate, seed=seed, **kwargs)
    if unequal:
        found = replace(found, allowance=allowance(len(estimate), seed))
    return infer(found, np.random.default_rng(seed), simultaneous=simultaneous)


boards = st.tuples(
    st.lists(st.sampled_from([-2.0, -1.2, -0.9, -0.3, 0.0, 0.0, 0.2, 0.5, 1.1, 3.0]), min_size=1, max_size=9),
    st.integers(0, 20),
    st.booleans(),
    st.sampled_from([3, 20, 60]),
)


# A system that fails everything has the estimate of another one, and its neighbour fails everything, too.
@example(([-2.0, -2.0, 3.0, -1.2, 3.0], 0, False, 3))
@given(boards)
def test_tiers_ranks_intervals_and_p_values_say_what_the_separated_pairs_say(board):
    estimate, seed, simultaneous, units = board
    saturated = np.random.default_rng(seed).integers(-1, 2, len(estimate)) * (seed % 3 == 0)
    r = inferred(estimate, seed, simultaneous, unequal=seed % 2 == 0, units=units, saturated=saturated)
    assert (r.separated == r.separated.T).all()
    assert not r.separated.diagonal().any()
    assert (r.separated == ((r.difference_low > 0) | (r.difference_high < 0))).all()
    tiers, low, high = oracles.naive_places(estimate, r.separated)
    assert r.tier.tolist() == tiers
    assert r.rank_low.tolist() == low
    assert r.rank_high.tolist() == high
    assert (r.rank_low <= r.rank).all()
    assert (r.rank <= r.rank_high).all()
    assert (r.low <= r.estimate).all()
    assert (r.estimate <= r.high).all()
    assert (r.p_shown[r.separated] <= 0.05).all()
    off = ~np.eye(len(estimate), dtype=bool) & np.isfinite(r.difference_low) & np.isfinite(r.difference_high)
    assert (r.p_shown[off & ~r.separated] > 0.05).all()


@given(boards)
def test_what_is_separated_among_all_pairs_is_separated_alone(board):
    estimate, seed, _, units = board
    together, alone = (inferred(estimate, seed, s, units=units) for s in (True, False))
    assert (together.separated <= alone.separated).all()
    assert (together.p_simultaneous >= together.p_value - 0.03).all()  # of 4,000 draws
    assert (together.low == alone.low).all()


@settings(max_examples=examples(20))
@given(st.permutations(range(6)))
def test_the_order_in_which_systems_are_listed_does_not_matter(permutation):
    found = influence([1.0, 0.9, 0.4, 0.2, 0.1, -1.0])
    moved = Influence(
        found.estimate[permutation],
        found.psi[:, permutation],
        found.n_units,
        "query",
        found.floor,
        found.within_variance,
        found.saturated,
    )
    first, second = (infer(x, np.random.default_rng(1)) for x in (found, moved))
    assert second.tier.tolist() == first.tier[permutation].tolist()
    assert second.rank_low.tolist() == first.rank_low[permutation].tolist()


def test_same_evidence_and_seed_same_bytes():
    first, second = inferred([0.5, 0.1, 0.0]), inferred([0.5, 0.1, 0.0])
    assert first.rank_probability.tobytes() == second.rank_probability.tobytes()
    assert first.p_simultaneous.tobytes() == second.p_simultaneous.tobytes()


def evidence(found):
    n = found.n_units
    return Evidence(found.estimate, found.psi * np.sqrt(n / (n - 1)), found.floor, n, found.saturated)


@pytest.mark.parametrize("floor", [1e-9, 1.0])
def test_errors_are_those_of_the_formula_pair_by_pair(floor):
    found = influence([0.3, 0.2, 0.0, -0.4], floor=floor)
    variance = oracles.naive_variances(found.psi, found.floor)
    errors = pair_errors(evidence(found))
    np.fill_diagonal(variance, 0)
    np.testing.assert_allclose(errors**2, variance, rtol=1e-9)
    assert (variance[0, 1] == 2 * floor) == (floor == 1)


def test_a_difference_that_rests_on_fewer_units_has_their_variance_and_degrees_of_freedom():
    """The draws stay those of the systems: the threshold before Student's t is what all their units give."""
    whole = evidence(influence([0.3, 0.2, 0.0, -0.4], units=60))
    fewer = replace(whole, pair_units=np.full((4, 4), 20))
    ratio = (pair_errors(fewer) / np.where(np.eye(4), 1, pair_errors(whole))) ** 2
    np.testing.assert_allclose(ratio[np.triu_indices(4, 1)], (20 / 19) / (60 / 59))
    draws = np.random.default_rng(3).standard_normal((2000, 60)) @ whole.contributions
    normal = threshold(largest_differences(draws, pair_errors(whole)), 0.95)
    assert compare(whole, draws).critical == pytest.approx(as_student(normal, np.array([59]))[0], rel=1e-5)
    assert compare(fewer, draws).critical == pytest.approx(as_student(normal, np.array([19]))[0], rel=1e-5)


def test_the_threshold_is_that_of_the_largest_pair_of_each_draw():
    found = influence(np.zeros(7))
    draws = np.random.default_rng(3).standard_normal((700, 30)) @ evidence(found).contributions
    largest = largest_differences(draws, pair_errors(evidence(found)))
    exact = oracles.naive_largest(draws, oracles.naive_variances(found.psi, found.floor))
    np.testing.assert_allclose(largest, exact, rtol=1e-5)
    c = threshold(largest, 0.95)
    assert (largest <= c).sum() == np.ceil(701 * 0.95)
    assert np.quantile(exact, 0.94) < c < np.quantile(exact, 0.96)


@pytest.mark.parametrize("systems", [FEW - 1, FEW + 13], ids=["all pairs", "likely pairs"])
def test_of_many_systems_the_largest_pair_is_that_of_all_pairs_to_the_last_digit(systems):
    """Twins, of which one pair has no variance and one very little, and precisions of several magnitudes."""
    rng = np.random.default_rng(5)
    contributions = rng.standard_normal((40, systems)) * rng.choice([0.1, 1.0, 30.0], systems)
    contributions[:, 7] = contributions[:, 3]
    contributions[:, 50] = contributions[:, 11] + 1e-4 * rng.standard_normal(40)
    nothing, units = np.zeros(systems), np.full(systems, 40)
    given = Evidence(nothing, contributions, nothing, units, nothing.astype(np.int64))
    draws, sd = rng.standard_normal((1100, 40)) @ contributions, pair_errors(given)
    assert sd[3, 7] == 0 < sd[11, 50] < 0.01
    single, precision = draws.astype(np.float32), np.where(sd > 0, 1 / np.where(sd > 0, sd, 1), 0)
    apart = np.abs(single[:, :, None] - single[:, None, :]) * precision.astype(np.float32)
    assert np.array_equal(largest_differences(draws, sd), apart.max(axis=(1, 2)))


@given(boards)
def test_pairs_are_separated_alone_as_among_all_that_is_claimed_of_them(board):
    estimate, seed, simultaneous, units = board
    saturated = np.random.default_rng(seed).integers(-1, 2, len(estimate)) * (seed % 3 == 0)
    found = influence(estimate, seed=seed, units=units, saturated=saturated)
    found.psi[:, -1] = found.psi[:, 0]
    if seed % 2:
        found = replace(found, allowance=allowance(len(estimate), seed))
    whole = infer(found, np.random.default_rng(seed), simultaneous=simultaneous)
    normals = np.random.default_rng(seed).standard_normal
    assert np.array_equal(separated_pairs(found, normals, simultaneous=simultaneous), whole.separated)


@pytest.mark.parametrize("units", [3, 8, 200])
def test_errors_of_the_covariance_of_all_units_are_drawn_from_as_few_numbers_as_there_are_systems(units):
    psi = np.random.default_rng(0).normal(size=(units, 8))
    psi[:, 7] = psi[:, 6]  # identical systems: the covariance is singular
    root = covariance_root(psi)
    assert root.shape == (min(units, 8), 8)
    np.testing.assert_allclose(root.T @ root, psi.T @ psi, atol=1e-10)


def test_an_adjusted_p_value_is_below_the_level_exactly_beyond_the_threshold():
    largest = np.random.default_rng(0).gamma(9, 0.35, 399)
    c = threshold(largest, 0.95)
    z = np.r_[np.linspace(0, 9, 50), c, np.nextafter(c, 9)]
    assert ((adjusted_p(z, largest) <= 0.05) == (z > c)).all()
    assert threshold(largest[:10], 0.95) == np.inf


def test_deviates_of_student_and_normal_are_each_others_inverse():
    df = np.array([[1, 4], [29, 103]])
    np.testing.assert_allclose(as_normal(as_student(2.5, df), df), 2.5)
    assert as_student(1.959964, np.array([103])) == pytest.approx(1.98326, abs=1e-4)  # t tables
    assert as_student(2.0, np.array([0])) == np.inf
    assert as_normal(np.array([7.0]), np.array([0])) == 0


def test_the_threshold_of_one_pair_is_students():
    c = inferred([0.0, 0.1], units=20).critical
    assert c == pytest.approx(2.093, rel=0.05)  # t(19), by 4,000 draws


def test_with_few_units_bonferroni_holds():
    units = FEW_UNITS - 5
    r = inferred(np.zeros(5), units=units)
    assert r.critical >= 3.689  # t(9) at .05 / 20, from t tables
    assert (r.p_simultaneous >= np.minimum(r.p_value * 10, 1) - 1e-12).all()


def test_with_units_of_very_unequal_weight_bonferroni_holds():
    scores, few = np.random.default_rng(3).random((5, 60)), np.arange(60) < 15
    alike, uneven = (
        infer(score_influence(scores, np.where(few, heavy, 1.0)), np.random.default_rng(1))
        for heavy in (2, 4)
    )
    bound = -ndtri(0.05 / 20)
    assert alike.critical < as_student(bound, np.array([53]))[0]  # 75² / 105 = 53.6 equal units
    assert uneven.critical == pytest.approx(as_student(bound, np.array([37]))[0])  # 105² / 285 = 38.7


def test_one_unit_allows_no_claim():
    r = inferred([5.0, 0.0], units=1)
    assert not r.separated.any()
    assert np.isinf(r.high).all()
    assert r.tier.tolist() == [1, 1]


def test_a_chain_of_close_systems_is_cut_where_the_first_of_the_tier_is_separated():
    separated = np.zeros((5, 5), dtype=bool)
    separated[0, 3:] = separated[3:, 0] = separated[1, 4] = separated[4, 1] = True
    estimate = np.array([4.0, 3.0, 2.0, 1.0, 0.0])
    assert tiers_by_first(estimate, separated).tolist() == [1, 1, 1, 2, 2]
    rank, low, high = ranks_by_counting(estimate, separated)
    assert rank.tolist() == [1, 2, 3, 4, 5]
    assert low.tolist() == [1, 1, 1, 2, 3]
    assert high.tolist() == [3, 4, 5, 5, 5]


def test_systems_that_pass_everything_are_not_compared_with_each_other():
    found = inferred(np.array([2.0, 2.0, 0.5, 0.2, -1.0]), saturated=np.array([1, 1, 0, 0, 0]))
    assert found.saturated.tolist() == [1, 1, 0, 0, 0]
    assert np.isnan(found.compared[0, 1])
    assert np.isfinite(found.compared[0, 0])
    assert np.isfinite(found.compared[0, 2:]).all()


def test_places_within_groups_are_those_of_each_group_alone():
    rng = np.random.default_rng(4)
    for _ in range(50):
        estimate, group = rng.normal(size=9).round(1), rng.integers(0, 3, 9)
        apart = np.triu(rng.random((9, 9)) < 0.5, 1)
        apart = (apart | apart.T) & (group[:, None] == group)
        places = (*ranks_by_counting(estimate, apart, group), tiers_by_first(estimate, apart, group))
        for members in (np.flatnonzero(group == each) for each in np.unique(group)):
            alone = estimate[members], apart[np.ix_(members, members)]
            for found, expected in zip(
                places, (*ranks_by_counting(*alone), tiers_by_first(*alone)), strict=True
            ):
                assert found[members].tolist() == expected.tolist()


@pytest.mark.parametrize("units", [8, 40])
def test_systems_of_other_groups_do_not_raise_the_threshold_of_a_group(units):
    """No pair of two groups is compared: with four other groups of eight systems fewer pairs were separated."""
    found = influence(np.linspace(0, 1, 12), units=units)
    alone = replace(
        found,
        **{
            name: getattr(found, name)[:6]
            for name in ("estimate", "n_units", "floor", "within_variance", "saturated")
        },
        psi=found.psi[:, :6],
    )
    grouped = replace(found, group=np.repeat([0, 1], 6))
    rng = [np.random.default_rng(0) for _ in range(3)]
    one, two, all_ = (infer(each, g).critical for each, g in zip((alone, grouped, found), rng, strict=True))
    assert one < two < all_


def test_groups_are_numbered_from_the_largest_of_ranked_systems():
    one = replace(influence([9.0, 8.0, np.nan, 0.0, 5.0, 4.0]), group=np.array([3, 7, 3, 7, 1, 7]))
    found = infer(one, np.random.default_rng(0))
    assert found.group_number.tolist() == pytest.approx([2, 1, np.nan, 1, 3, 1], nan_ok=True)
    assert (found.n_groups, found.n_pairs) == (3, 3)
    assert infer(replace(one, group=None), np.random.default_rng(0)).n_pairs == 10


def test_no_systems_have_no_tiers():
    assert tiers_by_first(np.empty(0), np.empty((0, 0), dtype=bool)).tolist() == []
    r = inferred([np.nan, np.nan])
    assert np.isnan(r.tier).all()
    assert not r.separated.any()


def test_estimates_that_differ_by_rounding_share_a_rank():
    estimate = np.array([0.1 + 0.2, 0.3, 0.3 - 1e-6])
    rank, _, _ = ranks_by_counting(estimate, np.zeros((3, 3), dtype=bool))
    assert rank.tolist() == [1, 1, 3]


@pytest.mark.parametrize("bootstrap", [False, True])
def test_neighbours_in_the_order_that_pass_everything_share_a_rank(bootstrap):
    """Their abilities differ by the other systems of their folds, and by missing labels."""
    estimate, side = np.array([2.1, 2.0, 1.5, 1.4, -2.0, -2.1]), np.array([1, 1, 0, 1, -1, -1])
    if bootstrap:
        draws = estimate + np.random.default_rng(0).normal(0, 0.3, (200, 6))
        r = infer_from_draws(estimate, draws, saturated=side)
    else:
        r = inferred(estimate, saturated=side)
    assert r.rank.tolist() == [1, 1, 3, 4, 5, 5]
    assert r.estimate.tolist() == estimate.tolist()


def test_equal_estimates_share_the_better_rank_and_are_never_separated():
    r = inferred([1.0, 1.0, -4.0])
    assert r.rank.tolist() == [1, 1, 3]
    assert not r.separated[0, 1]
    assert r.p_value[0, 1] == 1


def test_a_copy_with_the_same_contributions_is_not_separated_from_its_twin():
    found = influence([0.8, 0.8, -1.0])
    found.psi[:, 1] = found.psi[:, 0]
    r = infer(found, np.random.default_rng(0))
    assert not r.separated[0, 1]
    assert r.difference_se[0, 1] == pytest.approx(np.sqrt(2e-6))
    assert r.rank_probability[:2, 0].tolist() == pytest.approx([0.5, 0.5], abs=0.06)


def test_two_systems_saturated_on_one_side_allow_no_claim_and_their_intervals_are_open():
    r = inferred([4.0, 3.0, 0.0, -3.0], noise=0.01, saturated=[1, 1, 0, -1])
    assert r.high[:2].tolist() == [np.inf, np.inf]
    assert r.low[3] == -np.inf
    assert np.isfinite(r.low[:3]).all()
    assert not r.separated[0, 1]
    assert [r.difference_low[0, 1], r.difference_high[0, 1]] == [-np.inf, np.inf]
    assert r.separated[0, 2]
    assert r.difference_high[0, 2] == np.inf > r.difference_low[0, 2] > 0
    assert r.separated[2, 3]
    assert r.tier.tolist() == [1, 1, 2, 3]


@pytest.mark.parametrize("simultaneous", [True, False])
def test_draws_separate_nobody_from_a_system_that_passes_everything_on_the_side_that_is_open(simultaneous):
    estimate, side = np.array([2.5, 1.0, 0.9, -2.0]), np.array([0, 1, 0, -1])
    draws = estimate + np.random.default_rng(0).normal(0, 0.1, (400, 4))
    found = infer_from_draws(estimate, draws, simultaneous=simultaneous, saturated=side)
    assert found.difference_low[0, 1] == -np.inf
    assert not found.separated[0, 1], "who passes everything may be better still"
    assert found.separated[0, 2]
    assert found.separated[1, 3], "one end of each is open, and 0 is beyond the other"
    np.testing.assert_array_equal(found.separated, (found.difference_low > 0) | (found.difference_high < 0))
    assert found.tier[0] == found.tier[1] == 1


def test_unranked_systems_are_unknown_everywhere_and_take_no_place():
    r = inferred([0.5, np.nan, -2.0])
    alone = inferred([0.5, -2.0])
    assert r.rank.tolist()[::2] == [1, 2]
    assert r.rank_high[2] == 2
    for values in (r.se, r.low, r.rank, r.rank_low, r.tier, r.rank_probability[:, 0], r.difference[0]):
        assert np.isnan(values[1])
    assert not r.separated[1].any()
    expected = [*alone.rank_probability[1].tolist(), 1.0]
    assert r.rank_probability[2].tolist() == pytest.approx(expected, abs=0.001)


def test_rank_probabilities_are_shares_of_the_draws():
    draws = np.random.default_rng(0).normal(size=(300, 5)) + np.arange(5)
    np.testing.assert_allclose(rank_shares(draws), oracles.naive_rank_probabilities(draws), atol=1e-12)


def test_a_better_system_is_likelier_to_be_first():
    r = inferred([1.0, 0.9, 0.2])
    assert (np.diff(r.rank_probability[:, 0]) <= 0).all()
    assert r.rank_probability[:, 0].sum() == pytest.approx(1)
    assert r.ahead[0, 2] > r.ahead[0, 1] > 0.5 > r.ahead[1, 0]
    np.testing.assert_allclose(r.ahead + r.ahead.T, 1)


def simulated(rng, size, units, spread):
    """True values of systems and what is claimed of their mean over units with errors of sd 1."""
    truth = spread * rng.normal(size=size)
    scores = truth[:, None] + rng.normal(size=(size, units))
    found = score_influence(scores, np.ones(units), low=-np.inf, high=np.inf)
    return truth, infer(replace(found, floor=np.zeros(size)), rng)


def test_of_what_is_called_so_probable_as_many_are_true():
    # Errors of an estimate have sd .2; their share of an estimate's variance is any as likely.
    rng, stated, true = np.random.default_rng(8), [], []
    for _ in range(300):
        truth, found = simulated(rng, 8, 25, 0.2 * np.sqrt(1 / rng.uniform(0.01, 1) - 1))
        rank = 1 + (truth > truth[:, None]).sum(axis=1)
        off = ~np.eye(8, dtype=bool)
        stated.append([found.ahead[off], found.rank_probability[:, 2]])
        true.append([(truth[:, None] > truth)[off], rank <= 3])
    for p, happened in zip(zip(*stated, strict=True), zip(*true, strict=True), strict=True):
        p, happened = np.concatenate(p), np.concatenate(happened)
        for low, high in ((0.02, 0.3), (0.3, 0.7), (0.7, 0.98)):
            some = (p > low) & (p < high)
            assert p[some].mean() == pytest.approx(happened[some].mean(), abs=0.07)


def test_of_equal_systems_none_is_probably_the_first():
    rng = np.random.default_rng(9)
    first = [simulated(rng, 15, 25, 0.0)[1].rank_probability[:, 0].max() for _ in range(40)]
    assert np.mean(first) < 0.25


def test_a_system_far_off_makes_no_near_one_probably_ahead():
    rng, near, stated, far = np.random.default_rng(10), ~np.eye(14, dtype=bool), [], []
    for _ in range(40):
        scores = rng.normal(size=(15, 25))
        scores[14] -= 3.0
        found = infer(score_influence(scores, np.ones(25), low=-np.inf, high=np.inf), rng)
        stated.append((found.ahead[:14, :14][near] > 0.9).mean())
        far.append((found.ahead[14, :14].max(), found.rank_probability[14, 13]))
    assert np.mean(stated) < 0.02, "of 14 equal systems"
    assert np.max(far) < 0.05, "and the one far off is last"


def test_where_all_estimates_are_sure_probabilities_are_those_of_the_pairs_alone():
    r = inferred([4.0, 0.0, 0.2, -4.0], noise=0.2)
    np.testing.assert_allclose(np.minimum(r.ahead, r.ahead.T)[0, 1:], r.p_value[0, 1:] / 2, atol=0.01)


@pytest.mark.parametrize("weights", ["lognormal", "few"])
def test_queries_of_unequal_weight_are_worth_fewer(weights):
    rng, false = np.random.default_rng(6), []
    for _ in range(200):
        omega = (
            np.exp(2 * rng.normal(size=30))
            if weights == "lognormal"
            else np.where(np.arange(30) < 5, 40.0, 1.0)
        )
        found = score_influence(rng.random((4, 30)), omega)
        false.append(infer(found, rng).separated.any())
    assert np.mean(false) < 0.1


def test_more_than_forty_systems_use_fewer_draws_but_the_same_rules():
    estimate = np.repeat([1.0, 0.0], 21)
    r = inferred(estimate, noise=0.1)
    assert r.tier[estimate == 0].min() > 1
    assert oracles.naive_places(estimate, r.separated)[0] == r.tier.tolist()


def test_scores_of_two_systems_have_the_paired_t_test():
    from scipy.stats import ttest_rel

    rng = np.random.default_rng(5)
    scores = np.clip(rng.normal(0.6, 0.2, (2, 25)) + np.array([[0.0], [0.05]]), 0, 1)
    r = infer(score_influence(scores, np.full(25, 1 / 25)), rng, simultaneous=False)
    test = ttest_rel(scores[1], scores[0])
    interval = test.confidence_interval(0.95)
    assert r.p_value[1, 0] == pytest.approx(test.pvalue)
    assert [r.difference_low[1, 0], r.difference_high[1, 0]] == pytest.approx([interval.low, interval.high])


def test_full_marks_on_every_query_are_no_certainty():
    scores = np.vstack([np.ones(10), np.ones(10), np.zeros(10), np.linspace(0, 1, 10)])
    r = infer(score_influence(scores, np.full(10, 0.1)), np.random.default_rng(0))
    assert r.se[0] > 0.05
    assert r.high[0] == 1
    assert r.low[0] < 0.9
    assert not r.separated[0, 1]
    assert r.separated[0, 2]
    two = infer(score_influence(scores[:, [0, 9]], np.full(2, 0.5)), np.random.default_rng(0))
    assert not two.separated.any()


def test_a_difference_that_is_the_same_on_every_query_takes_the_sign_test():
    scores = np.random.default_rng(0).random((1, 12)) * 0.5 + [[0.0], [0.25]]
    r = infer(score_influence(scores, np.full(12, 1 / 12)), np.random.default_rng(0), simultaneous=False)
    assert r.p_value[0, 1] == pytest.approx(2**-11)
    assert r.separated[0, 1]
    few = infer(
        score_influence(scores[:, :3], np.full(3, 1 / 3)), np.random.default_rng(0), simultaneous=False
    )
    assert few.p_value[0, 1] == pytest.approx(0.25)
    assert not few.separated.any()


def test_the_table_holds_each_pair_once_with_the_better_first():
    r = inferred([0.1, np.nan, 2.0, 0.1])
    table = comparison_table(r)
    assert list(zip(table.system, table.other, strict=True)) == [(2, 0), (2, 3), (0, 3)]
    assert (table.difference >= 0).all()
    assert table.separated.tolist() == [True, True, False]
    assert ((table.low > 0) == table.separated).all()
    np.testing.assert_array_equal(table.p_value, r.p_simultaneous[table.system, table.other])


def test_bootstrap_draws_give_the_papers_claims_in_the_same_class():
    from crubric_core.leaderboard.tiers import standings

    theta = np.array([1.0, 0.8, 0.0, np.nan])
    draws = theta + np.random.default_rng(0).normal(0, 0.1, (200, 4))
    r, standing = infer_from_draws(theta, draws), standings(theta, draws)
    for name in (
        "rank",
        "rank_low",
        "rank_high",
        "tier",
        "p_value",
        "separated",
        "ahead",
        "rank_probability",
    ):
        np.testing.assert_array_equal(getattr(r, name), getattr(standing, name))
    assert r.se[0] == pytest.approx(draws[:, 0].std(ddof=1))
    low, high = np.percentile(draws[:, 0] - draws[:, 1], [2.5, 97.5])
    assert [r.difference_low[0, 1], r.difference_high[0, 1]] == pytest.approx([low, high])
    off = ~np.eye(4, dtype=bool)
    assert (r.separated[off] == ((r.difference_low > 0) | (r.difference_high < 0))[off]).all()
    assert len(comparison_table(r).system) == 3


def test_neighbours_of_another_group_are_no_neighbours():
    estimate, group = np.array([4.0, 3.0, np.nan, 2.0, 1.0]), np.array([0, 1, 1, 0, 1])
    separated = (group[:, None] == group) & ~np.eye(5, dtype=bool)
    tiers = tiers_by_neighbour(estimate, separated, group)
    np.testing.assert_array_equal(tiers, [1, 1, np.nan, 2, 2])
    np.testing.assert_array_equal(tiers_by_neighbour(estimate, separated), [1, 1, np.nan, 1, 1])


@pytest.mark.parametrize("rule", ["adjacent", "leader"])
@pytest.mark.parametrize("simultaneous", [False, True])
def test_bootstrap_draws_of_groups_that_are_not_compared_give_the_claims_of_each_alone(rule, simultaneous):
    theta, group = np.array([1.0, 0.9, 0.7, np.nan, 0.1, 0.0]), np.array([0, 4, 0, 7, 4, 0])
    draws = theta + np.random.default_rng(0).normal(0, 0.1, (400, 6))
    r = infer_from_draws(theta, draws, rule=rule, simultaneous=simultaneous, group=group)
    assert r.n_groups == 2
    for members in ([0, 2, 5], [1, 4]):
        own = infer_from_draws(theta[members], draws[:, members], rule=rule, simultaneous=simultaneous)
        for name in ("rank", "rank_low", "rank_high", "tier", "low", "high"):
            np.testing.assert_array_equal(getattr(r, name)[members], getattr(own, name))
        for name in ("separated", "ahead", "p_value", "difference_se"):
            np.testing.assert_array_equal(getattr(r, name)[np.ix_(members, members)], getattr(own, name))
    assert not r.separated[np.ix_([0, 2, 5], [1, 4])].any()
    assert np.isinf(r.difference_low[0, 4])
    assert np.isnan(r.rank_probability).all()
    assert infer_from_draws(theta, draws, group=np.zeros(6, dtype=int)).group is None


@pytest.mark.parametrize("simultaneous", [False, True])
def test_bootstrap_draws_never_separate_two_systems_saturated_alike(simultaneous):
    theta, saturated = np.array([3.2, 3.1, 1.0, -3.0, -3.1]), np.array([1, 1, 0, -1, -1])
    draws = theta + np.random.default_rng(0).normal(0, 0.001, (400, 5))
    r = infer_from_draws(theta, draws, simultaneous=simultaneous, saturated=saturated)
    assert infer_from_draws(theta, draws, simultaneous=simultaneous).separated[[0, 3], [1, 4]].all()
    assert not r.separated[[0, 3], [1, 4]].any()
    assert r.separated[[0, 1, 2, 0], [2, 2, 3, 4]].all()
    assert r.tier.tolist() == [1, 1, 2, 3, 3]
    assert list(zip(r.rank_low, r.rank_high, strict=True)) == [(1, 2), (1, 2), (3, 3), (4, 5), (4, 5)]
    assert np.isposinf(r.high[:2]).all()
    assert np.isneginf(r.low[3:]).all()
    assert (r.difference_low[0, 1], r.difference_high[0, 1]) == (-np.inf, np.inf)
    assert r.difference_low[0, 2] > 0
    assert np.isposinf(r.difference_high[0, 2])


def test_bootstrap_draws_may_be_held_to_all_pairs_at_once():
    theta = np.array([1.0, 0.7, np.nan, 0.66, -1.0])
    draws = theta + np.random.default_rng(0).normal(0, 0.1, (400, 5))
    alone, r = infer_from_draws(theta, draws), infer_from_draws(theta, draws, simultaneous=True)
    assert 1.96 < r.critical < 3.5
    assert (r.separated <= alone.separated).all()
    kept = [0, 1, 3, 4]
    assert oracles.naive_places(theta[kept], r.separated[np.ix_(kept, kept)])[0] == r.tier[kept].tolist()
    off = np.isfinite(r.difference) & ~np.eye(5, dtype=bool)
    assert (r.separated == ((r.difference_low > 0) | (r.difference_high < 0)))[off].all()
    assert ((r.p_shown <= 0.05) == r.separated)[off].all()


def test_identical_systems_are_kept_together_in_nineteen_boards_of_twenty():
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(120):
        scores = rng.binomial(6, rng.beta(2, 1, (60, 1)), (60, 8)).T / 6
        r = infer(score_influence(scores, np.full(60, 1 / 60)), rng)
        wrong += r.separated.any()
    assert 0 < wrong <= 12  # 6 expected; 13 or more has probability .01


def test_compare_needs_no_draws_of_a_single_system():
    one = Evidence(np.zeros(1), np.zeros((5, 1)), np.ones(1), np.full(1, 5), np.zeros(1, dtype=np.int64))
    assert not compare(one, np.zeros((20, 1))).separated.any()


def test_systems_are_linked_by_enough_shared_units_or_by_others():
    units = np.arange(20)[:, None]
    starts = np.array([0, 5, 16, 3])
    labelled = (units >= starts) & (units < starts + 8)  # 0–7, 5–12, 16–19, 3–10
    assert linked_groups(labelled).tolist() == [0, 0, 1, 0], (
        "the first two share three units, the last links them"
    )
    assert linked_groups(labelled[:, :3]).tolist() == [0, 1, 2]
    assert linked_groups(np.ones((2, 4), dtype=bool)).tolist() == [0] * 4, "all of one's units are enough"
    assert linked_groups(np.arange(6)[:, None] < [6, 3]).tolist() == [0, 0], "also where the other has more"
    assert linked_groups(np.eye(2, dtype=bool)).tolist() == [0, 1]


def test_no_claim_is_made_between_groups_of_systems():
    apart = replace(influence([9.0, 8.0, 1.0, 0.0], noise=0.01), group=np.array([0, 0, 1, 1]))
    found = infer(apart, np.random.default_rng(0))
    across = np.array([[0, 0, 1, 1]] * 2 + [[1, 1, 0, 0]] * 2) > 0
    assert not found.separated[across].any()
    assert found.separated[0, 1]
    assert found.separated[2, 3]
    assert np.isinf(found.difference_low[across]).all()
    assert np.isinf(found.difference_high[across]).all()
    assert (found.p_value[across] == 1).all()
    assert found.rank_low.tolist() == [1, 2, 1, 2]
    assert found.rank_high.tolist() == [1, 2, 1, 2]
    assert (found.rank.tolist(), found.tier.tolist()) == ([1, 2, 1, 2],) * 2
    assert (found.n_groups, found.n_pairs) == (2, 2)
    assert np.isnan(found.compared[across]).all()
    assert np.array_equal(found.compared[~across], found.ahead[~across])
    assert np.isnan(found.rank_probability).all(), "one of the other group may stand anywhere"
    assert infer(replace(apart, group=None), np.random.default_rng(0)).separated[across].all()


def test_intervals_hold_with_and_without_the_leniency_of_judges_that_others_lack():
    """Two systems .5 apart, of which the better has judges who raise it by .4, known exactly, and so on."""
    found = influence([1.0, 0.5, 0.5, -3.0], noise=0.1)
    panels = UnequalPanels(
        np.array([0.4, 0.0, -0.4, 0.0]), np.zeros((4, 1)), np.zeros((4, 4)), np.empty((4, 0))
    )
    plain = infer(found, np.random.default_rng(0))
    wide = infer(replace(found, allowance=panels.allowance(np.ones(4))), np.random.default_rng(0))
    assert plain.separated[0, 1]
    assert not wide.separated[0, 1]
    assert wide.difference_low[0, 1] == pytest.approx(plain.difference_low[0, 1] - 0.4)
    assert wide.difference_high[0, 1] == pytest.approx(plain.difference_high[0, 1])
    assert wide.difference_low[0, 2] == pytest.approx(plain.difference_low[0, 2] - 0.8)
    assert (wide.separated[3, :3]).all()  # -3 is far below, whoever judged
    assert (wide.estimate == plain.estimate).all()
    assert wide.low[0] == pytest.approx(plain.low[0] - 0.4)
    assert wide.high[2] == pytest.approx(plain.high[2] + 0.4)
    assert wide.excused == (plain.separated & ~wide.separated).sum() // 2 == 2
    assert np.isnan(wide.rank_probability).all()


def test_without_differences_in_leniency_unequal_panels_change_no_claim():
    found = influence([1.0, 0.5, 0.4, -3.0], noise=0.1)
    panels = UnequalPanels(np.zeros(4), np.zeros((4, 1)), np.zeros((4, 4)), np.empty((4, 0)))
    plain = infer(found, np.random.default_rng(0))
    same = infer(replace(found, allowance=panels.allowance(np.ones(4))), np.random.default_rng(0))
    for name in ("separated", "difference_low", "p_value", "p_simultaneous", "low", "high", "tier"):
        assert np.array_equal(getattr(same, name), getattr(plain, name))
    assert same.excused == 0


def test_without_any_score_nobody_is_ranked_and_nothing_is_computed_of_no_number():
    found = infer(score_influence(np.full((3, 0), np.nan), np.zeros(0)), np.random.default_rng(0))
    assert not found.ranked.any()
    assert np.isnan(found.low).all()
