"""Which systems have a common scale: those that were asked the same (docs/method.md §10)."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from ..types import BoolArray, FloatArray, IntArray

ENOUGH_SHARED = 5  # units that link two systems


def linked_pairs(labelled: BoolArray, others: BoolArray) -> BoolArray:
    """(M, K) whether systems share ENOUGH_SHARED units, or all of one's, that they have labels on: (n, M), (n, K)."""
    mine, theirs = labelled.astype(np.float64), others.astype(np.float64)
    enough = np.clip(np.minimum.outer(mine.sum(axis=0), theirs.sum(axis=0)), 1, ENOUGH_SHARED)
    return np.asarray(mine.T @ theirs >= enough)


def linked_groups(labelled: BoolArray) -> IntArray:
    """(M,) group of each system, from 0, by the units that it has labels on, (n, M): of linked pairs, and by others.

    Abilities of different groups have no common scale: that one group is better, and that its units are easier, give
    the same labels, and the prior decides between the two (``benchmarks.false_differences``).
    """
    linked = linked_pairs(labelled, labelled)
    if linked.all():  # as nearly always
        return np.zeros(len(linked), dtype=np.int64)
    group: IntArray = connected_components(linked, directed=False)[1].astype(np.int64)
    return group


def groups_by_query(y: FloatArray, query: IntArray) -> tuple[IntArray, int]:
    """(M,) group of each system by the queries on which it has labels, and how many groups those with labels form.

    y: (M, J) labels, NaN unknown. query: (J,) of each rubric, from 0.
    """
    labelled = np.zeros((int(query.max(initial=-1)) + 1, len(y)), dtype=bool)
    np.logical_or.at(labelled, query, np.isfinite(y).T)
    group = linked_groups(labelled)
    return group, len(np.unique(group[labelled.any(axis=0)]))


def linked_in_both(one: IntArray | None, other: IntArray | None) -> IntArray | None:
    """(M,) groups of systems that are in one group by both; None: all are one."""
    if one is None or other is None:
        return other if one is None else one
    both = np.unique(np.stack([one, other]), axis=1, return_inverse=True)[1]
    return np.asarray(both.reshape(-1), dtype=np.int64)
