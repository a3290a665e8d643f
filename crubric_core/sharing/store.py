"""The publisher's side: publish, replace, revoke, and the list of all links.

A view consists of a content file and a state file. The content is on the disk before the state refers to it, so a
view exists completely or not at all; the next call deletes what an interrupted call left behind. A link is first
closed and then recorded as closed: closing needs no room on the disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from dataclasses import replace as changed
from datetime import UTC, datetime
from pathlib import Path
from types import EllipsisType

from ..access import require_editor
from ..environment import typed
from ..errors import SharingError
from .budget import FILE, within_budget
from .content import sha256_of, write_content
from .expiry import still_to_come
from .folder import PARTIAL, finish, writing
from .opening import read_state
from .state import ViewState, closed_path, load_state, prepare_state, revoked, state_path
from .tokens import checked_id, id_of, is_id, new_token, token_hash
from .trail import UNDONE, Entry, last_entry, moment, recorded, this_user
from .view import SharedView


@dataclass(frozen=True)
class Published:
    """A new link. id: the view's. token: the secret that opens it, stored nowhere. path: the content file."""

    id: str
    token: str
    path: Path


def publish(
    view: SharedView, views: str | Path, expires: datetime | None = None, who: str | None = None
) -> Published:
    """Publish a view under a new link, open until ``expires`` (None: no limit) or until it is revoked.

    who: name for the audit trail; None: the user of this process. Raises SharingError if ``expires`` has passed, the
    view is too large or the folder cannot be written.
    """
    require_editor("publish a view")
    folder, now, token = Path(views), datetime.now(UTC), new_token()
    until, hashed = still_to_come(expires, now), token_hash(token)
    with writing(folder):
        _sweep(folder)
        state = ViewState(
            id=id_of(hashed),
            token_sha256=hashed,
            version=1,
            sha256="",
            size=0,
            title=view.title,
            dataset=view.dataset,
            fingerprint=view.fingerprint,
            published_at=now,
            published_by=who or this_user(),
            changed_at=now,
            expires_at=until,
        )
        with _with_content(folder, state, view) as state:
            _commit(folder, state, Entry(moment(now), state.published_by, "publish", state.id, _until(until)))
    return Published(state.id, token, state.content(folder))


def replace(
    views: str | Path,
    view_id: str,
    view: SharedView,
    who: str | None = None,
    expires: datetime | EllipsisType | None = ...,
) -> ViewState:
    """Show a newer view under the same link; SharingError if the link is revoked or does not exist.

    expires: the new expiry, None for none; by default (...) the expiry stays as it is.
    """
    require_editor("replace a view")
    folder, now = Path(views), datetime.now(UTC)
    until = None if expires is ... else still_to_come(expires, now)
    with writing(folder):
        _sweep(folder)
        old = _changeable(folder, view_id)
        new = changed(
            old,
            expires_at=old.expires_at if expires is ... else until,
            version=old.version + 1,
            title=view.title,
            dataset=view.dataset,
            fingerprint=view.fingerprint,
            changed_at=now,
        )
        with _with_content(folder, new, view) as new:
            detail = f"version {new.version}" + ("" if expires is ... else f", {_until(until)}")
            _commit(folder, new, Entry(moment(now), who or this_user(), "replace", new.id, detail))
        old.content(folder).unlink(missing_ok=True)
    return new


def looked_up(views: str | Path, view_id: str) -> SharedView | None:
    """The content of a view, for its publisher; None if its file is damaged or deleted.

    Raises SharingError if there is no view with this id.
    """
    require_editor("look up a view")
    return read_state(views, _known(Path(views), view_id))


def words_of(views: str | Path, view_id: str) -> tuple[str, str]:
    """(title, note) of a view, as defaults for its replacement; the note is "" if the content file is damaged."""
    require_editor("look up a view")
    state = _known(Path(views), view_id)
    view = read_state(views, state)
    return (view.title, view.note) if view else (state.title, "")


def revoke(views: str | Path, view_id: str, who: str | None = None) -> ViewState:
    """Close a link permanently, delete its content and return its new state; revoking again changes nothing.

    It works on a full disk: the link is closed and its content deleted before anything is written. If there is no
    room even then, the next call that writes to the folder adds the line of the audit trail.
    """
    require_editor("revoke a view")
    folder, now = Path(views), datetime.now(UTC)
    with writing(folder):
        old = _known(folder, view_id)
        if old.revoked_at is not None:
            return old
        new = revoked(old, now)
        with suppress(OSError):
            _sweep(folder)
        state_path(folder, new.id).replace(closed_path(folder, new.id))
        old.content(folder).unlink(missing_ok=True)
        with suppress(OSError):
            _commit(folder, new, Entry(moment(now), who or this_user(), "revoke", new.id))
            closed_path(folder, new.id).unlink()
    return new


