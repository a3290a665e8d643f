"""Which systems have a common scale: those with labels on the same queries (docs/method.md §10)."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from ..types import BoolArray, FloatArray, IntArray

ENOUGH_SHARED = 5  # units that link two systems


def linked_pairs(labelled: BoolArray, others: BoolArray) -> BoolArray:
    """(M, K) whether two systems share ENOUGH_SHARED labelled units, or all units of one of them.

    labelled: (n, M), others: (n, K), whether a system has labels on a unit.
    """
    mine, theirs = labelled.astype(np.float64), others.astype(np.float64)
    enough = np.clip(np.minimum.outer(mine.sum(axis=0), theirs.sum(axis=0)), 1, ENOUGH_SHARED)
    return np.asarray(mine.T @ theirs >= enough)


def linked_groups(labelled: BoolArray) -> IntArray:
    """(M,) group of each system, from 0: systems are in one group if linked, directly or through other systems.

    labelled: (n, M) whether a system has labels on a unit. Abilities of different groups have no common scale: a better
    group and a group with easier units give the same labels, and only the prior would decide between the two
    (``benchmarks.false_differences``).
    """
    linked = linked_pairs(labelled, labelled)
    if linked.all():  # the usual case
        return np.zeros(len(linked), dtype=np.int64)
    group: IntArray = connected_components(linked, directed=False)[1].astype(np.int64)
    return group


def groups_by_query(y: FloatArray, query: IntArray) -> tuple[IntArray, int]:
    """(M,) group of each system by the queries on which it has labels, and the number of groups of systems with labels.

    y: (M, J) labels, NaN unknown. query: (J,) of each rubric, from 0.
    """
    labelled = np.zeros((int(query.max(initial=-1)) + 1, len(y)), dtype=bool)
    np.logical_or.at(labelled, query, np.isfinite(y).T)
    group = linked_groups(labelled)
    return group, len(np.unique(group[labelled.any(axis=0)]))


def linked_in_both(one: IntArray | None, other: IntArray | None) -> IntArray | None:
    """(M,) groups of the systems that are together in both groupings; None: one group."""
    if one is None or other is None:
        return other if one is None else one
    both = np.unique(np.stack([one, other]), axis=1, return_inverse=True)[1]
    return np.asarray(both.reshape(-1), dtype=np.int64)
