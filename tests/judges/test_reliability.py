"""Judges are recovered from what they say: rates, leniency, validity of rubrics, shared errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit

from benchmarks.claims_lopsided import lopsided_judges
from benchmarks.claims_panels import equal_judges
from crubric_core.judges.anchors import valid_rubrics
from crubric_core.judges.consensus import majority
from crubric_core.judges.independence import residual_correlation
from crubric_core.judges.rates import JudgeRates, Rate, judge_rates
from crubric_core.judges.reliability import judge_reliability, leniency, query_clusters
from crubric_core.judges.votes import (
    leave_one_out_majority,
    validity_log_odds,
    validity_votes,
    votes_note,
)
from tests import oracles
from tests.tiers import examples

SENSITIVITY = np.array([0.95, 0.70, 0.97, 0.90, 0.90])  # good, careless, lenient, and two who share errors
SPECIFICITY = np.array([0.93, 0.70, 0.60, 0.88, 0.88])
SHARED = (3, 4)


def panel_of_five(seed, systems=15, rubrics=300, share=0.0):
    rng = np.random.default_rng(seed)
    truth, votes = oracles.simulate_judges(
        systems * rubrics, SENSITIVITY, SPECIFICITY, 0.55, rng, shared=SHARED, share=share
    )
    return truth.reshape(systems, rubrics), votes.reshape(systems, rubrics, 5)


def random_panel(seed, judges, missing=0.3):
    rng = np.random.default_rng(seed)
    panel = (rng.random((6, 8, judges)) < 0.8).astype(float)
    panel[rng.random(panel.shape) < missing] = np.nan
    return panel


def rates(sensitivity, specificity, prevalence=0.5):
    known = [Rate(np.array(v), np.array(v), np.array(v)) for v in (sensitivity, specificity)]
    return JudgeRates(known[0], known[1], prevalence, 0, "anchors", True)


@settings(max_examples=examples(50))
@given(st.integers(0, 10_000), st.integers(1, 5))
def test_validity_votes_are_those_of_the_definition(seed, judges):
    panel = random_panel(seed, judges)
    np.testing.assert_array_equal(validity_votes(panel), oracles.naive_validity_votes(panel))


@settings(max_examples=examples(30))
@given(st.integers(0, 10_000), st.integers(2, 5))
def test_leaving_one_out_is_the_majority_of_the_others(seed, judges):
    panel = random_panel(seed, judges)
    rest = [majority(np.delete(panel, k, axis=2)) for k in range(judges)]
    np.testing.assert_array_equal(leave_one_out_majority(panel), np.stack(rest, axis=2))


def test_the_log_odds_are_bayes_rule_written_out():
    sensitivity, specificity, prior = np.array([0.9, 0.7]), np.array([0.8, 0.6]), 0.3
    found = validity_log_odds(
        np.array([[1.0, 0.0], [np.nan, 1.0], [np.nan, np.nan]]), rates(sensitivity, specificity, prior)
    )
    both = prior * 0.9 * 0.3, 0.7 * 0.2 * 0.6
    one = prior * 0.7, 0.7 * 0.4
    np.testing.assert_allclose(
        found, [np.log(both[0] / both[1]), np.log(one[0] / one[1]), logit(prior)], atol=1e-12
    )


def test_a_coin_has_no_weight_and_moves_no_verdict():
    coin = rates([0.5, 0.9], [0.5, 0.9])
    assert coin.weight[0] == pytest.approx(0)
    with_coin, without = validity_log_odds(np.array([[1.0, 1.0], [np.nan, 1.0]]), coin)
    assert with_coin == pytest.approx(without)


def test_rates_from_anchors_are_smoothed_shares():
    """Beta(2, 1): 18 of 20 right gives 20/23."""
    votes = np.concatenate([np.repeat([1.0, 0.0], [18, 2]), np.repeat([0.0, 1.0], [15, 5])])[:, None]
    found = judge_rates(votes, np.repeat([1.0, 0.0], 20))
    assert found.source == "anchors"
    assert found.sensitivity.value[0] == pytest.approx(20 / 23)
    assert found.specificity.value[0] == pytest.approx(17 / 23)
    assert found.prevalence == 0.5
    assert found.n_anchors == 40


@pytest.mark.parametrize("anchored", [False, True])
def test_sensitivity_and_specificity_are_recovered_within_their_intervals(anchored):
    inside, n = 0, 12
    for seed in range(n):
        truth, panel = panel_of_five(seed, rubrics=120)
        anchors = np.where(np.random.default_rng([seed, 1]).random(truth.shape) < 0.05, truth, np.nan)
        found = judge_rates(panel.reshape(-1, 5), anchors.reshape(-1) if anchored else None)
        assert found.source == ("anchors" if anchored else "dawid_skene")
        for rate, true in ((found.sensitivity, SENSITIVITY), (found.specificity, SPECIFICITY)):
            inside += ((rate.low <= true) & (true <= rate.high)).sum()
            np.testing.assert_allclose(rate.value, true, atol=0.25 if anchored else 0.05)
    assert inside / (n * 10) >= 0.88


def test_anchors_tell_the_rates_of_judges_who_share_errors_where_votes_alone_do_not():
    truth, panel = panel_of_five(1, rubrics=600, share=0.9)
    votes = panel[:, :, [1, 3, 4]].reshape(-1, 3)
    true = SENSITIVITY[[1, 3, 4]]
    alone = judge_rates(votes)
    anchors = np.where(np.random.default_rng(0).random(truth.shape) < 0.05, truth, np.nan).reshape(-1)
    helped = judge_rates(votes, anchors)
    assert alone.sensitivity.low[1] > true[1], "two who agree always look infallible"
    assert np.all((helped.sensitivity.low <= true) & (true <= helped.sensitivity.high))


def test_few_anchors_are_clamped_into_the_em():
    truth, panel = panel_of_five(2, rubrics=40)
    anchors = np.full(truth.size, np.nan)
    anchors[:6] = truth.reshape(-1)[:6]
    found = judge_rates(panel.reshape(-1, 5), anchors)
    assert found.source == "dawid_skene"
    assert found.n_anchors == 6


def test_a_judge_without_votes_has_no_rates():
    _, panel = panel_of_five(3, rubrics=20)
    panel[:, :, 1] = np.nan
    found = judge_rates(panel.reshape(-1, 5))
    assert np.isnan(found.sensitivity.value[1])
    assert np.isfinite(np.delete(found.sensitivity.value, 1)).all()


def independent_votes(seed, right, systems=12, queries=30):
    """Votes (U, K) of judges with a share ``right`` (K,) of right ones, the query of each unit, and the truth (U,)."""
    rng = np.random.default_rng([seed, 5])
    truth = rng.random((systems, queries * 5)) < rng.beta(2, 2, queries * 5)
    votes = np.where(rng.random((*truth.shape, len(right))) < right, truth[:, :, None], ~truth[:, :, None])
    query = np.tile(np.repeat(np.arange(queries), 5), systems)
    return votes.reshape(-1, len(right)).astype(float), query, truth.reshape(-1).astype(float)


@pytest.mark.parametrize("anchors", [0, 9])
@pytest.mark.parametrize("right", [(0.92, 0.92, 0.5), (0.92, 0.92), (0.92, 0.7, 0.5)])
def test_rates_that_votes_do_not_fix_are_unknown(right, anchors):
    """Two judges who can tell, with or without one who guesses, and few human labels: many rates fit alike."""
    for seed in range(3):
        votes, query, truth = independent_votes(seed, right)
        gold = np.full(len(truth), np.nan)
        for label in (0, 1):
            gold[np.flatnonzero(truth == label)[:anchors]] = label
        found = judge_rates(votes, gold, query)
        assert found.source == "none"
        assert found.n_anchors == 2 * anchors
        assert np.isnan([found.sensitivity.value, found.specificity.low, found.sensitivity.high]).all()


@pytest.mark.parametrize("right", [(0.92, 0.92, 0.65), (0.92, 0.92, 0.92, 0.5, 0.5)])
def test_rates_that_three_judges_who_can_tell_fix_hold(right):
    inside = []
    for seed in range(20):
        votes, query, _ = independent_votes(seed, right)
        found = judge_rates(votes, None, query)
        assert found.source == "dawid_skene"
        inside += [
            (rate.low <= right) & (right <= rate.high) for rate in (found.sensitivity, found.specificity)
        ]
    assert np.mean(inside) >= 0.9


def test_leniency_is_recovered_within_its_interval_and_sums_to_nothing():
    passing = 0.55 * SENSITIVITY + 0.45 * (1 - SPECIFICITY)
    inside = 0
    for seed in range(20):
        found = leniency(panel_of_five(seed, rubrics=150)[1])
        assert found.value.sum() == pytest.approx(0, abs=1e-12)
        inside += ((found.low <= passing - passing.mean()) & (passing - passing.mean() <= found.high)).sum()
    assert 0.97 <= inside / 100 <= 1, "at once for all judges"
    assert found.value.argmax() == 2


@pytest.mark.parametrize("judges", [3, 5, 9])
def test_of_equal_judges_none_is_called_the_worst_and_none_lenient(judges):
    """Judges drawn from one law, each with its own mood on each query: at most 5% of tables show a difference."""
    n, worst, lenient = 60, 0, 0
    for seed in range(n):
        truth, panel, query = equal_judges(seed, judges, 12, 10, wander=0.5, shared=0)
        units = np.tile(query, len(truth))
        votes, gold = panel.reshape(-1, judges), truth.reshape(-1)
        worst += judge_rates(votes, None, units).worst is not None
        worst += judge_rates(votes, gold, units).worst is not None
        found = leniency(panel, query)
        lenient += ((found.low > 0) | (found.high < 0)).any()
    assert worst / (2 * n) <= 0.05
    assert lenient / n <= 0.1


def test_of_equal_judges_who_err_seldom_none_is_called_lenient_or_strict():
    """Who errs nowhere among them has no spread between queries, and was called lenient in a third of these tables."""
    rng, shown, query = np.random.default_rng(1), 0, np.arange(20)
    for _ in range(100):
        truth = rng.random((5, 20, 1)) < 0.95
        found = leniency((truth != (rng.random((5, 20, 9)) < 0.03)).astype(float), query)
        shown += ((found.low > 0) | (found.high < 0)).any()
    assert shown <= 3


def test_a_judge_who_passes_what_others_fail_is_called_lenient_though_errors_are_rare():
    rng = np.random.default_rng(2)
    truth = rng.random((5, 80, 1)) < 0.8
    panel = (truth != (rng.random((5, 80, 9)) < 0.02)).astype(float)
    panel[:, :, 0] = np.where(truth[:, :, 0], 1, rng.random((5, 80)) < 0.4)
    found = leniency(panel, np.repeat(np.arange(40), 2))
    assert np.flatnonzero(found.low > 0).tolist() == [0]


def test_rates_of_judges_whose_errors_come_in_queries_hold():
    inside = []
    law = expit(logit(0.88) + 0.5 * np.random.default_rng(0).standard_normal(100_000)).mean()
    for seed in range(30):
        truth, panel, query = equal_judges(seed, 5, 12, 10, wander=0.5, shared=0)
        for gold in (None, truth.reshape(-1)):
            found = judge_rates(panel.reshape(-1, 5), gold, np.tile(query, len(truth)))
            rates_found = (found.sensitivity, found.specificity)
            inside += [(rate.low <= law) & (law <= rate.high) for rate in rates_found]
    assert np.mean(inside) >= 0.92


def test_few_queries_with_most_rubrics_do_not_make_intervals_of_judges_too_narrow():
    """As many queries of equal size as they are worth count: 5, not 33. Else rates hold in .89, 15% show somebody."""
    sizes, shown, held = np.repeat([40, 2], [3, 30]), 0, []
    law = expit(2.2 + 0.7 * np.random.default_rng(9).standard_normal(100_000)).mean()
    for seed in range(80):
        truth, panel, query = lopsided_judges(seed, sizes, 0.7)
        found = leniency(panel, query)
        shown += ((found.low > 0) | (found.high < 0)).any()
        rates = judge_rates(panel.reshape(-1, 3), truth.reshape(-1), np.tile(query, len(truth)))
        held += [(r.low <= law) & (law <= r.high) for r in (rates.sensitivity, rates.specificity)]
    assert shown / 80 <= 0.06
    assert np.mean(held) >= 0.925


@pytest.mark.parametrize("judges", [2, 3])
def test_rates_have_no_interval_where_all_human_labels_are_of_one_query(judges):
    """What a judge gets right on one query shows nothing of others: no interval, not that of independent cells."""
    truth, panel = panel_of_five(0, rubrics=60)
    query, panel = np.repeat(np.arange(10), 6), panel[:, :, :judges]
    gold = np.where(query == 3, truth, np.nan)
    found = judge_rates(panel.reshape(-1, judges), gold.reshape(-1), np.tile(query, len(truth)))
    assert found.source == "anchors"
    for rate in (found.sensitivity, found.specificity):
        assert np.isfinite(rate.value).all()
        assert np.isnan([rate.low, rate.high]).all()
    assert found.worst is None


def test_a_judge_who_errs_more_is_called_the_worst():
    for gold in (True, False):
        truth, panel = panel_of_five(0, rubrics=60)
        found = judge_rates(
            panel.reshape(-1, 5), truth.reshape(-1) if gold else None, np.tile(np.arange(60), 15)
        )
        assert found.worst == 1


@pytest.mark.parametrize("gold", [False, True])
@pytest.mark.parametrize("judges", [3, 4])
def test_a_judge_who_is_asked_about_what_is_hard_to_judge_is_called_the_worst_only_if_others_err_less_there(
    judges, gold
):
    """Half of the queries are hard, and the last judge labels these alone: of two judges common cells count."""
    query, named = np.repeat(np.arange(40), 5), []
    hard = query % 2 == 0
    for seed, more in ((0, 0.0), (1, 0.0), (2, 0.0), (3, 0.15)):
        rng = np.random.default_rng([61, seed])
        truth = rng.random((12, 200)) < rng.beta(1, 1, 200)
        error = np.where(hard, 0.2, 0.03)[:, None] + more * (np.arange(judges) == judges - 1)
        panel = (truth[..., None] ^ (rng.random((12, 200, judges)) < error)).astype(float)
        panel[:, ~hard, -1] = np.nan
        anchors = truth.astype(float).reshape(-1) if gold else None
        named.append(judge_rates(panel.reshape(-1, judges), anchors, np.tile(query, 12)).worst)
    assert named == [None, None, None, judges - 1]


def test_a_judge_without_an_error_is_not_known_to_be_infallible():
    """Right on all cells of four queries: nothing shows how errors come in queries, so each is one trial."""
    truth = np.repeat([1.0, 0.0], 20)
    found = judge_rates(truth[:, None], truth, np.tile(np.arange(4), 10))
    assert found.sensitivity.low[0] == pytest.approx(0.025 ** (1 / 4))
    assert found.sensitivity.high[0] == 1


@pytest.mark.parametrize("whole", [False, True])
def test_rates_of_judges_who_err_seldom_hold(whole):
    """Errors of single cells, or of whole answers. Beta(2, 1) and a jackknife of the logit held .91 and .85."""
    inside, query = [], np.repeat(np.arange(40), 2)
    for seed in range(40):
        rng = np.random.default_rng([seed, 9])
        truth = rng.random((5, 80, 1)) < 0.95
        errors = rng.random((5, 40 if whole else 80, 9)) < 0.01
        votes = truth != (errors[:, query] if whole else errors)
        found = judge_rates(
            votes.reshape(-1, 9).astype(float), truth.reshape(-1).astype(float), np.tile(query, 5)
        )
        rates_found = (found.sensitivity, found.specificity)
        inside += [(rate.low <= 0.99) & (rate.high >= 0.99) for rate in rates_found]
    assert np.mean(inside) >= 0.94


def test_a_judge_with_one_class_of_human_labels_alone_has_no_known_rate_of_the_other():
    """Its own labels are of passes only: any specificity is possible."""
    truth = np.repeat([1.0, 0.0], 20)
    votes = np.column_stack([truth, np.where(truth == 1, truth, np.nan)])
    found = judge_rates(votes, truth, np.tile(np.arange(4), 10))
    assert (found.specificity.low[1], found.specificity.high[1]) == (0, 1)


def test_one_query_falls_back_on_its_rubrics():
    frame = pd.DataFrame({"rubric": ["a", "b", "c"], "query": ["q", "q", "q"]})
    np.testing.assert_array_equal(query_clusters(frame), [0, 1, 2])
    np.testing.assert_array_equal(query_clusters(frame.assign(query=["q", "p", "q"])), [1, 0, 1])


def test_no_end_of_a_leniency_is_beyond_what_a_difference_of_pass_rates_can_be():
    """A query of 100 rubrics and one of 1 are worth 1.02, whose Student's t is in the order of 10^63."""
    panel = (np.random.default_rng(1).random((5, 101, 3)) < 0.7).astype(float)
    found = leniency(panel, np.r_[np.zeros(100, dtype=int), 1])
    assert found.low.tolist() == [-1, -1, -1]
    assert found.high.tolist() == [1, 1, 1]


