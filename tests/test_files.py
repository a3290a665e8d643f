"""A file that is written whole is never half a file to anybody, whoever else writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from crubric_core.files import write_whole


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
