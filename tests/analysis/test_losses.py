"""What is said of expected losses is what was computed of them; without losses nothing is said, and nothing changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from crubric_core import ScoringRules, Settings, Workspace
from crubric_core.analysis.fitted import with_rules
from crubric_core.analysis.losses import SEEN, ViolationLoss
from crubric_core.analysis.stages import Analysis
from crubric_core.demo import simulate
from crubric_core.leaderboard.inference import infer
from crubric_core.leaderboard.influence import score_influence
from crubric_core.scoring_rules import Assignment, Loss

MADE = simulate(seed=4, systems=7, queries=24, pool=(6, 9))
LOSSES = (Loss("*", "critical", 10), Loss("*", "moderate", 1))
BY_POINTS = tuple(
    Assignment("severity", "points", fits, value)
    for fits, value in (("= 5", "critical"), ("= 4", "moderate"), ("< 4", "none"))
)
RULES = ScoringRules(assign=BY_POINTS, losses=LOSSES)
TABLES = {kind: getattr(MADE, kind) for kind in ("rubrics", "queries", "labels")}


def analysed(rules: ScoringRules | None, **changes) -> Analysis:
    settings = Settings(budget=30, rules=rules, **changes.pop("settings", {}))
    with Workspace() as workspace:
        for kind, table in (TABLES | changes).items():
            workspace.ingest(table.to_csv(index=False).encode(), "d", kind)
        ds = workspace.dataset("d")
        found = Analysis(dataset=ds, fingerprint="d", settings=with_rules(ds, settings))
        for ask in (found.losses, found.ranking, found.claims):
            ask()  # while the workspace is open
        return found


@pytest.fixture(scope="module")
def study() -> Analysis:
    return analysed(RULES)


@pytest.fixture(scope="module")
def found(study) -> ViolationLoss:
    return study.losses()


def costs(study) -> np.ndarray:
    """(J,) by the points of the file alone."""
    return study.given().rubrics["weight"].map({5: 10.0, 4: 1.0}).fillna(0).to_numpy() * study.feasible


def test_the_loss_is_what_the_violations_of_rubrics_that_pass_cost_whether_or_not_they_vary(study, found):
    each, y, query = costs(study), study.given().y, study.given().rubrics["query"]
    whole = np.flatnonzero(np.isfinite(y[:, each > 0]).all(axis=1))
    queries = query[each > 0].nunique()
    table = found.table.set_index("system")
    for at in whole:
        expected = ((1 - np.nan_to_num(y[at])) * each).sum() / queries
        assert table.loc[found.systems[at], "loss"] == pytest.approx(expected, abs=0.2)
        assert table.loc[found.systems[at], "violated"] == (1 - y[at, each > 0]).sum()
    assert len(whole)
    assert (study.calibration().fit.constant & (each > 0)).any()
    assert found.rubrics == (each > 0).sum()
    assert found.most == pytest.approx(each.sum() / queries)


def test_sentences_have_the_figures_of_the_table(study, found):
    table, said = found.table, found.sentences(study.ranking().standing)
    text = " ".join(said)
    first, last = table.iloc[0], table.iloc[-1]
    assert first["loss"] == table["loss"].min()
    ends = [
        f"{row['system']}, {row['loss']:.3g} (95%: {row['low']:.3g} to {row['high']:.3g})"
        for row in (first, last)
    ]
    assert f"The expected loss of a query is least for {ends[0]}, and most for {ends[1]}." in said
    assert f"Losses count on {found.rubrics} rubrics of {found.queries} queries" in text
    assert f"{found.dropped} more do not pass the gate and do not count." in text
    fails = study.given().rubrics["weight"].ge(4).to_numpy() & ~study.feasible
    assert found.dropped == np.count_nonzero(fails) > 0
    assert f"The loss separates {np.triu(found.standing.separated).sum()} pairs at 95%" in text
    assert said[-1] == SEEN


def test_all_who_lose_least_are_named_with_the_ends_of_all_their_intervals(study, found):
    order = np.argsort(-found.standing.estimate)
    estimate, low = found.standing.estimate.copy(), found.low.copy()
    estimate[order[1]], low[order[:2]] = estimate[order[0]], (0.02, 0.01)
    tied = replace(found, standing=replace(found.standing, estimate=estimate), low=low)
    both = [
        found.systems[at]
        for at in sorted(order[:2], key=lambda at: (found.standing.rank[at], found.systems[at]))
    ]
    ends = f"(95%: 0.01 to {found.high[order[:2]].max():.3g})"
    said = tied.sentences(study.ranking().standing)[1]
    assert f"is least for {both[0]} and {both[1]}, {-estimate[order[0]]:.3g} {ends}, and most for" in said


def test_the_sentence_counts_the_pairs_of_the_board_that_the_loss_separates_alike_and_the_other_way(found):
    rank = (
        found.standing.rank
    )  # the one that loses least is last but one on the board, else the order is the same
    level = np.where(rank == 1, 6.5, rank)
    shares = np.random.default_rng(1).random((7, 40)) * 0.05 - level[:, None] / 10 + 0.9
    board = infer(score_influence(shares, np.ones(40)), np.random.default_rng(0))
    loss, apart = -found.standing.estimate, found.standing.separated
    pairs = [(i, k) for i, k in np.argwhere(board.separated) if board.difference[i, k] > 0]
    kept = sum(apart[i, k] and loss[i] < loss[k] for i, k in pairs)
    turned = [(k, i) for i, k in pairs if apart[i, k] and loss[i] > loss[k]]
    assert kept
    assert len(turned) > 1
    said = found.sentences(board)[2]
    assert (
        f"of the {len(pairs)} pairs that the board separates, {kept} alike and {len(turned)} the other way"
        in said
    )
    named = [
        f"{found.systems[k]} loses less than {found.systems[i]}, which is ahead of it on the board"
        for k, i in turned
    ]
    assert any(each in said for each in named)


def test_a_system_without_a_violation_is_not_said_to_be_safe(found):
    none = replace(found, violated=np.where(found.standing.rank == 1, 0.0, found.violated))
    name, high = found.table["system"][0], found.table["high"][0]
    said = " ".join(none.sentences(found.standing))
    assert (
        f"{name} violates none of them here, which does not show that it never will: a loss of up to" in said
    )
    assert f"{high:.3g} a query remains possible." in said
    assert "remains possible" not in " ".join(found.sentences(found.standing))


def test_a_rubric_of_any_kind_can_cost_and_only_the_ratios_of_losses_order_systems(study, found):
    tenfold = tuple(replace(loss, loss=10 * loss.loss) for loss in LOSSES)
    more = replace(study, settings=replace(study.settings, rules=replace(RULES, losses=tenfold))).losses()
    np.testing.assert_allclose(more.table[["loss", "low", "high"]], 10 * found.table[["loss", "low", "high"]])
    assert (more.standing.separated == found.standing.separated).all()
    every = replace(
        study, settings=replace(study.settings, rules=ScoringRules(losses=(Loss("*", "*", 1),)))
    ).losses()
    assert every.rubrics == np.count_nonzero(study.feasible & np.isfinite(study.given().y).any(axis=0))


@pytest.mark.parametrize("losses", [(), (Loss("*", "fatal", 9),), (Loss("*", "critical", 0),)])
def test_without_a_rubric_that_costs_nothing_is_said(study, losses):
    rules = ScoringRules(assign=BY_POINTS, losses=losses)
    assert replace(study, settings=replace(study.settings, rules=rules)).losses() is None


def test_losses_change_no_place_and_no_score(study):
    without = analysed(ScoringRules(assign=BY_POINTS))
    pd.testing.assert_frame_equal(study.ranking().table, without.ranking().table)
    assert study.claims() == without.claims()


def test_systems_that_other_judges_labelled_are_allowed_for(found):
    judges, systems = sorted(MADE.labels["judge"].unique()), sorted(MADE.labels["system"].unique())
    gone = MADE.labels["judge"].eq(judges[0]) & MADE.labels["system"].isin(systems[:3])
    apart = analysed(RULES, labels=MADE.labels[~gone])
    assert apart.panels() is not None
    assert apart.losses().standing.allowance is not None
    assert found.standing.allowance is None


def test_systems_that_were_labelled_on_other_queries_have_losses_without_a_common_scale():
    systems, queries = (sorted(MADE.labels[name].unique()) for name in ("system", "query"))
    first = MADE.labels["system"].isin(systems[:3]) == MADE.labels["query"].isin(queries[:12])
    found = analysed(ScoringRules(losses=(Loss("*", "*", 1),)), labels=MADE.labels[first]).losses()
    assert found.standing.n_groups == 2
    assert not found.standing.separated[:3, 3:].any()
    said = " ".join(found.sentences(found.standing))
    assert "The systems form 2 groups that share too few of these rubrics" in said
    assert "is least for" not in said
