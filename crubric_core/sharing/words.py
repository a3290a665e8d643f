"""Sentences and short lists that describe a view, in plain text; the caller must escape them for display."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..settings import SPECS, objective
from ..text import at_least, count, rounded

if TYPE_CHECKING:
    from .view import Bank, Separation, SharedView


def answer(view: SharedView) -> tuple[str, ...]:
    """The sentences at the top of a view: the claims about the systems, else about the bank, else the counts."""
    if view.claims is not None:
        return view.claims.headline
    if view.bank is not None:
        return view.bank.worth or (bank_sentence(view.bank, view.settings),)
    return (
        f"{count(view.counts['systems'], 'system')} judged on {count(view.counts['rubrics'], 'rubric')}.",
    )


def support(view: SharedView) -> tuple[str, ...]:
    """Sentences about the basis of the claims, and about other rankings that do not contradict them."""
    return () if view.claims is None else (*view.claims.basis, *view.claims.beside)


def bank_sentence(bank: Bank, settings: Mapping[str, Any]) -> str:
    """How large the bank is, and what its certificate proves. settings: those of its view."""
    drawn = settings.get("strategy") in ("random", "hard_random")  # chosen without regard to the gate
    pool = (
        f"{count(bank.candidates, 'rubric')} in the pool (those that pass the gate and vary between systems)"
    )
    if bank.size == bank.candidates and not drawn:
        return f"{bank.size:,} of {pool}: the bank leaves none out."
    said = f"{bank.size:,} of {pool}"
    if drawn or bank.size > bank.candidates:  # pinned rubrics may fail the gate
        said = f"{count(bank.size, 'rubric')}{' drawn at random' if drawn else ''}"
    return (
        f"{said}, with {at_least(bank.certificate)} of "
        f"the {objective(settings.get('strategy'))} of the best possible bank of that size. This says nothing about "
        "accuracy on new systems."
    )


def bank_sentences(bank: Bank, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """What the bank keeps for held-out systems, if that was computed, and what its certificate proves."""
    return (*bank.worth, bank_sentence(bank, settings))


def compared(separation: Separation, one: int, other: int) -> str:
    """A sentence that compares two systems of a view, given by their indices in ``separation.systems``."""
    if one == other:
        return "Choose two systems."
    names = separation.systems[one], separation.systems[other]
    share = separation.ahead[one, other]
    if math.isnan(share):
        why = "they share too few queries or rubrics, or both pass all, or both fail all"
        return f"{names[0]} and {names[1]} are not compared: {why}."
    if not separation.separated[one, other]:
        return f"{names[0]} and {names[1]} are not separated; that the first is above has probability {rounded(share)}."
    first, second = names if share > 0.5 else names[::-1]
    return f"{first} is ahead of {second}: the interval of their difference excludes 0."


def reading(view: SharedView) -> tuple[str, ...]:
    """Sentences on how to read the leaderboard, and on what it does not show; () without claims."""
    return () if view.claims is None else (*view.claims.reading, *view.claims.limits)


def origin(view: SharedView) -> dict[str, str]:
    """Name → text about the origin of a view: when it was made, from which data, with which software."""
    counts = view.counts
    return {
        "Made": f"{view.made_at:%Y-%m-%d %H:%M} UTC",
        **({"Dataset": view.dataset} if view.dataset is not None else {}),
        "Labels": f"{counts['labels']:,} by {count(counts['judges'], 'judge')}, "
        f"for {count(counts['systems'], 'system')} on {count(counts['rubrics'], 'rubric')} "
        f"of {count(counts['queries'], 'query')}",
        "Fingerprint of the dataset": view.fingerprint,
        "Computed with": ", ".join(f"{name} {number}" for name, number in view.versions.items()),
    }


def settings_list(view: SharedView) -> dict[str, str]:
    """Setting → value of a view, as texts; see ``settings_words``."""
    return settings_words(view.settings)


def settings_words(settings: Mapping[str, Any]) -> dict[str, str]:
    """Setting → value as texts; nested settings are named with a dot, as ``priors.b_sd``."""
    return dict(_flat(settings))


def _flat(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            meaning = SPECS[name].none if value is None and name in SPECS else ""
            yield f"{before}{name}", _shown(value) + (f" ({meaning})" if meaning else "")


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        of_rules = any(isinstance(entry, Mapping) for entry in value)
        return ("; " if of_rules else ", ").join(map(_row, value)) or "none"
    return str(value)


def _row(value: object) -> str:
    """The text of one entry of a list; for a rule (a mapping), "name: value" of each part."""
    return ", ".join(f"{k}: {v}" for k, v in value.items()) if isinstance(value, Mapping) else str(value)
