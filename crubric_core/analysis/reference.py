"""The reference systems of a result, with which a new system is compared (docs/method.md §13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ..irt.fit import constant_rubrics
from ..leaderboard.reference import Reference, reference_of

if TYPE_CHECKING:
    from ..labels.store.reduction import Reduction
    from .result import Ranking, Result


def reference_systems(result: Result) -> Reference | None:
    """The systems of a result as reference systems; see ``reference_on_pool``."""
    return reference_on_pool(result.reduction, result.pool)


def reference_on_pool(reduction: Reduction, pool: Ranking) -> Reference | None:
    """The systems on all rubrics that pass; None if claims do not rest on cross-fitted abilities by query."""
    if pool.method != "units" or pool.ability.unit != "query" or len(pool.use) == 1:
        return None
    names = reduction.rubrics["query"].to_numpy(dtype=object)
    used = pd.unique(names[pool.use.any(axis=0) & ~constant_rubrics(reduction.y)])
    return reference_of(tuple(sorted(map(str, used))), pool.ability, pool.standing)
