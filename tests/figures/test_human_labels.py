"""The figure of human labels shows the widths that it is given, and says which line is which."""

from __future__ import annotations

import numpy as np

from crubric_core.figures.human_labels import half_widths


def test_both_widths_are_drawn_against_the_queries_on_an_axis_that_starts_at_zero():
    queries, both, alone = np.array([5, 20, 80]), np.array([0.2, 0.1, 0.05]), np.array([0.4, 0.2, 0.1])
    fig = half_widths(queries, both, alone)
    drawn = {trace.name: (list(trace.x), list(trace.y), trace.line.dash) for trace in fig.data}
    assert drawn == {
        "with the judges' labels": ([5, 20, 80], [0.2, 0.1, 0.05], "solid"),
        "human labels alone": ([5, 20, 80], [0.4, 0.2, 0.1], "dash"),
    }
    assert (fig.layout.xaxis.type, fig.layout.yaxis.rangemode) == ("log", "tozero")
