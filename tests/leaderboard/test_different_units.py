"""On how many units the difference of two systems rests, where not all were scored on the same."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crubric_core.leaderboard.different_units import at_most_ways, beside_units

KNOWN = st.integers(2, 5).flatmap(
    lambda systems: st.lists(
        st.lists(st.booleans(), min_size=systems, max_size=systems), min_size=1, max_size=7
    )
)


def led_to(known: np.ndarray, start: int) -> set[int]:
    """The systems to which units (M, n) lead from one, in whatever number of steps."""
    found, old = {start}, set[int]()
    while found != old:
        old = found
        found = found | {int(k) for i in found for k in np.nonzero(known[:, known[i]].any(axis=1))[0]}
    return found


def fewest_cut(known: np.ndarray, i: int, k: int) -> int:
    """The fewest units without which nothing leads from one system to the other: as many as there are ways (Menger)."""
    for size in range(known.shape[1] + 1):
        for left_out in combinations(range(known.shape[1]), size):
            if k not in led_to(np.delete(known, left_out, axis=1), i):
                return size
    raise AssertionError


@given(KNOWN)
def test_differences_rest_on_no_more_units_than_lead_from_one_system_to_the_other(
    units: list[list[bool]],
) -> None:
    known = np.array(units).T
    ways = np.array(
        [[fewest_cut(known, i, k) if i != k else 0 for k in range(len(known))] for i in range(len(known))]
    )
    apart = ~np.eye(len(known), dtype=bool)
    for rest in range(known.shape[1] + 2):
        found = at_most_ways(np.full(ways.shape, rest), known)
        assert np.array_equal(found[apart], np.minimum(rest, ways)[apart])


def test_two_systems_on_all_units_rest_on_all_and_on_those_in_common_where_nobody_links_them() -> None:
    scores = np.random.default_rng(1).random((3, 10))
    scores[0, 6:] = np.nan
    scores[2] = np.nan
    scores[2, :3] = 0.5
    _, _, resting = beside_units(scores, np.ones(10), np.arange(10))
    assert resting[0, 1] == 6
    assert resting[0, 2] <= 6
    whole = np.random.default_rng(2).random((3, 10))
    assert (beside_units(whole, np.ones(10), np.arange(10))[2] == 10).all()
