"""The gate's statistics, the estimated prior, and the threshold that drops the lowest quarter."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchmarks.claims_validity import measurable, rates_held
from crubric_core.errors import SettingsError
from crubric_core.judges.beta_prior import estimate_prior
from crubric_core.judges.gate import (
    agreements_needed,
    decide_gate,
    gate_table,
    lowest_quarter,
    possible_values,
    shown_threshold,
)
from crubric_core.judges.integrated_prior import integrated_posterior
from crubric_core.judges.measurability import measurability_posterior
from crubric_core.judges.pair_kappa import pair_kappa, panel_pairs
from crubric_core.labels import Workspace
from crubric_core.settings import Settings
from tests import oracles

SHAPES = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))


def panels(levels):
    """Panels of 0..levels - 1 with holes."""
    values = st.sampled_from([float("nan"), *map(float, range(levels))])
    return SHAPES.flatmap(lambda shape: arrays(np.float64, shape, elements=values))


@settings(deadline=None)
@given(data=st.data(), n_levels=st.integers(2, 5), tolerance=st.integers(0, 2))
def test_pair_counts_and_kappa_are_those_of_a_loop_over_judge_pairs(data, n_levels, tolerance):
    panel = data.draw(panels(n_levels))
    levels = np.full(panel.shape[1], n_levels)
    found = panel_pairs(panel, levels, tolerance)
    kappa, discordance, chance, n_pairs = oracles.naive_pair_kappa(panel, levels)
    np.testing.assert_array_equal(found.n_pairs, n_pairs)
    np.testing.assert_allclose(found.discordance, discordance, atol=1e-12)
    np.testing.assert_allclose(np.nan_to_num(found.chance), chance, atol=1e-9)
    np.testing.assert_allclose(pair_kappa(found), kappa, atol=1e-9)
    np.testing.assert_allclose(found.agree_share, oracles.naive_agree_share(panel, tolerance), atol=1e-12)


@settings(deadline=None)
@given(panel=panels(2), order=st.randoms(use_true_random=False))
def test_kappa_ignores_the_order_of_judges_and_systems_and_which_label_is_called_a_pass(panel, order):
    levels = np.full(panel.shape[1], 2)
    kappa = pair_kappa(panel_pairs(panel, levels))
    systems, judges = (order.sample(range(n), n) for n in (panel.shape[0], panel.shape[2]))
    np.testing.assert_allclose(pair_kappa(panel_pairs(panel[systems][:, :, judges], levels)), kappa)
    np.testing.assert_allclose(pair_kappa(panel_pairs(1 - panel, levels)), kappa)
    assert np.all(np.isnan(kappa) | (kappa <= 1))


def simulated(n_judges, seed, systems=12, rubrics=300):
    """Judges with one error rate a rubric, and pass rates from rare to nearly always."""
    rng = np.random.default_rng(seed)
    passes, error = rng.uniform(0.1, 0.95, rubrics), rng.uniform(0.0, 0.45, rubrics)
    truth = rng.random((systems, rubrics)) < passes
    wrong = rng.random((systems, rubrics, n_judges)) < error[:, None]
    return np.where(wrong, ~truth[:, :, None], truth[:, :, None]).astype(float)


def test_kappa_means_the_same_for_any_number_of_judges_and_unanimity_does_not():
    levels = np.full(300, 2)
    kappa, unanimous = [], []
    for n_judges in (2, 3, 9):
        panel = simulated(n_judges, seed=4)
        pairs = panel_pairs(panel, levels)
        kappa.append(np.mean(pair_kappa(pairs)))
        unanimous.append((panel == panel[:, :, :1]).all(axis=2).mean())
    assert np.ptp(kappa) < 0.03
    assert unanimous[0] - unanimous[2] > 0.25


def test_a_rubric_that_nearly_all_pass_agrees_and_yet_says_nothing():
    """Coins that fall on pass 19 times in 20 agree nine times in ten; beyond chance, never."""
    rng = np.random.default_rng(0)
    easy = (rng.random((200, 1, 3)) < 0.95).astype(float)
    truth = rng.random((200, 1, 1)) < 0.5
    sharp = np.broadcast_to(truth, (200, 1, 3)).astype(float).copy()
    flips = rng.random(sharp.shape) < 0.1
    panel = np.concatenate([easy, np.where(flips, 1 - sharp, sharp)], axis=1)
    pairs = panel_pairs(panel, np.array([2, 2]))
    kappa, share = pair_kappa(pairs), pairs.agree_share / 200
    assert share[0] > share[1]
    assert kappa[0] < 0.15 < 0.5 < kappa[1]


def test_a_rubric_without_a_pair_has_the_kappa_of_all_together():
    panel = simulated(3, seed=1, rubrics=5)
    panel[:, 0, 1:] = np.nan
    pairs = panel_pairs(panel, np.full(5, 2))
    assert pair_kappa(pairs)[0] == pytest.approx(1 - pairs.discordance.sum() / pairs.chance[1:].sum())


@pytest.mark.parametrize("panel", [np.ones((3, 2, 2)), np.full((3, 2, 1), 1.0), np.full((3, 2, 2), np.nan)])
def test_kappa_is_unknown_where_nothing_could_disagree(panel):
    assert np.isnan(pair_kappa(panel_pairs(panel, np.array([2, 2])))).all()


# --- the estimated prior ---------------------------------------------------------------------------------------------

DESIGNS = [  # (a, b) of the true rates, instances, rubrics
    (8, 2, 15, 400), (4, 1, 15, 400), (2, 2, 15, 400), (20, 20, 15, 400),
    (30, 6, 15, 400), (1, 1, 15, 400), (8, 2, 6, 400), (40, 8, 14, 400),
]  # fmt: skip


def stated_and_true(*design, flat=False):
    """Mean Pr(q >= .8) of 20 tables where it is stated above one half and below, and how often it is true."""
    stated, true = measurable(design, 20, flat=flat)
    halves = [half for half in (stated >= 0.5, stated < 0.5) if half.sum() >= 200]
    return np.array([(stated[half].mean(), true[half].mean()) for half in halves])


@pytest.mark.parametrize("design", DESIGNS)
def test_the_estimated_prior_states_what_is_true_within_6_hundredths(design):
    stated, true = stated_and_true(*design).T
    assert np.abs(stated - true).max() < 0.06


@pytest.mark.parametrize(
    ("design", "tables", "at_the_fit_alone"),
    [
        ((40, 8, 14, 150), 20, 0.86),
        ((40, 8, 6, 60), 50, 0.92),
        ((40, 8, 15, 20), 50, 0.88),
        ((8, 2, 15, 20), 50, 0.85),
    ],
)
def test_intervals_of_few_rubrics_allow_for_the_fit_of_their_prior(design, tables, at_the_fit_alone):
    assert rates_held(design, tables, flat=False) > max(0.9, at_the_fit_alone + 0.02)


@pytest.mark.parametrize("lowest", [0, 9, 12])
def test_probabilities_of_rates_integrate_their_prior(lowest):
    """From 9 of 12 on a + b has no end; with 12 of 12 the fitted prior alone says q = 1, without any doubt."""
    agree = np.random.default_rng(1).integers(lowest, 13, 12).astype(float)
    total = np.full(12, 12.0)
    prior = estimate_prior(agree, total)
    found = integrated_posterior(prior, agree, total)
    low, high = found.interval(0.9)
    np.testing.assert_allclose(oracles.dense_rate_below(agree, total, low), 0.05, atol=4e-3)
    at_high = np.where(high > 1 - 1e-12, 0.95, oracles.dense_rate_below(agree, total, high))
    np.testing.assert_allclose(at_high, 0.95, atol=4e-3)
    for tau in (0.5, 0.8, 0.99):
        above = 1 - oracles.dense_rate_below(agree, total, np.full(12, tau))
        np.testing.assert_allclose(found.p_above(tau), above, atol=4e-3)
    shrunk = (prior.alpha + agree) / (prior.alpha + prior.beta + total)
    np.testing.assert_allclose(found.mean, shrunk, rtol=1e-12)


def test_judges_who_agree_everywhere_leave_a_doubt():
    agree = total = np.full(50, 15.0)
    low, high = integrated_posterior(estimate_prior(agree, total), agree, total).interval()
    assert 0.99 < low[0] < 0.998
    assert high[0] > 0.9999


def test_of_many_rubrics_the_fit_adds_nothing():
    rng = np.random.default_rng(4)
    total = rng.integers(0, 20, 20_000).astype(float)
    agree = rng.binomial(total.astype(int), rng.beta(6, 2, 20_000)).astype(float)
    prior = estimate_prior(agree, total)
    alone = measurability_posterior(agree, total, prior.alpha, prior.beta)
    found = integrated_posterior(prior, agree, total)
    np.testing.assert_allclose(found.sd, alone.sd, rtol=2e-3)
    np.testing.assert_allclose(found.interval(), alone.interval(), atol=1e-3)


def test_a_flat_prior_is_far_too_sure_where_rates_are_alike_and_low():
    """The paper's Beta(1, 1): the failure that the estimated prior mends."""
    (stated, true), *_ = stated_and_true(40, 13, 15, 400, flat=True)
    assert stated - true > 0.25


