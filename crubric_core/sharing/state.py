"""The state of a view, a small JSON file beside its content: who made its link, its expiry, whether it is revoked.

A link is closed by renaming its state file to ``ID.closed``, which works even on a full disk. The state with the time
of closing, and the line of the audit trail, are written when there is room.
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
    """Metadata of a view, which can be read without opening its content file.

    token_sha256: hash of its link's token. version: 1, and one more with every replacement.
    sha256, size: hash and bytes of the present content file; "" and 0 once the view is revoked.
    title, dataset, fingerprint: as in the view. published_at, changed_at, expires_at, revoked_at: UTC; None for never.
    published_by: the user who made the link.
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
        """Status of the link at ``now``: "open", "expired" or "revoked". It does not check the content file."""
        if self.revoked_at is not None:
            return "revoked"
        expired = self.expires_at is not None and (now or datetime.now(UTC)) >= self.expires_at
        return "expired" if expired else "open"

    def content(self, views: Path) -> Path:
        """Path of the view's content file in the folder ``views``."""
        return views / f"{self.id}.{self.version}.duckdb"


def state_path(views: Path, view: str) -> Path:
    """Path of the state file of the view with this id."""
    return views / f"{view}.json"


def closed_path(views: Path, view: str) -> Path:
    """Path of the state file from the moment its link is closed until the closing is recorded."""
    return views / f"{view}.closed"


def prepare_state(views: Path, state: ViewState) -> Path:
    """Write the state to a temporary file, and return its path; renaming it to ``state_path`` makes it valid."""
    plain = {k: v.isoformat() if isinstance(v, datetime) else v for k, v in asdict(state).items()}
    return prepare(state_path(views, state.id), json_bytes(plain))


def load_state(views: Path, view: str) -> ViewState | None:
    """The state of the view with this id, which must have the form of an id; None if no state can be read.

    A link that is closed but not yet recorded as closed is returned as revoked, at the time of the renaming.
    """
    state = _read(state_path(views, view), view)
    if state is not None:
        return state
    path = closed_path(views, view)
    closed = _read(path, view)
    return None if closed is None else revoked(closed, _renamed_at(path))


def revoked(state: ViewState, when: datetime) -> ViewState:
    """A copy of the state as revoked at ``when``, without a content file."""
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
