"""Majority, median, scale map and the baseline mask."""

from __future__ import annotations

import statistics

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from crubric_core.judges.consensus import baseline_mask, majority, median_low, scale_map
from crubric_core.labels import Reduction
from crubric_core.labels.store.pairs import PairCounts

NAN = np.nan
BINARY = arrays(
    float, array_shapes(min_dims=3, max_dims=3, max_side=4), elements=st.sampled_from([0.0, 1.0, NAN])
)
LEVELS = arrays(
    float,
    array_shapes(min_dims=3, max_dims=3, max_side=5),
    elements=st.sampled_from([0.0, 1.0, 2.0, 3.0, NAN]),
)


@given(panel=BINARY, tie=st.sampled_from(["unknown", "fail", "pass"]))
def test_majority_is_what_more_than_half_of_the_labels_say(panel, tie):
    found = majority(panel, tie)
    for cell, y in zip(panel.reshape(-1, panel.shape[-1]), found.ravel(), strict=True):
        known = [x for x in cell if not np.isnan(x)]
        if not known:
            expected = NAN
        elif known.count(1) == known.count(0):
            expected = {"unknown": NAN, "fail": 0, "pass": 1}[tie]
        else:
            expected = statistics.mode(known)
        np.testing.assert_equal(y, expected)


@given(panel=LEVELS)
def test_median_low_is_the_lower_middle_label(panel):
    found = median_low(panel)
    for cell, y in zip(panel.reshape(-1, panel.shape[-1]), found.ravel(), strict=True):
        known = [x for x in cell if not np.isnan(x)]
        np.testing.assert_equal(y, statistics.median_low(known) if known else NAN)


def test_without_any_judge_no_consensus_is_known():
    assert np.isnan(median_low(np.empty((2, 3, 0)))).all()
    assert np.isnan(majority(np.empty((2, 3, 0)))).all()


@given(panel=LEVELS)
def test_kernels_change_nothing_they_are_given(panel):
    before = panel.copy()
    majority(panel)
    median_low(panel)
    scale_map(panel, 4)
    np.testing.assert_array_equal(panel, before)


@pytest.mark.parametrize(
    ("n_levels", "passed"),
    [(2, [0, 1]), (3, [0, 1, 1]), (4, [0, 0, 1, 1]), (5, [0, 0, 1, 1, 1]), (10, [0] * 5 + [1] * 5)],
)
def test_the_scale_map_passes_from_the_midpoint_up(n_levels, passed):
    np.testing.assert_array_equal(scale_map(np.arange(n_levels, dtype=float), n_levels), passed)


def test_the_scale_map_takes_a_scale_for_each_rubric_and_keeps_the_unknown():
    np.testing.assert_array_equal(scale_map(np.array([[1.0, 1.0, NAN]]), np.array([2, 5, 5])), [[1, 0, NAN]])


def reduction(y, unanimous, levels=2, response="binary"):
    y = np.array(y, dtype=float)
    J = y.shape[1]
    zeros = np.zeros(J, dtype=np.int64)
    return Reduction(
        systems=tuple(map(str, range(len(y)))),
        rubrics=pd.DataFrame({"rubric": [f"r{j}" for j in range(J)], "query": "q"}),
        y=y,
        levels=np.full(J, levels),
        n_agree=zeros,
        n_total=zeros,
        pairs=PairCounts(*[zeros] * 5),
        max_panel=zeros,
        n_judges=3,
        unanimous=np.array(unanimous),
        n_labels=int(y.size),
        response=response,
    )


def test_the_baseline_keeps_unanimous_rubrics_that_hold_a_pass_and_a_fail():
    given = reduction([[1, 1, 1, 0, NAN], [0, 0, 1, 0, 1]], unanimous=[True, False, True, True, True])
    assert baseline_mask(given).tolist() == [True, False, False, False, False]


def test_the_baseline_of_graded_labels_looks_at_pass_and_fail():
    graded = reduction([[2, 0, 4], [4, 4, 1]], unanimous=[True] * 3, levels=5, response="ordered")
    assert baseline_mask(graded).tolist() == [False, True, True]
