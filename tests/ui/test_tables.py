"""What the pages' tables show is what was computed."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd

from crubric_core.ui import tables


def test_a_share_of_the_items_table_keeps_its_digits() -> None:
    made = pd.DataFrame({"rubric": ["r"], "nu": [1.0], "pass_rate": [29 / 60]})
    reduction = SimpleNamespace(rubrics=pd.DataFrame({"text": ["t"]}))
    assert tables.items(made, reduction, "all")["pass_rate"].tolist() == [29 / 60]


def test_a_flag_of_the_measurability_table_is_in_words_and_filters_as_before() -> None:
    gate = pd.DataFrame({"rubric": ["a", "b"], "kappa": [0.1, 0.2], "q_mean": 0.5, "flag": ["pair_only", ""]})
    reduction = SimpleNamespace(rubrics=pd.DataFrame({"text": ["t", "u"]}))
    shown = tables.measurability(gate, reduction, "flagged", "kappa")
    assert shown["flag"].tolist() == ["at most two judges"]
    assert gate["flag"].tolist() == ["pair_only", ""], "the file has the flag itself"


def test_agreed_is_not_said_to_mean_equal_grades_where_a_pass_mark_reads_them() -> None:
    told = tables.MEASURABILITY["n_agree"]["help"]
    assert "pass mark" in told
    assert "tolerance" in told
