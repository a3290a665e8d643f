"""A hundred hostile workbooks, archives and patterns, read within a running server, which goes on answering."""

from __future__ import annotations

import time
from pathlib import Path

from tests.labels.readers.test_hostile import ARCHIVES, BOOKS, PATTERNS, archive
from tests.security.servers import Server, editor_server

COUNT = 100
PATIENCE = 400.0  # seconds for all files; each takes a fraction of one on an idle machine
LONGEST = 1.0  # seconds within which a server answers
# Runs in the server's own process, as the script of a page would, before Streamlit begins.
READER = """
import os, threading, time

def read(folder):
    while not os.path.exists(os.path.join(folder, "start")):
        time.sleep(0.02)
    from crubric_core.errors import IngestError
    from crubric_core.labels.readers.bundle import plan_ingest
    files = os.path.join(folder, "files")
    for name in sorted(os.listdir(files)):
        path, pattern = os.path.join(files, name), None
        if name.endswith(".pattern"):
            pattern, path = open(path).read(), [("a" * 3000 + ".csv", b"query,rubric,label\\nq,r,1\\n")]
        try:
            plan_ingest(path, pattern=pattern)
            said = "read"
        except IngestError as error:
            said = str(error)
        with open(os.path.join(folder, "said"), "a") as out:
            out.write(name + "\\t" + said.replace("\\n", "|") + "\\n")

folder = os.environ.pop("HOSTILE_FILES", None)
if folder:
    threading.Thread(target=read, args=(folder,), daemon=True).start()
"""


def lay_out(folder: Path) -> int:
    """Workbooks, archives and patterns as files, then damaged copies of them up to a hundred; how many there are."""
    folder.mkdir()
    found = {f"{i} {name}.xlsx": content for i, (name, content) in enumerate(BOOKS.items())}
    found |= {f"{i} {name}": archive(name) for i, name in enumerate(ARCHIVES)}
    found |= {f"{i}.pattern": pattern.encode() for i, pattern in enumerate(PATTERNS)}
    whole = [(name, content) for name, content in found.items() if not name.endswith(".pattern")]
    while len(found) < COUNT:
        name, content = whole[len(found) % len(whole)]
        damaged = bytearray(content[: len(content) - 7])
        damaged[len(damaged) // 2] ^= 0x55
        found[f"damaged {len(found)} {name}"] = bytes(damaged)
    for name, content in found.items():
        (folder / name).write_bytes(content)
    return len(found)


def answered_within(server: Server, until: Path, count: int) -> tuple[float, int]:
    """(longest time that /healthz took, how often it was asked) until ``count`` lines stand in a file."""
    longest, asked, deadline = 0.0, 0, time.monotonic() + PATIENCE
    while len(until.read_text().splitlines()) < count and time.monotonic() < deadline:
        begun = time.monotonic()
        assert server.lives()
        longest, asked = max(longest, time.monotonic() - begun), asked + 1
        time.sleep(0.02)
    return longest, asked


def test_a_server_answers_within_a_second_while_it_reads_a_hundred_hostile_files(tmp_path: Path) -> None:
    """The bound is the claim itself (no server freezes), not a speed of this program."""
    modules, said = tmp_path / "modules", tmp_path / "said"
    modules.mkdir()
    (modules / "sitecustomize.py").write_text(READER)
    count = lay_out(tmp_path / "files")
    said.touch()
    environment = {"PYTHONPATH": str(modules), "HOSTILE_FILES": str(tmp_path)}
    with editor_server(tmp_path / "w.duckdb", tmp_path / "views", tmp_path / "log", **environment) as server:
        (tmp_path / "start").touch()
        longest, asked = answered_within(server, said, count)
    told = dict(line.split("\t", 1) for line in said.read_text().splitlines())
    assert len(told) == count >= COUNT
    assert asked > count / 10
    assert longest < LONGEST
    sentences = [sentence for sentence in told.values() if sentence != "read"]
    assert len(sentences) > count / 2
    assert all("|" not in sentence and "Traceback" not in sentence for sentence in sentences)
