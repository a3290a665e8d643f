"""What human labels on some cells say of the judges' mean on all of them (docs/method.md §15)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..errors import DatasetError
from ..judges.anchors import gold_levels
from ..leaderboard.correction import FEWEST, Correction, correct_means
from ..leaderboard.inference import Inference, infer, marginal_intervals
from ..text import count
from .agreement import mean_scores
from .board import name
from .selection import domains_of, query_positions

if TYPE_CHECKING:
    from ..labels.store.reduction import Reduction
    from ..settings import Settings
    from ..types import FloatArray, IntArray

CURVE = 24  # points of a curve of widths


@dataclass(frozen=True)
class HumanLabels:
    """Mean labels of M systems, corrected by the human labels of some cells; all are shares of the full mark.

    standing: claims about the corrected means. alone: (2, M) interval of each by the human labels alone.
    cells, judged: cells that people and judges labelled, and that judges did. queries: with a judge's label. waiting:
    those that nobody else labelled, in a random order: with any first ones of them the sample stays random.
    """

    systems: tuple[str, ...]
    correction: Correction
    standing: Inference
    alone: FloatArray
    cells: int
    judged: int
    queries: int
    waiting: tuple[str, ...]

    @property
    def table(self) -> pd.DataFrame:
        """One row a system with an estimate, the best first; no interval leaves the range from 0 to 1."""
        standing, found = self.standing, self.correction
        frame = pd.DataFrame(
            {
                "system": self.systems,
                "rank": standing.rank,
                "mean": np.clip(standing.estimate, 0, 1),
                "low": np.clip(standing.low, 0, 1),
                "high": np.clip(standing.high, 0, 1),
                "human_mean": found.human.estimate,
                "human_low": np.clip(self.alone[0], 0, 1),
                "human_high": np.clip(self.alone[1], 0, 1),
                "judges_mean": found.judged.estimate,
                "labelled_queries": found.labelled,
            }
        )
        frame = frame[standing.ranked].sort_values(["rank", "system"], ignore_index=True)
        return frame.astype({"rank": "Int64"})

    @property
    def plannable(self) -> bool:
        """Whether most systems have queries that people have not labelled, whose labels would narrow the intervals."""
        left = (self.correction.judged.n_units - self.correction.labelled)[self.standing.ranked]
        return self.standing.unit == "query" and float(np.median(left)) > 0

    def widths(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Numbers of queries labelled by people, and the half width of an interval with each: both, people alone."""
        n = self.queries
        at = np.unique(np.geomspace(FEWEST, n, CURVE).round().astype(np.int64))
        return at, *self.correction.half_widths(at, self.standing.confidence)

    def sentences(self) -> tuple[str, ...]:
        """What these labels are, what they gain, how far the judges are off, and what all that rests on."""
        return tuple(filter(None, (self._what(), self._gain(), self._next(), self._judges(), self.sample())))

    def sample(self) -> str:
        """Whether the labelled cells look like a random sample, which the correction needs."""
        found = self.correction
        if np.isnan(found.shift_p):
            return "People labelled every query: nothing depends on which."
        moved = f"{abs(found.shift):.3f} {'higher' if found.shift > 0 else 'lower'} than all cells"
        if found.doubtful:
            return (
                f"The cells that people labelled are no random sample: judges rate them {moved} (p < 0.01). The "
                "corrected means and their intervals then do not hold."
            )
        return (
            "This holds if the cells that people labelled are a random sample. Judges rate them "
            f"{moved} (p = {found.shift_p:.2f}), which does not contradict it."
        )

    def _what(self) -> str:
        labelled = self.correction.labelled[self.standing.ranked]
        low, high = int(labelled.min()), int(labelled.max())
        some = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        left = len(self.systems) - len(labelled)
        return (
            f"People labelled {self.cells:,} of the {count(self.judged, 'cell')} that judges labelled, on {some} of "
            f"{count(self.queries, 'query', 'queries')} for each system."
            + (
                f" {_few(left)} human labels on fewer than {FEWEST} queries, and no estimate here."
                if left
                else ""
            )
        )

    def _gain(self) -> str:
        both, alone = (float(np.median(part)) for part in self._half())
        level = f"{100 * self.standing.confidence:.10g}%"
        return (
            f"The {level} interval of a system's mean label is ±{both:.3f} (median) from both, and ±{alone:.3f} from "
            f"the human labels alone; the judges' labels have weight λ = {self.correction.weight:.2f}."
        )

    def _half(self) -> tuple[FloatArray, FloatArray]:
        kept, (low, high) = self.standing.ranked, self.alone
        both = (self.standing.high - self.standing.low)[kept] / 2
        alone = (high - low)[kept] / 2
        return both, alone

    def _next(self) -> str:
        if not self.plannable:
            return ""
        half, every = float(np.median(self._half()[0])) / 2, np.arange(FEWEST, self.queries + 1)
        both, _ = self.correction.half_widths(every, self.standing.confidence)
        if not (both <= half).any():
            return f"Human labels on all {self.queries:,} queries would make it about ±{both[-1]:.3f}."
        enough = int(every[np.argmax(both <= half)])
        return f"Half of that width takes human labels on about {enough:,} queries, chosen at random."

    def _judges(self) -> str:
        kept = self.standing.ranked
        off = (self.correction.judged.estimate - self.standing.estimate)[kept]
        names = [system for system, there in zip(self.systems, kept, strict=True) if there]
        least, most = int(off.argmin()), int(off.argmax())
        if len(names) == 1:
            return f"The judges' mean is {_beside(off[0])} the corrected one."
        return (
            f"The judges' means are on average {_beside(off.mean())} the corrected ones: from {_beside(off[least])} "
            f"({name(names[least])}) to {_beside(off[most])} ({name(names[most])})."
        )


