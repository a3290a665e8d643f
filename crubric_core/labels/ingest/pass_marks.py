"""Describe in words which levels of graded scales count as met."""

from __future__ import annotations

import pandas as pd

from ..readers.values import shortened

_SHARED = ["scale_min", "scale_max", "pass_mark", "polarity"]


def pass_mark_sentences(criteria: pd.DataFrame, *, named: bool = True) -> tuple[str, ...]:
    """Sentences such as "3 and above of 1–5 counts as met (24 criteria).", one for each scale and mark.

    Only criteria with more than two levels count. If a sentence is about a single criterion, it names the criterion;
    with ``named`` False it does not, for readers who may not see the rubrics.
    criteria: rows with criterion, scale_min, scale_max, levels, polarity, pass_mark (of rubrics or of criteria).
    """
    graded = criteria[criteria["levels"] > 2].drop_duplicates("criterion")
    sentences = []
    for ends, group in graded.groupby(_SHARED):
        low, high, mark, polarity = (int(str(end)) for end in ends)
        names = group["criterion"].tolist()
        whom = (
            f"{len(names):,} criteria" if len(names) > 1 else shortened(names[0]) if named else "1 criterion"
        )
        bad = ", which is bad" if polarity < 0 else ""
        sentences.append((-len(names), f"{mark} and above of {low}–{high} counts as met{bad} ({whom})."))
    return tuple(sentence for _, sentence in sorted(sentences))
