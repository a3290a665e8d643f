"""The contract with Streamlit's private parts: what this program relies on is there and means what it is taken for."""

from __future__ import annotations

import ast
import dataclasses
import json
import re
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit import config
from streamlit.runtime.scriptrunner_utils.script_run_context import FragmentThreadState, ScriptRunContext
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from crubric_core.server import streamlit_internals as internals
from crubric_core.server.protocol_filter import FROM_EDITORS

ROOT = Path(__file__).resolve().parents[2]
ONE_MODULE = ROOT / "crubric_core" / "server" / "streamlit_internals.py"
SECRET = "s" * 43
ORIGIN = "https://rubric.example.org"


def imported_at_run_time(path: Path) -> set[str]:
    """Every module that a file imports, those for type checkers alone left out."""
    tree = ast.parse(path.read_text("utf-8"))
    typing_only = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_one_module_alone_reaches_into_streamlit() -> None:
    for path in (ROOT / "app.py", *(ROOT / "pages").glob("*.py"), *(ROOT / "crubric_core").glob("**/*.py")):
        inner = {name for name in imported_at_run_time(path) if name.startswith("streamlit.")}
        assert not inner or path == ONE_MODULE, (path, inner)


def test_streamlit_is_pinned_to_the_minor_version_that_this_contract_was_written_for() -> None:
    (pinned,) = re.findall(
        r"^streamlit\S*>=(\d+\.\d+)\S*,<(\d+\.\d+)$", (ROOT / "requirements.txt").read_text(), re.M
    )
    major, minor = pinned[0].split(".")
    assert pinned[1] == f"{major}.{int(minor) + 1}"
    assert version("streamlit").startswith(f"{pinned[0]}.")


@pytest.mark.parametrize(
    "name",
    [
        "server.address",
        "server.allowedHosts",
        "server.baseUrlPath",
        "server.enableCORS",
        "server.enableXsrfProtection",
        "server.port",
        "server.trustedUserHeaders",
        "secrets.files",
    ],
)
def test_every_option_that_is_asked_for_exists(name: str) -> None:
    assert name in config._config_options_template
    internals.option(name)


def test_a_host_is_allowed_by_the_list_of_the_configuration() -> None:
    assert internals.is_host_allowed("localhost:8501")
    assert not internals.is_host_allowed("rebound.example.net")
    assert not internals.is_host_allowed(None)


def test_the_command_of_streamlit_knows_how_to_run_an_app(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        internals.streamlit_command("run", "--help")
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert "--server.headless" in said
    assert "--server.maxMessageSize" in said


def test_outside_a_page_there_is_no_visitor() -> None:
    assert not internals.on_a_page()


def test_outside_a_page_nobody_steps_back() -> None:
    assert not internals.is_step_back()


@pytest.mark.parametrize("is_back", [True, False])
def test_a_run_of_a_page_knows_whether_somebody_stepped_back(
    is_back: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "is_history_navigation" in {field.name for field in dataclasses.fields(ScriptRunContext)}
    context = SimpleNamespace(is_history_navigation=is_back)
    monkeypatch.setattr(internals, "get_script_run_ctx", lambda **_: context)
    assert internals.is_step_back() is is_back


def test_outside_a_page_no_message_is_from_a_fragment() -> None:
    assert not internals.is_from_own_fragment()


@pytest.mark.parametrize(
    ("asked", "is_own"), [(["one"], True), (["other"], False), (["one", "other"], False), (None, False)]
)
def test_a_callback_knows_whether_its_own_fragment_sent_the_message(
    asked: list[str] | None, is_own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "fragment_ids_this_run" in {field.name for field in dataclasses.fields(ScriptRunContext)}
    context = SimpleNamespace(fragment_ids_this_run=asked)
    monkeypatch.setattr(internals, "get_script_run_ctx", lambda **_: context)
    monkeypatch.setattr(
        internals.ThreadState, "get", staticmethod(lambda: FragmentThreadState(fragment_id="one"))
    )
    assert internals.is_from_own_fragment() is is_own


@pytest.fixture
def signed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes the cookie of a login, as Streamlit signs it."""
    secrets = tmp_path / "secrets.toml"
    secrets.write_text(f'[auth]\ncookie_secret = "{SECRET}"\nredirect_uri = "{ORIGIN}/oauth2callback"\n')
    before = config.get_option("secrets.files")
    config.set_option("secrets.files", [str(secrets)])
    st.secrets._reset()

    def sign(claims: dict[str, Any], secret: str = SECRET) -> dict[str, str]:
        value = create_signed_value(secret, internals.USER_COOKIE_NAME, json.dumps(claims))
        return {internals.USER_COOKIE_NAME: value.decode()}

    yield sign
    config.set_option("secrets.files", before)
    st.secrets._reset()


CLAIMS = {"origin": ORIGIN, "is_logged_in": True, "email": "ann@example.org", "email_verified": True}


def test_the_cookie_of_a_login_says_who_signed_in(signed: Any) -> None:
    assert internals.claims_of(signed(CLAIMS), ORIGIN) == {k: v for k, v in CLAIMS.items() if k != "origin"}


def test_a_cookie_that_another_secret_signed_or_another_site_sends_says_nothing(signed: Any) -> None:
    assert internals.claims_of(signed(CLAIMS, "t" * 43), ORIGIN) == {}
    assert internals.claims_of(signed(CLAIMS), "https://evil.example.org") == {}
    assert internals.claims_of({}, ORIGIN) == {}


def test_the_messages_of_the_protocol_have_the_names_that_the_filter_knows() -> None:
    kinds = {field.name for field in internals.BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields}
    request = internals.BackMsg.DESCRIPTOR.fields_by_name["backend_operation_request"].message_type
    payloads = {field.name for field in request.oneofs_by_name["payload"].fields}
    assert kinds | payloads >= FROM_EDITORS


def test_the_first_message_of_a_run_has_the_fields_that_are_kept_back() -> None:
    fields = internals.ForwardMsg.DESCRIPTOR.fields_by_name["new_session"].message_type.fields_by_name
    assert "main_script_path" in fields
    initialize = fields["initialize"].message_type.fields_by_name
    assert {"user_info", "environment_info"} <= set(initialize)
    assert "streamlit_version" in initialize["environment_info"].message_type.fields_by_name
