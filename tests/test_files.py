"""``write_whole``: no reader ever sees half a file, even if two processes write it at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from crubric_core.files import significant, write_whole


def test_of_two_who_write_at_once_each_writes_a_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, replace = tmp_path / "whole.json", Path.replace
    seen: list[bytes] = []

    def meanwhile(self: Path, target: Path) -> Path:
        monkeypatch.setattr(Path, "replace", replace)
        write_whole(path, b"the other's")
        seen.append(path.read_bytes())
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", meanwhile)
    assert write_whole(path, b"ours") == path
    assert (seen, path.read_bytes()) == ([b"the other's"], b"ours")
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_left_where_it_fails(tmp_path: Path) -> None:
    (tmp_path / "a folder" / "with something").mkdir(parents=True)
    with pytest.raises(OSError):
        write_whole(tmp_path / "a folder", b"content")
    assert [file.name for file in tmp_path.iterdir()] == ["a folder"]


def test_people_get_six_significant_digits_and_whole_numbers_whole() -> None:
    theta = [1 / 3, -2e-9 / 3, 1_234_567.0, 1_234_567.8, np.inf, np.nan]
    table = significant(pd.DataFrame({"theta": theta, "n": range(6), "system": list("abcdef")}))
    np.testing.assert_array_equal(
        table["theta"], [0.333333, -6.66667e-10, 1234567, 1.23457e6, np.inf, np.nan]
    )
    assert table["n"].dtype == np.int64
    assert significant(pd.DataFrame({"p": pd.array([0.1 + 0.2, None], dtype="Float64")}))[
        "p"
    ].isna().tolist() == [False, True]
