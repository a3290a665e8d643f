"""Links: what opens, what does not, and what is known of them."""

from __future__ import annotations

import hashlib
import json
import stat
from dataclasses import replace as changed
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crubric_core import access
from crubric_core.errors import AccessError, SharingError
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
    words_of,
)
from tests.tiers import examples

NOW = datetime.now(UTC)
LATER = NOW + timedelta(days=2)
FAR = NOW + timedelta(days=365)
NOBODY = "0123456789abcdef"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_link_opens_what_was_published(view: SharedView, views: Path) -> None:
    link = publish(view, views)
    assert open_view(views, link.token).title == view.title
    assert open_state(views, link.token).id == link.id
    assert link.path.is_file()


def test_every_link_is_its_own(view: SharedView, views: Path) -> None:
    made = [publish(changed(view, title=str(n)), views) for n in range(3)]
    assert len({link.token for link in made}) == len({link.id for link in made}) == 3
    assert [open_view(views, link.token).title for link in made] == ["0", "1", "2"]


def test_a_token_is_nowhere_in_the_folder(view: SharedView, views: Path) -> None:
    link = publish(view, views, who="ann@example.org")
    replace(views, link.id, view)
    set_expiry(views, link.id, LATER)
    for name, content in contents(views).items():
        assert link.token not in name
        assert link.token.encode() not in content, name
    assert (
        hashlib.sha256(link.token.encode()).hexdigest().encode() in (views / f"{link.id}.json").read_bytes()
    )


@pytest.mark.parametrize(
    "token",
    [
        None,
        "",
        7,
        b"x",
        "x",
        "A" * 42,
        "A" * 43,
        "A" * 44,
        "../" * 14 + "a",
        "Ä" * 43,
        "A" * 42 + "\n",
        "A" * 10_000_000,
    ],
    ids=lambda token: str(token)[:12],
)
def test_what_is_no_token_opens_nothing(view: SharedView, views: Path, token: object) -> None:
    publish(view, views)
    assert open_view(views, token) is None


def test_every_token_that_differs_in_one_letter_opens_nothing(view: SharedView, views: Path) -> None:
    token = publish(view, views).token
    for at in range(len(token)):
        other = "A" if token[at] != "A" else "B"
        assert open_view(views, token[:at] + other + token[at + 1 :]) is None
        assert open_view(views, token[:at]) is None


