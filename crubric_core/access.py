"""Who may do what: an editor everything, a viewer look. Asked wherever something is about to be read or changed.

The command line and a person's own scripts are editors. A server that knows its visitors names one source of roles,
and every check asks again. A process with ``CRUBRIC_ROLE=viewer`` has no editor at all and opens no workspace.
"""

from __future__ import annotations

import os
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Literal, ParamSpec, TypeVar, cast, get_args

from .errors import AccessError

if TYPE_CHECKING:
    from collections.abc import Callable

Role = Literal["viewer", "editor"]
P = ParamSpec("P")
R = TypeVar("R")


def process_role() -> Role:
    """What this process is for, from CRUBRIC_ROLE; AccessError where that is no role."""
    role = os.environ.get("CRUBRIC_ROLE", "").strip() or "editor"
    if role not in get_args(Role):
        raise AccessError(
            f"CRUBRIC_ROLE is {role!r}: expected editor (the dashboard) or viewer (shared views)."
        )
    return cast("Role", role)


def _owner() -> Role | None:
    return "editor"


_source: Callable[[], Role | None] = _owner
_carried: ContextVar[Role | None] = ContextVar("carried role", default=None)


def set_role_source(source: Callable[[], Role | None]) -> None:
    """From now on ``source`` says who acts: their role, or None for nobody known."""
    global _source
    _source = source


def current_role() -> Role | None:
    """The role of whoever acts now; never an editor in a viewer's process, None for nobody known."""
    role = _carried.get() or _source()
    return "viewer" if role and process_role() == "viewer" else role


def require_editor(action: str) -> None:
    """AccessError unless an editor acts; ``action`` says what for, as in "publish a view"."""
    if current_role() != "editor":
        raise AccessError(
            f"Only an editor may {action}: sign in as one, or ask the person who runs this server."
        )


def require_workspace() -> None:
    """AccessError in a viewer's process, and where nobody known acts."""
    if process_role() == "viewer":
        raise AccessError(
            "This process serves shared views alone (CRUBRIC_ROLE=viewer) and opens no workspace."
        )
    if current_role() is None:
        raise AccessError("The workspace is open to known persons alone: sign in first.")


def carried(work: Callable[P, R]) -> Callable[P, R]:
    """``work`` for another thread, done in the name of whoever acts now."""
    role = current_role()

    @wraps(work)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        token = _carried.set(role)
        try:
            return work(*args, **kwargs)
        finally:
            _carried.reset(token)

    return run