def test_leniency_needs_another_judge_on_the_same_cell():
    panel = np.array([[[1.0, np.nan], [np.nan, 0.0]]])
    assert np.isnan(leniency(panel).value).all()


@pytest.mark.parametrize("anchored", [False, True])
def test_the_two_who_share_errors_are_flagged_and_nobody_else(anchored):
    truth, panel = panel_of_five(4, share=0.6)
    found = residual_correlation(panel, truth if anchored else None)
    assert found.reference == ("anchors" if anchored else "leave_one_out")
    pairs = {(int(k), int(m)) for k, m in np.argwhere(found.flagged)}
    assert pairs == {SHARED, SHARED[::-1]}
    if anchored:
        assert found.correlation[SHARED] == pytest.approx(0.6, abs=0.05)


def test_independent_judges_with_unequal_errors_are_not_correlated():
    truth, panel = panel_of_five(5, rubrics=800)
    found = residual_correlation(panel, truth)
    off = ~np.eye(5, dtype=bool)
    assert np.abs(found.correlation[off]).max() < 0.05
    assert not found.flagged.any()


def test_a_majority_that_errs_makes_no_one_guilty():
    """Measured against a fallible majority, right judges seem to err together; independent ones would as well."""
    found = residual_correlation(panel_of_five(4)[1])
    assert np.nanmax(found.correlation) > 0.15
    assert np.nanmax(np.abs(found.correlation - found.expected)) < 0.1
    assert not found.flagged.any()


