from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks.claims_perturbation import DESIGNS, of_change, simulated
from crubric_core import Settings, Workspace
from crubric_core.experiments.inputs import read_inputs, reference_scores
from crubric_core.experiments.perturbation import (
    EXPERIMENT,
    PerturbedScores,
    agreement_table,
    flip_types,
    perturbation,
    type_matters,
)
from crubric_core.experiments.scoring import score
from crubric_core.experiments.statistics import half_width
from crubric_core.task_types.scoring import overall_scores
from crubric_core.task_types.types import TASK_TYPES
from tests import oracles
from tests.experiments.conftest import ingest, query_table, rubric_table, small_study


def slow_scores(inputs, types):
    frame = inputs.reduction.rubrics
    omega = inputs.queries["omega"].to_numpy(dtype=float)
    return oracles.naive_scores(
        inputs.reduction.y,
        inputs.reduction.levels,
        inputs.query_index,
        len(inputs.queries),
        types,
        frame["dimension"].tolist(),
        frame["severity"].tolist(),
        np.ones(len(frame)),
        omega,
        True,
    )


@pytest.fixture(scope="module")
def result(workspace, settings):
    return perturbation(workspace.dataset("gold"), settings, seeds=3)


@pytest.fixture(scope="module")
def inputs(workspace, settings):
    return read_inputs(workspace.dataset("gold"), settings)


def test_flips_are_those_of_the_obvious_computation(result, inputs, settings):
    types = np.array(inputs.queries["task_type"].tolist(), dtype=object)
    clean = slow_scores(inputs, types)
    for number, row in result.frame().iterrows():
        scores = []
        for seed in range(3):
            rng = np.random.default_rng([settings.seed, 30, number, seed])
            scores.append(slow_scores(inputs, flip_types(types, row["flip"], rng)))
        gaps = np.array([100 * (max(s) - min(s)) for s in scores])
        assert row["mean_score"] == pytest.approx(np.mean(scores), abs=1e-12)
        assert row["gap"] == pytest.approx(gaps.mean(), abs=1e-10)
        assert row["degradation"] == pytest.approx(gaps.mean() - 100 * np.ptp(clean), abs=1e-10)
        if row["flip"]:
            assert row["low"] < row["degradation"] < row["high"]
            assert row["high"] - row["degradation"] == pytest.approx(row["degradation"] - row["low"])
            rho = np.mean([oracles.naive_spearman(s, clean) for s in scores])
            assert row["rho"] == pytest.approx(rho, abs=1e-12)


def test_the_interval_is_of_queries_like_these_and_of_other_flips(result, inputs, settings):
    row, types = result.frame().iloc[-1], np.array(inputs.queries["task_type"].tolist(), dtype=object)
    flipped = [flip_types(types, 0.3, np.random.default_rng([settings.seed, 30, 3, s])) for s in range(3)]
    by_query = [score(inputs, names).by_query for names in (types, *flipped)]
    omega = inputs.queries["omega"].to_numpy(dtype=float)
    weights = np.where(np.isnan(omega), 1.0 if np.isnan(omega).all() else np.nanmean(omega), omega)

    def gaps(times):
        known = [
            [(w, x) for w, x in zip(times, s, strict=True) if not np.isnan(x)]
            for s in np.concatenate(by_query)
        ]
        means = [np.average([x for _, x in pairs], weights=[w for w, _ in pairs]) for pairs in known]
        return 100 * np.ptp(np.reshape(means, (4, -1)), axis=1)

    rng, drawn = np.random.default_rng(7), []
    for _ in range(400):
        clean, *after = gaps(weights * np.bincount(rng.integers(0, 12, 12), minlength=12))
        drawn.append(np.mean(after) - clean)
    half = stats.t.ppf(0.975, 11) * np.sqrt(np.var(drawn, ddof=1) + np.var(gaps(weights)[1:], ddof=1) / 3)
    assert row["high"] - row["degradation"] == pytest.approx(half, rel=0.35)  # the result has 50 draws


