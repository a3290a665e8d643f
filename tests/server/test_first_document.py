"""The first document tells the page where its server is and how charts look; all other answers pass untouched."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from crubric_core.server.first_document import asks_for_page, starting, without_compression

DOCUMENT = b"<!DOCTYPE html><html><head><title>t</title></head><body></body></html>"


def sent(kind: str, parts: list[bytes], base: str = "", **headers: str) -> tuple[dict[str, str], bytes]:
    """What the browser gets of an answer in these parts."""
    out: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        out.append(message)

    async def answer() -> None:
        through = starting(base, send)
        told = {"content-type": kind, **headers}
        raw = [(name.encode(), value.encode()) for name, value in told.items()]
        await through({"type": "http.response.start", "status": 200, "headers": raw})
        for at, part in enumerate(parts, 1):
            await through({"type": "http.response.body", "body": part, "more_body": at < len(parts)})

    with ThreadPoolExecutor(1) as aside:
        aside.submit(asyncio.run, answer()).result()
    found = {name.decode(): value.decode() for name, value in out[0]["headers"]}
    return found, b"".join(message["body"] for message in out[1:])


@pytest.mark.parametrize("base", ["", "/team/board"])
def test_a_document_learns_the_address_of_its_server_and_the_look_of_charts_and_keeps_all_else(
    base: str,
) -> None:
    headers, body = sent("text/html; charset=utf-8", [DOCUMENT[:30], DOCUMENT[30:]], base, etag="old")
    start, _, rest = body.partition(b"<script>")
    script, _, rest = rest.partition(b"</script><style>")
    style, _, end = rest.partition(b"</style>")
    assert start + end == DOCUMENT
    assert b".js-plotly-plot { visibility: visible !important; }" in style
    assert f'location.origin + "{base}"'.encode() in script
    assert headers["content-length"] == str(len(body))
    assert "etag" not in headers


@pytest.mark.parametrize("kind", ["application/javascript", "application/json"])
def test_other_answers_pass_as_they_are(kind: str) -> None:
    headers, body = sent(kind, [DOCUMENT[:30], DOCUMENT[30:]], etag="kept")
    assert (body, headers["etag"]) == (DOCUMENT, "kept")


def test_a_document_is_asked_for_whole_and_plain() -> None:
    scope = {"method": "GET", "headers": [(b"accept", b"text/html,*/*"), (b"accept-encoding", b"gzip")]}
    assert asks_for_page(scope)
    assert without_compression(scope)["headers"] == [(b"accept", b"text/html,*/*")]
    assert not asks_for_page({"method": "GET", "headers": [(b"accept", b"*/*")]})
