"""Simulate, with existing labels, judging until the tier is settled: when it stops, and whether the rest changes it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import SettingsError
from ..placement.abilities import expected_information, next_best
from ..placement.bank_scale import BankScale
from ..placement.outlook import Forecast
from ..types import BoolArray, FloatArray, IntArray
from .adaptive import BATCH


@dataclass(frozen=True)
class Settled:
    """N systems, each judged until its tier was settled or no rubric was left.

    judgements, available: (N,) number of rubrics asked, and of those with a label. early: (N,) whether the tier was
    settled before the last rubric. tier, tier_all: (N,) tier at the stop, and from all labels; 0 without a label.
    """

    judgements: IntArray
    available: IntArray
    early: BoolArray
    tier: IntArray
    tier_all: IntArray


def settle(bank_scale: BankScale, confidence: float) -> Settled:
    """Simulate each of the bank's own systems as a new one among the others. Raises SettingsError, PlacementError.

    confidence: probability at which a tier is settled, from 0.5 to below 1.
    """
    if not 0.5 <= confidence < 1:
        raise SettingsError(f"{confidence:g} is not a probability to settle at: give 0.5 or more, below 1.")
    Forecast(bank_scale)  # raises if there is no reference
    assert bank_scale.reference is not None  # noqa: S101
    rows = []
    for s, y in enumerate(bank_scale.y):
        others = replace(bank_scale, reference=bank_scale.reference.without(s))
        rows.append(settle_one(others, Forecast(others), y, confidence))
    return Settled(*(np.array(column) for column in zip(*rows, strict=True)))


def settle_one(
    bank_scale: BankScale, forecast: Forecast, y: FloatArray, confidence: float
) -> tuple[int, int, bool, int, int]:
    """Simulate one system, whose labels ``y`` (B,) are revealed in batches. Returns a row of ``Settled``."""
    usable = np.isfinite(y) & ~bank_scale.fit.constant
    seen = np.full(len(y), np.nan)
    every = forecast.outlook(np.where(usable, y, np.nan), np.zeros(0, dtype=np.int64)).tier
    while True:
        open_ = np.flatnonzero(usable & np.isnan(seen))
        outlook = forecast.outlook(seen, open_)
        if not len(open_) or outlook.settled(confidence):
            asked = int(np.isfinite(seen).sum())
            return asked, int(usable.sum()), bool(len(open_)), outlook.tier, every
        expected = expected_information(bank_scale.fit, seen[None], bank_scale.bank)[0]
        best = next_best(expected, open_, BATCH)
        seen[best] = y[best]
