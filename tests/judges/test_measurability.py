"""The Beta posterior of agreement, and what the gate makes of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from crubric_core.errors import SettingsError
from crubric_core.judges.gate import decide_gate, gate_is_off, gate_table
from crubric_core.judges.measurability import measurability_posterior
from crubric_core.judges.nothing_passes import nearest_threshold, nothing_passes
from crubric_core.labels import Workspace
from crubric_core.settings import Settings

COUNTS = st.tuples(st.integers(0, 60), st.integers(0, 60)).map(lambda c: (c[0], c[0] + c[1]))


@settings(deadline=None)
@given(counts=COUNTS, alpha=st.floats(0.5, 5), beta=st.floats(0.5, 5))
def test_mean_sd_and_tail_equal_the_integrals_of_the_density(counts, alpha, beta):
    agree, total = counts
    posterior = measurability_posterior([agree], [total], alpha, beta)
    a, b = alpha + agree, beta + total - agree
    assert posterior.mean[0] == pytest.approx((alpha + agree) / (alpha + beta + total))
    q = (np.arange(200_000) + 0.5) / 200_000
    log_density = (a - 1) * np.log(q) + (b - 1) * np.log1p(-q)
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    assert posterior.mean[0] == pytest.approx(weight @ q, abs=2e-3)
    assert posterior.sd[0] == pytest.approx(np.sqrt(weight @ (q - weight @ q) ** 2), abs=2e-3)
    assert posterior.p_above(0.8)[0] == pytest.approx(weight[q >= 0.8].sum(), abs=5e-3)


@pytest.mark.parametrize(("agree", "total", "tau"), [(7, 9, 0.8), (0, 5, 0.1), (40, 41, 0.95)])
def test_the_tail_is_exact(agree, total, tau):
    a, b = 1 + agree, 1 + total - agree
    whole, _ = integrate.quad(lambda q: q ** (a - 1) * (1 - q) ** (b - 1), 0, 1)
    tail, _ = integrate.quad(lambda q: q ** (a - 1) * (1 - q) ** (b - 1), tau, 1)
    assert measurability_posterior([agree], [total]).p_above(tau)[0] == pytest.approx(tail / whole, abs=1e-8)


@settings(deadline=None)
@given(counts=COUNTS, level=st.floats(0.1, 0.99))
def test_the_interval_leaves_the_same_share_at_both_ends(counts, level):
    posterior = measurability_posterior([counts[0]], [counts[1]])
    low, high = posterior.interval(level)
    assert 1 - posterior.p_above(low[0])[0] == pytest.approx((1 - level) / 2, abs=1e-6)
    assert posterior.p_above(high[0])[0] == pytest.approx((1 - level) / 2, abs=1e-6)


def test_closed_forms_of_the_flat_prior():
    posterior = measurability_posterior([0, 8, 10], [0, 10, 10])
    np.testing.assert_allclose(posterior.mean, [1 / 2, 9 / 12, 11 / 12])
    np.testing.assert_allclose(posterior.sd[0], np.sqrt(1 / 12))
    np.testing.assert_allclose(posterior.interval(0.9)[0][0], 0.05)
    np.testing.assert_allclose(posterior.p_above(0.8)[[0, 2]], [0.2, 1 - 0.8**11])


@pytest.mark.parametrize(
    "wrong",
    [{"n_agree": [3], "n_total": [2]}, {"n_agree": [-1], "n_total": [2]}, {"alpha": 0}, {"beta": np.inf}],
)
def test_impossible_counts_and_priors_are_refused(wrong):
    with pytest.raises(SettingsError):
        measurability_posterior(**({"n_agree": [1], "n_total": [2]} | wrong))


def test_an_impossible_level_is_refused():
    with pytest.raises(SettingsError, match=r"level = 1"):
        measurability_posterior([1], [2]).interval(1)


def reduced(*rows: str):
    with Workspace() as ws:
        text = "\n".join(",".join(row.split(" ")) for row in ("system query rubric judge label", *rows))
        ws.ingest(text.encode(), "d")
        return ws.dataset("d").reduce()


def table_of(found, tau_c):
    return gate_table(found, decide_gate(found, Settings(tau_c=tau_c)))


def test_the_table_holds_the_counts_the_posterior_and_the_verdict():
    rows = [f"s{i} q good j{k} {i % 2}" for i in range(9) for k in range(3)]
    rows += [f"s{i} q poor j{k} {k % 2}" for i in range(9) for k in range(3)]
    table = table_of(reduced(*rows), tau_c=0.8)
    assert table["rubric"].tolist() == ["good", "poor"]
    assert table[["n_agree", "n_total"]].values.tolist() == [[9, 9], [0, 9]]
    np.testing.assert_allclose(table["q_mean"], [10 / 11, 1 / 11])
    assert table["feasible"].tolist() == [True, False]
    assert table["flag"].tolist() == ["", ""]
    assert (table["q_low"] < table["q_mean"]).all()
    assert (table["q_mean"] < table["q_high"]).all()


def test_a_rubric_at_the_threshold_is_feasible():
    rows = [f"s{i} q r j{k} {i % 2}" for i in range(3) for k in range(2)]
    assert table_of(reduced(*rows), tau_c=0.8)["feasible"].tolist() == [True]


def test_a_rubric_without_instance_has_the_prior_and_a_flag():
    table = table_of(reduced("a q r j 1", "a q r k 1", "a q alone j 1"), tau_c=0.6)
    assert table.set_index("rubric").loc["alone", ["q_mean", "feasible", "flag"]].tolist() == [
        0.5,
        False,
        "unmeasured",
    ]


def test_two_judges_are_flagged_and_three_are_not():
    table = table_of(
        reduced("a q r j 1", "a q r k 1", "a q s j 1", "a q s k 1", "a q s l 1", "b q s j 1", "b q s k 0"),
        tau_c=0.5,
    )
    assert table["flag"].tolist() == ["pair_only", ""]


@pytest.mark.parametrize("rows", [("a q r j 1", "b q r j 0"), ("a q r j 1", "b q r k 0")])
def test_without_a_second_label_anywhere_the_gate_is_off_and_all_is_feasible(rows):
    found = reduced(*rows)
    assert gate_is_off(found)
    assert table_of(found, tau_c=0.99)["feasible"].tolist() == [True]


def test_one_instance_is_enough_for_the_gate():
    assert not gate_is_off(reduced("a q r j 1", "a q r k 0", "b q r j 1"))


def test_where_nothing_passes_the_sentence_names_the_reason_and_the_remedy():
    with Workspace() as workspace:
        workspace.ingest(b"system,rubric,judge,label\na,r,x,1\na,r,y,0\nb,r,x,0\nb,r,y,0\n", "d")
        reduction = workspace.dataset("d").reduce()
    said = nothing_passes(reduction, np.array([True]), Settings(tau_c=0.8))
    assert "the highest measurability of one is 0.500: lower τ_c to 0.50 or less, or add labels." in said
    assert "agreement_tolerance" not in said
    said = nothing_passes(reduction, np.array([True]), Settings(gate="kappa", tau_c=0.9))
    assert "reaches τ_c = 0.9; the highest kappa of one is -0.333: lower τ_c to -0.34 or less" in said
    assert "different consensus labels" in nothing_passes(reduction, np.array([False]), Settings())


def test_the_nearest_threshold_leaves_what_it_says_and_a_higher_one_leaves_none():
    found = reduced(
        "a q r x 1", "a q r y 0", "b q r x 0", "b q r y 0", "a q s x 1", "a q s y 1", "b q s x 0", "b q s y 0"
    )
    wanted = Settings(gate="agreement", tau_c=1.0)
    gate = decide_gate(found, wanted)
    nearest = nearest_threshold(gate, np.array([True, True]))
    at = decide_gate(found, replace(wanted, tau_c=nearest.tau_c)).feasible
    above = decide_gate(found, replace(wanted, tau_c=nearest.tau_c + 0.01)).feasible
    assert at.sum() == nearest.passing == 1
    assert not above.any()
    assert nearest_threshold(gate, np.array([False, False])) is None
