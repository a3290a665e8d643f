"""Search the rubrics of a dataset by words."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..types import BoolArray

SEARCHED = ("rubric", "query", "text", "tags", "dimension", "severity")


def find_rubrics(rubrics: pd.DataFrame, words: str) -> BoolArray:
    """(J,) rubrics that contain each of the words in any of the columns SEARCHED, in upper or lower case.

    rubrics: J rows as ``Dataset.rubrics``; columns of SEARCHED that it lacks are ignored. words: separated by blanks;
    without a word all rubrics are found.
    """
    found = np.ones(len(rubrics), dtype=bool)
    if not words.split():
        return found
    columns = [rubrics[name].fillna("").astype(str).str.casefold() for name in SEARCHED if name in rubrics]
    for word in words.casefold().split():
        hits = [column.str.contains(word, regex=False).to_numpy(dtype=bool) for column in columns]
        found &= np.logical_or.reduce(hits) if hits else False
    return found
