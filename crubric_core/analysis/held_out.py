"""Sentences on the worth of a bank for systems that it has not seen, for the Bank page and for published views."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import AssemblyError
from ..labels.repeated_systems import copies_once
from ..leaderboard.cross_fit import FEW_SYSTEMS, too_few_to_cross_fit
from .bank_value import worth_sentences

if TYPE_CHECKING:
    from .bank_value import WorthCurve
    from .result import Result
    from .stages import Analysis

MOST_CELLS = 1 << 22  # systems times rubrics


def tested_size(study: Analysis, worth: WorthCurve) -> int:
    """Size of the bank that is tested: the bank's own, or at most the largest size of the curve."""
    return int(min(len(study.bank()), worth.sizes[-1]))


def untested(study: Analysis) -> str:
    """A sentence on why the worth of the bank for a new system is not known."""
    systems, said = study.reduction().n_distinct, "The worth of the bank for a new system is not known:"
    if too_few_to_cross_fit(systems):
        once = copies_once(systems, len(study.reduction().systems))
        return f"{said} this needs {FEW_SYSTEMS} systems, and there are {systems}{once}."
    return f"{said} no system can be held out with these settings."


def with_worth(result: Result, study: Analysis) -> Result:
    """The result with the sentences on the worth of its bank filled in."""
    return replace(result, worth=held_out_sentences(study))


def held_out_sentences(study: Analysis) -> tuple[str, ...]:
    """Sentences on what the bank keeps for held-out systems, compared with random banks, or why it is not known.

    An empty tuple if no claim about systems may be made. Not computed beyond MOST_CELLS cells: it would take minutes.
    """
    if not study.verdict().holds:
        return ()
    if study.given().y.size > MOST_CELLS:
        return (
            "This view does not say what the bank keeps for systems that it has not seen: this was not computed.",
        )
    try:
        worth = study.worth()
    except AssemblyError as error:
        return (f"The worth of the bank for a new system is not known: {error}",)
    return (untested(study),) if worth is None else worth_sentences(worth, tested_size(study, worth))
