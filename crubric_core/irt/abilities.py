"""Abilities at fixed item parameters: EAP from any subset of rubrics, or from rubrics drawn with repetition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ..types import FloatArray, IntArray
from .fit import IrtFit
from .quadrature import (
    GRID_NODES,
    AdaptiveQuadrature,
    GridQuadrature,
    Posterior,
    Quadrature,
    RuleTooSmallError,
)

BATCH = 4096  # posteriors integrated at once
AT_ONCE = 2**22  # cells of labels in one matrix product
COARSE = 65  # points of the first rule; posteriors from few rubrics are wide
SCOUTS = 16  # first replicates, with which a rule is found that fits nearly all others too


@dataclass(frozen=True)
class Abilities:
    """theta, sd: (M,) EAP abilities and posterior standard deviations; NaN for a system without any label."""

    theta: FloatArray
    sd: FloatArray


def estimate_abilities(fit: IrtFit, y: FloatArray, rubrics: IntArray | None = None) -> Abilities:
    """EAP and posterior sd from the labels ``y`` (M, J) on ``rubrics`` (indices; by default all of them)."""
    posterior = ability_posterior(fit, y, rubrics)
    chosen = y if rubrics is None else y[:, rubrics]
    fitted = ~fit.constant if rubrics is None else ~fit.constant[rubrics]
    unknown = np.isnan(chosen[:, fitted]).all(axis=1)
    return Abilities(np.where(unknown, np.nan, posterior.mean), np.where(unknown, np.nan, posterior.sd))


def ability_posterior(fit: IrtFit, y: FloatArray, rubrics: IntArray | None = None) -> Posterior:
    """Posterior of each system's ability, from its labels ``y`` (M, J) on ``rubrics`` and the N(0, 1) prior."""
    counts = np.zeros((1, len(fit.constant)))
    counts[0, slice(None) if rubrics is None else rubrics] = 1.0
    return _posteriors(fit, y, counts, batch=len(y))[0]


def resample_abilities(fit: IrtFit, y: FloatArray, counts: IntArray | FloatArray) -> FloatArray:
    """(R, M) EAP abilities; ``counts`` (R, J) holds how often each of R replicates contains each rubric.

    Each system takes one matrix product: counts × per-rubric log-likelihoods. NaN if a replicate contains no rubric
    with a label of the system.
    """
    draws = np.asarray(counts, dtype=float)
    used = draws.any(axis=0) & ~fit.constant
    known = draws[:, used] @ (~np.isnan(y[:, used])).T.astype(float) > 0
    means = [posterior.mean for posterior in _posteriors(fit, y, draws, batch=BATCH)]
    return np.where(known, np.concatenate(means).reshape(known.shape), np.nan)


def _posteriors(fit: IrtFit, y: FloatArray, counts: FloatArray, batch: int) -> list[Posterior]:
    """Posteriors of all (replicate, system) pairs, in that order, ``batch`` pairs at a time."""
    used = np.flatnonzero(counts.any(axis=0) & ~fit.constant)
    weights, labels = counts[:, used], y[:, used]
    steepest = float(fit.a[used].max()) if len(used) else 1.0
    rule: Quadrature = (
        GridQuadrature(GRID_NODES) if fit.quadrature == "grid" else AdaptiveQuadrature(points=COARSE)
    )
    parts = [weights[:SCOUTS], weights] if len(weights) > SCOUTS else [weights]
    while True:
        if isinstance(rule, AdaptiveQuadrature):
            rule = rule.fit_for(steepest)
        loglik = _weighted_loglik(fit, labels, used, parts[0], rule.nodes)
        try:
            found = [rule.posterior(loglik[start : start + batch]) for start in range(0, len(loglik), batch)]
        except RuleTooSmallError as error:
            rule = error.better
            continue
        if len(parts) == 1:
            return found
        parts.pop(0)


def _weighted_loglik(
    fit: IrtFit, labels: FloatArray, used: IntArray, weights: FloatArray, nodes: FloatArray
) -> FloatArray:
    """(R * M, G) log-likelihoods of each system in each replicate, the labels weighted by ``weights`` (R, J')."""
    table = log_likelihoods(fit, used, nodes)
    if len(weights) == 1:
        return _one_draw(table, labels, weights[0])
    out = np.empty((len(weights), len(labels), len(nodes)))
    for i, row in enumerate(labels):
        known = np.flatnonzero(~np.isnan(row))
        level = row[known].astype(np.int64)
        out[:, i] = weights[:, known] @ table[level, known]
    return out.reshape(-1, len(nodes))


