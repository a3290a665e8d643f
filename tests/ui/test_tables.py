"""What the pages' tables show is what was computed."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd

from crubric_core.ui import tables


def test_a_share_of_the_items_table_keeps_its_digits() -> None:
    made = pd.DataFrame({"rubric": ["r"], "nu": [1.0], "pass_rate": [29 / 60]})
    reduction = SimpleNamespace(rubrics=pd.DataFrame({"text": ["t"]}))
    assert tables.items(made, reduction, "all")["pass_rate"].tolist() == [29 / 60]
