"""What every answer of the server carries, and what the server does not answer at all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from .protocol_filter import FROM_ANYBODY, FROM_EDITORS, discreet, filtered
from .sign_in import is_local, may_upload
from .streamlit_internals import is_host_allowed, option

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from .sign_in import People

# Streamlit and Plotly write inline styles and one inline script; nothing is ever fetched from another host.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "X-Robots-Tag": "noindex, nofollow",
}
HEALTH, STREAM, UPLOAD = "/healthz", "/_stcore/stream", "/_stcore/upload_file"
BLOCKED = ("/_stcore/metrics", "/_stcore/agent", "/_stcore/script-health-check")
# All that a shared view needs: the page, Streamlit's own files, its downloads.
VIEWER_PATHS = frozenset(
    ("/", "/favicon.png", "/manifest.json", HEALTH, "/_stcore/health", "/_stcore/host-config")
)
VIEWER_FILES = re.compile(r"/static/(js|css|media)/[\w.-]+|/media/[0-9a-f]+(\.\w+)?")


@dataclass(frozen=True)
class Rules:
    """What one kind of server lets through: HTTP requests by path, and messages on its WebSocket."""

    allows: Callable[[Request, str], bool]
    messages: frozenset[str]
    longest: int
    at_home: bool = (
        False  # answers connections within this machine alone, whatever address the server was bound to
    )


def dashboard(people: People | None = None) -> Rules:
    """Everything but what looks into the server itself; uploads from editors alone."""

    def allows(request: Request, path: str) -> bool:
        if _below(path, UPLOAD):
            return may_upload(people, request)
        return not any(_below(path, blocked) for blocked in BLOCKED)

    return Rules(allows, FROM_EDITORS, longest=64 << 20, at_home=people is None)


def viewer() -> Rules:
    """The page of a shared view and what it is made of, to be read alone."""

    def allows(request: Request, path: str) -> bool:
        named = path in VIEWER_PATHS or VIEWER_FILES.fullmatch(path)
        return bool(named) and request.method in {"GET", "HEAD"}

    return Rules(allows, FROM_ANYBODY, longest=64 << 10)


class Gate:
    """ASGI middleware: HEADERS on every answer, 404 to what the rules do not name, no stranger's WebSocket."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self.app, self.rules = app, rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        request, path = Request(scope), _path(scope)
        handler: Any = self.app
        if not self._at_home(scope) or not self.rules.allows(request, path):
            handler = Response(status_code=404)
        elif path != HEALTH and not is_host_allowed(request.headers.get("host")):
            handler = Response(status_code=421)
        await handler(scope, receive, send_with_headers)

    def _at_home(self, scope: Scope) -> bool:
        return not self.rules.at_home or is_local((scope.get("server") or ("",))[0])

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        named = _path(scope) == STREAM and self._at_home(scope)
        if not named or not same_origin(Headers(scope=scope)):
            await send({"type": "websocket.close", "code": 1008})
            return
        heard = filtered(receive, self.rules.messages, self.rules.longest)
        await self.app(scope, heard, discreet(send))


def same_origin(headers: Headers) -> bool:
    """Whether a page of this very server asks, or a program that is no browser; stricter than Streamlit's own rule.

    (Streamlit asks the internet for this machine's address before it turns a foreign origin away.)
    """
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host")


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def _path(scope: Scope) -> str:
    """The path below server.baseUrlPath, repeated and last slashes taken away as Streamlit's own routes do."""
    base = "/" + str(option("server.baseUrlPath") or "").strip("/")
    path: str = scope["path"]
    if base != "/" and (path + "/").startswith(base + "/"):
        path = path[len(base) :]
    return path.rstrip("/") or "/"


def healthz(_request: Request) -> JSONResponse:
    """For a supervisor: the web server answers."""
    return JSONResponse({"status": "ok"})
