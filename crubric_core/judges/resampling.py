"""The bootstrap that the judges' figures share: how many replicates, from which seed, at which level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import SettingsError
from ..types import FloatArray, IntArray


@dataclass(frozen=True)
class Bootstrap:
    """replicates ≥ 2; confidence in (0, 1); seed ≥ 0. The same Bootstrap gives the same draws."""

    replicates: int = 200
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise SettingsError(
                f"confidence = {self.confidence!r} is out of range: expected a number between 0 and 1."
            )
        if self.replicates < 2:
            raise SettingsError(f"replicates = {self.replicates!r} is out of range: expected at least 2.")

    def counts(self, n: int, shares: FloatArray | None = None) -> IntArray:
        """(R, n) how often each of n things is drawn in n draws with replacement."""
        chances = np.full(n, 1 / max(n, 1)) if shares is None else shares
        rng = np.random.default_rng(self.seed)
        return rng.multinomial(n, chances, size=self.replicates)

    def interval(self, draws: FloatArray, comparisons: int = 1) -> tuple[FloatArray, FloatArray]:
        """Percentile interval over the first axis, Bonferroni-corrected for ``comparisons``; NaN where a draw is."""
        tail = 50 * (1 - self.confidence) / max(comparisons, 1)
        low, high = np.percentile(draws, [tail, 100 - tail], axis=0)
        return low, high