def test_scorers_agreement_and_external_validity_are_those_of_the_obvious_computation(result, inputs):
    types = inputs.queries["task_type"].tolist()
    both = {"adaptive": slow_scores(inputs, types), "binary": slow_scores(inputs, [None] * len(types))}
    for _, row in result.tables["scorers"].iterrows():
        scores = both[row["scorer"]]
        assert row["sd"] == pytest.approx(np.std(scores, ddof=1))
        assert row["iqr"] == pytest.approx(stats.iqr(scores))
        assert row["gap"] == pytest.approx(100 * np.ptp(scores))
    overall = result.tables["agreement"].iloc[0]
    rho, _ = stats.spearmanr(both["adaptive"], both["binary"])
    assert (overall["rho"], overall["systems"]) == pytest.approx((rho, 7))
    for _, row in result.tables["external"].iterrows():
        human = [1.0, 3.0, 2.0, 5.0, 4.0, 6.0]
        scores = both[row["scorer"]][:6]
        rho, _ = stats.spearmanr(scores, human)
        orders = [stats.spearmanr(order, human)[0] for order in permutations(scores)]
        p = np.mean(np.abs(orders) >= abs(rho) - 1e-9)
        assert (row["rho"], row["p"], row["systems"]) == pytest.approx((rho, p, 6))


def test_the_human_reference_is_read_as_the_board_reads_it():
    """By ranks where no system of the dataset has a score, whatever others have."""
    table = pd.DataFrame({"system": ["a", "b", "another"], "rank": [1, 2, 3], "score": [None, None, 0.5]})
    labels = pd.DataFrame({"system": ["a", "b"], "query": "q", "rubric": "r", "judge": "j", "label": [1, 0]})
    with Workspace() as workspace:
        ingest(workspace, "study", labels)
        ingest(workspace, "study", table, "reference")
        found = reference_scores(workspace.dataset("study"), ("a", "b", "c"))
    np.testing.assert_array_equal(found, [-1, -2, np.nan])


def test_domains_are_compared_by_their_own_queries(result):
    table = result.tables["agreement"].set_index("domain")
    assert table["queries"].to_dict() == {"all": 12, "health": 6, "law": 6}


def test_a_domain_weighs_its_queries_as_the_whole_does():
    """Of one domain alone the row is that of all queries, also where one query counts as much as ten."""
    rng, weights = np.random.default_rng(0), np.array([10, 1, np.nan, 0.1])
    adaptive, binary = rng.random((2, 6, 4))
    queries = pd.DataFrame({"domain": ["law"] * 4, "omega": weights})
    overall = [overall_scores(scores, weights) for scores in (adaptive, binary)]
    whole, only = agreement_table(queries, PerturbedScores(*overall, adaptive, binary)).to_dict("records")
    assert only["rho"] == pytest.approx(whole["rho"])
    assert whole["rho"] != pytest.approx(stats.spearmanr(adaptive.mean(axis=1), binary.mean(axis=1))[0])


def test_a_flip_changes_the_type_of_exactly_that_share_of_the_typed_queries():
    types = np.array([*TASK_TYPES, *TASK_TYPES, "decision_support", "decision_support", None], dtype=object)
    for share in (0.0, 0.1, 0.2, 0.3, 1.0):
        flipped = flip_types(types, share, np.random.default_rng(0))
        assert sum(a != b for a, b in zip(types, flipped, strict=True)) == round(10 * share)
        assert flipped[-1] is None
        assert set(flipped[:-1]) <= set(TASK_TYPES)


def test_every_other_type_is_as_likely():
    rng = np.random.default_rng(0)
    types = np.array(["decision_support"] * 3000, dtype=object)
    names, counts = np.unique(flip_types(types, 1.0, rng).astype(str), return_counts=True)
    assert set(names) == set(TASK_TYPES) - {"decision_support"}
    assert stats.chisquare(counts).pvalue > 0.001


