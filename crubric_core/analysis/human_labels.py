"""Correct the judges' mean labels on all cells by human labels on some cells (docs/method.md §15)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..errors import DatasetError
from ..judges.anchors import gold_cells
from ..leaderboard.correction import DOUBT, FEWEST, Correction, correct_means
from ..leaderboard.inference import Inference, infer, marginal_intervals
from ..text import count, percent, verb
from .agreement import cell_means, mean_scores
from .board import name
from .selection import domains_of, query_positions
from .tables import by_place

if TYPE_CHECKING:
    from ..labels.store.reduction import Reduction
    from ..settings import Settings
    from ..types import FloatArray, IntArray

SAME = 5e-4  # smaller differences are written as 0.000
CURVE = 24  # points of the curve of interval widths
ENDS = (("low", "high"), ("human_low", "human_high"))


@dataclass(frozen=True)
class HumanLabels:
    """Mean labels of M systems, corrected by the human labels of some cells; all means are shares of the full mark.

    standing: claims about the corrected means. alone: (2, M) interval of each mean by the human labels alone.
    cells: number of cells that both people and judges labelled. judged: number of cells that judges labelled.
    complete: whether people labelled all of these for each system with an estimate. queries: number of queries with a
    judge's label. waiting: names of the queries that people did not label, in random order: if people label the first
    ones of them, the sample stays random.
    """

    systems: tuple[str, ...]
    correction: Correction
    standing: Inference
    alone: FloatArray
    cells: int
    judged: int
    complete: bool
    queries: int
    waiting: tuple[str, ...]

    @property
    def table(self) -> pd.DataFrame:
        """One row a system with an estimate, the best first; means and intervals are cut to the range from 0 to 1."""
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
        return by_place(frame, standing)

    @property
    def plannable(self) -> bool:
        """Whether most systems have queries that people could still label to narrow the intervals."""
        left = (self.correction.judged.n_units - self.correction.labelled)[self.standing.ranked]
        return self.standing.unit == "query" and float(np.median(left)) > 0

    def widths(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Three arrays: numbers of queries labelled by people, and the half widths of intervals with so many queries.

        The half widths are those with both kinds of labels, and with human labels alone.
        """
        n = self.queries
        at = np.unique(np.geomspace(FEWEST, n, CURVE).round().astype(np.int64))
        return at, *self.correction.half_widths(at, self.standing.confidence)

    def sentences(self) -> tuple[str, ...]:
        """Sentences on the labels, the gain in precision, the judges' deviation, and whether the sample is random."""
        return tuple(filter(None, (self._what(), self._gain(), self._next(), self._judges(), self.sample())))

    def sample(self) -> str:
        """Sentences on whether the labelled queries look like a random sample, which the correction assumes."""
        if self.complete:
            whose = "" if self.standing.ranked.all() else ", of the systems with an estimate"
            return f"People labelled every cell that judges did{whose}: the choice of cells has no effect."
        found = self.correction.sample
        needs = "This holds if the queries that people labelled are a random sample."
        if np.isnan(found.p):
            return f"{needs} The judges' labels, which are all alike, cannot show whether they are."
        which, of = "the cells there", "all cells"
        if found.system is not None:
            which, of = f"the cells of {name(self.systems[found.system])} there", "all of its cells"
        moved = f"The judges' mean label of {which} is {_beside(found.shift)} that of {of}"
        if found.doubtful:
            return (
                f"The queries that people labelled are not a random sample. {moved} (p < {DOUBT:g}). The corrected "
                "means and their intervals then do not hold."
            )
        return f"{needs} {moved} (p = {found.p:.2f}), which does not contradict it."

    def _what(self) -> str:
        labelled = self.correction.labelled[self.standing.ranked]
        low, high = int(labelled.min()), int(labelled.max())
        some = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        left = len(self.systems) - len(labelled)
        who = "each system" if not left else "one system"
        if left and len(labelled) > 1:
            who = f"each of {len(labelled):,} systems"
        return (
            f"People labelled {self.cells:,} of the {count(self.judged, 'cell')} that judges labelled, on {some} of "
            f"{count(self.queries, 'query')} for {who}." + (f" {_few(left)}" if left else "")
        )

    def _gain(self) -> str:
        both, alone = (float(np.median(part)) for part in self._half())
        level = percent(self.standing.confidence)
        return (
            f"The {level} interval of a system's mean label is ±{both:.3f} (median) from both, and ±{alone:.3f} from "
            f"the human labels alone; the judges' labels have weight λ = {self.correction.weight:.2f}."
        )

    def _half(self) -> tuple[FloatArray, FloatArray]:
        table = self.table
        both, alone = ((table[high] - table[low]).to_numpy() / 2 for low, high in ENDS)
        return both, alone

    def _next(self) -> str:
        if not self.plannable:
            return ""
        kept = self.standing.ranked
        spread = (self.correction.corrected.psi**2).sum(axis=0)[kept]
        if float(np.median(spread - self.correction.corrected.floor[kept])) < 0:
            return ""  # people and judges agree on all common cells, so the effect of more labels is unknown
        half, every = float(np.median(self._half()[0])) / 2, np.arange(FEWEST, self.queries + 1)
        both, _ = self.correction.half_widths(every, self.standing.confidence)
        if not (both <= half).any():
            return f"With as many labels on each of all {self.queries:,} queries it would be about ±{both[-1]:.3f}."
        enough = int(every[np.argmax(both <= half)])
        return (
            f"Half of that width needs as many labels on each of about {enough:,} queries, chosen at random."
        )

    def _judges(self) -> str:
        table = self.table
        off = (table["judges_mean"] - table["mean"]).to_numpy()
        least, most = int(off.argmin()), int(off.argmax())
        if len(table) == 1:
            return f"The judges' mean is {_beside(off[0])} the corrected one."
        told = f"The judges' means are on average {_beside(off.mean())} the corrected ones"
        if np.ptp(off) < SAME:
            return f"{told}."
        first, last = (f"{_beside(off[at])} ({name(table['system'][at])})" for at in (least, most))
        return f"{told}: from {first} to {last}."


