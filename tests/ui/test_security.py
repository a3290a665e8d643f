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

from crubric_core.ui.security import SecurityHeaders, healthz


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: str


def ask(path: str) -> Answer:
    """GET ``path`` of a small application behind the middleware, by the ASGI protocol itself."""

    def page(_request: object) -> PlainTextResponse:
        return PlainTextResponse("metrics or page")

    routes = [Route("/healthz", healthz), Route("/{rest:path}", page)]
    application = Starlette(routes=routes, middleware=[Middleware(SecurityHeaders)])
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": []}
    with ThreadPoolExecutor(1) as aside:  # another test may have an event loop open in this thread
        aside.submit(asyncio.run, application(scope, receive, send)).result()
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], headers, b"".join(m.get("body", b"") for m in sent[1:]).decode())


def test_every_answer_carries_the_policy() -> None:
    headers = ask("/leaderboard").headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("word", ["http", "unsafe-eval", "*"])
def test_the_policy_names_no_other_host_and_no_eval(word: str) -> None:
    assert word not in ask("/").headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/_stcore/metrics/", "/base/_stcore/metrics"])
def test_metrics_are_not_served(path: str) -> None:
    answer = ask(path)
    assert (answer.status, answer.body) == (404, "")
    assert "content-security-policy" in answer.headers


def test_a_supervisor_can_ask_whether_the_server_lives() -> None:
    assert (ask("/healthz").status, ask("/healthz").body) == (200, '{"status":"ok"}')
