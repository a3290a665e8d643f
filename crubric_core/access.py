"""Access control: an editor may do everything, a viewer may only look. Checked before anything is read or changed.

The command line and a person's own scripts are editors. A server that knows its visitors sets a source of roles
(``set_role_source``), which every check calls. A process with ``CRUBRIC_ROLE=viewer`` has no editor and opens no
workspace.
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
    """The role of this process from CRUBRIC_ROLE, by default "editor"; raises AccessError for another value."""
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
    """Set the function that returns the role of the current user, or None for an unknown user."""
    global _source
    _source = source


def current_role() -> Role | None:
    """The role of the current user; None if unknown. In a viewer's process it is never "editor"."""
    role = _carried.get() or _source()
    return "viewer" if role and process_role() == "viewer" else role


def require_editor(action: str) -> None:
    """Raise AccessError unless the current user is an editor. action: for the message, for example "publish a view"."""
    if current_role() != "editor":
        raise AccessError(
            f"Only an editor may {action}: sign in as one, or ask the person who runs this server."
        )


def require_workspace() -> None:
    """Raise AccessError in a viewer's process, or if the current user is unknown."""
    if process_role() == "viewer":
        raise AccessError(
            "This process serves shared views alone (CRUBRIC_ROLE=viewer) and opens no workspace."
        )
    if current_role() is None:
        raise AccessError("The workspace is open to known persons alone: sign in first.")


def carried(work: Callable[P, R]) -> Callable[P, R]:
    """Wrap ``work`` so that in another thread it runs with the role of the current user."""
    role = current_role()

    @wraps(work)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        token = _carried.set(role)
        try:
            return work(*args, **kwargs)
        finally:
            _carried.reset(token)

    return run
