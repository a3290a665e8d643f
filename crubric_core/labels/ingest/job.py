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
    """Rows of the file, by what became of them; blank, collapsed and replaced are among the accepted.

    added, changed, filled: what is new, another, or known now in the dataset. unknown: added labels without a value.
    runs: whether added labels are named runs.
    applied: policy → rows that it decided.
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
        """Count rows that a policy decided."""
        if rows:
            self.applied[policy] = self.applied.get(policy, 0) + rows

    @property
    def accepted(self) -> int:
        """Rows that were not rejected."""
        return self.total - self.rejected


@dataclass(frozen=True)
class Job:
    """The cursor of the transaction, the ids it writes under, and the file's table ``incoming``.

    row_sql: the row of a record as a person sees it, over ``incoming i``; unique within the file.
    place_sql: where a record stands in the source, likewise; None where its row says it.
    facts: staged column → name of what it tells of the systems, for a table of systems.
    whole: the highest level that all labels name (5 of 4/5); None where they name none.
    ends: the range of continuous scores, where the user gave one beside bins.
    verdicts: words, in lower case, that are a plain yes or no, and have no place on a graded scale.
    graded: whether words beside yes and no make a scale of more levels: fully, partly, not met.
    given: words, in lower case, of which the user says what they stand for.
    headers: canonical column → the file's own name of it.
    apart: what is asked of the user where an unused column tells apart rows about the same; "" where none does.
    several: whether the rows are of several files, which ``origins`` tells apart.
    file_sql: the file of a record, over ``incoming i``; None where all are of one. told: what is found on the way.
    names: how many systems, judges, queries and rubrics the dataset had before. report: called at every stage.
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
    told: list[Finding] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)
    report: Callable[[float, str], None] = lambda _share, _words: None

    @property
    def has_runs(self) -> bool:
        """Whether the rows name repeated draws."""
        return self.kind == "labels" and "run" in self.columns

    @property
    def has_reasons(self) -> bool:
        """Whether the rows give reasons for their labels."""
        return "reason" in self.columns

    def count_names(self) -> dict[str, int]:
        """How many systems, judges, queries and rubrics the dataset has.

        A rubric described without a query is none beside those of its name (``rubric_facts``).
        """
        own = "SELECT name FROM rubrics WHERE dataset_id = $dataset AND query_id IS NOT NULL"
        lent = f"query_id IS NULL AND name IN ({own})"
        where = {"rubrics": f" AND NOT ({lent})"}
        counts = ", ".join(
            f"(SELECT count(*) FROM {t} WHERE dataset_id = $dataset{where.get(t, '')})" for t in NAMES
        )
        return dict(zip(NAMES, self.one(f"SELECT {counts}"), strict=True))

    def changes(self) -> Changes:
        """What the ingest made of the dataset."""
        new = {table: n - self.names[table] for table, n in self.count_names().items()}
        what = {"gold": "gold labels", "reference": "ranked systems", "systems": "facts"}.get(
            self.kind, self.kind
        )
        own = {name: getattr(self.tally, name) for name in ("added", "changed", "filled", "unknown")}
        return Changes(**new, **own, same=self.tally.collapsed, what=what, runs=self.tally.runs)

    def row_named(self, row: str) -> str:
        """``row 12``, or ``row 12 of b.csv``, as SQL over a row's number."""
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
        """The first row of a query that always has one."""
        row = execute(self.cursor, sql, self._bound(sql, params)).fetchone()
        if row is None:
            raise LookupError(sql)
        return tuple(row)

    def all(self, sql: str, **params: Any) -> list[tuple[Any, ...]]:
        """All rows of a short answer."""
        return execute(self.cursor, sql, self._bound(sql, params)).fetchall()

    def frame(self, sql: str) -> pd.DataFrame:
        """The answer to a query as a table."""
        return execute(self.cursor, sql, self._bound(sql, {})).df()

    def _bound(self, sql: str, params: dict[str, Any]) -> dict[str, Any] | None:
        own = {"dataset": self.dataset_id, "ingest": self.ingest_id}
        return {k: v for k, v in (own | params).items() if f"${k}" in sql} or None
