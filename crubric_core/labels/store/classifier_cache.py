"""Answers of the prompted typer, kept in the workspace by the hash of their prompt; no query's text is kept here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from .database import Database

_TABLE = """
    CREATE TABLE IF NOT EXISTS typer_answers (
        key VARCHAR PRIMARY KEY,           -- hash of model, instruction and query
        model VARCHAR NOT NULL,
        probabilities DOUBLE[4] NOT NULL,  -- in the order of the task types
        prompt_tokens BIGINT NOT NULL,
        completion_tokens BIGINT NOT NULL,
        answered_at TIMESTAMP NOT NULL DEFAULT current_timestamp
    )
"""


class _Answer(Protocol):
    @property
    def model(self) -> str: ...
    @property
    def probabilities(self) -> tuple[float, ...]: ...
    @property
    def prompt_tokens(self) -> int: ...
    @property
    def completion_tokens(self) -> int: ...


class TyperCache:
    """The cache of a workspace, for every dataset in it; the table is made when the first answer comes."""

    def __init__(self, workspace: Database) -> None:
        self._workspace = workspace

    def read(self, keys: Sequence[str]) -> Mapping[str, tuple[float, ...]]:
        """The probabilities of those keys that are known."""
        with self._workspace.reading() as cursor:
            there = cursor.execute(
                "SELECT 1 FROM duckdb_tables() WHERE table_name = 'typer_answers'"
            ).fetchone()
            if there is None:
                return {}
            found = cursor.execute(
                "SELECT key, probabilities FROM typer_answers WHERE key IN (SELECT unnest(?::VARCHAR[]))",
                [list(keys)],
            ).fetchall()
        return {key: tuple(shares) for key, shares in found}

    def write(self, answers: Mapping[str, _Answer]) -> None:
        """Keep answers by their keys, the later one where a key comes again."""
        rows = [
            (key, a.model, list(a.probabilities), a.prompt_tokens, a.completion_tokens)
            for key, a in answers.items()
        ]
        with self._workspace.writing() as cursor:
            cursor.execute(_TABLE)
            cursor.executemany(
                "INSERT OR REPLACE INTO typer_answers (key, model, probabilities, prompt_tokens, completion_tokens)"
                " VALUES (?, ?, ?, ?, ?)",
                rows,
            )
