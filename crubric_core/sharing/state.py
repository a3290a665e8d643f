"""The state of a view, a small JSON file beside its content: whose link, until when, revoked or not.

A link is closed by renaming its state file to ``ID.closed``, for which no disk is too full; the state that says when
and the line of the trail follow when there is room.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from dataclasses import replace as changed
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from ..files import json_bytes
from .folder import prepare, read_regular

MOST = 1 << 20  # bytes of a state file; ours have about 1,000
Standing = Literal["open", "expired", "revoked", "damaged"]


@dataclass(frozen=True)
class ViewState:
    """What is known of a view without opening it.

    token_sha256: hash of its link's token. version: 1, and one more with every replacement.
    sha256, size: of the present content file; "" and 0 once it is revoked.
    published_at, changed_at, expires_at, revoked_at: UTC; None for never.
    published_by: who made the link.
    """

    id: str
    token_sha256: str
    version: int
    sha256: str
    size: int
    title: str
    dataset: str | None
    fingerprint: str
    published_at: datetime
    published_by: str
    changed_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def standing(self, now: datetime | None = None) -> Standing:
        """Whether its link is open at this moment; the content file itself is checked where it is opened."""
        if self.revoked_at is not None:
            return "revoked"
        expired = self.expires_at is not None and (now or datetime.now(UTC)) >= self.expires_at
        return "expired" if expired else "open"

    def content(self, views: Path) -> Path:
        """The file that holds what it shows."""
        return views / f"{self.id}.{self.version}.duckdb"


def state_path(views: Path, view: str) -> Path:
    """The state file of an id."""
    return views / f"{view}.json"


def closed_path(views: Path, view: str) -> Path:
    """What its state file is called from the moment in which its link is closed until that is written down."""
    return views / f"{view}.closed"


def prepare_state(views: Path, state: ViewState) -> Path:
    """The state on the disk, to be given its place by a renaming."""
    plain = {k: v.isoformat() if isinstance(v, datetime) else v for k, v in asdict(state).items()}
    return prepare(state_path(views, state.id), json_bytes(plain))


def load_state(views: Path, view: str) -> ViewState | None:
    """The state of an id (of an id's form); None where there is none that can be read."""
    state = _read(state_path(views, view), view)
    if state is not None:
        return state
    path = closed_path(views, view)
    closed = _read(path, view)
    return None if closed is None else revoked(closed, _renamed_at(path))


def revoked(state: ViewState, when: datetime) -> ViewState:
    """The state of a view whose link is closed and whose content is deleted."""
    return changed(state, sha256="", size=0, changed_at=when, revoked_at=when)


def _renamed_at(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_ctime, UTC)


def _read(path: Path, view: str) -> ViewState | None:
    content = read_regular(path, MOST)
    if content is None:
        return None
    try:
        found = json.loads(content)
        state = ViewState(
            **{field.name: _value(field.name, found[field.name]) for field in fields(ViewState)}
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    texts = (state.token_sha256, state.sha256, state.title, state.fingerprint, state.published_by)
    sound = isinstance(state.version, int) and all(isinstance(text, str) for text in texts)
    return state if state.id == view and sound else None


def _value(name: str, value: Any) -> Any:
    if not name.endswith("_at") or value is None:
        return value
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError(f"{name} has no time zone")
    return moment
