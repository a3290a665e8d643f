"""Warnings that every screen and report must show with an analysis, as plain sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..judges.gate import gate_is_off
from ..labels.repeated_systems import copies_once
from ..leaderboard.cross_fit import too_few_to_cross_fit
from ..task_types.types import TASK_TYPES
from ..text import count, percent, verb
from .calibration import all_alike, reasons_of_none
from .rubric_lint import RARE

if TYPE_CHECKING:
    from ..judges.gate_price import GateVerdict
    from ..labels.store.reduction import Reduction
    from ..settings import Settings
    from ..task_types.scoring import QueryScores
    from ..types import BoolArray
    from .result import Calibration, Ranking


FEW_REPLICATES = 100  # with fewer, standard errors from the draws vary too much for a joint threshold


def dataset_warnings(reduction: Reduction) -> tuple[str, ...]:
    """Warnings about the labels, which need no fitted model: judges, number of systems, systems without labels."""
    warnings = []
    if gate_is_off(reduction):
        warnings.append(
            "No cell has labels of two judges: measurability cannot be estimated and the τ_c gate is off."
        )
    elif int(reduction.max_panel.max()) == 2:
        warnings.append("At most two judges label a cell: their agreement says little about a single rubric.")
    n_systems = reduction.n_distinct
    if too_few_to_cross_fit(n_systems):
        once = copies_once(n_systems, len(reduction.systems))
        warnings.append(
            f"Only {count(n_systems, 'system')}{once}: discriminations are poorly known, and ranks say little."
        )
    return (*warnings, *unranked_warnings(reduction))


def unranked_warnings(reduction: Reduction) -> tuple[str, ...]:
    """A warning that counts the systems without any consensus label; () if there are none."""
    empty = int(np.isnan(reduction.y).all(axis=1).sum())
    if not empty:
        return ()
    return (f"{count(empty, 'system')} {verb(empty, 'have')} no consensus label and cannot be ranked.",)


def gate_warnings(verdict: GateVerdict) -> tuple[str, ...]:
    """The warning that the gate leaves too little for a claim, to be shown first; () if it leaves enough."""
    return () if verdict.holds else (verdict.sentence,)


def ranking_warnings(ranking: Ranking, settings: Settings) -> tuple[str, ...]:
    """Warnings about the ranking: systems that fail all rubrics, and too few bootstrap replicates."""
    return (*_saturated(ranking), *_few_replicates(ranking, settings))


def _saturated(ranking: Ranking) -> tuple[str, ...]:
    """A warning that counts the systems that fail all rubrics used. The claims name those that pass all."""
    failing = int((ranking.ability.saturated < 0).sum())
    if not failing or ranking.method == "score":  # scores have a lower bound
        return ()
    if failing == 1:
        return ("1 system fails every rubric used: its ability has no lower bound.",)
    return (f"{failing:,} systems fail every rubric used: they are not compared with each other.",)


def _few_replicates(ranking: Ranking, settings: Settings) -> tuple[str, ...]:
    """A warning if so few bootstrap replicates make intervals hold clearly less often than their level; () if enough.

    The percentile at a share q of R draws exceeds a further draw with probability (1 + (R - 1) q) / (R + 1) if draws
    are uniform (Hyndman & Fan 1996, definition 7), and with nearly the same probability if they are normal.
    """
    replicates, missed = settings.replicates, 1 - settings.confidence
    enough = max(FEW_REPLICATES, math.ceil(round(3 / missed, 9)))
    if ranking.method != "bootstrap" or replicates >= enough:
        return ()
    held = 1 - 2 * (1 + (replicates - 1) * missed / 2) / (replicates + 1)
    return (
        f"{count(replicates, 'bootstrap replicate')} are too few for {percent(settings.confidence)}: intervals contain "
        f"the true value in about {held:.0%} of cases, and false separations may be more frequent than stated. Choose "
        f"{3 * enough:,} or more.",
    )


def type_warnings(scores: QueryScores) -> tuple[str, ...]:
    """A warning that names at most five unknown task types of queries; () if all are known."""
    if not scores.unrecognised:
        return ()
    named = ", ".join(repr(name) for name in scores.unrecognised[:5])
    return (f"Unknown task types are scored plainly: {named}; expected one of {', '.join(TASK_TYPES)}.",)


def fit_warnings(
    calibration: Calibration, candidates: BoolArray, settings: Settings, *, at_pass_marks: bool = False
) -> tuple[str, ...]:
    """Warnings about the fit, and about a bank smaller than the budget.

    candidates: (J,) rubrics that can enter the bank. at_pass_marks: whether graded labels are read as pass or fail.
    """
    fit, warnings = calibration.fit, []
    if not fit.converged:
        warnings.append(f"The {fit.model} fit did not converge: read its figures as provisional.")
    if fit.quadrature == "grid":
        warnings.append(
            "Fixed 41-node grid: abilities are quantised to its 0.2 spacing; use adaptive to rank."
        )
    for reason, rubrics in reasons_of_none(calibration.y, fit).items():
        said = f"On {rubrics:,} of {count(len(fit.constant), 'rubric')} {reason}, which gives no information."
        if at_pass_marks and reason == all_alike(fit.model):
            said += " Labels on one side of a pass mark count alike: another mark, or the model GRM, tells them apart."
        warnings.append(said)
    if rare := int(((calibration.item_rest < 0) & (calibration.item_rest_chance <= RARE)).sum()):
        warnings.append(_negative(int((calibration.item_rest < 0).sum()), rare))
    usable = int(candidates.sum())
    if usable < settings.budget < len(fit.constant):  # a budget of all rubrics means all that can enter
        warnings.append(
            f"The bank is smaller than B = {settings.budget:,}: {count(usable, 'rubric')} can be chosen."
        )
    return tuple(warnings)


def _negative(negative: int, rare: int) -> str:
    """A warning: how many rubrics have a negative item–rest correlation, and how many one too low for chance.

    rare: number of rubrics whose correlation has at most the probability RARE by chance; at least 1.
    """
    return (
        f"{count(negative, 'rubric')} {verb(negative, 'have')} a negative item–rest correlation. Half of "
        f"the rubrics unrelated to ability have one by chance; here {rare:,} {verb(rare, 'are')} further "
        "below 0 than 99 in 100 of those."
    )
