"""Compile, or load, the compiled loops before they are needed: the first time on a machine this takes seconds."""

from __future__ import annotations

import numpy as np

from ..bank.pairs import PairMoments
from ..bank.pairs_order import pairs_order
from ..bank.worth import bank_worth
from ..irt.cells import label_scores, scored_items, softplus_terms, unit_scores
from ..irt.models import ItemParameters
from ..leaderboard.different_units import differing_units
from ..leaderboard.simultaneous import FEW, largest_differences
from ..task_types.scoring import query_scores


def compile_ahead() -> None:
    """Run each compiled loop once on tiny inputs, so that later calls need not wait for its compilation."""
    one, two, first = np.ones((1, 1)), np.ones((2, 2)), np.zeros(1, dtype=np.int64)
    pairs_order(PairMoments(two, two, two, first, one[0]).distances(), first)
    items = ItemParameters(one[0], one[0], np.zeros(1), None)
    terms = softplus_terms([items])
    terms.at_nodes(first, one, first, one[0], terms.softplus(one[0]))
    label_scores(items, one, one[0])
    unit_scores(scored_items([items]), first, one, one > 0, first, one[0], first)
    differing_units(one, first)
    query_scores(one, one[0], first, 1)
    bank_worth(two[0], two > 0, two[0], two > 0)
    for systems in (2, FEW):
        largest_differences(np.ones((2, systems)), np.ones((systems, systems)))
