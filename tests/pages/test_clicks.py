"""A click on a chart leads to what its mark stands for, once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crubric_core import Workspace
from crubric_core.demo import simulate
from tests.pages.clicks import charts, click, drag
from tests.pages.conftest import Open, size_box


def query(app, name: str) -> str | None:
    given = app.query_params.get(name)
    return given[0] if isinstance(given, list) else given


def ranked(app) -> list[str]:
    """The systems of the leaderboard's table, in order."""
    return next(t.value["system"].tolist() for t in app.dataframe if "theta" in t.value)


@pytest.mark.parametrize(
    ("view", "alt", "place"),
    [
        ("Table", "ability θ with intervals in tier bands", {"number": 2}),
        ("Ranks", "Rank of each system with its interval", {"trace": 1, "number": 2}),
        ("Ranks", "Probability that each system is among the first k", {"x": 1, "y": 2}),
        ("Scores", "Score against ability", {"number": 2}),
        ("Groups", "Score of each system by domain", {"x": 1, "y": 2}),
    ],
)
def test_a_mark_of_a_system_opens_its_profile_on_the_leaderboard(
    open_page: Open, study: Path, view: str, alt: str, place: dict[str, int]
) -> None:
    wanted = ranked(open_page("leaderboard", study))[2]
    app = open_page("leaderboard", study, more=view)
    assert query(app, "system") is None
    app = click(app, alt, **place)
    assert not app.exception
    assert query(app, "system") == wanted
    app.button(key="close profile").click().run()
    assert query(app, "system") is None, "it is handled once"
    assert query(click(app, alt, **place), "system") == wanted, "and can be clicked again"


def test_a_cell_of_the_pairs_compares_its_row_with_its_column(open_page: Open, study: Path) -> None:
    names = ranked(open_page("leaderboard", study))
    app = click(
        open_page("leaderboard", study, more="Pairs"),
        "Probability that the row is ahead of the column",
        x=3,
        y=1,
    )
    assert not app.exception
    assert (query(app, "system"), query(app, "versus")) == (names[1], names[3])


CURVES = "Item characteristic curves of the chosen rubrics with the systems' labels"
INFORMATION = "Item information of the chosen rubrics"
ROWS = "Item information by difficulty and ability"
WRIGHT = "Wright map: rubric difficulties and system abilities on one scale"


def traces(app, alt: str) -> list[dict]:
    """What a chart draws."""
    return json.loads(charts(app)[alt].spec)["data"]


def listed(app) -> list[str]:
    """The names in the page's table of rubrics, in order."""
    return next(t.value["rubric"].tolist() for t in app.dataframe if "rubric" in t.value)


@pytest.mark.parametrize("kind", [CURVES, INFORMATION])
def test_a_curve_of_items_opens_its_rubric_until_all_are_listed_again(
    open_page: Open, study: Path, kind: str
) -> None:
    app = open_page("items", study)
    every, drawn = listed(app), traces(app, kind)
    at = next(n for n, trace in reversed([*enumerate(drawn)]) if trace.get("meta"))
    app = click(app, kind, trace=at, number=3)
    assert not app.exception
    assert listed(app) == [drawn[at]["meta"]]
    assert [trace["meta"] for trace in traces(app, kind) if trace.get("meta")] == listed(app)
    assert "Labels of the chosen rubric, systems by judges" in charts(app)
    next(button for button in app.button if button.label == "List all rubrics").click().run()
    assert listed(app) == every


def test_labels_a_row_of_the_heat_map_and_a_bar_of_the_wright_map_list_their_rubrics(
    open_page: Open, study: Path
) -> None:
    app = open_page("items", study)
    of_curves = traces(app, CURVES)
    last = [trace["meta"] for trace in of_curves if trace.get("meta")][-1]
    assert listed(click(app, CURVES, trace=len(of_curves) - 1, number=1)) == [last]
    app = open_page("items", study)
    app = click(app, ROWS, x=0.0, y=traces(app, ROWS)[0]["y"][5])
    assert len(listed(app)) == 1
    app = open_page("items", study)
    bars = traces(app, WRIGHT)[0]
    at = bars["x"].index(max(bars["x"]))
    app = click(app, WRIGHT, trace=0, number=at, x=bars["x"][at], y=bars["y"][at])
    assert not app.exception
    assert len(listed(app)) == max(bars["x"])


