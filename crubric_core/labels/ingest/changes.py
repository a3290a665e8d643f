"""How one ingest changed a dataset, as figures and as a sentence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from ...text import count, listed

NAMES = ("systems", "judges", "queries", "rubrics")
GOLD = "gold labels"
BY_PEOPLE = (GOLD, "anchors")


@dataclass(frozen=True)
class Changes:
    """How a dataset differs from what it was before.

    systems, judges, queries, rubrics: numbers of new names.
    added: new labels, or things described for the first time. changed: stored values that are different now.
    filled: stored unknown values that are known now. same: rows that leave labels as they were.
    unknown: number of the added labels that are unknown.
    what: what is counted: labels, gold labels, rubrics … runs: whether the added labels are of named runs.
    """

    systems: int = 0
    judges: int = 0
    queries: int = 0
    rubrics: int = 0
    added: int = 0
    changed: int = 0
    filled: int = 0
    same: int = 0
    what: str = "labels"
    unknown: int = 0
    runs: bool = False

    @property
    def sentence(self) -> str:
        """``adds 1 system and 2,431 labels; changes 17; leaves 3 as they were``."""
        words = {"judges": "annotators"} if self.what in BY_PEOPLE else {}
        new = [
            _count(getattr(self, name), words.get(name, name))
            for name in NAMES
            if getattr(self, name) and name != self.what
        ]
        if self.added:
            each = ", each run counted" if self.runs else ""
            known = self.added - self.unknown  # by this many, the dataset's known labels grow
            unknown = f"and {self.unknown:,} unknown" if known else "unknown"
            new.append(
                _count(known or self.added, self.what) + (f" ({unknown})" if self.unknown else "") + each
            )
        parts = [f"adds {listed(new)}"] if new else []
        unchanged = "as it was" if self.same == 1 else "as they were"
        is_named = bool(self.added)  # what is counted is named once, where it is counted first
        for verb, number, after in (
            ("changes", self.changed, ""),
            ("fills in", self.filled, ""),
            ("leaves", self.same, f" {unchanged}"),
        ):
            if number:
                parts.append(f"{verb} {f'{number:,}' if is_named else _count(number, self.what)}{after}")
                is_named = True
        return "; ".join(parts) or "changes nothing"

    @classmethod
    def total(cls, counted: Sequence[Changes], others: Sequence[Changes]) -> Changes:
        """The sum of the changes by several tables: names over all of them, other figures over ``counted`` alone."""
        named = {name: sum(getattr(c, name) for c in (*counted, *others)) for name in NAMES}
        if counted[0].what not in BY_PEOPLE:  # ``judges`` in changes by people are annotators
            named["judges"] = sum(c.judges for c in (*counted, *others) if c.what not in BY_PEOPLE)
        figures = {
            name: sum(getattr(c, name) for c in counted)
            for name in ("added", "changed", "filled", "same", "unknown")
        }
        return cls(**named, **figures, what=counted[0].what, runs=any(c.runs for c in counted))

    def to_json(self) -> str:
        """Text for the column ``ingests.changes``."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Changes:
        """Read what ``to_json`` wrote."""
        return cls(**json.loads(text))


def _count(number: int, plural: str) -> str:
    return count(number, {"queries": "query"}.get(plural, plural.removesuffix("s")), plural)
