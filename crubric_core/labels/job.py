"""One ingest under way: the open transaction and what it is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import duckdb

from .columns import Kind

OnConflict = Literal["reject", "last"]


@dataclass
class Tally:
    """Rows of the file, by what became of them; blank, collapsed and replaced are among the accepted."""

    total: int = 0
    rejected: int = 0
    blank: int = 0
    collapsed: int = 0
    replaced: int = 0

    @property
    def accepted(self) -> int:
        """Rows that were not rejected."""
        return self.total - self.rejected


@dataclass(frozen=True)
class Job:
    """The cursor of the transaction, the ids it writes under, and the file's table ``incoming``.

    row_sql: the row of a record as a person sees it, over ``incoming i``; unique within the file.
    """

    cursor: duckdb.DuckDBPyConnection
    dataset_id: int
    ingest_id: int
    kind: Kind
    source: str
    on_conflict: OnConflict
    row_sql: str
    columns: frozenset[str]
    tally: Tally = field(default_factory=Tally)

    def run(self, sql: str, **params: Any) -> None:
        """Execute one statement; $dataset and $ingest are bound where they occur."""
        self.cursor.execute(sql, self._bound(sql, params))

    def one(self, sql: str, **params: Any) -> tuple[Any, ...]:
        """The first row of a query that always has one."""
        row = self.cursor.execute(sql, self._bound(sql, params)).fetchone()
        if row is None:
            raise LookupError(sql)
        return tuple(row)

    def all(self, sql: str, **params: Any) -> list[tuple[Any, ...]]:
        """All rows of a short answer."""
        return self.cursor.execute(sql, self._bound(sql, params)).fetchall()

    def _bound(self, sql: str, params: dict[str, Any]) -> dict[str, Any] | None:
        own = {"dataset": self.dataset_id, "ingest": self.ingest_id}
        return {k: v for k, v in (own | params).items() if f"${k}" in sql} or None
