"""Equal rows of labels, grouped into patterns: what depends on a row alone is computed once for each pattern."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..types import FloatArray, IntArray

_SMALL_CODE = 1 << 20
UNKNOWN = -1


@dataclass(frozen=True)
class Patterns:
    """The P distinct rows of a table of U units × K raters.

    values: (P, K) levels 0..L-1; UNKNOWN (-1) where there is no label.
    index: (U,) the pattern of each unit.
    count: (P,) number of units with the pattern; > 0.
    """

    values: IntArray
    index: IntArray
    count: IntArray

    def group_counts(self, groups: IntArray) -> sparse.csr_array:
        """(G, P) how often each pattern occurs in each group; ``groups`` (U,) holds 0..G-1."""
        shape = (int(groups.max(initial=-1)) + 1, len(self.count))
        return sparse.coo_array((np.ones(len(groups)), (groups, self.index)), shape=shape).tocsr()


def find_patterns(labels: FloatArray) -> Patterns:
    """The distinct rows of ``labels`` (U, K), whole levels ≥ 0 with NaN unknown, in lexical order."""
    levels = np.where(np.isnan(labels), UNKNOWN, labels).astype(np.int64)
    base = int(levels.max(initial=0)) + 2
    if base ** levels.shape[1] > _SMALL_CODE:
        values, index, count = np.unique(levels, axis=0, return_inverse=True, return_counts=True)
        return Patterns(values, index.reshape(-1), count)
    place = base ** np.arange(levels.shape[1])[::-1]
    code = (levels + 1) @ place
    count = np.bincount(code)
    present = np.flatnonzero(count)
    position = np.cumsum(count > 0) - 1
    return Patterns(present[:, None] // place % base - 1, position[code], count[present])
