"""The pool score of a new system from its bank: the mean of P_j at its ability, with its error (docs/method.md §8).

A chosen bank's plain mean is no estimate of it: rubrics are chosen for what they separate, not to represent the pool.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..types import FloatArray


@dataclass(frozen=True)
class PoolScore:
    """score: (M,) expected mean share of the mark over the pool. se: (M,) its standard error."""

    score: FloatArray
    se: FloatArray


def predicted_pool_score(
    nodes: FloatArray, curve: FloatArray, noise: FloatArray, theta: FloatArray, theta_se: FloatArray
) -> PoolScore:
    """From abilities on the bank. The curve between two nodes is a straight line.

    nodes: (G,) ascending abilities. curve: (G,) mean over the pool of the expected share of the mark there. noise:
    (G,) variance of a realised pool score about the curve, Σ_j Var(y_j | θ) / J². theta, theta_se: (M,).
    The variance of the prediction is (curve' · theta_se)² + noise.
    """
    slope = np.gradient(curve, nodes)
    error = np.interp(theta, nodes, slope) * theta_se
    se = np.sqrt(error**2 + np.interp(theta, nodes, noise))
    score = np.interp(theta, nodes, curve)
    return PoolScore(np.where(np.isnan(theta), np.nan, score), np.where(np.isnan(theta), np.nan, se))


def pool_curve(chances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Curve and noise (G,) each of a pool from (L, J, G) chances of each level, shares of the mark 0 … 1."""
    marks = np.arange(len(chances)) / (len(chances) - 1)
    mean = np.tensordot(marks, chances, 1)
    variance = np.tensordot(marks**2, chances, 1) - mean**2
    return mean.mean(axis=0), variance.sum(axis=0) / chances.shape[1] ** 2
