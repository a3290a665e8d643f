"""Fits to simulated tables: misfit by chance, signs of one ability and of two, the link of two groups of systems.

Also rubrics whose item–rest correlation is low by chance.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import expit, stdtr

from benchmarks.inference_designs import judged
from benchmarks.tables import short, simulate_2pl
from crubric_core import fit_irt
from crubric_core.experiments.model_check import Dependence, dependence_of, spectrum_of
from crubric_core.irt.diagnostics import item_rest
from crubric_core.irt.item_fit import bootstrap_item_fit
from crubric_core.placement.linking import Method, link

METHODS: tuple[Method, ...] = ("stocking-lord", "mean-sigma")
ABILITIES = {
    "one ability": (1.0, 0.0, "plain"),
    "one, judges wrong together": (1.0, 0.0, "shared"),
    "one, system × query effects of sd 1.5": (1.0, 1.5, "plain"),
    "two that correlate at .6": (0.6, 0.0, "plain"),
    "two that correlate at .6, effects of sd .7": (0.6, 0.7, "plain"),
}
"""Correlation of the abilities of odd and even rubrics, sd of the effects in logits, and how judges err."""
SPREAD = 0.7  # sd of the second group's abilities; that of the first group is 1


def misfit(tables: int) -> Iterator[tuple[object, ...]]:
    """Share of the rubrics that misfit at p < .05."""
    yield "systems × rubrics", "misfit"
    for systems in (15, 40):
        labels = [simulate_2pl(systems, 100, seed)[0] for seed in range(tables)]
        share = np.mean([bootstrap_item_fit(fit_irt(y), y).misfit for y in labels])
        yield f"{systems} × 100", f"{share:.1%}"


def abilities(tables: int) -> Iterator[tuple[object, ...]]:
    """Ratio of the first two eigenvalues and number of pairs flagged by Q3, and those of the model's tables."""
    yield (
        "systems",
        "truth",
        "eigenvalues",
        "of the model",
        "larger",
        "pairs flagged",
        "of the model",
        "within a query",
    )
    for systems in (15, 40, 150):
        for name, design in ABILITIES.items():
            found = [_checked(systems, *design, seed) for seed in range(tables)]
            ratios = np.array([(ratio, model.ratio) for ratio, model in found])
            flagged = np.array([(model.found.n_flagged, model.chance) for _, model in found]).mean(axis=0)
            yield (
                *(systems, name, *(_middle(column) for column in ratios.T)),
                short(float((ratios[:, 0] > ratios[:, 1]).mean())),
                *(f"{number:.1f}" for number in flagged),
                _within([model for _, model in found]),
            )


def _checked(systems: int, r: float, effect: float, judging: str, seed: int) -> tuple[float, Dependence]:
    """Eigenvalue ratio and dependence of one table, 60 queries of four rubrics, as the Items page computes them."""
    rng, query = np.random.default_rng([11, seed]), np.arange(240) // 4
    a, b = np.exp(rng.normal(0, 0.4, 240)), rng.normal(0, 1.2, 240)
    common, own = rng.normal(size=(systems, 1)), rng.normal(size=(systems, 2))
    theta = (np.sqrt(r) * common + np.sqrt(1 - r) * own)[:, np.arange(240) % 2]
    mood = effect * rng.normal(size=(systems, 60))[:, query]
    y = judged(rng.random(theta.shape) < expit(a * (theta - b) + mood), judging, rng)
    fit = fit_irt(y)
    return spectrum_of(fit, y).ratio, dependence_of(fit, y, query, 0)


def _middle(values: np.ndarray) -> str:
    low, high = np.quantile(values, [0.05, 0.95])
    return f"{values.mean():.2f} [{low:.2f}, {high:.2f}]"


def _within(found: list[Dependence]) -> str:
    """Share of all flagged pairs whose rubrics are of one query; — if no pair is flagged."""
    flagged = np.array([model.found.n_flagged for model in found])
    within = sum(model.found.within_query * model.found.n_flagged for model in found if model.found.n_flagged)
    return short(within / flagged.sum()) if flagged.any() else "—"


def signs(tables: int) -> Iterator[tuple[object, ...]]:
    """Share of rubrics unrelated to ability whose item–rest correlation is as low as in 1 of 100."""
    yield "systems", "one of them", "passed", "by Student's t", "by the orders of its labels"
    for systems in (6, 10, 15, 40):
        for where, far in (("N(0, 1) as the others", 0.0), ("8 sd below the others", -8.0)):
            for passed in (0.5, 0.15):
                found = [unrelated(systems, far, passed, seed) for seed in range(tables)]
                yield systems, where, short(passed), *(f"{share:.3f}" for share in np.mean(found, axis=0))


def unrelated(systems: int, far: float, passed: float, seed: int) -> tuple[float, float]:
    """Shares with p ≤ .01 among 200 rubrics unrelated to ability, beside 200 that depend on it.

    By Student's t, and by the orders of their labels.
    """
    rng = np.random.default_rng([systems, seed])
    theta = rng.normal(size=(systems, 1))
    theta[0] += far
    y = rng.random((systems, 400)) < expit(theta - rng.normal(theta.mean(), 4, 400))
    y[:, 200:] = rng.random((systems, 200)) < passed
    given = y.astype(float)
    low, chance = (each[200:] for each in item_rest(given))
    t = low * np.sqrt((systems - 2) / np.maximum(1 - low**2, 1e-12))
    known = np.isfinite(low)
    return float((stdtr(systems - 2, t[known]) <= 0.01).mean()), float((chance[known] <= 0.01).mean())


def linked(tables: int) -> Iterator[tuple[object, ...]]:
    """Error of the link's slope, found less true: its mean, and the middle 90% of the tables."""
    yield "systems", "rubrics", *METHODS
    for rubrics in (20, 40, 100):
        off = np.array([slopes(400, rubrics, seed) for seed in range(tables)])
        low, high = np.quantile(off, [0.05, 0.95], axis=0)
        cells = [
            [short(value, "+z.2f") for value in part]
            for part in zip(off.mean(axis=0), low, high, strict=True)
        ]
        yield "2 × 400", rubrics, *(f"{mean} [{least}, {most}]" for mean, least, most in cells)


def slopes(systems: int, rubrics: int, seed: int) -> list[float]:
    """For each method, the slope A that links the second group's fit to the first, less the ratio of their true sds."""
    rng = np.random.default_rng([seed, rubrics])
    a, b = np.exp(rng.normal(0, 0.4, rubrics)), rng.normal(0, 1.2, rubrics)
    groups = rng.normal(0, 1, (systems, 1)), rng.normal(0.5, SPREAD, (systems, 1))
    fits = [fit_irt((rng.random((systems, rubrics)) < expit(a * (t - b))).astype(float)) for t in groups]
    truth = groups[1].std() / groups[0].std()
    return [link(fits[1].items, fits[0].items, method).slope - truth for method in METHODS]
