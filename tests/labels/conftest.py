"""Small tables as text, and a fresh workspace."""

from __future__ import annotations

import pytest

from crubric_core.labels import Workspace


@pytest.fixture
def ws():
    with Workspace() as workspace:
        yield workspace


@pytest.fixture
def table():
    """The bytes of a label CSV: one "system query rubric judge label" string a row, split at spaces."""

    def build(*rows: str, header: str = "system query rubric judge label") -> bytes:
        return "\n".join(",".join(row.split(" ")) for row in (header, *rows)).encode() + b"\n"

    return build
