"""What a program that speaks Streamlit's protocol gets out of a viewer's server: the open view, or one page."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from crubric_core.sharing import Published, publish, revoke
from crubric_core.sharing.state import ViewState, load_state, prepare_state, state_path
from tests.security.conftest import CANARY, Study
from tests.security.servers import ROOT, Server, Talk, folder_hash, rerun, shown, viewer_server

Open = Callable[[], Talk]
PAGES = [*sorted(path.stem for path in (ROOT / "pages").glob("*.py")), "start", "main", "viewer_main"]
SECRETS = [b"Traceback", CANARY.encode(), str(ROOT).encode()]


def page_hash(path: Path) -> str:
    """Streamlit's name for the page of a script."""
    return hashlib.md5(str(path).encode(), usedforsecurity=False).hexdigest()


def leaks(said: bytes) -> list[bytes]:
    return [secret for secret in SECRETS if secret in said]


@pytest.fixture
def closed(talk: Open) -> list[bytes]:
    """The page that says that a link opens nothing, as it is shown without any link."""
    with talk() as reader:
        return shown(reader.run())


def test_an_open_link_shows_its_view(talk: Open, study: Study, unharmed: None) -> None:
    with talk() as reader:
        messages = reader.run(query_string=f"view={study.link.token}")
        assert CANARY.encode() in reader.said()
        assert len(shown(messages)) > 20


def test_a_fresh_server_has_one_page_whatever_its_first_visitor_asks_for(study: Study) -> None:
    log = study.folder.parent / "fresh.log"
    with viewer_server(study.views, log) as server, Talk(server) as first:
        for name in PAGES:
            assert server.request(f"/{name}")[0] == 404
            script = ROOT / "pages" / f"{name}.py"
            first.run(page_name=name, page_script_hash=page_hash(script))
            first.run(page_name=name)
        assert leaks(first.said()) == []
        assert "Traceback" not in log.read_text()


@pytest.mark.parametrize("name", PAGES)
def test_after_a_visit_no_other_page_has_appeared(
    talk: Open, study: Study, closed: list[bytes], name: str, unharmed: None
) -> None:
    folders = (ROOT / "pages", ROOT / "crubric_core" / "ui")
    with talk() as reader:
        reader.run(query_string=f"view={study.link.token}")
    with talk() as reader:
        for folder in folders:
            script = folder / f"{name}.py"
            assert shown(reader.run(page_script_hash=page_hash(script), page_name=name)) == closed
        assert leaks(reader.said()) == []


def near_misses(token: str) -> dict[str, str]:
    """Query strings that are almost the right one."""
    return {
        "truncated": f"view={token[:-1]}",
        "longer": f"view={token}A",
        "case": f"view={token.swapcase()}",
        "one letter": f"view={'A' if token[0] != 'A' else 'B'}{token[1:]}",
        "hash": f"view={hashlib.sha256(token.encode()).hexdigest()}",
        "id": f"view={hashlib.sha256(token.encode()).hexdigest()[:16]}",
        "space": f"view=%20{token}",
        "zero byte": f"view={token}%00",
        "another name": f"token={token}",
        "capitals": f"VIEW={token}",
        "list": f"view[]={token}",
        "double-encoded": f"view={''.join(f'%25{ord(c):02x}' for c in token)}",
        "right, then wrong": f"view={token}&view=wrong",
        "path": "view=../../../../etc/passwd",
        "encoded path": "view=..%2f..%2f..%2fetc%2fpasswd",
        "doubly encoded path": "view=%252e%252e%252fetc%252fpasswd",
        "wildcard": "view=*",
        "quote": "view=' OR 1=1 --",
        "long": f"view={'A' * 30_000}",
        "not text": "view=%ff%fe%00",
        "empty": "view=",
    }


@pytest.mark.parametrize("what", near_misses("A" * 43))
def test_an_altered_link_opens_nothing(
    talk: Open, study: Study, closed: list[bytes], what: str, unharmed: None
) -> None:
    with talk() as reader:
        assert shown(reader.run(query_string=near_misses(study.link.token)[what])) == closed
        assert leaks(reader.said()) == []


Spoil = Callable[[Path, Published], object]


