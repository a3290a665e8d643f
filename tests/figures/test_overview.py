from __future__ import annotations

import numpy as np
import pytest

from crubric_core.figures.overview import judge_dots, judge_shares


def test_each_judge_is_a_row_of_dots_apart_by_symbol_as_well_as_by_colour() -> None:
    shares = np.array([[0.0, 0.5, np.nan], [1.0, 0.25, 0.75]])
    fig = judge_dots(shares, ["a", "b"], ["j", "<k>", "l"], "share passed")
    assert [trace.name for trace in fig.data] == ["j", "&lt;k&gt;", "l"]
    assert np.array_equal(np.array([t.x for t in fig.data]).T, shares, equal_nan=True)
    assert len({trace.marker.symbol for trace in fig.data}) == 3
    assert len({trace.marker.color for trace in fig.data}) == 3
    rows = np.array([trace.y for trace in fig.data])
    assert np.array_equal(np.round(rows), [[0, 1]] * 3), "each dot is in its system's row"
    assert len(np.unique(rows[:, 0])) == 3, "equal shares do not lie on each other"


@pytest.mark.parametrize("judges", [1, 2, 3, 6])
def test_no_dot_covers_that_of_another_judge_or_is_cut_by_the_edge(judges: int) -> None:
    fig = judge_dots(np.full((15, judges), 0.2), list("abcdefghijklmno"), list("uvwxyz")[:judges], "share")
    bottom, top = fig.layout.yaxis.range
    pixels = (fig.layout.height - fig.layout.margin.t - fig.layout.margin.b) / (bottom - top)
    rows, size = np.array([trace.y for trace in fig.data], dtype=float), fig.data[0].marker.size
    assert (np.diff(rows, axis=0) * pixels >= 0.95 * size).all()
    assert (rows.min() - top) * pixels >= size / 2
    assert (bottom - rows.max()) * pixels >= size / 2


@pytest.mark.parametrize("most", [0.0, 0.04, 0.3, 0.52, 0.61, 1.0])
def test_the_axis_of_shares_has_a_tick_at_or_beyond_the_last_dot(most: float) -> None:
    axis = judge_dots(np.array([[0.0], [most]]), ["a", "b"], ["j"], "share").layout.xaxis
    last = axis.dtick * np.floor(axis.range[1] / axis.dtick)
    assert most <= last <= max(most + axis.dtick, 0.05)
    assert 3 <= round(last / axis.dtick) <= 6


def test_more_judges_than_symbols_are_columns_of_a_grid_each_with_its_name() -> None:
    shares = np.random.default_rng(0).random((4, 9))
    shares[1, 2] = np.nan
    judges = [f"judge {k}" for k in range(9)]
    fig = judge_shares(shares, ["a", "b", "<c>", "d"], judges, "share passed")
    cells = fig.data[0]
    assert np.array_equal(np.asarray(cells.z), shares, equal_nan=True)
    assert list(fig.layout.xaxis.ticktext) == judges
    assert cells.text[1][2] == "—"
    assert cells.text[0][0] == f"{100 * shares[0, 0]:.0f}%"
    assert "<c>" not in fig.to_json()


def test_very_many_systems_are_a_row_a_judge_with_the_range_of_their_shares() -> None:
    shares = np.random.default_rng(1).random((1000, 3))
    shares[:500, 1] = np.nan
    shares[:, 2] = np.nan
    fig = judge_shares(shares, [f"s{i}" for i in range(1000)], ["a", "b", "never"], "share passed")
    assert len(fig.to_json()) < 20_000
    medians = np.asarray(fig.data[-1].x, dtype=float)
    assert medians[:2] == pytest.approx([np.median(shares[:, 0]), np.median(shares[500:, 1])])
    assert np.isnan(medians[2])


def test_few_judges_and_systems_stay_dots() -> None:
    shares = np.full((40, 6), 0.5)
    assert len(judge_shares(shares, [str(i) for i in range(40)], list("abcdef"), "share").data) == 6


def test_judges_whose_long_names_begin_alike_have_different_names_in_the_legend() -> None:
    judges = [f"a-very-long-name-of-one-model@v{n}" for n in (1, 2)]
    marks = judge_dots(np.full((2, 2), 0.5), ["a", "b"], judges, "share").data
    assert len({mark.name for mark in marks}) == 2


def test_rows_of_several_judges_are_told_apart_by_a_band_behind_every_other_one() -> None:
    shapes = judge_dots(np.full((3, 2), 0.5), ["a", "b", "c"], ["j", "k"], "share").layout.shapes
    assert [(shape.y0, shape.y1) for shape in shapes] == [(-0.5, 0.5), (1.5, 2.5)]


def test_a_legend_of_several_lines_takes_no_room_of_the_rows() -> None:
    short, long = (
        judge_dots(
            np.full((9, 3), 0.5), list("abcdefghi"), [f"{name}{k}" for k in range(3)], "share"
        ).layout.height
        for name in ("j", "a-name-of-thirty-letters-or-so-")
    )
    assert long - short >= 2 * 19


def test_shares_that_are_all_high_do_not_leave_most_of_the_axis_empty() -> None:
    low, high = judge_dots(np.array([[0.76], [0.99]]), ["a", "b"], ["j"], "share").layout.xaxis.range
    assert low > 0.7
    assert high >= 0.99
    assert judge_dots(np.array([[0.4], [0.99]]), ["a", "b"], ["j"], "share").layout.xaxis.range[0] < 0
