"""Abilities and item parameters of one calibration on the ability scale of another.

The systems of a fit determine origin and unit of theta. theta_target = A theta + B converts a fit to another scale:
a_target = a / A, b_target = A b + B. This module links by common systems; ``placement.linking`` by common rubrics.

Kolen, M. J. & Brennan, R. L. (2014), Test Equating, Scaling, and Linking, ch. 6.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..types import FloatArray
from .models import ItemParameters


@dataclass(frozen=True)
class ScaleLink:
    """theta on the target scale = slope × theta + intercept; slope > 0."""

    slope: float
    intercept: float

    def abilities(self, theta: FloatArray) -> FloatArray:
        """Convert ``theta``, of any shape, to the target scale."""
        return np.asarray(self.slope * theta + self.intercept)

    def items(self, items: ItemParameters) -> ItemParameters:
        """Parameters with the same response functions on the target scale: a / slope, slope × b + intercept, c."""
        thresholds = None if items.thresholds is None else self.abilities(items.thresholds)
        return ItemParameters(items.a / self.slope, self.abilities(items.b), items.c, thresholds)


def mean_sigma(theta: FloatArray, target: FloatArray) -> ScaleLink:
    """The link that gives ``theta`` (n,) the mean and the sd of ``target`` (n,): abilities of the same systems.

    Systems that are unknown (NaN) on either scale do not count. The slope is 1 if either has no spread; the link is the
    identity if no system is known on both.
    """
    known = np.isfinite(theta) & np.isfinite(target)
    if not known.any():
        return ScaleLink(1.0, 0.0)
    from_, onto = theta[known], target[known]
    spread, wanted = float(from_.std()), float(onto.std())
    slope = wanted / spread if min(spread, wanted) > 0 else 1.0
    return ScaleLink(slope, float(onto.mean() - slope * from_.mean()))
