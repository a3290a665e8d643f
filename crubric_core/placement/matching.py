"""Match each rubric of a file to a rubric of the bank: by its id, else by its text, else by its name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from ..bank.identity import find_token, normalised, own_name
from ..errors import PlacementError
from .bank_scale import BankScale

By = Literal["id", "text", "name"]
NO_QUERY = "all"  # a study's name for the query of rubrics without one
OUTSIDE = "no rubric of this bank"
OTHER_TEXT = "the bank's rubric of this name has another text"


@dataclass(frozen=True)
class Match:
    """Match of one rubric of a file: its row in the bank, or None with the reason. by: what identified it."""

    row: int | None
    by: By | None = None
    reason: str = ""


def match_rubrics(
    bank_scale: BankScale, rubrics: pd.DataFrame, queries: pd.DataFrame, *, positions: bool
) -> list[Match]:
    """A match for each row of ``rubrics`` (query, rubric, text, tags, dimension) of a file.

    queries: the file's (query, text). positions: whether the file's layout names rubrics by their position in a list,
    so that a bare number is no name. Raises PlacementError if an id belongs to another bank; the message names both.
    """
    known = _Known(bank_scale, _same_query(bank_scale, queries))
    found = [
        known.match(
            str(row.query),
            str(row.rubric),
            _text(row.text),
            (_text(row.tags), _text(row.dimension)),
            positions,
        )
        for row in rubrics.itertuples(index=False)
    ]
    return _one_each(found)


class _Known:
    """The bank's rubrics, indexed by id, text and name."""

    def __init__(self, bank_scale: BankScale, query_of: dict[str, str]) -> None:
        table = bank_scale.rubrics
        self._bank_id, self._query_of = bank_scale.bank_id, query_of
        self._by_id = {str(key): row for row, key in enumerate(table["id"])}
        self._texts = [_text(text) for text in table["text"]]
        self._text: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._name: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._own: dict[tuple[str, str], list[int]] = defaultdict(list)
        for row, (query, name, text) in enumerate(
            zip(table["query"].map(str), table["rubric"].map(str), self._texts, strict=True)
        ):
            for place in (query, NO_QUERY):
                if text:
                    self._text[place, normalised(text)].append(row)
                self._name[place, name].append(row)
                self._own[place, own_name(name, query)].append(row)

    def match(
        self, query: str, name: str, text: str | None, said: Sequence[str | None], positions: bool
    ) -> Match:
        found = find_token(*said, name, text)
        if found is not None:
            return self._by_token(*found)
        here = self._query_of.get(query, query)
        if text and (rows := self._text.get((here, normalised(text)), [])):
            if len(rows) == 1:
                return Match(rows[0], "text")
            rows = [row for row in rows if row in self._named(here, query, name)]
            if len(rows) == 1:
                return Match(rows[0], "text")
            return Match(None, reason="several rubrics of the bank have this text: give their ids")
        return self._by_name(here, query, name, text, positions)

    def _by_token(self, rubric: str, bank: str | None) -> Match:
        if bank is not None and bank != self._bank_id:
            raise PlacementError(
                f"These labels belong to the bank {bank}, and this is the bank {self._bank_id}: "
                "place them on the bank that their rubrics were exported from."
            )
        row = self._by_id.get(rubric)
        return Match(None, reason=OUTSIDE) if row is None else Match(row, "id")

    def _named(self, here: str, query: str, name: str) -> list[int]:
        exact = self._name.get((here, name), [])
        return exact or self._own.get((here, own_name(name, query)), [])

    def _by_name(self, here: str, query: str, name: str, text: str | None, positions: bool) -> Match:
        rows = self._named(here, query, name)
        if not rows:
            return Match(None, reason=OUTSIDE)
        if len(rows) > 1:
            return Match(None, reason="several rubrics of the bank have this name: give their ids or queries")
        if positions and own_name(name, query).isdecimal():
            return Match(
                None,
                reason="known only by its position in a list, which an export changes: give ids or texts",
            )
        other = self._texts[rows[0]]
        if text and other:
            return Match(None, reason=OTHER_TEXT)
        return Match(rows[0], "name")


def _same_query(bank_scale: BankScale, queries: pd.DataFrame) -> dict[str, str]:
    """Map queries of the file with an unknown name, but the text of a bank's query, to the bank's name."""
    names = set(bank_scale.queries["query"].map(str))
    texts = [
        (str(q), _text(t))
        for q, t in zip(bank_scale.queries["query"], bank_scale.queries["text"], strict=True)
    ]
    often = Counter(normalised(text) for _, text in texts if text)
    by_text = {normalised(text): name for name, text in texts if text and often[normalised(text)] == 1}
    found = {}
    for name, text in zip(queries["query"].map(str), map(_text, queries["text"]), strict=True):
        if name not in names and text and normalised(text) in by_text:
            found[name] = by_text[normalised(text)]
    return found


def _one_each(found: list[Match]) -> list[Match]:
    """Keep only the most certain match of each rubric of the bank; several rubrics may match it only by its id."""
    strength = {"id": 0, "text": 1, "name": 2}
    best: dict[int, list[int]] = defaultdict(list)
    for place, match in enumerate(found):
        if match.row is not None:
            best[match.row].append(place)
    out = list(found)
    for places in best.values():
        first = min(strength[found[p].by or "name"] for p in places)
        surest = [p for p in places if strength[found[p].by or "name"] == first]
        for place in places:
            if place not in surest:
                out[place] = Match(None, reason="another rubric of the file is this rubric of the bank")
            elif first and len(surest) > 1:
                out[place] = Match(
                    None, reason="several rubrics of the file could be this one: give their ids"
                )
    return out


def _text(value: object) -> str | None:
    """The value if it is a text that is not blank, else None."""
    return str(value) if isinstance(value, str) and value.strip() else None
