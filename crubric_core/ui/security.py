"""What every HTTP answer of the dashboard carries, and what it does not answer at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse, Response

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
BLOCKED = ("/_stcore/metrics",)


class SecurityHeaders:
    """ASGI middleware: adds HEADERS to every answer and answers 404 to BLOCKED paths."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        blocked = scope["path"].rstrip("/").endswith(BLOCKED)
        handler: Any = Response(status_code=404) if blocked else self.app
        await handler(scope, receive, send_with_headers)


def healthz(_request: Request) -> JSONResponse:
    """For a supervisor: the web server answers."""
    return JSONResponse({"status": "ok"})
