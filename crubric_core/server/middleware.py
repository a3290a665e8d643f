"""Middleware of the server: security headers on every answer, and the refusal of requests that are not allowed."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from ..access import process_role
from .entrance import TOKEN
from .first_document import asks_for_page, starting, without_compression
from .logs import keep_brief
from .protocol_filter import FROM_ANYBODY, FROM_EDITORS, discreet, filtered
from .seats import Seats
from .sign_in import is_local, may_upload
from .streamlit_internals import is_host_allowed, option

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from .entrance import Entrance
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
ROLE_HEADER = "X-Crubric-Role"
HEALTH, STREAM, UPLOAD = "/healthz", "/_stcore/stream", "/_stcore/upload_file"
BLOCKED = ("/_stcore/metrics", "/_stcore/agent", "/_stcore/script-health-check")
# A proxy adds one of these. Behind a proxy the visitor may be on another machine, whatever address the connection has.
PROXIED = ("x-forwarded-for", "forwarded", "via", "x-forwarded-host", "x-real-ip")
BY_PROXY = (
    "This dashboard has no login and serves the machine that it runs on alone, but this request came through a proxy, "
    "which would open it to others. Add [auth] and [access] to .streamlit/secrets.toml (docs/deploy.md says how), or "
    "open the dashboard without the proxy."
)
BY_ADDRESS = (
    "Several people use this machine, so this dashboard opens by the address that was printed where it was started, "
    "the one with ?token=. It lets one browser in; the next address is printed after that."
)
# All that a shared view needs: the page, Streamlit's own files, its downloads.
VIEWER_PATHS = frozenset(
    ("/", "/favicon.png", "/manifest.json", HEALTH, "/_stcore/health", "/_stcore/host-config")
)
POLICY, FULL = 1008, 1013  # close codes of a WebSocket: refused by policy; try again later
VIEWER_FILES = re.compile(r"/static/(js|css|media)/[\w.-]+|/media/[0-9a-f]+(\.\w+)?")


@dataclass(frozen=True)
class Rules:
    """The requests that one kind of server accepts.

    allows: whether an HTTP request is allowed, given its path. messages: kinds of message allowed on the WebSocket.
    longest: bytes of a message at most.
    """

    allows: Callable[[Request, str], bool]
    messages: frozenset[str]
    longest: int
    at_home: bool = False
    """Whether only connections from this machine are answered, whatever address the server binds to, and no proxy."""
    entrance: Entrance | None = None
    """If given, only browsers that opened a printed address are admitted."""
    seats: Seats | None = None
    """Limit on the pages that are open at once; None: no limit."""


def dashboard(people: People | None = None, entrance: Entrance | None = None) -> Rules:
    """Rules of the dashboard: all paths except those that inspect the server itself; only editors may upload."""

    def allows(request: Request, path: str) -> bool:
        if _below(path, UPLOAD):
            return may_upload(people, request)
        return not any(_below(path, blocked) for blocked in BLOCKED)

    return Rules(allows, FROM_EDITORS, longest=64 << 20, at_home=people is None, entrance=entrance)


def viewer() -> Rules:
    """Rules of the viewer: GET and HEAD of a shared view's page and its files, nothing else."""

    def allows(request: Request, path: str) -> bool:
        named = path in VIEWER_PATHS or VIEWER_FILES.fullmatch(path)
        return bool(named) and request.method in {"GET", "HEAD"}

    return Rules(allows, FROM_ANYBODY, longest=64 << 10, seats=Seats())


class RequestFilter:
    """ASGI middleware: HEADERS on every answer, 404 if the rules forbid a request, no WebSocket of another origin."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self.app, self.rules = app, rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            self._prepare()
            await self.app(scope, receive, send)

    def _prepare(self) -> None:
        """Limit the log and print the first address of the entrance; called once, when the server starts."""
        keep_brief(one_line=self.rules.messages == FROM_ANYBODY)
        if self.rules.entrance is not None:
            self.rules.entrance.announce()

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        handler: Any = self._refusal(Request(scope), _path(scope)) or self.app
        if asks_for_page(scope):
            await handler(without_compression(scope), receive, starting(_base(), send_with_headers))
        else:
            await handler(scope, receive, send_with_headers)

    def _refusal(self, request: Request, path: str) -> Response | None:
        """The refusal of a request: status 404, 421 or 403, or a redirection; None if the application may answer."""
        if not self._at_home(request.scope) or not self.rules.allows(request, path):
            return Response(status_code=404)
        if path == HEALTH:
            return None
        if not is_host_allowed(request.headers.get("host")):
            return Response(status_code=421)
        if self._by_proxy(request.headers):
            return PlainTextResponse(BY_PROXY, status_code=403)
        return self._asked_in(request)

    def _asked_in(self, request: Request) -> Response | None:
        """The answer to a browser that was not admitted yet; None if it was, or if there is no entrance.

        A valid token is exchanged for a cookie, by a redirection to the address without the token. Otherwise 403.
        """
        entrance = self.rules.entrance
        if entrance is None or entrance.knows(request.cookies):
            return None
        secret = entrance.enter(request.query_params.get(TOKEN, ""))
        if secret is None:
            return PlainTextResponse(BY_ADDRESS, status_code=403)
        answer = RedirectResponse(str(request.url.remove_query_params(TOKEN)), status_code=303)
        answer.set_cookie(entrance.cookie, secret, httponly=True, samesite="strict")
        return answer

    def _at_home(self, scope: Scope) -> bool:
        return not self.rules.at_home or is_local((scope.get("server") or ("",))[0])

    def _by_proxy(self, headers: Headers) -> bool:
        return self.rules.at_home and any(name in headers for name in PROXIED)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = HTTPConnection(scope)
        named = _path(scope) == STREAM and self._at_home(scope) and not self._by_proxy(connection.headers)
        known = self.rules.entrance is None or self.rules.entrance.knows(connection.cookies)
        if not named or not known or not same_origin(connection.headers):
            await send({"type": "websocket.close", "code": POLICY})
            return
        with self._seat(connection) as free:
            if not free:
                await send({"type": "websocket.close", "code": FULL})
                return
            limited = filtered(receive, self.rules.messages, self.rules.longest)
            await self.app(scope, limited, discreet(send))

    def _seat(self, connection: HTTPConnection) -> AbstractContextManager[bool]:
        address = connection.client.host if connection.client else ""
        return nullcontext(True) if self.rules.seats is None else self.rules.seats.taken(address)


def same_origin(headers: Headers) -> bool:
    """Whether the Origin header names this server, or is absent (a program that is no browser).

    This is stricter than Streamlit's own rule, which requests this machine's address from the internet before it
    refuses a foreign origin.
    """
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host")


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def _base() -> str:
    """server.baseUrlPath as a path: "" or "/…"."""
    base = str(option("server.baseUrlPath") or "").strip("/")
    return f"/{base}" if base else ""


def _path(scope: Scope) -> str:
    """The path below server.baseUrlPath, without slashes at its end, as Streamlit's own routes read it."""
    base, path = _base(), str(scope["path"])
    if base and (path + "/").startswith(base + "/"):
        path = path[len(base) :]
    return path.rstrip("/") or "/"


def healthz(_request: Request) -> JSONResponse:
    """Health check for a supervisor. A header gives the server's role; the Publish page recognises the viewer by it."""
    return JSONResponse({"status": "ok"}, headers={ROLE_HEADER: process_role()})
