"""What is said of a rubric above its labels."""

from __future__ import annotations

import pandas as pd

from crubric_core.ui.rubric_head import scale_sentence


def test_a_pass_mark_is_told_only_where_labels_are_read_by_it() -> None:
    rubric = pd.Series({"scale_min": 0, "scale_max": 4, "pass_mark": 2, "levels": 5, "polarity": 1})
    assert scale_sentence(rubric, ordered=False) == "Labels from 0 to 4; 2 and above counts as met."
    assert scale_sentence(rubric, ordered=True) == "Labels from 0 to 4."