def _one_draw(table: FloatArray, labels: FloatArray, weights: FloatArray) -> FloatArray:
    """(M, G) log-likelihoods for one row of ``weights`` (J',).

    One matrix product for each level and each batch of systems; a batch holds at most ``AT_ONCE`` cells.
    """
    out, weighted = np.zeros((len(labels), table.shape[-1])), weights[:, None] * table
    step = max(1, AT_ONCE // max(1, labels.shape[1]))
    for start in range(0, len(labels), step):
        part = slice(start, start + step)
        for level, values in enumerate(weighted):
            out[part] += (labels[part] == level).astype(float) @ values
    return out


def log_probabilities(fit: IrtFit, rubrics: IntArray, theta: FloatArray) -> FloatArray:
    """(L, J', G) log-probability of each level of the ``rubrics`` at abilities ``theta`` (G,)."""
    a = fit.a[rubrics, None]
    if fit.thresholds is None:
        z, c = a * (theta - fit.b[rubrics, None]), fit.c[rubrics, None]
        softplus = np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z)))  # half the time of logaddexp
        passed = z - softplus
        if c.any():
            passed = np.where(c > 0, np.log(c + (1 - c) * expit(z)), passed)
        return np.stack([np.log1p(-c) - softplus, passed])
    return level_log_probabilities(a, fit.thresholds[rubrics], theta)


def log_likelihoods(fit: IrtFit, rubrics: IntArray, theta: FloatArray) -> FloatArray:
    """(L, J', G) log-likelihood of each ability given a label of each level; finite, 0 for levels that a rubric lacks.

    It equals the log-probability, except for a GRM level that no label of the fit has. The two thresholds of such a
    level coincide and its probability is 0 everywhere; its value here is the limit as they move apart, up to a
    constant.
    """
    if fit.thresholds is None:
        return log_probabilities(fit, rubrics, theta)
    table = level_log_probabilities(fit.a[rubrics, None], fit.thresholds[rubrics], theta, parted=True)
    return np.where(np.isneginf(table), 0.0, table)


def level_log_probabilities(
    a: FloatArray, thresholds: FloatArray, theta: FloatArray, *, parted: bool = False
) -> FloatArray:
    """(L, J', G) log-probabilities from slopes (J', 1) and ascending thresholds (J', L-1); -inf: impossible level.

    log[sigma(z_l) - sigma(z_(l+1))] = log sigma(z_l) + log sigma(-z_(l+1)) + log(1 - exp(-a gap)). thresholds: NaN
    beyond a rubric's own levels. parted: leave out the last term, which does not depend on the ability, where the gap
    is 0.
    """
    n_rubrics, steps = thresholds.shape
    edges = np.concatenate(
        [np.full((n_rubrics, 1), -np.inf), thresholds, np.full((n_rubrics, 1), np.inf)], axis=1
    )
    edges = np.where(np.isnan(edges), np.inf, edges)  # levels beyond a rubric's own have no probability
    out = np.empty((steps + 1, n_rubrics, len(theta)))
    for level in range(steps + 1):
        low, high = edges[:, level, None], edges[:, level + 1, None]
        with np.errstate(
            divide="ignore", invalid="ignore"
        ):  # log 0 of an impossible level is -inf, as it should
            gap = np.where(low == high, 0.0, high - low)
            inside = np.log(-np.expm1(-a * gap))
        if parted:
            inside = np.where((gap == 0) & np.isfinite(low), 0.0, inside)
        out[level] = inside - np.logaddexp(0.0, -a * (theta - low)) - np.logaddexp(0.0, a * (theta - high))
    return out


def saturation(y: FloatArray, levels: IntArray) -> IntArray:
    """(M,) 1 where every label y (M, J) is the highest of its levels (J,), -1 where every label is 0, else 0."""
    known = ~np.isnan(y)
    top, bottom = ((~known | (y == end)).all(axis=1) for end in (levels - 1, 0))
    return np.where(known.any(axis=1), top.astype(np.int64) - bottom, 0)
