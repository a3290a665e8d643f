"""What the script of each page costs and sends, without a browser: CPU seconds do not depend on how busy a machine is.

    python -m benchmarks.page_scripts [--size demo 400x5000] [--pages overview publish] [--folder DIR]

Pages are opened in the order of the table by one process, as by the first visitor of a fresh server: "first" computes
what no page before it did, "again" is the same page when all is computed. kB: what the page sends over the WebSocket.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.testing.v1 import AppTest

from benchmarks.latency_page import NAMES, SIZES_ASKED
from benchmarks.latency_tables import DATASET, workspace
from crubric_core.environment import PACKAGE
from crubric_core.ui.loaders import PAGES

ORDER = ("overview", "leaderboard", "measurability", "items", "bank", "publish")


def messages(node: Any) -> Iterator[Any]:
    """The protobuf message of every element of a page."""
    for child in node.children.values():
        if hasattr(child, "children"):
            yield from messages(child)
        elif hasattr(getattr(child, "proto", None), "ByteSize"):
            yield child.proto


def cost(page: str) -> tuple[float, float, int]:
    """CPU seconds of a page's first run and of the next, and bytes of the elements that it sends."""
    app = AppTest.from_file(str(PACKAGE / "ui" / "main.py"), default_timeout=3600)
    app.query_params["dataset"] = DATASET
    app.switch_page(str(PAGES / f"{page}.py"))
    spent = []
    for _ in range(2):
        started = time.process_time()
        app.run()
        spent.append(time.process_time() - started)
    if page == "publish":
        started, since = time.process_time(), time.perf_counter()
        app.button(key="publish this").click().run()
        used, took = time.process_time() - started, time.perf_counter() - since
        print(f"(publishing: {used:.2f} CPU s, {took:.2f} s)", flush=True)
    if app.error or app.exception:
        raise RuntimeError(app.error or app.exception)
    return spent[0], spent[1], sum(message.ByteSize() for message in messages(app._tree))


def main() -> None:
    """Print a table for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", nargs="+", default=list(SIZES_ASKED), help="demo, or systems x rubrics")
    parser.add_argument("--pages", nargs="+", default=list(ORDER), choices=ORDER, help="in this order")
    parser.add_argument("--folder", type=Path, help="where workspaces are kept; a temporary one by default")
    chosen = parser.parse_args()
    for size in chosen.size:
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copy(workspace(chosen.folder or Path(folder), size), Path(folder) / "copy.duckdb")
            os.environ |= {"CRUBRIC_WORKSPACE": str(copy), "CRUBRIC_VIEWS": str(Path(folder) / "views")}
            st.cache_resource.clear()
            print(
                f"\n{NAMES.get(size, size)}\n\n| page | first, CPU s | again, CPU s | kB |\n| --- | --- | --- | --- |"
            )
            for page in chosen.pages:
                first, again, size_sent = cost(page)
                print(f"| {page} | {first:.1f} | {again:.2f} | {size_sent / 1e3:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
