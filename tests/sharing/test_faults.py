"""A full disk, a kill at the worst step, a clock that goes backwards, and files that are no files."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from dataclasses import replace as changed
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crubric_core.errors import SharingError
from crubric_core.sharing import (
    SharedView,
    audit,
    list_views,
    open_state,
    open_view,
    publish,
    replace,
    revoke,
    set_expiry,
    standing_of,
)
from crubric_core.sharing import store as publisher
from tests.faults import die, killed, no_room, on_a_small_disk, read_only

Contents = dict[str, bytes]


def contents(folder: Path) -> Contents:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != ".lock"}


@pytest.mark.parametrize("beyond", [0, 100, 20_000])
def test_on_a_full_disk_nothing_is_published_and_nothing_is_left(
    view: SharedView, views: Path, beyond: int
) -> None:
    link = publish(view, views)
    before = contents(views)
    with (
        no_room(beyond),
        pytest.raises(SharingError, match=r"has no room \(the disk is full\): nothing has changed"),
    ):
        publish(view, views)
    assert contents(views) == before
    assert open_view(views, link.token) is not None


@pytest.mark.parametrize("beyond", [0, 100, 20_000])
def test_on_a_full_disk_a_link_goes_on_showing_its_earlier_result(
    view: SharedView, views: Path, beyond: int
) -> None:
    link = publish(view, views)
    before = contents(views)
    with no_room(beyond), pytest.raises(SharingError, match="disk is full"):
        replace(views, link.id, changed(view, title="newer"))
    assert contents(views) == before
    assert open_view(views, link.token).title == view.title


def test_on_a_full_disk_an_expiry_stays_as_it_is(view: SharedView, views: Path) -> None:
    link = publish(view, views)
    before = contents(views)
    with no_room(), pytest.raises(SharingError, match="disk is full"):
        set_expiry(views, link.id, datetime.now(UTC) + timedelta(days=1))
    assert contents(views) == before


def test_a_link_is_revoked_without_a_byte_of_room_and_the_trail_says_so_once_there_is_some(
    view: SharedView, views: Path
) -> None:
    link, other = publish(view, views), publish(view, views)
    with no_room():
        assert revoke(views, link.id).revoked_at is not None
    assert open_state(views, link.token) is None
    assert not link.path.exists()
    assert {state.id: standing_of(views, state) for state in list_views(views)} == {
        link.id: "revoked",
        other.id: "open",
    }
    assert audit(views)["what"].tolist() == ["publish", "publish"], "no room, so no line yet"
    with no_room():
        assert revoke(views, link.id).revoked_at is not None, "once more changes nothing"
    publish(view, views)
    trail = audit(views)
    assert trail["what"].tolist() == ["publish", "publish", "revoke", "publish"]
    assert trail["id"][2] == link.id
    assert trail["detail"][2] == "closed at that moment, written down later"
    assert open_view(views, link.token) is None
    assert list(views.glob("*.closed")) == []
    for change in (lambda: replace(views, link.id, view), lambda: set_expiry(views, link.id, None)):
        with pytest.raises(SharingError, match="was revoked"):
            change()


FULL = """
import os, pickle, sys
from pathlib import Path
from crubric_core.errors import SharingError
from crubric_core.sharing import audit, open_view, publish, replace, revoke
views, view = Path(sys.argv[1]) / "views", pickle.loads(Path(sys.argv[2]).read_bytes())
link, kept = publish(view, views), publish(view, views)
with open(views / "filler", "wb", buffering=0) as filler:
    try:
        while filler.write(bytes(4096)):
            pass
    except OSError:
        pass
for change in (lambda: publish(view, views), lambda: replace(views, link.id, view)):
    try:
        change()
    except SharingError as error:
        print(error)
print(open_view(views, link.token) is not None)
revoke(views, link.id)
print(open_view(views, link.token), open_view(views, kept.token) is not None)
print(*audit(views)["what"])
"""


def test_a_disk_that_is_really_full_refuses_a_view_and_lets_one_be_revoked(
    view: SharedView, tmp_path: Path
) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "view").write_bytes(pickle.dumps(view))
    said = on_a_small_disk(FULL, tmp_path / "disk", tmp_path / "view", folder=tmp_path / "disk").splitlines()
    assert len(said) == 5
    assert all("has no room (the disk is full): nothing has changed" in line for line in said[:2])
    assert said[2:] == ["True", "None True", "publish publish revoke"]


SEALED = """
import pickle, sys
from pathlib import Path
from crubric_core.errors import SharingError
from crubric_core.sharing import audit, open_view, publish, replace, revoke
views, view = Path(sys.argv[1]), pickle.loads(Path(sys.argv[2]).read_bytes())
name = sys.argv[4]
for change in (lambda: publish(view, views), lambda: replace(views, name, view), lambda: revoke(views, name)):
    try:
        change()
    except SharingError as error:
        print(error)
