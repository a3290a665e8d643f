from __future__ import annotations

import itertools
import json
import re
from types import SimpleNamespace
from urllib.parse import unquote

import numpy as np
import plotly.graph_objects as go
import pytest

from crubric_core.figures import leaderboard as board
from crubric_core.figures import naming, style
from crubric_core.figures.placement import placement_forest
from tests.figures.conftest import HOSTILE


@pytest.fixture
def bank(made) -> board.Estimate:
    return board.Estimate(made.ability, made.ability - 0.2, made.ability + 0.3)


def test_the_best_system_is_on_top(made, bank) -> None:
    axis = board.forest(made.systems, bank, [f"Tier {n}" for n in range(1, 16)]).layout.yaxis
    assert axis.range[0] > axis.range[1]
    assert axis.tickvals[0] == 0


def test_error_bars_reach_from_low_to_high(made, bank) -> None:
    points = board.forest(made.systems, bank, ["Tier 1"] * 15).data[0]
    assert np.asarray(points.x) - points.error_x.arrayminus == pytest.approx(bank.low)
    assert np.asarray(points.x) + points.error_x.array == pytest.approx(bank.high)


def test_every_tier_is_named_once_beside_its_systems(made, bank) -> None:
    fig = board.forest(made.systems, bank, [f"Tier {n}" for n in np.repeat([1, 2, 3], 5)])
    assert [(a.text.strip(), a.y) for a in fig.layout.annotations] == [
        ("Tier 1", 2),
        ("Tier 2", 7),
        ("Tier 3", 12),
    ]


def test_bank_and_pool_do_not_cover_each_other(made, bank) -> None:
    first, second = board.forest(made.systems, bank, ["Tier 1"] * 15, bank).data
    assert min(np.asarray(second.y) - np.asarray(first.y)) > 0.2


def test_a_rank_interval_covers_its_ranks(made) -> None:
    fig = board.rank_intervals(["a", "b"], np.array([1, 2]), np.array([1, 1]), np.array([1, 2]))
    bars = fig.data[0]
    ends = np.asarray(bars.base) + np.asarray(bars.x)
    assert (np.asarray(bars.base) < [1, 1]).all()
    assert (ends > [1, 2]).all()


def test_no_system_is_compared_with_itself() -> None:
    ahead = np.array([[0.5, 0.99], [0.01, 0.5]])
    fig = board.separation_matrix(["a", "b"], ahead, np.ones((2, 2), bool))
    assert np.isnan(np.diag(fig.data[0].z)).all()
    assert dots(fig) == [(1, 0), (0, 1)]


def dots(fig) -> list[tuple[int, int]]:
    """Column and row of each dot, as the one picture of all has them."""
    (picture,) = fig.layout.images
    place = picture.x, picture.y, picture.sizex, picture.sizey, picture.sizing
    size = len(fig.data[0].z)
    assert place == (-0.5, -0.5, size, size, "stretch"), "it lies on the cells"
    drawn = unquote(picture.source.removeprefix("data:image/svg+xml,"))
    assert f'viewBox="-.5 -.5 {size} {size}"' in drawn
    return [(int(column), int(row)) for column, row in re.findall(r"M(\d+) (\d+)h0", drawn)]


def test_the_difference_of_a_pair_is_told_with_its_interval_where_one_points() -> None:
    ahead = np.array([[0.5, 0.97, np.nan], [0.03, 0.5, np.nan], [np.nan, np.nan, 0.5]])
    value = np.array([[0, 0.61, 0.2], [-0.61, 0, 0.1], [-0.2, -0.1, 0]])
    separated = np.zeros((3, 3), dtype=bool)
    estimate = board.Estimate(value, value - 0.5, np.where(value > 0.5, np.inf, value + 0.5))
    cells = board.separation_matrix(["a", "b", "c"], ahead, separated, estimate).data[0]
    assert cells.customdata[0, 1].tolist() == ["a", "b", "+0.61 [+0.11, +∞]"]
    assert "difference %{customdata[2]}" in cells.hovertemplate
    alone = board.separation_matrix(["a", "b", "c"], ahead, separated).data[0]
    assert "difference" not in alone.hovertemplate


