"""What an analysis reads of a dataset, whether it lies in a workspace or was copied out of one."""

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
    """A dataset as kernels need it; see ``Dataset`` for what each member gives."""

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
        """How its queries are scored by type."""

    def gold(self) -> pd.DataFrame:
        """Human labels."""

    def reference_ranking(self) -> pd.DataFrame:
        """The human ranking of the systems."""

    def panel(self, response: Response = "binary") -> FloatArray:
        """(M, J, K) labels as the model reads them."""

    def judge_shares(self, response: Response = "binary") -> JudgeShares:
        """Whose labels each system's are."""

    def judge_meetings(self, response: Response = "binary") -> JudgeMeetings:
        """How judges differ on the cells that several labelled."""

    def tables_with_others(self) -> FloatArray:
        """How often each judge's label is that of the majority of the others."""

    def raised_by_numbers(
        self,
        response: Response = "binary",
        tie: Tie = "unknown",
        of: Counted = "labels",
        consensus: Consensus = "majority",
    ) -> FloatArray:
        """By how much their numbers of labels raise one system above another."""

    def reduce(
        self, response: Response = "binary", tie: Tie = "unknown", agreement_tolerance: int = 0
    ) -> Reduction:
        """Consensus and agreement."""