def test_a_dataset_without_types_says_that_there_is_nothing_to_flip(workspace):
    found = perturbation(workspace.dataset("two judges"), Settings(), seeds=2)
    assert "No query has a task type" in found.found
    assert found.frame().empty, "no row says what flips change: none was made"
    assert EXPERIMENT.headline(found) == "No query has a task type: there is nothing to flip."
    assert found.tables["external"].empty
    assert any("external validity" in limit for limit in found.limits)


@pytest.mark.parametrize("design", DESIGNS[2:], ids=lambda design: design.name)
def test_the_intervals_hold_the_change_of_the_gap_or_are_unknown(design):
    """Of the last, t over all queries with a type held .75."""
    rng = np.random.default_rng(1)
    held = np.array([of_change(rng, design, 5, 10)[0] for _ in range(100)])
    known = held[np.isfinite(held)]
    assert known.mean() > 0.92 if len(known) else design is DESIGNS[-1]


def test_the_queries_in_which_types_matter_are_those_whose_scores_other_types_change():
    inputs, types = simulated(np.random.default_rng(2), DESIGNS[-1], 5, 60)
    inputs.queries["omega"], types[:20] = 1.0, None
    expected = []
    for query, name in enumerate(types):
        others = types.copy()
        scores = []
        for other in TASK_TYPES:
            others[query] = other
            scores.append(np.array(slow_scores(inputs, others)))
        expected.append(name is not None and not np.allclose(scores, scores[0], rtol=0, atol=1e-14))
    found = type_matters(inputs, types)
    assert found.tolist() == expected
    assert 0 < found.sum() < 40


def test_where_types_hardly_matter_the_change_is_said_to_be_unknown(workspace, settings):
    ds = workspace.dataset("gold")
    few = perturbation(ds, settings, seeds=2, flips=[0.01])
    assert EXPERIMENT.headline(few) == "No task type is flipped."
    alone = perturbation(ds, settings, seeds=2, flips=[0.3]).frame().iloc[0]
    assert alone["low"] < alone["degradation"] < alone["high"]


def test_why_the_change_is_unknown_is_the_reason_that_is_told(workspace, settings):
    once = perturbation(workspace.dataset("gold"), settings, seeds=1)
    assert (
        EXPERIMENT.headline(once) == "The types are flipped only once: the effect of other flips is unknown."
    )
    assert "without a known interval" in once.found
    labels, _ = small_study()
    first, half = labels["system"].isin(["s0", "s1", "s2"]), labels["query"] < "q06"
    with Workspace() as apart:
        ingest(apart, "apart", rubric_table(), "rubrics")
        ingest(apart, "apart", query_table(), "queries")
        ingest(apart, "apart", labels[first == half])
        unlinked = perturbation(apart.dataset("apart"), settings, seeds=3)
    said = "The gap between the best and the worst system is unknown, and so is the effect of flips."
    assert EXPERIMENT.headline(unlinked) == said
    assert unlinked.found.startswith(f"{said} Adaptive")
    assert "share too few queries" in unlinked.limits[0]


def test_the_interval_of_a_mean_over_repeats_has_the_variance_of_draws_and_of_repeats():
    """Draws 1, 2, 3 have variance 1, the mean of the repeats 0 and 2 has 2/2."""
    half = half_width(np.array([1.0, 2.0, 3.0, np.nan]), np.array([0.0, 2.0]), 5, 0.95)
    assert half == pytest.approx(stats.t.ppf(0.975, 4) * np.sqrt(2))
    assert np.isnan(half_width(np.array([1.0, 2.0]), np.array([0.0, 2.0]), 4, 0.95))
    assert np.isnan(half_width(np.array([1.0, np.nan]), np.array([0.0, 2.0]), 5, 0.95))
    assert np.isnan(half_width(np.array([1.0, 2.0]), np.array([0.0]), 5, 0.95))
