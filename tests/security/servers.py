"""Servers as a user starts them, and a client that says on the WebSocket what no browser would say."""

from __future__ import annotations

import hashlib
import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

ROOT = Path(__file__).resolve().parents[2]
STARTUP = 60.0
PATIENCE = 60.0


@dataclass(frozen=True)
class Server:
    """A running server: its port, its process and its log so far."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def request(
        self, path: str, method: str = "GET", headers: dict[str, str] | None = None, body: bytes = b""
    ) -> tuple[int, bytes]:
        """Status and body; the path goes over the wire as it is written here."""
        connection = http.client.HTTPConnection("localhost", self.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_host=True)
            for name, value in {"Host": f"localhost:{self.port}", **(headers or {})}.items():
                connection.putheader(name, value)
            connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def lives(self) -> bool:
        """Whether the process that was started is still there and answers."""
        return self.process.poll() is None and self.request("/healthz") == (200, b'{"status":"ok"}')


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port: int = probe.getsockname()[1]
        return port


def command(port: int, *options: str) -> list[str]:
    """``streamlit run app.py`` as the README starts it."""
    fixed = ["--server.headless", "true", "--server.port", str(port)]
    return [sys.executable, "-m", "streamlit", "run", "app.py", *fixed, *options]


@contextmanager
def started(
    log: Path,
    arguments: Sequence[str],
    port: int,
    ready: str = "/healthz",
    cwd: Path = ROOT,
    **environment: str,
) -> Iterator[Server]:
    with log.open("wb") as out:
        process = subprocess.Popen(
            arguments, cwd=cwd, env={**os.environ, **environment}, stdout=out, stderr=subprocess.STDOUT
        )
    try:
        _wait(f"http://localhost:{port}{ready}", process, log)
        yield Server(port, process, log)
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + STARTUP
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"the server did not start:\n{log.read_text()}")


@contextmanager
def viewer_server(views: Path, log: Path, *options: str, **environment: str) -> Iterator[Server]:
    """``make viewer``; the workspace that it is told of is no file at all."""
    port = free_port()
    told = {
        "CRUBRIC_ROLE": "viewer",
        "CRUBRIC_VIEWS": str(views),
        "CRUBRIC_WORKSPACE": str(views.parent / "never.duckdb"),
    }
    with started(log, command(port, *options), port, **{**told, **environment}) as server:
        yield server


@contextmanager
def editor_server(
    workspace: Path, views: Path, log: Path, *options: str, **environment: str
) -> Iterator[Server]:
    """``make app``."""
    port = free_port()
    told = {"CRUBRIC_WORKSPACE": str(workspace), "CRUBRIC_VIEWS": str(views)}
    with started(log, command(port, *options), port, **{**told, **environment}) as server:
        yield server


@dataclass
class Talk:
    """A WebSocket to a server; ``address`` is the client that a trusted proxy would name."""

    server: Server
    address: str = ""
    opened: ClientConnection = field(init=False)
    connection: ClientConnection = field(init=False)
    heard: list[bytes] = field(default_factory=list)

    def __enter__(self) -> Talk:
        headers = {"X-Forwarded-For": self.address} if self.address else {}
        self.opened = connect(
            f"ws://localhost:{self.server.port}/_stcore/stream",
            additional_headers=headers,
            max_size=None,
            open_timeout=PATIENCE,
        )
        self.connection = self.opened.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.opened.__exit__(None, None, None)

    def send(self, message: BackMsg | bytes | str) -> None:
        self.connection.send(message.SerializeToString() if isinstance(message, BackMsg) else message)

    def hear(self) -> ForwardMsg:
        """The next message."""
        data = self.connection.recv(timeout=PATIENCE)
        assert isinstance(data, bytes)
        self.heard.append(data)
        return ForwardMsg.FromString(data)

    def until_finished(self) -> list[ForwardMsg]:
        """All messages up to the end of a run of the script."""
        messages: list[ForwardMsg] = []
        while not messages or messages[-1].WhichOneof("type") != "script_finished":
            messages.append(self.hear())
        return messages

    def run(self, **state: object) -> list[ForwardMsg]:
        """Ask for a run of the script with this client state, and hear it out."""
        self.send(rerun(**state))
        return self.until_finished()

    def next(self, kind: str) -> ForwardMsg:
        """The next message of a kind."""
        while True:
            message = self.hear()
            if message.WhichOneof("type") == kind:
                return message

    def said(self) -> bytes:
        """Everything that the server has said on this socket."""
        return b"\n".join(self.heard)


def rerun(**state: object) -> BackMsg:
    """The message with which a browser asks for a page."""
    message = BackMsg()
    message.rerun_script.SetInParent()
    for name, value in state.items():
        setattr(message.rerun_script, name, value)
    return message


def shown(messages: Iterable[ForwardMsg]) -> list[bytes]:
    """What a reader sees of a run: its elements, one after the other."""
    return [
        message.delta.SerializeToString(deterministic=True)
        for message in messages
        if message.WhichOneof("type") == "delta"
    ]


def folder_hash(*folders: Path) -> dict[str, str]:
    """Every file below the folders with the hash of its content."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
