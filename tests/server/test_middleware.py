from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.websockets import WebSocket
from streamlit import config
from streamlit.proto.BackMsg_pb2 import BackMsg

from crubric_core.server.middleware import RequestFilter, Rules, dashboard, healthz, viewer
from crubric_core.server.sign_in import People

PEOPLE = People(frozenset({"ann@example.org"}), frozenset())
HOST = (b"host", b"localhost:8501")
HOME = ("127.0.0.1", 8501)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: str


def page(_request: object) -> PlainTextResponse:
    return PlainTextResponse("page")


def run(
    rules: Rules, scope: dict[str, Any], received: list[dict[str, Any]], app: Any
) -> list[dict[str, Any]]:
    """What the gate sends, by the ASGI protocol itself."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return received.pop(0)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    with ThreadPoolExecutor(1) as aside:  # another test may have an event loop open in this thread
        aside.submit(asyncio.run, app(scope, receive, send)).result()
    return sent


def ask(
    path: str,
    rules: Rules | None = None,
    method: str = "GET",
    host: tuple[bytes, bytes] = HOST,
    server: Any = HOME,
) -> Answer:
    """One request to a small application behind the gate."""
    routes = [Route("/healthz", healthz), Route("/{rest:path}", page, methods=["GET", "PUT", "POST"])]
    app = Starlette(routes=routes, middleware=[Middleware(RequestFilter, rules=rules or dashboard())])
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [host],
        "server": server,
    }
    sent = run(rules or dashboard(), scope, [{"type": "http.request", "body": b"", "more_body": False}], app)
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], headers, b"".join(m.get("body", b"") for m in sent[1:]).decode())


def talk(
    messages: list[bytes | str],
    rules: Rules,
    origin: str | None = None,
    path: str = "/_stcore/stream",
    server: Any = HOME,
) -> Any:
    """What an application behind the gate receives of these frames, or the code with which the door was shut."""
    seen: list[Any] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        socket = WebSocket(scope, receive, send)
        await socket.accept()
        received = [await socket.receive_bytes() for _ in messages]
        seen.extend(BackMsg.FromString(data).WhichOneof("type") for data in received)

    headers = [HOST, *([(b"origin", origin.encode())] if origin else [])]
    scope = {"type": "websocket", "path": path, "query_string": b"", "headers": headers, "server": server}
    frames = [
        {"type": "websocket.receive", "text" if isinstance(one, str) else "bytes": one} for one in messages
    ]
    sent = run(rules, scope, [{"type": "websocket.connect"}, *frames], RequestFilter(application, rules))
    return sent[0]["code"] if sent[0]["type"] == "websocket.close" else seen


@pytest.mark.parametrize("rules", [dashboard(), viewer()])
def test_every_answer_carries_the_policy(rules: Rules) -> None:
    for path in ("/", "/_stcore/metrics"):
        headers = ask(path, rules).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("word", ["http", "unsafe-eval", "*"])
def test_the_policy_names_no_other_host_and_no_eval(word: str) -> None:
    assert word not in ask("/").headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/_stcore/metrics/", "/_stcore/agent/mcp"])
@pytest.mark.parametrize("rules", [dashboard(), viewer()])
def test_what_looks_into_the_server_is_not_served(rules: Rules, path: str) -> None:
    answer = ask(path, rules)
    assert (answer.status, answer.body) == (404, "")


def test_a_supervisor_can_ask_whether_the_server_lives_by_any_name() -> None:
    for rules in (dashboard(), viewer()):
        answer = ask("/healthz", rules, host=(b"host", b"10.0.0.7"))
        assert (answer.status, answer.body) == (200, '{"status":"ok"}')


@pytest.mark.parametrize("rules", [dashboard(), viewer()])
def test_a_name_that_the_server_does_not_go_by_gets_nothing(rules: Rules) -> None:
    """So a foreign name that resolves to this machine is of no use to the page that owns it."""
    assert ask("/", rules, host=(b"host", b"rebound.example.net")).status == 421


@pytest.mark.parametrize(
    "path", ["/leaderboard", "/data", "/_stcore/upload_file/a/b", "/component/x/index.html", "/app/static/x"]
)
def test_a_viewers_server_has_one_page(path: str) -> None:
    assert ask(path, viewer()).status == 404
    assert ask("/", viewer()).status == 200


def test_below_a_base_path_the_same_rules_hold() -> None:
    before = config.get_option("server.baseUrlPath")
    config.set_option("server.baseUrlPath", "/rubric/")
    try:
        assert ask("/rubric/_stcore/metrics").status == 404
        assert ask("/rubric/leaderboard", viewer()).status == 404
        assert [ask(path, viewer()).status for path in ("/rubric", "/rubric/")] == [200, 200]
        assert talk([], viewer(), "http://localhost:8501", path="/rubric/_stcore/stream") == []
    finally:
        config.set_option("server.baseUrlPath", before)


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_viewers_server_is_for_reading(method: str) -> None:
    assert ask("/", viewer(), method).status == 404


def test_files_are_uploaded_by_editors_alone_where_there_is_a_login() -> None:
    path = "/_stcore/upload_file/session/file"
    assert ask(path, dashboard(), "PUT").status == 200
    assert ask(path, dashboard(PEOPLE), "PUT").status == 404


def test_the_developers_messages_are_dropped() -> None:
    """clear_cache from any browser would empty the caches of all visitors."""
    install = BackMsg()
    install.backend_operation_request.install_skills.SetInParent()
    sent = [BackMsg(clear_cache=True), BackMsg(set_run_on_save=True), BackMsg(load_git_info=True), install]
    frames: list[bytes | str] = [message.SerializeToString() for message in sent]
    for rules in (dashboard(), viewer()):
        assert talk(frames, rules) == ["app_heartbeat"] * 4


def test_a_download_may_be_asked_for() -> None:
    wanted = BackMsg()
    wanted.backend_operation_request.deferred_file.file_id = "x"
    assert talk([wanted.SerializeToString()], viewer()) == ["backend_operation_request"]


def test_a_viewers_server_hands_out_no_addresses_for_uploads() -> None:
    wanted = BackMsg()
    wanted.file_urls_request.file_names.append("a.csv")
    assert talk([wanted.SerializeToString()], viewer()) == ["app_heartbeat"]
    assert talk([wanted.SerializeToString()], dashboard()) == ["file_urls_request"]


@pytest.mark.parametrize("frame", ["text", b"\xff\xfe no message", b"\0" * (65 * 1024), b""])
def test_what_is_no_message_is_dropped(frame: bytes | str) -> None:
    rerun = BackMsg()
    rerun.rerun_script.query_string = "view=x"
    assert talk([frame, rerun.SerializeToString()], viewer()) == ["app_heartbeat", "rerun_script"]


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:9999", "file://"])
def test_another_sites_page_opens_no_socket(origin: str) -> None:
    assert talk([], dashboard(), origin) == 1008


@pytest.mark.parametrize("server", [("192.168.1.5", 8501), ("::", 8501), ("/run/rubric.sock", None), None])
def test_without_a_login_no_other_machine_is_answered_however_the_server_was_started(server: Any) -> None:
    """`uvicorn app:app --host 0.0.0.0` asks nobody; a Host header says what its sender likes."""
    assert ask("/", dashboard(), server=server).status == 404
    assert talk([], dashboard(), server=server) == 1008
    for rules in (dashboard(PEOPLE), viewer()):
        assert ask("/", rules, server=server).status == 200
        assert talk([], rules, server=server) == []


def test_the_servers_own_page_opens_its_socket_and_no_other_path_has_one() -> None:
    assert talk([], dashboard(), "http://localhost:8501") == []
    assert talk([], dashboard(), "http://localhost:8501", path="/leaderboard/_stcore/stream") == 1008
