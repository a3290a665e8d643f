"""Number of judgements that an ability needs, simulated with existing labels: adaptive, in a fixed order, or all.

A computerised adaptive test (van der Linden & Glas 2010, ch. 1) with a study's labels as answers: whichever rubric is
asked next, its label is known. The parameters were fitted with these systems, as those of a bank are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..irt.abilities import ability_posterior, log_probabilities
from ..irt.fit import IrtFit
from ..irt.information import item_information
from ..types import FloatArray, IntArray


@dataclass(frozen=True)
class Judgements:
    """Number of judgements that each of M systems needs until its posterior sd is at most a target; NaN if it never is.

    adaptive, fixed: (M,) in the order of expected information, and in the given order. available: (M,) number of
    rubrics with a label. sd_all: (M,) posterior sd from all of them.
    """

    adaptive: FloatArray
    fixed: FloatArray
    available: IntArray
    sd_all: FloatArray


def simulate_judging(fit: IrtFit, y: FloatArray, order: IntArray, target: float) -> Judgements:
    """Simulate judging each system (M, J) one rubric at a time.

    order: (R,) rubrics of the fixed order; adaptive: all J.
    """
    usable = np.isfinite(y) & ~fit.constant
    tables = [_Tables(fit, row, np.flatnonzero(known)) for row, known in zip(y, usable, strict=True)]
    fixed = [order[known[order]] for known in usable]
    return Judgements(
        adaptive=np.array([table.adaptive(target) for table in tables]),
        fixed=np.array([table.in_turn(rows, target) for table, rows in zip(tables, fixed, strict=True)]),
        available=usable.sum(axis=1),
        sd_all=ability_posterior(fit, np.where(usable, y, np.nan)).sd,
    )


class _Tables:
    """One system: log-likelihood and information of each of its rubrics on a grid of abilities."""

    def __init__(self, fit: IrtFit, y: FloatArray, rows: IntArray) -> None:
        self._rows, self._grid = rows, np.linspace(-6.0, 6.0, 481)
        table = log_probabilities(fit, rows, self._grid)
        self._loglik = table[y[rows].astype(np.int64), np.arange(len(rows))]
        self._information = item_information(fit, self._grid)[:, rows]
        self._prior = -0.5 * self._grid**2

    def _weights(self, logpost: FloatArray) -> FloatArray:
        weights = np.exp(logpost - logpost.max())
        out: FloatArray = weights / weights.sum()
        return out

    def _sd(self, weights: FloatArray) -> float:
        mean = weights @ self._grid
        return float(np.sqrt(weights @ (self._grid - mean) ** 2))

    def adaptive(self, target: float) -> float:
        """Number of judgements if each is of the most informative rubric at that time; NaN if never enough."""
        logpost, open_ = self._prior.copy(), np.ones(len(self._rows), dtype=bool)
        for asked in range(len(self._rows) + 1):
            weights = self._weights(logpost)
            if self._sd(weights) <= target:
                return float(asked)
            if open_.any():
                best = int(np.argmax(np.where(open_, weights @ self._information, -np.inf)))
                logpost, open_[best] = logpost + self._loglik[best], False
        return float("nan")

    def in_turn(self, rows: IntArray, target: float) -> float:
        """Number of judgements in the order of ``rows``; NaN if never enough."""
        logpost = self._prior.copy()
        for asked, place in enumerate(np.searchsorted(self._rows, rows).tolist()):
            if self._sd(self._weights(logpost)) <= target:
                return float(asked)
            logpost = logpost + self._loglik[place]
        return float(len(rows)) if self._sd(self._weights(logpost)) <= target else float("nan")