def test_three_judges_without_anchors_cannot_be_told_apart():
    found = residual_correlation(panel_of_five(6, share=0.9)[1][:, :, 2:])
    assert found.reference == "none"
    assert np.isnan(found.correlation).all()
    assert not found.flagged.any()


def test_the_report_holds_every_judge_and_tells_valid_rubrics_from_the_others():
    rng = np.random.default_rng(7)
    valid = rng.random(200) < 0.5
    right = np.where(valid[:, None], [0.995, 0.97, 0.99], [0.75, 0.7, 0.75])
    truth = (rng.random((6, 200)) < 0.5).astype(float)
    panel = np.where(rng.random((6, 200, 3)) < right, truth[:, :, None], 1 - truth[:, :, None])
    rubrics = pd.DataFrame({"rubric": [f"r{j:03d}" for j in range(200)], "query": "q"})
    found = judge_reliability(panel, ["good", "careless", "fair"], rubrics, gold=truth)
    assert list(found.judges["judge"]) == ["good", "careless", "fair"]
    assert found.judges["weight"].idxmin() == 1
    assert found.judges["weight_share"].sum() == pytest.approx(1)
    assert (found.label_rates.source, found.vote_rates.source) == ("anchors", "dawid_skene")
    assert list(found.validity["rubric"]) == list(rubrics["rubric"])
    assert ((found.validity["p_valid"] > 0.5) == valid).mean() > 0.9
    assert (found.judges["s_plus_low"] <= found.judges["s_plus"]).all()


