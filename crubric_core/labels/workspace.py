"""A workspace: one DuckDB file (or none, in memory) with all datasets of a person or a team."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb
import pandas as pd

from ..access import require_editor, require_workspace
from ..errors import DatasetError, IngestError, WorkspaceError
from .columns import Kind
from .dataset import Dataset, tidy
from .formats.base import first_line
from .ingest import IngestReport, IngestRequest, Progress, Source, local_file, stage_file
from .job import OnConflict
from .opening import connect, prepare, writer_of
from .results import forget_orphans
from .storing import store_file

_TABLES = (
    "labels",
    "gold",
    "reference_ranking",
    "rubrics",
    "queries",
    "systems",
    "judges",
    "ingests",
    "datasets",
)


class Workspace:
    """Datasets kept in one file; use it as a context manager, from any number of threads.

    Reads see one consistent state and never wait; writes queue up. Raises WorkspaceError where the file
    cannot be opened: locked by another process, foreign, or of a newer version.
    """

    def __init__(self, path: str | Path = ":memory:") -> None:
        require_workspace()
        self.path = str(path)
        self._connection = connect(self.path)
        self._writer = writer_of(self.path)
        try:
            with self._writer.lock:
                prepare(self._connection, self.path)
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the file."""
        self._connection.close()

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of its own to the same workspace; the caller closes it."""
        require_workspace()
        try:
            return self._connection.cursor()
        except duckdb.ConnectionException as error:
            raise WorkspaceError(f"The workspace {self.path} is closed: open it again.") from error

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor that sees one state of the workspace until it is left."""
        with closing(self.cursor()) as cursor:
            cursor.execute("BEGIN TRANSACTION")
            yield cursor
            cursor.execute("ROLLBACK")

    @contextmanager
    def _transaction(self, cursor: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """The only writer of the file, until all is committed or nothing."""
        require_editor("change the workspace")
        with self._writer.lock:
            cursor.execute("BEGIN TRANSACTION")
            try:
                yield
                cursor.execute("COMMIT")
            except BaseException:
                cursor.close()  # which rolls back
                raise

    @contextmanager
    def writing(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor of the only writer; what it did counts when it is left, or not at all."""
        with closing(self.cursor()) as cursor, self._transaction(cursor):
            yield cursor

    def ingest(
        self,
        source: Source,
        dataset: str,
        kind: Kind = "labels",
        mapping: Mapping[str, str] | None = None,
        format: str = "auto",  # noqa: A002 - the public name
        on_conflict: OnConflict = "reject",
        progress: Progress | None = None,
        name: str | None = None,
    ) -> IngestReport:
        """Add one file (path, bytes or open binary file) to a dataset, which is made if it is new.

        Args:
            source: CSV, TSV, Parquet, JSON Lines or JSON.
            dataset: the dataset's name.
            kind: labels, rubrics, queries, gold or reference.
            mapping: canonical column → the file's column, where names alone do not tell.
            format: auto, csv, tsv, parquet, jsonl or json.
            on_conflict: reject: contradicting rows are left out; last: the later one counts.
            progress: called with (share done, what is done now).
            name: what messages and the list of ingests call the source.

        Raises IngestError with one sentence, and the workspace as it was, where nothing can be used.

        """
        request = IngestRequest(dataset, kind, mapping, format, on_conflict)
        report = progress or _silent
        with local_file(source, name) as file:
            try:
                with closing(self.cursor()) as cursor:
                    upload = stage_file(cursor, request, file, report)
                    with self._transaction(cursor):
                        return store_file(cursor, request, upload, report)
            except duckdb.Error as error:
                raise IngestError(
                    f"{file[1]} could not be stored ({first_line(error)}); the workspace is as it was."
                ) from error

    def dataset(self, name: str) -> Dataset:
        """The dataset of that name; DatasetError names the ones there are."""
        with self.reading() as cursor:
            return Dataset(self, _id_of(cursor, name), name)

    def datasets(self) -> pd.DataFrame:
        """One row a dataset: name, systems, queries, rubrics, judges, labels, fingerprint, created_at."""
        rows = []
        with self.reading() as cursor:
            found = cursor.execute(
                "SELECT name, fingerprint, created_at FROM datasets ORDER BY name"
            ).fetchall()
        for name, fingerprint, created_at in found:
            counts = self.dataset(name).counts()
            kept = {k: int(counts[k]) for k in ("systems", "queries", "rubrics", "judges", "labels")}
            rows.append({"name": name, **kept, "fingerprint": fingerprint, "created_at": created_at})
        columns = ["name", "systems", "queries", "rubrics", "judges", "labels", "fingerprint", "created_at"]
        return pd.DataFrame(rows, columns=columns)

    def delete(self, name: str) -> None:
        """Remove a dataset with everything that belongs to it."""
        with self.writing() as cursor:
            dataset_id = _id_of(cursor, name)
            cursor.execute(
                "DELETE FROM rejects WHERE ingest_id IN (SELECT ingest_id FROM ingests WHERE dataset_id = ?)",
                [dataset_id],
            )
            for table in _TABLES:
                cursor.execute(f"DELETE FROM {table} WHERE dataset_id = ?", [dataset_id])
            forget_orphans(cursor)

    def rename(self, old: str, new: str) -> None:
        """Give a dataset another name, which no other dataset has."""
        with self.writing() as cursor:
            dataset_id = _id_of(cursor, old)
            if not new.strip():
                raise DatasetError("The new name is blank: give the dataset a name.")
            if new != old and cursor.execute("SELECT 1 FROM datasets WHERE name = ?", [new]).fetchone():
                raise DatasetError(f"There is a dataset {new!r} already: choose another name or delete it.")
            cursor.execute("UPDATE datasets SET name = ? WHERE dataset_id = ?", [new, dataset_id])

    def ingests(self, name: str) -> pd.DataFrame:
        """The files a dataset was made from, oldest first, with what became of their rows."""
        with self.reading() as cursor:
            return cursor.execute(
                "SELECT ingest_id, kind, source, ingested_at, accepted, rejected, blank, collapsed, replaced"
                " FROM ingests WHERE dataset_id = ? ORDER BY ingest_id",
                [_id_of(cursor, name)],
            ).df()

    def rejects(self, name: str) -> pd.DataFrame:
        """Every row left out of a dataset: source, kind, row, column, value, reason."""
        with self.reading() as cursor:
            found = cursor.execute(
                'SELECT source, kind, "row", "column", value, reason FROM rejects JOIN ingests USING (ingest_id)'
                ' WHERE dataset_id = ? ORDER BY ingest_id, "row"',
                [_id_of(cursor, name)],
            )
            return tidy(found.df())


def _silent(_share: float, _message: str) -> None:
    return None


def _id_of(cursor: duckdb.DuckDBPyConnection, name: str) -> int:
    found = cursor.execute("SELECT dataset_id FROM datasets WHERE name = ?", [name]).fetchone()
    if found is None:
        others = [row[0] for row in cursor.execute("SELECT name FROM datasets ORDER BY name").fetchall()]
        there = f"there are {', '.join(map(repr, others[:10]))}" if others else "there is none yet"
        raise DatasetError(f"There is no dataset {name!r}: {there}.")
    return int(found[0])
