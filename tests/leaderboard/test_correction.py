"""Judges' means corrected by human labels: against PPI's own values, derivatives, and tables whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from crubric_core.leaderboard.correction import FEWEST, Sample, correct_means
from crubric_core.leaderboard.inference import infer, marginal_intervals
from crubric_core.leaderboard.influence import Domains

HUMAN = np.array([[0.5, 1.0, 0.0, 0.75, 0.25, 1.0], [0.0, 0.5, 0.25, 1.0, 0.5, 0.75]])
JUDGED = np.array(
    [
        [0.5, 0.75, 0.25, 1.0, 0.0, 1.0, 0.5, 0.25, 0.75, 1.0],
        [0.25, 0.5, 0.0, 0.75, 0.75, 0.5, 0.0, 0.25, 1.0, 0.5],
    ]
)
# ppi_py 0.2.3, ppi_mean_pointestimate(Y, Yhat, Yhat_unlabeled, lam=weight * (1 - m / n)), whose unlabelled part leaves
# out the labelled queries: with it the judges' mean over all n = 10 has the weight given here.
PPI = {
    0.0: (0.58333333, 0.5),
    0.3: (0.58833333, 0.4975),
    0.5: (0.59166667, 0.49583333),
    1.0: (0.6, 0.49166667),
}


def table(rng, systems=6, queries=40, labelled=12, noise=0.15):
    """(judged, human, there, cells): scores of queries, the first ``labelled`` of them by people, too."""
    truth = np.clip(rng.normal(0.5, 0.2, (systems, 1)) + rng.normal(0, 0.25, (systems, queries)), 0, 1)
    judged = np.clip(truth + rng.normal(0.05, noise, truth.shape), 0, 1)
    human = truth.copy()
    human[:, labelled:] = np.nan
    return judged, human, np.where(np.isfinite(human), judged, np.nan), np.full(systems, 3 * labelled)


def small():
    human = np.pad(HUMAN, ((0, 0), (0, 4)), constant_values=np.nan)
    return JUDGED, human, np.where(np.isfinite(human), JUDGED, np.nan), np.array([6, 6])


@pytest.mark.parametrize("weight", PPI)
def test_the_estimate_at_a_weight_is_that_of_ppi_py(weight):
    found = correct_means(*small())
    judges = found.judged.estimate - JUDGED[:, :6].mean(axis=1)
    assert found.human.estimate + weight * judges == pytest.approx(PPI[weight], abs=1e-8)
    assert found.corrected.estimate == pytest.approx(found.human.estimate + found.weight * judges)


def test_contributions_are_the_derivatives_of_the_estimate_by_the_weight_of_each_query():
    judged, human, there, cells = table(np.random.default_rng(1))
    found = correct_means(judged, human, there, cells)

    def estimate(omega):
        some = omega[:12]
        people, those = ((x[:, :12] * some).sum(axis=1) / some.sum() for x in (human, there))
        return people + found.weight * ((judged * omega).sum(axis=1) / omega.sum() - those)

    step = 1e-6
    for query in (0, 11, 12, 39):
        moved = np.ones(40)
        moved[query] += step
        slope = (estimate(moved) - estimate(np.ones(40))) / step
        assert found.corrected.psi[query] == pytest.approx(slope, abs=1e-6)


def test_the_weight_makes_differences_between_systems_least_variable():
    judged, human, there, cells = table(np.random.default_rng(2))
    found = correct_means(judged, human, there, cells)

    def variance(weight):
        psi = found.human.psi + weight * ((found.corrected.psi - found.human.psi) / found.weight)
        return sum(((psi[:, i] - psi[:, k]) ** 2).sum() for i in range(6) for k in range(i))

    at = np.linspace(0, 1, 1001)
    assert 0.3 < found.weight < 1
    assert found.weight == pytest.approx(at[np.argmin([variance(w) for w in at])], abs=1e-3)


def test_judges_who_use_half_of_the_scale_count_no_more_than_once() -> None:
    judged, human, _, cells = table(np.random.default_rng(3), noise=0.01)
    judged = 0.25 + judged / 2
    found = correct_means(judged, human, np.where(np.isfinite(human), judged, np.nan), cells)
    assert found.weight == 1


def test_judges_who_say_the_opposite_have_no_weight_and_the_human_labels_are_all():
    judged, human, there, cells = table(np.random.default_rng(3))
    found = correct_means(1 - judged, human, 1 - there, cells)
    assert found.weight == 0
    assert found.corrected.estimate == pytest.approx(found.human.estimate)
    assert found.corrected.psi == pytest.approx(found.human.psi, abs=1e-12)


def test_where_people_label_every_query_alike_the_judges_change_nothing():
    judged, human, there, cells = table(np.random.default_rng(4), labelled=40)
    found = correct_means(judged, human, there, cells)
    assert found.corrected.estimate == pytest.approx(human.mean(axis=1))
    assert np.isnan(found.sample.p)
    assert not found.sample.doubtful


def test_a_system_with_few_queries_labelled_has_no_estimate_and_changes_none():
    judged, human, there, cells = table(np.random.default_rng(5))
    whole = correct_means(judged[1:], human[1:], there[1:], cells[1:])
    human[0, FEWEST - 1 :] = there[0, FEWEST - 1 :] = np.nan
    cells[0] = 3 * (FEWEST - 1)
    found = correct_means(judged, human, there, cells)
    assert np.isnan(found.corrected.estimate[0])
    assert found.labelled.tolist() == [0, *[12] * 5]
    assert found.corrected.estimate[1:] == pytest.approx(whole.corrected.estimate, rel=1e-12)
    assert found.weight == pytest.approx(whole.weight)
    assert correct_means(judged[:1], human[:1], there[:1], cells[:1]) is None


def test_people_and_judges_who_agree_on_every_labelled_cell_may_yet_differ_on_whole_queries():
    judged, human, there, _ = table(np.random.default_rng(6), labelled=5)
    found = correct_means(judged, there, there, np.full(6, 15))
    alone = (found.human.psi**2).sum(axis=0) * 5 / 4
    assert found.corrected.floor == pytest.approx(np.maximum(np.minimum(1 / 35, alone), 1 / 255))
    assert infer(found.corrected, np.random.default_rng(1)).se == pytest.approx(
        np.sqrt(found.corrected.floor)
    )
    assert correct_means(judged, human, there, np.full(6, 15)).corrected.floor == pytest.approx(1 / (15 * 17))


def test_failures_of_whole_queries_that_nobody_has_seen_are_within_the_interval():
    rng, held = np.random.default_rng(14), []
    for _ in range(200):
        human = np.repeat(rng.random(60) < 0.95, 1).astype(float)[None, :]  # judges pass all
        human[:, 10:] = np.nan
        judged = np.ones((1, 60))
        found = correct_means(judged, human, np.where(np.isfinite(human), 1.0, np.nan), np.array([50]))
        low, high = marginal_intervals(found.corrected, 0.95)
        held.append(low[0] <= 0.95 <= high[0])
    assert np.mean(held) > 0.95


def test_the_labelled_cells_are_doubted_where_judges_rate_them_otherwise():
    judged, _, _, _ = table(np.random.default_rng(7), queries=60)
    hard = judged.mean(axis=0) < np.quantile(judged.mean(axis=0), 0.3)
    human = np.where(hard, judged, np.nan)
    found = correct_means(judged, human, human, np.full(6, 3 * hard.sum()))
    assert found.sample.doubtful
    assert found.sample.shift == pytest.approx(judged[:, hard].mean() - judged.mean())


def test_of_random_samples_hardly_one_is_doubted():
    rng, p, skewed = np.random.default_rng(8), [], []
    for _ in range(300):
        judged, human, there, cells = table(rng, systems=3, queries=40, labelled=12)
        p.append(correct_means(judged, human, there, cells).sample.p)
        judged = (rng.random((3, 40)) < 0.97) * 1.0  # of which five queries are often all alike
        human = np.where(np.arange(40) < 5, judged, np.nan)
        skewed.append(correct_means(judged, human, human, np.full(3, 5)).sample.p)
    assert np.mean(np.array(p) < 0.1) <= 0.13
    assert np.mean(np.array(p) < 0.01) <= 0.015
    assert np.mean(np.array(skewed) < 0.01) <= 0.03


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_of_random_domains_hardly_one_is_doubted_and_of_easy_ones_most_are(share):
    """Queries of a domain are alike: as a sample of queries, 8 whole ones of 24 domains are doubted in .2 or more."""
    rng, random, easy = np.random.default_rng(9), [], []
    of = np.repeat(np.arange(24), 5)
    domains = Domains(of, np.ones(24, dtype=bool))
    for _ in range(150):
        level = rng.normal(size=24)
        judged = 1 / (1 + np.exp(-level[of] - 0.5 * rng.normal(size=(6, 120))))
        for drawn, found in ((rng.permutation(24)[:8], random), (np.argsort(-level)[:8], easy)):
            labelled = np.isin(of, drawn) & (rng.random(120) < share)
            human = np.where(labelled, judged, np.nan)
            cells = np.full(6, 3 * labelled.sum())
            found.append(correct_means(judged, human, human, cells, domains).sample.doubtful)
    assert np.mean(random) <= 0.03
    assert np.mean(easy) >= 0.9


def test_where_each_query_is_a_domain_the_sample_is_judged_as_one_of_queries():
    judged, human, there, cells = table(np.random.default_rng(3))
    alone = Domains(np.arange(40), np.ones(40, dtype=bool))
    one, other = (correct_means(judged, human, there, cells, of).sample for of in (None, alone))
    assert (one.shift, one.p) == (pytest.approx(other.shift), pytest.approx(other.p))


def test_a_system_whose_queries_are_the_easy_ones_is_doubted_where_the_mean_of_all_is_not():
    judged = np.tile(np.linspace(0, 1, 40), (4, 1)) + 0.05 * np.random.default_rng(15).normal(size=(4, 40))
    easy = np.arange(40) >= 20
    human = np.where(np.stack([easy, easy, ~easy, ~easy]), judged, np.nan)
    found = correct_means(judged, human, human, np.full(4, 20)).sample
    assert found.doubtful
    assert found.system is not None
    own = judged[found.system]
    assert found.shift == pytest.approx(np.nanmean(human[found.system]) - own.mean())


def test_judges_whose_labels_are_all_alike_show_nothing_of_the_sample():
    human = np.where(np.arange(40) < 10, np.random.default_rng(16).random((2, 40)), np.nan)
    found = correct_means(np.ones((2, 40)), human, np.where(np.isfinite(human), 1.0, np.nan), np.full(2, 30))
    assert np.isnan(found.sample.p)
    assert not found.sample.doubtful


def test_where_people_say_the_same_of_all_the_weight_is_zero_without_a_sign():
    judged, human, there, cells = table(np.random.default_rng(17))
    found = correct_means(judged, np.where(np.isfinite(human), 0.5, np.nan), there, cells)
    assert str(found.weight) == "0.0"


def test_labels_of_some_of_a_querys_cells_vary_within_it_and_that_is_no_doubt():
    there = np.where(np.arange(40) < 10, 0.5 + 0.2 * np.random.default_rng(18).normal(size=(1, 40)), np.nan)
    found = correct_means(np.full((1, 40), 0.5), there, there, np.array([10]))
    assert 0.01 < found.sample.p < 1


def test_half_widths_are_those_of_the_intervals_where_the_labels_are_as_many_as_now():
    judged, human, there, cells = table(np.random.default_rng(9))
    found = correct_means(judged, human, there, cells)
    both, alone = found.half_widths(np.array([12]), 0.95)
    for half, influence in ((both, found.corrected), (alone, found.human)):
        low, high = marginal_intervals(influence, 0.95)
        assert half[0] == pytest.approx(np.median((high - low) / 2))


def test_half_widths_foretell_those_after_more_human_labels():
    rng, told, true = np.random.default_rng(10), [], []
    for _ in range(60):
        judged, human, _, _ = table(rng, queries=80, labelled=80)
        some, more = (np.where(np.arange(80) < m, human, np.nan) for m in (20, 50))
        before, after = (
            correct_means(judged, people, np.where(np.isfinite(people), judged, np.nan), np.full(6, 60))
            for people in (some, more)
        )
        told.append(before.half_widths(np.array([50]), 0.95)[0][0])
        true.append(after.half_widths(np.array([50]), 0.95)[0][0])
    assert np.mean(told) == pytest.approx(np.mean(true), rel=0.06)


def test_half_widths_are_unknown_for_fewer_queries_than_an_estimate_takes_and_for_more_than_there_are():
    found = correct_means(*table(np.random.default_rng(11)))
    both, alone = found.half_widths(np.array([FEWEST - 1, FEWEST, 40, 41]), 0.95)
    for half in (both, alone):
        assert np.isnan(half).tolist() == [True, False, False, True]
        assert half[1] > half[2]


def test_queries_of_a_domain_are_one_unit_together():
    judged, human, there, cells = table(np.random.default_rng(12), labelled=16)
    domains = Domains(np.arange(40) % 8, np.ones(8, dtype=bool))
    by_query, by_domain = (correct_means(judged, human, there, cells, d) for d in (None, domains))
    assert by_domain.corrected.unit == "domain"
    assert by_domain.corrected.psi.shape == (8, 6)
    assert by_domain.corrected.n_units.max() <= 8
    assert by_domain.corrected.estimate.tolist() == by_query.corrected.estimate.tolist()
    assert by_domain.human.unit == "domain"
    assert by_domain.human.psi[3] == pytest.approx(by_query.human.psi[3::8].sum(axis=0))
    assert by_domain.corrected.psi[3] == pytest.approx(by_query.corrected.psi[3::8].sum(axis=0))


def test_systems_labelled_on_different_random_queries_keep_their_own_means():
    judged, human, _, cells = table(np.random.default_rng(13), labelled=40)
    human[:3, :20] = human[3:, 20:] = np.nan
    there = np.where(np.isfinite(human), judged, np.nan)
    found = correct_means(judged, human, there, cells)
    own = np.nanmean(human, axis=1) + found.weight * (judged.mean(axis=1) - np.nanmean(there, axis=1))
    assert found.human.estimate == pytest.approx(np.nanmean(human, axis=1))
    assert found.corrected.estimate == pytest.approx(own)
    assert infer(found.corrected, np.random.default_rng(1)).n_groups == 1


def test_systems_of_which_judges_saw_different_queries_are_compared_as_if_on_all_or_not_at_all():
    truth = np.tile(np.linspace(0.1, 0.9, 60), (4, 1))
    judged = truth.copy()
    judged[:2, 40:] = judged[2:, :20] = np.nan  # easy queries, and hard ones; 20 in common
    human = np.where(np.arange(60) % 2 == 0, judged, np.nan)
    found = correct_means(judged, human, human, np.full(4, 20))
    assert found.corrected.estimate == pytest.approx(found.corrected.estimate.mean(), abs=1e-2)
    opposite = correct_means(judged, human, 1 - human, np.full(4, 20))
    assert opposite.weight == 0
    assert np.abs(opposite.corrected.psi[1::2]).max() > 0  # of queries that only judges labelled
    judged[:2, 20:] = judged[2:, :40] = np.nan
    human = np.where(np.arange(60) % 2 == 0, judged, np.nan)
    apart = correct_means(judged, human, human, np.full(4, 10))
    assert infer(apart.corrected, np.random.default_rng(1)).n_groups == 2


@pytest.mark.parametrize(("p", "doubtful"), [(0.009, True), (0.011, False), (0.04, False)])
def test_a_sample_is_doubtful_where_chance_makes_its_like_once_in_a_hundred(p: float, doubtful: bool) -> None:
    assert Sample(None, 0.1, p).doubtful == doubtful
