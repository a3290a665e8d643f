"""What a threshold costs, and when what remains carries no claim."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crubric_core.judges.gate_price import gate_prices, judge_gate

ROWS = st.lists(
    st.tuples(st.floats(-1, 1) | st.just(float("nan")), st.floats(0, 3), st.integers(0, 4)),
    min_size=1,
    max_size=25,
)


def gated(values, threshold, statistic="kappa", off=False):
    values = np.asarray(values, dtype=float)
    return SimpleNamespace(
        values=values,
        threshold=threshold,
        feasible=~(values < threshold) | off,
        off=off,
        statistic=statistic,
        given=True,
    )


@given(rows=ROWS, taus=st.lists(st.floats(-1, 1), min_size=1, max_size=4), judges=st.integers(2, 9))
def test_the_price_is_what_a_loop_over_rubrics_counts(rows, taus, judges):
    values, nu, query = map(np.array, zip(*rows, strict=True))
    found = gate_prices(values, taus, nu, query, judges)
    for t, tau in enumerate(taus):
        kept = [j for j in range(len(rows)) if np.isnan(values[j]) or values[j] >= tau]
        informed = [j for j in kept if nu[j] > 0]
        before = {query[j] for j in range(len(rows)) if nu[j] > 0}
        assert found.rubrics[t] == len(kept)
        assert found.informative[t] == len(informed)
        assert found.judge_calls[t] == judges * len(informed)
        assert found.queries_lost[t] == len(before - {query[j] for j in informed})
        if nu.sum() > 0:
            assert found.information[t] == pytest.approx(nu[informed].sum() / nu.sum())
        else:
            assert np.isnan(found.information[t])


@given(rows=ROWS, taus=st.lists(st.floats(-1, 1), min_size=2, max_size=6).map(sorted))
def test_a_higher_threshold_never_costs_less(rows, taus):
    values, nu, query = map(np.array, zip(*rows, strict=True))
    found = gate_prices(values, taus, nu, query, 3)
    for falling in (found.rubrics, found.informative, found.judge_calls):
        assert (np.diff(falling) <= 0).all()
    assert (np.diff(found.queries_lost) >= 0).all()


def test_six_rubrics_of_400_carry_no_claim_and_the_threshold_that_would_do_is_named():
    values = np.linspace(0, 0.82, 400)
    gate = gated(values, 0.81, "agreement")
    verdict = judge_gate(gate, np.ones(400), budget=100)
    assert not verdict.holds
    assert (verdict.informative, verdict.of, verdict.needed) == ((values >= 0.81).sum(), 400, 25)
    assert "5 of 400 informative rubrics" in verdict.sentence
    assert f"τ_c = {verdict.remedy:.2f} or less would be enough" in verdict.sentence
    assert judge_gate(gated(values, verdict.remedy), np.ones(400), budget=100).holds
    assert not judge_gate(gated(values, verdict.remedy + 0.01), np.ones(400), budget=100).holds


def test_many_rubrics_without_their_information_carry_no_claim():
    values, nu = np.linspace(0, 1, 100), np.r_[np.full(50, 3.0), np.full(50, 1.0)]
    verdict = judge_gate(gated(values, 0.5), nu, budget=40)
    assert not verdict.holds
    assert verdict.informative == 50
    assert verdict.information == pytest.approx(0.25)


@pytest.mark.parametrize(("budget", "holds"), [(80, True), (120, True), (124, False), (200, False)])
def test_a_quarter_of_the_bank_size_must_remain(budget, holds):
    assert judge_gate(gated(np.linspace(0, 1, 100), 0.7), np.ones(100), budget).informative == 30
    nu = np.r_[np.ones(70), np.full(30, 3.0)]
    assert judge_gate(gated(np.linspace(0, 1, 100), 0.7), nu, budget).holds == holds


@pytest.mark.parametrize("rubrics", [8, 40, 49, 50, 60, 66, 67, 200])
def test_a_gate_that_drops_a_quarter_leaves_enough_of_tables_of_any_size(rubrics):
    values = np.arange(rubrics) / rubrics
    assert judge_gate(gated(values, 0.25), np.ones(rubrics), budget=200).holds


def test_rubrics_without_information_do_not_count():
    nu = np.r_[np.zeros(300), np.ones(30)]
    verdict = judge_gate(gated(np.full(330, 0.9), 0.5), nu, budget=20)
    assert (verdict.informative, verdict.of, verdict.holds) == (30, 30, True)


def test_where_all_rubrics_are_too_few_the_gate_is_not_to_blame():
    verdict = judge_gate(gated(np.linspace(0, 1, 12), 0.3), np.ones(12), budget=200)
    assert verdict.holds
    assert not judge_gate(gated(np.linspace(0, 1, 12), 0.7), np.ones(12), budget=200).holds


def test_a_gate_that_is_off_costs_nothing():
    assert judge_gate(gated(np.full(400, np.nan), np.nan, off=True), np.ones(400), 200).holds


@given(rows=ROWS, threshold=st.floats(-1, 1), budget=st.integers(1, 60))
def test_the_remedy_always_does(rows, threshold, budget):
    values, nu, _ = map(np.array, zip(*rows, strict=True))
    verdict = judge_gate(gated(values, threshold), nu, budget)
    if verdict.remedy is not None:
        assert not verdict.holds
        assert judge_gate(gated(values, verdict.remedy), nu, budget).holds
    assert bool(verdict.sentence) != verdict.holds
