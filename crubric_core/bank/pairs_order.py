"""The greedy, query-balanced order of the ``pairs`` utility, by lazy evaluation (docs/method.md §8, step 6).

U is submodular: an upper bound of a gain holds for every later step (Minoux 1978). So a step evaluates only rubrics
whose old bound reaches the best gain found. A gain is concave in the rubric's m (``pairs_kernel``), so its tangent at
any m bounds it from above at the price of a dot product. At about the m of the rubrics chosen last, the bound is within
a few percent, and few exact gains are needed.
"""

from __future__ import annotations

import numpy as np

from ..errors import AssemblyError
from ..types import BoolArray, IntArray
from .pairs import PairDistances
from .pairs_kernel import LEAST, Search, fill
from .utility import BankOrder, order_along


def pairs_order(
    distances: PairDistances,
    query_index: IntArray,
    feasible: BoolArray | None = None,
    budget: int | None = None,
) -> BankOrder:
    """Greedy maximisation of U over the feasible rubrics, ``budget`` of them or all.

    At each step only rubrics of the queries used least so far compete; queries without rubrics left drop out. Ties
    go to the lowest index, and the bank of a smaller budget is a prefix. query_index: (J,) query of each rubric.
    """
    return order_along(distances, pairs_sequence(distances, query_index, feasible, budget))


def pairs_sequence(
    distances: PairDistances,
    query_index: IntArray,
    feasible: BoolArray | None = None,
    budget: int | None = None,
    begun: IntArray | None = None,
) -> IntArray:
    """(n,) the order of ``pairs_order``, indices only. begun: its first rubrics, if already known.

    Raises AssemblyError if query_index or feasible do not have J entries.
    """
    shape = distances.row.shape
    if query_index.shape != shape or (feasible is not None and feasible.shape != shape):
        raise AssemblyError(
            f"query_index and feasible must have one entry for each of the {shape[0]} rubrics."
        )
    candidates = distances.candidates(feasible)
    most = len(candidates) if budget is None else min(max(budget, 0), len(candidates))
    if not most:
        return np.empty(0, dtype=np.int64)
    order, known = np.empty(most, dtype=np.int64), 0 if begun is None else min(len(begun), most)
    if begun is not None:
        order[:known] = np.searchsorted(candidates, begun[:known])
    fill(_search(distances, distances.row[candidates], query_index[candidates]), order, known)
    return candidates[order]


def _search(distances: PairDistances, kind: IntArray, query: IntArray) -> Search:
    """The state of a search at the empty bank."""
    rises, (kinds, pairs) = distances.rises, distances.rises.shape
    return Search(
        rises,
        distances.weights,
        kind,
        query,
        _members(kind, kinds),
        _members(query, int(query.max()) + 1),
        bounds=np.full(kinds, np.inf),
        left=np.ones(pairs),
        root=np.zeros(pairs),
        touch=np.maximum(rises.mean(axis=0), LEAST),
        slopes=np.empty(pairs),
        terms=np.empty(pairs),
        remaining=np.ones(len(kind), dtype=bool),
        competing=np.zeros(len(kind), dtype=bool),
        rivals=np.zeros(kinds, dtype=np.int64),
    )


def _members(group: IntArray, groups: int) -> tuple[IntArray, IntArray]:
    """The members of all groups, one group after the other, and (groups + 1,) the start of each group."""
    members = np.argsort(group, kind="stable")
    return members, np.searchsorted(group[members], np.arange(groups + 1))
