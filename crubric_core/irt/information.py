"""Fisher information of rubrics (docs/method.md §7; paper eq:iif, eq:nu)."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from ..arguments import as_numbers, require_a
from ..errors import FitError
from ..types import FloatArray
from .abilities import ability_posterior
from .fit import IrtFit


def item_information(fit: IrtFit, theta: FloatArray) -> FloatArray:
    """Fisher information of every rubric at given abilities.

    Parameters
    ----------
    fit : IrtFit
        A fitted model of J rubrics.
    theta : float array (T,)
        Abilities, in units of the fit's θ; a single number is T = 1.

    Returns
    -------
    float array (T, J)
        I_j(θ) ≥ 0, in units of 1/θ²; 0 for a constant rubric, NaN where θ is.

    Raises
    ------
    FitError
        An argument is of the wrong kind or shape.

    Notes
    -----
    1PL, 2PL: a² P (1 - P). 3PL: a² (Q / P) ((P - c) / (1 - c))². GRM: Σ_l (P'_l)² / P_l (docs/method.md §7, eq:iif).

    References
    ----------
    Birnbaum, A. (1968), in Lord & Novick, Statistical Theories of Mental Test Scores. Samejima, F. (1969),
    Psychometrika Monograph 17.

    """
    require_a("fit", fit, IrtFit, FitError)
    theta = np.atleast_1d(as_numbers("theta", theta, FitError))
    if theta.ndim > 1:
        raise FitError(
            f"theta must be a list of abilities, not an array of shape {theta.shape}: ravel it first."
        )
    info = np.zeros((len(theta), len(fit.a)))
    active = ~fit.constant
    a = fit.a[active]
    if fit.thresholds is not None:
        info[:, active] = _graded_information(a, fit.thresholds[active], theta)
        return info
    z = a * (theta[:, None] - fit.b[active])
    s, c = expit(z), fit.c[active]
    info[:, active] = (
        a**2 * (1 - c) * s**2 * expit(-z) / (c + (1 - c) * s) if c.any() else a**2 * s * expit(-z)
    )
    return info


def _graded_information(a: FloatArray, thresholds: FloatArray, theta: FloatArray) -> FloatArray:
    """sum_l (P'_l)² / P_l with P_l = s_l - s_(l+1), where P'_l = a P_l (1 - s_l - s_(l+1))."""
    total = np.zeros((len(theta), len(a)))
    above = np.ones((len(theta), len(a)))  # s_0 = 1
    for level in range(thresholds.shape[1] + 1):
        last = level == thresholds.shape[1]
        edge = (
            np.full(len(a), np.inf)
            if last
            else np.where(np.isnan(thresholds[:, level]), np.inf, thresholds[:, level])
        )
        below = expit(a * (theta[:, None] - edge))
        total += (above - below) * (1 - above - below) ** 2
        above = below
    return a**2 * total


def response_curve(fit: IrtFit, rubric: int, theta: FloatArray) -> FloatArray:
    """(G,) expected share of the full mark at ``theta`` (G,): probability of a pass; GRM: expected level / (L-1).

    NaN for a constant rubric.
    """
    theta = np.asarray(theta, dtype=float)
    if fit.constant[rubric]:
        return np.full(len(theta), np.nan)
    a = fit.a[rubric]
    if fit.thresholds is None:
        c = fit.c[rubric]
        return np.asarray(c + (1 - c) * expit(a * (theta - fit.b[rubric])))
    steps = fit.thresholds[rubric][~np.isnan(fit.thresholds[rubric])]
    return np.asarray(expit(a * (theta[:, None] - steps)).sum(axis=1) / (fit.levels[rubric] - 1))


def posterior_weighted_information(fit: IrtFit, y: FloatArray) -> FloatArray:
    """nu_j = ∫ I_j(theta) phi(theta) dtheta, (J,): phi is the mean of the systems' posteriors (paper eq:nu).

    A system without a label on any rubric that varies does not count.
    """
    posterior, placed = ability_posterior(fit, y), np.isfinite(y[:, ~fit.constant]).any(axis=1)
    weights = posterior.node_weights[placed] if placed.any() else posterior.node_weights
    nu = weights.mean(axis=0) @ item_information(fit, posterior.nodes)
    return np.maximum(nu, 0.0)  # interpolation may leave -1e-9 where there is no information


def expected_shares(fit: IrtFit, theta: FloatArray) -> FloatArray:
    """(len(theta), J) ``response_curve`` of every rubric; NaN for a rubric without parameters."""
    theta = np.asarray(theta, dtype=float)[:, None]
    if fit.thresholds is None:
        return np.asarray(fit.c + (1 - fit.c) * expit(fit.a * (theta - fit.b)))
    total = np.zeros((len(theta), len(fit.a)))
    for step in fit.thresholds.T:
        total += np.nan_to_num(expit(fit.a * (theta - step)))
    return np.where(np.isfinite(fit.a), total / (fit.levels - 1), np.nan)
