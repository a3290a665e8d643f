"""What each threshold of the gate loses, and whether the remaining rubrics suffice for claims (docs/method.md §2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..text import count, numeral, rounded
from ..types import BoolArray, FloatArray, IntArray
from .gate import Gate, shown_threshold

LEAST_RUBRICS = 20
"""Informative rubrics that a claim needs at the least; a quarter of the bank size where that is more."""
LEAST_SHARE = 0.5
"""Share of the informative rubrics that is enough where it is fewer."""
LEAST_INFORMATION = 0.5
"""Share of the information that the gate must keep."""


@dataclass(frozen=True)
class GatePrices:
    """What remains at each of T thresholds; all arrays (T,).

    tau: the threshold. rubrics: number that reach it. informative: number of these with information. information: their
    share of the information of all rubrics, in [0, 1]; NaN if no rubric has any. queries_lost: queries that lose their
    last informative rubric. judge_calls: labels that a new system needs on all informative rubrics kept. queries: a
    number: queries with an informative rubric without a gate.
    """

    tau: FloatArray
    rubrics: IntArray
    informative: IntArray
    information: FloatArray
    queries_lost: IntArray
    judge_calls: IntArray
    queries: int


@dataclass(frozen=True)
class GateVerdict:
    """Whether the gate leaves enough for a claim.

    holds: whether it does. informative: number of informative rubrics that pass. of: their number without a gate.
    needed: the least number that a claim needs. information: share of the information kept, in [0, 1]. remedy: the
    highest sufficient threshold, rounded down; None if there is none, or ``holds``. sentence: the finding in words;
    empty if ``holds``.
    """

    holds: bool
    informative: int
    of: int
    needed: int
    information: float
    remedy: float | None
    sentence: str


def gate_prices(
    values: FloatArray, taus: Sequence[float] | FloatArray, nu: FloatArray, query: IntArray, labels: int
) -> GatePrices:
    """The price of each threshold in ``taus`` (T,), given each rubric's statistic, information and query, (J,) each.

    A rubric whose statistic is NaN always passes. query: positions from 0. labels: number of labels of one cell.
    """
    tau = np.asarray(taus, dtype=np.float64)
    kept = ~(values < tau[:, None])
    informed = kept & (nu > 0)
    total = nu.sum()
    some = np.flatnonzero(nu > 0)[np.argsort(query[nu > 0], kind="stable")]
    starts = np.unique(query[some], return_index=True)[1]
    covered = np.logical_or.reduceat(kept[:, some], starts, axis=1).sum(axis=1) if len(some) else 0
    return GatePrices(
        tau=tau,
        rubrics=kept.sum(axis=1),
        informative=informed.sum(axis=1),
        information=(informed @ nu) / total if total > 0 else np.full(len(tau), np.nan),
        queries_lost=np.full(len(tau), len(starts)) - covered,
        judge_calls=labels * informed.sum(axis=1),
        queries=len(starts),
    )


def judge_gate(gate: Gate, nu: FloatArray, budget: int) -> GateVerdict:
    """Whether at least max(20, budget / 4) informative rubrics pass, with half of the information ``nu`` (J,).

    If half of the informative rubrics is fewer, that is enough: a small table is not the fault of the gate.
    """
    informative = nu > 0
    passing = informative & gate.feasible
    total, n, of = float(nu.sum()), int(passing.sum()), int(informative.sum())
    share = float(nu[passing].sum() / total) if total > 0 else float("nan")
    needed = int(np.ceil(min(max(LEAST_RUBRICS, budget / 4), of * LEAST_SHARE)))
    holds = gate.off or not (n < needed or share < LEAST_INFORMATION)
    remedy = None if holds else _remedy(gate.values, informative, nu, needed)
    sentence = "" if holds else _sentence(gate, n, of, share, remedy)
    return GateVerdict(holds, n, of, needed, share, remedy, sentence)


def _remedy(values: FloatArray, informative: BoolArray, nu: FloatArray, needed: int) -> float | None:
    """The highest threshold, rounded down to two digits, that leaves enough rubrics and information."""
    ranked = np.flatnonzero(informative)
    ranked = ranked[np.argsort(-np.nan_to_num(values[ranked], nan=np.inf), kind="stable")]
    enough = np.cumsum(nu[ranked]) >= LEAST_INFORMATION * nu.sum()
    enough &= np.arange(1, len(ranked) + 1) >= needed
    if not enough.any():
        return None
    value = float(values[ranked[np.argmax(enough)]])
    return float(np.floor(100 * value) / 100) if np.isfinite(value) else None


def _sentence(gate: Gate, n: int, of: int, share: float, remedy: float | None) -> str:
    shown = shown_threshold(gate)
    said = (
        f"The gate at τ_c = {shown} ({gate.statistic}) keeps {n:,} of {count(of, 'informative rubric')} with "
        f"{rounded(share)} of their information: too little for any claim about systems."
    )
    return f"{said} τ_c = {numeral(remedy)} or less would be enough." if remedy is not None else said
