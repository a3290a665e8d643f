"""One search box finds rubrics by any of their words."""

from __future__ import annotations

import pandas as pd
import pytest

from crubric_core.analysis.search import find_rubrics

RUBRICS = pd.DataFrame(
    {
        "rubric": ["r1", "r2", "q2#0"],
        "query": ["q1", "q1", "q2"],
        "text": ["Cites a Source", None, "States the dose (mg)"],
        "tags": ["axis:accuracy", "", None],
        "dimension": [None, "style", "safety"],
        "severity": [None, None, "critical"],
    }
)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", ["r1", "r2", "q2#0"]),
        ("  ", ["r1", "r2", "q2#0"]),
        ("source", ["r1"]),
        ("SOURCE cites", ["r1"]),
        ("q1 style", ["r2"]),
        ("critical", ["q2#0"]),
        ("axis:", ["r1"]),
        ("(mg)", ["q2#0"]),
        ("#0", ["q2#0"]),
        ("nan", []),
        ("source critical", []),
    ],
)
def test_a_rubric_is_found_if_it_contains_every_word_somewhere(words: str, expected: list[str]) -> None:
    assert RUBRICS["rubric"][find_rubrics(RUBRICS, words)].tolist() == expected
