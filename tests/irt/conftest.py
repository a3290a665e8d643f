"""Simulated tables with known truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import expit


@dataclass(frozen=True)
class Simulated:
    y: np.ndarray
    theta: np.ndarray
    a: np.ndarray
    b: np.ndarray


def simulate(n_systems, n_rubrics, *, seed=0, missing=0.0, levels=2, guessing=0.0):
    """Labels of systems theta ~ N(0, 1) on rubrics log a ~ N(0, .4²), b ~ N(0, 1.2²)."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=n_systems)
    a, b = np.exp(rng.normal(0, 0.4, n_rubrics)), rng.normal(0, 1.2, n_rubrics)
    steps = (
        np.sort(b[:, None] + rng.normal(0, 0.9, (n_rubrics, levels - 1)), axis=1)
        if levels > 2
        else b[:, None]
    )
    above = guessing + (1 - guessing) * expit(a[:, None] * (theta[:, None, None] - steps))
    y = (rng.random((n_systems, n_rubrics, 1)) < above).sum(axis=2).astype(float)
    y[rng.random(y.shape) < missing] = np.nan
    return Simulated(y, theta, a, b)


@pytest.fixture(scope="session")
def leaderboard_15():
    return simulate(15, 300, seed=3, missing=0.05)