@pytest.mark.parametrize("n_judges", [1, 2])
def test_one_or_two_judges_without_anchors_have_no_rates_and_rubrics_no_odds(n_judges):
    _, panel = panel_of_five(8, rubrics=30)
    rubrics = pd.DataFrame({"rubric": [f"r{j}" for j in range(30)], "query": "q"})
    found = judge_reliability(panel[:, :, :n_judges], ["a", "b"][:n_judges], rubrics)
    assert found.label_rates.source == found.vote_rates.source == "none"
    unknown = ["sensitivity", "specificity", "s_plus", "s_minus", "weight", "weight_share"]
    assert np.isnan(found.judges[unknown].to_numpy()).all()
    assert found.validity["p_valid"].isna().all()
    assert found.judges["positive_rate"].notna().all()


ABOUT = pd.DataFrame({"rubric": ["r0", "r1", "r2"], "query": "q"})


def test_a_rubric_is_valid_where_most_annotators_find_it_so_and_unknown_on_a_tie():
    said = pd.DataFrame(
        {
            "rubric": ["r0", "r0", "r0", "r1", "r1", "elsewhere"],
            "annotator": ["a", "b", "c", "a", "b", "a"],
            "valid": [1, 1, 0, 1, 0, 1],
        }
    )
    np.testing.assert_array_equal(valid_rubrics(said, ABOUT), [1, np.nan, np.nan])
    np.testing.assert_array_equal(valid_rubrics(said.assign(valid=0), ABOUT), [0, 0, np.nan])
    assert np.isnan(valid_rubrics(said.iloc[:0], ABOUT)).all()


