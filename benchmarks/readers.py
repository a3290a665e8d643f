"""Many readers at once: first paint of a shared view beside a bare Streamlit page, in one run.

``python -m benchmarks.readers``: 100 readers open the same link at the same moment, each with a WebSocket that speaks
Streamlit's protocol up to the last element of the page; a few real Chromium pages beside them. The bare page is one
``st.write`` under ``streamlit run``.

``python -m benchmarks.readers --size 1000x30000 --readers 8``: a view of a simulated table of that size with every
part, served by ``crubric viewer`` to so many readers in Chromium: what the process takes in memory, and first paints.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import numpy as np
from playwright.sync_api import sync_playwright
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

from benchmarks.latency_browser import Visit, chromium, paints, paints_at_once, serve_bare
from benchmarks.latency_tables import DATASET
from benchmarks.latency_tables import workspace as workspace_of
from crubric_core import Settings, Workspace, run_pipeline
from crubric_core.demo import write_demo
from crubric_core.sharing import Choices, build_view, publish

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 120.0
READY = '[data-testid="stApp"][data-test-script-state="notRunning"]'


def free_port() -> int:
    """A free port."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True)
class Page:
    """A server under test. elements: least number of elements of its page; a page with fewer is an error."""

    name: str
    port: int
    query: str
    elements: int


