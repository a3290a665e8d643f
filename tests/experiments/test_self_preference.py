"""A judge's leniency to its own family, against the obvious computation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from crubric_core import Settings, Workspace
from crubric_core.experiments.self_preference import EXPERIMENT, family, leniency, preference, self_preference

SYSTEMS = ("gpt-4o", "o3", "claude-opus", "llama-3", "qwen-2")
JUDGES = ("claude-judge", "gpt-judge", "mixtral-judge")


def study(kind=0.0, seed=0, queries=30):
    """Labels (M, J, K); with chance ``kind`` the GPT judge passes what a GPT system fails."""
    rng = np.random.default_rng(seed)
    truth = rng.random((len(SYSTEMS), 2 * queries)) < 0.6
    noise = rng.random((*truth.shape, len(JUDGES))) < 0.1
    panel = np.where(noise, ~truth[..., None], truth[..., None]).astype(float)
    passed = rng.random(truth[:2].shape) < kind
    panel[:2, :, 1] = np.where(passed, 1.0, panel[:2, :, 1])
    return panel


def run(panel):
    rows = [
        f"{system},q{j // 2:02},r{j},{judge},{panel[i, j, k]:.0f}"
        for i, system in enumerate(SYSTEMS)
        for j in range(panel.shape[1])
        for k, judge in enumerate(JUDGES)
        if not np.isnan(panel[i, j, k])
    ]
    with Workspace() as ws:
        ws.ingest(("system,query,rubric,judge,label\n" + "\n".join(rows)).encode(), "d", format="csv")
        return self_preference(ws.dataset("d"), Settings())


@pytest.mark.parametrize(
    ("name", "maker"),
    [
        ("gpt-4o-2024", "OpenAI"),
        ("openai/o3-mini", "OpenAI"),
        ("bedrock_claude_opus_4_6", "Anthropic"),
        ("judge_gemini_flash_lite", "Google"),
        ("Llama-3-8B-OpenHermes", "Meta"),
        ("deepseek-r1-distill-llama-8b", None),
        ("annotator1", None),
        ("glmnet", None),
    ],
)
def test_families_are_read_from_names_and_doubt_is_none(name, maker):
    assert family(name) == maker


def test_leniency_and_preference_are_those_of_the_obvious_computation():
    panel = study(seed=1)
    panel[np.random.default_rng(2).random(panel.shape) < 0.2] = np.nan
    excess = leniency(panel)
    for i, j, k in np.ndindex(*panel.shape):
        others = [x for m, x in enumerate(panel[i, j]) if m != k and not np.isnan(x)]
        if np.isnan(panel[i, j, k]) or not others:
            assert np.isnan(excess[i, j, k])
        else:
            assert excess[i, j, k] == pytest.approx(panel[i, j, k] - np.mean(others))
    own, query = np.array([True, True, False, False, False]), np.arange(panel.shape[1]) // 2
    found = preference(excess[:, :, 1], own, query)
    for q in range(query.max() + 1):
        here = excess[:, query == q, 1]
        assert found[q] == pytest.approx(np.nanmean(here[own]) - np.nanmean(here[~own]), nan_ok=True)


def test_a_judge_that_favours_its_family_is_found_and_named():
    result = run(study(kind=0.6))
    row = result.frame().set_index("judge").loc["gpt-judge"]
    assert (row["family"], row["own"], row["others"], row["queries"]) == ("OpenAI", 2, 3, 30)
    assert row["low"] > 0
    assert "gpt-judge is kinder to systems of its own family" in EXPERIMENT.headline(result)
    own, query = np.array([True, True, False, False, False]), np.arange(60) // 2
    by_query = preference(leniency(study(kind=0.6))[:, :, 1], own, query)
    low, high = stats.t.interval(
        1 - 0.05 / 2, 29, by_query.mean(), stats.sem(by_query)
    )  # two judges have a family
    assert (row["low"], row["high"]) == pytest.approx((low, high))
    assert "as kind to none of 3 others" in EXPERIMENT.headline(result)


def test_a_judge_that_is_as_kind_to_a_system_of_another_family_is_said_to_be():
    panel = study(kind=0.8, queries=100)
    panel[2, :, 1] = 1.0  # to claude-opus it is kinder still
    result = run(panel)
    assert result.frame().set_index("judge").loc["gpt-judge", "as_kind"] == 1
    assert "gpt-judge is kinder" in EXPERIMENT.headline(result)
    assert "as kind to 1 of 3 others" in EXPERIMENT.headline(result)


def test_a_system_that_a_judge_did_not_mark_is_neither_as_kind_nor_as_strict():
    panel = study(kind=0.0)
    panel[:2, :, 1] = 0.0  # the judge is strict to its own family
    panel[4, :, 1] = np.nan
    result = run(panel)
    row = result.frame().set_index("judge").loc["gpt-judge"]
    assert (row["own"], row["others"], row["as_kind"]) == (2, 2, 2)
    assert "gpt-judge is stricter" in EXPERIMENT.headline(result)
    assert "as strict to none of 2 others" in EXPERIMENT.headline(result)


def test_fair_judges_are_seldom_accused():
    own, query = np.array([True, True, False, False, False]), np.arange(60) // 2
    accused = []
    for seed in range(200):
        by_query = preference(leniency(study(seed=seed))[:, :, 1], own, query)
        accused.append(abs(stats.ttest_1samp(by_query, 0).statistic) > stats.t.ppf(0.975, len(by_query) - 1))
    assert np.mean(accused) <= 0.09


def test_a_judge_without_a_family_is_unknown_and_all_who_are_separated_from_0_are_named():
    result = run(study(seed=4))
    table = result.frame().set_index("judge")
    assert np.isnan(table.loc["mixtral-judge", "preference"])
    shown = table[(table["low"] > 0) | (table["high"] < 0)]
    said = EXPERIMENT.headline(result)
    assert [judge for judge in JUDGES if judge in said] == [judge for judge in JUDGES if judge in shown.index]
