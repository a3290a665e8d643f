"""What the experiments say of studies too small or too odd for them is still a sentence."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from crubric_core import Settings, Workspace
from crubric_core.errors import CrubricError
from crubric_core.experiments import EXPERIMENTS, run_experiment
from tests.experiments.conftest import QUICK, ingest, small_study
from tests.tiers import crossed

FAST = Settings(budget=10, replicates=20)
# an unknown number, a clause without words, a number that does not suit its noun
BROKEN = re.compile(
    r"\bnan\b|\binf\b|\bNone\b|; \.|: \.|, \.|\.\.|  |= —|\b1 (queries|systems|rubrics|judges)\b|\b0 rubrics"
)


def two_systems(labels: pd.DataFrame) -> pd.DataFrame:
    return labels[labels["system"].isin(["s0", "s1"])]


def one_query(labels: pd.DataFrame) -> pd.DataFrame:
    return labels.assign(query="q")


def no_full_panel(labels: pd.DataFrame) -> pd.DataFrame:
    """Each judge labels two systems of three."""
    system, judge = labels["system"].str[1:].astype(int), labels["judge"].str[1:].astype(int)
    return labels[system % 3 != judge]


@pytest.fixture(scope="module")
def odd():
    labels, _ = small_study(seed=4)
    with Workspace() as workspace:
        for make in (two_systems, one_query, no_full_panel):
            ingest(workspace, make.__name__, make(labels))
        yield workspace


@pytest.mark.parametrize(
    ("study", "name"),
    crossed(["two_systems", "one_query", "no_full_panel"], [n for n in EXPERIMENTS if n != "model_check"]),
)
def test_every_sentence_is_whole(odd, study, name):
    try:
        result = run_experiment(name, odd.dataset(study), FAST, **QUICK.get(name, {}))
    except CrubricError as refused:
        said = [str(refused)]
    else:
        said = [EXPERIMENTS[name].headline(result), result.found, *result.limits]
    assert [sentence for sentence in said if BROKEN.search(sentence) or not sentence.endswith(".")] == []


def test_no_curve_has_no_limits(odd):
    result = run_experiment("attrition", odd.dataset("no_full_panel"), FAST)
    assert (result.found, result.limits) == (
        "No cell has a label of every judge, so the retention curve is unknown.", (),
    )  # fmt: skip
