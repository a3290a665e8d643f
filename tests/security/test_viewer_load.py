"""A view of a thousand systems, read by eight at once: each is sent little, and the server keeps little of it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from crubric_core.server.logs import BURST
from crubric_core.sharing import publish
from crubric_core.sharing.budget import PAGE
from tests.security.servers import Server, Talk, rerun, viewer_server
from tests.sharing.large import large_view

READERS, EACH = 8, 16  # MB that the server may grow by with each reader


def resident(server: Server) -> float:
    """MB of memory of the server's process."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    folder = tmp_path_factory.mktemp("large")
    link = publish(large_view(1_000), folder / "views")
    with viewer_server(folder / "views", folder / "log", FORWARDED_ALLOW_IPS="127.0.0.1,::1") as server:
        yield server, link.token


def test_eight_readers_at_once_are_sent_the_budget_at_most_and_leave_little_behind(
    large: tuple[Server, str],
) -> None:
    server, token = large
    with Talk(server, "198.51.100.1") as first:
        first.run(query_string=f"view={token}")
    before = resident(server)
    with ExitStack() as opened, ThreadPoolExecutor(READERS) as pool:
        readers = [opened.enter_context(Talk(server, f"198.51.101.{n}")) for n in range(READERS)]
        for ended in [pool.submit(reader.run, query_string=f"view={token}") for reader in readers]:
            assert ended.result()[-1].WhichOneof("type") == "script_finished"
        for reader in readers:
            assert b"system 00000 of a vendor" in reader.said()
            assert len(reader.said()) < PAGE
        assert resident(server) - before < READERS * EACH
    assert "Traceback" not in server.log.read_text()


def spoiled(token: str) -> list[BackMsg]:
    """Messages that make Streamlit or a page fail, each of which would write to the log."""
    state, request = rerun(query_string=f"view={token}"), BackMsg()
    widget = state.rerun_script.widget_states.widgets.add()
    widget.id, widget.string_value = "shared one", "x"
    request.backend_operation_request.deferred_file.file_id = "x"
    return [state, request, rerun(fragment_id="x")]


def test_a_reader_cannot_fill_the_log(large: tuple[Server, str]) -> None:
    server, token = large
    before = len(server.log.read_text().splitlines())
    with Talk(server, "198.51.102.1") as reader:
        for message in spoiled(token) * 20:
            reader.send(message)
            if not message.rerun_script.fragment_id and message.WhichOneof("type") == "rerun_script":
                reader.until_finished()
    lines = server.log.read_text().splitlines()[before:]
    assert any("Unexpected error in a page [" in line for line in lines), "there was something to say"
    assert len(lines) <= 4 * BURST
    assert not any("Traceback" in line for line in lines)
    assert server.lives()
