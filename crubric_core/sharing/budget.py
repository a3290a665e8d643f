"""Limits on the size of a view: what one reader is sent, what the server keeps, and how a large view is reduced.

A matrix of all pairs grows with the square of the systems, and a heat map is sent at some 50 bytes a cell: 1,000
systems would be 49 MB for every reader. So with more than SIDE systems the heat map shows groups of neighbours in
rank, and any two systems are compared on demand; with more than LISTED the downloads leave the matrix out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from ..errors import SharingError
from ..types import FloatArray
from .view import Separation, SharedView

PAGE = 4_000_000  # bytes that one reader is sent at most; the viewer's server stops at 16 MB a message
FILE = 32_000_000  # bytes of a view's file
SIDE = 60  # rows and columns of a heat map
SHOWN = 150  # systems in the figure of abilities; the table has all
PAIRED = 2_000  # systems whose pairs are kept: 9 bytes a pair in the server's memory, 36 MB
LISTED = 250  # systems whose pairs are written into view.json
CELL, NUMBER = 120, 12  # bytes of a heat map's cell with its two names, and of a number in JSON
COPIES = 4  # how often a system's name is sent: table, figure, two lists to choose from


def page_bytes(view: SharedView) -> dict[str, int]:
    """Name → upper estimate of the bytes that this part of a view sends to a reader."""
    parts = {"note": len(view.note.encode())}
    if view.leaderboard is not None:
        names = _text(view.leaderboard["system"])
        parts["leaderboard"] = COPIES * names + 2 * NUMBER * view.leaderboard.size
    if view.separation is not None:
        names = sum(len(name.encode()) for name in view.separation.systems)
        parts["separation"] = COPIES * names + CELL * min(len(view.separation.systems), SIDE) ** 2
    if view.bank is not None:
        marks = (
            0 if view.leaderboard is None else len(view.leaderboard)
        )  # abilities on the axis of two figures
        parts["bank"] = NUMBER * (6 * len(view.bank.theta) + 6 * marks)
    if view.rubrics is not None:
        parts["texts"] = sum(_text(view.rubrics[name]) for name in view.rubrics)
    return parts


def within_budget(view: SharedView) -> SharedView:
    """The view unchanged; SharingError if it has more than PAIRED systems in pairs, or sends more than PAGE bytes."""
    if view.separation is not None and len(view.separation.systems) > PAIRED:
        raise SharingError(
            f"The comparison of {len(view.separation.systems):,} systems has too many pairs for a view, which takes "
            f"{PAIRED:,} systems: leave the comparison (separation) out."
        )
    parts = page_bytes(view)
    if sum(parts.values()) > PAGE:
        heaviest = max(parts, key=parts.__getitem__)
        raise SharingError(
            f"Every reader of this view would be sent {sum(parts.values()) / 1e6:,.1f} MB, and {PAGE / 1e6:.0f} MB is "
            f"the most: leave out its heaviest part, {heaviest} ({parts[heaviest] / 1e6:,.1f} MB), or shorten it."
        )
    return view


def grouped(separation: Separation, side: int = SIDE) -> Separation:
    """Combine neighbours in rank into ``side`` groups; the separation unchanged if it has at most ``side`` systems.

    ahead: mean probability over the compared pairs of two groups, in [0, 1]; NaN if no pair is compared.
    separated: True if there are compared pairs and all of them are separated.
    """
    size = len(separation.systems)
    if size <= side:
        return separation
    edges = np.linspace(0, size, side + 1).round().astype(np.int64)
    starts, counts = edges[:-1], np.diff(edges)
    apart = ~np.eye(size, dtype=bool) & np.isfinite(separation.ahead)
    total = _summed(np.where(apart, separation.ahead, 0.0), starts)
    known = _summed(apart.astype(np.float64), starts)
    firm = _summed((separation.separated & apart).astype(np.float64), starts)
    ahead = np.divide(total, known, out=np.full_like(total, np.nan), where=known > 0)
    names = tuple(_range(start, count) for start, count in zip(starts, counts, strict=True))
    return Separation(names, ahead, (known > 0) & (firm == known))


def for_files(view: SharedView) -> SharedView:
    """The view as view.json stores it: without the separation if that has more than LISTED systems."""
    pairs = view.separation
    return replace(view, separation=None) if pairs is not None and len(pairs.systems) > LISTED else view


def _range(start: int, count: int) -> str:
    """The name of a group: its places on the leaderboard. Ranks have ties and restart in each group of systems."""
    return f"place {start + 1:,}" if count == 1 else f"places {start + 1:,} to {start + count:,}"


def _summed(table: FloatArray, starts: np.ndarray) -> FloatArray:
    """Sums over the blocks that begin at ``starts``, along both axes."""
    return np.add.reduceat(np.add.reduceat(table, starts, axis=0), starts, axis=1)


def _text(column: pd.Series[str] | Iterable[object]) -> int:
    return sum(len(str(value).encode()) for value in column)
