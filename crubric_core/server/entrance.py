"""The way in to a dashboard without a login on a machine that several people use: an address that is printed once.

Whoever started the dashboard sees the address in their terminal; it lets one browser in, which keeps a cookie, and a
fresh one is printed for the next. Other users of the machine reach the port, but not what stands behind it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from threading import Lock

from ..environment import APP, workspace_path
from .streamlit_internals import option

TOKEN = "token"  # noqa: S105 - the name of the parameter
FIRST_UID, LAST_UID = 1_000, 60_000  # of persons, by the conventions of Debian, Fedora and others
NO_SHELL = ("nologin", "false", "sync")
DEMO = APP / "data" / "demo.duckdb"


class Entrance:
    """Which browsers have come in by a printed address; safe to use from any number of threads."""

    def __init__(self, say: Callable[[str], None] = print) -> None:
        self._say, self._lock = say, Lock()
        self._token, self._inside = "", set[bytes]()

    @property
    def cookie(self) -> str:
        """The cookie's name; cookies do not tell ports apart."""
        return f"crubric_{option('server.port')}"

    def announce(self) -> None:
        """Print an address that has not been used."""
        with self._lock:
            self._token = secrets.token_urlsafe(32)
        host = option("server.address") or "localhost"
        base = str(option("server.baseUrlPath") or "").strip("/")
        self._say(
            f"\n  Open http://{host}:{option('server.port')}/{base and base + '/'}?{TOKEN}={self._token}\n"
        )

    def enter(self, token: str) -> str | None:
        """The secret of a browser's cookie for a token that was printed and not yet used; None for any other."""
        with self._lock:
            if not self._token or not hmac.compare_digest(
                self._token.encode(), token.encode(errors="replace")
            ):
                return None
            self._token = ""
            secret = secrets.token_urlsafe(32)
            self._inside.add(_digest(secret))
        self.announce()
        return secret

    def knows(self, cookies: Mapping[str, str]) -> bool:
        """Whether a request comes from a browser that has come in."""
        return _digest(cookies.get(self.cookie, "")) in self._inside


def entrance() -> Entrance | None:
    """An entrance where one is needed: CRUBRIC_TOKEN is always, or several people use the machine.

    None with CRUBRIC_TOKEN=never, and for the demo study, which is nobody's data.
    """
    wanted = os.environ.get("CRUBRIC_TOKEN", "")
    if wanted == "never" or (wanted != "always" and (_is_demo(workspace_path()) or not others())):
        return None
    return Entrance(lambda line: print(line, flush=True))


def others() -> list[str]:
    """Names of the people with an account on this machine, other than whoever runs this; none where nobody can tell."""
    try:
        pwd = import_module("pwd")
    except ImportError:  # Windows
        return []
    return [
        account.pw_name
        for account in pwd.getpwall()
        if FIRST_UID <= account.pw_uid < LAST_UID
        and account.pw_uid != os.getuid()
        and Path(account.pw_shell).name not in NO_SHELL
    ]


def _is_demo(path: Path) -> bool:
    return path.resolve() == DEMO.resolve()


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="replace")).digest()
