"""What is said of a bank's worth for systems that it has not seen: on the Bank page and in published views."""

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
    """How large a bank can be tested: that of the settings, or the largest that is chosen without a system."""
    return int(min(len(study.bank()), worth.sizes[-1]))


def untested(study: Analysis) -> str:
    """Why it is not known what the bank is worth for a new system."""
    systems, said = study.reduction().n_distinct, "The worth of the bank for a new system is not known:"
    if too_few_to_cross_fit(systems):
        once = copies_once(systems, len(study.reduction().systems))
        return f"{said} this needs {FEW_SYSTEMS} systems, and there are {systems}{once}."
    return f"{said} no system can be held out with these settings."


def with_worth(result: Result, study: Analysis) -> Result:
    """The result of a study with what is said of its bank's worth."""
    return replace(result, worth=held_out_sentences(study))


def held_out_sentences(study: Analysis) -> tuple[str, ...]:
    """What the bank keeps for systems held out, beside random banks, or why that is not known; plain text.

    Nothing where no claim about systems may be made. Not computed beyond MOST_CELLS cells: it would take minutes.
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
