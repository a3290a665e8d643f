from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmarks.claims_worth import simulated
from crubric_core.bank.worth import MEASURES, bank_worth, least_keeping, worth_difference
from crubric_core.errors import AssemblyError


def standings(seed, size=8, banks=3):
    """Abilities with ties, and symmetric separations, on the pool and on some banks."""
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, 6, size).astype(float)
    bank = pool + rng.integers(-2, 3, (banks, size))

    def separated(theta, least):
        return np.abs(theta[..., :, None] - theta[..., None, :]) >= least

    return pool, separated(pool, 2), bank, separated(bank, 3)


def naive(pool, sure, bank, told):
    """The measures of docs/method.md §8, pair by pair, of one bank."""
    pairs = [(i, k) for i in range(len(pool)) for k in range(i) if sure[i, k]]
    same = [np.sign(pool[i] - pool[k]) == np.sign(bank[i] - bank[k]) for i, k in pairs]
    other = [np.sign(pool[i] - pool[k]) == -np.sign(bank[i] - bank[k]) for i, k in pairs]
    sure_too = [told[i, k] for i, k in pairs]
    kept = np.mean([a and b for a, b in zip(same, sure_too, strict=True)]) if pairs else np.nan
    lost = np.mean([a and b for a, b in zip(other, sure_too, strict=True)]) if pairs else np.nan
    tau = stats.kendalltau(pool, bank).statistic
    ranks = np.abs(stats.rankdata(-pool) - stats.rankdata(-bank)).mean()
    return np.array([kept, lost, np.mean(same) if pairs else np.nan, tau, ranks])


@settings(max_examples=15)
@given(st.integers(0, 500))
def test_every_measure_is_that_of_its_pairs_also_with_any_system_left_out(seed):
    pool, sure, banks, told = standings(seed)
    found = bank_worth(pool, sure, banks, told)
    for left_out in (-1, 0, 5):
        rest = np.delete(np.arange(8), left_out) if left_out >= 0 else np.arange(8)
        pairs = np.ix_(rest, rest)
        expected = np.mean(
            [naive(pool[rest], sure[pairs], b[rest], t[pairs]) for b, t in zip(banks, told, strict=True)],
            axis=0,
        )
        whole = [getattr(found, measure).estimate for measure in MEASURES]
        np.testing.assert_allclose(found.without[left_out] if left_out >= 0 else whole, expected, atol=1e-12)


@settings(max_examples=15)
@given(st.integers(0, 500), st.sampled_from([[0, 1, 0, 2, 1, 0, 1, 0], [0, 0, 1, 1, 1, 1, 1, 1]]))
def test_systems_of_different_groups_are_in_no_order_of_ranks_or_pairs(seed, groups):
    pool, sure, banks, told = standings(seed)
    group = np.array(groups)
    apart = np.array([100.0, 0, 50])[group]
    one = group[:, None] == group
    sure, told = sure & one, told & one
    each = [np.flatnonzero(group == g) for g in range(3)]

    def ranks_apart(bank, rest):
        found = [np.intersect1d(members, rest) for members in each]
        found = [stats.rankdata(pool[m]) - stats.rankdata(bank[m]) for m in found if len(m) > 1]
        return np.abs(np.concatenate(found)).mean()

    found = bank_worth(pool, sure, banks, told, group=group, bank_groups=np.tile(group, (len(banks), 1)))
    assert (found.groups, found.systems) == (max(groups) + 1, 8)
    for left_out in range(-1, 8):
        rest = np.delete(np.arange(8), left_out) if left_out >= 0 else np.arange(8)
        expected = np.mean([ranks_apart(bank, rest) for bank in banks])
        rank_error = found.without[left_out, 4] if left_out >= 0 else found.rank_error.estimate
        assert rank_error == pytest.approx(expected)
    moved = bank_worth(
        pool + apart, sure, banks - apart, told, group=group, bank_groups=np.tile(group, (3, 1))
    )
    np.testing.assert_array_equal(moved.without, found.without)
    assert moved.tau.estimate == found.tau.estimate


def test_systems_that_a_bank_alone_does_not_link_tie_to_it():
    pool, sure, _, _ = standings(3)
    alone = bank_worth(pool, sure, pool, np.zeros_like(sure), bank_groups=np.arange(8))
    tied = bank_worth(pool, sure, np.zeros(8), np.zeros_like(sure))
    assert alone.rank_error == tied.rank_error
    assert (alone.groups, alone.ordered.estimate) == (1, 0)