def test_the_fit_finds_the_rates_it_was_drawn_from():
    rng = np.random.default_rng(3)
    q = rng.beta(6, 2, 20_000)
    prior = estimate_prior(rng.binomial(20, q).astype(float), np.full(20_000, 20.0))
    assert (prior.alpha, prior.beta) == (pytest.approx(6, rel=0.06), pytest.approx(2, rel=0.06))


@pytest.mark.parametrize(
    ("agree", "total"),
    [
        (np.full(50, 15), np.full(50, 15)),
        (np.zeros(50), np.full(50, 15)),
        (np.full(50, 7), np.full(50, 14)),
        (np.tile([0, 15], 25), np.full(50, 15)),
        (np.arange(50) % 2, np.arange(50) % 2),
    ],
)
def test_the_prior_is_proper_and_between_the_data_at_the_edges(agree, total):
    agree, total = agree.astype(float), total.astype(float)
    prior = estimate_prior(agree, total)
    assert prior.estimated
    assert 0 < prior.alpha < np.inf
    assert 0 < prior.beta < np.inf
    mean = prior.alpha / (prior.alpha + prior.beta)
    assert abs(mean - agree.sum() / total.sum()) < 0.05
    found = integrated_posterior(prior, agree, total)
    low, high = found.interval()
    assert ((low >= 0) & (low < high) & (high <= 1) & (found.sd > 0)).all()


