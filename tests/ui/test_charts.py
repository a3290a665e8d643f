"""What goes to the browser: drawn once for the same content, readable in both themes."""

import numpy as np
import plotly.graph_objects as go

from crubric_core.ui.charts import INK, Sent, drawn, in_ink

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


def test_axes_and_texts_have_the_colour_that_follows_the_theme() -> None:
    fig = go.Figure(
        [go.Heatmap(z=[[1]]), go.Bar(x=[1], xaxis="x2")], {"xaxis": {"title": "B"}, "xaxis2": {"side": "top"}}
    )
    spec = in_ink(fig).to_dict()
    for axis in ("xaxis", "yaxis", "xaxis2"):
        assert spec["layout"][axis]["tickfont"]["color"] == INK
        assert spec["layout"][axis]["title"]["font"]["color"] == INK
    assert spec["layout"]["xaxis"]["title"]["text"] == "B"
    assert spec["data"][0]["textfont"]["color"] == INK
    assert "textfont" not in spec["data"][1]


def test_what_is_sent_is_what_plotly_would_send() -> None:
    fig = go.Figure(go.Scatter(y=np.arange(3.0)))
    assert in_ink(fig).to_dict()["data"] == fig.to_dict()["data"]
    assert isinstance(in_ink(fig), Sent)
