"""What numbers of labels do to the consensus, against all choices of fewer labels, one by one."""

from __future__ import annotations

from itertools import combinations
from typing import get_args

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crubric_core.judges.consensus import majority, median_low
from crubric_core.labels import Workspace
from crubric_core.labels.store.judge_sums import JudgeShares, units_of
from crubric_core.labels.store.label_numbers import raised, raised_on_panel, splits_as, steps
from crubric_core.settings import Consensus, Tie
from tests.labels.store.test_judge_sums import ROWS, dataset, frame
from tests.tiers import examples

CELLS = st.integers(2, 5).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 4), min_size=n, max_size=n), min_size=1, max_size=6)
)
# Half of the systems lack the third label of each cell.
UNEVEN = [
    ((s, q, r, k), int(label))
    for (s, q, r, k), label in zip(
        np.ndindex(4, 4, 2, 3), np.random.default_rng(1).integers(1, 6, 96), strict=True
    )
    if s < 2 or k < 2
]


def order_of(cells, top):
    """Those of one system."""
    return np.sort(np.array(cells) / top, axis=1).mean(axis=0)[None]


def rise(order, tie):
    """What each step does to a system all of whose cells have the most labels."""
    cells = np.array([[0.0] * (len(order) - 1) + [4.0]])
    rises, known = steps(order, cells, tie)
    assert (known == 4).all()
    return rises[0]


@given(cells=CELLS, fewer=st.integers(1, 4), tie=st.sampled_from(get_args(Tie)))
def test_what_fewer_labels_would_have_given_is_the_mean_over_all_choices_of_them(cells, fewer, tie):
    passes, most = np.array(cells) % 2, len(cells[0])
    fewer = min(fewer, most - 1)
    means = []
    for n in (fewer, most):
        each = np.array([[row[list(some)] for some in combinations(range(most), n)] for row in passes])
        means.append(np.nanmean(majority(each.astype(float), tie)) if (n % 2 or tie != "unknown") else None)
        if means[-1] is None:  # of passes and fails alone, the share of the former
            known = majority(each.astype(float))
            means[-1] = np.nanmean(known) if np.isfinite(known).any() else 0.5
    order = {fewer: np.zeros((1, fewer)), most: order_of(passes, 1)}
    assert rise(order, tie) == pytest.approx([means[1] - means[0]])


@given(cells=CELLS, fewer=st.integers(1, 4))
def test_of_levels_the_lower_middle_one_of_fewer_labels_counts(cells, fewer):
    most = len(cells[0])
    fewer = min(fewer, most - 1)
    chosen = np.array(
        [[[row[i] for i in some] for some in combinations(range(most), fewer)] for row in cells]
    )
    less, full = median_low(chosen / 4.0).mean(), median_low(np.array(cells) / 4.0).mean()
    order = {fewer: np.zeros((1, fewer)), most: order_of(cells, 4)}
    assert rise(order, *splits_as("ordered", "unknown")) == pytest.approx([full - less])


def test_numbers_between_are_steps_from_one_to_the_next():
    order = {n: np.sort(np.random.default_rng(n).random((1, n))) for n in (1, 2, 4)}
    single = rise({1: order[1], 4: order[4]}, "fail")
    assert rise(order, "fail").sum() == pytest.approx(single[0])


def test_a_step_is_the_mean_over_the_cells_that_have_as_many_labels():
    order = {n: np.sort(np.random.default_rng(n).random((1, n))) for n in (1, 2, 4)}
    rises, known = steps(order, np.array([[5.0, 2.0, 6.0]]), "fail")
    of_two, of_four = (rise({1: order[1], 2: order[2]}, "fail")[0], rise(order, "fail")[0])
    assert rises[0, 0] == pytest.approx((2 * of_two + 6 * of_four) / 8)
    assert known.tolist() == [[8.0, 6.0]]


def test_the_weights_of_many_labels_are_no_overflow():
    order = {7: np.zeros((1, 7)), 3000: np.linspace(0, 1, 3000)[None]}
    assert rise(order, "fail")[0] == pytest.approx(0.0, abs=1e-3)


THREE = {1: np.array([[0.0], [0.8], [0.2]]), 3: np.array([[0.4, 0.8, 1.0], [0.0, 0.0, 0.0], [0.0, 0.2, 0.6]])}
"""Of a good system, whose majority of three passes 80% of the cells and one label 73%, one with a single label, and a
poor one: 20% and 27%."""


