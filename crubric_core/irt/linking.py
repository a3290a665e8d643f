"""Abilities and item parameters of one calibration on the ability scale of another.

Origin and unit of theta are those of the systems of a fit. theta_target = A theta + B brings a fit to another scale:
a_target = a / A, b_target = A b + B. Here by common systems; ``placement.linking`` links by common rubrics.

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
        """``theta``, of any shape, on the target scale."""
        return np.asarray(self.slope * theta + self.intercept)

    def items(self, items: ItemParameters) -> ItemParameters:
        """Parameters that give the same response functions on the target scale: a / slope, slope × b + intercept, c."""
        thresholds = None if items.thresholds is None else self.abilities(items.thresholds)
        return ItemParameters(items.a / self.slope, self.abilities(items.b), items.c, thresholds)


def mean_sigma(theta: FloatArray, target: FloatArray) -> ScaleLink:
    """The line that gives ``theta`` (n,) the mean and the sd of ``target`` (n,): the same systems on two scales.

    Systems that are unknown on either scale do not count. Where either has no spread the slope is 1.
    """
    known = np.isfinite(theta) & np.isfinite(target)
    if not known.any():
        return ScaleLink(1.0, 0.0)
    from_, onto = theta[known], target[known]
    spread, wanted = float(from_.std()), float(onto.std())
    slope = wanted / spread if min(spread, wanted) > 0 else 1.0
    return ScaleLink(slope, float(onto.mean() - slope * from_.mean()))