def in_random_order(at: IntArray, queries: pd.DataFrame, settings: Settings) -> tuple[str, ...]:
    """Names of the queries at these positions, in random order: the first n are a random sample for any n."""
    return tuple(queries["query"].iloc[np.random.default_rng([settings.seed, 6]).permutation(at)])


def queries_to_label(reduction: Reduction, queries: pd.DataFrame, settings: Settings) -> tuple[str, ...]:
    """All queries that judges labelled, in the order in which people should label some of them."""
    judged = np.isfinite(reduction.y).any(axis=0)
    return in_random_order(np.unique(query_positions(queries, reduction)[judged]), queries, settings)


def require_human_labels(found: HumanLabels | None, dataset: str) -> HumanLabels:
    """Return ``found``; raises DatasetError if it is None, because there are too few human labels."""
    if found is None:
        raise DatasetError(
            f"The dataset {dataset!r} has no system with human labels on {FEWEST} queries that judges labelled, too: "
            "ingest some as the kind gold."
        )
    return found


def _beside(value: float) -> str:
    if abs(value) < SAME:
        return "equal to"
    return f"{abs(value):.3f} {'above' if value > 0 else 'below'}"


def _few(left: int) -> str:
    return (
        f"{count(left, 'other')} {verb(left, 'have')} human labels on fewer than {FEWEST} queries, or none, and "
        f"{verb(left, 'get')} no estimate."
    )


def human_labels(
    gold: pd.DataFrame, reduction: Reduction, queries: pd.DataFrame, settings: Settings
) -> HumanLabels | None:
    """The judges' mean labels corrected by human labels; None if no system has human labels on FEWEST queries.

    gold: the human labels. reduction: the judges' majority, without human labels. An even split counts as half of the
    mark, for people and for judges: without the split cells, the labelled cells would not be a random sample.
    """
    cells, judged = gold_cells(gold, reduction, split=0.5), reduction.y
    if reduction.split.size:
        judged = judged.copy()
        judged[tuple(reduction.split)] = 0.5
    by_judges = judged[cells.system, cells.rubric]
    both = np.isfinite(by_judges) & np.isfinite(cells.level)
    system, rubric = cells.system[both], cells.rubric[both]
    at, shape = query_positions(queries, reduction), (len(reduction.systems), len(queries))
    everything, highest = np.ones(judged.shape[1], dtype=bool), reduction.levels[rubric] - 1.0
    everywhere = mean_scores(judged, reduction.levels, at, everything, len(queries))
    people, there = (
        cell_means(system, at[rubric], level[both] / highest, shape) for level in (cells.level, by_judges)
    )
    labelled = np.bincount(system, minlength=shape[0])
    found = correct_means(everywhere, people, there, labelled, domains_of(queries, reduction, settings))
    if found is None:
        return None
    used = np.flatnonzero(np.isfinite(everywhere).any(axis=0))
    left = used[~np.isfinite(people[:, used]).any(axis=0)]
    kept, known = found.corrected.ranked, np.isfinite(judged).sum(axis=1)
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
        cells=int(labelled.sum()),
        judged=int(known.sum()),
        complete=bool((labelled == known)[kept].all()),
        queries=len(used),
        waiting=in_random_order(left, queries, settings),
    )
