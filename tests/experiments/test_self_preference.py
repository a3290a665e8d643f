"""A judge's leniency to its own family, against the obvious computation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from benchmarks.claims_self_preference import DESIGNS, ERRORS, KINDNESS, of_preference, simulated, truth_of
from crubric_core import Settings, Workspace
from crubric_core.experiments.self_preference import (
    EXPERIMENT,
    by_query,
    family,
    leniency,
    preference,
    self_preference,
)
from crubric_core.judges.unequal_panels import leniencies
from tests.tiers import crossed

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


OWN = np.array([True, True, False, False, False])


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
    query = np.arange(panel.shape[1]) // 2
    found = by_query(excess[:, :, 1], OWN, query)
    expected = []
    for q in range(query.max() + 1):
        here = excess[:, query == q, 1]
        for part in (here[OWN], here[~OWN]):
            known = part[~np.isnan(part)]
            rubrics = (~np.isnan(part)).any(axis=0).sum()
            expected.append((known.clip(0).mean(), -known.clip(None, 0).mean(), rubrics))
    np.testing.assert_allclose(found, np.reshape(expected, (-1, 2, 3)).swapaxes(0, 1))
    assert preference(found, 0.95)[0] == pytest.approx(
        np.mean([one[0] - one[1] - two[0] + two[1] for one, two in found.swapaxes(0, 1)])
    )


def test_a_query_in_which_one_side_is_unknown_tells_nothing():
    panel = study(seed=1)
    panel[2:, 4:6] = np.nan  # the third query has answers of the own family alone
    panel[:, 7, 1] = np.nan  # and one of the fourth's rubrics no label of the judge
    found = by_query(leniency(panel)[:, :, 1], OWN, np.arange(panel.shape[1]) // 2)
    assert found.shape == (2, 29, 3)
    assert found[:, :4, 2].tolist() == [[2, 2, 1, 2]] * 2


def test_a_judge_that_favours_its_family_is_found_and_named():
    result = run(study(kind=0.6))
    row = result.frame().set_index("judge").loc["gpt-judge"]
    assert (row["family"], row["own"], row["others"], row["queries"]) == ("OpenAI", 2, 3, 30)
    assert row["low"] > 0
    assert "gpt-judge is kinder to systems of its own family" in EXPERIMENT.headline(result)
    # two judges have a family
    assert (row["low"], row["high"]) == pytest.approx(naive_ends(study(kind=0.6), 1, 0.05 / 2))
    assert "as kind to none of 3 others" in EXPERIMENT.headline(result)


def test_a_judge_that_is_as_kind_to_a_system_of_another_family_is_said_to_be():
    panel = study(kind=0.8, queries=100)
    panel[2, :, 1] = 1.0  # to claude-opus it is kinder still
    result = run(panel)
    assert result.frame().set_index("judge").loc["gpt-judge", "as_kind"] == 1
    assert "gpt-judge is kinder" in EXPERIMENT.headline(result)
    assert "as kind to 1 of 3 others" in EXPERIMENT.headline(result)


@pytest.mark.parametrize("kind", [0.0, 0.6])
def test_who_else_was_asked_is_no_preference(kind):
    """A strict judge marks the systems of the first three alone, two of which are the GPT judge's own."""
    panel = study(kind=kind, queries=100)
    strict = np.random.default_rng(1).random(panel.shape[:2]) < 0.4
    panel[:, :, 2] = np.where(strict, 0.0, panel[:, :, 2])
    panel[3:, :, 2] = np.nan
    row = run(panel).frame().set_index("judge").loc["gpt-judge"]
    every = leniency(panel)[:, :, 1]
    assert np.nanmean(every[:2]) - np.nanmean(every[2:]) > 0.05, "the design tells nothing"
    assert (row["low"] > 0) == (kind > 0)
    assert row["high"] > 0


def test_a_system_that_a_judge_did_not_mark_is_neither_as_kind_nor_as_strict():
    panel = study(kind=0.0)
    panel[:2, :, 1] = 0.0  # the judge is strict to its own family
    panel[4, :, 1] = np.nan
    result = run(panel)
    row = result.frame().set_index("judge").loc["gpt-judge"]
    assert (row["own"], row["others"], row["as_kind"]) == (2, 2, 2)
    assert "gpt-judge is stricter" in EXPERIMENT.headline(result)
    assert "as strict to none of 2 others" in EXPERIMENT.headline(result)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize(("kind", "rubrics"), [(0.02, 1), (0.6, 4)])
def test_the_interval_has_the_wider_ends_of_shares_and_students_t(confidence, kind, rubrics):
    panel = study(kind, seed=3, queries=12)[:, : 12 * rubrics]
    query = np.arange(panel.shape[1]) // rubrics
    _, low, high, n = preference(by_query(leniency(panel)[:, :, 1], OWN, query), confidence)
    assert (low, high) == pytest.approx(naive_ends(panel, 1, 1 - confidence, query))
    assert n == query.max() + 1