@contextmanager
def server(arguments: list[str], folder: Path, **environment: str) -> Iterator[int]:
    """Run ``streamlit run`` on a free port, and yield the port once it answers."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", *arguments]
    options = ["--server.headless", "true", "--server.address", "localhost", "--server.port", str(port)]
    with running(command + options, port, folder, **environment):
        yield port


@contextmanager
def running(command: list[str], port: int, folder: Path, **environment: str) -> Iterator[int]:
    """Run a server in its own process, and yield the process id as soon as it answers, or after about a minute."""
    with (folder / f"{port}.log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **environment}, stdout=log, stderr=log
        )
    try:
        for _ in range(600):
            try:
                with urlopen(f"http://localhost:{port}/_stcore/health", timeout=5):
                    break
            except OSError:
                time.sleep(0.1)
        yield process.pid
    finally:
        process.terminate()
        process.wait(timeout=20)


async def reader(page: Page, start: asyncio.Event) -> float:
    """Seconds from opening the socket to the last element of the page."""
    message = BackMsg()
    message.rerun_script.query_string = page.query
    await start.wait()
    begun, elements = time.perf_counter(), 0
    async with connect(
        f"ws://localhost:{page.port}/_stcore/stream", max_size=None, open_timeout=PATIENCE
    ) as opened:
        await opened.send(message.SerializeToString())
        while True:
            heard = ForwardMsg.FromString(await asyncio.wait_for(opened.recv(), PATIENCE))
            elements += heard.WhichOneof("type") == "delta"
            if heard.WhichOneof("type") == "script_finished":
                break
        seconds = time.perf_counter() - begun
        if elements < page.elements:
            raise RuntimeError(f"{page.name}: {elements} elements are not the page")
        await asyncio.sleep(0)
        return seconds


async def all_at_once(page: Page, readers: int) -> np.ndarray:
    """(readers,) seconds to the last element for readers who start at the same moment; NaN if one was not served."""
    start = asyncio.Event()
    tasks = [asyncio.create_task(reader(page, start)) for _ in range(readers)]
    await asyncio.sleep(0.1)
    start.set()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    return np.array([np.nan if isinstance(one, BaseException) else one for one in done])


def in_chromium(page: Page, visible: str, times: int) -> np.ndarray:
    """(times,) seconds until ``visible`` is shown in Chromium, which has visited the page before."""
    path = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        context, seconds = browser.new_context(viewport={"width": 1400, "height": 900}), []
        for _ in range(times + 1):
            window = context.new_page()
            begun = time.perf_counter()
            window.goto(f"http://localhost:{page.port}/?{page.query}")
            window.wait_for_selector(visible, timeout=60_000)
            seconds.append(time.perf_counter() - begun)
            window.wait_for_selector(READY)
            window.close()
        browser.close()
    return np.array(seconds[1:])


def published(folder: Path) -> str:
    """Publish a view of the demo study, and return the secret of its link."""
    with Workspace() as workspace:
        write_demo(workspace)
        return shared(workspace, "demo", folder)


def shared(workspace: Workspace, dataset: str, folder: Path) -> str:
    """Publish a view of a dataset, with the texts of its rubrics, and return the secret of its link."""
    result = run_pipeline(workspace.dataset(dataset), Settings())
    return publish(build_view(result, Choices(title="Readers", texts=True)), folder).token


def large(size: str, readers: int, kept: Path) -> None:
    """Print memory of the server and first paints for a view of a large table.

    kept: folder of the workspace and the view, which are made if it lacks them.
    """
    views, secret = kept / f"views-{size}", kept / f"secret-{size}"
    if not secret.exists():
        with tempfile.TemporaryDirectory() as name:
            copy = shutil.copy(workspace_of(kept, size), name)
            with Workspace(copy) as workspace:
                secret.write_text(shared(workspace, DATASET, views))
    token, port = secret.read_text(), free_port()
    command = [sys.executable, "-m", "crubric_core", "viewer", "--port", str(port), "--views", str(views)]
    with running(command, port, kept) as process:
        print(f"load {os.getloadavg()[0]:.1f}; no reader yet: {memory(process)}", flush=True)
        in_browsers(f"http://localhost:{port}/?view={token}", readers, process)
        page = Page("view", port, f"view={token}", 30)  # asyncio has no loop beside Playwright's
        for _ in range(2):
            waits = ", ".join(f"{wait:.2f}" for wait in asyncio.run(all_at_once(page, readers)))
            print(f"{readers} at once that draw nothing: {waits} s; {memory(process)}", flush=True)
    print(f"load {os.getloadavg()[0]:.1f}")


def in_browsers(address: str, readers: int, process: int) -> None:
    """Print first paints in Chromium: of the bare page, of one reader at a time, and of all readers at once."""
    with sync_playwright() as playwright, serve_bare() as bare:
        browser = chromium(playwright)
        print(f"bare page, nothing kept, then kept: {seconds(paints(browser, bare, 4))}", flush=True)
        print(f"first visit of all, then kept: {seconds(paints(browser, address, 4))}", flush=True)
        print(f"nothing kept: {seconds([paints(browser, address, 1)[0] for _ in range(3)])}", flush=True)
        print(f"one reader at a time: {memory(process)}", flush=True)
        for _ in range(2):
            found = seconds(paints_at_once(browser, address, readers))
            print(f"{readers} at once: {found}; {memory(process)}", flush=True)
        browser.close()


def seconds(visits: list[Visit]) -> str:
    """Words for some visits: seconds to the last change of a chart, and the most kB over the WebSocket."""
    times = ", ".join(f"{visit.milliseconds / 1e3:.2f}" for visit in visits)
    return f"{times} s, {max(visit.bytes for visit in visits) / 1e3:,.0f} kB"


def memory(process: int) -> str:
    """Resident memory of a process now and at its highest, in MB (10⁶ bytes)."""
    status = Path(f"/proc/{process}/status").read_text()
    now, most = (int(re.findall(rf"{name}:\s+(\d+) kB", status)[0]) * 1.024e-3 for name in ("VmRSS", "VmHWM"))
    return f"{now:,.0f} MB, at most {most:,.0f} MB"


def main() -> None:
    """Print the table of docs/benchmarks.md, or the figures of docs/scaling.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pages", type=int, default=5, help="pages opened in Chromium, 0 for none")
    parser.add_argument("--size", help="systems x rubrics: a large view and its readers in Chromium instead")
    parser.add_argument("--folder", type=Path, help="where the large table and its view are kept")
    args = parser.parse_args()
    if args.size:
        with tempfile.TemporaryDirectory() as name:
            large(args.size, args.readers, args.folder or Path(name))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        token, bare = published(folder / "views"), folder / "bare.py"
        bare.write_text("import streamlit as st\nst.write('Hello')\n")
        role = {"CRUBRIC_ROLE": "viewer", "CRUBRIC_VIEWS": str(folder / "views")}
        lean = [str(bare), "--runner.postScriptGC", "false"]  # as the viewer's own setting
        with (
            server(["app.py"], folder, **role) as view,
            server([str(bare)], folder) as plain,
            server(lean, folder) as spared,
        ):
            pages = [
                Page("bare page", plain, "", 1),
                Page("bare page, no collection after each run", spared, "", 1),
                Page("shared view", view, f"view={token}", 30),
            ]
            print(
                "| page | readers | served | median | p95 | slowest |\n| --- | --- | --- | --- | --- | --- |"
            )
            p95 = [many(page, args.readers, args.rounds) for page in pages]
            ratios = " and ".join(f"{p95[2] / other:.2f}" for other in p95[:2])
            print(f"\np95 of the shared view: {ratios} times that of the bare pages.")
            for page, visible in ((pages[1], "text=Hello"), (pages[2], "h1"), (pages[2], ".main-svg")):
                if args.pages:
                    median = np.median(in_chromium(page, visible, args.pages))
                    print(f"{page.name} in Chromium, one at a time, up to {visible}: median {median:.2f} s")


def many(page: Page, readers: int, rounds: int) -> float:
    """Print one row of the table, and return its 95th percentile in seconds."""
    asyncio.run(all_at_once(page, 2))  # a warm-up: the first visit imports modules and reads files
    seconds = np.concatenate([asyncio.run(all_at_once(page, readers)) for _ in range(rounds)])
    served = np.isfinite(seconds)
    median, p95 = np.nanmedian(seconds), float(np.nanpercentile(seconds, 95))
    print(
        f"| {page.name} | {readers} at once, {rounds} rounds | {served.sum()} of {len(seconds)} | "
        f"{median:.2f} s | {p95:.2f} s | {np.nanmax(seconds):.2f} s |",
        flush=True,
    )
    return p95


if __name__ == "__main__":
    main()
