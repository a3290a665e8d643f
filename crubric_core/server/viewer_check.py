"""Check from this machine whether the server of shared views answers at the address of the links."""

from __future__ import annotations

from dataclasses import dataclass
from http.client import HTTPException
from typing import Literal
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from ..environment import typed
from .middleware import ROLE_HEADER
from .views_folder import viewer_base, views_folder

PATIENCE = 1.5  # seconds
Answer = Literal["viewer", "other", "silent"]


@dataclass(frozen=True)
class Check:
    """What answers at ``base``: the viewer, another program, or nothing ("silent").

    sentence: what that means for a link. command: the command that starts the viewer, "" if it answers.
    """

    base: str
    answer: Answer
    sentence: str
    command: str = ""


def check_viewer() -> Check:
    """Ask the viewer's /healthz once, for at most PATIENCE seconds."""
    base = viewer_base()
    answer = _asked(base)
    if answer == "viewer":
        return Check(base, answer, f"The viewer answers at {base}: links open now.")
    port = urlsplit(base).port or 8502
    command = typed(
        "viewer", "--views", views_folder().absolute(), *(["--port", str(port)] if port != 8502 else [])
    )
    what = "Nothing answers" if answer == "silent" else "Something else than the viewer answers"
    if is_here(base):
        return Check(base, answer, f"{what} at {base}, so links open nothing yet. Start the viewer:", command)
    return Check(
        base,
        answer,
        f"{what} at {base} (CRUBRIC_VIEWER_URL) from this machine: readers may not reach it either. It must run there "
        "with the folder of these views:",
        command,
    )


def is_here(base: str) -> bool:
    """Whether the address is a loopback address of this machine."""
    return urlsplit(base).hostname in ("localhost", "127.0.0.1", "::1")


def _asked(base: str) -> Answer:
    if urlsplit(base).scheme not in ("http", "https"):
        return "silent"
    request = Request(f"{base}/healthz")  # noqa: S310 - the scheme is checked
    handlers = [ProxyHandler({})] if is_here(base) else []
    try:
        with build_opener(*handlers).open(request, timeout=PATIENCE) as response:
            return "viewer" if response.headers.get(ROLE_HEADER) == "viewer" else "other"
    except HTTPError:
        return "other"
    except (HTTPException, ValueError):
        return "other"
    except OSError:
        return "silent"