def test_what_is_no_token_reaches_no_file(views: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def touched(*_: object) -> None:
        raise AssertionError("a file was asked for")

    monkeypatch.setattr("crubric_core.sharing.opening.load_state", touched)
    assert open_view(views, "../../etc/passwd") is None


def test_a_wrong_token_reads_no_content(
    view: SharedView, views: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(view, views)
    monkeypatch.setattr(
        "crubric_core.sharing.opening.read_content", lambda _: pytest.fail("content was read")
    )
    monkeypatch.setattr("crubric_core.sharing.opening.sha256_of", lambda _: pytest.fail("content was read"))
    assert open_view(views, "A" * 43) is None


def test_an_id_is_no_token(view: SharedView, views: Path) -> None:
    link = publish(view, views)
    state = list_views(views)[0]
    for known in (link.id, state.token_sha256, state.token_sha256[:43], state.sha256[:43]):
        assert open_view(views, known) is None


def test_nothing_opens_where_there_is_no_folder(tmp_path: Path) -> None:
    assert open_view(tmp_path / "nowhere", "A" * 43) is None
    assert list_views(tmp_path / "nowhere") == ()
    assert audit(tmp_path / "nowhere").empty


def test_a_link_ends_when_it_expires(view: SharedView, views: Path) -> None:
    link = publish(view, views, expires=LATER)
    moment = timedelta(microseconds=1)
    assert open_view(views, link.token, now=LATER - moment) is not None
    assert open_view(views, link.token, now=LATER) is None
    assert list_views(views)[0].standing(LATER) == "expired"


def test_an_expired_link_can_be_opened_again(view: SharedView, views: Path) -> None:
    link = publish(view, views, expires=LATER)
    set_expiry(views, link.id, FAR)
    assert open_view(views, link.token, now=LATER) is not None
    set_expiry(views, link.id, None)
    assert open_view(views, link.token, now=FAR) is not None


@pytest.mark.parametrize("expires", [NOW - timedelta(days=1), datetime(2020, 1, 1)])
def test_an_expiry_that_has_passed_is_refused(view: SharedView, views: Path, expires: datetime) -> None:
    with pytest.raises(SharingError, match="has passed"):
        publish(view, views, expires=expires)
    assert list_views(views) == ()


def test_a_revoked_link_opens_nothing_ever_again_and_its_content_is_gone(
    view: SharedView, views: Path
) -> None:
    link = publish(view, views)
    revoke(views, link.id)
    assert open_view(views, link.token) is None
    assert not link.path.exists()
    assert standing_of(views, list_views(views)[0]) == "revoked"
    for change in (lambda: replace(views, link.id, view), lambda: set_expiry(views, link.id, FAR)):
        with pytest.raises(SharingError, match="was revoked"):
            change()
    assert open_view(views, link.token) is None


def test_revoking_twice_changes_nothing(view: SharedView, views: Path) -> None:
    link = publish(view, views)
    first = revoke(views, link.id)
    assert revoke(views, link.id) == first
    assert audit(views)["what"].tolist() == ["publish", "revoke"]


def test_a_newer_result_takes_the_place_of_the_old_one_under_the_same_link(
    view: SharedView, views: Path
) -> None:
    link = publish(view, views, expires=FAR)
    state = replace(views, link.id, changed(view, title="newer"))
    assert open_view(views, link.token).title == "newer"
    assert (state.version, state.title, state.expires_at) == (2, "newer", FAR)
    assert [path.name for path in views.glob("*.duckdb")] == [f"{link.id}.2.duckdb"]


@pytest.mark.parametrize("until", [FAR, None])
def test_a_newer_result_and_its_last_day_are_one_change(
    view: SharedView, views: Path, until: datetime | None
) -> None:
    """They were two: one that failed between them left the new result under an expired link."""
    link = publish(view, views, expires=LATER)
    state = replace(views, link.id, changed(view, title="newer"), expires=until)
    assert (list_views(views), state.expires_at) == ((state,), until)
    trail = audit(views)
    assert trail["what"].tolist() == ["publish", "replace"]
    assert trail["detail"].iloc[-1].startswith("version 2, until ")
    before = contents(views)
    with pytest.raises(SharingError, match="has passed"):
        replace(views, link.id, view, expires=datetime(2020, 1, 1, tzinfo=UTC))
    assert contents(views) == before


def test_a_reader_who_comes_while_a_view_is_replaced_sees_the_new_one(
    view: SharedView, views: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = publish(view, views)
    early = open_state(views, link.token)
    replace(views, link.id, changed(view, title="newer"))
    answers = iter([early])
    real = open_state
    monkeypatch.setattr(
        "crubric_core.sharing.opening.open_state", lambda *args: next(answers, None) or real(*args)
    )
    assert open_view(views, link.token).title == "newer"


def test_the_words_of_a_view_can_be_kept(view: SharedView, views: Path) -> None:
    link = publish(view, views)
    assert words_of(views, link.id) == (view.title, view.note)
    link.path.unlink()
    assert words_of(views, link.id) == (view.title, "")


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_content_file_that_was_tampered_with_is_never_shown(
    view: SharedView, views: Path, data: st.DataObject
) -> None:
    link = publish(view, views)
    whole = bytearray(link.path.read_bytes())
    match data.draw(st.sampled_from(["flip", "cut", "add", "empty"])):
        case "flip":
            at = data.draw(st.integers(0, len(whole) - 1))
            whole[at] ^= data.draw(st.integers(1, 255))
        case "cut":
            del whole[data.draw(st.integers(0, len(whole) - 1)) :]
        case "add":
            whole += data.draw(st.binary(min_size=1, max_size=8))
        case "empty":
            whole.clear()
    link.path.write_bytes(whole)
    assert open_view(views, link.token) is None
    assert standing_of(views, list_views(views)[0]) == "damaged"


def test_the_content_of_another_view_is_not_shown(view: SharedView, views: Path) -> None:
    one, other = publish(view, views), publish(changed(view, title="other"), views)
    one.path.write_bytes(other.path.read_bytes())
    assert open_view(views, one.token) is None
    assert open_view(views, other.token).title == "other"


def test_a_content_file_that_is_gone_opens_nothing(view: SharedView, views: Path) -> None:
    link = publish(view, views)
    link.path.unlink()
    assert open_view(views, link.token) is None
    assert standing_of(views, list_views(views)[0]) == "damaged"


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_state_that_makes_no_sense_opens_nothing(
    view: SharedView, views: Path, data: st.DataObject
) -> None:
    link = publish(view, views)
    path = views / f"{link.id}.json"
    state = json.loads(path.read_bytes())
    name = data.draw(st.sampled_from(["id", "token_sha256", "version", "sha256", "expires_at", "revoked_at"]))
    wrong = st.one_of(
        st.integers(), st.text(max_size=20), st.booleans(), st.lists(st.integers()), st.just("../x")
    )
    value = data.draw(wrong.filter(lambda v: v != state[name]))
    path.write_text(json.dumps(state | {name: value}))
    assert open_view(views, link.token) is None
    list_views(views)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"null", b"\xff\xfe", b'{"id": 1}'])
def test_a_state_that_cannot_be_read_opens_nothing_and_is_left_to_be_mended(
    view: SharedView, views: Path, content: bytes
) -> None:
    link = publish(view, views)
    kept = (views / f"{link.id}.json").read_bytes()
    (views / f"{link.id}.json").write_bytes(content)
    assert open_view(views, link.token) is None
    publish(view, views)  # sweeps, but not what may be mended
    (views / f"{link.id}.json").write_bytes(kept)
    assert open_view(views, link.token) is not None


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        ".",
        "..",
        "../../etc/passwd",
        "x" * 16,
        NOBODY.upper(),
        f"{NOBODY}\n",
        f"{NOBODY}/..",
        "ａ" * 16,
        NOBODY,
    ],
)
def test_what_is_no_id_changes_nothing(view: SharedView, views: Path, wrong: str) -> None:
    publish(view, views)
    before = contents(views)
    for change in (revoke, words_of):
        with pytest.raises(SharingError):
            change(views, wrong)
    with pytest.raises(SharingError):
        replace(views, wrong, view)
    with pytest.raises(SharingError):
        set_expiry(views, wrong, FAR)
    assert contents(views) == before


