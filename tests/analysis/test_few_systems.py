"""With fewer than six systems the claims are about scores, on every rubric that passes: equal ones are ties."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, binom

from crubric_core import Settings, Workspace, run_pipeline
from crubric_core.analysis.columns import BY_ABILITY, BY_SCORE, rests_on_scores, shown_columns
from crubric_core.analysis.result import Result
from crubric_core.figures.shared_view import shared_figures
from crubric_core.leaderboard.inference import Inference, infer
from crubric_core.leaderboard.influence import score_influence
from crubric_core.sharing.build import Choices, build_view


def analysed(y: np.ndarray, per_query: int = 1, **settings: object) -> Result:
    """The result of labels (M, J) that two judges give alike."""
    systems, rubrics = y.shape
    rows = [
        (f"q{j // per_query:03d}", f"r{j:03d}", f"s{i}", judge, int(y[i, j]))
        for i in range(systems)
        for j in range(rubrics)
        for judge in ("x", "y")
    ]
    table = pd.DataFrame(rows, columns=["query", "rubric", "system", "judge", "label"])
    with Workspace() as workspace:
        workspace.ingest(table.to_csv(index=False).encode(), "d", "labels")
        return run_pipeline(workspace.dataset("d"), Settings(**settings))


def passes(*counts: int, of: int = 100) -> np.ndarray:
    """Labels of systems that pass the first so many rubrics."""
    return np.arange(of) < np.array(counts)[:, None]


def board(y: np.ndarray) -> Inference:
    return infer(score_influence(y.astype(float), np.ones(y.shape[1])), np.random.default_rng(0))


def test_two_systems_that_differ_on_three_of_a_hundred_queries_are_not_separated():
    found = analysed(passes(100, 97), budget=10)
    assert "not separated" in found.claims.headline[0]
    assert found.leaderboard["score"].tolist() == [1.0, 0.97]
    assert found.comparisons["p_value"][0] == pytest.approx(0.25, abs=0.02), "the exact test"
    basis = " ".join(found.claims.basis)
    assert "Ranked on all 100 rubrics" in basis
    assert "The evidence is 100 queries" in basis


@pytest.mark.parametrize("basis", ["all", "bank"])
def test_a_score_is_the_share_of_all_rubrics_that_pass_whatever_the_basis(basis):
    y = np.random.default_rng(3).random((3, 60)) < [[0.9], [0.8], [0.7]]
    found = analysed(y, per_query=3, budget=5, basis=basis)
    table = found.leaderboard.set_index("system")
    assert [table["score"][f"s{i}"] for i in range(3)] == pytest.approx(y.mean(axis=1))
    assert set(table["basis"]) == {"all"}
    assert ("no bank is chosen without one of them" in " ".join(found.claims.basis)) == (basis == "bank")


def test_tables_views_and_figures_show_the_scores_that_the_claims_are_about():
    found = analysed(passes(100, 97, 60), budget=10)
    table, standing = found.leaderboard, found.ranking.standing
    assert table["score_low"].tolist() == pytest.approx(standing.low)
    assert table["score_high"].tolist() == pytest.approx(standing.high)
    assert table[["theta_low", "theta_high"]].isna().all(axis=None)
    assert shown_columns(table) == BY_SCORE[1:]
    (shown,) = [each for each in shared_figures(build_view(found, Choices())) if each.part == "leaderboard"]
    assert shown.title == "Score with its 95% interval, in tiers"
    assert shown.figure.layout.xaxis.title.text == "score S"
    many = analysed(passes(*range(30, 93, 9)), budget=10).leaderboard
    assert not rests_on_scores(many)
    assert many[["score_low", "score_high"]].isna().all(axis=None)
    assert shown_columns(many) == BY_ABILITY[1:]


def test_no_interval_leaves_the_range_of_scores():
    r = board(np.vstack([passes(20, 19, 0, of=20)]))
    assert r.high[0] == 1
    assert r.low[2] == 0
    assert ((r.low >= 0) & (r.high <= 1) & (r.low < r.high)).all()
    assert np.isfinite(r.difference_low).all()
    assert np.abs(np.array([r.difference_low, r.difference_high])).max() <= 1
    assert r.low[0] == pytest.approx(0.025 ** (1 / 20)), "Clopper and Pearson's"
    assert r.high[2] == pytest.approx(1 - 0.025 ** (1 / 20))


def test_scores_on_different_queries_stay_between_the_ends_of_the_scale_too():
    rng = np.random.default_rng(5)
    scores = rng.binomial(1, [[0.99], [0.95], [0.5]], (3, 40)).astype(float)
    scores[0], scores[0, ::2] = 1.0, np.nan
    r = infer(score_influence(scores, np.ones(40)), np.random.default_rng(0))
    assert r.saturated[0] == 1
    assert ((r.low >= 0) & (r.low <= r.estimate) & (r.estimate <= r.high) & (r.high <= 1)).all()
    assert np.abs(np.array([r.difference_low, r.difference_high])).max() <= 1


def test_the_interval_of_a_share_of_many_answers_is_nearly_the_binomial_one():
    y = np.random.default_rng(1).permuted(passes(700, of=1000), axis=1)
    r = board(np.vstack([y, y]))
    exact = beta.ppf(0.025, 700, 301), beta.ppf(0.975, 701, 300)
    assert (r.low[0], r.high[0]) == pytest.approx(exact, abs=2e-4)


@pytest.mark.parametrize(("differing", "apart"), [(5, False), (6, True)])
def test_a_pair_is_separated_only_if_the_sign_test_of_what_differs_says_so(differing, apart):
    r = board(passes(100, 100 - differing))
    assert r.separated[0, 1] == apart
    assert r.p_value[0, 1] >= 2.0 ** (1 - differing) - 1e-12
    assert (r.difference_low[0, 1] > 0) == apart


def test_one_query_that_holds_nearly_all_weight_is_one_unit_however_many_others_differ():
    scores = np.random.default_rng(4).random((4, 30))
    found = infer(score_influence(scores, np.where(np.arange(30) < 1, 1e4, 1.0)), np.random.default_rng(0))
    assert not found.separated.any()


def test_where_a_violation_costs_points_a_system_below_zero_is_not_at_the_end_of_the_scale():
    scores = np.random.default_rng(2).uniform(-0.6, -0.1, (2, 30)) - np.array([[0.0], [0.3]])
    found = infer(score_influence(scores, np.ones(30), low=-1.0), np.random.default_rng(0))
    assert not found.saturated.any()
    assert found.separated[0, 1]
    assert (found.low >= -1).all()


@pytest.mark.parametrize(
    ("systems", "queries", "rate"), [(2, 20, 0.8), (2, 100, 0.97), (3, 50, 0.8), (5, 20, 0.5)]
)
def test_equal_systems_are_separated_on_one_board_of_twenty(systems, queries, rate):
    rng, tables = np.random.default_rng(systems), 300
    odds = (
        np.log(rate / (1 - rate))
        + rng.normal(size=(tables, 1, queries))
        + 0.5 * rng.normal(size=(tables, systems, queries))
    )
    y = rng.random(odds.shape) < 1 / (1 + np.exp(-odds))
    wrong = sum(bool(board(each).separated.any()) for each in y)
    assert binom.sf(wrong - 1, tables, 0.05) > 0.001, wrong


@pytest.mark.parametrize(("queries", "rate"), [(10, 0.5), (20, 0.8), (20, 0.97), (100, 0.97)])
def test_nineteen_of_twenty_intervals_hold_the_rate_of_passing(queries, rate):
    rng, tables = np.random.default_rng(queries), 300
    y = rng.random((tables, 2, queries)) < rate
    held = [(r.low <= rate) & (rate <= r.high) for r in map(board, y)]
    assert binom.cdf(np.sum(held), 2 * tables, 0.95) > 0.001, np.mean(held)


def apart_but_for(common: np.ndarray, own: int, rng: np.random.Generator | None = None) -> np.ndarray:
    """(M, n) scores on queries that all have, (M, n'), and on as many that each has alone; NaN elsewhere."""
    rng = np.random.default_rng(0) if rng is None else rng
    size = len(common)
    alone = np.full((size, own * size), np.nan)
    for i in range(size):
        alone[i, i * own : (i + 1) * own] = rng.integers(0, 2, own)
    return np.hstack([common, alone])


def test_queries_that_one_of_two_systems_has_alone_say_nothing_of_their_difference():
    """They counted as units on which the two differ: five of five common queries had p = .0003."""
    five = np.array([[1.0] * 5, [0.0] * 5])
    found = board(apart_but_for(five, own=45))
    assert not found.separated.any()
    assert found.p_value[0, 1] == pytest.approx(2.0**-4)
    sixty = np.vstack([passes(60, 55, of=60)]).astype(float)
    more = board(np.hstack([sixty, np.array([[0.0, 1.0] * 20, [np.nan] * 40])]))
    assert not more.separated.any()
    assert more.p_value[0, 1] >= board(sixty).p_value[0, 1] - 1e-12


@pytest.mark.parametrize("systems", [2, 3, 5])
def test_equal_systems_with_few_common_queries_are_seldom_separated(systems):
    """Of 300 boards each .11, .27 and .35 had a false separation, where 5% may have."""
    rng, false = np.random.default_rng(1), 0
    for _ in range(100):
        scores = apart_but_for(rng.integers(0, 2, (systems, 8)).astype(float), own=45, rng=rng)
        false += board(scores).separated.any()
    assert false <= 10


def spans(*parts: tuple[int, int], of: int) -> np.ndarray:
    """Which queries each system has: from one to before the other."""
    place = np.arange(of)
    return np.array([(place >= low) & (place < high) for low, high in parts])


def scored(known: np.ndarray, rng: np.random.Generator, effect: np.ndarray | float = 0.0) -> np.ndarray:
    """Scores of queries that differ in difficulty; NaN where a system does not have one."""
    size, of = known.shape
    scores = (
        rng.normal(0, 1, of)
        + np.reshape(np.broadcast_to(effect, size), (-1, 1))
        + rng.normal(0, 1, known.shape)
    )
    return np.where(known, scores, np.nan)


def standing(known: np.ndarray, rng: np.random.Generator, effect: np.ndarray | float = 0.0) -> Inference:
    found = score_influence(scored(known, rng, effect), np.ones(known.shape[1]), low=-np.inf, high=np.inf)
    return infer(found, np.random.default_rng(0))


def test_systems_without_a_common_query_are_compared_by_way_of_a_third_that_has_the_queries_of_both():
    known = spans((0, 60), (0, 120), (60, 120), of=120)
    rng = np.random.default_rng(2)
    assert standing(known, rng, np.array([1.0, 0.0, -1.0])).separated[0, 2]
    false = sum(standing(known, rng).separated.any() for _ in range(100))
    assert false <= 10


@pytest.mark.parametrize("shared", [6, 12])
def test_two_systems_that_share_few_queries_have_no_more_of_those_that_they_share_with_others(shared):
    """Two pairs of systems with 50 queries each: across them differences rest on the common ones."""
    of = 100 - shared
    known = spans((0, 50), (0, 50), (50 - shared, of), (50 - shared, of), of=of)
    found = score_influence(scored(known, np.random.default_rng(0)), np.ones(of), low=-np.inf, high=np.inf)
    assert found.pair_units[0, 2] == shared
    assert found.pair_units[0, 1] == 50
    rng = np.random.default_rng(3)
    alone = [
        infer(
            score_influence(scored(known, rng), np.ones(of), low=-np.inf, high=np.inf),
            np.random.default_rng(0),
            simultaneous=False,
        ).separated[0, 2]
        for _ in range(200)
    ]
    assert np.mean(alone) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)


