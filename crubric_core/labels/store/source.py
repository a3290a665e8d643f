"""The interface through which an analysis reads a dataset, in a workspace or copied from one."""

from __future__ import annotations

from typing import Protocol

import pandas as pd

from ...scoring_rules import ScoringRules
from ...settings import Consensus, Response, Tie
from ...types import FloatArray
from .judge_sums import JudgeMeetings, JudgeShares
from .label_numbers import Counted
from .reduction import Reduction


class LabelSource(Protocol):
    """A dataset as the kernels need it; ``Dataset`` describes the members in detail."""

    @property
    def name(self) -> str:
        """The dataset's name."""

    @property
    def fingerprint(self) -> str:
        """Hash of the content."""

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges, sorted."""

    @property
    def queries(self) -> pd.DataFrame:
        """One row a query."""

    def scoring_rules(self) -> ScoringRules:
        """How the queries are scored by task type."""

    def gold(self) -> pd.DataFrame:
        """Human labels."""

    def reference_ranking(self) -> pd.DataFrame:
        """The reference ranking of the systems."""

    def panel(self, response: Response = "binary") -> FloatArray:
        """(M, J, K) labels as the model reads them."""

    def judge_shares(self, response: Response = "binary") -> JudgeShares:
        """Each judge's share of each system's labels."""

    def judge_meetings(self, response: Response = "binary") -> JudgeMeetings:
        """How judges differ on the cells that several of them labelled."""

    def tables_with_others(self) -> FloatArray:
        """(K, G, 2, 2) counts of each judge's labels against the majority of the other judges."""

    def raised_by_numbers(
        self,
        response: Response = "binary",
        tie: Tie = "unknown",
        of: Counted = "labels",
        consensus: Consensus = "majority",
    ) -> FloatArray:
        """(M, M) by how much unequal numbers of labels raise one system above another."""

    def reduce(
        self, response: Response = "binary", tie: Tie = "unknown", agreement_tolerance: int = 0
    ) -> Reduction:
        """Consensus labels and agreement of the judges."""
