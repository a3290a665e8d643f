"""How much the uncertainty of the item parameters adds to that of the abilities.

The posterior sd of a fit takes the item parameters as known. With few systems they are not: each rubric is fitted to
the same 15 labels that then place the systems, and the standard errors of abilities are too small. Here the items are
integrated out. By Louis' identity the information that the labels hold on all abilities together is

    S = I + sum_j { E_j[diag(-d² log P)] - Cov_j[d log P] },

with expectations over rubric j's parameters given the labels and the abilities, and derivatives with respect to the
abilities of the M systems. The labels do not determine the origin and unit of the axis, so the part of S^-1 along these
two directions is removed, as by regression on them.

Source: Louis (1982), Finding the observed information matrix when using the EM algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, log_expit, logit, ndtri

from ..types import BoolArray, FloatArray, IntArray
from .fit import IrtFit

MANY_SYSTEMS = 100
POINTS = 64  # samples of each rubric's parameters
SPREAD = 1.3  # spread of the samples relative to the normal approximation, for heavier tails
STEP = 1e-4  # of the central differences
RIDGE = 0.04  # added precision, for directions that neither labels nor priors determine
CELLS = 4_000_000  # labels × samples held at once


def ability_standard_errors(fit: IrtFit, y: FloatArray) -> FloatArray:
    """(M,) standard errors of ``fit.theta`` with the item parameters integrated out; NaN without any label.

    With more than ``MANY_SYSTEMS`` systems this is the posterior sd: the items are then known so well that both agree
    within 1%.
    """
    if fit.n_systems > MANY_SYSTEMS:
        return np.where(np.isnan(y).all(axis=1), np.nan, fit.theta_sd)
    return np.asarray(np.sqrt(np.diag(ability_covariance(fit, y))))


def ability_covariance(fit: IrtFit, y: FloatArray) -> FloatArray:
    """(M, M) joint covariance of the abilities, items integrated out; NaN for unlabelled systems.

    Costs about as much as fifty evaluations of the fit: M × J × 64 item responses.
    """
    active = np.flatnonzero(~fit.constant)
    labelled = ~np.isnan(y[:, active]).all(axis=1)
    precision = np.eye(len(y))
    batch = max(1, CELLS // (POINTS * len(y)))
    for start in range(0, len(active), batch):
        precision += _information(fit, y, active[start : start + batch])
    covariance = np.full(precision.shape, np.nan)
    inside = np.ix_(labelled, labelled)
    covariance[inside] = _joint_covariance(precision[inside], fit.theta[labelled], fit.theta_sd[labelled])
    return covariance


def _joint_covariance(precision: FloatArray, theta: FloatArray, sd: FloatArray) -> FloatArray:
    """Inverse of ``precision`` without its part along a common shift and stretch of the ability axis."""
    axes = np.stack([np.ones_like(theta), theta], axis=1)[:, : min(2, len(theta) - 1)]
    weighted = axes / sd[:, None] ** 2
    keep = np.eye(len(theta)) - axes @ np.linalg.solve(axes.T @ weighted, weighted.T)
    return np.asarray(keep @ np.linalg.solve(precision, keep.T))


@dataclass(frozen=True)
class _Draws:
    """Q sampled parameters of each of J rubrics: a, c (J, Q); edges (J, Q, L+1), -inf to inf; log_density (J, Q)."""

    a: FloatArray
    c: FloatArray
    edges: FloatArray
    log_density: FloatArray  # log prior minus log of the density that the draw comes from, up to a constant


def _information(fit: IrtFit, y: FloatArray, rubrics: IntArray) -> FloatArray:
    """(M, M) contribution of the labels on ``rubrics`` to S."""
    draws = _draw(fit, y, rubrics)
    n, points = draws.a.shape
    loglik = draws.log_density.copy()
    score, bend = np.zeros((len(y), n, points)), np.zeros((len(y), n, points))
    for i, labels in enumerate(y[:, rubrics]):
        known = np.flatnonzero(~np.isnan(labels))
        logp, score[i, known], bend[i, known] = _response(draws, known, labels[known], fit.theta[i])
        loglik[known] += logp
    weights = np.exp(loglik - loglik.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    centred = score - (score * weights).sum(axis=2, keepdims=True)
    spread = (centred * np.sqrt(weights)).reshape(len(y), -1)
    return np.asarray(np.diag((bend * weights).sum(axis=(1, 2))) - spread @ spread.T)


def _response(
    draws: _Draws, known: IntArray, labels: FloatArray, theta: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(J', Q) log P of the labels, its derivative in theta, and minus its second derivative."""
    a, c, level = draws.a[known], draws.c[known], labels.astype(np.int64)
    low = np.take_along_axis(draws.edges[known], level[:, None, None], axis=2)[..., 0]
    high = np.take_along_axis(draws.edges[known], level[:, None, None] + 1, axis=2)[..., 0]
    z, w = a * (theta - low), a * (theta - high)
    above, below = expit(z), expit(w)
    if c.any():
        return _guessed(a, c, labels[:, None] == 1, a * (theta - draws.edges[known, :, 1]))
    logp = log_expit(z) + log_expit(-w) + np.log(-np.expm1(-a * (high - low)))
    return logp, a * (1 - above - below), a * a * (above * (1 - above) + below * (1 - below))