def test_without_two_systems_that_have_a_common_scale_there_is_no_rank_error():
    none = np.zeros((3, 3), dtype=bool)
    found = bank_worth(np.arange(3.0), none, np.arange(3.0), none, group=np.arange(3))
    assert np.isnan(found.rank_error.estimate)


def test_the_pool_itself_keeps_everything_and_its_mirror_reverses_it():
    pool, sure, _, _ = standings(3)
    same, mirror = bank_worth(pool, sure, pool, sure), bank_worth(pool, sure, -pool, sure)
    assert (same.kept.estimate, same.reversed.estimate, same.rank_error.estimate) == (1, 0, 0)
    assert same.tau.estimate == pytest.approx(1)
    assert (mirror.kept.estimate, mirror.reversed.estimate) == (0, 1)


def test_abilities_that_differ_by_rounding_alone_are_tied():
    pool, alike = np.array([2.0, 1.0, 1.0, 0.0]), np.array([0.0, 0.0, 4e-16, 0.0])
    separated = np.abs(pool[:, None] - pool) > 0
    worth = bank_worth(pool + alike, separated, pool - alike, separated)
    assert worth.rank_error.estimate == 0
    assert worth.tau.estimate == 1


def test_a_share_of_all_pairs_is_not_certain_with_few_systems():
    pool = np.arange(8.0)
    sure = np.abs(pool[:, None] - pool) >= 2
    found = bank_worth(pool, sure, pool, sure)
    assert found.kept.low == pytest.approx(stats.binomtest(4, 4).proportion_ci().low)
    assert found.reversed.low == 0 < found.reversed.high < 0.7


@pytest.mark.parametrize("size", [10, 60])
def test_what_few_pairs_show_is_no_more_certain_among_many_systems(size):
    pool, none = np.arange(float(size)), np.zeros((size, size), dtype=bool)
    one = none.copy()
    one[0, 9] = one[9, 0] = True
    exact = stats.binomtest(1, 1).proportion_ci()
    kept = bank_worth(pool, one, pool, one).kept
    assert (kept.low, kept.high) == pytest.approx((exact.low, 1))
    half = bank_worth(pool, one, np.stack([pool, pool]), np.stack([one, none])).kept
    assert half.estimate == 0.5
    assert half.low < 0.1
    assert half.high > 0.9


def test_pairs_that_all_have_one_system_in_common_are_one_trial():
    pool, star, told = np.arange(12.0), np.zeros((12, 12), dtype=bool), np.zeros((12, 12), dtype=bool)
    star[0, 1:] = star[1:, 0] = True
    told[0, 1:11] = told[1:11, 0] = True
    kept = bank_worth(pool, star, pool, told).kept
    assert kept.estimate == pytest.approx(10 / 11)
    assert kept.low < 0.1


def test_intervals_are_those_of_the_jackknife_within_the_range_of_a_share():
    pool, sure, banks, told = standings(4, size=12)
    found = bank_worth(pool, sure, banks, told, confidence=0.9)
    values = found.without[:, 3]
    half = stats.t.ppf(0.95, 11) * np.sqrt(11 / 12 * ((values - values.mean()) ** 2).sum())
    assert found.tau.high - found.tau.estimate == pytest.approx(half)
    assert 0 <= found.kept.low <= found.kept.estimate <= found.kept.high <= 1


def test_jackknife_intervals_hold_the_truth_about_as_often_as_they_say():
    rng, held = np.random.default_rng(0), []
    for _ in range(150):
        pool = rng.normal(size=20)
        bank = pool + rng.normal(0, 0.7, 20)
        none = np.zeros((20, 20), dtype=bool)
        tau = bank_worth(pool, none, bank, none).tau
        held.append(tau.low <= 2 / np.pi * np.arcsin(1 / np.sqrt(1 + 0.49)) <= tau.high)
    assert 0.88 <= np.mean(held) <= 0.99


def test_a_difference_is_paired_by_the_system_left_out():
    pool, sure, banks, told = standings(5)
    worths = [bank_worth(pool, sure, bank, t) for bank, t in zip(banks, told, strict=True)]
    same = worth_difference(worths[0], worths[0], "kept")
    assert (same.estimate, same.low, same.high) == (0, 0, 0)
    there, back = (worth_difference(*pair, "tau") for pair in (worths[:2], worths[1::-1]))
    assert there.low == pytest.approx(-back.high)


