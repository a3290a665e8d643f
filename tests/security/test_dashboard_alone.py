"""A dashboard without a login on one's own machine: no proxy, no other user, no request that is never finished."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from http.client import HTTPConnection

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from crubric_core.server.middleware import PROXIED
from tests.security.conftest import Study
from tests.security.servers import PATIENCE, Server, Talk, editor_server, rerun

HALF = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\n",
    b"",
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf",
)


@pytest.mark.parametrize("header", PROXIED)
def test_behind_a_proxy_it_serves_nothing_and_says_why(editor: Server, header: str) -> None:
    status, said = editor.request("/", headers={header: "203.0.113.7"})
    assert status == 403
    assert said.startswith(b"This dashboard has no login and serves the machine that it runs on alone")
    with pytest.raises(InvalidStatus, match="403"):
        connect(f"ws://localhost:{editor.port}/_stcore/stream", additional_headers={header: "203.0.113.7"})
    assert editor.request("/")[0] == 200


@pytest.fixture(scope="module")
def shared_machine(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The dashboard as it starts where several people have an account."""
    folder = tmp_path_factory.mktemp("shared machine")
    (folder / "study.duckdb").write_bytes(study.workspace.read_bytes())
    with editor_server(
        folder / "study.duckdb", folder / "views", folder / "log", CRUBRIC_TOKEN="always"
    ) as server:
        yield server


def printed(server: Server) -> list[str]:
    return re.findall(rf"http://localhost:{server.port}(/\?token=[\w-]+)", server.log.read_text())


def test_another_user_of_the_machine_gets_nothing_and_the_printed_address_lets_its_owner_in(
    shared_machine: Server,
) -> None:
    server = shared_machine
    assert server.lives()
    for path in ("/", "/leaderboard", "/_stcore/health", "/?token=guess"):
        status, said = server.request(path)
        assert (status, b"the address that was printed" in said) == (403, True), path
    with pytest.raises(InvalidStatus, match="403"):
        connect(f"ws://localhost:{server.port}/_stcore/stream")
    (address,) = printed(server)
    connection = HTTPConnection("localhost", server.port, timeout=PATIENCE)
    connection.request("GET", address)
    answer = connection.getresponse()
    cookie = answer.headers["Set-Cookie"].split(";")
    assert (answer.status, answer.headers["Location"].endswith("/")) == (303, True)
    assert {" HttpOnly", " SameSite=strict"} <= set(cookie)
    connection.close()
    assert server.request(address)[0] == 403, "it opens once"
    assert server.request("/", headers={"Cookie": cookie[0]})[0] == 200
    with connect(
        f"ws://localhost:{server.port}/_stcore/stream", additional_headers={"Cookie": cookie[0]}
    ) as opened:
        opened.send(rerun().SerializeToString())
        assert opened.recv(timeout=PATIENCE)
    assert len(set(printed(server))) == 2, "the next browser has an address of its own"


@pytest.mark.parametrize("sent", HALF, ids=["half a head", "nothing", "half a body"])
def test_a_request_that_is_never_finished_is_closed(patient: Server, sent: bytes) -> None:
    with socket.create_connection(("localhost", patient.port), timeout=PATIENCE) as opened:
        opened.sendall(sent)
        while opened.recv(4096):
            pass  # an answer may come first; then the end, and no time-out
    assert patient.lives()


@pytest.fixture(scope="module")
def patient(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A dashboard that waits one second for the rest of a request."""
    folder = tmp_path_factory.mktemp("patient")
    (folder / "study.duckdb").write_bytes(study.workspace.read_bytes())
    with editor_server(
        folder / "study.duckdb", folder / "views", folder / "log", CRUBRIC_PATIENCE="1"
    ) as server:
        yield server


def test_a_page_that_is_open_is_not_closed_with_them(patient: Server) -> None:
    with Talk(patient) as reader:
        for _ in range(4):
            reader.run()
            reader.connection.ping().wait(PATIENCE)
        with socket.create_connection(("localhost", patient.port), timeout=PATIENCE) as opened:
            opened.sendall(HALF[0])
            assert opened.recv(4096) == b"", "one second has passed"
        assert reader.run()[-1].WhichOneof("type") == "script_finished"
