"""The effective number of judges, and whether the posterior probabilities are too extreme (docs/method.md §15)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..text import count, verb
from .independence import FEWEST_UNANCHORED, SHARED, ResidualCorrelation

FEWER = 0.75  # share of the judges below which their effective number is reported without a flagged pair


@dataclass(frozen=True)
class EffectiveJudges:
    """K judges whose errors may be correlated.

    judges: K. rho: mean correlation of two judges' errors beyond that of independent judges, in [0, 1]; NaN if unknown.
    effective: K / (1 + (K - 1) rho) (Kish's design effect of K equally correlated witnesses), in [1, K]. flagged:
    number of pairs of judges whose errors are shown to be correlated.
    anchored: errors are measured against human labels; else against the other judges, where errors that most judges
    share do not show.
    """

    judges: int
    rho: float
    effective: float
    flagged: int
    anchored: bool

    @property
    def too_sure(self) -> bool:
        """Whether probabilities that take the judges as independent are too near 0 or 1."""
        return self.flagged > 0


def effective_judges(found: ResidualCorrelation) -> EffectiveJudges:
    """The effective number of judges from the mean correlation of errors over the pairs; found: K × K pairs.

    If two judges share errors, a third looks as if it erred against them: rho is therefore at least what the flagged
    pairs alone give.
    """
    n_judges = len(found.correlation)
    above = np.triu_indices(n_judges, 1)
    excess, flagged = (found.correlation - found.expected)[above], found.flagged[above]
    known = np.isfinite(excess)
    rho = float("nan")
    if known.any():
        rho = float(np.clip(max(excess[known].mean(), np.where(flagged, excess, 0)[known].mean()), 0, 1))
    return EffectiveJudges(
        judges=n_judges,
        rho=rho,
        effective=n_judges / (1 + (n_judges - 1) * rho),
        flagged=int(np.triu(found.flagged, 1).sum()),
        anchored=found.reference == "anchors",
    )


def independence_note(found: EffectiveJudges) -> str:
    """A warning to show with posterior probabilities; empty if human labels show no shared errors."""
    if found.judges == 1:
        return "There is only one judge: only human labels can show its errors."
    if np.isnan(found.rho):
        enough = found.anchored or found.judges >= FEWEST_UNANCHORED
        why = "they err on too few cells" if enough else "this needs human labels or a fourth judge"
        return (
            f"Whether the judges share errors is unknown ({why}): the stated probabilities hold only if they err "
            "independently."
        )
    if found.too_sure:
        return (
            f"{count(found.flagged, 'pair')} of judges {verb(found.flagged, 'share')} errors: {_worth(found)}, and the "
            "stated probabilities are too extreme."
        )
    if found.effective < FEWER * found.judges:
        return (
            f"No single pair of judges is shown to share errors, but by the average over all pairs {_worth(found)}: "
            "unless this is chance, the stated probabilities are too extreme."
        )
    if found.anchored:
        return ""
    return (
        "No two judges are shown to share errors, but without human labels nobody can see errors that most judges "
        "share: the stated probabilities hold only if there are no such errors."
    )


def redundancy_note(found: EffectiveJudges) -> str:
    """A warning on majorities of judges, if pairs of them are shown to share errors; empty if none are."""
    if not found.too_sure:
        return ""
    return (
        f"{count(found.flagged, 'pair')} of judges {verb(found.flagged, 'err')} on the same cells more often than "
        f"independent judges would: {_worth(found)}."
    )


def shared_errors_note(found: EffectiveJudges) -> str:
    """A text: the number of flagged pairs, and the effective number of judges by the average over all pairs."""
    if np.isnan(found.rho):
        return "Whether their errors are correlated is unknown: they err on too few cells."
    pairs, beyond = found.flagged, f"by more than {SHARED:g} beyond what independent judges would show"
    if pairs:
        said = (
            f"{count(pairs, 'pair')} {verb(pairs, 'have')} errors that are shown to be correlated {beyond} (★). "
            "Either the two judges err alike, or all judges find the same cells hard, such as those near a pass mark."
        )
    else:
        said = f"No pair has errors that are shown to be correlated {beyond}."
    average = f"{found.rho:.2f}" if found.rho >= 0.01 else "less than 0.01"
    also = "" if pairs else ", which no pair shows by itself"
    over_all = f"{average} on average{also}" if found.rho > 0 else "not above 0 on average"
    hidden = "" if found.anchored else "; only human labels can show errors that most of them share"
    return f"{said} Over all pairs the estimated excess is {over_all}: {_worth(found)}{hidden}."


def _worth(found: EffectiveJudges) -> str:
    at_most = "" if found.anchored else "at most "
    return f"the {count(found.judges, 'judge')} count as {at_most}{found.effective:.1f} independent ones"
