"""What a bank keeps of the pairs that the pool separates, of simulated standings: do the intervals hold?

Systems N(0, 1); estimates on the pool err by .15 standard deviations, those on banks by more. A pair is separated where
its difference is above 3.2 standard errors. The truth is the share over 4,000 sets of systems.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.tables import short
from crubric_core.bank.worth import Worth, bank_worth

POOL, BANKS, SYSTEMS = 0.15, (1.2, 0.6, 0.25), (8, 15, 40)


def worth(tables: int) -> Iterator[tuple[object, ...]]:
    """How often the 95% interval of the share kept holds the truth, and on which side it fails."""
    yield "systems", "kept in truth", "held", "too low", "too high"
    for systems in SYSTEMS:
        for noise in BANKS:
            truth = _truth(systems, noise)
            rng = np.random.default_rng([systems, round(100 * noise)])
            found = [simulated(rng, systems, noise).kept for _ in range(tables)]
            low = float(np.mean([interval.high < truth for interval in found]))
            high = float(np.mean([interval.low > truth for interval in found]))
            yield systems, short(truth), short(1 - low - high), short(low), short(high)


def simulated(rng: np.random.Generator, systems: int, noise: float) -> Worth:
    """The worth of one bank whose estimates err by ``noise``."""
    ability = rng.normal(size=systems)
    pool, bank = (ability + rng.normal(0, error, systems) for error in (POOL, noise))
    return bank_worth(pool, _separated(pool, POOL), bank, _separated(bank, noise))


def _truth(systems: int, noise: float) -> float:
    rng = np.random.default_rng(1)
    found = [simulated(rng, systems, noise) for _ in range(4_000)]
    kept = sum(w.kept.estimate * w.separated for w in found if w.separated)
    return kept / sum(w.separated for w in found)


def _separated(estimate: np.ndarray, error: float) -> np.ndarray:
    return np.abs(estimate[:, None] - estimate) > 3.2 * np.sqrt(2) * error
