"""Model checks: residuals, their spectrum, and rubrics that run against the others (docs/method.md §12)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammainc, gammaincc, gammaln, ndtr

from ..types import BoolArray, FloatArray
from .abilities import log_probabilities
from .fit import IrtFit

STRAIGHT = 1e-3  # skewness below which the distribution over orders is taken as normal


@dataclass(frozen=True)
class Spectrum:
    """eigenvalues: (≤ M,) of the residual correlation matrix, largest first. ratio: first over second (A1)."""

    eigenvalues: FloatArray
    ratio: float


class ItemRest(NamedTuple):
    """Item–rest correlations of J rubrics, and how likely so low ones are by chance.

    correlation: (J,) in [-1, 1]. chance: (J,) in (0, 1]. Both are NaN where fewer than three systems are known or one
    side does not vary.
    """

    correlation: FloatArray
    chance: FloatArray


def item_rest(y: FloatArray) -> ItemRest:
    """Correlate each rubric's labels with the systems' mean on all their other labelled rubrics.

    ``y`` is (M, J) on any common scale, NaN unknown. Pearson correlation; a negative value: weaker systems pass the
    rubric more often (aberrant). chance: the probability of so low a correlation if labels are unrelated to ability.
    Among all orders of a rubric's labels over its systems: the lower tail of the Pearson type III distribution with the
    mean, variance and skewness over these orders, and at least 1 / the number of different orders. Student's t would
    assume normal abilities: with one system far above the others, it gives much too low a chance to a rubric that only
    this system fails.
    """
    known = ~np.isnan(y)
    filled = np.where(known, y, 0.0)
    others = known.sum(axis=1, keepdims=True) - known
    with_rest = known & (others > 0)
    rest = np.where(with_rest, (filled.sum(axis=1, keepdims=True) - filled) / np.maximum(others, 1), 0.0)
    n = with_rest.sum(axis=0)
    enough = np.maximum(n, 1)
    item_gap = np.where(with_rest, filled - np.where(with_rest, filled, 0.0).sum(axis=0) / enough, 0.0)
    rest_gap = np.where(with_rest, rest - rest.sum(axis=0) / enough, 0.0)
    squares = [np.einsum("ij,ij->j", gap, gap) for gap in (item_gap, rest_gap)]
    cubes = [np.einsum("ij,ij,ij->j", gap, gap, gap) for gap in (item_gap, rest_gap)]
    scale = np.sqrt(squares[0] * squares[1])
    defined = (n >= 3) & (scale > 1e-12)
    products = np.einsum("ij,ij->j", item_gap, rest_gap)
    value = np.where(defined, products / np.where(defined, scale, 1.0), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = cubes[0] / squares[0] ** 1.5 * cubes[1] / squares[1] ** 1.5
        skew = skew * n * (n - 1) ** 1.5 / ((n - 1) * (n - 2))
        shape = 4 / skew**2
        at = np.maximum(shape + value * np.sqrt((n - 1) * shape) * np.sign(skew), 0.0)
        tail = np.where(skew > 0, gammainc(shape, at), gammaincc(shape, at))
    tail = np.where(np.abs(skew) < STRAIGHT, ndtr(value * np.sqrt(np.maximum(n - 1, 0))), tail)
    orders = gammaln(n + 1.0)
    for level in np.unique(y[known]):
        orders = orders - gammaln((y == level).sum(axis=0) + 1.0)
    return ItemRest(value, np.where(defined, np.maximum(tail, np.exp(-orders)), np.nan))


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