def test_a_dot_stands_where_the_pair_is_separated() -> None:
    separated = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], bool)
    fig = board.separation_matrix(["a", "b", "c"], np.full((3, 3), 0.5), separated)
    assert dots(fig) == [(1, 0), (2, 0)]
    assert len(fig.data) == 1, "no mark of its own for each pair"


@pytest.mark.parametrize("size", [15, 60])
def test_the_cells_of_many_pairs_keep_their_width_on_a_phone_and_no_names_overlap(size) -> None:
    names = [f"a-very-long-name-of-a-system-{i:02}-preview" for i in range(size)]
    fig = board.separation_matrix(names, np.full((size, size), 0.5), np.zeros((size, size), bool))
    assert fig.data[0].xgap * size <= 30
    assert len(fig.layout.xaxis.ticktext) == (15 if size == 15 else 0)
    assert fig.layout.xaxis.tickangle == (-90 if size == 15 else None), (
        "slanted names need more room than upright ones"
    )
    assert ("order of the rows" in str(fig.layout.xaxis.title.text)) is (size == 60)
    assert max(len(name) for name in fig.layout.yaxis.ticktext) <= 24
    assert len(set(fig.layout.yaxis.ticktext)) == size


def drawn(fig: go.Figure, width: float) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """Points (M, 2), and left, bottom, right, top of every name, and ends of every line, in a plotting area so wide."""
    named, margin = fig.data[-1], fig.layout.margin
    size = np.array([width, fig.layout.height - margin.t - margin.b])
    ends = np.array([fig.layout.xaxis.range, fig.layout.yaxis.range])
    points = (np.stack([named.x, named.y], axis=1) - ends[:, 0]) / np.ptp(ends, axis=1) * size
    boxes, lines = [], []

    def put(middle: np.ndarray, text: str) -> None:
        half = np.array([naming.LETTER * len(text), naming.LINE]) / 2
        boxes.append(np.concatenate([middle - half, middle + half]))

    for point, text, side in zip(points, named.text, named.textposition, strict=True):
        if text:
            across, up = naming.SIDES[side]
            away = naming.LETTER * len(text) / 2 + naming.POINT, naming.LINE / 2 + naming.POINT
            put(point + np.array([across * away[0], up * away[1]]), text)
    for note in fig.layout.annotations:
        point = (np.array([note.x, note.y]) - ends[:, 0]) / np.ptp(ends, axis=1) * size
        lines.append(np.array([point, point + np.array([note.ax, -note.ay])]))
        put(lines[-1][1], note.text)
    return points, boxes, lines