def set_expiry(
    views: str | Path, view_id: str, expires: datetime | None, who: str | None = None
) -> ViewState:
    """Change the expiry of a link, even of one that has expired. expires: the new expiry; None: until it is revoked.

    Raises SharingError if ``expires`` has passed, or the link is revoked or does not exist.
    """
    require_editor("change until when a view is open")
    folder, now = Path(views), datetime.now(UTC)
    until = still_to_come(expires, now)
    with writing(folder):
        _sweep(folder)
        new = changed(_changeable(folder, view_id), expires_at=until, changed_at=now)
        _commit(folder, new, Entry(moment(now), who or this_user(), "expiry", new.id, _until(until)))
    return new


def list_views(views: str | Path) -> tuple[ViewState, ...]:
    """The states of all views that were ever published in this folder, newest first; unreadable ones are skipped."""
    require_editor("list the views")
    folder = Path(views)
    ids = {path.stem for form in ("*.json", "*.closed") for path in folder.glob(form) if is_id(path.stem)}
    found = [load_state(folder, view) for view in sorted(ids)]
    return tuple(sorted(filter(None, found), key=lambda state: state.published_at, reverse=True))


@contextmanager
def _with_content(folder: Path, state: ViewState, view: SharedView) -> Iterator[ViewState]:
    """Write the view's content file and yield the state with its hash and size; delete the file if the caller fails."""
    path = state.content(folder)
    partial = path.with_name(path.name + PARTIAL)
    try:
        write_content(within_budget(view), partial)
        _check_size(partial)
        finish(partial, path)
        yield changed(state, sha256=sha256_of(path), size=path.stat().st_size)
    except BaseException:
        for left in (partial, partial.with_name(f"{partial.name}.wal"), path):
            left.unlink(missing_ok=True)
        raise


def _check_size(path: Path) -> None:
    size = path.stat().st_size
    if size > FILE:
        raise SharingError(
            f"The file of this view would have {size / 1e6:,.1f} MB, and {FILE / 1e6:.0f} MB is the most: leave a part "
            "of it out."
        )


def _commit(folder: Path, state: ViewState, entry: Entry) -> None:
    """Write the line of the trail and the state: both, or neither."""
    partial = prepare_state(folder, state)
    try:
        with recorded(folder, entry):
            partial.replace(state_path(folder, state.id))
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _known(folder: Path, view_id: str) -> ViewState:
    state = load_state(folder, checked_id(view_id))
    if state is None:
        raise SharingError(
            f"There is no view {view_id} in {folder}: `{typed('views', '--views', folder)}` lists them."
        )
    return state


def _changeable(folder: Path, view_id: str) -> ViewState:
    state = _known(folder, view_id)
    if state.revoked_at is not None:
        raise SharingError(f"The view {view_id} was revoked, which is final: publish a new one.")
    return state


def _sweep(folder: Path) -> None:
    """Clean up after interrupted calls.

    Delete unfinished files and content files to which no state refers. If the change in the last line of the trail
    did not take place, add a line that says so. Record closed links as revoked.
    """
    for path in folder.iterdir():
        unfinished = path.name.endswith((PARTIAL, f"{PARTIAL}.wal")) and is_id(path.name.split(".")[0])
        if unfinished or _is_left_over(folder, path):
            path.unlink(missing_ok=True)
    last = last_entry(folder)
    if last is not None and last.what != UNDONE and _is_undone(folder, last):
        when, detail = moment(datetime.now(UTC)), f"the {last.what} of {last.when} did not take place"
        with recorded(folder, Entry(when, this_user(), UNDONE, last.id, detail)):
            pass
    for path in folder.glob("*.closed"):
        if is_id(path.stem):
            _write_down(folder, path, last)


def _is_undone(folder: Path, last: Entry) -> bool:
    """Whether the view's state shows that the change in the last line of the trail did not take place."""
    if not is_id(last.id):
        return False
    state = load_state(folder, last.id)
    if state is None:
        return not state_path(folder, last.id).exists()  # an unreadable state is no evidence
    return state.revoked_at is None and moment(state.changed_at) != last.when


def _write_down(folder: Path, path: Path, last: Entry | None) -> None:
    """Write the line of the trail and the state for a link that was closed by a call that could not write them."""
    state = load_state(folder, path.stem)
    if state is not None and not state_path(folder, state.id).exists():
        if last is not None and (last.what, last.id) == ("revoke", state.id):  # the line exists already
            state = revoked(state, datetime.fromisoformat(last.when))
            prepare_state(folder, state).replace(state_path(folder, state.id))
        else:
            detail = "closed at that moment, written down later"
            _commit(folder, state, Entry(moment(state.changed_at), "not known", "revoke", state.id, detail))
    path.unlink(missing_ok=True)


def _is_left_over(folder: Path, path: Path) -> bool:
    view = path.name.split(".")[0]
    if path.suffix != ".duckdb" or not is_id(view):
        return False
    state = load_state(folder, view)
    if state is None:
        return not state_path(folder, view).exists()  # an unreadable state may be repaired
    return state.revoked_at is not None or state.content(folder) != path


def _until(moment: datetime | None) -> str:
    return f"until {moment.isoformat(timespec='seconds')}" if moment else "until revoked"
