"""A recalibration in sentences: which systems would move, which rubrics have drifted, how the scales are linked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..text import count, listed, numeral, short_name, shorten, verb

if TYPE_CHECKING:
    from .recalibrate import Recalibration

NAME = 40  # characters of a name in a sentence


def recalibration_sentences(found: Recalibration) -> tuple[str, str]:
    """Two texts: which systems move by over a standard error or change tier; which rubrics drifted, and the link."""
    return _who(found), _drifted(found)


def _who(found: Recalibration) -> str:
    table = found.moved
    joined = int(table["new"].sum())
    first = f"{count(joined, 'system')} {verb(joined, 'join')} the {len(table) - joined:,} of the calibration"
    names = [short_name(str(name), NAME) for name in table["system"][table["moved"]]]
    moves = f"{listed(names)} {verb(len(names), 'move')}" if names else "no ability moves"
    said = [f"{first}; {moves} by more than one standard error."]
    changed = table[table["tier_before"].notna() & (table["tier_before"] != table["tier_after"])]
    said += [
        f"{short_name(str(system), NAME)} changes from tier {before} to tier {after}."
        for system, before, after in changed[["system", "tier_before", "tier_after"]].itertuples(index=False)
    ]
    return " ".join(said)


def _drifted(found: Recalibration) -> str:
    table, link = found.drift_table, found.link
    tested, flagged = int((table["labels"] > 0).sum()), table[table["drifted"]]
    linked = (
        f"The new fit is linked to the bank's scale by {count(link.rubrics, 'rubric')} (slope {link.slope:.2f}, shift "
        f"{numeral(link.intercept, '+z.2f')})."
    )
    if flagged.empty:
        none = (
            f"Of {count(tested, 'rubric')} with new labels, none is shown to be harder or easier than before."
        )
        return f"{none} {linked}"
    names = [
        f"{shorten(str(rubric), NAME)} ({'harder' if shift > 0 else 'easier'})"
        for rubric, shift in flagged[["rubric", "shift"]].itertuples(index=False)
    ]
    many = len(names)
    return (
        f"{many:,} of {count(tested, 'rubric')} with new labels {verb(many, 'have')} drifted and {verb(many, 'take')} "
        f"no part in the link: {listed(names)}. {linked}"
    )
