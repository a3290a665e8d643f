"""Helpers of the benchmarks: simulated tables, the format of shares, and writing results into a page."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

START, END = "<!-- measured: start -->", "<!-- measured: end -->"


def simulate_2pl(
    n_systems: int, n_rubrics: int, seed: int = 0, missing: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Labels (M, J) without constant rubrics, and the true abilities (M,)."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=n_systems)
    a, b = np.exp(rng.normal(0, 0.4, n_rubrics)), rng.normal(0, 1.2, n_rubrics)
    y = np.empty((n_systems, n_rubrics))
    for start in range(0, n_rubrics, 2000):
        part = slice(start, start + 2000)
        y[:, part] = rng.random((n_systems, len(a[part]))) < 1 / (
            1 + np.exp(-a[part] * (theta[:, None] - b[part]))
        )
    if missing:
        y[rng.random(y.shape) < missing] = np.nan
    varies = np.nanmax(y, axis=0) > np.nanmin(y, axis=0)
    return np.ascontiguousarray(y[:, varies]), theta


def short(share: float, form: str = ".2f") -> str:
    """Format a share as docs/ does, without the 0 before the point."""
    return re.sub(r"^([+-]?)0\.", r"\1.", f"{share:{form}}")


def write_measured(path: Path, text: str) -> None:
    """Replace the text between the lines START and END of a page; a page that does not exist is made of these alone."""
    page = path.read_text("utf-8") if path.exists() else f"{START}{END}\n"
    before, _, rest = page.partition(START)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"{path} lacks the lines {START} and {END}, between which the figures go: add them.")
    path.write_text(f"{before}{START}\n\n{text.strip()}\n\n{END}{after}", "utf-8")
