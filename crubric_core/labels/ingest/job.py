"""One ingest in progress: the open transaction and its inputs."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pandas as pd

from ..readers.columns.specs import Kind
from ..readers.policies import Policies
from .changes import NAMES, Changes
from .findings import Finding
from .parsed import execute


@dataclass
class Tally:
    """Numbers of rows of a file, by what became of them; blank, collapsed and replaced rows are among the accepted.

    added, changed, filled: values in the dataset that are new, have changed, or were unknown and are known now.
    unknown: added labels without a value. runs: whether added labels have a run.
    applied: policy → number of rows that it decided.
    """

    total: int = 0
    rejected: int = 0
    blank: int = 0
    collapsed: int = 0
    replaced: int = 0
    added: int = 0
    changed: int = 0
    filled: int = 0
    unknown: int = 0
    runs: bool = False
    applied: dict[str, int] = field(default_factory=dict)

    def apply(self, policy: str, rows: int) -> None:
        """Add to the number of rows that a policy decided."""
        if rows:
            self.applied[policy] = self.applied.get(policy, 0) + rows

    @property
    def accepted(self) -> int:
        """Rows that were not rejected."""
        return self.total - self.rejected


@dataclass(frozen=True)
class Job:
    """The cursor of the transaction, the ids under which it writes, and the properties of the table ``incoming``.

    row_sql: SQL over ``incoming i`` for a record's row number as a person sees it; unique within the file.
    place_sql: SQL over ``incoming i`` for a record's place in the source; None if the row number shows it.
    facts: staged column → name of the fact that it holds, for a table of systems.
    whole: the highest level that all labels name (5 in 4/5); None if they name none.
    ends: the range of continuous scores, if the user gave one together with bins.
    verdicts: words, in lower case, that are a plain yes or no; they are rejected on a graded scale.
    graded: whether words besides yes and no form a scale of more levels: fully, partly, not met.
    given: words, in lower case, whose level the user gave.
    headers: canonical column → the file's own name of it.
    apart: hint or question for the user about rows that differ only in something that is not read; "" if none.
    several: whether the rows come from several files, which the table ``origins`` lists.
    file_sql: SQL over ``incoming i`` for the file of a record; None if all come from one. findings: those so far.
    names: numbers of systems, judges, queries and rubrics in the dataset before. report: called at every stage.
    """

    cursor: duckdb.DuckDBPyConnection
    dataset_id: int
    ingest_id: int
    kind: Kind
    source: str
    policies: Policies
    row_sql: str
    columns: frozenset[str]
    place_sql: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    apart: str = ""
    whole: int | None = None
    ends: tuple[int, int] | None = None
    several: bool = False
    file_sql: str | None = None
    verdicts: frozenset[str] = frozenset()
    graded: bool = False
    given: frozenset[str] = frozenset()
    tally: Tally = field(default_factory=Tally)
    findings: list[Finding] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)
    report: Callable[[float, str], None] = lambda _share, _words: None

    @property
    def has_runs(self) -> bool:
        """Whether the rows are labels with a column of runs."""
        return self.kind == "labels" and "run" in self.columns

    @property
    def has_reasons(self) -> bool:
        """Whether the rows have a column of reasons."""
        return "reason" in self.columns

    def count_names(self) -> dict[str, int]:
        """Numbers of systems, judges, queries and rubrics in the dataset, by the names of their tables.

        A rubric without a query does not count if rubrics of its name have one (``rubric_facts``).
        """
        own = "SELECT name FROM rubrics WHERE dataset_id = $dataset AND query_id IS NOT NULL"
        lent = f"query_id IS NULL AND name IN ({own})"
        where = {"rubrics": f" AND NOT ({lent})"}
        counts = ", ".join(
            f"(SELECT count(*) FROM {t} WHERE dataset_id = $dataset{where.get(t, '')})" for t in NAMES
        )
        return dict(zip(NAMES, self.one(f"SELECT {counts}"), strict=True))

    def changes(self) -> Changes:
        """How the ingest has changed the dataset."""
        new = {table: n - self.names[table] for table, n in self.count_names().items()}
        what = {"gold": "gold labels", "reference": "ranked systems", "systems": "facts"}.get(
            self.kind, self.kind
        )
        own = {name: getattr(self.tally, name) for name in ("added", "changed", "filled", "unknown")}
        return Changes(**new, **own, same=self.tally.collapsed, what=what, runs=self.tally.runs)

    def row_named(self, row: str) -> str:
        """SQL for ``row 12``, or ``row 12 of b.csv`` if there are several files. row: SQL for the row number."""
        if not self.several:
            return f"'row ' || {row}"
        return (
            f"(SELECT 'row ' || ({row} - src.before) || ' of ' || src.name FROM origins src"
            f" WHERE {row} > src.before AND {row} <= src.last)"
        )

    def run(self, sql: str, **params: Any) -> None:
        """Execute one statement; $dataset and $ingest are bound where they occur."""
        execute(self.cursor, sql, self._bound(sql, params))

    def one(self, sql: str, **params: Any) -> tuple[Any, ...]:
        """The first row of a query that always has one; LookupError if it has none."""
        row = execute(self.cursor, sql, self._bound(sql, params)).fetchone()
        if row is None:
            raise LookupError(sql)
        return tuple(row)

    def all(self, sql: str, **params: Any) -> list[tuple[Any, ...]]:
        """All rows of a query with a short result."""
        return execute(self.cursor, sql, self._bound(sql, params)).fetchall()

    def frame(self, sql: str) -> pd.DataFrame:
        """The result of a query as a data frame."""
        return execute(self.cursor, sql, self._bound(sql, {})).df()

    def _bound(self, sql: str, params: dict[str, Any]) -> dict[str, Any] | None:
        own = {"dataset": self.dataset_id, "ingest": self.ingest_id}
        return {k: v for k, v in (own | params).items() if f"${k}" in sql} or None
