"""A view holds what was chosen and nothing else."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest

from crubric_core import Result
from crubric_core.bank.utility import coverage_utility
from crubric_core.errors import SharingError
from crubric_core.files import json_bytes
from crubric_core.reports.standalone import standalone_html
from crubric_core.scoring_rules import Assignment, Loss, ScoringRules
from crubric_core.sharing import Choices, SharedView, build_view
from crubric_core.sharing.words import settings_list

PARTS = ("leaderboard", "separation", "bank", "texts")
NOTHING = dict.fromkeys(PARTS, False)


def test_the_leaderboard_is_the_results_own(result: Result, view: SharedView) -> None:
    shown = view.leaderboard
    pd.testing.assert_frame_equal(shown, result.leaderboard[list(shown.columns)])


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_was_not_chosen_is_not_in_the_view(result: Result, part: str) -> None:
    view = build_view(result, Choices(**NOTHING | {part: True}))
    held = {
        name for name in ("leaderboard", "separation", "bank", "rubrics") if getattr(view, name) is not None
    }
    assert held == {"rubrics" if part == "texts" else part}


def test_texts_of_rubrics_stay_out_unless_chosen(result: Result) -> None:
    texts = result.bank["text"].tolist() + result.bank["rubric"].tolist()
    written = json_bytes(build_view(result).as_dict()).decode()
    assert not any(str(text) in written for text in texts)


def test_tiers_can_be_left_out_of_the_leaderboard(result: Result) -> None:
    assert "tier" not in build_view(result, Choices(tiers=False)).leaderboard


def test_the_name_of_the_dataset_can_be_kept_back(result: Result) -> None:
    hidden = build_view(result, Choices(dataset=False))
    assert hidden.dataset is None
    assert b'"small"' not in json_bytes(hidden.as_dict())


def test_of_the_datasets_rules_only_their_number_is_told(result: Result) -> None:
    """A rule holds patterns of texts and of names of queries, which nobody chose to show."""
    rules = ScoringRules(
        critical=-3.0,
        assign=(
            Assignment("severity", "text", "*SECRET*", "critical"),
            Assignment("dimension", "query", "acme*", "x"),
        ),
        losses=(Loss("*", "acme severity", 2.5),),
    )
    view = build_view(replace(result, settings=replace(result.settings, rules=rules)))
    written = json_bytes(view.as_dict()).decode() + standalone_html(view)
    assert "SECRET" not in written
    assert "acme" not in written
    assert {k: settings_list(view)[f"rules.{k}"] for k in ("critical", "assign", "losses")} == {
        "critical": "-3.0",
        "assign": "2",
        "losses": "1",
    }


def test_no_judge_and_no_label_is_in_any_view(result: Result, view: SharedView) -> None:
    assert {field.name for field in fields(view)}.isdisjoint({"labels", "judges", "panel", "y"})
    sizes = [np.size(value) for part in (view.bank, view.separation) for value in vars(part).values()]
    cells = len(result.reduction.systems) * len(result.reduction.rubrics)
    assert max(sizes) < cells


def test_an_empty_view_is_refused(result: Result) -> None:
    with pytest.raises(SharingError, match="empty"):
        build_view(result, Choices(**NOTHING))


@pytest.mark.parametrize(("name", "most"), [("title", 200), ("note", 5_000)])
def test_words_are_limited(result: Result, name: str, most: int) -> None:
    assert getattr(build_view(result, Choices(**{name: "x" * most})), name) == "x" * most
    with pytest.raises(SharingError, match=f"{most:,} or fewer"):
        build_view(result, Choices(**{name: "x" * (most + 1)}))


def test_a_view_without_a_title_is_called_leaderboard(result: Result) -> None:
    assert build_view(result, Choices(title="  ")).title == "Leaderboard"


def test_half_a_character_becomes_a_mark(result: Result) -> None:
    assert build_view(result, Choices(title="a\ud800b")).title == "a?b"


def test_the_moment_is_kept_in_utc(result: Result) -> None:
    moment = datetime(2026, 5, 1, 1, 30, 0, 999, tzinfo=timezone(timedelta(hours=2)))
    assert build_view(result, now=moment).made_at == datetime(2026, 4, 30, 23, 30, tzinfo=UTC)


def test_the_separation_is_in_the_order_of_the_leaderboard(result: Result, view: SharedView) -> None:
    systems, ahead = view.separation.systems, view.separation.ahead
    assert list(systems) == view.leaderboard["system"].tolist()
    at = {name: result.reduction.systems.index(name) for name in systems}
    for i, one in enumerate(systems):
        for j, other in enumerate(systems):
            expected = result.ranking.standing.ahead[at[one], at[other]]
            assert ahead[i, j] == expected or (np.isnan(ahead[i, j]) and np.isnan(expected))


def test_the_information_is_that_of_the_bank(result: Result, view: SharedView) -> None:
    """At the nodes of the utility grid, which are among those of the view, it is the sum of the items'."""
    grid, bank = result.calibration.grid, view.bank
    at = [int(np.abs(bank.theta - node).argmin()) for node in grid.theta]
    np.testing.assert_allclose(bank.theta[at], grid.theta, atol=1e-12)
    items = result.items["in_bank"].to_numpy()
    np.testing.assert_allclose(bank.information[at], result.calibration.info[:, items].sum(axis=1))


def test_coverage_is_a_share_of_what_all_candidates_cover(result: Result, view: SharedView) -> None:
    feasible = result.measurability["feasible"].to_numpy()
    info, weights = result.calibration.info, result.calibration.grid.weights
    inside = result.items["in_bank"].to_numpy()
    share = coverage_utility(info[:, inside].sum(axis=1), weights) / coverage_utility(
        info[:, feasible].sum(axis=1), weights
    )
    assert view.bank.coverage == pytest.approx(float(share))
    assert view.bank.size == len(result.bank) == view.counts["bank"]


def test_systems_without_a_label_are_shown_unranked(result: Result) -> None:
    board = result.leaderboard.copy()
    numbers = [name for name in board if name != "system"]
    board.loc[board.index[-1], numbers] = pd.NA
    view = build_view(replace(result, leaderboard=board))
    assert pd.isna(view.leaderboard["rank"].iloc[-1])
    assert len(view.separation.systems) == len(board) - 1