def test_a_pair_is_compared_by_what_numbers_do_to_its_own_systems():
    apart = JudgeShares(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), np.zeros((3, 2)))
    found = raised(apart, THREE, np.array([[0.0, 9.0], [9.0, 0.0], [0.0, 9.0]]), ["fail"])
    good, poor = 0.8 - 2.2 / 3, 0.2 - 0.8 / 3
    assert found == pytest.approx(np.array([[0, good, 0], [-good, 0, -poor], [0, poor, 0]]))


def test_a_system_with_most_labels_is_raised_by_every_step_above_one_with_fewest():
    order = {1: np.array([[0.0], [0.3]]), 2: np.zeros((2, 2)), 4: np.array([[0.1, 0.6, 0.9, 1.0], [0.0] * 4])}
    shares = JudgeShares(np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]), np.zeros((2, 3)))
    cells = np.array([[0.0, 0.0, 9.0], [9.0, 0.0, 0.0]])
    found = raised(shares, order, cells, ["fail"])
    assert found[0, 1] == pytest.approx(0.6 - (0.1 + 0.6 + 0.9 + 1.0) / 4)
    assert found[1, 0] == pytest.approx(-found[0, 1])


def test_where_an_even_split_may_be_either_the_most_is_allowed_for():
    order = {1: np.array([[0.0], [0.5]]), 2: np.array([[0.2, 0.8], [0.0, 0.0]])}
    shares = JudgeShares(np.array([[0.0, 1.0], [1.0, 0.0]]), np.zeros((2, 2)))
    cells = np.array([[0.0, 9.0], [9.0, 0.0]])
    found = raised(shares, order, cells, splits_as("binary", "unknown", consensus="dawid_skene"))
    assert found == pytest.approx(np.array([[0, 0.8 - 0.5], [0.5 - 0.2, 0]]))


def test_systems_with_the_same_share_of_each_number_are_raised_by_nothing():
    shares = JudgeShares(np.full((3, 2), 0.5), np.full((3, 2), 0.1))
    assert not raised(shares, THREE, np.full((3, 2), 9.0), ["fail"]).any()


@given(
    rows=ROWS,
    response=st.sampled_from(["binary", "ordered"]),
    tie=st.sampled_from(get_args(Tie)),
    consensus=st.sampled_from(get_args(Consensus)),
)
@example(UNEVEN, "binary", "unknown", "majority")
@example(UNEVEN, "binary", "pass", "majority")
@example(UNEVEN, "ordered", "unknown", "majority")
@example(UNEVEN, "binary", "unknown", "dawid_skene")
@settings(max_examples=examples(30))
def test_a_dataset_knows_the_same_as_its_labels_at_hand(rows, response, tie, consensus):
    with Workspace() as ws:
        ds = dataset(ws, frame(rows))
        panel, unit, levels = (
            ds.panel(response),
            units_of(ds.rubrics["query"]),
            ds.rubrics["levels"].to_numpy(),
        )
        found = ds.raised_by_numbers(response, tie, consensus=consensus)
        assert ds.reduce(response, tie).n_cells == (~np.isnan(panel)).any(axis=2).sum()
    levels = levels if response == "ordered" else np.full_like(levels, 2)
    expected = raised_on_panel(panel, unit, levels, splits_as(response, tie, consensus=consensus))
    np.testing.assert_allclose(found, expected, atol=1e-9)


@given(rows=ROWS, first=st.integers(0, 3), response=st.sampled_from(["binary", "ordered"]))
@example(UNEVEN, 0, "binary")
@example(UNEVEN, 0, "ordered")
@settings(max_examples=examples(30))
def test_a_dataset_knows_the_same_of_runs(rows, first, response):
    """What were judges are runs of two judges."""
    table = frame(rows)
    table = table.assign(run=table["judge"], judge=np.where(table["judge"].astype(int) < first, "a", "b"))
    with Workspace() as ws:
        ds = dataset(ws, table)
        found, facts, systems = ds.raised_by_numbers(response, "pass", "runs"), ds.rubrics, list(ds.systems)
    rubrics = facts.set_index("rubric")
    draws = np.full((len(systems), len(facts), 2, 4), np.nan)
    for s, r, k, run, label in table[["system", "rubric", "judge", "run", "label"]].itertuples(index=False):
        level = label - rubrics["scale_min"][r]
        read = level if response == "ordered" else label >= rubrics["pass_mark"][r]
        draws[systems.index(s), list(rubrics.index).index(r), "ab".index(k), int(run)] = read
    levels = facts["levels"].to_numpy() if response == "ordered" else np.full(len(facts), 2)
    unit = units_of(facts["query"]).repeat(2)
    expected = raised_on_panel(
        draws.reshape(len(systems), -1, 4), unit, levels.repeat(2), splits_as(response, "unknown")
    )
    np.testing.assert_allclose(found, expected, atol=1e-9)
