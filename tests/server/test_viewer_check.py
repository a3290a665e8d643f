"""Whether links open: a viewer that answers, something else at its address, nothing there."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from crubric_core.server import viewer_check
from crubric_core.server.middleware import ROLE_HEADER


@pytest.fixture
def serving(monkeypatch):
    """A server on loopback that answers every request with these headers; links are said to lead there."""
    servers = []

    def start(status=200, **headers):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("CRUBRIC_VIEWER_URL", f"{base}/")
        return base, server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_viewer_that_answers_is_found(serving):
    base, _ = serving(X_Crubric_Role="viewer")
    assert ROLE_HEADER == "X-Crubric-Role"
    found = viewer_check.check_viewer()
    assert (found.answer, found.base) == ("viewer", base)
    assert found.sentence == f"The viewer answers at {base}: links open now."


@pytest.mark.parametrize(("status", "headers"), [(200, {}), (200, {"X_Crubric_Role": "editor"}), (404, {})])
def test_another_server_at_that_address_is_not_taken_for_it(serving, status, headers):
    serving(status, **headers)
    found = viewer_check.check_viewer()
    assert found.answer == "other"
    assert found.sentence.startswith("Something else than the viewer answers at http://127.0.0.1")


def test_where_nothing_answers_the_command_names_folder_and_port(serving, monkeypatch, tmp_path):
    base, server = serving()
    server.shutdown()
    server.server_close()
    monkeypatch.setenv("CRUBRIC_VIEWS", str(tmp_path / "my views"))
    found = viewer_check.check_viewer()
    assert (found.answer, found.sentence) == (
        "silent",
        f"Nothing answers at {base}, so links open nothing yet. Start the viewer:",
    )
    assert f"viewer --views '{tmp_path}/my views' --port {base.rpartition(':')[2]}" in found.command


def test_an_address_that_is_none_is_silent(monkeypatch):
    monkeypatch.setenv("CRUBRIC_VIEWER_URL", "file:///etc/passwd")
    assert viewer_check.check_viewer().answer == "silent"
