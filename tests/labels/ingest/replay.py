"""The slow oracle of ingests and undos: what each ingest said, kept as it was said, and folded anew each time."""

from __future__ import annotations

from dataclasses import dataclass, field

Key = tuple[str, str, str]  # system, rubric, judge
Row = tuple[Key, int | None]


@dataclass
class Replay:
    """Labels of one query, as a list of ingests that each say something of some keys."""

    said: dict[int, dict[Key, int | None]] = field(default_factory=dict)

    def state(self) -> dict[Key, int | None]:
        """The last known label of every key; None where none is known."""
        found: dict[Key, int | None] = {}
        for number in sorted(self.said):
            for key, label in self.said[number].items():
                if label is not None or key not in found:
                    found[key] = label
        return found

    def ingest(self, number: int, rows: list[Row], on_conflict: str) -> bool:
        """Add what can stand; whether anything could: of a file with rejected rows, a known label."""
        stored, told, accepted, blank, rejected = self.state(), {}, 0, 0, 0
        for key in dict(rows):
            labels = [label for k, label in rows if k == key]
            known = [label for label in labels if label is not None]
            blank += len(labels) - len(known)
            if on_conflict == "reject" and len(set(known)) > 1:
                rejected += len(known)
                if len(known) == len(labels):
                    continue
                known = []
            accepted += len(known)
            label = (known[0] if on_conflict == "first" else known[-1]) if known else None
            old = stored.get(key)
            if label is not None and old is not None and label != old:
                if on_conflict == "reject":
                    accepted, rejected = accepted - 1, rejected + 1
                if on_conflict != "last":
                    continue
            told[key] = label
        stands = accepted > 0 or (blank > 0 and not rejected)
        if stands:
            self.said[number] = told
        return stands
