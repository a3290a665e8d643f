"""How long a person waits: slider to last chart, page to page, first paint, and what a page weighs.

    python -m benchmarks.latency [--size demo 400x5000] [--repeats 5] [--folder DIR] [--page docs/performance.md]
    python -m benchmarks.latency --size 1000x30000 --sliders --no-start    # visits alone

Every wait at a slider is measured between two of a bare Streamlit page with one Plotly chart, in one browser and one
run, and told as the ratio of the medians: read ratios, not milliseconds. Each step sets a value that nobody has seen
before; one that takes longer than --patience in all is repeated no more. A workspace is made once in the folder and
then kept. --page writes the tables into that page, where those of other sizes stay, with the machine's state and what
follows.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks.latency_browser import (
    QUIET,
    Sliders,
    Visit,
    chromium,
    first_paint,
    paints,
    serve,
    serve_bare,
    switch,
)
from benchmarks.latency_page import SIZES_ASKED, Waits, tables, written
from benchmarks.latency_tables import workspace

TAU, SIZE = "Gate threshold", "Bank size"
STEPS = {
    ("Measurability", "tau_c"): ("measurability?gate=kappa&tau_c=0.6", TAU),
    ("Items", "B"): ("items?budget=150", SIZE),
    ("Bank", "B"): ("bank?budget=300", SIZE),
    ("Bank", "tau_c"): ("bank?gate=kappa&tau_c=0.5", TAU),
    ("Leaderboard", "B"): ("leaderboard?budget=150", SIZE),
    ("Leaderboard", "tau_c"): ("leaderboard?gate=kappa&tau_c=0.4", TAU),
    ("Leaderboard, bank as if new", "B"): ("leaderboard?basis=bank", SIZE),
    ("Leaderboard, bank as if new", "tau_c"): ("leaderboard?basis=bank&gate=kappa&tau_c=0.3", TAU),
}
"""(page, setting) → the address to begin at, with a different threshold for each, and the slider that is moved."""
PAGES = {
    "": "Overview",
    "measurability": "Measurability",
    "items": "Items",
    "bank": "Bank",
    "leaderboard": "Leaderboard",
    "publish": "Publish",
    "new_system": "New system",
    "scenarios": "Scenarios",
}


def chosen_steps(names: list[str]) -> list[tuple[str, str]]:
    """The steps of the named pages ("Items") or single sliders ("Bank tau_c")."""
    return [step for step in STEPS if step[0] in names or " ".join(step) in names]


def steps(
    browser: Browser, ours: str, bare: str, repeats: int, sliders: list[tuple[str, str]], patience: float
) -> tuple[float, dict[tuple[str, str], tuple[float, ...]]]:
    """Median ms of a step on the bare page, and the ms of each slider's steps; the two pages take turns.

    patience: a slider is not moved again once its steps took so many seconds together.
    """
    found: dict[tuple[str, str], tuple[float, ...]] = {}
    floor: list[float] = []
    if not sliders:
        return float("nan"), found
    with Sliders(browser, bare) as plain:
        plain.step("n", "ArrowRight")
        for page, setting in sliders:
            address, slider = STEPS[page, setting]
            with Sliders(browser, f"{ours}/{address}&dataset=study") as shown:
                shown.step(slider, "ArrowLeft")  # the first step leaves the default
                waits = []
                for _ in range(repeats):
                    floor.append(plain.step("n", "ArrowRight"))
                    waits.append(shown.step(slider, "ArrowLeft"))
                    if sum(waits) > 1e3 * patience:
                        break
            found[page, setting] = tuple(waits)
            print(f"  {page} {setting}: {statistics.median(waits):,.0f} ms", flush=True)
    return statistics.median(floor), found


def first_page(path: Path) -> float:
    """Seconds from the command to the first page of a fresh server."""
    with _browser() as browser:
        started = time.perf_counter()
        with serve(path) as ours:
            first_paint(browser, f"{ours}/?dataset=study")
            return time.perf_counter() - started - QUIET / 1e3


def later(browser: Browser, address: str, times: int) -> tuple[Visit, Visit]:
    """The quickest of several visits by new browsers, and by a browser that has visited the page before."""
    return best([first_paint(browser, address) for _ in range(times)]), best(
        paints(browser, address, times + 1)[1:]
    )


def measure(
    path: Path,
    repeats: int,
    sliders: list[tuple[str, str]],
    patience: float,
    visits: list[str],
    *,
    start: bool,
) -> Waits:
    """Measure everything at one size: first paints on a fresh server, then switches of pages and steps of sliders."""
    visited = {page: title for page, title in PAGES.items() if title in visits}
    before = os.getloadavg()[0]
    started = first_page(path) if start else float("nan")
    with _browser() as browser, serve(path) as ours, serve_bare() as bare:
        seen, times = {}, min(repeats, 3)
        plain = later(browser, bare, times)
        print(f"  bare: {plain}", flush=True)
        for page in sorted(visited, key="leaderboard".__ne__):
            address = f"{ours}/{page}?dataset=study"
            seen[page] = (first_paint(browser, address), *later(browser, address, times))
            print(f"  {page or 'overview'}: {seen[page]}", flush=True)
        titles = ["Overview", *(title for page, title in visited.items() if page)]
        switches = switch(browser, f"{ours}/?dataset=study", titles, repeats) if "" in visited else {}
        floor, found = steps(browser, ours, bare, repeats, sliders, patience)
    after = os.getloadavg()[0]
    machine = f"{os.cpu_count()} cores, load {before:.1f} before and {after:.1f} after"
    return Waits(
        machine,
        started,
        floor,
        plain,
        found,
        {PAGES[page]: found for page, found in seen.items()},
        switches,
    )


def best(visits: list[Visit]) -> Visit:
    """The quickest visit: other work on the machine only makes visits longer."""
    return min(visits, key=lambda visit: visit.milliseconds)


@contextmanager
def _browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        yield browser
        browser.close()


def main() -> None:
    """Measure, print the tables, and write the page if one is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", nargs="+", default=list(SIZES_ASKED), help="demo, or systems x rubrics")
    parser.add_argument("--repeats", type=int, default=5)
    pages = list(dict.fromkeys(page for page, _ in STEPS))
    named = [*pages, *map(" ".join, STEPS)]
    parser.add_argument(
        "--sliders", nargs="*", default=pages, choices=named, metavar="SLIDER", help=f"of {', '.join(named)}"
    )
    parser.add_argument(
        "--no-start", dest="start", action="store_false", help="no further server for the first page"
    )
    parser.add_argument("--visits", nargs="+", default=list(PAGES.values()), help="pages that are visited")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds for all repeats of one slider")
    parser.add_argument("--folder", type=Path, help="where workspaces are kept; a temporary one by default")
    parser.add_argument("--page", type=Path, help="the page whose tables are replaced")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        found = {}
        for size in chosen.size:
            print(size, flush=True)
            path = workspace(chosen.folder or Path(temporary), size)
            found[size] = measure(
                path,
                chosen.repeats,
                chosen_steps(chosen.sliders),
                chosen.patience,
                chosen.visits,
                start=chosen.start,
            )
    said = {size: tables(size, waits) for size, waits in found.items()}
    print("\n\n".join(said.values()))
    if chosen.page:
        chosen.page.write_text(written(chosen.page.read_text(), said))


if __name__ == "__main__":
    main()
