"""How well banks place new systems, of simulated standings: do the intervals of ``experiment new_systems`` hold?

Abilities of the systems on the whole pool, on the banks of two selectors and to people are normal with correlations, so
that the true shares of pairs in order are known (Sheppard 1899). Half of the variance of what the banks add is common
to both selectors. One division into four folds: the fewest pairs of new systems.
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
"""Pairs of new systems in order, of the two selectors."""


def new_systems(tables: int) -> Iterator[tuple[object, ...]]:
    """How often 95% intervals hold the truth, and in parentheses the jackknife alone: of measures, of differences."""
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
    """What the experiment finds of two selectors whose banks order these shares of the new pairs."""
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
    """(5,) the measures of ``ALL`` of a selector that orders this share of the new pairs, over all systems."""
    r = _correlation(share)
    error = np.sqrt(2 - 2 * r) * np.sqrt(2 / np.pi)
    return np.array([share, _share((1 + r) / 2), 2 * share - 1, 2 * _share(r * PEOPLE) - 1, error])


def _correlation(share: float) -> float:
    return float(np.sin(np.pi * (share - 0.5)))


def _share(correlation: float) -> float:
    """Of the pairs that two standings with this correlation order alike."""
    return float(0.5 + np.arcsin(correlation) / np.pi)


def _held(found: dict[str, Concordance], shares: tuple[float, float]) -> np.ndarray:
    """(2, 5, 2) whether the intervals of the first selector, and of how far it is ahead, hold: ours, the jackknife."""
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
