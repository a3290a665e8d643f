"""Answers of the prompted classifier, cached in the workspace by the hash of their prompt, without the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from .database import Database


class _Answer(Protocol):
    @property
    def model(self) -> str: ...
    @property
    def probabilities(self) -> tuple[float, ...]: ...
    @property
    def prompt_tokens(self) -> int: ...
    @property
    def completion_tokens(self) -> int: ...


class ClassifierCache:
    """The cache of a workspace, shared by all its datasets."""

    def __init__(self, workspace: Database) -> None:
        self._workspace = workspace

    def read(self, keys: Sequence[str]) -> Mapping[str, tuple[float, ...]]:
        """Key → probabilities of the task types, for those of the keys that are in the cache."""
        with self._workspace.reading() as cursor:
            found = cursor.execute(
                "SELECT key, probabilities FROM typer_answers WHERE key IN (SELECT unnest(?::VARCHAR[]))",
                [list(keys)],
            ).fetchall()
        return {key: tuple(shares) for key, shares in found}

    def write(self, answers: Mapping[str, _Answer]) -> None:
        """Store answers by their keys; an answer replaces an earlier one with the same key."""
        rows = [
            (key, a.model, list(a.probabilities), a.prompt_tokens, a.completion_tokens)
            for key, a in answers.items()
        ]
        with self._workspace.writing() as cursor:
            cursor.executemany(
                "INSERT OR REPLACE INTO typer_answers (key, model, probabilities, prompt_tokens, completion_tokens)"
                " VALUES (?, ?, ?, ?, ?)",
                rows,
            )