def _guessed(
    a: FloatArray, c: FloatArray, passed: BoolArray, z: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(J', Q) log P of the 3PL's labels, its derivative in theta, and minus its second derivative.

    r, in the code, is the probability that a pass is not a guess.
    """
    s = expit(z)
    p = c + (1 - c) * s
    r = (1 - c) * s / p
    logp = np.where(passed, np.log(p), np.log1p(-c) + log_expit(-z))
    bend = a * a * s * (1 - s)
    return (
        logp,
        np.where(passed, a * (1 - s) * r, -a * s),
        np.where(passed, bend * r - (a * (1 - s)) ** 2 * r * (1 - r), bend),
    )


def _draw(fit: IrtFit, y: FloatArray, rubrics: IntArray) -> _Draws:
    """Quasi-random samples around the estimates, scaled by the curvature there; a rubric's thresholds move together."""
    from scipy.stats import qmc  # takes a quarter of a second to import, and is seldom needed

    n = len(rubrics)
    directions = 3 if fit.model in ("3PL", "GRM") else (1 if fit.model == "1PL" else 2)
    root = np.linalg.cholesky(np.linalg.inv(_curvature(fit, y, rubrics, directions)))
    unit = ndtri(qmc.Sobol(directions, scramble=True, rng=np.random.default_rng(0)).random(POINTS))
    steps = SPREAD * np.einsum("jpr,qr->jqp", root, unit)
    drawn = _moved(fit, rubrics, steps)
    return replace(
        drawn, log_density=drawn.log_density + 0.5 * (unit**2).sum(axis=1)[None, :] * np.ones((n, 1))
    )


def _moved(fit: IrtFit, rubrics: IntArray, steps: FloatArray) -> _Draws:
    """Rubrics' parameters after ``steps`` (J, Q, P) in shift, log a, and the log stretch (GRM) or logit c (3PL)."""
    padded = np.zeros((*steps.shape[:2], 3))
    padded[..., : steps.shape[2]] = steps
    shift, log_slope, third = np.moveaxis(padded, 2, 0)
    log_a = np.log(fit.a[rubrics, None]) + log_slope
    stretch = np.exp(third) if fit.thresholds is not None else np.ones_like(third)
    centre = fit.b[rubrics, None, None]
    steps_at = centre if fit.thresholds is None else fit.thresholds[rubrics, None, :]
    thresholds = centre + shift[..., None] + stretch[..., None] * (steps_at - centre)
    guess = fit.c[rubrics, None]
    c = expit(logit(guess) + third) if fit.model == "3PL" else np.zeros_like(third)
    outer = np.full((*shift.shape, 1), np.inf)
    edges = np.concatenate([-outer, np.where(np.isnan(thresholds), np.inf, thresholds), outer], axis=2)
    return _Draws(np.exp(log_a), c, edges, _log_prior(fit, log_a, thresholds, c))


def _log_prior(fit: IrtFit, log_a: FloatArray, thresholds: FloatArray, c: FloatArray) -> FloatArray:
    """(J, Q) log density of the fit's priors at these parameters, up to a constant."""
    priors, value = fit.priors, np.zeros_like(log_a)
    if priors.log_a_sd is not None:
        value -= 0.5 * (log_a / priors.log_a_sd) ** 2
    if priors.b_sd is not None:
        value -= 0.5 * np.nansum((thresholds / priors.b_sd) ** 2, axis=2)
    if fit.model == "3PL" and priors.c_beta is not None:
        value += (priors.c_beta[0] - 1) * np.log(c) + (priors.c_beta[1] - 1) * np.log1p(-c)
    return value


def _curvature(fit: IrtFit, y: FloatArray, rubrics: IntArray, directions: int) -> FloatArray:
    """(J, P, P) expected information on each rubric's parameters at the estimates, plus prior precision and a ridge."""
    known = (~np.isnan(y[:, rubrics])).astype(float)
    middle = _probabilities(_moved(fit, rubrics, np.zeros((len(rubrics), 1, directions))), fit.theta)
    slopes = []
    for direction in np.eye(directions) * STEP:
        ends = [
            _moved(fit, rubrics, sign * direction + np.zeros((len(rubrics), 1, directions)))
            for sign in (1, -1)
        ]
        up, down = (_probabilities(end, fit.theta) for end in ends)
        slopes.append((up - down) / (2 * STEP))
    change = np.stack(slopes)
    shares = np.where(middle > 0, change / np.sqrt(np.where(middle > 0, middle, 1.0)), 0.0)
    information = np.einsum("pijl,qijl,ij->jpq", shares, shares, known)
    precision = np.array([fit.priors.b_sd or np.inf, fit.priors.log_a_sd or np.inf, 1.0])[:directions] ** -2.0
    return np.asarray(information + np.diag(precision + RIDGE))


def _probabilities(draws: _Draws, theta: FloatArray) -> FloatArray:
    """(M, J, L) probability of each level at each system's ability, from the first draw of each rubric."""
    above = expit(draws.a[:, 0, None] * (theta[:, None, None] - draws.edges[:, 0]))
    if draws.c.any():
        above[..., 1] = draws.c[:, 0] + (1 - draws.c[:, 0]) * above[..., 1]
    return np.asarray(above[..., :-1] - above[..., 1:])
