from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from crubric_core.judges.patterns import find_patterns

SHAPES = st.tuples(st.integers(1, 20), st.integers(1, 4))
TABLES = arrays(np.float64, SHAPES, elements=st.sampled_from([0, 1, 2, np.nan]))


@settings(deadline=None)
@given(TABLES)
def test_every_unit_is_found_in_its_pattern(labels):
    patterns = find_patterns(labels)
    back = np.where(patterns.values < 0, np.nan, patterns.values)[patterns.index]
    np.testing.assert_array_equal(back, labels)
    assert len(np.unique(patterns.values, axis=0)) == len(patterns.values)
    np.testing.assert_array_equal(np.bincount(patterns.index), patterns.count)


def test_panels_too_wide_for_a_code_give_the_same_patterns():
    rng = np.random.default_rng(0)
    few = rng.integers(0, 2, (50, 3)).astype(float)
    wide = np.column_stack([few, np.full((50, 30), np.nan)])
    narrow, broad = find_patterns(few), find_patterns(wide)
    np.testing.assert_array_equal(narrow.values, broad.values[:, :3])
    np.testing.assert_array_equal(narrow.index, broad.index)
    np.testing.assert_array_equal(narrow.count, broad.count)


def test_patterns_are_counted_within_groups():
    found = find_patterns(np.array([[0.0], [0.0], [1.0], [1.0]])).group_counts(np.array([0, 1, 1, 1]))
    np.testing.assert_array_equal(found.toarray(), [[1, 0], [1, 2]])
