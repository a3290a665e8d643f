"""No reader is sent more than the budget, and what is put together says the same as its parts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from crubric_core.errors import SharingError
from crubric_core.figures.shared_view import shared_figures
from crubric_core.sharing import Separation, SharedView, list_views, publish
from crubric_core.sharing.budget import (
    FILE,
    LISTED,
    PAGE,
    PAIRED,
    SHOWN,
    SIDE,
    grouped,
    page_bytes,
    within_budget,
)
from crubric_core.sharing.files import view_file
from tests.sharing.large import large_view


def sent(view: SharedView) -> dict[str, int]:
    """Bytes of every figure and table, as a browser gets them at least."""
    found: dict[str, int] = {}
    for shared in shared_figures(view):
        found[shared.part] = found.get(shared.part, 0) + len(shared.figure.to_json().encode())
    if view.leaderboard is not None:
        found["leaderboard"] += len(view.leaderboard.to_csv().encode())
    if view.rubrics is not None:
        found["texts"] = len(view.rubrics.to_csv(index=False, header=False).encode())
    return found


@pytest.mark.parametrize("systems", [2, SIDE, SIDE + 1, 300, 1_000])
def test_a_view_sends_no_more_than_is_reckoned_and_that_is_within_the_budget(systems: int) -> None:
    view = within_budget(large_view(systems))
    reckoned = page_bytes(view)
    fixed = 12_000  # of a figure without any data: axes, layout, colours
    for part, size in sent(view).items():
        assert size <= reckoned[part] + 2 * fixed, part
    assert sum(sent(view).values()) < PAGE


def test_a_thousand_systems_are_published_within_the_budget(views: Path) -> None:
    publish(large_view(1_000), views)
    assert list_views(views)[0].size < FILE


def oracle(separation: Separation, rows: range, columns: range) -> tuple[float, bool]:
    pairs = [(i, j) for i in rows for j in columns if i != j]
    shares = [separation.ahead[i, j] for i, j in pairs]
    return float(np.mean(shares)), all(separation.separated[i, j] for i, j in pairs)


def test_a_group_says_what_its_pairs_say_on_average_and_is_separated_where_all_are() -> None:
    separation = large_view(7).separation
    shown = grouped(separation, side=3)
    blocks = [range(0, 2), range(2, 5), range(5, 7)]
    assert shown.systems == ("places 1 to 2", "places 3 to 5", "places 6 to 7")
    for i, rows in enumerate(blocks):
        for j, columns in enumerate(blocks):
            share, firm = oracle(separation, rows, columns)
            assert shown.ahead[i, j] == pytest.approx(share, abs=1e-12)
            assert shown.separated[i, j] == firm


def test_a_group_with_one_unknown_pair_is_the_mean_of_the_others() -> None:
    ahead = np.full((4, 4), 0.5)
    ahead[0, 2] = np.nan
    ahead[1, 3] = 0.9
    shown = grouped(Separation(tuple("abcd"), ahead, np.zeros((4, 4), dtype=bool)), side=2)
    assert shown.ahead[0, 1] == pytest.approx((0.5 + 0.5 + 0.9) / 3)
    single = grouped(Separation(tuple("abc"), np.full((3, 3), np.nan), np.ones((3, 3), dtype=bool)), side=2)
    assert np.isnan(single.ahead).all()
    assert not single.separated.any()


def test_few_systems_are_shown_one_by_one() -> None:
    separation = large_view(SIDE).separation
    assert grouped(separation) is separation


def test_the_figures_of_many_systems_say_what_they_put_together() -> None:
    forest, matrix, *_ = shared_figures(large_view(1_000))
    assert forest.title.startswith(f"Ability of the best {SHOWN} of 1,000 systems")
    assert matrix.title.startswith(f"1,000 systems in {SIDE} groups.")
    assert np.shape(matrix.figure.data[0].z) == (SIDE, SIDE)
    assert len(forest.figure.data[0].y) == SHOWN


def test_a_comparison_of_too_many_systems_is_refused_by_name(views: Path) -> None:
    view = large_view(10)
    names = tuple(map(str, range(PAIRED + 1)))
    many = replace(view, separation=Separation(names, np.empty((0, 0)), np.empty((0, 0), dtype=bool)))
    with pytest.raises(SharingError, match=r"2,001 systems has too many pairs .* leave the comparison"):
        publish(many, views)
    assert list_views(views) == ()
    assert [path.name for path in views.iterdir() if path.suffix == ".duckdb"] == []


def test_texts_that_are_too_long_are_refused_with_the_heaviest_part(views: Path) -> None:
    texts = pd.DataFrame({"order": [1], "rubric": ["r"], "query": ["q"], "text": ["x" * PAGE]})
    with pytest.raises(
        SharingError, match=r"sent 4\.\d MB, and 4 MB is the most: leave out its heaviest part, texts"
    ):
        publish(large_view(5, texts), views)


@pytest.mark.parametrize("systems", [LISTED, LISTED + 1])
def test_the_file_for_readers_leaves_the_matrix_out_where_systems_are_many(systems: int) -> None:
    found = json.loads(view_file(large_view(systems), "view.json"))
    assert (found["separation"] is not None) is (systems <= LISTED)
    assert len(found["leaderboard"]["rows"]) == systems