def naive_ends(panel, judge, alpha, query=None):
    """Of kinder less stricter to the own family, less the same of others: Zou and Donner 2008, twice; or t."""
    query = np.arange(panel.shape[1]) // 2 if query is None else query
    n = query.max() + 1
    rest = np.delete(panel, judge, axis=2).mean(axis=2)
    excess = panel[:, :, judge] - rest
    rates = np.array(
        [
            [(np.maximum(sign * excess, 0)[part][:, query == q]).mean() for q in range(n)]
            for part in (OWN, ~OWN)
            for sign in (1, -1)
        ]
    )
    z, t = stats.norm.ppf(1 - alpha / 2), stats.t.ppf(1 - alpha / 2, n - 1)

    def exact(rate):
        share, trials = rate.mean(), 1 / np.mean([1 / np.sum(query == q) for q in range(n)]) * n
        if rate.any():
            trials = share * (1 - share) / (rate.var(ddof=1) / n) * (z / t) ** 2
        met = share * trials
        low = stats.beta.ppf(alpha / 2, met, trials - met + 1) if met else 0.0
        return share, low, stats.beta.ppf(1 - alpha / 2, met + 1, trials - met)

    def difference(one, other, first, second):
        r = np.corrcoef(first, second)[0, 1] if first.any() and second.any() else 0.0
        below, above = (one[0] - one[1], other[2] - other[0]), (one[2] - one[0], other[0] - other[1])
        low, high = (np.sqrt(a**2 + b**2 - 2 * r * a * b) for a, b in (below, above))
        return one[0] - other[0], one[0] - other[0] - low, one[0] - other[0] + high

    ends = [exact(rate) for rate in rates]
    own, others = (difference(ends[i], ends[i + 1], rates[i], rates[i + 1]) for i in (0, 2))
    value, low, high = difference(own, others, rates[0] - rates[1], rates[2] - rates[3])
    half = t * stats.sem(rates[0] - rates[1] - rates[2] + rates[3])
    return min(low, value - half), max(high, value + half)


@pytest.mark.parametrize(
    ("design", "simulated"),
    crossed(range(len(DESIGNS)), [(0, 2, 10), (0, 2, 50), (1, 4, 10), (2, 3, 5), (2, 0, 20)]),
)
def test_the_intervals_hold_self_preference(design, simulated):
    """Student's t held .39 to .95 of the first three kinds of tables (``simulated_claims self_preference``)."""
    errors, kindness, queries = simulated
    rng, args = np.random.default_rng(design), (DESIGNS[design], ERRORS[errors], KINDNESS[kindness], queries)
    assert np.mean([of_preference(rng, *args)[0] for _ in range(300)]) > 0.92


def test_the_truth_of_a_simulated_table_is_the_mean_of_many():
    for kindness in KINDNESS:
        args = DESIGNS[1], ERRORS[1], kindness
        panel, own, query = simulated(np.random.default_rng(1), *args, 20_000)
        mean, low, high, _ = preference(by_query(leniency(panel)[:, :, 0], own, query), 0.999)
        assert low < truth_of(*args[1:]) < high
        assert mean == pytest.approx(truth_of(*args[1:]), abs=0.006)


def test_judges_that_never_differ_may_differ_elsewhere_and_few_queries_tell_nothing():
    same = np.repeat(study(queries=8)[:, :, :1], 3, axis=2)
    row = run(same).frame().set_index("judge").loc["gpt-judge"]
    most = 1 - (0.05 / 4) ** (1 / 16)  # of two judges and 16 rubrics
    assert row["preference"] == 0
    assert (row["low"], row["high"]) == pytest.approx((-most * np.sqrt(2), most * np.sqrt(2)))
    few = run(study(kind=0.9, queries=4))
    row = few.frame().set_index("judge").loc["gpt-judge"]
    assert row["preference"] > 0
    assert np.isnan([row["low"], row["high"]]).all()
    assert EXPERIMENT.headline(few) == "Self-preference is unknown here."
    assert few.found.endswith("on 5 queries or more.")


def test_judges_with_too_few_queries_widen_no_other_judges_interval():
    panel = study(kind=0.6)
    panel[2, 8:, 0] = np.nan  # four queries of claude-judge with claude-opus
    row = run(panel).frame().set_index("judge").loc["gpt-judge"]
    query = np.arange(60) // 2
    as_lenient = panel - leniencies(panel, query, np.full(60, 2))  # other judges labelled claude-opus
    sides = by_query(leniency(as_lenient)[:, :, 1], OWN, query)
    assert (row["low"], row["high"]) == pytest.approx(preference(sides, 0.95)[1:3])


def test_a_judge_without_a_family_is_unknown_and_all_who_are_separated_from_0_are_named():
    result = run(study(seed=4))
    table = result.frame().set_index("judge")
    assert np.isnan(table.loc["mixtral-judge", "preference"])
    shown = table[(table["low"] > 0) | (table["high"] < 0)]
    said = EXPERIMENT.headline(result)
    assert [judge for judge in JUDGES if judge in said] == [judge for judge in JUDGES if judge in shown.index]