def test_a_difference_of_shares_is_no_more_certain_than_they_are():
    """Two banks of few separated pairs that keep none had a difference of [0, 0]."""
    pool = np.arange(8.0)
    separated, none = ~np.eye(8, dtype=bool), np.zeros((8, 8), dtype=bool)
    first, second = (bank_worth(pool, separated, bank, none) for bank in (pool, -pool))
    exact = stats.binomtest(0, 4).proportion_ci().high
    found = worth_difference(first, second, "kept")
    assert (found.low, found.estimate, found.high) == (pytest.approx(-exact), 0, pytest.approx(exact))


def test_the_intervals_of_differences_hold_where_banks_keep_little():
    """The jackknife alone held .35 of those of 8 systems (``simulated_claims worth``)."""
    rng, held = np.random.default_rng(8), []
    for _ in range(150):
        found = worth_difference(*simulated(rng, 8, 1.0, 1.2), "kept")
        held.append(found.low <= 0.015 <= found.high)
    assert np.mean(held) > 0.93


def test_an_unknown_system_takes_no_part_and_nothing_separated_is_not_available():
    pool, sure, banks, told = standings(6)
    banks = banks.astype(float)
    banks[1, 2] = np.nan
    found = bank_worth(pool, sure, banks[1], told[1])
    rest = np.delete(np.arange(8), 2)
    expected = bank_worth(pool[rest], sure[np.ix_(rest, rest)], banks[1, rest], told[1][np.ix_(rest, rest)])
    assert (found.kept, found.separated, found.systems) == (expected.kept, expected.separated, 7)
    assert np.isnan(found.without[2]).all()
    none = bank_worth(pool, np.zeros_like(sure), banks, told)
    assert np.isnan(none.kept.estimate)
    assert none.separated == 0


def test_of_several_banks_each_counts_the_pairs_that_it_places():
    """A system that one random bank of ten did not place was left out of all ten; at worst none was left."""
    pool, sure, banks, told = standings(6)
    banks = banks.astype(float)
    banks[0, 1] = banks[1, 2] = banks[2, [0, 3]] = np.nan
    found = bank_worth(pool, sure, banks, told)
    kept, compared = 0, 0
    for bank, sees in zip(banks, told, strict=True):
        rest = np.flatnonzero(np.isfinite(bank))
        alone = bank_worth(pool[rest], sure[np.ix_(rest, rest)], bank[rest], sees[np.ix_(rest, rest)])
        kept, compared = kept + alone.kept.estimate * alone.separated, compared + alone.separated
    assert found.kept.estimate == pytest.approx(kept / compared)
    assert found.systems == 8


def test_standings_of_other_systems_are_refused():
    pool, sure, banks, told = standings(7)
    with pytest.raises(AssemblyError, match="same systems"):
        bank_worth(pool, sure, banks[:, :5], told)


def test_the_least_size_is_the_one_from_which_on_all_keep_enough():
    sizes = np.array([10, 20, 40, 80])
    assert least_keeping(sizes, np.array([0.5, 0.96, 0.9, 0.97])) == 80
    assert least_keeping(sizes, np.array([0.5, 0.96, 0.95, 0.97])) == 20
    assert least_keeping(sizes, np.array([0.99, 0.99, 0.99, 0.9])) is None


@pytest.mark.parametrize(("noise", "truth"), [(1.2, 0.020), (0.6, 0.154), (0.18, 0.840)])
def test_intervals_of_shares_hold_near_0_and_1(noise, truth):
    """The jackknife alone held .84 of 40 systems of whose separated pairs 2% are kept (``simulated_claims worth``)."""
    rng = np.random.default_rng(7)
    found = [simulated(rng, 40, noise)[0].kept for _ in range(150)]
    assert np.mean([interval.low <= truth <= interval.high for interval in found]) > 0.91


def test_a_share_without_spread_and_one_with_little_have_intervals_alike():
    """One pair more made the upper end fall from .60 to .16."""
    pool = np.arange(8.0)
    separated = ~np.eye(8, dtype=bool)
    none = bank_worth(pool, separated, pool, np.zeros((8, 8), dtype=bool)).kept
    one = np.zeros((8, 8), dtype=bool)
    one[0, 7] = one[7, 0] = True
    few = bank_worth(pool, separated, pool, one).kept
    assert (none.estimate, few.estimate) == (0, pytest.approx(1 / 28))
    assert few.high > none.high / 2
