"""Two calibrations on one scale, by their common rubrics (Kolen & Brennan 2014, ch. 6).

theta_old = A theta_new + B converts a later fit to the scale of an earlier one (``irt.linking``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from ..errors import PlacementError
from ..irt.linking import ScaleLink
from ..irt.models import ItemParameters
from ..types import FloatArray

Method = Literal["stocking-lord", "mean-sigma"]
FEWEST = 3  # common rubrics
NODES = np.linspace(-4.0, 4.0, 81)


@dataclass(frozen=True)
class RubricLink(ScaleLink):
    """theta_old = slope theta_new + intercept. rubrics: number of rubrics from which it was computed."""

    method: Method
    rubrics: int


def link(new: ItemParameters, old: ItemParameters, method: Method = "stocking-lord") -> RubricLink:
    """Link two fits by the parameters of the same rubrics, in the same order; skips rubrics that either fit lacks.

    Raises PlacementError with fewer than three rubrics, or if the difficulties of one fit are all equal.
    """
    common = np.isfinite(new.a) & np.isfinite(old.a)
    new, old = new.of(common), old.of(common)
    if common.sum() < FEWEST:
        raise PlacementError(
            f"Linking scales needs {FEWEST} rubrics or more, but {common.sum()} have parameters in both calibrations."
        )
    start = mean_sigma(new, old)
    slope, intercept = start if method == "mean-sigma" else stocking_lord(new, old, start)
    return RubricLink(slope, intercept, method, int(common.sum()))


def mean_sigma(new: ItemParameters, old: ItemParameters) -> tuple[float, float]:
    """A = sd(b_old) / sd(b_new), B = mean(b_old) - A mean(b_new), over difficulties or, for the GRM, thresholds.

    Raises PlacementError if they do not vary. Marco (1977), Journal of Educational Measurement 14, 139-160.
    """
    first, second = _difficulties(new), _difficulties(old)
    both = np.isfinite(first) & np.isfinite(second)
    first, second = first[both], second[both]
    if not first.std() > 0 or not second.std() > 0:
        raise PlacementError("Scales cannot be linked: the common rubrics are all equally difficult.")
    slope = float(second.std() / first.std())
    return slope, float(second.mean() - slope * first.mean())


def stocking_lord(
    new: ItemParameters, old: ItemParameters, start: tuple[float, float]
) -> tuple[float, float]:
    """The A and B that minimise ``curve_distance``. start: initial values, such as those of ``mean_sigma``.

    Stocking & Lord (1983), Applied Psychological Measurement 7, 201-210.
    """

    def loss(x: FloatArray) -> float:
        return curve_distance(new, old, float(np.exp(x[0])), float(x[1]))

    found = minimize(loss, [float(np.log(start[0])), start[1]], method="Nelder-Mead", tol=1e-9)
    return float(np.exp(found.x[0])), float(found.x[1])


def curve_distance(new: ItemParameters, old: ItemParameters, slope: float, intercept: float) -> float:
    """Mean over N(0, 1) of the squared difference of the two test characteristic curves, in rubrics squared."""
    weights = np.exp(-(NODES**2) / 2)
    moved = ScaleLink(slope, intercept).items(new)
    gap = expected_scores(old, NODES).sum(axis=1) - expected_scores(moved, NODES).sum(axis=1)
    return float((weights * gap**2).sum() / weights.sum())


def expected_scores(items: ItemParameters, theta: FloatArray) -> FloatArray:
    """(G, J) expected level of each rubric as a share of its scale."""
    if items.thresholds is None:
        z = items.a * (theta[:, None] - items.b)
        return np.asarray(items.c + (1 - items.c) * expit(z))
    steps = np.isfinite(items.thresholds)
    z = items.a[:, None] * (theta[:, None, None] - np.where(steps, items.thresholds, 0.0))
    return np.asarray((expit(z) * steps).sum(axis=2) / np.maximum(steps.sum(axis=1), 1))


def _difficulties(items: ItemParameters) -> FloatArray:
    return items.b if items.thresholds is None else items.thresholds.ravel()
