"""A panel of imperfect judges: what each says of a rubric that truly is met or not, and how often all agree.

Judge k passes an instance of rubric j, whose truth is z, with probability
``sigma(leniency_k + acuity_k (clarity_j (2z - 1) + shared u))``, where u ~ N(0, 1) is the same for all judges of
one instance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, roots_hermitenorm

from ..types import FloatArray
from .texts import names

CLEAR = 14.0
"""Clarity beyond which no judge errs."""

_NODES, _WEIGHTS = roots_hermitenorm(31)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_CLARITIES = np.concatenate([np.linspace(0, 4, 161), np.linspace(4.1, CLEAR, 100)])


@dataclass(frozen=True)
class Panel:
    """K judges.

    names: K of them, in alphabetical order.
    acuity: (K,) > 0, how strongly a judge follows the evidence.
    leniency: (K,) log-odds; above 0 the judge passes too easily.
    shared: ≥ 0, strength of the confusion that the judges of one instance have in common.
    """

    names: tuple[str, ...]
    acuity: FloatArray
    leniency: FloatArray
    shared: float = 0.5

    def pass_probability(self, evidence: FloatArray) -> FloatArray:
        """``(..., K)`` from evidence ``(...)``, which is clarity × (2z - 1) + shared × u."""
        return np.asarray(expit(self.leniency + self.acuity * evidence[..., None]), dtype=np.float64)

    def vote(self, passes: FloatArray, clarity: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Labels 0/1 ``(M, J, K)`` for truths 0/1 ``(M, J)`` and clarities ``(J,)``."""
        evidence = clarity * (2 * passes - 1) + self.shared * rng.standard_normal(passes.shape)
        chance = self.pass_probability(evidence)
        return (rng.random(chance.shape) < chance).astype(np.float64)

    def pass_rates(self, clarity: FloatArray) -> FloatArray:
        """``(2, J, K)``: each judge's pass rate where the truth is 0 and where it is 1."""
        return np.einsum("zjuk,u->zjk", self._chances(clarity), _WEIGHTS)

    def agreement(self, clarity: FloatArray) -> FloatArray:
        """``(2, J)``: probability that all K judges agree where the truth is 0 and where it is 1."""
        chance = self._chances(clarity)
        return np.asarray((chance.prod(axis=-1) + (1 - chance).prod(axis=-1)) @ _WEIGHTS, dtype=np.float64)

    def expected_agreement(self, clarity: FloatArray, rate: FloatArray) -> FloatArray:
        """``(J,)``: probability that all K judges agree where a rubric is met with chance ``rate``."""
        fails, passes = self.agreement(clarity)
        return np.asarray((1 - rate) * fails + rate * passes, dtype=np.float64)

    def clarity_for(self, agreement: FloatArray) -> FloatArray:
        """Clarity at which the panel agrees this often, the truth being a coin toss; within [0, CLEAR]."""
        return np.interp(agreement, self.agreement(_CLARITIES).mean(axis=0), _CLARITIES)

    def _chances(self, clarity: FloatArray) -> FloatArray:
        truth = np.array([-1.0, 1.0])[:, None, None]
        return self.pass_probability(truth * clarity[:, None] + self.shared * _NODES)


def people(role: str, count: int | None = None) -> Panel:
    """The first ``count`` named people of a role, "judge" or "annotator"."""
    rows = names()[role][:count]
    return Panel(
        names=tuple(row["name"] for row in rows),
        acuity=np.array([row["acuity"] for row in rows]),
        leniency=np.array([row["leniency"] for row in rows]),
    )
