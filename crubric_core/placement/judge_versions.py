"""Two versions of a judge on the same answers: how often they differ, and which systems' tiers depend on it."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import stdtr

from ..errors import PlacementError
from ..leaderboard.separation import holm_rejects
from ..types import FloatArray
from .among import evidence_of_systems
from .bank_scale import BankScale
from .drift import JudgeDrift, judge_drift
from .new_labels import NewLabels, labels_on_bank
from .place import place_systems


def judge_drift_on_bank(
    bank_scale: BankScale, new: NewLabels, old_judge: str, new_judge: str
) -> tuple[JudgeDrift, pd.DataFrame]:
    """Drift between two judges on the cells that both labelled, and a table of each system's theta and tier by each.

    Labels are levels as the bank's model reads them, intervals at the confidence of its settings. ``beyond_chance``:
    theta differs by more than between two sets of labels of one version (paired, the query as unit, Holm over the
    systems); a tier may change even if it does not. Raises PlacementError without common cells.
    """
    first, second = (new.panel[:, :, new.judges.index(judge)] for judge in (old_judge, new_judge))
    both = np.isfinite(first) & np.isfinite(second)
    if not both.any():
        raise PlacementError(
            f"{old_judge} and {new_judge} have no cell of the bank in common: ask both about the same answers."
        )
    first, second = np.where(both, first, np.nan), np.where(both, second, np.nan)
    unit = np.broadcast_to(bank_scale.query_units[0], first.shape)
    confidence = bank_scale.settings.confidence
    found = judge_drift(first.ravel(), second.ravel(), unit.ravel(), confidence)
    rows = np.flatnonzero(both.any(axis=1))
    systems = tuple(new.systems[row] for row in rows)
    before, after = (
        place_systems(bank_scale, labels_on_bank(systems, y[rows], (judge,), y[rows][:, :, None]), 0).table
        for y, judge in ((first, old_judge), (second, new_judge))
    )
    return found, pd.DataFrame(
        {
            "system": list(systems),
            "theta_old": before["theta"],
            "theta_new": after["theta"],
            "se": before["theta_se"],
            "tier_old": before["tier"],
            "tier_new": after["tier"],
            "moved": (before["tier"] != after["tier"]).astype(bool),
            "beyond_chance": holm_rejects(
                np.array([_p_value(bank_scale, first[row], second[row]) for row in rows]), 1 - confidence
            ),
        }
    )


def _p_value(bank_scale: BankScale, first: FloatArray, second: FloatArray) -> float:
    """p-value that a system's ability is equal by two sets of labels (J,) on the same rubrics: paired t by query."""
    unit, n_units = bank_scale.query_units
    old, new = evidence_of_systems(
        bank_scale.fit,
        bank_scale.spread,
        np.stack([first, second]),
        bank_scale.bank,
        unit,
        n_units,
        bank_scale.settings.seed,
    )
    error = np.sqrt(((new.contributions - old.contributions) ** 2).sum())
    return 2 * float(stdtr(new.units - 1, -abs(new.theta - old.theta) / error)) if error > 0 else 1.0