def test_a_system_of_the_wright_map_is_opened_on_the_leaderboard(open_page: Open, study: Path) -> None:
    app = open_page("items", study)
    name = traces(app, WRIGHT)[2]["customdata"][1]
    app = click(app, WRIGHT, trace=2, number=1)
    assert not app.exception
    assert app.title[0].value.startswith("Leaderboard")
    assert query(app, "system") == name


def test_a_point_of_a_curve_sets_the_size_of_the_bank(open_page: Open, study: Path) -> None:
    app = open_page("bank", study)
    worth = "Share of separated pairs that banks of each size keep, this bank and random ones"
    size = traces(app, worth)[1]["x"][1]
    app = click(app, worth, trace=1, number=1, x=size, y=0.5)
    assert not app.exception
    assert query(app, "budget") == str(size)
    assert size_box(app).value == size
    app = open_page("bank", study, part="Certificate")
    app = click(app, "Share of the whole pool's utility by bank size, with the proven bound", x=9, y=0.5)
    assert query(app, "budget") == "9"


def test_a_point_of_the_price_or_of_the_sweep_moves_the_threshold(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study)
    app = click(app, "Shares of rubrics, information and queries that each threshold keeps", x=0.29, y=0.5)
    assert not app.exception
    assert query(app, "tau_c") == "0.29"
    assert app.slider(key="tau_c").value == 0.29
    sweep, view = "Kappa by the share of rubrics that each threshold keeps", "Agreement against coverage"
    app = open_page("measurability", study, view=view, gate="agreement")
    told = [each[0] for each in traces(app, sweep)[0]["customdata"]]
    assert query(click(app, sweep, number=told.index("all")), "tau_c") is None
    assert query(click(app, sweep, number=told.index("0.85")), "tau_c") == "0.85"
    app = click(open_page("measurability", study, view=view), sweep, number=told.index("0.85"))
    assert query(app, "tau_c") is None, "the gate in use reads another statistic"


def test_a_bar_of_measurability_lists_its_rubrics(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study)
    alt = next(alt for alt in charts(app) if alt.startswith("Rubrics by the gate's statistic"))
    kept, *dropped = traces(app, alt)
    at = kept["y"].index(max(kept["y"]))
    app = click(app, alt, number=at, x=kept["x"][at], y=1)
    assert not app.exception
    of_the_bar = kept["y"][at] + sum(trace["y"][at] for trace in dropped)
    assert len(listed(app)) == of_the_bar
    assert query(app, "tau_c") is None
    again = open_page("measurability", study, bar=query(app, "bar"))
    assert len(listed(again)) == of_the_bar, "a bookmark lists the same"
    next(button for button in again.button if button.label == "List all rubrics").click().run()
    assert len(listed(again)) > of_the_bar
    assert query(again, "bar") is None
    odd = open_page("measurability", study, bar="wide")
    assert any("bar=wide" in warning.value.replace("\\", "") for warning in odd.warning)
    assert query(drag(app, alt, 0.434, 0.9), "tau_c") == "0.43", "a range of several bars moves the threshold"


def test_a_point_of_the_item_fit_opens_its_rubric(open_page: Open, study: Path) -> None:
    app = open_page("items", study, view="Item fit")
    next(button for button in app.button if button.label == "Check how each rubric fits").click().run()
    alt = "Outfit mean square of each rubric by difficulty"
    points = traces(app, alt)[0]
    app = click(app, alt, number=4, x=points["x"][4], y=points["y"][4])
    assert not app.exception
    assert listed(app)[0] == points["customdata"][4][0]


