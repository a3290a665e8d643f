"""What is compiled, loaded before it is needed: compiling takes seconds, once on a machine (``compiled``)."""

from __future__ import annotations

import numpy as np

from ..bank.pairs import PairMoments
from ..bank.pairs_order import pairs_order
from ..irt.cells import softplus_terms
from ..irt.models import ItemParameters
from ..leaderboard.simultaneous import largest_differences


def compile_ahead() -> None:
    """Run each compiled loop once on a number or two."""
    one, two, first = np.ones((1, 1)), np.ones((2, 2)), np.zeros(1, dtype=np.int64)
    pairs_order(PairMoments(two, two, two, first, one[0]).distances(), first)
    terms = softplus_terms(ItemParameters(one[0], one[0], np.zeros(1), None))
    terms.at_nodes(terms.shares(one), one[0], terms.softplus(one[0]), first)
    largest_differences(np.ones((2, 2)), np.ones((2, 2)))
