"""A view of as many systems as one likes, made without any analysis."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pandas as pd

from crubric_core.sharing import Bank, Separation, SharedView


def large_view(systems: int, texts: pd.DataFrame | None = None) -> SharedView:
    """Systems whose shares fall with the distance of their abilities; those far apart are separated."""
    theta = np.linspace(3, -3, systems)
    rank = pd.array(np.arange(1, systems + 1), dtype="Int64")
    names = tuple(f"system {n:05d} of a vendor" for n in range(systems))
    board = pd.DataFrame(
        {
            "rank": rank,
            "system": names,
            "theta": theta,
            "theta_low": theta - 0.2,
            "theta_high": theta + 0.2,
            "score": (theta + 3) / 6,
            "tier": pd.array(np.arange(systems) // 50 + 1, dtype="Int64"),
            "rank_low": rank,
            "rank_high": rank,
        }
    )
    ahead = np.round(1 / (1 + np.exp(-4 * (theta[:, None] - theta[None, :]))), 3)
    nodes = np.linspace(-4, 4, 161)
    return SharedView(
        title="Many systems",
        note="",
        made_at=datetime(2026, 1, 1, tzinfo=UTC),
        dataset=None,
        fingerprint="f",
        counts={"systems": systems, "queries": 10, "rubrics": 500, "judges": 3, "labels": 10**6, "bank": 200},
        settings={"confidence": 0.9, "model": "2PL"},
        versions={},
        cautions=(),
        downloads=True,
        leaderboard=board,
        separation=Separation(names, ahead, np.abs(ahead - 0.5) > 0.475),
        bank=Bank(200, 400, 500, 10, 10, 0.9, 0.95, nodes, np.full(161, 4.0), np.full(161, 16.0)),
        rubrics=texts,
    )