def test_few_rubrics_leave_the_prior_flat():
    prior = estimate_prior(np.full(9, 3.0), np.full(9, 4))
    assert (prior.alpha, prior.beta, prior.estimated) == (1, 1, False)


@settings(deadline=None, max_examples=50)
@given(
    counts=st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda c: (min(c), max(c))),
        min_size=10,
        max_size=30,
    )
)
def test_any_counts_have_a_proper_prior(counts):
    agree, total = np.array(counts, dtype=float).T
    prior = estimate_prior(agree, total.astype(int))
    assert 0 < prior.alpha < np.inf
    assert 0 < prior.beta < np.inf
    if total.sum() and (total > 0).sum() >= 10:
        mean, edge = prior.alpha / (prior.alpha + prior.beta), 0.5 / (total.sum() + 1)
        assert edge * (1 - 1e-6) <= mean <= 1 - edge * (1 - 1e-6)
        low, high = integrated_posterior(prior, agree, total).interval()
        assert ((low >= 0) & (low < high) & (high <= 1)).all()


# --- the decision ----------------------------------------------------------------------------------------------------


def reduced(panel, **how):
    """The reduction of a panel (M, J, K) of given labels by way of the database."""
    frame = pd.DataFrame(
        [
            (f"s{i:02}", f"q{j % 3}", f"r{j:03}", f"j{k}", panel[i, j, k])
            for i, j, k in np.ndindex(panel.shape)
            if not np.isnan(panel[i, j, k])
        ],
        columns=["system", "query", "rubric", "judge", "label"],
    )
    with Workspace() as workspace:
        workspace.ingest(frame.to_csv(index=False).encode(), "d")
        return workspace.dataset("d").reduce(**how)


