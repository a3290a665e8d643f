"""Roles: every change of a workspace checks what the user may do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from crubric_core import Settings, Workspace, access
from crubric_core.errors import AccessError
from crubric_core.jobs.background import Background
from crubric_core.labels.store.snapshot import Snapshot

TABLE = b"system,query,rubric,judge,label\n" + b"\n".join(
    f"{system},q,r{rubric},{judge},{(system == 'a') ^ (rubric % 3 == 0):d}".encode()
    for system in "abc"
    for rubric in range(6)
    for judge in "xy"
)


@pytest.fixture(autouse=True)
def _nobody_else_asks() -> Iterator[None]:
    yield
    access.set_role_source(access._owner)


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with Workspace() as opened:
        opened.ingest(TABLE, "study", name="study.csv")
        yield opened
        access.set_role_source(access._owner)


def changes(workspace: Workspace) -> dict[str, Callable[[], object]]:
    return {
        "ingest": lambda: workspace.ingest(TABLE, "other", name="other.csv"),
        "rename": lambda: workspace.rename("study", "mine"),
        "delete": lambda: workspace.delete("study"),
        "write": lambda: workspace.writing().__enter__(),
    }


@pytest.mark.parametrize("change", ["ingest", "rename", "delete", "write"])
def test_a_viewer_reads_a_workspace_and_changes_nothing_in_it(workspace: Workspace, change: str) -> None:
    before = workspace.dataset("study").fingerprint
    access.set_role_source(lambda: "viewer")
    with pytest.raises(AccessError, match="Only an editor may change the workspace"):
        changes(workspace)[change]()
    assert workspace.datasets()["fingerprint"].tolist() == [before]


def test_nobody_known_reads_nothing(workspace: Workspace) -> None:
    access.set_role_source(lambda: None)
    with pytest.raises(AccessError, match="sign in first"):
        workspace.datasets()
    with pytest.raises(AccessError, match="sign in first"):
        Workspace()


def test_a_viewers_process_opens_no_workspace_and_has_no_editor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CRUBRIC_ROLE", "viewer")
    with pytest.raises(AccessError, match="opens no workspace"):
        Workspace(tmp_path / "study.duckdb")
    assert list(tmp_path.iterdir()) == []
    assert access.current_role() == "viewer"
    with pytest.raises(AccessError, match="Only an editor may publish a view"):
        access.require_editor("publish a view")


def test_an_unknown_role_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRUBRIC_ROLE", "admin")
    with pytest.raises(AccessError, match=r"'admin'.*editor.*viewer"):
        access.process_role()


def test_a_viewer_starts_no_experiment(workspace: Workspace) -> None:
    dataset = workspace.dataset("study")
    snapshot, background = Snapshot(dataset, Settings()), Background(lambda result: None)
    access.set_role_source(lambda: "viewer")
    try:
        with pytest.raises(AccessError, match="run experiments"):
            background.start("stability", snapshot, Settings())
    finally:
        background.close()


def test_work_in_another_thread_is_done_in_the_name_of_whoever_asked_for_it() -> None:
    """Streamlit knows the visitor in the thread of a page alone."""
    seen: list[access.Role | None] = []
    access.set_role_source(lambda: "editor")
    carried = access.carried(lambda: seen.append(access.current_role()))
    access.set_role_source(lambda: None)
    for work in (carried, lambda: seen.append(access.current_role())):
        thread = Thread(target=work)
        thread.start()
        thread.join()
    assert seen == ["editor", None]
