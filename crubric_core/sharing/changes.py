"""Differences between a view and the one that it replaces: systems, tiers, ranks, settings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..text import count, listed, verb
from .view import SharedView

SHOWN = 5  # names in a sentence
Move = tuple[str, int | None, int | None]


@dataclass(frozen=True)
class ViewChanges:
    """The differences between an old and a new view.

    added, removed: names of systems. tiers, ranks: (system, before, after) for the systems in both views whose value
    changed; before or after is None if the system had no value. None in place of a tuple: one of the views does not
    show this. settings: name → (before, after), for changed settings. labels: whether the dataset's fingerprint
    differs.
    """

    added: tuple[str, ...] | None
    removed: tuple[str, ...] | None
    tiers: tuple[Move, ...] | None
    ranks: tuple[Move, ...] | None
    settings: dict[str, tuple[Any, Any]]
    labels: bool

    @property
    def sentences(self) -> list[str]:
        """Plain-text sentences: one for each kind of change, and one about the dataset."""
        said = [
            self._systems("joined", self.added),
            self._systems("left out", self.removed),
            _moves("tier", self.tiers),
            _moves("rank", self.ranks),
        ]
        changed = [f"{name}: {old} → {new}" for name, (old, new) in self.settings.items()]
        if changed:
            said.append(f"{count(len(changed), 'setting')} changed ({listed(changed, SHOWN)}).")
        if self.added is None:
            said.append("One of the two shows no leaderboard, so systems cannot be compared.")
        said.append("Its dataset has changed." if self.labels else "It rests on the same dataset.")
        found = [sentence for sentence in said if sentence]
        return (
            found if len(found) > 1 or self.labels else ["Only texts and parts of the view change.", *found]
        )

    @staticmethod
    def _systems(what: str, names: tuple[str, ...] | None) -> str:
        how = {"joined": "new", "left out": "no longer shown"}[what]
        if not names:
            return ""
        return f"{count(len(names), 'system')} {verb(len(names), 'are')} {how}: {listed(names, SHOWN)}."

    def record(self) -> dict[str, Any]:
        """The differences as a dictionary of plain values for JSON."""
        return {
            "systems_added": _plain(self.added),
            "systems_removed": _plain(self.removed),
            "tiers_moved": _plain_moves(self.tiers),
            "ranks_moved": _plain_moves(self.ranks),
            "settings": {name: {"before": old, "after": new} for name, (old, new) in self.settings.items()},
            "other_labels": self.labels,
        }


def changes(old: SharedView, new: SharedView) -> ViewChanges:
    """The differences from ``old`` to ``new``."""
    before, after = (_board(view) for view in (old, new))
    had, has = (json.loads(json.dumps(dict(view.settings))) for view in (old, new))  # as a file keeps them
    names = sorted(set(had) | set(has))
    settings = {name: (had.get(name), has.get(name)) for name in names if had.get(name) != has.get(name)}
    known = before is not None and after is not None
    return ViewChanges(
        added=_less(after, before) if known else None,
        removed=_less(before, after) if known else None,
        tiers=_moved(before, after, "tier"),
        ranks=_moved(before, after, "rank"),
        settings=settings,
        labels=old.fingerprint != new.fingerprint,
    )


def _board(view: SharedView) -> pd.DataFrame | None:
    return None if view.leaderboard is None else view.leaderboard.set_index("system")


def _less(one: pd.DataFrame | None, other: pd.DataFrame | None) -> tuple[str, ...]:
    if one is None or other is None:
        return ()
    return tuple(str(name) for name in one.index if name not in other.index)


def _moved(before: pd.DataFrame | None, after: pd.DataFrame | None, column: str) -> tuple[Move, ...] | None:
    if before is None or after is None or column not in before or column not in after:
        return None
    old, new = before[column].to_dict(), after[column].to_dict()
    common = [name for name in after.index if name in before.index]
    moves = [(str(name), _whole(old[name]), _whole(new[name])) for name in common]
    return tuple(move for move in moves if move[1] != move[2])


def _whole(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)


def _moves(what: str, moves: tuple[Move, ...] | None) -> str:
    if not moves:
        return ""
    said = [f"{name} {_named(old)} → {_named(new)}" for name, old, new in moves]
    return f"{count(len(moves), 'system')} {verb(len(moves), 'have')} another {what}: {listed(said, SHOWN)}."


def _named(value: int | None) -> str:
    return "none" if value is None else str(value)


def _plain(names: tuple[str, ...] | None) -> list[str] | None:
    return None if names is None else list(names)


def _plain_moves(moves: tuple[Move, ...] | None) -> list[dict[str, Any]] | None:
    if moves is None:
        return None
    return [{"system": name, "before": old, "after": new} for name, old, new in moves]
