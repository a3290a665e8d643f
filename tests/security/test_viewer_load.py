"""A view of a thousand systems, read by eight at once: each is sent little, and the server keeps little of it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from crubric_core.sharing import publish
from crubric_core.sharing.budget import PAGE
from tests.security.servers import Server, Talk, viewer_server
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
