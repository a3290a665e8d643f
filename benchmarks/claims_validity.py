"""Stated probabilities that rubrics are valid or measurable, on simulated tables: do they equal the true shares?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import expit

from benchmarks.tables import short
from crubric_core.judges.beta_prior import estimate_prior
from crubric_core.judges.integrated_prior import integrated_posterior
from crubric_core.judges.measurability import MeasurabilityPosterior, measurability_posterior
from crubric_core.judges.rates import judge_rates
from crubric_core.judges.votes import validity_log_odds, validity_votes
from crubric_core.types import BoolArray, FloatArray

VALID = 0.7  # share of the rubrics that is valid
VERDICTS = 80  # rubrics with a human verdict
BINS = {"below .5": (0.0, 0.5), ".5 to .8": (0.5, 0.8), ".8 to .9": (0.8, 0.9), "above .9": (0.9, 1.1)}
Draw = Callable[[np.random.Generator], tuple[BoolArray, FloatArray]]
"""Draws which rubrics are valid (J,), and the judges' votes on them (J, K)."""


def independent(rng: np.random.Generator) -> tuple[BoolArray, FloatArray]:
    """Independent votes, each right with probability .8."""
    valid = rng.random(300) < VALID
    return valid, np.where(rng.random((300, 3)) < 0.8, valid[:, None], ~valid[:, None]).astype(float)


def panel(rng: np.random.Generator, errors: FloatArray, systems: int, judges: int) -> FloatArray:
    """(M, J, K) labels, each wrong with its rubric's probability, ``errors`` (J,)."""
    truth = rng.integers(0, 2, (systems, len(errors), 1))
    wrong = rng.random((systems, len(errors), judges)) < errors[:, None]
    return np.where(wrong, 1 - truth, truth).astype(float)


def two_kinds(rng: np.random.Generator) -> tuple[BoolArray, FloatArray]:
    """2% of the labels of a valid rubric are wrong, and 20% of those of an invalid one."""
    valid = rng.random(300) < VALID
    return valid, validity_votes(panel(rng, np.where(valid, 0.02, 0.2), 8, 3))


def varied(rubrics: int, systems: int, judges: int) -> Draw:
    """Error rates are halves of Beta(1, 8); the rubrics with the lowest are the valid ones."""

    def draw(rng: np.random.Generator) -> tuple[BoolArray, FloatArray]:
        errors = rng.beta(1, 8, rubrics) / 2
        return errors < np.quantile(errors, VALID), validity_votes(panel(rng, errors, systems, judges))

    return draw


def alike(rng: np.random.Generator) -> tuple[BoolArray, FloatArray]:
    """All rubrics have 5% of wrong labels, so that votes do not depend on validity."""
    return rng.random(500) < VALID, validity_votes(panel(rng, np.full(500, 0.05), 8, 3))


DESIGNS: dict[tuple[str, str], Draw] = {
    ("two kinds: votes independent, right in 8 of 10", "3"): independent,
    ("two kinds: 2% of the labels wrong, or 20%", "3 × 8"): two_kinds,
    ("errors vary, valid: the lowest", "3 × 8"): varied(300, 8, 3),
    ("the same", "5 × 15"): varied(500, 15, 5),
    ("all alike: 5% wrong", "3 × 8"): alike,
}


def stated(draw: Draw, verdicts: int, seed: int) -> tuple[FloatArray, BoolArray]:
    """Pr(valid) of the rubrics without a verdict, as the Measurability page computes it, and whether they are valid."""
    rng = np.random.default_rng([0, seed])
    valid, votes = draw(rng)
    known = np.zeros(len(valid), dtype=bool)
    known[rng.choice(len(valid), verdicts, replace=False)] = True
    said = np.where(known, valid, np.nan) if verdicts else None
    rates = judge_rates(votes, said, np.arange(len(valid)) // 10)
    return expit(validity_log_odds(votes, rates))[~known], valid[~known]


def validity(tables: int) -> Iterator[tuple[object, ...]]:
    """For each bin of the stated Pr(valid): its mean, the share that is valid, and the share of the rubrics."""
    yield "rubrics", "judges × systems", "verdicts", *BINS, "unknown"
    for (name, size), draw in DESIGNS.items():
        for verdicts in (0, VERDICTS):
            found = [stated(draw, verdicts, seed) for seed in range(tables)]
            p, valid = (np.concatenate(part) for part in zip(*found, strict=True))
            cells = (_cell(p, valid, (low <= p) & (p < high)) for low, high in BINS.values())
            yield *(("", "") if verdicts else (name, size)), verdicts, *cells, f"{np.isnan(p).mean():.0%}"


def _cell(p: FloatArray, valid: BoolArray, inside: BoolArray) -> str:
    """Stated, true, and in brackets the share of the rubrics; — if that rounds to 0%."""
    share = inside.mean()
    return f"{_pair(p[inside], valid[inside])} ({share:.0%})" if share >= 0.005 else "—"


def _pair(p: FloatArray, true: BoolArray) -> str:
    return ", ".join(short(x.mean()) for x in (p, true))


RATES = (
    (8, 2, 15, 400),
    (2, 2, 15, 400),
    (30, 6, 15, 400),
    (8, 2, 6, 400),
    (40, 8, 14, 400),
    (40, 8, 14, 150),
    (40, 8, 6, 60),
    (40, 8, 15, 20),
    (8, 2, 15, 20),
)
"""Beta(a, b) of the true agreement rates, instances of each rubric, rubrics."""


def rates(
    design: tuple[int, int, int, int], tables: int, *, flat: bool
) -> Iterator[tuple[FloatArray, MeasurabilityPosterior]]:
    """The true agreement rates of each table's rubrics, and their posterior."""
    a, b, n, rubrics = design
    rng = np.random.default_rng(7)
    for _ in range(tables):
        q = rng.beta(a, b, rubrics)
        agree, total = rng.binomial(n, q), np.full(rubrics, n)
        if flat:
            yield q, measurability_posterior(agree, total)
        else:
            counts = agree.astype(float), total.astype(float)
            yield q, integrated_posterior(estimate_prior(*counts), *counts)


def measurable(design: tuple[int, int, int, int], tables: int, *, flat: bool) -> tuple[FloatArray, BoolArray]:
    """Pr(q >= .8) of the rubrics of all tables, and whether q >= .8."""
    found = list(rates(design, tables, flat=flat))
    return np.concatenate([of.p_above(0.8) for _, of in found]), np.concatenate([q >= 0.8 for q, _ in found])


def rates_held(design: tuple[int, int, int, int], tables: int, *, flat: bool) -> float:
    """Share of the 95% intervals of the rubrics of all tables that hold the true rate."""
    found = [(q, *of.interval(0.95)) for q, of in rates(design, tables, flat=flat)]
    return float(np.mean([(low <= q) & (q <= high) for q, low, high in found]))


def prior(tables: int) -> Iterator[tuple[object, ...]]:
    """Stated and true share with q >= .8, for stated Pr(q >= .8) below .5 and above; share of intervals that hold q."""
    yield (
        *("true rates", "instances", "rubrics"),
        *("estimated: stated, true", "held", "Beta(1, 1): stated, true", "held"),
    )
    for design in RATES:
        cells = []
        for flat in (False, True):
            p, true = measurable(design, tables, flat=flat)
            cells.append(
                " and ".join(
                    _pair(p[part], true[part]) if part.any() else "—" for part in (p < 0.5, p >= 0.5)
                )
            )
            cells.append(short(rates_held(design, tables, flat=flat)))
        yield f"Beta({design[0]}, {design[1]})", *design[2:], *cells
