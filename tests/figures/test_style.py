from __future__ import annotations

import re
import tomllib
from html import unescape
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from crubric_core.figures import style

THEME = tomllib.loads((Path(__file__).parents[2] / ".streamlit/config.toml").read_text())["theme"]


def luminance(colour: str) -> float:
    """WCAG 2.2 relative luminance of #RRGGBB."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """WCAG 2.2 contrast ratio, 1 … 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0%"), (0.004, "&lt;1%"), (0.5, "50%"), (0.997, "&gt;99%"), (1.0, "100%"), (np.nan, "—")],
)
def test_in_a_cell_only_none_is_0_and_only_all_is_100_per_cent(share: float, text: str) -> None:
    assert style.cell_share(share) == text


def test_contrast_of_black_on_white_is_21() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_trace_colour_can_be_seen_on_both_backgrounds(mode: str) -> None:
    assert min(contrast(colour, THEME[mode]["backgroundColor"]) for colour in style.CATEGORIES) >= 3


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_and_primary_colour_reach_wcag_aa_on_every_background(mode: str) -> None:
    theme = THEME[mode]
    inks = (theme["textColor"], theme["primaryColor"])
    grounds = (theme["backgroundColor"], theme["secondaryBackgroundColor"])
    assert min(contrast(ink, ground) for ink, ground in product(inks, grounds)) >= 4.5


def test_markup_in_a_name_is_shown_and_not_obeyed() -> None:
    assert style.label("<b>A</b> & <img src=x>") == "&lt;b&gt;A&lt;/b&gt; &amp; &lt;img src=x&gt;"


def test_a_long_name_is_cut_before_it_is_escaped_so_that_no_entity_is_torn() -> None:
    assert style.label("<" * 50, limit=4) == "&lt;&lt;&lt;…"


def test_a_name_stays_on_one_line() -> None:
    assert style.label("a\nb\t c") == "a b c"


def test_equal_names_keep_rows_of_their_own() -> None:
    fig = style.figure("x", "y")
    style.rows_axis(fig, ["same", "same"])
    assert fig.layout.yaxis.tickvals == (0, 1)
    assert fig.layout.yaxis.ticktext == ("same", "same")


def test_a_threshold_on_a_log_axis_stands_where_its_label_stands() -> None:
    fig = style.figure("x", "y", xaxis_type="log")
    style.marker_line(fig, 100, "B", log=True)
    assert fig.layout.shapes[0].x0 == 100
    assert fig.layout.annotations[0].x == pytest.approx(2)


def test_long_names_that_begin_alike_stay_different() -> None:
    names = ["x" * 200 + str(n) for n in range(12)]
    shown = style.labels(names, 20)
    assert len(set(shown)) == 12
    assert max(map(len, shown)) <= 20
    assert style.labels(["a" * 200, "a" * 200, "short"], 20) == [
        *2 * ["a" * 10 + "…" + "a" * 9],
        "short",
    ]


@pytest.mark.parametrize("limit", [20, 24, 36])
def test_names_that_begin_and_end_alike_stay_different(limit: int) -> None:
    models = ("meta-llama/Llama-4-Maverick-17B-Instruct", "anthropic/claude-opus-4.5-thinking-high-effort")
    names = [
        f"{model}-step-{n:02d}{end}" for model in models for n in range(9) for end in ("-temperature-0.7", "")
    ]
    shown = style.labels(names, limit)
    assert len(set(shown)) == len(names)
    assert max(map(len, shown)) <= limit


@pytest.mark.parametrize("limit", [14, 20, 24, 36])
def test_names_with_no_room_for_what_they_differ_by_are_numbered(limit: int) -> None:
    names = [
        f"{vendor}-instruct-{size}-preview-{day}-thinking-{effort}"
        for vendor in ("northwind-atlas", "northwind-borea", "southgale-atlas")
        for size in ("7b", "70b", "405b")
        for day in ("2025-01-15", "2025-06-30", "2026-01-15")
        for effort in ("low", "high")
    ]
    shown = style.labels(names, limit)
    assert len(set(shown)) == len(names)
    assert max(map(len, shown)) <= limit
    assert ("northwi… (14)" in shown) == (limit == 14)


@pytest.mark.parametrize(("low", "high"), [(1, 2), (1, 36), (10, 36), (11, 13), (1, 4000), (300, 30_000)])
def test_a_log_axis_writes_at_least_two_values_in_full(low: int, high: int) -> None:
    fig = style.figure("B", "")
    style.log_axis(fig, low, high)
    shown = [int(text.replace(",", "")) for text in fig.layout.xaxis.ticktext]
    assert list(fig.layout.xaxis.tickvals) == shown
    assert len(shown) >= 2
    assert all(low <= tick <= high for tick in shown)