def test_human_verdicts_on_rubrics_recover_s_plus_and_s_minus_within_their_intervals():
    """600 rubrics, two in five invalid; three judges vote on each; one rubric in three has a human verdict."""
    sensitivity, specificity = np.array([0.97, 0.75, 0.7]), np.array([0.95, 0.65, 0.7])
    inside, n = 0, 20
    for seed in range(n):
        rng = np.random.default_rng(seed)
        z = (rng.random(600) < 0.6).astype(float)
        for_ = np.where(
            z[:, None] == 1, rng.random((600, 3)) < sensitivity, rng.random((600, 3)) >= specificity
        )
        verdicts = np.where(rng.random(600) < 1 / 3, z, np.nan)
        found = judge_rates(for_.astype(float), verdicts)
        assert found.source == "anchors"
        for rate, true in ((found.sensitivity, sensitivity), (found.specificity, specificity)):
            inside += ((rate.low <= true) & (true <= rate.high)).sum()
        unseen = np.isnan(verdicts)
        calls = validity_log_odds(for_.astype(float), found)[unseen] > 0
        most = for_.sum(axis=1)[unseen] >= 2
        assert (calls == z[unseen]).mean() > (most == z[unseen]).mean(), "weighed votes beat counted ones"
    assert inside / (n * 6) >= 0.9


