"""What would help if no rubric that varies reaches the threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..settings import Settings
from ..types import BoolArray
from .gate import Gate, decide_gate

if TYPE_CHECKING:
    from ..labels.store.reduction import Reduction

SAME_FOR_ALL = (
    "No rubric has different consensus labels for two systems, so no rubric can rank them: add rubrics, or labels of "
    "several systems on the same queries."
)


@dataclass(frozen=True)
class Nearest:
    """The highest threshold that leaves a rubric on which the systems differ.

    best: the highest statistic of such a rubric. tau_c: best rounded down to two digits. passing: number of such
    rubrics that reach tau_c.
    """

    best: float
    tau_c: float
    passing: int


def nearest_threshold(gate: Gate, varying: BoolArray) -> Nearest | None:
    """By how much to lower tau_c if none of the ``varying`` rubrics (J,) passes; None if no rubric varies."""
    values = gate.values[varying]
    if not len(values):
        return None
    best = float(values.max())
    tau_c = round(float(np.floor(100 * best)) / 100, 2)
    return Nearest(best, tau_c, int((values >= tau_c).sum()))


def nothing_passes(reduction: Reduction, varying: BoolArray, settings: Settings) -> str:
    """A message: why none of the ``varying`` rubrics (J,) reaches tau_c, and what would help."""
    gate = decide_gate(reduction, settings)
    nearest = nearest_threshold(gate, varying)
    if nearest is None:
        return SAME_FOR_ALL
    remedy = f"lower τ_c to {nearest.tau_c:.2f} or less"
    if gate.statistic == "agreement" and settings.response == "ordered" and settings.agreement_tolerance == 0:
        remedy += ", let adjacent levels agree (agreement_tolerance = 1), choose a model of pass or fail"
    name = "measurability" if gate.statistic == "agreement" else "kappa"
    return (
        f"No rubric on which the systems differ reaches τ_c = {gate.threshold:g}; the highest {name} of one is "
        f"{nearest.best:.3f}: {remedy}, or add labels."
    )
