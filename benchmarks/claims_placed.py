"""Placements of new systems on a bank that was chosen without them, compared with their true places.

14 systems on 100 queries of four rubrics and 14 new ones of the same distribution (``placement.simulated``).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.claims_standing import calibration
from benchmarks.placement import simulated
from benchmarks.tables import short
from crubric_core.placement.new_labels import labels_on_bank
from crubric_core.placement.place import place_systems

DESIGNS = (
    (1.0, 0.0),
    (1.0, 0.7),
    (0.3, 0.7),
)  # sd of the abilities, and of a system's effect on a query in logits
FIRST = 3
BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0 + 1e-9)


def placed(tables: int) -> Iterator[tuple[object, ...]]:
    """Stated and true probabilities: ahead of a reference system, among the first three; then shares of intervals."""
    held = []
    yield (
        "sd of the abilities",
        "system × query sd",
        "what",
        "below .1",
        ".1 to .3",
        ".3 to .5",
        ".5 to .7",
        ".7 to .9",
        "above",
    )
    for spread, effect in DESIGNS:
        found = [_of_table(spread, effect, seed) for seed in range(tables)]
        ahead, above, first, is_first, rank, theta, kept = (
            np.concatenate(part) for part in zip(*found, strict=True)
        )
        yield spread, effect, "ahead", *calibration(ahead, above, BINS)
        yield spread, effect, f"among the first {FIRST}", *calibration(first, is_first, BINS)
        held.append((spread, effect, *(short(float(part.mean())) for part in (theta, rank, kept))))
    yield ()
    yield (
        "sd of the abilities",
        "system × query sd",
        "interval of θ holds",
        "interval of the rank holds",
        "spread kept",
    )
    yield from held


def _of_table(spread: float, effect: float, seed: int) -> tuple[np.ndarray, ...]:
    """Stated probabilities, whether they are true, and whether intervals hold, for the new systems of one table.

    The interval of theta is compared with the true ability on the line of the reference systems' estimates over their
    true abilities. Last, the slope of that line for the new systems over the reference systems' slope.
    """
    theta, abilities, labels, bank_scale = simulated(effect, seed, twins=False, spread=spread)
    assert bank_scale.reference is not None
    line = np.polyfit(theta, bank_scale.reference.theta, 1)
    on_scale = np.polyval(line, abilities)
    new = labels_on_bank(tuple(f"new {i}" for i in range(len(abilities))), labels, bank_scale.judges)
    found = place_systems(bank_scale, new)
    standings = [placement.standing for placement in found.placements]
    kept = np.polyfit(abilities, found.table["theta"], 1)[0] / line[0]
    rank = 1 + (theta > abilities[:, None]).sum(axis=1)
    ends = np.array(
        [(s.rank_low[-1], s.rank_high[-1], s.theta_low[-1], s.theta_high[-1]) for s in standings]
    ).T
    return (
        np.concatenate([s.ahead[-1, :-1] for s in standings]),
        (abilities[:, None] > theta).ravel(),
        np.array([s.rank_probability[-1, FIRST - 1] for s in standings]),
        rank <= FIRST,
        (ends[0] <= rank) & (rank <= ends[1]),
        (ends[2] <= on_scale) & (on_scale <= ends[3]),
        np.array([kept]),
    )
