"""Charts taken along: the format is chosen once, and the CSV file has the values that a chart shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import plotly.graph_objects as go

from crubric_core.figures.leaderboard import Estimate, forest
from crubric_core.figures.measurability import label_grid
from crubric_core.figures.profile import domain_heat, query_differences, value_against_cost
from crubric_core.ui.chart_files import chart_values, plot_config
from crubric_core.ui.charts import in_ink
from tests.pages.conftest import Open, looked_at, open_page, study

__all__ = ["looked_at", "open_page", "study"]


def test_marks_with_intervals_are_rows_with_names_and_ends() -> None:
    value = np.array([1.0, 0.5])
    fig = forest(["a <b>", "c"], Estimate(value, value - 0.2, value + 0.3), ["Tier 1"] * 2)
    found = chart_values(in_ink(fig).to_dict())
    assert found["y"].tolist() == ["a <b>", "c"]
    assert found["x"].tolist() == [1.0, 0.5]
    np.testing.assert_allclose(found[["x_low", "x_high"]], [[0.8, 1.3], [0.3, 0.8]])


def test_an_open_interval_has_no_end_in_the_file_and_its_arrow_no_row() -> None:
    value = np.array([2.0, 1.0, -1.0])
    fig = forest(
        ["a", "b", "c"], Estimate(value, np.array([1, 0.5, -np.inf]), np.array([np.inf, 1.5, 0])), None
    )
    found = chart_values(in_ink(fig).to_dict())
    assert found["y"].tolist() == ["a", "b", "c"]
    assert found[["x_low", "x_high"]].to_numpy().tolist() == [[1, np.inf], [0.5, 1.5], [-np.inf, 0]]


def test_a_heat_map_is_a_row_a_cell_with_both_names() -> None:
    labels = np.array([[1.0, 0.0, np.nan], [0.0, 1.0, 1.0]])
    fig = label_grid(labels, labels, ["s", "t"], ["j", "k", "l"], 2)
    found = chart_values(in_ink(fig).to_dict()).set_index(["y", "x"])["z"]
    assert len(found) == 6
    assert (found["s", "j"], found["t", "j"], found["t", "l"]) == (1.0, 0.0, 1.0)
    assert np.isnan(found["s", "l"])


def test_lines_keep_their_numbers_and_the_names_of_their_legend() -> None:
    fig = go.Figure([go.Scatter(x=np.arange(3), y=[1, 2, 4], name="τ<sub>c</sub>"), go.Bar(y=[7.0])])
    found = chart_values(in_ink(fig).to_dict())
    assert found.values.tolist() == [["τc", 0, 1.0], ["τc", 1, 2.0], ["τc", 2, 4.0], ["trace 2", 0, 7.0]]


def test_points_without_named_axes_are_rows_with_their_names() -> None:
    cost, score, names = np.array([1.0, 2.0, np.nan]), np.array([0.5, 0.7, 0.9]), ["a <b>", "x" * 40, "c"]
    fig = value_against_cost(names, cost, score, np.array([True, True, False]), ("cost", "score S"))
    found = chart_values(in_ink(fig).to_dict())
    points = found[found["name"].notna()]
    assert points["name"].tolist() == names
    assert points["y"].tolist() == score.tolist()
    bars = query_differences(np.array([0.1, -0.2]), ["q1", "q2"], "a", "b")
    assert chart_values(in_ink(bars).to_dict())["name"].tolist() == ["q1", "q2"]


def test_what_is_written_in_the_cells_of_a_heat_map_goes_along() -> None:
    fig = domain_heat(["s", "t"], ["law", "code"], np.array([[0.9, 0.5], [0.3, np.nan]]))
    found = chart_values(in_ink(fig).to_dict()).set_index(["y", "x"])["text"]
    assert found["s", "law"] == "0.90"
    assert found["t", "code"] == "—"


def test_the_format_is_chosen_once_and_charts_follow(open_page: Open, study: Path) -> None:
    app = open_page("measurability", study)
    assert '"format": "png"' in app.get("plotly_chart")[0].proto.config
    app.segmented_control(key="chart format").set_value("SVG").run()
    assert '"format": "svg"' in app.get("plotly_chart")[0].proto.config
    app.segmented_control(key="chart format").set_value("CSV").run()
    assert not app.exception
    offered = [b for b in app.get("download_button") if b.proto.label == "Download the chart's values"]
    assert len(offered) == len(app.get("plotly_chart"))


def test_a_picture_is_saved_under_the_name_of_its_chart() -> None:
    saved = plot_config("Ability of the best 150 of 1,000 systems with its 95% interval, in tiers")[
        "toImageButtonOptions"
    ]
    assert saved == {
        "format": "png",
        "filename": "ability_of_the_best_150_of_1_000_systems_with_its_95_interva",
    }
    assert plot_config("θ")["toImageButtonOptions"]["filename"] == "θ"
    assert plot_config("…")["toImageButtonOptions"]["filename"] == "chart"
