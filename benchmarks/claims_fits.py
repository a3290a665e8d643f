"""Fits to tables that follow the model: rubrics that misfit by chance, and two groups of systems linked."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import expit

from benchmarks.tables import short, simulate_2pl
from crubric_core import fit_irt
from crubric_core.irt.item_fit import bootstrap_item_fit
from crubric_core.placement.linking import Method, link

METHODS: tuple[Method, ...] = ("stocking-lord", "mean-sigma")
SPREAD = 0.7  # of the abilities of the second group, those of the first being 1


def misfit(tables: int) -> Iterator[tuple[object, ...]]:
    """Share of the rubrics that misfit at p < .05."""
    yield "systems × rubrics", "misfit"
    for systems in (15, 40):
        labels = [simulate_2pl(systems, 100, seed)[0] for seed in range(tables)]
        share = np.mean([bootstrap_item_fit(fit_irt(y), y).misfit for y in labels])
        yield f"{systems} × 100", f"{share:.1%}"


def linked(tables: int) -> Iterator[tuple[object, ...]]:
    """How far the slope of the link is above the truth: its mean and the middle 90% of the tables."""
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
    """Of each method: A of the second group's fit on the scale of the first, less the ratio of the groups' spreads."""
    rng = np.random.default_rng([seed, rubrics])
    a, b = np.exp(rng.normal(0, 0.4, rubrics)), rng.normal(0, 1.2, rubrics)
    groups = rng.normal(0, 1, (systems, 1)), rng.normal(0.5, SPREAD, (systems, 1))
    fits = [fit_irt((rng.random((systems, rubrics)) < expit(a * (t - b))).astype(float)) for t in groups]
    truth = groups[1].std() / groups[0].std()
    return [link(fits[1].items, fits[0].items, method).slope - truth for method in METHODS]
