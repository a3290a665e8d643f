"""What a strategy chooses among."""

from __future__ import annotations

import numpy as np
import pytest

from crubric_core.analysis.selection import strategy_candidates
from tests.judges.test_consensus import reduction


@pytest.mark.parametrize(
    ("strategy", "candidates"),
    [
        ("pairs", [0, 1]),
        ("greedy", [0, 1]),
        ("plain", [0, 1]),
        ("random", [0, 1, 3]),
        ("hard_random", [0, 3]),
    ],
)
def test_the_gate_and_the_baseline_each_hold_for_their_own_strategies(strategy, candidates):
    given = reduction([[1, 1, 1, 0], [0, 0, 1, 1]], unanimous=[True, False, True, True])
    feasible, usable = np.array([True, True, True, False]), np.array([True, True, False, True])
    assert np.flatnonzero(strategy_candidates(strategy, given, feasible, usable)).tolist() == candidates
