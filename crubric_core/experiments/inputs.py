"""What the experiments read of a dataset, once each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..analysis.selection import query_positions
from ..analysis.stages import gate, posterior_warnings, reduce_labels, with_rules
from ..analysis.warnings import dataset_warnings
from ..judges.anchors import gold_levels
from ..judges.measurability import gate_is_off
from ..labels.store.dataset import Dataset, Reduction
from ..labels.store.snapshot import Snapshot
from ..settings import Settings
from ..types import BoolArray, FloatArray, IntArray
from ..workers import current_workers
from .results import ExperimentResult, settings_record


@dataclass(frozen=True)
class Inputs:
    """A dataset as the experiments see it.

    queries: as ``Dataset.queries``. query_index: (J,) each rubric's query. measurability: as the gate's table.
    feasible: (J,) rubrics that pass the gate at the settings' tau_c.
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
        """(J,) q_mean ≥ tau_c, or every rubric where the gate is off."""
        return self.measurability["feasible"].to_numpy()

    @property
    def gate_off(self) -> bool:
        """Whether agreement says nothing here."""
        return gate_is_off(self.reduction)

    def for_tasks(self) -> Inputs:
        """The same where tasks run in this process; for others, without the workspace behind it."""
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
        """The experiment's result, with the notices that these labels call for first."""
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
    """Labels, queries and gate of one dataset."""
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


def gold_labels(ds: Dataset, reduction: Reduction) -> FloatArray | None:
    """(M, J) human pass or fail: the annotators' strict majority after the scale map; None without gold."""
    gold = gold_levels(ds.gold(), replace(reduction, response="binary"))
    return None if np.isnan(gold).all() else gold


def reference_scores(ds: Dataset, systems: tuple[str, ...]) -> FloatArray:
    """(M,) the human reference, higher is better: its score, or minus its rank; NaN where there is none."""
    table = ds.reference_ranking()
    score = table["score"].astype(float) if table["score"].notna().any() else -table["rank"].astype(float)
    by_system = dict(zip(table["system"], score, strict=True))
    return np.array([by_system.get(system, np.nan) for system in systems], dtype=float)
