"""Model checks: residuals, their spectrum, and rubrics that run against the others (docs/method.md §12)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc, gammaincc, gammaln, ndtr

from ..types import BoolArray, FloatArray, IntArray
from .abilities import log_probabilities
from .fit import IrtFit

STRAIGHT = 1e-3  # skewness below which the distribution over orders is taken as normal


@dataclass(frozen=True)
class Spectrum:
    """eigenvalues: (≤ M,) of the residual correlation matrix, largest first. ratio: first over second (A1)."""

    eigenvalues: FloatArray
    ratio: float


def item_rest_correlation(y: FloatArray) -> FloatArray:
    """(J,) Pearson correlation of each rubric's labels with the systems' mean on all their other labelled rubrics.

    ``y`` is (M, J) on any common scale, NaN unknown. NaN where fewer than three systems are known or one of the two
    does not vary. A negative value: weaker systems pass the rubric more often (aberrant).
    """
    return _item_rest(y)[0]


def item_rest_chance(y: FloatArray) -> FloatArray:
    """(J,) chance that labels unrelated to ability have so low an item–rest correlation; NaN where that is NaN.

    Among all orders of a rubric's labels over its systems: the lower tail of the Pearson type III distribution with the
    mean, variance and skewness over these orders, and at least 1 / the number of different orders. Student's t would
    assume normal abilities: with one system far above the others, it gives much too low a chance to a rubric that only
    this system fails.
    """
    value, item, rest, n = _item_rest(y)
    with np.errstate(divide="ignore", invalid="ignore"):
        cubes = [(gap**3).sum(axis=0) / ((gap**2).sum(axis=0)) ** 1.5 for gap in (item, rest)]
        skew = cubes[0] * cubes[1] * n * (n - 1) ** 1.5 / ((n - 1) * (n - 2))
        shape = 4 / skew**2
        at = np.maximum(shape + value * np.sqrt((n - 1) * shape) * np.sign(skew), 0.0)
        tail = np.where(skew > 0, gammainc(shape, at), gammaincc(shape, at))
    tail = np.where(np.abs(skew) < STRAIGHT, ndtr(value * np.sqrt(np.maximum(n - 1, 0))), tail)
    orders = gammaln(n + 1.0)
    for level in np.unique(y[~np.isnan(y)]):
        orders = orders - gammaln((y == level).sum(axis=0) + 1.0)
    return np.where(np.isfinite(value), np.maximum(tail, np.exp(-orders)), np.nan)


def _item_rest(y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Item–rest correlations (J,); both centred variables, (M, J) each, 0 where unknown; numbers of systems (J,)."""
    known = ~np.isnan(y)
    filled = np.where(known, y, 0.0)
    others = known.sum(axis=1, keepdims=True) - known
    with_rest = known & (others > 0)
    rest = np.where(with_rest, (filled.sum(axis=1, keepdims=True) - filled) / np.maximum(others, 1), 0.0)
    n = with_rest.sum(axis=0)
    enough = np.maximum(n, 1)
    item_gap = np.where(with_rest, filled - np.where(with_rest, filled, 0.0).sum(axis=0) / enough, 0.0)
    rest_gap = np.where(with_rest, rest - rest.sum(axis=0) / enough, 0.0)
    scale = np.sqrt((item_gap**2).sum(axis=0) * (rest_gap**2).sum(axis=0))
    defined = (n >= 3) & (scale > 1e-12)
    value = np.where(defined, (item_gap * rest_gap).sum(axis=0) / np.where(defined, scale, 1.0), np.nan)
    return value, item_gap, rest_gap, n


def expected_labels(fit: IrtFit, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and variance (M, J) of each label at abilities ``theta`` (M,); NaN for a constant rubric."""
    active = np.flatnonzero(~fit.constant)
    probability = np.exp(log_probabilities(fit, active, theta))
    level = np.arange(len(probability))
    mean = np.full((len(theta), len(fit.constant)), np.nan)
    variance = mean.copy()
    first = np.tensordot(level, probability, axes=1)
    mean[:, active] = first.T
    variance[:, active] = (np.tensordot(level**2, probability, axes=1) - first**2).T
    return mean, variance


def residuals(fit: IrtFit, y: FloatArray) -> FloatArray:
    """(M, J) label minus its expectation at the system's EAP ability; NaN where unknown or constant."""
    return y - expected_labels(fit, fit.theta)[0]


def residual_spectrum(residual: FloatArray) -> Spectrum:
    """Eigenvalues of the J × J correlation matrix of ``residual`` (M, J), from its M × M Gram matrix.

    Both share their non-zero eigenvalues. An unknown residual counts as the rubric's mean. A first eigenvalue that
    towers over the second indicates a second ability (paper, A1).
    """
    standard = standardised(residual)[0]
    eigenvalues = np.maximum(np.linalg.eigvalsh(standard @ standard.T)[::-1], 0.0)
    second = eigenvalues[1] if len(eigenvalues) > 1 else 0.0
    ratio = float(eigenvalues[0] / second) if second > 1e-9 else float("nan")
    return Spectrum(eigenvalues, ratio)


def standardised(residual: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Columns of ``residual`` (M, J) with mean 0 and unit length, and (J,) which vary on at least three systems.

    0 where unknown, and in the columns that do not vary.
    """
    known = ~np.isnan(residual)
    n = known.sum(axis=0)
    filled = np.where(known, residual, 0.0)
    centred = np.where(known, filled - filled.sum(axis=0) / np.maximum(n, 1), 0.0)
    length = np.sqrt((centred**2).sum(axis=0))
    varies = (n >= 3) & (length > 1e-9)
    return centred / np.where(varies, length, 1.0) * varies, varies
