from __future__ import annotations

import pandas as pd
import pytest

from crubric_core.text import leaderboard


def table(*tiers: int) -> pd.DataFrame:
    return pd.DataFrame({"tier": tiers, "system": [f"s{i}" for i in range(len(tiers))]})


@pytest.mark.parametrize(
    ("tiers", "lead"),
    [
        ((1, 2, 2), "s0 is ahead of all others."),
        ((1, 1, 2), "s0 and s1 share the first tier: they cannot be told apart."),
        ((1, 1, 1, 2), "s0, s1 and s2 share the first tier: they cannot be told apart."),
        ((1, 1, 1, 1, 2), "s0 and 3 others share the first tier: they cannot be told apart."),
        ((1, 1, 1), "No system is ahead: the 3 systems cannot be told apart."),
    ],
)
def test_the_first_line_claims_no_more_than_the_tiers_do(tiers: tuple[int, ...], lead: str) -> None:
    assert leaderboard(table(*tiers), 40, 0.95)[0] == lead


def test_the_second_line_counts_rubrics_systems_and_tiers() -> None:
    assert leaderboard(table(1, 2), 1, 0.9)[1] == "On 1 rubric the 2 systems fall into 2 tiers at 90%."