def votes_of(rng, kinds, alike):
    """Votes of five judges on the rubrics of two kinds (J,), whose labels they get wrong more often, or alike."""
    truth = rng.integers(0, 2, (12, len(kinds), 1))
    error = np.full(len(kinds), 0.05) if alike else np.where(kinds == 1, 0.02, 0.15)
    return validity_votes(np.abs(truth - (rng.random((12, len(kinds), 5)) < error[:, None])).astype(float))


@pytest.mark.parametrize(("alike", "verdicts"), [(False, True), (False, False), (True, True), (True, False)])
def test_probabilities_of_rubrics_hold_with_human_verdicts_and_else_are_unknown_unless_there_are_two_kinds(
    alike, verdicts
):
    """Three tables of 200 rubrics, 7 in 10 valid; with verdicts on 80, the others count."""
    stated, true = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        z = (rng.random(200) < 0.7).astype(float)
        votes, said = votes_of(rng, z, alike), np.where(np.arange(200) < 80, z, np.nan)
        rates = judge_rates(votes, said if verdicts else None, np.arange(200) // 10)
        p_valid = 1 / (1 + np.exp(-validity_log_odds(votes, rates)))
        assert ("More likely valid" in votes_note(p_valid, rates)) == verdicts
        stated.append(p_valid[80:])
        true.append(z[80:])
    p, z = np.concatenate(stated), np.concatenate(true)
    parts = (p < 0.5, (p >= 0.5) & (p < 0.9), p >= 0.9)
    assert np.isnan(p).all() == (alike and not verdicts)
    assert sum(abs((p - z)[part].sum()) for part in parts) / len(p) < 0.1


def test_the_note_on_votes_counts_the_rubrics_and_the_verdicts_that_it_rests_on():
    rate = Rate(np.zeros(2), np.zeros(2), np.zeros(2))
    p_valid, rates = np.array([0.9, 0.6, 0.2, np.nan]), JudgeRates(rate, rate, 0.5, 20, "anchors", True)
    assert votes_note(p_valid, rates) == (
        "s⁺ and s⁻ come from 20 human verdicts on rubrics. More likely valid than not: 2 of 3 rubrics."
    )
    guessed = votes_note(p_valid, replace(rates, source="dawid_skene", n_anchors=0))
    assert guessed.startswith("Without human verdicts nothing shows which rubrics are valid")
    assert guessed.endswith("2 of 3 rubrics are more likely of the kind that judges vote for.")
    few = votes_note(p_valid, replace(rates, source="dawid_skene", n_anchors=1))
    assert few.startswith("With 1 human verdict on rubrics, too few to use alone, nothing shows")
    assert votes_note(p_valid, replace(rates, source="none")) == (
        "Which rubrics are valid is unknown: this needs 10 human verdicts (anchors) of each kind, or three judges "
        "whose votes are shown to tell two kinds of rubrics apart."
    )


def test_two_judges_agree_with_each_other_or_neither_votes_for_the_rubric():
    """Leaving one of two out leaves the other one's label."""
    panel = np.array([[[1.0, 1.0], [1.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]]])
    np.testing.assert_array_equal(leave_one_out_majority(panel), panel[:, :, ::-1])
    np.testing.assert_array_equal(validity_votes(panel), [[1, 1], [0, 0]])


def test_two_judges_with_human_labels_have_rates():
    truth, panel = panel_of_five(9, rubrics=200)
    found = judge_rates(panel[:, :, :2].reshape(-1, 2), truth.reshape(-1))
    np.testing.assert_allclose(found.sensitivity.value, SENSITIVITY[:2], atol=0.03)
    assert found.source == "anchors"
