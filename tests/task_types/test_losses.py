"""Which loss a rubric has: that of the first row that fits its severity and its query's task type."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crubric_core.scoring_rules import Loss
from crubric_core.task_types.losses import fitting_loss, kind_words, ratio_sentence
from crubric_core.task_types.types import HIGH_RISK, SHARES, types_of_queries

SEVERITY = ["critical", " Critical", "moderate", None, np.nan, "none"]
TYPES = np.array([HIGH_RISK, HIGH_RISK, HIGH_RISK, HIGH_RISK, None, "creative_divergent"], dtype=object)
CRITICAL, MODERATE, OTHER = Loss(HIGH_RISK, "critical", 10), Loss("*", "moderate", 1), Loss("*", "*", 0.1)


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        ((), [-1, -1, -1, -1, -1, -1]),
        ((CRITICAL,), [0, 0, -1, -1, -1, -1]),
        ((CRITICAL, MODERATE), [0, 0, 1, -1, -1, -1]),
        ((CRITICAL, MODERATE, OTHER), [0, 0, 1, 2, 2, 2]),
        ((OTHER, CRITICAL), [0, 0, 0, 0, 0, 0]),
        ((Loss(HIGH_RISK, "*", 3),), [0, 0, 0, 0, -1, -1]),
        ((Loss("*", "none", 3),), [-1, -1, -1, -1, -1, 0]),
        ((Loss("*", "nan", 3),), [-1, -1, -1, -1, -1, -1]),
    ],
)
def test_the_first_loss_that_fits_decides_and_an_unknown_severity_fits_any_alone(losses, expected):
    assert fitting_loss(losses, SEVERITY, TYPES).tolist() == expected


def test_a_query_below_tau_t_has_no_type_and_so_only_losses_of_any():
    chance = dict(zip(SHARES, ([0.1], [0.1], [0.6], [0.2]), strict=True))
    queries = pd.DataFrame({"task_type": [None], **chance})
    assert types_of_queries(queries, 0.5).task_type.tolist() == [HIGH_RISK]
    assert types_of_queries(queries, 0.7).task_type.tolist() == [None]


def test_losses_are_read_back_as_pairs():
    assert ratio_sentence((MODERATE, CRITICAL, OTHER)) == (
        "One violated critical rubric (high-risk constraint) is as bad as 10 moderate rubrics, or 100 other rubrics."
    )
    assert ratio_sentence((CRITICAL, Loss("*", "*", 0))) == ""
    assert kind_words(Loss("decision_support", "*", 1)) == "other rubric (decision support)"
