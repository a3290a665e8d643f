"""Access to a dashboard without a login, on a machine that several people use: by an address that works once.

The person who started the dashboard sees the address in their terminal. It admits one browser, which receives a
cookie; then a new address is printed for the next browser. Other users of the machine can reach the port, but not
the dashboard.
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
FIRST_UID, LAST_UID = 1_000, 60_000  # user ids of persons, by the conventions of Debian, Fedora and others
NO_SHELL = ("nologin", "false", "sync")
DEMO = APP / "data" / "demo.duckdb"


class Entrance:
    """Admits browsers by printed addresses, each of which works once. Thread-safe.

    say: function that prints an address.
    """

    def __init__(self, say: Callable[[str], None] = print) -> None:
        self._say, self._lock = say, Lock()
        self._token, self._inside = "", set[bytes]()

    @property
    def cookie(self) -> str:
        """The cookie's name. It contains the port, because browsers share cookies between the ports of a host."""
        return f"crubric_{option('server.port')}"

    def announce(self) -> None:
        """Print an address with a new token; the token of the address before it becomes invalid."""
        with self._lock:
            self._token = secrets.token_urlsafe(32)
        host = option("server.address") or "localhost"
        base = str(option("server.baseUrlPath") or "").strip("/")
        self._say(
            f"\n  Open http://{host}:{option('server.port')}/{base and base + '/'}?{TOKEN}={self._token}\n"
        )

    def enter(self, token: str) -> str | None:
        """The secret for a browser's cookie if ``token`` is the one printed last and unused; None for any other.

        A new address is printed when the token is accepted.
        """
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
        """Whether a request's cookies show that its browser was admitted."""
        return _digest(cookies.get(self.cookie, "")) in self._inside


def entrance() -> Entrance | None:
    """An entrance if access must be controlled: CRUBRIC_TOKEN=always, or other people have accounts on the machine.

    None otherwise: CRUBRIC_TOKEN=never, the demo study (its data are synthetic), or a machine with one user.
    """
    wanted = os.environ.get("CRUBRIC_TOKEN", "")
    if wanted == "never" or (wanted != "always" and (_is_demo(workspace_path()) or not others())):
        return None
    return Entrance(lambda line: print(line, flush=True))


def others() -> list[str]:
    """Names of the people with an account on this machine, without the user of this process; [] on Windows."""
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
