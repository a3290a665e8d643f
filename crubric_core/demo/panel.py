"""A panel of imperfect judges: their labels of rubrics that are truly met or not, and how often all judges agree.

Judge k passes a cell of rubric j, whose truth is z (1 met, 0 not), with probability
``sigma(leniency_k + reading_jk + acuity_k (clarity_j (2z - 1) + shared u))``, where u ~ N(0, 1) is the same for all
judges of one cell. A low clarity makes every judge err more on the rubric. The reading is how much more easily
judge k passes this rubric than other rubrics: a slant that all judges share, plus a part of judge k alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, roots_hermitenorm

from ..types import FloatArray
from .texts import names

CLEAR = 14.0
"""Upper limit of the clarity, at which judges practically never err."""

_NODES, _WEIGHTS = roots_hermitenorm(15)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_BISECTIONS = 14


@dataclass(frozen=True)
class Panel:
    """K judges.

    names: the K names, in alphabetical order.
    acuity: (K,) > 0, how strongly a judge follows the evidence.
    leniency: (K,) log-odds; above 0 the judge passes too easily.
    shared: ≥ 0, strength of the error that is common to all judges of one cell.
    """

    names: tuple[str, ...]
    acuity: FloatArray
    leniency: FloatArray
    shared: float = 0.5

    def readings(self, rubrics: int, slant_sd: float, own_sd: float, rng: np.random.Generator) -> FloatArray:
        """``(J, K)`` log-odds: N(0, slant_sd²) per rubric, shared by the panel, plus N(0, own_sd²) per judge."""
        slant = slant_sd * rng.standard_normal((rubrics, 1))
        return slant + own_sd * rng.standard_normal((rubrics, len(self.names)))

    def pass_probability(self, evidence: FloatArray, reading: FloatArray) -> FloatArray:
        """``(..., K)`` probability of a pass. evidence: ``(...)``, clarity (2z - 1) + shared u. reading: (..., K)."""
        odds = self.leniency + reading + self.acuity * evidence[..., None]
        return np.asarray(expit(odds), dtype=np.float64)

    def vote(
        self, passes: FloatArray, clarity: FloatArray, reading: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Labels 0/1 ``(M, J, K)`` for truths 0/1 ``(M, J)``, clarities ``(J,)`` and readings ``(J, K)``."""
        evidence = clarity * (2 * passes - 1) + self.shared * rng.standard_normal(passes.shape)
        chance = self.pass_probability(evidence, reading)
        return (rng.random(chance.shape) < chance).astype(np.float64)

    def pass_rates(self, clarity: FloatArray, reading: FloatArray) -> FloatArray:
        """``(2, J, K)``: each judge's pass rate on each rubric, given truth 0 and given truth 1."""
        return np.einsum("zjuk,u->zjk", self._chances(clarity, reading), _WEIGHTS)

    def agreement(self, clarity: FloatArray, reading: FloatArray) -> FloatArray:
        """``(2, J)``: probability that all K judges agree on a cell, given truth 0 and given truth 1."""
        chance = self._chances(clarity, reading)
        return np.asarray((chance.prod(axis=-1) + (1 - chance).prod(axis=-1)) @ _WEIGHTS, dtype=np.float64)

    def expected_agreement(self, clarity: FloatArray, reading: FloatArray, rate: FloatArray) -> FloatArray:
        """``(J,)``: probability that all K judges agree on a cell. rate: (J,) probability that the rubric is met."""
        fails, passes = self.agreement(clarity, reading)
        return np.asarray((1 - rate) * fails + rate * passes, dtype=np.float64)

    def clarity_for(self, agreement: FloatArray, reading: FloatArray) -> FloatArray:
        """``(J,)`` clarity in [0, CLEAR] at which the panel agrees this often if truth is 0 or 1 equally often.

        It is found by bisection. Judges whose readings differ too much, or who all have the same slant, cannot reach
        every agreement: if even clarity 0 gives more agreement than ``agreement``, the result is near 0.
        """
        low, high = np.zeros(len(agreement)), np.full(len(agreement), CLEAR)
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            short = self.agreement(middle, reading).mean(axis=0) < agreement
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        return (low + high) / 2

    def _chances(self, clarity: FloatArray, reading: FloatArray) -> FloatArray:
        truth = np.array([-1.0, 1.0])[:, None, None]
        return self.pass_probability(truth * clarity[:, None] + self.shared * _NODES, reading[:, None])


def people(role: str, count: int | None = None) -> Panel:
    """The panel of the first ``count`` people (None: all) of a role, "judge" or "annotator"."""
    rows = names()[role][:count]
    return Panel(
        names=tuple(row["name"] for row in rows),
        acuity=np.array([row["acuity"] for row in rows]),
        leniency=np.array([row["leniency"] for row in rows]),
    )