def test_the_interval_of_a_score_is_its_own_however_few_queries_others_have():
    scores = np.random.default_rng(4).integers(0, 2, (2, 100)).astype(float)
    whole = board(scores)
    scores[1, 2:] = np.nan
    found = board(scores)
    assert found.high[0] - found.low[0] == pytest.approx(whole.high[0] - whole.low[0], rel=0.05)


def test_a_pair_that_differs_on_few_of_its_common_queries_keeps_its_hurdle_where_a_third_lacks_some():
    third = np.where(np.arange(100) < 90, 1.0, np.nan)
    found = board(np.vstack([passes(100, 95), third[None]]))
    assert not found.separated[0, 1]
    assert found.p_value[0, 1] >= 2.0**-4 - 1e-12


def test_systems_are_compared_if_the_queries_of_their_scores_link_them_whatever_rubrics_vary():
    """Which systems share enough was asked of the rubrics on which labels differ: all of equal systems do not."""
    rows = [(q, s, 1 if s in "AB" else q % 2) for q in range(50) for s in "AB"]
    rows += [(q, "C", q % 2) for q in (0, 1, 2, 3, 4, 5)]
    rows += [(q, "C", q % 2) for q in range(60, 90)]
    table = pd.DataFrame(rows, columns=["query", "system", "label"]).assign(rubric="r")
    both = pd.concat([table.assign(judge=j) for j in "xy"])
    with Workspace() as workspace:
        workspace.ingest(both.to_csv(index=False).encode(), "d", "labels")
        found = run_pipeline(workspace.dataset("d"), Settings())
    assert found.ranking.standing.n_groups == 1
    two = pd.DataFrame(
        [(f"{s}{q}", s, q % 2) for s in "AB" for q in range(45)] + [("q", "A", 1), ("q", "B", 0)],
        columns=["query", "system", "label"],
    ).assign(rubric="r")
    both = pd.concat([two.assign(judge=j) for j in "xy"])
    with Workspace() as workspace:
        workspace.ingest(both.to_csv(index=False).encode(), "d", "labels")
        found = run_pipeline(workspace.dataset("d"), Settings())
    assert found.ranking.standing.n_groups == 2
    assert not found.ranking.standing.separated.any()


@pytest.mark.parametrize("systems", [30, 120])
def test_of_many_systems_those_without_a_common_query_are_told_apart_by_way_of_others(systems):
    """A half has the first queries, a half the last, and one system all of them."""
    half = systems // 2
    known = spans((0, 120), *[(0, 60)] * half, *[(60, 120)] * half, of=120)
    effect = np.r_[0.0, np.full(half, 2.0), np.full(half, -2.0)]
    assert standing(known, np.random.default_rng(6), effect).separated[1, -1]
