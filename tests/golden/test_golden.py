"""The golden tables are whole, and say where they come from."""

from __future__ import annotations

import numpy as np
import pytest

from tests import golden

PERSONS = {"LSAT6": (1000, 5), "LSAT7": (1000, 5), "Science": (392, 4), "WIRS": (1005, 6)}


@pytest.mark.parametrize("name", golden.NAMES)
def test_a_table_has_the_published_number_of_persons_and_items(name: str) -> None:
    assert golden.labels(name).shape == PERSONS[name]


@pytest.mark.parametrize("name", golden.NAMES)
def test_each_pattern_is_counted_once_and_has_a_source(name: str) -> None:
    content = golden.read(name)
    patterns = np.array(content["patterns"])
    assert content["columns"][-1] == "count"
    assert len(np.unique(patterns[:, :-1], axis=0)) == len(patterns)
    assert (patterns[:, -1] > 0).all()
    assert content["source"]
    assert all(estimates["source"] for estimates in content["published"].values())


def test_lsat6_has_the_counts_that_bock_and_lieberman_printed() -> None:
    """First, second and last pattern, and the items' totals."""
    counts = {tuple(row[:-1]): row[-1] for row in golden.read("LSAT6")["patterns"]}
    assert (counts[0, 0, 0, 0, 0], counts[0, 0, 0, 0, 1], counts[1, 1, 1, 1, 1]) == (3, 6, 298)
    assert golden.labels("LSAT6").sum(axis=0).tolist() == [924, 709, 553, 763, 870]
