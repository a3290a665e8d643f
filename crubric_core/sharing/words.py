"""What a view says of itself, in sentences and short lists; plain text, for whoever shows it to escape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..text import count, leaderboard

if TYPE_CHECKING:
    from .view import Bank, SharedView

UNRANKED = "No system could be ranked."


def answer(view: SharedView) -> tuple[str, ...]:
    """The first line: who leads and how many tiers the labels bear, or what else the view is about."""
    board = view.leaderboard
    if board is not None and "tier" in board:
        ranked = board[board["rank"].notna()]
        if ranked.empty:
            return (UNRANKED,)
        return leaderboard(ranked, view.counts["bank"], view.settings["confidence"])
    if view.bank is not None:
        return (bank_sentence(view.bank),)
    return (
        f"{count(view.counts['systems'], 'system')} judged on {count(view.counts['rubrics'], 'rubric')}.",
    )


def bank_sentence(bank: Bank) -> str:
    """How few rubrics are enough."""
    return (
        f"{bank.size:,} of {count(bank.candidates, 'candidate rubric')} cover {bank.coverage:.1%} of what all of them "
        f"cover together: proven at least {bank.certificate:.1%} of the best possible bank of that size."
    )


def reading(view: SharedView) -> tuple[str, ...]:
    """How to read the leaderboard."""
    level = f"{view.settings['confidence']:.0%}"
    lines = [
        f"Ability θ is on the scale of the {view.settings['model']} response model; a step of 1 is large. "
        f"From, to, best and worst rank are the ends of {level} bootstrap intervals."
    ]
    if view.leaderboard is not None and "tier" in view.leaderboard:
        lines.append(
            "A new tier starts only where the difference is borne out; inside a tier, ranks may be chance."
        )
    return tuple(lines)


def origin(view: SharedView) -> dict[str, str]:
    """When the view was made, from what and with what."""
    counts = view.counts
    return {
        "Made": f"{view.made_at:%Y-%m-%d %H:%M} UTC",
        **({"Dataset": view.dataset} if view.dataset is not None else {}),
        "Labels": f"{counts['labels']:,} by {count(counts['judges'], 'judge')}, "
        f"for {count(counts['systems'], 'system')} on {count(counts['rubrics'], 'rubric')} "
        f"of {count(counts['queries'], 'query', 'queries')}",
        "Fingerprint of the labels": view.fingerprint,
        "Computed with": ", ".join(f"{name} {number}" for name, number in view.versions.items()),
    }


def settings_list(view: SharedView) -> dict[str, str]:
    """Every setting by its name; nested ones as ``priors.b_sd``."""
    return dict(_flat(view.settings))


def _flat(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", _shown(value)


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
