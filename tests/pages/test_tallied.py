"""Pages of a dataset whose labels a Spark session has: tallies are shown, one rubric is asked for, the rest is said."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from crubric_core.labels.store import spark
from crubric_core.labels.store.reference import reference
from crubric_core.labels.store.workspace import Workspace
from tests.labels.simulated import simulate
from tests.pages.conftest import Open


@pytest.fixture(scope="module")
def tallied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace as ``ingest --engine spark`` leaves it, made without Spark: the same tallies, by DuckDB."""
    folder = tmp_path_factory.mktemp("tallied")
    simulate("plain").to_parquet(folder / "labels.parquet")
    with Workspace(folder / "w.duckdb") as workspace:
        reference(workspace, folder / "labels.parquet", "big")
        with workspace.writing() as cursor:
            cursor.execute("UPDATE label_sources SET engine = 'spark', location = 's3a://lake/labels'")
            cursor.execute("DELETE FROM source_files")
    return folder / "w.duckdb"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The rubrics that the session, which is not there, was asked for."""
    found: list[tuple[str, str]] = []
    labels = simulate("plain").assign(run=None)

    def answer(source: object, content: str, query: str, rubric: str) -> pd.DataFrame:
        found.append((query, rubric))
        part = labels[(labels["query"] == query) & (labels["rubric"] == rubric)]
        return part[["system", "judge", "run", "label"]]

    monkeypatch.setattr(spark, "_rubric_rows", answer)
    return found


@pytest.mark.parametrize("page", ["overview", "bank", "leaderboard", "publish", "items", "data"])
def test_what_tallies_tell_is_shown(
    open_page: Open, tallied: Path, asked: list[tuple[str, str]], page: str
) -> None:
    app = open_page(page, tallied, dataset="big", budget="5")
    assert not app.exception
    assert not [error.value for error in app.error]
    assert len(set(asked)) <= 1, "no more than the rubric that the page opens"


def test_an_opened_rubric_is_asked_of_the_session_alone(
    open_page: Open, tallied: Path, asked: list[tuple[str, str]]
) -> None:
    app = open_page("measurability", tallied, dataset="big")
    assert not app.exception
    assert not [error.value for error in app.error]
    assert len(set(asked)) == 1


def test_what_needs_every_label_says_so(open_page: Open, tallied: Path) -> None:
    app = open_page("measurability", tallied, dataset="big", view="Judges")
    assert not app.exception
    (error,) = [error.value for error in app.error]
    assert "only their tallies are in the workspace" in error


def test_the_card_of_agreement_knows_the_judges_by_their_tallies_alone(
    open_page: Open, tallied: Path
) -> None:
    app = open_page("overview", tallied, dataset="big", budget="5")
    assert not any("Spark" in caption.value for caption in app.caption)
