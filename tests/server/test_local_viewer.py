"""The viewer that the dashboard starts beside itself: on this machine alone, and never longer than the dashboard."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from crubric_core.server import local_viewer
from crubric_core.server.viewer_check import Check


@pytest.mark.parametrize(
    ("answer", "base", "people", "may"),
    [
        ("silent", "http://localhost:8502", None, True),
        ("silent", "http://127.0.0.1:9000", None, True),
        ("viewer", "http://localhost:8502", None, False),
        ("other", "http://localhost:8502", None, False),
        ("silent", "https://views.example.org", None, False),
        ("silent", "http://localhost:8502", object(), False),
    ],
)
def test_it_is_offered_only_for_this_machine_where_nothing_answers_and_nobody_signs_in(
    monkeypatch: pytest.MonkeyPatch, answer: str, base: str, people: object, may: bool
) -> None:
    monkeypatch.setattr(local_viewer, "listed_people", lambda: people)
    assert local_viewer.can_start(Check(base, answer, "")) == may  # type: ignore[arg-type]


def test_nothing_of_the_environment_reaches_it_but_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given: dict[str, str] = {}

    def start(command: list[str], *, env: dict[str, str], **_: object) -> None:
        given.update(env)
        assert "hidden" not in " ".join(command)

    monkeypatch.setattr(local_viewer.subprocess, "Popen", start)
    monkeypatch.setenv("CRUBRIC_VIEWS", str(tmp_path / "views"))
    for name in (
        "OPENAI_API_KEY",
        "CRUBRIC_WORKSPACE",
        "CRUBRIC_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "A_NEW_ONE",
    ):
        monkeypatch.setenv(name, "hidden")
    local_viewer.start_viewer()
    assert given["CRUBRIC_VIEWS"] == str(tmp_path / "views")
    assert "hidden" not in given.values()


def test_it_answers_at_the_address_of_links_and_ends_with_its_parent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("CRUBRIC_VIEWER_URL", f"http://localhost:{port}")
    monkeypatch.setenv("CRUBRIC_VIEWS", str(tmp_path / "views"))
    viewer = local_viewer.start_viewer()
    try:
        assert local_viewer.wait_for(viewer, 60).answer == "viewer"
        assert viewer.running
        assert viewer.process.stdin is not None
        viewer.process.stdin.close()  # what the system does when the dashboard ends, however it ends
        assert viewer.process.wait(timeout=30) == 0
    finally:
        viewer.process.kill()
        viewer.process.wait(timeout=30)
