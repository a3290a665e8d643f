"""A made-up study of the size that the figures must draw at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

HOSTILE = "<img src=x onerror=alert(1)> **bold** %{x} =cmd()"


@dataclass(frozen=True)
class Made:
    theta: np.ndarray
    difficulty: np.ndarray
    curves: np.ndarray
    info: np.ndarray
    names: list[str]
    systems: list[str]
    ability: np.ndarray


@pytest.fixture(scope="session")
def made() -> Made:
    rng = np.random.default_rng(0)
    theta = np.linspace(-4, 4, 41)
    b, a = rng.normal(0, 1.2, 4000), np.exp(rng.normal(0, 0.4, 4000))
    p = 1 / (1 + np.exp(-a * (theta[:, None] - b)))
    return Made(
        theta,
        b,
        p,
        a**2 * p * (1 - p),
        [HOSTILE, *(f"rubric {j}" for j in range(1, 4000))],
        [HOSTILE, *(f"system {i}" for i in range(1, 15))],
        np.sort(rng.normal(size=15))[::-1],
    )
