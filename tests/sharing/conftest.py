"""One small study whose best system has a hostile name, its result and a view of all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from crubric_core import Result, Settings, Workspace, run_pipeline
from crubric_core.demo import simulate
from crubric_core.sharing import Choices, SharedView, build_view

HOSTILE = "<img src=x onerror=alert(1)> **bold**"
EVERYTHING = Choices(title="Autumn round", note="Two lines\nof a note.", texts=True)


@pytest.fixture(scope="session")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    folder = tmp_path_factory.mktemp("shared study")
    made = simulate(seed=1, systems=8, queries=12, pool=(10, 16))
    first = made.labels["system"].iloc[0]
    tables = {
        "labels": made.labels.replace({"system": {first: HOSTILE}}),
        "rubrics": made.rubrics,
        "queries": made.queries,
    }
    with Workspace() as workspace:
        for kind, table in tables.items():
            table.to_csv(folder / f"{kind}.csv", index=False)
            workspace.ingest(folder / f"{kind}.csv", dataset="small", kind=kind)
        return run_pipeline(workspace.dataset("small"), Settings(budget=40))


@pytest.fixture(scope="session")
def view(result: Result) -> SharedView:
    """Every part of the result."""
    return build_view(result, EVERYTHING)


@pytest.fixture
def views(tmp_path: Path) -> Path:
    """An empty folder for views."""
    return tmp_path / "views"
