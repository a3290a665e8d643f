"""The tables of docs/performance.md, made from what was measured."""

from __future__ import annotations

import re
import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.latency import Waits

SIZES_ASKED = {"demo": 3.0, "400x5000": 5.0}
"""Size: the most that a step may take, in times of the bare page."""
NAMES = {"demo": "15 × 4,052 (the demo study)", "400x5000": "400 × 5,000", "1000x30000": "1,000 × 30,000"}
START, END = "<!-- measured: start -->", "<!-- measured: end -->"


def tables(size: str, waits: Waits, repeats: int) -> str:
    """One size as Markdown."""
    asked = SIZES_ASKED.get(size)
    lines = [
        f"### {NAMES.get(size, size)}",
        "",
        f"The bare page takes {waits.bare:.0f} ms (median).",
        "",
        f"| slider | ms, median of {repeats} | × the bare page | asked |",
        "| --- | --- | --- | --- |",
        *(
            f"| {page} {setting} | {statistics.median(ours):,.0f} | {statistics.median(ours) / waits.bare:.1f} "
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
    ]
    return "\n".join(lines)


def written(page: str, said: dict[str, str]) -> str:
    """The page with what stands between its marks replaced: the sizes of ``said``; others stay as they were."""
    mark = re.compile(f"{re.escape(START)}(.*){re.escape(END)}", re.DOTALL)
    before = mark.search(page)
    sections = re.split(r"(?m)^(?=### )", before[1])[1:] if before else []
    kept = {section.splitlines()[0][4:]: section.strip() for section in sections}
    kept |= {NAMES.get(size, size): text for size, text in said.items()}
    body = "\n\n".join(kept.values())
    return mark.sub(lambda _: f"{START}\n\n{body}\n\n{END}", page)
