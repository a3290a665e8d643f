from __future__ import annotations

import numpy as np

from crubric_core.figures.overview import completeness, judge_means


def test_completeness_keeps_one_cell_for_each_system_and_judge() -> None:
    cells = completeness(np.array([[1.0, 0.5], [0.0, 1.0]]), ["a", "b"], ["j", "<k>"])
    assert np.asarray(cells.data[0].z).tolist() == [[1.0, 0.5], [0.0, 1.0]]
    assert cells.layout.xaxis.ticktext == ("j", "&lt;k&gt;")


def test_judges_differ_by_symbol_as_well_as_by_colour() -> None:
    fig = judge_means(np.zeros((2, 3)), ["a", "b"], ["j", "k", "l"], "pass rate")
    assert len({trace.marker.symbol for trace in fig.data}) == 3
    assert len({trace.marker.color for trace in fig.data}) == 3
