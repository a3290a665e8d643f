"""The tables of docs/performance.md, made from the measured times."""

from __future__ import annotations

import math
import re
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.tables import END, START

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.latency_browser import Visit

SIZES_ASKED = {"demo": 3.0, "400x5000": 5.0}
"""Size → the most that a step of a slider may take, as a multiple of the bare page's."""
NAMES = {"demo": "15 × 4,094 (the demo study)", "400x5000": "400 × 5,000", "1000x30000": "1,000 × 30,000"}
START_ASKED, PAINT_ASKED, BYTES_ASKED = 5.0, {"400x5000": 1.5}, 1_000_000
"""Limits: seconds from the command to the first page, of the leaderboard's first paint by size; bytes of a page."""
LATER_ASKED = {"1000x30000": 3.0}
"""Limits by size: seconds of any page once its results are computed."""
BYTES_ASKED_OF = {"1000x30000": 2_000_000}


@dataclass(frozen=True)
class Waits:
    """Measured times at one size, in ms unless stated otherwise.

    machine: its cores, and its load before and after. start: seconds from the command to the first page of a fresh
    server. bare: median step on the bare page. bare_paints: the quickest visit of the bare page by new browsers, and by
    one that has visited before. ours: (page, setting) → each step. paints: page → first visit of a fresh server, the
    quickest later visit by new browsers, and by one that has visited before. switches: page → median of a click in the
    navigation. start and bare are NaN if they were not measured.
    """

    machine: str
    start: float
    bare: float
    bare_paints: tuple[Visit, Visit]
    ours: dict[tuple[str, str], tuple[float, ...]]
    paints: dict[str, tuple[Visit, Visit, Visit]]
    switches: dict[str, float]


def tables(size: str, waits: Waits) -> str:
    """One size as Markdown: the machine, the sliders, the pages, and which lines are met."""
    asked = SIZES_ASKED.get(size)
    lines = [
        f"### {NAMES.get(size, size)}",
        "",
        f"{waits.machine[0].upper()}{waits.machine[1:]}.{_start(waits)}",
        "",
        *_steps(asked, waits),
        "| page | first visit of a fresh server, s | a later one, s | its browser has visited before, s "
        "| kB over the WebSocket | from another page, s |",
        "| --- | --- | --- | --- | --- | --- |",
        *(
            f"| {page} | {cold.milliseconds / 1e3:.1f} | {_paints(warm, kept)} "
            f"| {_seconds(waits.switches.get(page))} |"
            for page, (cold, warm, kept) in waits.paints.items()
        ),
        f"| the bare page | — | {_paints(*waits.bare_paints)} | — |",
        "",
        " ".join(conclusions(size, waits)),
    ]
    return "\n".join(lines)


def _start(waits: Waits) -> str:
    return "" if math.isnan(waits.start) else f" From the command to the first page: {waits.start:.1f} s."


def _steps(asked: float | None, waits: Waits) -> list[str]:
    if not waits.ours:
        return []
    return [
        f"A slider of the bare page takes {waits.bare:.0f} ms (median).",
        "",
        "| slider | ms, median | slowest | of | × the bare page | asked |",
        "| --- | --- | --- | --- | --- | --- |",
        *(
            f"| {page} {setting} | {statistics.median(ours):,.0f} | {max(ours):,.0f} | {len(ours)} "
            f"| {ratio(ours, waits.bare):.1f} | {asked or '—'} |"
            for (page, setting), ours in waits.ours.items()
        ),
        "",
    ]


def _paints(warm: Visit, kept: Visit) -> str:
    return f"{warm.milliseconds / 1e3:.2f} | {kept.milliseconds / 1e3:.2f} | {warm.bytes / 1e3:,.0f}"


def _seconds(milliseconds: float | None) -> str:
    return "—" if milliseconds is None else f"{milliseconds / 1e3:.2f}"


def ratio(ours: Sequence[float], bare: float) -> float:
    """The median wait as a multiple of the bare page's."""
    return statistics.median(ours) / bare


def conclusions(size: str, waits: Waits) -> list[str]:
    """Sentences that state each limit and whether it is met."""
    found, asked = [], SIZES_ASKED.get(size)
    if asked is not None and waits.ours:
        slow = [
            " ".join(step) for step, ours in waits.ours.items() if round(ratio(ours, waits.bare), 1) > asked
        ]
        met = len(waits.ours) - len(slow)
        found.append(f"{met} of {len(waits.ours)} sliders are within {asked:g} times the bare page.")
        if slow:
            found.append(f"Above it: {', '.join(slow)}.")
    if (limit := PAINT_ASKED.get(size)) is not None and "Leaderboard" in waits.paints:
        paint = waits.paints["Leaderboard"][0].milliseconds / 1e3
        found.append(
            f"The leaderboard's first paint takes {paint:.1f} s; asked: {limit:g} s{_unmet(paint, limit)}."
        )
    if not math.isnan(waits.start):
        found.append(
            f"The first page takes {waits.start:.1f} s; asked: {START_ASKED:g} s{_unmet(waits.start, START_ASKED)}."
        )
    if (limit := LATER_ASKED.get(size)) is not None:
        found += _later(waits, limit)
    most, allowed = (
        max(warm.bytes for _, warm, _ in waits.paints.values()),
        BYTES_ASKED_OF.get(size, BYTES_ASKED),
    )
    within = "No page of the table sends more than" if most <= allowed else "A page sends"
    found.append(f"{within} {most / 1e3:,.0f} kB; asked: at most {allowed / 1e3:,.0f} kB.")
    return found


def _later(waits: Waits, limit: float) -> list[str]:
    """Sentences: how many pages load within the limit once they are computed, in both kinds of browser."""
    found = []
    for at, browser in ((1, "that keeps nothing"), (2, "that has visited before")):
        slow = [page for page, visits in waits.paints.items() if visits[at].milliseconds > 1e3 * limit]
        above = f"; above it: {', '.join(slow)}" if slow else ""
        plain = waits.bare_paints[at - 1].milliseconds / 1e3
        found.append(
            f"Once computed, {len(waits.paints) - len(slow)} of {len(waits.paints)} pages are within {limit:g} s in a "
            f"browser {browser}{above} (the bare page: {plain:.2f} s)."
        )
    return found


def _unmet(seconds: float, limit: float) -> str:
    return "" if round(seconds, 1) <= limit else ", not met"


def written(page: str, said: dict[str, str]) -> str:
    """The text of the page with the sections of the sizes in ``said`` replaced or added; other sizes are kept."""
    mark = re.compile(f"{re.escape(START)}(.*){re.escape(END)}", re.DOTALL)
    before = mark.search(page)
    sections = re.split(r"(?m)^(?=### )", before[1])[1:] if before else []
    kept = {section.splitlines()[0][4:]: section.strip() for section in sections}
    kept |= {NAMES.get(size, size): text for size, text in said.items()}
    body = "\n\n".join(kept.values())
    return mark.sub(lambda _: f"{START}\n\n{body}\n\n{END}", page)