def test_leftovers_are_swept_and_strangers_files_are_not(view: SharedView, views: Path) -> None:
    link = publish(view, views)
    mine = [
        f"{NOBODY}.1.duckdb",
        f"{NOBODY}.1.duckdb.part",
        f"{NOBODY}.1.duckdb.part.wal",
        f"{link.id}.9.duckdb",
    ]
    theirs = ["notes.txt", "study.duckdb", "photo.json", "thesis.pdf.part", "w.duckdb.part.wal"]
    for name in mine + theirs:
        (views / name).write_bytes(b"x")
    publish(view, views)
    left = set(contents(views))
    assert left.isdisjoint(mine)
    assert left.issuperset(theirs)
    assert open_view(views, link.token) is not None


def test_the_trail_says_who_did_what_to_which_view(view: SharedView, views: Path) -> None:
    link = publish(view, views, expires=FAR, who="ann@example.org")
    replace(views, link.id, view, who="ben@example.org")
    set_expiry(views, link.id, None, who="cy")
    revoke(views, link.id, who="dora")
    trail = audit(views)
    assert trail["what"].tolist() == ["publish", "replace", "expiry", "revoke"]
    assert trail["who"].tolist() == ["ann@example.org", "ben@example.org", "cy", "dora"]
    assert set(trail["id"]) == {link.id}
    assert trail["when"].tolist() == sorted(trail["when"])
    assert FAR.isoformat(timespec="seconds") in trail["detail"][0]


