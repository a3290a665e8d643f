"""Expected loss of a system's answers, by the losses entered with the scoring rules (docs/method.md §15)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..errors import DatasetError
from ..leaderboard.inference import Inference, infer
from ..leaderboard.losses import expected_loss
from ..task_types.losses import fitting_loss
from ..task_types.scoring import query_weights
from ..task_types.types import types_of_queries
from ..text import count, listed, percent, short_names, verb
from .agreement import compare_standing
from .board import LONGEST
from .selection import domains_of, query_positions
from .tables import by_place

if TYPE_CHECKING:
    from ..judges.unequal_panels import UnequalPanels
    from ..labels.store.reduction import Reduction
    from ..settings import Settings
    from ..types import BoolArray, FloatArray, IntArray

BOARD = "the board"


@dataclass(frozen=True)
class ViolationLoss:
    """Expected loss of M systems on a query: the sum over its rubrics of loss × probability of a violation.

    standing: claims about minus the loss, so that the best is first. low, high: (M,) interval of each loss alone.
    most: average loss of a query if all its rubrics are violated. queries, rubrics: how many count. dropped: number of
    rubrics with a loss that do not pass the gate. violated: (M,) sum of the violations, each the share of the mark
    that is lost. labelled: (M,) number of labelled rubrics that count.
    """

    systems: tuple[str, ...]
    standing: Inference
    low: FloatArray
    high: FloatArray
    most: float
    queries: int
    rubrics: int
    dropped: int
    violated: FloatArray
    labelled: IntArray

    @property
    def table(self) -> pd.DataFrame:
        """One row a system with an estimate, the least loss first."""
        frame = pd.DataFrame(
            {
                "system": self.systems,
                "rank": self.standing.rank,
                "loss": -self.standing.estimate + 0.0,
                "low": self.low,
                "high": self.high,
                "violated": self.violated,
                "labelled": self.labelled,
            }
        )
        return by_place(frame, self.standing)

    def sentences(self, shown: Inference) -> tuple[str, ...]:
        """Sentences: what counts, which systems lose least and most, and which separated pairs of ``shown`` agree."""
        return tuple(filter(None, (self._what(), self._ends(), self._pairs(shown), self._none(), SEEN)))

    def _what(self) -> str:
        dropped = f" {self.dropped:,} more do not pass the gate and do not count." if self.dropped else ""
        return (
            f"Losses count on {count(self.rubrics, 'rubric')} of {count(self.queries, 'query')}: a query "
            f"costs {_amount(self.most)} on average if all of them are violated, and 0 if none is.{dropped}"
        )

    def _ends(self) -> str:
        table, groups = self.table, self.standing.n_groups
        if groups > 1:
            return (
                f"The systems form {groups:,} groups that share too few of these rubrics: no pair of two groups is "
                "compared, and their losses have no common scale."
            )
        first, last = (self._of(end) for end in (table["loss"].min(), table["loss"].max()))
        if first == last:
            return f"The expected loss of a query is {first}."
        return f"The expected loss of a query is least for {first}, and most for {last}."

    def _of(self, loss: float) -> str:
        """The systems with this loss, the loss, and the range of their intervals, as text."""
        rows = self.table[self.table["loss"] == loss]
        low, high = _amount(rows["low"].min()), _amount(rows["high"].max())
        return f"{listed(short_names(rows['system'], LONGEST), 3)}, {_amount(loss)} ({self._level}: {low} to {high})"

    def _pairs(self, shown: Inference) -> str:
        apart = int(np.triu(self.standing.separated).sum())
        found = compare_standing(BOARD, shown, self.standing)
        said = f"The loss separates {count(apart, 'pair') if apart else 'no pair'} at {self._level}"
        if not found.separated:
            return f"{said}; the board separates none."
        pairs = f"of the {count(found.separated, 'pair')} that the board separates, {found.kept:,} alike"
        if not found.reversed:
            return f"{said}; {pairs} and none the other way."
        less, more = short_names([self.systems[at] for at in found.example or (0, 0)], LONGEST)
        return (
            f"{said}; {pairs} and {found.reversed:,} the other way: {less} loses less than {more}, which is ahead of "
            f"it on the board{', for example' if found.reversed > 1 else ''}."
        )

    def _none(self) -> str:
        table = self.table
        free = table[table["violated"] == 0]
        if free.empty:
            return ""
        return (
            f"{listed(short_names(free['system'], LONGEST), 3)} {verb(len(free), 'violate')} none of them here, which "
            f"does not show that {'it' if len(free) == 1 else 'they'} never will: a loss of up to "
            f"{_amount(free['high'].max())} a query remains possible."
        )

    @property
    def _level(self) -> str:
        return percent(self.standing.confidence)


SEEN = "A violation that the judges do not see costs nothing here."


def _amount(loss: float) -> str:
    return f"{loss:,.0f}" if loss >= 100 else f"{loss:.3g}"


def require_losses(found: ViolationLoss | None, dataset: str) -> ViolationLoss:
    """Return ``found``; raises DatasetError if it is None, because no rubric that passes the gate has a loss."""
    if found is None:
        raise DatasetError(
            f"No rubric of the dataset {dataset!r} that passes the gate has a loss: enter losses with the scoring "
            "rules (rules --set FILE, or Rules on the Task types page)."
        )
    return found


def violation_loss(
    reduction: Reduction,
    queries: pd.DataFrame,
    feasible: BoolArray,
    settings: Settings,
    panels: UnequalPanels | None,
) -> ViolationLoss | None:
    """The expected losses of the systems; None if no rubric that passes the gate has a loss.

    feasible: (J,) rubrics that pass the gate. Rubrics that all systems pass count too.
    """
    losses = () if settings.rules is None else settings.rules.losses
    if not losses:
        return None
    query = query_positions(queries, reduction)
    types = types_of_queries(queries, settings.tau_t).task_type[query]
    values = np.array([loss.loss for loss in losses] + [0.0])
    each = values[fitting_loss(losses, reduction.rubrics["severity"].tolist(), types)]
    lost = 1 - reduction.y / (reduction.levels - 1)
    omega = query_weights(queries["omega"].to_numpy(dtype=np.float64))
    found = expected_loss(lost, each * feasible, query, omega, domains_of(queries, reduction, settings))
    if found is None:
        return None
    evidence = found.evidence
    if panels is not None:
        allowance = panels.allowance(np.full(len(reduction.systems), found.most))
        evidence = replace(evidence, allowance=allowance)
        found = replace(found, evidence=evidence)
    standing = infer(
        evidence,
        np.random.default_rng([settings.seed, 8]),
        confidence=settings.confidence,
        simultaneous=settings.simultaneous,
    )
    low, high = found.limits(standing)
    counted = (each * omega[query] > 0) & np.isfinite(lost).any(axis=0)
    used = lost[:, counted & feasible]
    return ViolationLoss(
        systems=reduction.systems,
        standing=standing,
        low=low,
        high=high,
        most=found.most,
        queries=found.queries,
        rubrics=used.shape[1],
        dropped=int((counted & ~feasible).sum()),
        violated=np.nansum(used, axis=1),
        labelled=np.isfinite(used).sum(axis=1),
    )