def test_a_band_has_no_marks_and_leaves_out_what_is_unknown() -> None:
    fig = style.figure("x", "y")
    style.band(fig, [1, 2, 3], [0.1, np.nan, 0.3], [0.5, 0.6, 0.7], style.BLUE, 0.2)
    (area,) = fig.data
    assert area.mode == "lines"
    assert list(area.x) == [1, 3, 3, 1]
    assert list(area.y) == [0.5, 0.7, 0.3, 0.1]
    assert not area.showlegend


def test_text_on_the_diverging_scale_is_legible_on_all_of_its_colours() -> None:
    assert min(contrast(style.ON_DIVERGING, colour) for _, colour in style.DIVERGING) >= 4.5


def test_a_margin_has_room_for_the_letters_that_are_shown():
    name = "system <b> & co"
    assert style.margin_of(style.labels([name]), 11) == style.margin_of([name], 11)
    narrow, wide, whole = (style.margin_of([8 * letter], title=False) for letter in ("i", "W", "語"))
    assert narrow < wide < whole


def test_names_in_wide_characters_leave_a_chart_as_much_room_as_others() -> None:
    names = [f"システム・ロング名前・バージョン{n}" for n in range(3)] + [
        "MMMMMMMMMMMMMMMMMMMMMMMMMMM",
        "gpt-4o",
    ]
    shown = style.row_names(names)
    assert len(set(shown)) == len(names)
    assert shown[-1] == "gpt-4o"
    assert style.margin_of(shown, title=False) <= style.margin_of(
        ["x" * (style.ROW + style.SPARE)], title=False
    )


def test_signed_numbers_are_left_to_the_axis_which_writes_the_minus_sign() -> None:
    said = style.hover("%{customdata}: θ = %{x:.2f}, %{y:,} of %{z:.0%}")
    assert said == {
        "hovertemplate": "%{customdata}: θ = %{x}, %{y:,} of %{z:.0%}",
        "xhoverformat": ".2f",
    }


def test_no_figure_formats_a_signed_number_where_the_pointer_is_by_itself() -> None:
    """Plotly writes a hyphen there; with error bars on the axis the number is text of Python."""
    unsigned = {
        "component %{x}: %{y:.1f}",
        "outfit %{y:.2f}",
        "κ %{y:.3f}",
        "±%{y:.3f}",
        "around %{x:.2f}",
    }
    for file in Path(style.__file__).parent.glob("*.py"):
        for line in file.read_text(encoding="utf-8").splitlines():
            if "hovertemplate=" in line and re.search(r"%\{[xyz]:[+.\d]*f\}", line):
                assert any(part in line for part in unsigned), f"{file.name}: {line.strip()}"


def test_a_name_a_few_letters_too_long_for_its_row_is_whole_and_a_longer_one_is_cut() -> None:
    fig = style.figure("x", "")
    style.rows_axis(fig, ["a" * 26, "b" * 27])
    whole, cut = fig.layout.yaxis.ticktext
    assert whole == "a" * 26
    assert len(cut) == style.ROW


def test_tall_rows_have_names_in_two_lines_that_are_as_narrow_as_one() -> None:
    names = [
        "short",
        "organisation/a-model-with-a-name-of-43-let-1",
        "b" * 40,
        "型号" * 20,
        "<i>" * 9 + " & " * 5,
    ]
    flat, tall = style.figure("", ""), style.figure("", "")
    style.rows_axis(flat, names)
    style.rows_axis(tall, names, tall=True)
    shown = tall.layout.yaxis.ticktext
    assert shown[0] == "short"
    assert shown[1] == "organisation/a-model-<br>with-a-name-of-43-let-1"
    assert unescape(shown[4].replace("<br>", "")) == " ".join(names[4].split())
    widths = [style.text_width(unescape(line)) for name in shown for line in name.split("<br>")]
    assert max(widths) <= style.text_width("x" * (style.ROW + style.SPARE))
    assert max(name.count("<br>") for name in shown) == 1
    assert tall.layout.margin.l <= flat.layout.margin.l + 10
    assert (flat.layout.yaxis.tickfont.size, tall.layout.yaxis.tickfont.size) == (None, 11)


def test_long_names_of_few_narrow_columns_stand_upright_and_are_never_slanted() -> None:
    names, wide, narrow = (
        [f"a-judge-with-a-long-name-{k}" for k in range(3)],
        style.figure("", ""),
        style.figure("", ""),
    )
    style.columns_axis(wide, names)
    style.columns_axis(narrow, names, width=230)
    assert (wide.layout.xaxis.tickangle, narrow.layout.xaxis.tickangle) == (None, -90)
    assert wide.layout.xaxis.autotickangles == (0, -90)
    assert narrow.layout.margin.t > wide.layout.margin.t


def test_cyrillic_and_greek_names_are_no_wider_than_latin_ones() -> None:
    names = ["Яндекс Модель Большая", "Μεγάλο μοντέλο"]
    assert style.row_names(names) == names
