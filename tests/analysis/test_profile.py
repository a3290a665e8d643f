"""A profile says of a system what a slow loop over its labels says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crubric_core.analysis.profile import (
    extremes,
    group_means,
    group_scores,
    head_to_head,
    in_groups,
    surprises,
    undominated,
)
from crubric_core.irt.fit import fit_irt
from crubric_core.irt.information import expected_shares, response_curve
from crubric_core.leaderboard.cross_fit import cross_fit
from tests import oracles
from tests.tiers import examples


def tables(seed: int, systems: int = 5, queries: int = 12) -> tuple[np.ndarray, list[object], np.ndarray]:
    """Scores with gaps, groups with unknown ones, weights."""
    rng = np.random.default_rng(seed)
    scores = rng.random((systems, queries))
    scores[rng.random(scores.shape) < 0.2] = np.nan
    groups = rng.choice(np.array(["law", "code", None, ""], dtype=object), queries).tolist()
    return scores, groups, rng.uniform(0.5, 2, queries)


@given(st.integers(0, 2**32 - 1), st.integers(0, 4))
@settings(max_examples=examples(60))
def test_group_scores_are_those_of_a_loop_over_queries(seed: int, system: int) -> None:
    scores, groups, weights = tables(seed, queries=30)
    names, parts = in_groups(scores, groups)
    found = group_scores(names, parts, weights, system)
    assert found.names == tuple(sorted({g for g in groups if g}))
    for at, name in enumerate(names):
        expected = oracles.against_others(scores, weights, [g == name for g in groups], system)
        shown = (found.queries, found.value, found.others, found.difference)
        assert [float(column[at]) for column in shown] == pytest.approx(expected[:4], nan_ok=True)
        if np.isnan(expected[4]):
            assert np.isnan([found.low[at], found.high[at]]).all()
        else:
            assert found.low[at] <= expected[4] + 1e-12
            assert found.high[at] >= expected[5] - 1e-12


@pytest.mark.parametrize(
    ("queries", "passed", "weights"), [(10, 0.95, "equal"), (40, 0.97, "equal"), (40, 0.5, "three of four")]
)
def test_intervals_of_groups_hold_where_few_queries_differ_and_where_few_count(queries, passed, weights):
    rng = np.random.default_rng(3)
    omega = np.where(np.arange(queries) < 6, 50.0, 1.0) if weights == "three of four" else np.ones(queries)
    held = []
    for _ in range(150):
        scores = (rng.random((8, queries)) < passed).astype(float)
        found = group_scores(["all"], [scores], omega, 0)
        held.append(found.low[0] <= 0 <= found.high[0])
    assert np.mean(held) > 0.9


def test_means_by_group_leave_out_what_is_unknown() -> None:
    scores = np.array([[1.0, 0.0, np.nan], [np.nan, np.nan, 0.5]])
    names, parts = in_groups(scores, ["a", "a", "b"])
    assert names == ("a", "b")
    expected = np.array([[0.75, np.nan], [np.nan, 0.5]])
    assert group_means(parts, np.array([3.0, 1.0, 1.0])) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("model", ["1PL", "2PL", "3PL", "GRM"])
def test_expected_shares_are_the_curves_of_the_rubrics(model: str) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3 if model == "GRM" else 2, (9, 6)).astype(float)
    y[:, 0] = 1  # constant
    fit, theta = fit_irt(y, model, "grid"), np.array([-1.0, 0.3])
    expected = np.stack([response_curve(fit, j, theta) for j in range(6)], axis=1)
    assert expected_shares(fit, theta) == pytest.approx(expected, nan_ok=True)


def test_a_surprise_is_a_label_less_what_a_model_without_the_system_expects() -> None:
    rng = np.random.default_rng(2)
    y = (rng.random((8, 20)) < np.linspace(0.2, 0.8, 8)[:, None]).astype(float)
    y[3, 4] = np.nan
    pooled = fit_irt(y, "2PL", "grid")
    cross, use = cross_fit(y, pooled), np.arange(20) < 15
    expected, residual = surprises(cross, 3, 0.4, use)
    items = cross.items[int(cross.fold[3])]
    for j in range(20):
        if not use[j] or np.isnan(items.a[j]):
            assert np.isnan(residual[j])
            continue
        p = 1 / (1 + np.exp(-items.a[j] * (0.4 - items.b[j])))
        assert expected[j] == pytest.approx(p)
        assert residual[j] == pytest.approx(y[3, j] - p, nan_ok=True)


def test_the_strongest_are_above_and_the_weakest_below_what_is_expected() -> None:
    strong, weak = extremes(np.array([0.1, np.nan, -0.4, 0.9, 0.0, -0.1]), 2)
    assert strong.tolist() == [3, 0]
    assert weak.tolist() == [2, 5]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(60))
def test_two_systems_are_compared_as_by_a_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = np.round(rng.random((3, 7)), 1)
    share = rng.choice([0.0, 0.5, 1.0, np.nan], (3, 9))
    use, slope = rng.random((3, 9)) < 0.8, rng.choice([0.5, 1.5, np.nan], 9)
    found = head_to_head(scores, share, slope, use, 2, 0)
    pulls, counts = oracles.head_to_head(share, slope, use, 2, 0)
    assert dict(zip(found.rubrics.tolist(), found.pull.tolist(), strict=True)) == pytest.approx(pulls)
    assert (np.diff(found.pull) <= 0).all()
    assert (found.favours, found.against, found.compared) == counts
    signs = [round(10 * (a - b)) for a, b in zip(scores[2], scores[0], strict=True)]
    assert found.ahead == sum(s > 0 for s in signs)
    assert found.behind == sum(s < 0 for s in signs)
    assert found.ahead + found.behind + found.equal == 7


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(60))
def test_nobody_beats_the_undominated_for_less(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cost, value = rng.choice([1.0, 2.0, 3.0, np.nan], (2, 8))
    found = undominated(cost, value)
    for i in range(8):
        beaten = any(
            cost[k] <= cost[i] and value[k] >= value[i] and (cost[k], value[k]) != (cost[i], value[i])
            for k in range(8)
        )
        assert found[i] == (np.isfinite(cost[i]) and np.isfinite(value[i]) and not beaten)