print(open_view(views, sys.argv[3]) is not None, *audit(views)["what"])
"""


def test_where_nothing_can_be_written_each_change_is_refused_and_the_trail_claims_none(
    view: SharedView, views: Path, tmp_path: Path
) -> None:
    link = publish(view, views)
    (tmp_path / "view").write_bytes(pickle.dumps(view))
    *refused, last = read_only(views, SEALED, views, tmp_path / "view", link.token, link.id).splitlines()
    assert len(refused) == 3
    assert all("cannot be written (Read-only file system): nothing has changed" in line for line in refused)
    assert last == "True publish"


def test_what_the_trail_announces_and_a_kill_prevented_is_told_by_the_next_writer(
    view: SharedView, views: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = publish(view, views)
    real = Path.replace

    def fatal(path: Path, target: Path) -> Path:
        return die() if target.suffix == ".json" else real(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", fatal)
        killed(lambda: replace(views, link.id, changed(view, title="newer")))
    assert audit(views)["what"].tolist() == ["publish", "replace"], "the line was there before the change"
    assert open_view(views, link.token).title == view.title
    set_expiry(views, link.id, None)
    trail = audit(views)
    assert trail["what"].tolist() == ["publish", "replace", "undone", "expiry"]
    assert trail["detail"][2] == f"the replace of {trail['when'][1]} did not take place"


def test_a_link_whose_revocation_was_killed_half_way_stays_closed(
    view: SharedView, views: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_commit", "prepare_state"):
        link = publish(view, views)
        with monkeypatch.context() as patched:
            patched.setattr(publisher, name, die)
            killed(lambda link=link: revoke(views, link.id))
        assert open_view(views, link.token) is None
        publish(view, views)
        assert audit(views)["id"][audit(views)["what"] == "revoke"].tolist().count(link.id) == 1
        assert next(s for s in list_views(views) if s.id == link.id).revoked_at is not None


def test_a_revocation_killed_between_its_line_and_its_state_has_one_line(
    view: SharedView, views: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = publish(view, views)
    real = Path.replace
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", lambda p, t: die() if t.suffix == ".json" else real(p, t))
        killed(lambda: revoke(views, link.id))
    assert open_view(views, link.token) is None
    publish(view, views)
    trail = audit(views)
    assert trail["what"].tolist() == ["publish", "revoke", "publish"]
    (state,) = (s for s in list_views(views) if s.id == link.id)
    assert state.revoked_at.isoformat() == trail["when"][1]


def test_a_clock_that_goes_backwards_opens_no_revoked_link_and_orders_nothing(
    view: SharedView, views: Path
) -> None:
    """The order of the trail and of versions is that of the writing; only an expiry is a moment of the clock."""
    past = datetime.now(UTC) - timedelta(days=400)
    link = publish(view, views, expires=datetime.now(UTC) + timedelta(days=1))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            publisher, "datetime", type("Clock", (datetime,), {"now": classmethod(lambda *_: past)})
        )
        replace(views, link.id, changed(view, title="newer"))
        closed = publish(view, views)
        revoke(views, closed.id)
    assert open_view(views, link.token).title == "newer"
    assert [open_state(views, closed.token, now=moment) for moment in (past - timedelta(days=1), None)] == [
        None
    ] * 2
    assert audit(views)["what"].tolist() == ["publish", "replace", "publish", "revoke"]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.parametrize("place", ["state", "content", "trail"])
def test_a_pipe_or_a_folder_in_a_files_place_keeps_nobody_waiting(
    view: SharedView, views: Path, place: str, make: Callable[[Path], None]
) -> None:
    link, other = publish(view, views), publish(view, views)
    path = {"state": views / f"{link.id}.json", "content": link.path, "trail": views / "audit.jsonl"}[place]
    path.unlink()
    make(path)
    assert (open_view(views, link.token) is None) is (place != "trail")
    assert open_view(views, other.token) is not None
    assert other.id in {state.id for state in list_views(views)}
    assert len(audit(views)) == (0 if place == "trail" else 2)


def test_a_state_nested_without_end_opens_nothing_and_stops_nobody(view: SharedView, views: Path) -> None:
    link, other = publish(view, views), publish(view, views)
    (views / f"{link.id}.json").write_bytes(b"[" * 500_000)
    with (views / "audit.jsonl").open("ab") as trail:
        trail.write(b"[" * 500_000 + b"\n")
    assert open_view(views, link.token) is None
    assert {state.id for state in list_views(views)} == {other.id}
    assert len(audit(views)) == 2
