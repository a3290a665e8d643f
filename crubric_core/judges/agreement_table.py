"""All coefficients of agreement of a panel in one table: of all judges together, and of each pair of judges."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from ..types import FloatArray, IntArray
from .agreement import Coefficient, agreement

BINARY: dict[Coefficient, str] = {
    "percent": "equal labels",
    "fleiss": "Fleiss' κ",
    "alpha_nominal": "Krippendorff's α",
}
ORDERED: dict[Coefficient, str] = {"alpha_ordinal": "… ordinal"}


def agreement_table(
    binary: FloatArray,
    judges: Sequence[str],
    cluster: IntArray,
    confidence: float = 0.95,
    ordered: FloatArray | None = None,
) -> pd.DataFrame:
    """Columns measure, raters, value, low, high, n_units: the whole panel first, then each pair of judges.

    binary, ordered: (M, J, K) labels as 0/1, and as levels if there are more than two. Units are cells (system,
    rubric); intervals hold for further clusters like these. cluster: (J,) the query of each rubric.
    """
    everyone = "both judges" if len(judges) == 2 else f"all {len(judges)} judges"
    wanted = [(words, everyone, name, binary) for name, words in BINARY.items()]
    if ordered is not None:
        wanted += [(words, everyone, name, ordered) for name, words in ORDERED.items()]
    for pair in combinations(range(len(judges)), 2):
        who = " – ".join(judges[k] for k in pair)
        wanted.append(("Cohen's κ", who, "cohen", binary[:, :, list(pair)]))
    group = np.tile(cluster, len(binary))
    found = [
        (words, who, agreement(labels.reshape(len(group), -1), name, confidence, group))
        for words, who, name, labels in wanted
    ]
    return pd.DataFrame(
        [(words, who, a.value, a.low, a.high, a.n_units) for words, who, a in found],
        columns=["measure", "raters", "value", "low", "high", "n_units"],
    )
