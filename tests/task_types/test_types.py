from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crubric_core.errors import DatasetError
from crubric_core.task_types.types import TASK_TYPES, parse_task_type, resolve_task_types

UNKNOWN = [np.nan] * 4


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("evidence", "evidence_reasoning"),
        ("Evidence-Reasoning", "evidence_reasoning"),
        ("decision", "decision_support"),
        (" Decision support ", "decision_support"),
        ("safety-critical", "high_risk_constraint"),
        ("HIGH RISK", "high_risk_constraint"),
        ("high-risk", "high_risk_constraint"),
        ("divergent-creative", "creative_divergent"),
        ("creative", "creative_divergent"),
        *((name, name) for name in TASK_TYPES),
    ],
)
def test_every_name_in_use_is_understood(name, canonical):
    assert parse_task_type(name) == canonical


@pytest.mark.parametrize("blank", [None, np.nan, pd.NA, "", "  "])
def test_a_blank_is_no_type(blank):
    assert parse_task_type(blank) is None


@pytest.mark.parametrize("name", ["poetry", 3, "---"])
def test_an_unknown_name_is_refused_with_the_known_ones(name):
    with pytest.raises(
        DatasetError, match=r"is not a task type: use one of evidence_reasoning, decision_support"
    ):
        parse_task_type(name)


def test_a_given_type_wins_over_the_likeliest():
    types = resolve_task_types(["creative", None], np.array([[0.9, 0.1, 0, 0], [0.1, 0.7, 0.2, 0]]), 0.5, 2)
    assert types.task_type.tolist() == ["creative_divergent", "decision_support"]
    assert types.fallback.tolist() == [False, False]


def test_a_query_whose_types_are_all_unlikely_falls_back_and_is_flagged():
    probabilities = np.array([[0.4, 0.3, 0.2, 0.1], [0.5, 0.5, 0, 0], UNKNOWN])
    types = resolve_task_types(["decision", None, "decision"], probabilities, 0.5, 3)
    assert types.task_type.tolist() == [None, "evidence_reasoning", "decision_support"]
    assert types.fallback.tolist() == [True, False, False]


def test_without_types_or_probabilities_nothing_is_assumed():
    types = resolve_task_types(None, None, 0.5, 2)
    assert types.task_type.tolist() == [None, None]
    assert not types.fallback.any()
    types = resolve_task_types([None, np.nan], np.array([UNKNOWN, UNKNOWN]), 0.5, 2)
    assert types.task_type.tolist() == [None, None]
    assert not types.fallback.any()


def test_a_probability_may_be_missing():
    types = resolve_task_types(None, np.array([[np.nan, np.nan, 0.6, 0.1]]), 0.5, 1)
    assert types.task_type.tolist() == ["high_risk_constraint"]


def test_names_that_are_no_type_are_reported_once_and_count_as_unknown():
    types = resolve_task_types(["poetry", "coding", "poetry", "evidence"], None, 0.5, 4)
    assert types.task_type.tolist() == [None, None, None, "evidence_reasoning"]
    assert types.unrecognised == ("coding", "poetry")
