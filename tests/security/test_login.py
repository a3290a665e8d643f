"""A dashboard that others can reach: signing in at a real OpenID Connect provider, and what each person may do."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.security.conftest import CANARY, Study
from tests.security.servers import ROOT, Server, Talk, command, free_port, started, viewer_server

pytestmark = pytest.mark.browser
PEOPLE = {
    "ann": {"email": "ann@example.org", "email_verified": True},
    "ben": {"email": "ben@example.org", "email_verified": True},
    "eve": {"email": "eve@example.org", "email_verified": True},
    "mallory": {"email": "ann@example.org", "email_verified": False},
    "kelvin": {"email": "\u212aate@example.org", "email_verified": True},  # str.lower() would make it Kate's
}
READY = '[data-testid="stApp"][data-test-script-state="notRunning"]'


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An identity provider that knows five people."""
    port = free_port()
    people = [f"--user-claims={json.dumps({'sub': name, **claims})}" for name, claims in PEOPLE.items()]
    arguments = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), "-H", "localhost", *people]
    log = tmp_path_factory.mktemp("provider") / "log"
    with started(log, arguments, port, "/.well-known/openid-configuration") as server:
        yield server


@pytest.fixture(scope="module")
def guarded(provider: Server, study: Study, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The dashboard behind that provider, on a copy of the study."""
    folder = tmp_path_factory.mktemp("guarded")
    workspace = folder / "study.duckdb"
    workspace.write_bytes(study.workspace.read_bytes())
    secrets, port = folder / "secrets.toml", free_port()
    secrets.write_text(
        f"""
        [auth]
        redirect_uri = "http://localhost:{port}/oauth2callback"
        cookie_secret = "{"c" * 43}"
        client_id = "rubric"
        client_secret = "secret"
        server_metadata_url = "{provider.url}/.well-known/openid-configuration"
        [access]
        editors = ["Ann@example.org", "kate@example.org"]
        viewers = ["ben@example.org"]
        """
    )
    environment = {"CRUBRIC_WORKSPACE": str(workspace), "CRUBRIC_VIEWS": str(folder / "views")}
    arguments = command(port, "--secrets.files", str(secrets))
    with started(folder / "log", arguments, port, **environment) as server:
        yield server


@pytest.fixture
def window(browser: Browser) -> Iterator[Page]:
    """A window of a person whom the server has never seen."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    yield context.new_page()
    context.close()


def sign_in(window: Page, guarded: Server, name: str, path: str = "") -> None:
    window.goto(f"{guarded.url}/{path}")
    window.get_by_role("button", name="Sign in").click()
    window.wait_for_url("**/oauth2/authorize*")
    window.get_by_role("button", name=name, exact=True).click()
    window.wait_for_url(f"{guarded.url}/**")
    window.wait_for_selector(READY)
    window.wait_for_timeout(300)
    window.wait_for_selector(READY, timeout=60_000)


def pages(window: Page) -> list[str]:
    return [link.strip() for link in window.locator('[data-testid="stSidebarNavLink"]').all_inner_texts()]


def test_a_stranger_sees_a_button_and_nothing_else(window: Page, guarded: Server) -> None:
    for name in ("", "data", "leaderboard"):
        window.goto(f"{guarded.url}/{name}")
        window.wait_for_selector(READY, timeout=60_000)
        expect(window.get_by_role("button", name="Sign in")).to_be_visible()
        assert pages(window) == []
        assert CANARY not in window.content()


def test_a_strangers_messages_get_nothing_either(guarded: Server) -> None:
    with Talk(guarded) as stranger:
        session = stranger.run()[0].new_session.initialize.session_id
        for path in (ROOT / "pages").glob("*.py"):
            stranger.run(page_name=path.stem)
        stranger.send(BackMsg(clear_cache=True))
        stranger.run(page_name="data", query_string="dataset=x")
        assert CANARY.encode() not in stranger.said()
        assert guarded.request(f"/_stcore/upload_file/{session}/1", "PUT", {}, b"x")[0] == 404


def test_a_forged_cookie_is_nobodys(guarded: Server) -> None:
    user = json.dumps({"is_logged_in": True, **PEOPLE["ann"], "origin": guarded.url})
    forged = {"Cookie": f"_streamlit_user={user}", "Origin": guarded.url}
    assert guarded.request("/_stcore/upload_file/a/b", "PUT", forged, b"x")[0] == 404


def test_an_editor_signs_in_and_changes_the_workspace(window: Page, guarded: Server) -> None:
    sign_in(window, guarded, "ann")
    assert {"Overview", "Data", "Leaderboard"} <= set(pages(window))
    expect(window.get_by_text(PEOPLE["ann"]["email"])).to_be_visible()
    window.get_by_role("link", name="Data", exact=True).click()
    window.wait_for_selector(READY)
    window.locator('input[type="file"]').first.set_input_files(
        {
            "name": "labels.csv",
            "mimeType": "text/csv",
            "buffer": b"system,query,rubric,judge,label\na,q,r,j,1\n",
        }
    )
    expect(window.get_by_text("labels.csv").first).to_be_visible()
    window.wait_for_selector(READY, timeout=60_000)
    window.get_by_role("button", name="Sign out").click()
    window.wait_for_url("**/oauth2/end_session*")  # the provider asks whether to end its own session too
    window.goto(guarded.url)
    expect(window.get_by_role("button", name="Sign in")).to_be_visible(timeout=20_000)


def test_a_viewer_sees_the_analysis_and_no_page_that_changes_anything(window: Page, guarded: Server) -> None:
    sign_in(window, guarded, "ben")
    found = pages(window)
    assert "Leaderboard" in found
    assert "Data" not in found
    assert "Publish" not in found
    for name in ("data", "publish"):
        window.goto(f"{guarded.url}/{name}")
        window.wait_for_selector(READY, timeout=60_000)
        assert window.locator('input[type="file"]').count() == 0
        expect(window.get_by_text("Page not found").first).to_be_visible()
    window.goto(f"{guarded.url}/leaderboard")
    window.wait_for_selector(READY, timeout=60_000)
    expect(window.locator(".js-plotly-plot").first).to_be_visible(timeout=60_000)


def test_a_viewer_who_asks_all_the_same_is_refused_by_the_core(window: Page, guarded: Server) -> None:
    sign_in(window, guarded, "ben")
    window.goto(f"{guarded.url}/experiments")
    window.wait_for_selector(READY, timeout=60_000)
    run = window.get_by_role("button", name="Run", exact=True)
    if run.count():
        run.click()
        expect(window.get_by_text("Only an editor may run experiments")).to_be_visible()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("eve", "eve@example.org is not on this server's list"),
        ("mallory", "has not verified the address ann@example.org"),
        ("kelvin", "\u212aate@example.org is not on this server's list"),
    ],
)
def test_who_is_not_on_the_list_or_not_verified_stays_outside_and_is_told_why(
    window: Page, guarded: Server, name: str, why: str
) -> None:
    sign_in(window, guarded, name)
    expect(window.get_by_text(why)).to_be_visible()
    assert pages(window) == []
    window.goto(f"{guarded.url}/leaderboard")
    window.wait_for_selector(READY, timeout=60_000)
    assert CANARY not in window.content()


@pytest.mark.parametrize("address", ["0.0.0.0", "::"])
def test_a_dashboard_that_would_stand_open_does_not_start(address: str, tmp_path: Path) -> None:
    arguments = command(free_port(), "--server.address", address)
    ended = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert "Not started. The dashboard would be open to other machines without a login" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_viewers_server_may_be_open_to_all(study: Study, tmp_path: Path) -> None:
    with viewer_server(study.views, tmp_path / "log", "--server.address", "0.0.0.0") as server:
        assert server.lives()
        printed = server.log.read_text()
        assert "http://localhost:" in printed
        assert (
            "Network URL" not in printed
        )  # next to it Streamlit would ask the internet for an "External URL"