def in_random_order(at: IntArray, queries: pd.DataFrame, settings: Settings) -> tuple[str, ...]:
    """Names of the queries at these positions: any first ones of them are a random sample."""
    return tuple(queries["query"].iloc[np.random.default_rng([settings.seed, 6]).permutation(at)])


def queries_to_label(reduction: Reduction, queries: pd.DataFrame, settings: Settings) -> tuple[str, ...]:
    """All queries that judges labelled, in the order in which people should label some of them."""
    judged = np.isfinite(reduction.y).any(axis=0)
    return in_random_order(np.unique(query_positions(queries, reduction)[judged]), queries, settings)


def require_human_labels(found: HumanLabels | None, dataset: str) -> HumanLabels:
    """The same; raises DatasetError where there are too few human labels."""
    if found is None:
        raise DatasetError(
            f"The dataset {dataset!r} has no system with human labels on {FEWEST} queries that judges labelled, too: "
            "ingest some as the kind gold."
        )
    return found


def _beside(value: float) -> str:
    return f"{abs(value):.3f} {'above' if value > 0 else 'below'}"


def _few(left: int) -> str:
    return f"{count(left, 'system')} {'has' if left == 1 else 'have'}"


def human_labels(
    gold: pd.DataFrame, reduction: Reduction, queries: pd.DataFrame, settings: Settings
) -> HumanLabels | None:
    """None where no system has human labels on FEWEST queries. reduction: the judges' majority, whatever people say.

    An even split of pass and fail counts as half of the mark, of people and of judges: without the cells on which they
    are divided the labelled cells would be no random sample.
    """
    human, judged = gold_levels(gold, reduction, split=0.5), reduction.y.copy()
    judged[tuple(reduction.split)] = 0.5
    both = np.isfinite(judged) & np.isfinite(human)
    at, everything = query_positions(queries, reduction), np.ones(judged.shape[1], dtype=bool)
    everywhere, people, there = (
        mean_scores(y, reduction.levels, at, everything, len(queries))
        for y in (judged, np.where(both, human, np.nan), np.where(both, judged, np.nan))
    )
    used = np.flatnonzero(np.isfinite(everywhere).any(axis=0))
    left = used[~np.isfinite(people[:, used]).any(axis=0)]
    found = correct_means(
        everywhere, people, there, both.sum(axis=1), domains_of(queries, reduction, settings)
    )
    if found is None:
        return None
    return HumanLabels(
        systems=reduction.systems,
        correction=found,
        standing=infer(
            found.corrected,
            np.random.default_rng([settings.seed, 5]),
            confidence=settings.confidence,
            simultaneous=settings.simultaneous,
        ),
        alone=np.stack(marginal_intervals(found.human, settings.confidence)),
        cells=int(both[found.corrected.ranked].sum()),
        judged=int(np.isfinite(judged).sum()),
        queries=len(used),
        waiting=in_random_order(left, queries, settings),
    )
