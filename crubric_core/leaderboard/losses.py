"""Expected loss from violated rubrics (docs/method.md §15).

The loss of a query is the sum of the losses of its violated rubrics. Its mean over queries is a weighted mean of the
rubrics' violations, so that the queries' contributions are those of a score. Few queries have a costly violation: then
the mean is skewed, and Student's t does not cover large losses that happened not to occur. The interval of a system
alone is therefore at least as wide as that of Fay and Feuer (1997) for weighted sums of rare events.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtri

from ..types import FloatArray, IntArray
from .inference import Inference
from .influence import Domains, Influence, score_influence


@dataclass(frozen=True)
class ExpectedLoss:
    """Expected loss of a query, for M systems.

    evidence: influence of minus the loss, so that higher is better. most: mean loss of a query if all its rubrics are
    violated. jump: (M,) change of the estimate by one more violation of the costliest rubric; if units are domains, by
    one on each query of a domain. queries: number of queries that have a rubric with a loss.
    """

    evidence: Influence
    most: float
    jump: FloatArray
    queries: int

    def limits(self, standing: Inference) -> tuple[FloatArray, FloatArray]:
        """(M,) low and high ends of each system's own loss, at the confidence of ``standing``.

        standing: claims from ``evidence``. The hull of two intervals: Student's t by unit, and the gamma interval, of
        the lost part for the upper end and of the kept part for the lower end.
        """
        found, tail = self.evidence, (1 - standing.confidence) / 2
        n, off = found.n_units, found.allowance
        variance = (found.psi**2).sum(axis=0) * n / np.maximum(n - 1, 1)
        lost = -found.estimate
        high, kept = (gamma_limit(mean, variance, self.jump, tail) for mean in (lost, self.most - lost))
        low = np.minimum(-standing.high, self.most - kept - (0.0 if off is None else off.low))
        high = np.maximum(-standing.low, high + (0.0 if off is None else off.high))
        return np.clip(low, 0.0, self.most), np.clip(high, 0.0, self.most)


def expected_loss(
    lost: FloatArray,
    losses: FloatArray,
    query: IntArray,
    omega: FloatArray,
    domains: Domains | None = None,
) -> ExpectedLoss | None:
    """Mean over the queries with a loss, by omega (N,), of the sum of losses × share lost; None if no rubric counts.

    lost: (M, J) share of the mark that is lost on each rubric, in [0, 1], NaN unknown. losses: (J,) ≥ 0, cost of a
    violation. query: (J,) of each rubric. Systems without a label on every rubric are compared as if on all
    (``score_influence``). domains: the units, instead of the queries.
    """
    used = np.flatnonzero((losses * omega[query] > 0) & np.isfinite(lost).any(axis=0))
    if not len(used):
        return None
    queries, unit = np.unique(query[used], return_inverse=True)
    units = Domains(unit, np.ones(len(queries), dtype=bool))
    if domains is not None:
        units = replace(domains, of=domains.of[query[used]])
    weight = losses[used] * omega[query[used]]
    found, most = (
        score_influence(1 - lost[:, used], weight, domains=units),
        float(weight.sum() / omega[queries].sum()),
    )
    known = np.isfinite(lost[:, used]) * weight
    together = len(queries) / len(np.unique(units.of))
    jump = most * known.max(axis=1) / np.where(found.ranked, known.sum(axis=1), np.nan) * together
    return ExpectedLoss(
        evidence=replace(
            found,
            estimate=most * (found.estimate - 1),
            psi=most * found.psi,
            floor=most**2 * found.floor,
            limits=None,  # those of ``limits``
            unit="query" if domains is None else "domain",
        ),
        most=most,
        jump=jump,
        queries=len(queries),
    )


def gamma_limit(mean: FloatArray, variance: FloatArray, jump: FloatArray, tail: float) -> FloatArray:
    """Upper confidence limit of a mean ≥ 0 of rare events, with tail probability ``tail`` (Fay & Feuer 1997).

    It is computed as if one more event had happened, which adds at most ``jump`` to the mean.
    """
    more, spread = np.maximum(mean, 0.0) + jump, variance + jump**2
    return np.asarray(spread / (2 * more) * chdtri(2 * more**2 / spread, tail))
