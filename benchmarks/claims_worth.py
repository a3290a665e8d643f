"""Share of the pool's separated pairs that a bank keeps, on simulated standings: do its intervals hold?

Abilities are N(0, 1); estimates on the pool have errors of sd .15, those on banks larger ones. A pair is separated if
its difference exceeds 3.2 standard errors. The truth is the share over 4,000 sets of systems. Two banks have half of
the variance of their errors in common.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from benchmarks.tables import short
from crubric_core.bank.worth import MEASURES, Worth, bank_worth, worth_difference
from crubric_core.intervals import jackknife_half_width

POOL, BANKS, SYSTEMS = 0.15, (1.2, 0.6, 0.25), (8, 15, 40)
TWO = ((1.0, 1.2), (0.6, 1.2), (0.25, 0.6), (0.17, 0.25))


def worth(tables: int) -> Iterator[tuple[object, ...]]:
    """Shares of 95% intervals that hold or miss the truth: for the share kept, and for its difference of two banks."""
    yield "systems", "kept in truth", "held", "too low", "too high"
    for systems in SYSTEMS:
        for noise in BANKS:
            truth = _truth(systems, noise)
            rng = np.random.default_rng([systems, round(100 * noise)])
            found = [simulated(rng, systems, noise)[0].kept for _ in range(tables)]
            low = float(np.mean([interval.high < truth for interval in found]))
            high = float(np.mean([interval.low > truth for interval in found]))
            yield systems, short(truth), short(1 - low - high), short(low), short(high)
    yield ()
    yield "systems", "kept in truth by two", "held", "too low", "too high", "the jackknife alone held"
    for systems in SYSTEMS:
        for two in TWO:
            truths = [_truth(systems, noise) for noise in two]
            rng = np.random.default_rng([systems, *(round(100 * noise) for noise in two)])
            errors = [_errors(simulated(rng, systems, *two), truths[0] - truths[1]) for _ in range(tables)]
            low, high, alone = (float(share) for share in np.mean(errors, axis=0))
            shown = (short(share) for share in (1 - low - high, low, high, alone))
            yield systems, " and ".join(map(short, truths)), *shown


def simulated(rng: np.random.Generator, systems: int, *noise: float) -> list[Worth]:
    """The worth of one bank for each ``noise``, the sd of the errors of its estimates; all have the same systems."""
    ability = rng.normal(size=systems)
    pool, common = ability + rng.normal(0, POOL, systems), rng.normal(size=systems)
    separated, found = _separated(pool, POOL), []
    for error in noise:
        bank = ability + error * np.sqrt(0.5) * (common + rng.normal(size=systems))
        found.append(bank_worth(pool, separated, bank, _separated(bank, error)))
    return found


def _errors(worths: list[Worth], truth: float) -> tuple[bool, bool, bool]:
    """Whether the interval of the difference is too low, is too high, and whether the jackknife's interval holds."""
    first, second = worths
    found, k = worth_difference(first, second, "kept"), MEASURES.index("kept")
    left = first.without[:, k] - second.without[:, k]
    half = float(jackknife_half_width(left[np.isfinite(left)], 0.95))
    return found.high < truth, found.low > truth, abs(found.estimate - truth) <= half


@cache
def _truth(systems: int, noise: float) -> float:
    rng = np.random.default_rng(1)
    found = [simulated(rng, systems, noise)[0] for _ in range(4_000)]
    kept = sum(w.kept.estimate * w.separated for w in found if w.separated)
    return kept / sum(w.separated for w in found)


def _separated(estimate: np.ndarray, error: float) -> np.ndarray:
    return np.abs(estimate[:, None] - estimate) > 3.2 * np.sqrt(2) * error
