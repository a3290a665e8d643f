"""The tables of docs/performance.md, made from what was measured."""

from __future__ import annotations

import re
import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.latency import Waits

SIZES_ASKED = {"demo": 3.0, "400x5000": 5.0}
"""Size: the most that a step may take, in times of the bare page."""
NAMES = {"demo": "15 × 4,052 (the demo study)", "400x5000": "400 × 5,000", "1000x30000": "1,000 × 30,000"}
START, END = "<!-- measured: start -->", "<!-- measured: end -->"


START_ASKED, PAINT_ASKED, BYTES_ASKED = 5.0, {"400x5000": 1.5}, 1_000_000
"""Seconds from the command to the first page; of the leaderboard's first paint by size; bytes of a first load."""


def tables(size: str, waits: Waits) -> str:
    """One size as Markdown: the machine, the sliders, the pages, and which lines are met."""
    asked = SIZES_ASKED.get(size)
    lines = [
        f"### {NAMES.get(size, size)}",
        "",
        f"The bare page takes {waits.bare:.0f} ms (median); {waits.machine}. From the command to the first page: "
        f"{waits.start:.1f} s.",
        "",
        "| slider | ms, median | of | × the bare page | asked |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| {page} {setting} | {statistics.median(ours):,.0f} | {len(ours)} | {ratio(ours, waits.bare):.1f} "
            f"| {asked or '—'} |"
            for (page, setting), ours in waits.ours.items()
        ),
        "",
        "| page | first visit of a fresh server, s | a later one, s | kB over the WebSocket | from another page, s |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| {page} | {cold.milliseconds / 1e3:.1f} | {warm.milliseconds / 1e3:.2f} | {warm.bytes / 1e3:,.0f} "
            f"| {waits.switches[page] / 1e3:.2f} |"
            for page, (cold, warm) in waits.paints.items()
        ),
        f"| the bare page | — | {waits.bare_paint.milliseconds / 1e3:.2f} | {waits.bare_paint.bytes / 1e3:,.0f} | — |",
        "",
        " ".join(conclusions(size, waits)),
    ]
    return "\n".join(lines)


def ratio(ours: Sequence[float], bare: float) -> float:
    """The median wait in times of the bare page's."""
    return statistics.median(ours) / bare


def conclusions(size: str, waits: Waits) -> list[str]:
    """What is asked, and whether it is met, in sentences that follow from the figures."""
    found, asked = [], SIZES_ASKED.get(size)
    if asked is not None and waits.ours:
        slow = [
            " ".join(step) for step, ours in waits.ours.items() if round(ratio(ours, waits.bare), 1) > asked
        ]
        met = len(waits.ours) - len(slow)
        found.append(f"{met} of {len(waits.ours)} sliders are within {asked:g} times the bare page.")
        if slow:
            found.append(f"Above it: {', '.join(slow)}.")
    paint = waits.paints["Leaderboard"][0].milliseconds / 1e3
    if (limit := PAINT_ASKED.get(size)) is not None:
        found.append(
            f"The leaderboard's first paint takes {paint:.1f} s; asked: {limit:g} s{_unmet(paint, limit)}."
        )
    found.append(
        f"The first page takes {waits.start:.1f} s; asked: {START_ASKED:g} s{_unmet(waits.start, START_ASKED)}."
    )
    most = max(warm.bytes for _, warm in waits.paints.values())
    within = "No page of the table sends more than" if most <= BYTES_ASKED else "A page sends"
    found.append(f"{within} {most / 1e3:,.0f} kB; asked: at most {BYTES_ASKED / 1e3:,.0f} kB.")
    return found


def _unmet(seconds: float, limit: float) -> str:
    return "" if round(seconds, 1) <= limit else ", not met"


def written(page: str, said: dict[str, str]) -> str:
    """The page with what stands between its marks replaced: the sizes of ``said``; others stay as they were."""
    mark = re.compile(f"{re.escape(START)}(.*){re.escape(END)}", re.DOTALL)
    before = mark.search(page)
    sections = re.split(r"(?m)^(?=### )", before[1])[1:] if before else []
    kept = {section.splitlines()[0][4:]: section.strip() for section in sections}
    kept |= {NAMES.get(size, size): text for size, text in said.items()}
    body = "\n\n".join(kept.values())
    return mark.sub(lambda _: f"{START}\n\n{body}\n\n{END}", page)