@pytest.fixture(scope="module")
def graded():
    """14 systems, 40 rubrics on levels 1..5, three judges of whom some labels are missing."""
    rng = np.random.default_rng(5)
    truth = rng.integers(1, 6, (14, 40, 1))
    panel = np.clip(truth + rng.integers(-1, 2, (14, 40, 3)), 1, 5).astype(float)
    panel[rng.random(panel.shape) < 0.1] = np.nan
    panel[0, 0], panel[1, 0] = 1, 5  # the scale's ends occur
    return panel


@pytest.mark.parametrize("response", ["binary", "ordered"])
@pytest.mark.parametrize("tolerance", [0, 1])
def test_the_database_counts_pairs_as_the_loop_does(graded, response, tolerance):
    found = reduced(graded, response=response, agreement_tolerance=tolerance)
    levels, tolerance = (np.full(40, 5), tolerance) if response == "ordered" else (np.full(40, 2), 0)
    panel = graded - 1 if response == "ordered" else np.where(np.isnan(graded), np.nan, graded >= 3)
    position = [int(name[1:]) for name in found.rubrics["rubric"]]
    kappa, discordance, chance, n_pairs = oracles.naive_pair_kappa(panel[:, position], levels)
    np.testing.assert_array_equal(found.pairs.n_pairs, n_pairs)
    np.testing.assert_allclose(found.pairs.discordance, discordance, rtol=1e-12)
    np.testing.assert_allclose(found.pairs.chance, chance, rtol=1e-9)
    np.testing.assert_allclose(pair_kappa(found.pairs), kappa, rtol=1e-9)
    shares = oracles.naive_agree_share(panel[:, position], tolerance)
    np.testing.assert_allclose(found.pairs.agree_share, shares, rtol=1e-12)


def test_without_tau_c_the_lowest_quarter_goes_and_the_threshold_is_told(graded):
    gate = decide_gate(reduced(graded), Settings())
    assert gate.statistic == "kappa"
    assert not gate.given
    assert (~gate.feasible).sum() == 10
    assert gate.values[~gate.feasible].max() < gate.threshold == gate.values[gate.feasible].min()
    assert decide_gate(reduced(graded), Settings(gate="kappa", tau_c=gate.threshold)).feasible.tolist() == (
        gate.feasible.tolist()
    )


def test_a_threshold_is_shown_as_it_was_given(graded):
    def shown(tau_c):
        return shown_threshold(decide_gate(reduced(graded), Settings(tau_c=tau_c)))

    assert [shown(t) for t in (0.5, 0.95, 0.955, 0.66667)] == ["0.50", "0.95", "0.955", "0.6667"]
    assert shown(None) == f"{decide_gate(reduced(graded), Settings()).threshold:.3f}"


def test_without_tau_c_no_rubric_is_dropped_that_no_two_judges_labelled():
    """A second judge of one cell in twenty-four: most rubrics have the mean of all."""
    rng = np.random.default_rng(0)
    panel = np.repeat(rng.integers(0, 2, (8, 60, 1)).astype(float), 2, axis=2)
    panel[:, 20:, 1] = panel[1:, :20, 1] = np.nan
    panel[0, :3, 1] = 1 - panel[0, :3, 1]
    found = reduced(panel)
    for statistic in ("kappa", "agreement"):
        gate = decide_gate(found, Settings(gate=statistic))
        measured = gate.n_total > 0
        assert gate.feasible[~measured].all()
        assert 0 < (~gate.feasible).sum() <= measured.sum() // 4
        assert gate.threshold == gate.values[~measured][0] < lowest_quarter(gate.values[measured])


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30))
def test_at_most_a_quarter_is_below_the_threshold_of_the_lowest_quarter(values):
    threshold = lowest_quarter(np.array([*values, np.nan]))
    below = sum(value < threshold for value in values)
    assert below <= len(values) // 4
    assert threshold in values