@pytest.mark.parametrize("size", [15, 40, 60])
@pytest.mark.parametrize("width", [*naming.WIDTHS, 480, 912])
def test_names_never_cover_each_other_or_points_in_whichever_width(size: int, width: float) -> None:
    """In a whole page names of 40 systems lay on names, points and lines: their places were those of half a page."""
    rng = np.random.default_rng(5)
    theta = np.sort(rng.normal(size=size))
    names = [f"vendor-{i % 5}/family-{i}-large" for i in range(size)]
    fig = board.score_against_ability(names, theta, 1 / (1 + np.exp(-theta)) + rng.normal(0, 0.02, size))
    points, boxes, lines = drawn(fig, width)
    for one, other in itertools.combinations(boxes, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
    for left, bottom, right, top in boxes:
        inside = (
            (points[:, 0] > left) & (points[:, 0] < right) & (points[:, 1] > bottom) & (points[:, 1] < top)
        )
        assert not inside.any()
    if size > naming.MOST_CROSSED:
        for start, end in lines:
            steps = start + np.linspace(0, 1, 50)[:, None] * (end - start)
            for box in boxes:
                held = ((steps > box[:2]) & (steps < box[2:])).all(axis=1)
                assert held[-1] or not held.any(), "a line ends in its own name and crosses no other"
    assert len(boxes) >= 15, "most of few names have room, and as many of many"


@pytest.mark.parametrize("seed", range(5))
def test_every_point_of_a_board_has_its_name_once_at_the_point_or_on_a_line(seed: int) -> None:
    rng = np.random.default_rng(seed)
    theta = np.sort(rng.normal(size=15))
    names = [f"vendor-{i}-system-large" for i in range(15)]
    fig = board.score_against_ability(names, theta, 0.5 + 0.1 * theta + rng.normal(size=15) * 0.005)
    led = [annotation.text for annotation in fig.layout.annotations]
    assert sorted([text for text in fig.data[0].text if text] + led) == sorted(
        style.labels(names, naming.LONGEST)
    )
    assert all(annotation.x in theta for annotation in fig.layout.annotations)


def test_a_name_without_room_is_left_to_the_pointer() -> None:
    crowd = np.zeros(9)
    fig = board.score_against_ability([f"n{i}" for i in range(9)], crowd, crowd)
    assert sum(bool(text) for text in fig.data[0].text) < 9
    assert fig.data[0].customdata == tuple(f"n{i}" for i in range(9))


def test_the_chosen_system_stands_out_and_a_board_without_tiers_has_no_bands(made, bank) -> None:
    fig = board.forest(made.systems, bank, None, chosen=3)
    assert [shape.y0 for shape in fig.layout.shapes] == [3]
    assert len(fig.layout.annotations) == 0
    tiers = ["Tier 1"] * 15
    assert len(board.forest(made.systems, bank, tiers, chosen=3).layout.shapes) == 2


@pytest.mark.parametrize("size", [3, 40, 41, 1000])
@pytest.mark.parametrize("at", [None, 0, 2, 500, 999])
def test_a_window_has_the_chosen_row_and_never_too_many(size: int, at: int | None) -> None:
    if at is not None and at >= size:
        return
    part = board.window(size, at)
    rows = range(size)[part]
    assert len(rows) == min(size, 40)
    assert at is None or at in rows


def test_an_open_interval_ends_in_an_arrow_beyond_all_others(made) -> None:
    value, wide = np.array([1.0, 0.0]), np.array([np.inf, 0.5])
    points, arrow = board.forest(["a", "b"], board.Estimate(value, value - 1, wide), None).data
    assert points.customdata[0].tolist() == ["a", "1.00", "0.00", "open"]
    assert arrow.marker.symbol == "triangle-right"
    assert arrow.x[0] == pytest.approx(points.x[0] + points.error_x.array[0])
    assert arrow.x[0] > 1.0


def test_point_n_of_every_mark_is_system_n_so_that_a_click_opens_it() -> None:
    value, low = np.array([2.0, 1.0, 0.0]), np.array([1.0, 0.5, -np.inf])
    points, arrow = board.forest(["a", "b", "c"], board.Estimate(value, low, value + 1), None).data
    assert np.isnan(arrow.x[:2]).all()
    assert (arrow.x[2], arrow.y[2]) == (pytest.approx(points.x[2] - points.error_x.arrayminus[2]), 2)


def test_an_unknown_end_is_told_as_unknown_and_not_as_open() -> None:
    points = board.forest(["a"], board.Estimate(*np.array([[1.0], [np.nan], [np.inf]])), None).data[0]
    assert points.customdata[0].tolist() == ["a", "1.00", "—", "open"]


def test_very_many_systems_have_their_rank_among_all_and_none_where_no_order_is_claimed() -> None:
    estimate = board.Estimate(*np.array([[1.0, 0.5], [0.8, 0.3], [1.2, 0.7]]))
    by_rank = board.everybody(["b02", "b07"], estimate, rank=[43, 1_051], title="score S")
    by_name = board.everybody(["b02", "b07"], estimate)
    assert by_rank.data[-1].customdata == ("b02<br>rank 43", "b07<br>rank 1,051")
    assert by_name.data[-1].customdata == ("b02", "b07")
    assert [fig.layout.xaxis.title.text for fig in (by_rank, by_name)] == [
        "systems, best first",
        "systems, by name",
    ]
    assert by_rank.layout.yaxis.title.text == "score S"


def test_a_thousand_systems_are_a_line_and_not_a_thousand_rows() -> None:
    value = np.linspace(2, -2, 1000)
    fig = board.everybody([f"s{i}" for i in range(1000)], board.Estimate(value, value - 0.1, value + 0.1), 7)
    assert fig.layout.height < 400
    assert len(fig.to_json()) < 150_000


@pytest.mark.parametrize(("size", "second", "last"), [(61, 10, 60), (101, 20, 100), (1000, 100, 1000)])
def test_the_axis_of_places_begins_at_the_first(size: int, second: int, last: int) -> None:
    value = np.linspace(2, -2, size)
    ticks = board.everybody(["s"] * size, board.Estimate(value, value, value)).layout.xaxis.tickvals
    assert (ticks[0], ticks[1], ticks[-1]) == (1, second, last)


def test_one_system_or_none_known_is_drawn_all_the_same() -> None:
    assert board.score_against_ability(["a"], np.array([0.0]), np.array([0.5])).data[0].text == ("a",)
    nothing = np.full(2, np.nan)
    assert len(board.score_against_ability(["a", "b"], nothing, nothing).data[0].x) == 2


def test_unknown_abilities_leave_an_empty_comparison() -> None:
    nothing = np.full(2, np.nan)
    assert len(board.bank_against_pool(["a", "b"], nothing, nothing).data) == 1


def test_the_ranks_of_many_systems_touch_and_few_are_named() -> None:
    many = board.rank_probability([str(i) for i in range(40)], np.full((40, 60), 0.5))
    assert many.data[0].xgap == 0
    few = board.rank_probability([str(i) for i in range(8)], np.full((8, 8), 0.5))
    assert (few.data[0].xgap, few.layout.xaxis.dtick) == (1, 1)


@pytest.mark.parametrize(("systems", "first"), [(8, 1), (9, 1), (15, 1), (16, 3), (60, 1), (400, 7)])
def test_at_most_eight_ranks_have_their_number_so_that_a_phone_has_room(systems: int, first: int) -> None:
    axis = board.rank_probability(["a"], np.full((1, systems), 0.5), first).layout.xaxis
    assert axis.tick0 == first
    assert 4 <= len(range(first, first + systems, int(axis.dtick))) <= 8


def test_a_hostile_system_name_is_escaped_wherever_it_stands(made, bank) -> None:
    square = np.full((15, 15), 0.5)
    ranks = np.arange(1, 16)
    for fig in (
        board.forest(made.systems, bank, ["Tier 1"] * 15, bank),
        board.rank_intervals(made.systems, ranks, ranks, ranks),
        board.rank_probability(made.systems, square),
        board.separation_matrix(made.systems, square, square > 1),
        board.score_against_ability(made.systems, made.ability, made.ability),
        board.bank_against_pool(made.systems, made.ability, made.ability),
    ):
        text = json.dumps(json.loads(fig.to_json()), ensure_ascii=False)
        assert "<img" not in text
        assert "&lt;img" in text
        templates = [trace.hovertemplate or "" for trace in fig.data]
        assert not any(HOSTILE[:10] in t or "&lt;img" in t for t in templates), (
            "names are data, not templates"
        )


def test_long_names_of_rows_leave_a_chart_room_on_a_phone_and_the_pointer_tells_them_whole() -> None:
    """A placement's names had 36 characters, of which a page of 420 pixels left the chart 50."""
    names = [f"organisation-{n}/" + "a-very-long-name-" * 3 + f"v{n}" for n in range(3)]
    values = np.arange(3.0)
    estimate = board.Estimate(values, values - 1, values + 1)
    placed = SimpleNamespace(
        abilities=values,
        standing=SimpleNamespace(tier=np.ones(3), theta_low=values - 1, theta_high=values + 1),
    )
    for fig in (
        board.forest(names, estimate, None),
        board.by_dimension(names, ["accuracy"], [estimate]),
        placement_forest(names, placed),
    ):
        assert fig.layout.margin.l <= 170
        lines = [line for text in fig.layout.yaxis.ticktext for line in text.split("<br>")]
        assert max(len(re.sub("</?b>", "", line)) for line in lines) <= style.ROW + style.SPARE
        assert len(set(fig.layout.yaxis.ticktext)) == 3
        assert style.label(names[0], 80) in str(fig.to_dict()["data"])
