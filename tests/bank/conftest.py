from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy.special import expit

from crubric_core.bank.utility import utility_grid


def realistic_bank(n, seed=0, spread=1.5):
    """Information of n realistic 2PL rubrics at the 41 nodes, with the weights there."""
    rng = np.random.default_rng(seed)
    a, b = np.exp(rng.normal(0, 0.5, n)), rng.normal(0, spread, n)
    grid = utility_grid()
    p = expit(a * (grid.theta[:, None] - b))
    return a**2 * p * (1 - p), grid.weights


@st.composite
def small_banks(draw, max_rubrics=8, max_nodes=4):
    """A few rubrics of few distinct columns, so that ties and empty rubrics are common.

    Values and weights are dyadic and sums have few terms: numpy adds them from the lowest node on in any layout.
    """
    nodes = draw(st.integers(1, max_nodes))
    column = st.tuples(*[st.sampled_from([0.0, 0.25, 1.0, 3.0])] * nodes)
    columns = draw(st.lists(column, min_size=1, max_size=max_rubrics))
    weights = draw(st.tuples(*[st.sampled_from([0.125, 0.25, 0.5])] * nodes))
    feasible = draw(st.lists(st.booleans(), min_size=len(columns), max_size=len(columns)))
    return np.array(columns).T.copy(), np.array(weights), np.array(feasible)
