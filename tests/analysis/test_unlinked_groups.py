"""Systems that share no queries have places within their group, in every table, figure, view and file."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from crubric_core import Settings, Workspace, run_pipeline
from crubric_core.analysis.columns import LEADERBOARD, LEADERBOARD_SHARED, shown_columns
from crubric_core.analysis.export import report
from crubric_core.analysis.result import Result
from crubric_core.analysis.tables import by_place
from crubric_core.demo import simulate
from crubric_core.figures.leaderboard import tier_names
from crubric_core.figures.shared_view import shared_figures
from crubric_core.settings import Basis
from crubric_core.sharing.build import Choices, build_view

FIRST, SECOND = ("a", "b", "c", "d"), ("x", "y", "z")


RULES = (
    Settings(budget=40),
    Settings(budget=40, tier_rule="adjacent"),
    Settings(budget=40, population="rubrics", simultaneous=False),
    Settings(budget=40, population="rubrics", tier_rule="adjacent"),
)


@pytest.fixture(scope="module", params=RULES, ids=("units", "neighbours", "pairs alone", "rubrics"))
def result(request: pytest.FixtureRequest) -> Result:
    """Two groups of systems, each of which answers twenty queries of its own, by several rules of tiers."""
    rng = np.random.default_rng(2)
    rows = []
    for names, prefix in ((SECOND, "p"), (FIRST, "q")):
        chance = np.linspace(0.9, 0.2, len(names))
        for query in range(20):
            for rubric in range(4):
                met = rng.random(len(names)) < chance
                rows += [
                    (f"{prefix}{query}", f"{prefix}{query}r{rubric}", name, judge, int(label))
                    for name, label in zip(names, met, strict=True)
                    for judge in ("one", "two")
                ]
    table = pd.DataFrame(rows, columns=["query", "rubric", "system", "judge", "label"])
    with Workspace() as workspace:
        workspace.ingest(table.to_csv(index=False).encode(), "d", "labels")
        return run_pipeline(workspace.dataset("d"), request.param)


@pytest.mark.parametrize("basis", ["all", "bank"])
def test_where_most_systems_lack_queries_the_board_says_how_few_some_two_share(basis: Basis) -> None:
    """None has clearly fewer than the others, so that nothing was said."""
    labels = simulate(seed=4, systems=8, queries=60, pool=(5, 6)).labels
    systems, queries = sorted(labels["system"].unique()), sorted(labels["query"].unique())
    left, right = labels["query"].isin(queries[:40]), labels["query"].isin(queries[20:])
    own = labels[(labels["system"].isin(systems[:4]) & left) | (labels["system"].isin(systems[4:]) & right)]
    told = []
    for table in (own, labels):
        with Workspace() as workspace:
            workspace.ingest(table.to_csv(index=False).encode(), "d", "labels")
            told.append(
                " ".join(run_pipeline(workspace.dataset("d"), Settings(budget=60, basis=basis)).claims.basis)
            )
    said = re.search(
        r"labels on different queries, some two on only (\d+) of (\d+) in common: abilities allow", told[0]
    )
    assert said is not None
    assert int(said[1]) <= 20 < int(said[2]) <= 60
    assert "labels on clearly fewer queries" in told[1]
    assert "different queries" not in told[1]


def test_the_leaderboard_is_in_order_of_groups_with_places_within_each(result: Result) -> None:
    board = result.leaderboard
    assert tuple(board) == tuple(LEADERBOARD)
    assert shown_columns(board)[:3] == ("group", "tier", "rank")
    assert set(board["system"][:4]) == set(FIRST), "the largest group comes first"
    assert board["group"].tolist() == [1] * 4 + [2] * 3
    assert board["rank"].tolist() == [1, 2, 3, 4, 1, 2, 3]
    assert board["rank_high"].groupby(board["group"]).max().tolist() == [4, 3]
    assert board["tier"].groupby(board["group"]).min().tolist() == [1, 1]


def test_tiers_are_named_with_their_group_in_figures_views_and_reports(result: Result) -> None:
    board = result.leaderboard
    names = tier_names(board)
    assert names is not None
    assert names[0] == "Group 1, tier 1"
    assert names[-1].startswith("Group 2, tier ")
    view = build_view(result, Choices())
    assert view.leaderboard is not None
    assert tuple(view.leaderboard) == LEADERBOARD_SHARED
    (shown,) = [each for each in shared_figures(view) if each.part == "leaderboard"]
    assert [note.text.strip() for note in shown.figure.layout.annotations] == list(dict.fromkeys(names))
    tiers = report(result)["tiers"]
    assert [system for tier in tiers for system in tier["systems"]] == board["system"].tolist()
    assert [f"Group {tier['group']}, tier {tier['tier']}" for tier in tiers] == list(dict.fromkeys(names))


def test_other_tables_have_the_group_beside_the_rank(result: Result) -> None:
    standing = result.ranking.standing
    table = by_place(pd.DataFrame({"system": result.reduction.systems, "rank": standing.rank}), standing)
    assert table["system"].tolist() == result.leaderboard["system"].tolist()
    assert table["group"].tolist() == result.leaderboard["group"].tolist()


def test_no_sentence_ranks_systems_of_two_groups(result: Result) -> None:
    said = " ".join(result.claims.headline)
    assert "of the 9 pairs within groups are separated" in said
    assert "no pair of two groups is compared" in said
    assert "Tier 1:" not in said
    across = result.comparisons["system"].isin(FIRST) != result.comparisons["other"].isin(FIRST)
    assert not result.comparisons.loc[across, "separated"].any()
