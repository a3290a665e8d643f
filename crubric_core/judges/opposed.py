"""Judges whose labels are opposite to those of the others, perhaps because their 0 means met."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..text import ends, listed, numeral, short_name, verb

SHOWN = 3


def opposed_note(agreement: pd.DataFrame, judges: Sequence[str]) -> str:
    """A note on the judges that disagree by more than chance with most of the others; "" if there are none.

    agreement: ``agreement_table`` of the K judges. A judge is named if the interval of Cohen's kappa is below 0 with
    more than half of the judges with which it shares enough cells.
    """
    pairs = agreement[agreement["measure"] == "Cohen's κ"]
    value, low, high = np.full((3, len(judges), len(judges)), np.nan)
    above = np.triu_indices(len(judges), 1)
    for name, matrix in (("value", value), ("low", low), ("high", high)):
        matrix[above] = matrix.T[above] = pairs[name].to_numpy()
    below, known = high < 0, np.isfinite(high).sum(axis=1)
    found = np.flatnonzero(2 * below.sum(axis=1) > known).tolist()
    if not found:
        return ""
    names = [short_name(judges[k], 60) for k in found]
    one, other = found[0], int(np.argmin(np.where(below[found[0]], value[found[0]], np.inf)))
    least = f"κ = {numeral(value[one, other])} {ends(low[one, other], high[one, other])}"
    if len(judges) == 2:
        said, whose = f"{listed(names)} disagree by more than chance", "the labels of one"
    else:
        whose = "its labels" if len(found) == 1 else "their labels"
        most = f"most of the other judges, such as {short_name(judges[other], 60)}"
        said = f"{listed(names, SHOWN)} {verb(len(found), 'disagree')} by more than chance with {most}"
    return (
        f"{said} ({least}). Are {whose} the other way round (0 means met)? Then reverse them when you read the file "
        "(--answer 0=1 --answer 1=0)."
    )
