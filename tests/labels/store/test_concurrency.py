"""Two sessions that ingest, take back and read at once: no error, and no count between two states."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from crubric_core.labels import Workspace
from tests.tiers import at_most

RUBRICS, JUDGES = 40, 2


def block(system: str) -> bytes:
    rows = (f"{system},q{r % 3},r{r},j{k},{(r + k) % 2}" for r in range(RUBRICS) for k in range(JUDGES))
    return "\n".join(["system,query,rubric,judge,label", *rows]).encode()


def test_two_sessions_that_write_and_read_one_dataset_see_whole_ingests_alone(tmp_path):
    rounds, stopped = at_most(2, 12), threading.Event()
    with Workspace(tmp_path / "study.duckdb") as ws:
        ws.ingest(block("s"), "d")
        fingerprint = ws.dataset("d").fingerprint

        def write(session: int) -> None:
            for i in range(rounds):
                report = ws.ingest(block(f"s{session}-{i}"), "d")
                assert (report.accepted, report.rejected) == (RUBRICS * JUDGES, 0)
                assert report.changes.systems == 1
                ws.preview(block(f"never{session}"), "d")

        def read() -> int:
            most = 0
            while not stopped.is_set():
                counts = ws.dataset("d").counts()
                assert counts["labels"] == counts["systems"] * RUBRICS * JUDGES
                found = ws.dataset("d").reduce()
                assert found.n_labels == len(found.systems) * RUBRICS * JUDGES
                assert len(found.systems) >= most
                most = len(found.systems)
                assert not any("never" in system for system in found.systems)
            return most

        with ThreadPoolExecutor(4) as pool:
            readers = [pool.submit(read) for _ in range(2)]
            try:
                for writer in [pool.submit(write, session) for session in range(2)]:
                    writer.result()
            finally:
                stopped.set()
            assert all(reader.result() <= 1 + 2 * rounds for reader in readers)
        assert len(ws.dataset("d").systems) == 1 + 2 * rounds
        for _ in range(2 * rounds):
            ws.undo("d")
        assert ws.dataset("d").fingerprint == fingerprint
