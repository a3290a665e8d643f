"""What readers take along."""

from __future__ import annotations

import io
import re

import numpy as np
import pandas as pd

from crubric_core.sharing import SharedView
from crubric_core.sharing.files import DIGITS, leaderboard_csv


def test_numbers_in_the_csv_have_sensible_digits_and_the_values_of_the_view(view: SharedView) -> None:
    text = leaderboard_csv(view).decode()
    assert not re.search(rf"\d\.\d{{{DIGITS + 1}}}", text)
    read = pd.read_csv(io.StringIO(text))
    assert view.leaderboard is not None
    np.testing.assert_allclose(read["theta"], view.leaderboard["theta"].astype(float), atol=0.5 * 10**-DIGITS)
