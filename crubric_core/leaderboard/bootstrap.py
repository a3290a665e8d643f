"""The query-stratified item bootstrap (docs/method.md §10), plain as in the paper or rescaled.

Drawing n rubrics from the n of a query reproduces only (n - 1) / n of their variance: half of it for two rubrics, none
for one, and a compact bank has about two a query. Then intervals shrink and tiers multiply. The rescaled bootstrap (Rao
& Wu, 1988) draws n - 1 and counts each n / (n - 1) times, which is unbiased. It draws the rubrics of all queries that
have only one from a common stratum (collapsed strata). ``benchmarks/coverage.py`` measures both.
"""

from __future__ import annotations

import numpy as np

from ..settings import Bootstrap
from ..types import FloatArray, IntArray


def draw_weights(
    query_index: IntArray, replicates: int, rng: np.random.Generator, kind: Bootstrap = "rescaled"
) -> FloatArray:
    """Weight of each rubric in each replicate: query_index (J,) → (replicates, J) ≥ 0, rows sum to J.

    ``plain``: whole counts of ``draw_counts``. ``rescaled``: see the module; the rubric of a query with only one always
    counts once if no other query has only one.
    """
    if kind == "plain":
        return draw_counts(query_index, replicates, rng).astype(float)
    _, stratum, size = np.unique(query_index, return_inverse=True, return_counts=True)
    stratum = np.where(size[stratum] == 1, len(size), stratum)
    _, stratum, size = np.unique(stratum, return_inverse=True, return_counts=True)
    weights = np.ones((replicates, len(query_index)))
    for number in np.flatnonzero(size > 1):
        members, n = np.flatnonzero(stratum == number), int(size[number])
        weights[:, members] = rng.multinomial(n - 1, np.full(n, 1 / n), size=replicates) * (n / (n - 1))
    return weights


def draw_counts(query_index: IntArray, replicates: int, rng: np.random.Generator) -> IntArray:
    """How often each rubric is drawn: each query draws as many rubrics as it has, with replacement.

    query_index (J,) any whole numbers → (replicates, J) counts ≥ 0; each query's counts sum to its number of rubrics.
    """
    n = len(query_index)
    by_query = np.argsort(query_index, kind="stable")
    _, position, size = np.unique(query_index[by_query], return_inverse=True, return_counts=True)
    first = (np.cumsum(size) - size)[position]
    counts = np.zeros((replicates, n), dtype=np.int64)
    for replicate in counts:
        drawn = first + rng.integers(0, size[position])
        replicate[by_query] = np.bincount(drawn, minlength=n)
    return counts
