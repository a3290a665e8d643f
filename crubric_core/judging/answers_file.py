"""Answers of new systems to the bank's queries: system, query and text, from any readable file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pandas as pd

from ..bank.identity import normalised
from ..errors import IngestError, PlacementError
from ..labels.ingest.storing import CHOICE
from ..labels.readers.sources import Source
from ..labels.store.workspace import Workspace
from ..placement.bank_scale import BankScale
from ..text import count, listed, verb

_STUDY = "answers"
SHOWN = 3


@dataclass(frozen=True)
class SystemAnswers:
    """texts: (system, the bank's query) → text of the answer, sorted. notes: what is not used, unnamed or missing."""

    texts: dict[tuple[str, str], str]
    notes: tuple[str, ...]

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, sorted."""
        return tuple(sorted({system for system, _ in self.texts}))


def read_system_answers(bank_scale: BankScale, source: Source) -> SystemAnswers:
    """Read the answers to the bank's queries, which are identified by their name, else by their text.

    Raises IngestError if the file cannot be read, PlacementError if no answer belongs to the bank or two contradict.
    """
    with Workspace() as workspace:
        try:
            report = workspace.ingest(source, _STUDY, "answers")
        except IngestError as error:
            raise IngestError(str(error).replace(CHOICE, "")) from error  # there is no choice to make here
        table = workspace.dataset(_STUDY).answers()
    known = _queries(bank_scale)
    texts: dict[tuple[str, str], str] = {}
    other: set[str] = set()
    for system, query, text in table[["system", "query", "text"]].astype(str).itertuples(index=False):
        here = known.get(query) or known.get(normalised(query))
        if here is None:
            other.add(query)
        elif text.strip():
            if texts.get((system, here), text) != text:
                raise PlacementError(
                    f"{system} has two answers to {here!r}, one by its name and one by its text: keep one."
                )
            texts[system, here] = text
    empty = report.accepted - report.collapsed - int(has_text(table).sum())
    if not texts:
        names = sorted(map(str, set(bank_scale.rubrics["query"])))
        raise PlacementError(
            f"None of the answers is to one of the {count(len(names), 'query')} of the bank "
            f"{bank_scale.bank_id}: name queries as it does, for example {names[0]!r}."
        )
    found = SystemAnswers(dict(sorted(texts.items())), ())
    return SystemAnswers(found.texts, tuple(_notes(bank_scale, found, other, report.rejected, empty)))


def has_text(table: pd.DataFrame) -> pd.Series[bool]:
    """Whether each row (a rubric, query or answer) has a text that is not blank."""
    return table["text"].map(lambda text: isinstance(text, str) and bool(text.strip())).astype(bool)


def _queries(bank_scale: BankScale) -> dict[str, str]:
    """Map each query's name, and its text if no other query has it, to the name in the bank."""
    names = [str(name) for name in bank_scale.queries["query"]]
    texts = [normalised(text) if isinstance(text, str) else "" for text in bank_scale.queries["text"]]
    often = Counter(texts)
    by_text = {text: name for name, text in zip(names, texts, strict=True) if text and often[text] == 1}
    return by_text | {name: name for name in (*names, *map(str, bank_scale.rubrics["query"]))}


def _notes(
    bank_scale: BankScale, found: SystemAnswers, other: set[str], rejected: int, empty: int
) -> list[str]:
    notes = []
    if rejected:
        notes.append(f"{count(rejected, 'row')} of the answers cannot be used.")
    if empty:
        notes.append(f"{count(empty, 'answer')} {verb(empty, 'have')} no text: not judged.")
    if other:
        shown = listed([repr(name) for name in sorted(other)[:SHOWN]])
        notes.append(
            f"{count(len(other), 'query')} of the answers not in the bank, such as {shown}: not judged."
        )
    queries = sorted(set(map(str, bank_scale.rubrics["query"])))
    known = set(bank_scale.queries["query"][has_text(bank_scale.queries)].map(str))
    nameless = sorted({query for _, query in found.texts} - known)
    if nameless:
        shown = listed([repr(name) for name in nameless[:SHOWN]])
        notes.append(
            f"{count(len(nameless), 'query')} of the bank without a text, such as {shown}: judges see the name."
        )
    for system in found.systems:
        missing = [query for query in queries if (system, query) not in found.texts]
        if missing:
            shown = listed([repr(name) for name in missing[:SHOWN]])
            notes.append(
                f"{system} has no answer to {count(len(missing), 'query')} of the bank, such as {shown}."
            )
    return notes
