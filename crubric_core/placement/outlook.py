"""Whether the tier of a new system would still change if the rest of the bank were judged (docs/method.md §13).

The missing labels are drawn from their distribution given the labels so far, and the system is placed again with each
draw: stochastic curtailment (Lan, Simon & Halperin 1982, Sequential Analysis 1, 207-219). The share of draws that end
in a tier is the probability of that final tier. Under the model it is a martingale, so that stopping once it is high
enough is wrong no more often than that probability implies, however often it is checked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import roots_hermitenorm

from ..errors import PlacementError
from ..irt.abilities import estimate_abilities, log_likelihoods, log_probabilities
from ..irt.cells import label_scores
from ..types import FloatArray, IntArray
from .among import Among, evidence_of_systems
from .bank_scale import BankScale

DRAWS = 200  # draws of the missing labels
NODES = 9  # integration nodes of the effect of a query on a system
_GRID = np.linspace(-6.0, 6.0, 241)


@dataclass(frozen=True)
class Outlook:
    """The final tiers that are possible for one system once ``open`` more rubrics are judged.

    tier: from the labels so far, as by ``place_systems``; 0 without a label. shares: tier → share of the draws.
    """

    tier: int
    open: int
    shares: dict[int, float]

    @property
    def probability(self) -> float:
        """Probability that the current tier is final; 0 without a label."""
        return self.shares.get(self.tier, 0.0)

    def settled(self, confidence: float) -> bool:
        """Whether the tier stays with a probability that exceeds ``confidence`` by one standard error of the draws.

        If no rubric is open, whether the probability is at least ``confidence``.
        """
        return self.probability >= confidence + np.sqrt(confidence * (1 - confidence) / DRAWS) * (
            self.open > 0
        )


class Forecast:
    """Forecasts of the final tiers of new systems on one bank.

    effect: sd of a query's effect on a system, in units of theta; by default ``query_effect`` of the bank's systems.
    Raises PlacementError for a bank without reference systems, or whose systems have no common scale.
    """

    def __init__(self, bank_scale: BankScale, effect: float | None = None) -> None:
        if bank_scale.reference is None:
            raise PlacementError(
                "This bank compares systems on the bank alone, so no tier can be settled before all of it is judged: "
                "build it with the robust preset, or leave --until-tier out."
            )
        if bank_scale.reference.group is not None:
            raise PlacementError(
                "The bank's systems share too few queries for a common scale, so no tier among them can be settled: "
                "leave --until-tier out."
            )
        self._bank, self._settings = bank_scale, bank_scale.settings
        self._unit, self._n_units = bank_scale.query_units
        self._among = Among(
            bank_scale.reference,
            self._n_units,
            self._settings.confidence,
            self._settings.seed,
            self._settings.tier_rule,
        )
        self.effect = query_effect(bank_scale) if effect is None else effect
        points, weights = roots_hermitenorm(NODES if self.effect > 0 else 1)
        self._points, self._weights = self.effect * points, weights / weights.sum()
        shifted = (_GRID[:, None] + self._points).ravel()
        self._table = log_likelihoods(bank_scale.fit, bank_scale.bank, shifted)

    def outlook(self, y: FloatArray, open_: IntArray) -> Outlook:
        """Forecast the final tier from labels ``y`` (B,).

        open_: rubrics of the bank that are still to be judged (indices).
        """
        usable = open_[np.isnan(y[open_]) & ~self._bank.fit.constant[open_]]
        if np.isnan(y).all():
            return Outlook(0, len(usable), {})
        now = self.tiers(y[None])[0]
        if not len(usable):
            return Outlook(now, 0, {now: 1.0})
        rng = np.random.default_rng([self._settings.seed, 8, int(np.isfinite(y).sum())])
        found, count = np.unique(self.tiers(self._finished(y, usable, rng)), return_counts=True)
        return Outlook(now, len(usable), dict(zip(found.tolist(), (count / DRAWS).tolist(), strict=True)))

    def tiers(self, y: FloatArray) -> list[int]:
        """The tier of each of N systems (N, B) that are labelled on the same rubrics, as by ``place_systems``."""
        evidence = evidence_of_systems(
            *(self._bank.fit, self._bank.spread, y, self._bank.bank),
            *(self._unit, self._n_units, self._settings.seed),
        )
        return [self._among.tier(replace(one, transfer=self._bank.transfer)) for one in evidence]

    def _finished(self, y: FloatArray, open_: IntArray, rng: np.random.Generator) -> FloatArray:
        """(DRAWS, B) labels with the missing ones drawn: first theta, then each query's effect, then labels."""
        queries, loglik = self._by_query(y)
        joint = np.log(self._weights) + loglik  # (Q, G, H)
        marginal = np.logaddexp.reduce(joint, axis=2).sum(axis=0) - _GRID**2 / 2
        at = _draw(np.exp(marginal - marginal.max())[None], DRAWS, rng)[0]
        shift = rng.choice(self._points, size=(DRAWS, self._n_units), p=self._weights)
        for row, query in enumerate(queries):
            given = np.exp(joint[row, at] - joint[row, at].max(axis=1, keepdims=True))
            shift[:, query] = self._points[_draw(given, 1, rng)[:, 0]]
        step = _GRID[1] - _GRID[0]
        theta = _GRID[at] + rng.uniform(-step / 2, step / 2, DRAWS)
        out = np.tile(y, (DRAWS, 1))
        for rubric in open_.tolist():
            ability = theta + shift[:, self._unit[rubric]]
            chance = np.exp(log_probabilities(self._bank.fit, np.array([rubric]), ability)[:, 0].T)
            out[:, rubric] = _draw(np.nan_to_num(chance), 1, rng)[:, 0]
        return out

    def _by_query(self, y: FloatArray) -> tuple[IntArray, FloatArray]:
        """(Q,) queries with a label, and (Q, G, H) their log-likelihoods at each ability and effect."""
        known = np.flatnonzero(np.isfinite(y) & ~self._bank.fit.constant)
        cells = self._table[y[known].astype(np.int64), known].reshape(len(known), len(_GRID), -1)
        queries, place = np.unique(self._unit[known], return_inverse=True)
        total = np.zeros((len(queries), *cells.shape[1:]))
        np.add.at(total, place, cells)
        return queries, total


def query_effect(bank_scale: BankScale) -> float:
    """Sd of a query's effect on a system, from the bank's own systems, by moments; 0 if there is no evidence of any.

    With g the score of a label at theta and I its information, two labels of one query have E g g' = I I' tau² for a
    small effect of variance tau²: tau² = max(0, sum g g' / sum I I') over all such pairs. Bradlow, Wainer & Wang (1999,
    Psychometrika 64, 153-168) for such effects.
    """
    fit, y = bank_scale.fit, bank_scale.y
    theta = estimate_abilities(fit, y, bank_scale.bank).theta
    ranked = np.isfinite(theta)
    score, info = label_scores(fit.items, y[ranked], theta[ranked])
    unit = bank_scale.query_units[0]
    member = (unit[:, None] == np.unique(unit)).astype(float)
    products, squares = (((x @ member) ** 2 - x**2 @ member).sum() for x in (score, info))
    return float(np.sqrt(max(0.0, products / squares))) if squares > 0 else 0.0


def _draw(weights: FloatArray, n: int, rng: np.random.Generator) -> IntArray:
    """(N, n) indices drawn in proportion to the rows of ``weights`` (N, K)."""
    upto = np.cumsum(weights, axis=1)
    at = rng.random((len(weights), n)) * upto[:, -1:]
    return np.asarray((at[:, :, None] >= upto[:, None, :]).sum(axis=2), dtype=np.int64)
