"""What readers take along."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from crubric_core.sharing import SharedView
from crubric_core.sharing.files import DIGITS, leaderboard_csv


def test_numbers_in_the_csv_have_sensible_digits_and_the_values_of_the_view(view: SharedView) -> None:
    text = leaderboard_csv(view).decode()
    assert not re.search(rf"\d\.\d{{{DIGITS + 1}}}", text)
    read = pd.read_csv(io.StringIO(text))
    assert view.leaderboard is not None
    np.testing.assert_allclose(read["theta"], view.leaderboard["theta"].astype(float), atol=0.5 * 10**-DIGITS)


@pytest.mark.parametrize("ranks", ["theta", "score"])
def test_the_csv_has_the_intervals_of_what_ranks_and_no_empty_ones(view: SharedView, ranks: str) -> None:
    assert view.leaderboard is not None
    low, high = (view.leaderboard[f"theta_{end}"] for end in ("low", "high"))
    ends = {f"{name}_{end}": np.nan for name in ("theta", "score") for end in ("low", "high")}
    board = view.leaderboard.assign(**{**ends, f"{ranks}_low": low, f"{ranks}_high": high})
    read = pd.read_csv(io.BytesIO(leaderboard_csv(replace(view, leaderboard=board))))
    assert {name for name in read if name in ends} == {f"{ranks}_low", f"{ranks}_high"}
    assert read[[f"{ranks}_low", f"{ranks}_high"]].notna().all(axis=None)
