"""Fitted and true information: the share of rubrics that holds half of it, and SE(θ) on a bank and on all rubrics.

Abilities N(0, 1), difficulties N(0, 1.2²), queries of four rubrics; a bank of 60 by ``pairs``, SE(θ) at the median
system. True standard errors are put on the scale of the estimated abilities.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import expit

from benchmarks.tables import short
from crubric_core.bank.pairs import pair_distances
from crubric_core.bank.pairs_order import pairs_sequence
from crubric_core.irt.fit import fit_irt
from crubric_core.irt.information import item_information, posterior_weighted_information
from crubric_core.types import FloatArray

SIZES = ((6, 200), (15, 400), (15, 2000), (40, 400), (200, 200))
SLOPES = (0.0, 0.4)
BUDGET = 60


def informed(tables: int) -> Iterator[tuple[object, ...]]:
    """Means over tables: fitted and true share of rubrics that holds half of the information; SE(θ) over the truth."""
    yield (
        *("systems × rubrics", "sd of log slopes", "half is said to come from", "comes from"),
        *("SE(θ), bank", "random bank", "all rubrics"),
    )
    for systems, rubrics in SIZES:
        for spread in SLOPES:
            found = [_of_table(systems, rubrics, spread, seed) for seed in range(tables)]
            said, true, *errors = np.mean(found, axis=0)
            yield (
                *(f"{systems} × {rubrics}", short(spread, ".1f"), f"{said:.0%}", f"{true:.0%}"),
                *(short(error) for error in errors),
            )


def _of_table(systems: int, rubrics: int, spread: float, seed: int) -> tuple[float, ...]:
    rng = np.random.default_rng([seed, systems, rubrics])
    theta, query = rng.normal(size=(systems, 1)), np.arange(rubrics) // 4
    a, b = np.exp(rng.normal(0, spread, rubrics)), rng.normal(0, 1.2, rubrics)
    passes = expit(a * (theta - b))
    y = (rng.random(passes.shape) < passes).astype(float)
    fit = fit_irt(y)
    pool = np.flatnonzero(~fit.constant)
    bank = pairs_sequence(pair_distances(y, fit.theta, fit.theta_sd), query, ~fit.constant, BUDGET)
    slope, start = np.polyfit(theta[:, 0], fit.theta, 1)
    middle = float(np.median(fit.theta))
    chance = expit(a * ((middle - start) / slope - b))
    said, true = item_information(fit, np.array([middle]))[0], a**2 * chance * (1 - chance) / slope**2
    sets = bank, rng.permutation(pool)[:BUDGET], pool
    of_all = (a**2 * passes * (1 - passes)).mean(axis=0)
    return (
        _half(posterior_weighted_information(fit, y)),
        _half(of_all),
        *(float(np.sqrt(true[rubrics].sum() / said[rubrics].sum())) for rubrics in sets),
    )


def _half(information: FloatArray) -> float:
    """The least share of the rubrics that together have half of the information."""
    upto = np.sort(information)[::-1].cumsum()
    return float((np.searchsorted(upto, upto[-1] / 2) + 1) / len(information))
