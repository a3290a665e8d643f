"""A judge who guesses is named, and judges who err are not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crubric_core.judges.agreement import agreement
from crubric_core.judges.guessing import guessing_note, kappa_with_others, tables_with_others
from crubric_core.judges.reliability import judge_reliability
from crubric_core.judges.votes import leave_one_out_majority

TABLES = 30


def judged(seed, right, systems=12, queries=20, per_query=5):
    """The judges' table of judges who are right on these shares of the cells."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(queries), per_query)
    truth = rng.random((systems, len(query))) < rng.beta(2, 2, len(query))
    correct = rng.random((*truth.shape, len(right))) < np.array(right)
    panel = np.where(correct, truth[:, :, None], ~truth[:, :, None]).astype(float)
    found = kappa_with_others(tables_with_others(panel, query))
    return pd.DataFrame(
        {
            "judge": [f"judge-{k}" for k in range(len(right))],
            "kappa": found.value,
            "kappa_low": found.low,
            "kappa_high": found.high,
        }
    )


@pytest.mark.parametrize(
    "right", [(0.9, 0.9, 0.9), (0.7, 0.7, 0.7), (0.9, 0.9, 0.65), (0.9, 0.8, 0.7, 0.6, 0.9)]
)
def test_judges_who_err_and_do_not_guess_are_hardly_ever_named(right):
    assert sum(guessing_note(judged(seed, right)) != "" for seed in range(TABLES)) <= 1


@pytest.mark.parametrize("right", [(0.9, 0.9, 0.5), (0.8, 0.8, 0.8, 0.5)])
def test_the_judge_who_guesses_is_named_and_no_other(right):
    notes = [guessing_note(judged(seed, right)) for seed in range(TABLES)]
    guesser = (
        f"judge-{len(right) - 1} is not shown to agree with the majority of the others beyond chance: κ = "
    )
    assert sum(note.startswith(guesser) for note in notes) >= 0.9 * TABLES
    assert not any(f"judge-{k}" in note for note in notes for k in range(len(right) - 1))


def test_kappa_with_the_others_is_cohen_s_of_all_cells_with_its_interval_over_queries() -> None:
    rng = np.random.default_rng(5)
    panel = rng.integers(0, 2, (6, 40, 4)).astype(float)
    panel[rng.random(panel.shape) < 0.2] = np.nan
    query = np.repeat(np.arange(10), 4)
    found, others = kappa_with_others(tables_with_others(panel, query)), leave_one_out_majority(panel)
    for k in range(4):
        pair = np.stack([panel[:, :, k].ravel(), others[:, :, k].ravel()], axis=1)
        one = agreement(pair, "cohen", groups=np.tile(query, 6))
        assert (found.value[k], found.low[k], found.high[k]) == pytest.approx((one.value, one.low, one.high))


def test_several_who_guess_are_named_and_where_all_do_nobody_is():
    several = guessing_note(judged(0, (0.9,) * 6 + (0.5,) * 4, queries=60))
    assert several.startswith("judge-6, judge-7, judge-8 and 1 more judge are not shown to agree")
    assert guessing_note(judged(0, (0.5, 0.5, 0.5), queries=60)).startswith("No judge is shown to agree")


def test_of_two_judges_nobody_is_said_to_guess():
    assert guessing_note(judged(0, (0.9, 0.5))) == ""


def test_the_report_has_the_kappa_of_one_judge_as_unknown():
    rubrics = pd.DataFrame({"rubric": ["a", "b"], "query": ["q", "r"]})
    table = judge_reliability(np.ones((3, 2, 1)), ["only"], rubrics).judges
    assert table[["kappa", "kappa_low", "kappa_high"]].isna().all(axis=None)
    assert guessing_note(table) == ""


@pytest.mark.parametrize(("high", "named"), [(0.19, True), (0.21, False)])
def test_a_judge_of_whom_too_little_is_known_is_not_named(high: float, named: bool) -> None:
    judges = pd.DataFrame({"judge": ["a", "b", "c"], "kappa": 0.7, "kappa_low": 0.6, "kappa_high": 0.8})
    judges.loc[2, ["kappa", "kappa_low", "kappa_high"]] = [0.05, -0.1, high]
    assert bool(guessing_note(judges)) == named
