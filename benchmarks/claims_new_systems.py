"""How well banks place new systems, on simulated standings: do the intervals of ``experiment new_systems`` hold?

The abilities of a system on the pool, on the banks of two selectors, and as people rate it are correlated normals, so
that the true shares of pairs in order are known (Sheppard 1899). Half of the variance of the banks' errors is common to
both selectors. There is one division into four folds, which gives the fewest pairs of new systems.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.tables import short
from crubric_core.experiments.concordance import Concordance, Repeat, error_layers
from crubric_core.experiments.held_out_tables import ALL, MEASURE_NAMES, summary_table
from crubric_core.intervals import jackknife_half_width

SYSTEMS, FOLDS, PEOPLE = (8, 15, 30, 60), 4, 0.9
SELECTORS = ("pairs", "random")
SHARES = ((0.5, 0.5), (0.9, 0.8), (0.98, 0.95))
"""True shares of pairs of new systems that the two selectors put in order."""


def new_systems(tables: int) -> Iterator[tuple[object, ...]]:
    """Shares of 95% intervals that hold, for measures and for differences; in parentheses for the jackknife alone."""
    differences = []
    yield "systems", "new pairs in order, truth", *MEASURE_NAMES.values()
    for systems in SYSTEMS:
        for shares in SHARES:
            rng = np.random.default_rng([systems, round(100 * shares[0])])
            held = np.mean([_held(simulated(rng, systems, shares), shares) for _ in range(tables)], axis=0)
            own, gain = ([f"{short(ours)} ({short(alone)})" for ours, alone in part] for part in held)
            yield systems, short(shares[0]), *own
            differences.append((systems, f"{short(shares[0])} and {short(shares[1])}", *gain))
    yield ()
    yield "systems", "new pairs in order, truth of two", *MEASURE_NAMES.values()
    yield from differences


def simulated(rng: np.random.Generator, systems: int, shares: tuple[float, float]) -> dict[str, Concordance]:
    """The experiment's findings for two selectors whose banks put these shares of the new pairs in order."""
    everyone, fold = np.ones(systems, dtype=bool), rng.permutation(np.arange(systems) % FOLDS)
    pool, common, people = rng.normal(size=(3, systems))
    human = PEOPLE * pool + np.sqrt(1 - PEOPLE**2) * people
    placed = Repeat(systems, 1)
    placed.reference[:] = placed.score[:] = pool
    for name, share in zip(SELECTORS, shares, strict=True):
        r = _correlation(share)
        error = np.sqrt(0.5) * (common + rng.normal(size=systems))
        bank = (r * pool + np.sqrt(1 - r**2) * error)[None]
        placed.put(name, 0, everyone, bank, bank)
    return {name: placed.concordance(name, fold, human) for name in SELECTORS}


def truths(share: float) -> np.ndarray:
    """(5,) true measures of ``ALL`` for a selector that puts this share of the new pairs in order."""
    r = _correlation(share)
    error = np.sqrt(2 - 2 * r) * np.sqrt(2 / np.pi)
    return np.array([share, _share((1 + r) / 2), 2 * share - 1, 2 * _share(r * PEOPLE) - 1, error])


def _correlation(share: float) -> float:
    return float(np.sin(np.pi * (share - 0.5)))


def _share(correlation: float) -> float:
    """Share of the pairs that two standings with this correlation order alike."""
    return float(0.5 + np.arcsin(correlation) / np.pi)


def _held(found: dict[str, Concordance], shares: tuple[float, float]) -> np.ndarray:
    """(2, 5, 2) whether intervals hold: of the first selector, of its lead; by measure; ours, and the jackknife's."""
    row = summary_table(found, 0.95).iloc[0]
    first, other = (
        np.vstack([one.with_and_without(), error_layers(one)]) for one in (found[name] for name in SELECTORS)
    )
    truth, ahead = truths(shares[0]), truths(shares[0]) - truths(shares[1])
    ahead[-1] *= -1
    gain = first - other
    gain[-1] *= -1
    out = []
    for kind, values, true in (("", first, truth), ("_gain", gain, ahead)):
        ours = [
            row[f"{name}{kind}_low"] <= t <= row[f"{name}{kind}_high"]
            for name, t in zip(ALL, true, strict=True)
        ]
        half = [jackknife_half_width(part[np.isfinite(part)], 0.95) for part in values[:, 1:]]
        out.append(np.column_stack([ours, np.abs(values[:, 0] - true) <= half]))
    return np.array(out)