def _flip(views: Path, link: Published) -> None:
    content = bytearray(link.path.read_bytes())
    content[len(content) // 2] ^= 1
    link.path.write_bytes(content)


def _swap(views: Path, link: Published) -> None:
    """Another database in its place, of the same form."""
    other = next(path for path in views.glob("*.duckdb") if path != link.path and path.is_file())
    shutil.copyfile(other, link.path)


def _script(views: Path, link: Published) -> None:
    link.path.write_bytes(b"import os; os.system('touch owned')")


def _elsewhere(views: Path, link: Published) -> None:
    state = load_state(views, link.id)
    assert state is not None
    put(views, replace(state, version="../../x"))  # type: ignore[arg-type]


def put(views: Path, state: ViewState) -> None:
    prepare_state(views, state).replace(state_path(views, state.id))


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


SPOILED: dict[str, Spoil] = {
    "state a pipe": lambda views, link: _pipe(views / f"{link.id}.json"),
    "content a pipe": lambda views, link: _pipe(link.path),
    "state nested too deep": lambda views, link: (views / f"{link.id}.json").write_bytes(b"[" * 500_000),
    "revoked": lambda views, link: revoke(views, link.id),
    "flipped bit": _flip,
    "another view's file": _swap,
    "no database": _script,
    "cut short": lambda views, link: os.truncate(link.path, 1000),
    "file gone": lambda views, link: link.path.unlink(),
    "link out of the folder": lambda views, link: (link.path.unlink(), link.path.symlink_to("/etc/passwd")),
    "state gone": lambda views, link: (views / f"{link.id}.json").unlink(),
    "state no JSON": lambda views, link: (views / f"{link.id}.json").write_bytes(b"\xff{"),
    "state of another form": lambda views, link: (views / f"{link.id}.json").write_text(json.dumps([1])),
    "version out of the folder": _elsewhere,
}


@pytest.mark.parametrize("how", SPOILED)
def test_a_spoiled_view_is_closed_like_a_wrong_link(
    talk: Open, viewer: Server, study: Study, closed: list[bytes], how: str
) -> None:
    link = publish(study.view, study.views)
    SPOILED[how](study.views, link)
    before = folder_hash(study.views)
    with talk() as reader:
        assert shown(reader.run(query_string=f"view={link.token}")) == closed
        assert leaks(reader.said()) == []
    assert folder_hash(study.views) == before
    assert viewer.lives()


def test_an_expired_link_is_closed_like_a_wrong_one(talk: Open, study: Study, closed: list[bytes]) -> None:
    link = publish(study.view, study.views)
    state = load_state(study.views, link.id)
    assert state is not None
    put(study.views, replace(state, expires_at=datetime.now(UTC) - timedelta(seconds=1)))
    with talk() as reader:
        assert shown(reader.run(query_string=f"view={link.token}")) == closed


def test_a_withdrawn_view_is_gone_from_its_downloads_too(talk: Open, viewer: Server, study: Study) -> None:
    link = publish(study.view, study.views)
    with talk() as reader:
        messages = reader.run(query_string=f"view={link.token}")
        button = next(
            m.delta.new_element.download_button
            for m in messages
            if m.delta.new_element.WhichOneof("type") == "download_button"
        )
        wanted = BackMsg()
        wanted.backend_operation_request.session_id = messages[0].new_session.initialize.session_id
        wanted.backend_operation_request.deferred_file.file_id = button.deferred_file_id
        reader.send(wanted)
        answer = reader.next("backend_operation_response").backend_operation_response
        url = answer.deferred_file.url
        assert CANARY.encode() in viewer.request(url)[1]
        revoke(study.views, link.id)
        reader.run(query_string=f"view={link.token}")
        assert viewer.request(url)[0] == 404
        reader.send(wanted)
        late = reader.next("backend_operation_response").backend_operation_response
        assert late.deferred_file.url == ""


def odd_messages() -> Iterator[bytes | str | BackMsg]:
    """What no browser sends to a viewer."""
    yield from (BackMsg(clear_cache=True), BackMsg(set_run_on_save=True), BackMsg(load_git_info=True))
    yield from (BackMsg(debug_shutdown_runtime=True), BackMsg(debug_disconnect_websocket=True))
    files = BackMsg()
    files.file_urls_request.request_id = "r"
    files.file_urls_request.file_names.extend(["../../etc/passwd", "labels.csv"])
    yield files
    deferred = BackMsg()
    deferred.backend_operation_request.request_id = "d"
    deferred.backend_operation_request.deferred_file.file_id = "../../app.py"
    yield deferred
    install = BackMsg()
    install.backend_operation_request.install_skills.SetInParent()
    yield install
    yield from (b"", b"\xff" * 100, b"\0" * (1 << 20), "text", os.urandom(200))
    yield rerun(fragment_id="no such fragment", is_auto_rerun=True)
    states = rerun(query_string="view=")
    for widget in ("$$ID-0-upload", "dataset", "../x", "$$STREAMLIT_INTERNAL_KEY"):
        state = states.rerun_script.widget_states.widgets.add()
        state.id, state.trigger_value = widget, True
    yield states


def test_odd_messages_change_nothing(
    talk: Open, viewer: Server, study: Study, closed: list[bytes], unharmed: None
) -> None:
    with talk() as reader:
        for message in odd_messages():
            reader.send(message)
        while shown(reader.run()) != closed:  # runs that the odd messages asked for may end first
            pass
        assert leaks(reader.said()) == []
        assert b"upload_file" not in reader.said()
    with talk() as reader:
        reader.run(query_string=f"view={study.link.token}")
        assert CANARY.encode() in reader.said()


def test_no_file_gets_in(talk: Open, viewer: Server, unharmed: None) -> None:
    """Not by any method, with a live session and a good token against forgery."""
    body = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\n1\r\n--x--\r\n'
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    with talk() as reader:
        session = reader.run()[0].new_session.initialize.session_id
        for path in (f"/_stcore/upload_file/{session}/1", "/_stcore/upload_file", "/", "/upload", "/media/a"):
            for method in ("PUT", "POST", "PATCH", "DELETE", "OPTIONS"):
                assert viewer.request(path, method, kind, body)[0] == 404


TRAVERSALS = [
    "/../../../../etc/passwd",
    "/static/../../../../etc/passwd",
    "/static/..%2f..%2f..%2f..%2fetc%2fpasswd",
    "/static/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "/static/%252e%252e%252f%252e%252e%252fetc%252fpasswd",
    "/static/..%5c..%5c..%5cetc%5cpasswd",
    "/static//etc/passwd",
    "/media/../app.py",
    "/media/..%2f..%2fapp.py",
    "/media/%2fetc%2fpasswd",
    "/app/static/app.py",
    "/component/../../app.py",
    "/_stcore/bidi-components/x/../../app.py",
    "/%5fstcore/metrics",
    "//_stcore/metrics",
    "/_stcore/./metrics",
    "/static/../_stcore/metrics",
    "/_stcore/agent/openapi.json",
    "/auth/login?provider=x",
    "/oauth2callback?state=x&code=y",
    "/.streamlit/config.toml",
    "/app.py",
    "/data/demo.duckdb",
]


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_path_leads_out(viewer: Server, path: str, unharmed: None) -> None:
    status, body = viewer.request(path)
    assert status in {400, 404}
    assert len(body) < 100


def test_a_guesser_waits_and_a_reader_does_not(
    viewer: Server, study: Study, addresses: Iterator[str]
) -> None:
    """An unknown right link from an address that guessed is not looked up at once; from another it is."""
    link, guesser, reader = publish(study.view, study.views), next(addresses), next(addresses)
    for n in range(30):
        with Talk(viewer, guesser) as attempt:
            attempt.run(query_string=f"view={n:043d}")
    for address, seen in ((guesser, False), (reader, True), (guesser, True)):
        with Talk(viewer, address) as attempt:
            attempt.run(query_string=f"view={link.token}")
            assert (CANARY.encode() in attempt.said()) is seen


def test_a_client_does_not_choose_its_address_where_no_proxy_is_trusted(study: Study) -> None:
    link = publish(study.view, study.views)
    with viewer_server(study.views, study.folder.parent / "direct.log") as server:
        for n in range(30):
            with Talk(server, f"203.0.113.{n}") as attempt:
                attempt.run(query_string=f"view={n:043d}")
        with Talk(server, "203.0.113.99") as attempt:
            attempt.run(query_string=f"view={link.token}")
            assert leaks(attempt.said()) == []
        with Talk(server) as reader:
            reader.run(query_string=f"view={link.token}")
            assert CANARY.encode() in reader.said()


def test_a_hundred_readers_at_once_are_all_served(talk: Open, study: Study, unharmed: None) -> None:
    def read(reader: Talk) -> bool:
        with reader:
            reader.run(query_string=f"view={study.link.token}")
            return CANARY.encode() in reader.said()

    with ThreadPoolExecutor(100) as pool:
        assert list(pool.map(read, [talk() for _ in range(100)])) == [True] * 100


def test_the_viewer_never_opens_the_workspace(viewer: Server, study: Study) -> None:
    """Its files are those of the views folder, open no longer than a view is read."""
    opened = [fd.readlink() for fd in Path(f"/proc/{viewer.process.pid}/fd").iterdir() if fd.exists()]
    assert not [path for path in opened if path.suffix in {".duckdb", ".wal"}]