def with_reasons(app) -> list[str]:
    """The systems whose answer and reasons are shown, in order."""
    shown = [each.label.replace("\\", "").partition(": ") for each in app.expander]
    return [name for name, _, what in shown if what == "answer and reasons"]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study whose judges give reasons."""
    made = simulate(seed=1, systems=8, queries=12, pool=(9, 14))
    labels = made.labels.assign(reason="Of " + made.labels["system"] + ".")
    path = tmp_path_factory.mktemp("reasons") / "told.duckdb"
    with Workspace(path) as workspace:
        for kind, table in (("labels", labels), ("rubrics", made.rubrics), ("queries", made.queries)):
            workspace.ingest(table.to_csv(index=False).encode(), "told", kind=kind)
    return path


def test_a_cell_of_the_labels_of_a_rubric_shows_what_was_said_of_its_system(
    open_page: Open, told: Path
) -> None:
    grid = "Labels of the chosen rubric, systems by judges"
    app = open_page("measurability", told)
    names = [row[0] for row in traces(app, grid)[0]["customdata"]]
    for at in (5, 2, 5):
        app = click(app, grid, x=1, y=at)
        assert not app.exception
        chooser = next(box for box in app.selectbox if box.label == "Answer and reasons for")
        assert chooser.value == names[at]
    chooser.set_value(names[0]).run()
    assert next(box for box in app.selectbox if box.label == "Answer and reasons for").value == names[0]


def test_a_cell_of_the_labels_on_the_leaderboard_adds_the_reasons_of_its_system(
    open_page: Open, told: Path
) -> None:
    grid = "Labels of the opened rubric, systems by judges"
    system, other = ranked(open_page("leaderboard", told))[:2]
    app = open_page("leaderboard", told, system=system, why="Strongest and weakest rubrics")
    assert with_reasons(app) == [system]
    at = [row[0] for row in traces(app, grid)[0]["customdata"]].index(other)
    app = click(app, grid, x=1, y=at)
    assert not app.exception
    assert with_reasons(app) == [other, system]


def test_no_mark_fades_because_another_one_is_clicked(open_page: Open, study: Path) -> None:
    marks = [trace for trace in traces(open_page("items", study), CURVES) if trace.get("mode") == "markers"]
    assert marks
    assert all(trace["unselected"]["marker"]["opacity"] == trace["marker"]["opacity"] for trace in marks)


@pytest.mark.parametrize(
    ("alt", "place"),
    [
        (
            "Sensitivity and specificity of each judge with intervals",
            {"trace": 1, "number": 2, "x": 0.9, "y": 2.14},
        ),
        ("Leniency of each judge with intervals", {"number": 2, "x": 0.0, "y": 2}),
    ],
)
def test_a_mark_of_a_judge_lists_the_rubrics_on_which_it_departs(
    open_page: Open, study: Path, alt: str, place: dict[str, float]
) -> None:
    app = open_page("measurability", study, view="Judges")
    name = traces(app, alt)[0]["customdata"][2][0].split(":")[0]
    app = click(app, alt, **place)
    assert not app.exception
    assert next(box for box in app.selectbox if box.label == "Judge").value == name
    (said,) = (each.value for each in app.caption if "departs from the majority" in each.value)
    assert said.replace("\\", "").startswith(f"{name} departs")
    (table,) = (each.value for each in app.dataframe if "departs" in each.value)
    assert (table["departs"] > 0).all()
    assert "Labels of the chosen rubric, systems by judges" in charts(app)


def test_a_cell_of_the_ranks_without_a_judge_opens_its_system(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study, view="Judges")
    next(button for button in app.button if button.label == "Remove each judge in turn").click().run()
    app = click(app, "Places that each system gains or loses without each judge", x=1, y=2)
    assert not app.exception
    assert app.title[0].value.startswith("Leaderboard")
    assert query(app, "system") == ranked(app)[2]


def test_a_bar_of_splits_lists_its_rubrics_until_all_are_listed_again(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study, view="Baseline")
    every, alt = listed(app), "Rubrics that unanimity drops by the number of systems that split the judges"
    bars = traces(app, alt)[0]
    app = click(app, alt, number=1, x=bars["x"][1], y=1)
    assert not app.exception
    assert len(listed(app)) == bars["y"][1] < len(every)
    next(button for button in app.button if "list all again" in button.label).click().run()
    assert listed(app) == every
