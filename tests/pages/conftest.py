"""Pages run by Streamlit's AppTest, on a small simulated study and on an empty workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import NumberInput, SelectSlider

from crubric_core.demo import simulate
from crubric_core.labels.store.workspace import Workspace
from crubric_core.ui.settings_bar import OPEN

ROOT = Path(__file__).resolve().parents[2]
MAIN = ROOT / "crubric_core" / "ui" / "main.py"
HOSTILE = "<img src=x onerror=alert(1)> **bold**"

Open = Callable[..., AppTest]


@pytest.fixture(scope="session", autouse=True)
def components_are_looked_for_once() -> Iterator[None]:
    """Each AppTest reads the metadata of every installed package (0.3 s); they stay what they are during a run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests)
        )
        yield


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace file with one small study, whose best system has a hostile name."""
    folder = tmp_path_factory.mktemp("study")
    made = simulate(seed=1, systems=8, queries=12, pool=(10, 16))
    first = made.labels["system"].iloc[0]
    for name, table in (
        ("rubrics", made.rubrics),
        ("queries", made.queries),
        ("labels", made.labels.replace({"system": {first: HOSTILE}})),
    ):
        table.to_csv(folder / f"{name}.csv", index=False)
    with Workspace(folder / "study.duckdb") as workspace:
        for kind in ("labels", "rubrics", "queries"):
            workspace.ingest(folder / f"{kind}.csv", dataset="small", kind=kind)
    return folder / "study.duckdb"


@pytest.fixture(scope="session")
def looked_at() -> Iterator[set[Path]]:
    """The workspace file of which results are kept."""
    yield set()
    st.cache_resource.clear()


@pytest.fixture
def nothing_kept(looked_at: set[Path]) -> None:
    """What the pages of a test show is computed in it."""
    st.cache_resource.clear()
    looked_at.clear()


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch, looked_at: set[Path]) -> Open:
    """Opens one page of the dashboard on a workspace file, through the entry script; Settings are open.

    As on a server, what a page has computed of that file is there for the pages that are opened after it.
    """

    def run(page: str, workspace: Path, *, settings_open: bool = True, **query: str) -> AppTest:
        if workspace not in looked_at:
            st.cache_resource.clear()
            looked_at.clear()
            looked_at.add(workspace)
        monkeypatch.setenv("CRUBRIC_WORKSPACE", str(workspace))
        app = AppTest.from_file(str(MAIN), default_timeout=60)
        app.session_state[OPEN] = settings_open
        for name, value in query.items():
            app.query_params[name] = value
        app.switch_page(str(ROOT / "pages" / f"{page}.py"))
        return app.run()

    return run


def size_box(app: AppTest) -> NumberInput:
    """The box of the bank size; its key names the largest that can be chosen."""
    (found,) = [box for box in app.number_input if str(box.key).startswith("budget to ")]
    return found


def size_slider(app: AppTest) -> SelectSlider[int]:
    """Its slider."""
    (found,) = [slider for slider in app.select_slider if str(slider.key).startswith("budget slider to ")]
    return found
