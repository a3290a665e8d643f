"""The claims' central rates on a cheap version of ``benchmarks/inference.py``: 15 systems, 40 queries of 6 rubrics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from benchmarks.inference import claims, on_scale
from benchmarks.inference_designs import simulate
from crubric_core.irt.fit import fit_irt
from crubric_core.irt.information import item_information
from crubric_core.leaderboard.cross_fit import CrossFit, cross_fit
from crubric_core.leaderboard.inference import infer
from crubric_core.leaderboard.influence import ability_influence

PAIRS = np.triu_indices(15, 1)


@pytest.fixture(scope="module")
def identical():
    return [simulate("identical", 6, 1.0, "leniency", seed, queries=40) for seed in range(12)]


@pytest.fixture(scope="module")
def clones():
    tables = [simulate("clones", 6, 1.0, "plain", seed, queries=40) for seed in range(12)]
    return [(table, claims(table, seed)[0]["theta"]) for seed, table in enumerate(tables)]


def in_sample(table):
    """The claims of a bank chosen and fitted on the labels that it ranks, rubric by rubric."""
    fit = fit_irt(table.y)
    bank = np.zeros(table.y.shape[1], dtype=bool)
    bank[np.argsort(-item_information(fit, np.zeros(1))[0])[:60]] = True
    pooled = CrossFit(table.y, fit, np.zeros(15, dtype=np.int64), (fit.items,), np.ones(1, dtype=bool))
    return infer(ability_influence(pooled, bank, np.arange(len(bank))), np.random.default_rng(0))


def test_identical_systems_are_seldom_called_different_and_in_sample_often(identical):
    rules = [claims(table, seed)[0]["theta"] for seed, table in enumerate(identical)]
    apart = np.mean([(r.p_value[PAIRS] <= 0.05).mean() for r in rules])
    assert 0 < apart <= 0.07
    assert sum(r.separated.any() for r in rules) <= 2
    assert sum(in_sample(table).separated.any() for table in identical) >= 9


def test_a_copy_of_a_system_is_seldom_called_different_from_its_twin(clones):
    twins = [r.p_value[i, 10 + i] <= 0.05 for _, r in clones for i in range(5)]
    assert np.mean(twins) <= 0.07
    assert np.mean([r.separated[PAIRS].mean() for _, r in clones]) > 0.3


def test_intervals_of_abilities_differences_and_ranks_hold_the_truth(clones):
    shares = []
    for table, r in clones:
        truth = on_scale(table.theta, r.estimate, r.se)
        gap = truth[:, None] - truth
        above = (table.theta > table.theta[:, None]).sum(axis=1)
        below = (table.theta < table.theta[:, None]).sum(axis=1)
        alone = np.abs(r.difference - gap) <= 2.02 * r.difference_se
        shares.append(
            [
                ((r.low <= truth) & (truth <= r.high)).mean(),
                alone[PAIRS].mean(),
                ((r.rank_low <= 1 + above) & (15 - below <= r.rank_high)).mean(),
            ]
        )
    assert (np.mean(shares, axis=0) >= 0.92).all()


@pytest.mark.parametrize(
    ("sizes", "worth"), [((16, 15), 2), ((10, 9, 8), 3), ((31, 3), 1), ((20, 10), 1), ((20, 10, 10), 2)]
)
def test_queries_that_hardly_differ_in_size_are_as_many_units(sizes, worth):
    """16 and 15 rubrics are worth 1.998 equal queries, which was rounded to one: every interval was open."""
    query = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(3)
    y = (
        rng.random((8, len(query))) < expit(np.linspace(-1, 1, 8)[:, None] - rng.normal(size=len(query)))
    ).astype(float)
    fit = fit_irt(y)
    found = infer(ability_influence(cross_fit(y, fit), np.ones(len(query), dtype=bool), query), rng)
    assert found.n_equal == worth
    assert np.isfinite(found.design_effect) == (worth > 1)
    assert np.isfinite(found.low).all() == (worth > 1)


def test_few_queries_that_have_most_of_the_rubrics_are_few_units():
    """Identical systems do well or badly on whole queries, of which two have 100 rubrics and 40 have three."""
    query, told = np.repeat(np.arange(42), [100] * 2 + [3] * 40), []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        mood, b = 0.7 * rng.normal(size=(8, 42)), rng.normal(size=len(query))
        y = (rng.random((8, len(query))) < expit(mood[:, query] - b)).astype(float)
        fit = fit_irt(y)
        found = infer(ability_influence(cross_fit(y, fit), ~fit.constant, query), rng)
        assert found.n_units == 42
        assert found.n_equal < 10
        told.append(found.separated.any())
    assert sum(told) <= 1
