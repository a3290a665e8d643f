"""Simulated panels under the unanimity rule: attrition with missing labels, and rubrics that are equally clear."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from scipy.stats import pearsonr

from benchmarks.claims_validity import panel
from benchmarks.tables import short
from crubric_core import Workspace
from crubric_core.demo import simulate
from crubric_core.experiments.kappa import HUMAN, OTHERS, compare
from crubric_core.judges.attrition import attrition_counts, attrition_of, fit_beta_mixture
from crubric_core.types import FloatArray


def as_given(rng: np.random.Generator, labels: FloatArray) -> FloatArray:
    """All labels: none is missing."""
    return labels


def a_tenth_missing(rng: np.random.Generator, labels: FloatArray) -> FloatArray:
    """Each label is missing with the same chance."""
    return np.where(rng.random(labels.shape) < 0.1, np.nan, labels)


def unsure_left_out(rng: np.random.Generator, labels: FloatArray) -> FloatArray:
    """Judges leave out half of the labels on which the others outvote them, and 5% of the rest."""
    outvoted = labels != (labels.mean(axis=2, keepdims=True) > 0.5)
    return np.where(rng.random(labels.shape) < np.where(outvoted, 0.5, 0.05), np.nan, labels)


Lose = Callable[[np.random.Generator, FloatArray], FloatArray]
MISSING: dict[str, Lose] = {
    "none": as_given,
    "a tenth": a_tenth_missing,
    "half of the outvoted, 5% of the others": unsure_left_out,
}
SIZES = (1, 2, 4, 8)


def attrition(tables: int) -> Iterator[tuple[object, ...]]:
    """Errors of the attrition curve at SIZES and at its end, and of rubrics with labels of all 15 systems."""
    means = (*(f"at m = {m}" for m in SIZES), "at its end")
    yield "labels missing", *means, "rms there", "ends at", "rubrics with all 15", "rms of theirs"
    for name, lose in MISSING.items():
        found = np.array([curve_errors(lose, seed) for seed in range(tables)])
        mean, rms = np.nanmean(found, axis=0), np.sqrt(np.nanmean(found**2, axis=0))
        off = (short(value, "+z.2f") for value in mean[: len(means)])
        yield name, *off, short(rms[len(SIZES)]), f"{mean[-3]:.0f}", f"{mean[-2]:.0f}", short(rms[-1])


def mixture(tables: int) -> Iterator[tuple[object, ...]]:
    """Root mean square error of the Beta mixture's curve on the simulated study, for both ways to match the mixture."""
    yield "matched to", "root mean square error of the curve"
    panels = [_study(seed) for seed in range(tables)]
    for name, raw in (("mean and variance of the rates", True), ("R(1) and R(2)", False)):
        errors = [
            fit_beta_mixture(attrition_counts(labels), attrition_of(labels).curve, raw_rates=raw).rmse
            for labels in panels
        ]
        yield name, short(float(np.mean(errors)), ".4f")


def _study(seed: int) -> FloatArray:
    """(M, J, K) labels of the study of ``crubric demo``, or of one like it."""
    with Workspace() as workspace:
        workspace.ingest(simulate(seed).labels.to_csv(index=False).encode(), "demo", "labels")
        return workspace.dataset("demo").panel("binary")


def curve_errors(lose: Lose, seed: int) -> tuple[float, ...]:
    """15 systems, 300 rubrics: errors of the curve at SIZES and at its end, its last m, then rubrics with all labels.

    Their number, and the error of their share that is unanimous; NaN without such rubrics.
    """
    rng = np.random.default_rng([seed, 3])
    errors = rng.beta(1, 12, 300)
    labels = lose(rng, panel(rng, errors, 15, 3))
    unanimous = (1 - errors) ** 3 + errors**3
    expected = np.array([(unanimous**m).mean() for m in range(1, 16)])
    curve = attrition_of(labels).curve
    off = curve.consistency - expected[curve.m - 1]
    full = ~np.isnan(labels).any(axis=(0, 2))
    kept = np.ptp(labels[:, full], axis=2).max(axis=0) == 0
    of_full = float(kept.mean() - expected[-1]) if full.any() else np.nan
    return *np.interp(SIZES, curve.m, off), off[-1], float(curve.m[-1]), float(full.sum()), of_full


def clear(tables: int) -> Iterator[tuple[object, ...]]:
    """Correlation of measurability with a rubric's kappa if all rubrics are equally clear, and how often p < .05."""
    yield "κ against", "pass rates of the rubrics", "judges", "wrong labels", "mean r", "p < .05"
    of = product((OTHERS, HUMAN), ("uniform", "all .5"), (3, 5, 9), (0.05, 0.2))
    for against, spread, judges, error in of:
        rows = [own_kappa(spread, judges, error, seed, gold=against == HUMAN) for seed in range(tables)]
        r, p = np.array(rows).T
        yield against, spread, judges, f"{error:.0%}", short(np.nanmean(r)), f"{(p < 0.05).mean():.0%}"


def own_kappa(spread: str, judges: int, error: float, seed: int, *, gold: bool) -> tuple[float, float]:
    """Pearson's r of the share of unanimous cells with a rubric's kappa, and its p-value; NaN if all kappas are equal.

    15 systems and 300 rubrics; the posterior mean agreement is linear in that share. gold: kappa with the truth, else
    with the other judges.
    """
    rng = np.random.default_rng([seed, judges])
    passes = rng.random(300) if spread == "uniform" else np.full(300, 0.5)
    truth = (rng.random((15, 300)) < passes)[:, :, None]
    labels = (truth ^ (rng.random((15, 300, judges)) < error)).astype(float)
    unanimous = (np.ptp(labels, axis=2) == 0).mean(axis=0)
    own = compare(labels, truth[:, :, 0].astype(float) if gold else None).by_rubric()
    known = np.isfinite(own)
    if np.ptp(own[known]) == 0:
        return np.nan, np.nan
    r, p = pearsonr(unanimous[known], own[known])
    return float(r), float(p)
