"""A copy of a dataset for experiments, which run in another process: only one process can open a workspace file."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pandas as pd

from ...errors import DatasetError
from ...scoring_rules import ScoringRules
from ...settings import Consensus, Response, Settings, Tie
from ...types import FloatArray
from .dataset import Dataset
from .judge_sums import JudgeMeetings, JudgeShares
from .label_numbers import Counted
from .reduction import Reduction
from .sourced import only_tallies

_OTHERWISE = "This snapshot was reduced with other settings: take another one."


class Snapshot(Dataset):
    """One state of a dataset under one choice of settings; it can be pickled and does not need the workspace.

    Raises DatasetError if the dataset changes while it is read, or if later calls use other settings.
    """

    def __init__(self, ds: Dataset, settings: Settings) -> None:
        self.name = ds.name
        self._fingerprint, self._judges, self._queries = ds.fingerprint, ds.judges, ds.queries
        self._asked = (settings.response, settings.tie, settings.agreement_tolerance)
        self._reduction = ds.reduce(*self._asked)
        graded = bool((self._reduction.rubrics["levels"] > 2).any())
        responses: set[Response] = {"binary", settings.response, "ordered" if graded else "binary"}
        self._panels = {response: ds.panel(response) for response in responses if ds.has_labels}
        self._shares = {response: ds.judge_shares(response) for response in responses}
        unequal = [response for response in responses if self._shares[response].beyond_chance.any()]
        self._tables = ds.tables_with_others()
        self._meetings = {response: ds.judge_meetings(response) for response in unequal}
        self._raised = {
            which: ds.raised_by_numbers(settings.response, settings.tie, *which)
            for which in product(get_args(Counted), get_args(Consensus))
        }
        self._rules = ds.scoring_rules()
        self._gold, self._reference = ds.gold(), ds.reference_ranking()
        if ds.fingerprint != self._fingerprint:
            raise DatasetError(f"The dataset {ds.name!r} changed while it was read: start again.")

    @property
    def fingerprint(self) -> str:
        """Hash of the dataset's content when it was read."""
        return self._fingerprint

    @property
    def has_labels(self) -> bool:
        """As ``Dataset.has_labels``."""
        return bool(self._panels)

    @property
    def judges(self) -> tuple[str, ...]:
        """As ``Dataset.judges``."""
        return self._judges

    @property
    def queries(self) -> pd.DataFrame:
        """As ``Dataset.queries``."""
        return self._queries

    def scoring_rules(self) -> ScoringRules:
        """As ``Dataset.scoring_rules``."""
        return self._rules

    def gold(self) -> pd.DataFrame:
        """As ``Dataset.gold``."""
        return self._gold

    def reference_ranking(self) -> pd.DataFrame:
        """As ``Dataset.reference_ranking``."""
        return self._reference

    def panel(self, response: Response = "binary") -> FloatArray:
        """As ``Dataset.panel``, on the scales that were read."""
        if not self._panels:
            raise DatasetError(only_tallies(self.name))
        if response not in self._panels:
            raise DatasetError(f"This snapshot has no {response} panel: take another one.")
        return self._panels[response]

    def judge_shares(self, response: Response = "binary") -> JudgeShares:
        """As ``Dataset.judge_shares``."""
        return self._shares[response]

    def tables_with_others(self) -> FloatArray:
        """As ``Dataset.tables_with_others``."""
        return self._tables

    def judge_meetings(self, response: Response = "binary") -> JudgeMeetings:
        """As ``Dataset.judge_meetings``; available only for responses with unequal panels (KeyError otherwise)."""
        return self._meetings[response]

    def raised_by_numbers(
        self,
        response: Response = "binary",
        tie: Tie = "unknown",
        of: Counted = "labels",
        consensus: Consensus = "majority",
    ) -> FloatArray:
        """As ``Dataset.raised_by_numbers``; DatasetError for settings other than those of the snapshot."""
        if (response, tie) != self._asked[:2]:
            raise DatasetError(_OTHERWISE)
        return self._raised[of, consensus]

    def reduce(
        self, response: Response = "binary", tie: Tie = "unknown", agreement_tolerance: int = 0
    ) -> Reduction:
        """As ``Dataset.reduce``; DatasetError for settings other than those of the snapshot."""
        if (response, tie, agreement_tolerance) != self._asked:
            raise DatasetError(_OTHERWISE)
        return self._reduction
