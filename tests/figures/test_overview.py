from __future__ import annotations

import numpy as np

from crubric_core.figures.overview import judge_dots


def test_each_judge_is_a_row_of_dots_apart_by_symbol_as_well_as_by_colour() -> None:
    shares = np.array([[0.0, 0.5, np.nan], [1.0, 0.25, 0.75]])
    fig = judge_dots(shares, ["a", "b"], ["j", "<k>", "l"], "share passed")
    assert [trace.name for trace in fig.data] == ["j", "&lt;k&gt;", "l"]
    assert np.array_equal(np.array([t.x for t in fig.data]).T, shares, equal_nan=True)
    assert len({trace.marker.symbol for trace in fig.data}) == 3
    assert len({trace.marker.color for trace in fig.data}) == 3
