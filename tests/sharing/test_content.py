"""A view's file: comes back as it was, is small, and can do nothing but be read."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crubric_core import Result
from crubric_core.sharing import Bank, Choices, Separation, SharedView, build_view
from crubric_core.sharing.content import read_content, sealed, write_content
from tests.tiers import examples

MEGABYTE = 1_000_000
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


def assert_same(one: SharedView, other: SharedView) -> None:
    """Every part equal, the unknown included."""
    assert one.as_dict().keys() == other.as_dict().keys()
    for name in ("title", "note", "made_at", "dataset", "fingerprint", "cautions", "downloads"):
        assert getattr(one, name) == getattr(other, name), name
    for name in ("leaderboard", "rubrics"):
        if getattr(one, name) is None:
            assert getattr(other, name) is None
        else:
            pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name), check_dtype=False)
    for name in ("separation", "bank"):
        parts = [None if part is None else vars(part) for part in (getattr(one, name), getattr(other, name))]
        np.testing.assert_equal(*parts)


@pytest.mark.parametrize(
    "choices",
    [
        Choices(title="t", note="n", texts=True),
        Choices(leaderboard=False),
        Choices(separation=False, tiers=False),
        Choices(bank=False, downloads=False, dataset=False),
    ],
)
def test_a_view_comes_back_as_it_was(result: Result, tmp_path: Path, choices: Choices) -> None:
    view = build_view(result, choices)
    write_content(view, tmp_path / "v.duckdb")
    assert_same(read_content(tmp_path / "v.duckdb"), view)


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(texts, min_size=1, max_size=4), title=texts, note=texts)
def test_any_text_comes_back_letter_by_letter(
    tmp_path: Path, names: list[str], title: str, note: str
) -> None:
    size = len(names)
    board = pd.DataFrame(
        {"rank": pd.array(range(1, size + 1), dtype="Int64"), "system": pd.Series(names, dtype="str")}
    )
    rubrics = pd.DataFrame(
        {"order": range(size), **dict.fromkeys(("rubric", "query", "text"), board["system"])}
    )
    view = SharedView(
        title=title,
        note=note,
        made_at=datetime(2026, 1, 1, tzinfo=UTC),
        dataset=names[0],
        fingerprint="f",
        counts={},
        settings={},
        versions={},
        cautions=tuple(names),
        downloads=True,
        leaderboard=board,
        separation=Separation(tuple(names), np.full((size, size), np.nan), np.ones((size, size), dtype=bool)),
        bank=Bank(1, 1, 1, 1, 1, float("nan"), 1.0, np.zeros(2), np.zeros(2), np.zeros(2)),
        rubrics=rubrics,
    )
    path = tmp_path / "v.duckdb"
    write_content(view, path)
    back = read_content(path)
    assert (back.title, back.note, back.dataset, back.cautions) == (title, note, names[0], tuple(names))
    assert back.leaderboard["system"].tolist() == names
    assert back.separation.systems == tuple(names)
    assert back.rubrics["text"].tolist() == names


def test_what_a_bank_is_worth_comes_back_and_views_of_earlier_versions_open_without_it(
    view: SharedView, tmp_path: Path
) -> None:
    path, worth = tmp_path / "v.duckdb", ("It keeps 66%.", "It lands on its rank.")
    write_content(replace(view, bank=replace(view.bank, worth=worth)), path)
    assert read_content(path).bank.worth == worth
    with duckdb.connect(str(path)) as earlier:
        earlier.execute("DELETE FROM about WHERE value LIKE '%\"worth\"%'")
    assert read_content(path).bank.worth == ()


def test_a_rubric_without_a_text_stays_without(view: SharedView, tmp_path: Path) -> None:
    bare = view.rubrics.assign(text=None)
    write_content(replace(view, rubrics=bare), tmp_path / "v.duckdb")
    assert read_content(tmp_path / "v.duckdb").rubrics["text"].isna().all()


def test_a_file_holds_the_tables_of_its_parts_alone(result: Result, tmp_path: Path) -> None:
    write_content(build_view(result, Choices(separation=False, bank=False)), tmp_path / "v.duckdb")
    with sealed(tmp_path / "v.duckdb") as connection:
        tables = connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
    assert tables == [("about",), ("leaderboard",)]


def test_a_file_is_small(view: SharedView, tmp_path: Path) -> None:
    """With 100 systems and 1,000 rubric texts of 200 letters still below a megabyte."""
    rng = np.random.default_rng(0)
    size = 100
    systems = tuple(f"system {i}" for i in range(size))
    words = ["".join(map(chr, rng.integers(97, 123, 200))) for _ in range(1_000)]
    large = replace(
        view,
        separation=Separation(
            systems, rng.integers(0, 301, (size, size)) / 300, rng.random((size, size)) < 0.5
        ),
        rubrics=pd.DataFrame({"order": range(1_000), "rubric": words, "query": "q", "text": words}),
    )
    write_content(large, tmp_path / "large.duckdb")
    write_content(view, tmp_path / "usual.duckdb")
    assert (tmp_path / "large.duckdb").stat().st_size < MEGABYTE
    assert (tmp_path / "usual.duckdb").stat().st_size < MEGABYTE / 4


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE t (a INT)",
        "UPDATE about SET value = ''",
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM '{file}'",
        "COPY about TO '{file}.out'",
        "ATTACH '{file}.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
    ],
)
def test_an_open_file_is_sealed(view: SharedView, tmp_path: Path, statement: str) -> None:
    """Not even a hole in the program could make it write, read another file, or load anything."""
    write_content(view, tmp_path / "v.duckdb")
    (tmp_path / "secret.csv").write_text("a\n1\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    with sealed(tmp_path / "v.duckdb") as connection, pytest.raises(duckdb.Error):
        connection.execute(statement.format(file=tmp_path / "secret.csv")).fetchall()
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_database_of_something_else_is_no_view(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "other.duckdb")) as other:
        other.execute("CREATE TABLE t (a INT)")
    with pytest.raises((duckdb.Error, ValueError, KeyError, TypeError)):
        read_content(tmp_path / "other.duckdb")
