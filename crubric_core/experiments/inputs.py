"""What the experiments read from a dataset, and from a part of its labels as if it were the whole dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..analysis.fitted import gate, posterior_warnings, reduce_labels, with_rules
from ..analysis.selection import query_positions
from ..analysis.standings import reference_order
from ..analysis.warnings import dataset_warnings
from ..judges.anchors import gold_levels
from ..judges.consensus import majority, median_low
from ..judges.gate import gate_is_off
from ..judges.pair_kappa import panel_pairs
from ..judges.posterior import with_posterior_labels
from ..judges.unequal_panels import UnequalPanels, panels_of
from ..labels.store.dataset import Dataset
from ..labels.store.judge_sums import units_of
from ..labels.store.label_numbers import splits_as
from ..labels.store.reduction import Reduction
from ..labels.store.snapshot import Snapshot
from ..leaderboard.linked import groups_by_query
from ..settings import Settings
from ..types import BoolArray, FloatArray, IntArray
from ..workers import current_workers
from .results import ExperimentResult, settings_record


@dataclass(frozen=True)
class Inputs:
    """What the experiments read from a dataset.

    queries: as ``Dataset.queries``. query_index: (J,) position of each rubric's query in ``queries``. measurability:
    the table of ``gate``.
    """

    dataset: Dataset
    fingerprint: str
    settings: Settings
    reduction: Reduction
    queries: pd.DataFrame
    query_index: IntArray
    measurability: pd.DataFrame

    @property
    def feasible(self) -> BoolArray:
        """(J,) rubrics that pass the gate; all if it is off."""
        return self.measurability["feasible"].to_numpy()

    @property
    def gate_off(self) -> bool:
        """Whether agreement is unknown, so that no rubric fails the gate."""
        return gate_is_off(self.reduction)

    @property
    def groups(self) -> tuple[IntArray, int]:
        """(M,) group of each system, and the number of groups; systems of different groups have no common scale."""
        return groups_by_query(self.reduction.y, self.query_index)

    def unlinked(
        self, what: str = "an order of all of them, and its ρ, is meaningful only within a group"
    ) -> tuple[str, ...]:
        """A sentence that warns of orders of systems without a common scale; () if all systems have one.

        what: the consequence for the result.
        """
        if (groups := self.groups[1]) < 2:
            return ()
        return (f"The systems form {groups:,} groups that share too few queries for a common scale: {what}.",)

    def for_tasks(self) -> Inputs:
        """The inputs to send to tasks: unchanged if tasks run in this process, else with a snapshot of the dataset."""
        if current_workers().here or isinstance(self.dataset, Snapshot):
            return self
        return replace(self, dataset=Snapshot(self.dataset, self.settings))

    def result(
        self,
        name: str,
        options: Mapping[str, Any],
        tables: Mapping[str, pd.DataFrame],
        found: str,
        limits: tuple[str, ...],
    ) -> ExperimentResult:
        """The experiment's result, with notices about the labels of the dataset."""
        return ExperimentResult(
            name=name,
            dataset=self.dataset.name,
            fingerprint=self.fingerprint,
            settings=settings_record(self.settings),
            options=options,
            tables=tables,
            notices=(
                *dataset_warnings(self.reduction),
                *posterior_warnings(self.dataset, self.reduction, self.settings),
            ),
            found=found,
            limits=limits,
        )


def read_inputs(ds: Dataset, settings: Settings) -> Inputs:
    """Read the labels, queries and gate of a dataset; a composition in the settings is ignored."""
    settings = replace(with_rules(ds, settings), composition=None)
    reduction, queries = reduce_labels(ds, settings), ds.queries
    return Inputs(
        dataset=ds,
        fingerprint=ds.fingerprint,
        settings=settings,
        reduction=reduction,
        queries=queries,
        query_index=query_positions(queries, reduction),
        measurability=gate(reduction, settings),
    )


def reduce_panel(
    inputs: Inputs, panel: FloatArray, systems: IntArray, rubrics: IntArray, judges: IntArray
) -> Reduction:
    """The reduction of some systems, rubrics and judges of a panel (M, J, K), as if they were the whole dataset.

    systems, rubrics, judges: ascending indices. Scales are those of the whole dataset. Dawid–Skene labels are estimated
    again.
    """
    whole, settings = inputs.reduction, inputs.settings
    part = panel[np.ix_(systems, rubrics, judges)]
    known = (~np.isnan(part)).sum(axis=2)
    spread = np.where(np.isnan(part), -np.inf, part).max(axis=2, initial=-np.inf)
    spread = spread - np.where(np.isnan(part), np.inf, part).min(axis=2, initial=np.inf)
    tolerance = settings.agreement_tolerance if whole.response == "ordered" else 0
    n_agree, n_total = ((known >= 2) & (spread <= tolerance)).sum(axis=0), (known >= 2).sum(axis=0)
    reduction = Reduction(
        systems=tuple(whole.systems[i] for i in systems),
        rubrics=whole.rubrics.iloc[rubrics].reset_index(drop=True),
        y=majority(part, settings.tie) if whole.response == "binary" else median_low(part),
        levels=whole.levels[rubrics],
        n_agree=n_agree,
        n_total=n_total,
        max_panel=known.max(axis=0),
        n_judges=int((~np.isnan(part)).any(axis=(0, 1)).sum()),
        pairs=panel_pairs(part, whole.levels[rubrics], tolerance),
        unanimous=n_agree == n_total,
        n_labels=int(known.sum()),
        response=whole.response,
    )
    if settings.consensus == "majority":
        return reduction
    return with_posterior_labels(reduction, part, gold_levels(inputs.dataset.gold(), reduction), settings.tie)


def panels_of_part(reduction: Reduction, part: FloatArray, settings: Settings) -> UnequalPanels | None:
    """How unequal panels may raise or lower systems in a part of the labels (M, J, K); None if panels are equal."""
    ties = splits_as(reduction.response, settings.tie, consensus=settings.consensus)
    return panels_of(part, units_of(reduction.rubrics["query"]), reduction.levels, ties)


def gold_labels(ds: Dataset, reduction: Reduction) -> FloatArray | None:
    """(M, J) human labels as pass or fail, NaN unknown: the annotators' strict majority; None if there are none."""
    gold = gold_levels(ds.gold(), replace(reduction, response="binary"))
    return None if np.isnan(gold).all() else gold


def reference_scores(ds: Dataset, systems: tuple[str, ...]) -> FloatArray:
    """(M,) the human reference ranking as values, higher is better; NaN for a system that it does not name."""
    return reference_order(ds.reference_ranking(), systems)
