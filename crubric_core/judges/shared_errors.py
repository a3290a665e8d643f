"""How many independent judges a panel is worth, and whether its posterior probabilities are too sure (METHOD §15)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..text import count
from .independence import ResidualCorrelation


@dataclass(frozen=True)
class EffectiveJudges:
    """K judges whose errors may be correlated.

    judges: K. rho: mean correlation of two judges' errors beyond what independent judges would show, in [0, 1]; NaN
    where it cannot be known. effective: K / (1 + (K - 1) rho) (Kish's design effect of K equally correlated
    witnesses), in [1, K]. flagged: pairs of judges whose errors are correlated beyond doubt.
    """

    judges: int
    rho: float
    effective: float
    flagged: int

    @property
    def too_sure(self) -> bool:
        """Whether probabilities that take the judges for independent are too near 0 or 1."""
        return self.flagged > 0


def effective_judges(found: ResidualCorrelation) -> EffectiveJudges:
    """From the correlations of the errors (K, K): each pair counts alike."""
    n_judges = len(found.correlation)
    excess = (found.correlation - found.expected)[np.triu_indices(n_judges, 1)]
    known = excess[np.isfinite(excess)]
    rho = float(np.clip(known.mean(), 0, 1)) if len(known) else float("nan")
    return EffectiveJudges(
        judges=n_judges,
        rho=rho,
        effective=n_judges / (1 + (n_judges - 1) * rho),
        flagged=int(np.triu(found.flagged, 1).sum()),
    )


def independence_note(found: EffectiveJudges) -> str:
    """What must be said where posterior probabilities are shown; empty where the judges seem independent."""
    if np.isnan(found.rho):
        return (
            "Whether the judges share errors is unknown (it takes human labels, or a fourth judge): the stated "
            "probabilities hold only if they err independently."
        )
    if not found.too_sure:
        return ""
    return (
        f"{count(found.flagged, 'pair')} of judges share errors: the {count(found.judges, 'judge')} count as "
        f"{found.effective:.1f} independent ones, and the stated probabilities are too sure."
    )