def test_the_gate_of_the_paper_is_a_mean_agreement_under_a_flat_prior(graded):
    found = reduced(graded)
    gate = decide_gate(found, Settings(tau_c=0.7))
    np.testing.assert_allclose(gate.values, (1 + found.n_agree) / (2 + found.n_total))
    np.testing.assert_array_equal(gate.feasible, gate.values >= 0.7)


def test_pairwise_agreement_counts_shares_and_is_never_below_unanimity(graded):
    found = reduced(graded)
    unanimous = decide_gate(found, Settings(tau_c=0.7, agreement="unanimous"))
    pairwise = decide_gate(found, Settings(tau_c=0.7, agreement="pairwise"))
    assert (pairwise.n_agree >= unanimous.n_agree - 1e-12).all()
    assert (pairwise.n_agree > unanimous.n_agree).any()
    assert (pairwise.n_agree <= found.n_total).all()
    assert possible_values(pairwise) is None


def test_shares_count_for_as_many_instances_as_their_spread_says(graded):
    """Shares of agreeing pairs vary less than all or nothing; whole agreements vary as the binomial does."""
    found = reduced(graded)
    pairwise = decide_gate(found, Settings(gate="agreement", agreement="pairwise"))
    assert pairwise.weight == pytest.approx(oracles.naive_share_weight(graded >= 3, np.isnan(graded)))
    assert pairwise.weight > 1
    two = decide_gate(reduced(graded[:, :, :2]), Settings(gate="agreement", agreement="pairwise"))
    assert two.weight == pytest.approx(1)
    assert decide_gate(found, Settings(gate="agreement")).weight == 1
    fixed = decide_gate(found, Settings(tau_c=0.7, agreement="pairwise"))
    np.testing.assert_allclose(fixed.values, (1 + fixed.n_agree) / (2 + found.n_total))


def test_a_threshold_is_told_in_counts(graded):
    gate = decide_gate(reduced(graded), Settings(tau_c=0.8))
    needed = agreements_needed(gate, 15)
    assert needed == 13  # (1 + 13) / 17 = .82, (1 + 12) / 17 = .76
    assert agreements_needed(gate, 1) is None  # 2 of 3 is below .8, whatever the judges do
    assert agreements_needed(decide_gate(reduced(graded), Settings()), 15) is None


@pytest.mark.parametrize("chosen", [Settings(), Settings(tau_c=0.7), Settings(gate="agreement")])
def test_the_table_holds_both_statistics_whatever_the_gate_reads(graded, chosen):
    found = reduced(graded)
    gate = decide_gate(found, chosen)
    table = gate_table(found, gate)
    np.testing.assert_allclose(table["kappa"], pair_kappa(found.pairs))
    np.testing.assert_allclose(table["q_mean"], gate.posterior.mean)
    assert table["feasible"].tolist() == gate.feasible.tolist()
    assert table["p_above_tau"].isna().all() == (gate.statistic == "kappa")
    assert table["discordance"].between(0, 1).all()
    assert table["chance"].between(0, 0.5).all()


def test_one_judge_turns_either_gate_off(graded):
    alone = reduced(graded[:, :, :1])
    for chosen in (Settings(), Settings(tau_c=0.9), Settings(gate="agreement")):
        gate = decide_gate(alone, chosen)
        assert gate.off
        assert gate.feasible.all()
        assert np.isnan(gate.threshold)


def test_a_threshold_below_zero_is_one_of_kappa_alone():
    assert Settings(gate="kappa", tau_c=-0.2).tau_c == -0.2
    with pytest.raises(SettingsError, match=r"tau_c = -0\.2 is out of range"):
        Settings(gate="agreement", tau_c=-0.2)