def test_without_a_name_the_user_of_the_process_is_named(
    view: SharedView, views: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "someone")
    publish(view, views)
    assert audit(views)["who"].tolist() == ["someone"]
    assert list_views(views)[0].published_by == "someone"


def test_hostile_words_stay_one_line_of_the_trail(view: SharedView, views: Path) -> None:
    publish(view, views, who='x"}\n{"when": "1", "who": "forged')
    assert len(audit(views)) == 1
    assert (views / "audit.jsonl").read_bytes().count(b"\n") == 1


def test_a_line_cut_off_by_a_crash_spoils_no_other(view: SharedView, views: Path) -> None:
    publish(view, views)
    with (views / "audit.jsonl").open("ab") as file:
        file.write(b'{"when": "2026-')
    publish(view, views)
    assert audit(views)["what"].tolist() == ["publish", "publish"]


def test_the_trail_has_its_line_before_the_link_opens(
    view: SharedView, views: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, seen = Path.replace, []

    def look(path: Path, target: Path) -> Path:
        if target.suffix == ".json":
            seen.append((audit(views)["what"].tolist(), list_views(views)))
        return real(path, target)

    monkeypatch.setattr(Path, "replace", look)
    publish(view, views)
    assert seen == [(["publish"], ())]


def test_a_line_whose_change_failed_is_withdrawn(
    view: SharedView, views: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(view, views)
    before = contents(views)
    real = Path.replace

    def fail(path: Path, target: Path) -> Path:
        if target.suffix == ".json":
            raise OSError(5, "Input/output error")
        return real(path, target)

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(SharingError, match="nothing has changed"):
        publish(view, views)
    assert contents(views) == before


def test_the_list_has_the_newest_first(view: SharedView, views: Path) -> None:
    made = [publish(view, views).id for _ in range(3)]
    assert [state.id for state in list_views(views)] == made[::-1]


def test_only_an_editor_changes_or_lists_anything(
    view: SharedView, views: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = publish(view, views)
    before = contents(views)
    monkeypatch.setattr(access, "current_role", lambda: "viewer")
    for deed in (
        lambda: publish(view, views),
        lambda: replace(views, link.id, view),
        lambda: revoke(views, link.id),
        lambda: set_expiry(views, link.id, FAR),
        lambda: words_of(views, link.id),
        lambda: list_views(views),
        lambda: audit(views),
    ):
        with pytest.raises(AccessError):
            deed()
    assert contents(views) == before
    assert open_view(views, link.token) is not None


def test_a_folder_that_cannot_be_made_is_one_clear_sentence(view: SharedView, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SharingError, match="cannot be written"):
        publish(view, tmp_path / "file" / "views")


def test_a_new_folder_is_not_for_everybody_on_the_machine(view: SharedView, views: Path) -> None:
    publish(view, views)
    assert views.stat().st_mode & 0o007 == 0


def test_reading_needs_no_right_to_write(view: SharedView, views: Path) -> None:
    link = publish(view, views)
    before = {path.name: (path.stat().st_mtime_ns, path.stat().st_size) for path in views.iterdir()}
    for path in [*views.iterdir(), views]:
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    try:
        assert open_view(views, link.token) is not None
        assert {p.name: (p.stat().st_mtime_ns, p.stat().st_size) for p in views.iterdir()} == before
    finally:
        views.chmod(0o755)
