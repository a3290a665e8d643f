"""What goes to the browser: drawn once for the same content, readable in both themes."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from crubric_core.ui.charts import INK, LISTED, drawn, has_values, in_ink, unpacked

DRAWN: list[float] = []


def line(values: np.ndarray, name: str = "") -> go.Figure:
    DRAWN.append(float(values.sum()))
    return go.Figure(go.Scatter(y=values, name=name))


def test_a_figure_is_drawn_once_for_the_same_content() -> None:
    DRAWN.clear()
    values = np.arange(7.0)
    assert drawn(line, values) is drawn(line, values.copy())
    assert len(DRAWN) == 1


def test_any_other_content_is_drawn_anew() -> None:
    large = np.arange(20_000.0)
    other = large.copy()
    other[-1] = 0
    given = [(large,), (other,), (large.astype(np.float32),), (large.reshape(100, 200),), (large, "named")]
    assert len({id(drawn(line, *each)) for each in given}) == len(given)


def test_an_array_that_is_gone_says_nothing_of_the_next_one() -> None:
    """Python may put the next array where the last one was."""
    found = [drawn(line, np.full(20_000, float(n))).to_dict()["data"][0]["y"] for n in range(5)]
    assert len({str(values) for values in found}) == 5


def test_axes_and_texts_have_the_look_of_the_page() -> None:
    fig = go.Figure(
        [go.Heatmap(z=[[1]]), go.Bar(x=[1], xaxis="x2")],
        {"xaxis": {"title": "B", "showgrid": True}, "xaxis2": {"side": "top"}, "margin": {"l": 7}},
    )
    spec = in_ink(fig).to_dict()
    layout = spec["layout"]
    assert layout["font"]["color"] == INK
    assert spec["data"][0]["textfont"]["color"] == INK
    assert "textfont" not in spec["data"][1]
    for axis in ("xaxis", "yaxis", "xaxis2"):
        assert layout[axis]["title"]["font"]["size"] == 14
    assert (layout["xaxis"]["showgrid"], layout["xaxis2"]["showgrid"]) == (True, False)
    assert layout["xaxis"]["title"]["text"] == "B"
    assert layout["margin"] == {"l": 7}, "a padding pushes the numbers into the title of their axis"
    assert layout["yaxis"]["separatethousands"]


@pytest.mark.parametrize(
    ("scale", "given", "color"),
    [
        ([[0, "red"], [1, "blue"]], {}, INK),
        ([[0, "rgba(0, 0, 0, 0)"], [0.5, "#111111"], [1, "#222222"]], {"size": 9}, INK),
        ("Cividis", {}, None),
        ([[0, "red"], [1, "blue"]], {"color": "black"}, "black"),
    ],
)
def test_text_in_cells_follows_the_theme_where_the_cells_do(
    scale: object, given: dict[str, Any], color: str | None
) -> None:
    """Dark navy and yellow are the same in both themes: there Plotly chooses by the cell."""
    fig = go.Figure(go.Heatmap(z=[[0, 1]], colorscale=scale, textfont=given))
    (trace,) = in_ink(fig).to_dict()["data"]
    assert trace.get("textfont", {}) == {**given, **({"color": color} if color else {})}


def test_what_is_sent_has_the_values_that_plotly_would_send() -> None:
    fig = go.Figure(
        [go.Scatter(y=np.array([0.1, np.nan])), go.Heatmap(z=np.arange(6, dtype=np.int8).reshape(2, 3))]
    )
    first, second = in_ink(fig).to_dict()["data"]
    assert np.array_equal(first["y"], [0.1, np.nan], equal_nan=True)
    assert second["z"] == [[0, 1, 2], [3, 4, 5]]
    packed = in_ink(go.Figure(go.Scatter(y=np.arange(LISTED + 1.0)))).to_dict()["data"][0]["y"]
    assert unpacked(packed).tolist() == list(range(LISTED + 1))


def test_a_copy_is_the_same_revision_and_other_data_are_another() -> None:
    """What Plotly needs to draw nothing anew; see charts.py."""
    first, copy, other = (in_ink(go.Figure(go.Scatter(y=[0, n], name="a"))).to_dict() for n in (1, 1, 2))
    assert first["layout"]["datarevision"] == copy["layout"]["datarevision"]
    assert first["layout"]["datarevision"] != other["layout"]["datarevision"]
    assert "template" not in first["layout"]


def test_settings_of_the_layout_leave_the_figure_itself_as_it_was() -> None:
    given = in_ink(go.Figure(go.Scatter(y=[0, 1])))
    found = given.laid_out(dragmode="select")
    assert found.to_dict()["layout"] == {**given.to_dict()["layout"], "dragmode": "select"}
    assert "dragmode" not in given.to_dict()["layout"]
    assert found.shows
    assert not in_ink(go.Figure()).laid_out(dragmode="pan").shows


NOTHING = np.full(3, np.nan)


@pytest.mark.parametrize(
    ("trace", "shows"),
    [
        (go.Bar(x=[0.5, 1.5], y=[0, 0]), False),
        (go.Bar(x=[0, 2], y=["a", "b"], orientation="h"), True),
        (go.Scatter(x=[1, 2, 3], y=NOTHING), False),
        (go.Scatter(x=[1, 2, None], y=[None, None, 2]), False),
        (go.Scatter(x=["a"], y=[2.0]), True),
        (go.Heatmap(z=[[np.nan]]), False),
        (go.Heatmap(z=[[0.0]]), True),
        (None, False),
    ],
)
def test_a_figure_is_drawn_only_if_it_shows_a_value(trace: go.Bar | None, shows: bool) -> None:
    assert has_values(go.Figure(trace)) == shows
