"""A workspace: one DuckDB file (or none, in memory) with all datasets of a person or a team."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self
from weakref import WeakValueDictionary

import duckdb
import pandas as pd

from ..errors import DatasetError, IngestError, WorkspaceError
from .columns import Kind
from .dataset import Dataset
from .formats.base import first_line
from .ingest import IngestReport, IngestRequest, Progress, Source, ingest_file, local_file
from .job import OnConflict

SCHEMA_VERSION = 1
_APPLICATION = "calibrated-rubric"
_SCHEMA = Path(__file__).with_name("schema.sql")
_CONFIG = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
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


class _Writer:
    """One writer at a time for each file, whoever opened it in this process."""

    def __init__(self) -> None:
        self.lock = threading.RLock()


_writers: WeakValueDictionary[str, _Writer] = WeakValueDictionary()
_writers_lock = threading.Lock()


class Workspace:
    """Datasets kept in one file; use it as a context manager, from any number of threads.

    Reads see one consistent state and never wait; writes queue up. Raises WorkspaceError where the file
    cannot be opened: locked by another process, foreign, or of a newer version.
    """

    def __init__(self, path: str | Path = ":memory:") -> None:
        self.path = str(path)
        self._connection = _connect(self.path)
        try:
            _prepare(self._connection, self.path)
        except BaseException:
            self._connection.close()
            raise
        self._writer = _writer_of(self.path)

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
    def _writing(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor in a transaction that is committed at the end, or leaves no trace."""
        with self._writer.lock, closing(self.cursor()) as cursor:
            cursor.execute("BEGIN TRANSACTION")
            yield cursor  # closing an uncommitted cursor rolls back
            cursor.execute("COMMIT")

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
        with local_file(source, name) as file:
            try:
                with self._writing() as cursor:
                    return ingest_file(cursor, request, file, progress)
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
        with self._writing() as cursor:
            dataset_id = _id_of(cursor, name)
            cursor.execute(
                "DELETE FROM rejects WHERE ingest_id IN (SELECT ingest_id FROM ingests WHERE dataset_id = ?)",
                [dataset_id],
            )
            for table in _TABLES:
                cursor.execute(f"DELETE FROM {table} WHERE dataset_id = ?", [dataset_id])

    def rename(self, old: str, new: str) -> None:
        """Give a dataset another name, which no other dataset has."""
        with self._writing() as cursor:
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
            return cursor.execute(
                'SELECT source, kind, "row", "column", value, reason FROM rejects JOIN ingests USING (ingest_id)'
                ' WHERE dataset_id = ? ORDER BY ingest_id, "row"',
                [_id_of(cursor, name)],
            ).df()


def _connect(path: str) -> duckdb.DuckDBPyConnection:
    if path != ":memory:" and not Path(path).parent.is_dir():
        raise WorkspaceError(
            f"There is no folder {str(Path(path).parent)!r} for the workspace: create it first."
        )
    try:
        return duckdb.connect(path, config=dict(_CONFIG))
    except duckdb.Error as error:
        text = str(error)
        if "lock on file" in text:
            holder = re.search(r"PID (\d+)", text)
            who = f"another process (PID {holder[1]})" if holder else "another process"
            raise WorkspaceError(
                f"The workspace {path} is in use by {who}: close it there, or open another file."
            ) from error
        if "not a valid DuckDB" in text or "version number" in text:
            raise WorkspaceError(
                f"{path} is not a workspace that this version can read: choose another file."
            ) from error
        raise WorkspaceError(f"The workspace {path} cannot be opened ({first_line(error)}).") from error


def _prepare(connection: duckdb.DuckDBPyConnection, path: str) -> None:
    """Make the tables of a new workspace; refuse a database that is no workspace of this version."""
    with closing(connection.cursor()) as cursor:
        tables = {row[0] for row in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        if not tables:
            cursor.execute("BEGIN TRANSACTION")
            cursor.execute(_SCHEMA.read_text(encoding="utf-8"))
            cursor.execute(
                "INSERT INTO settings VALUES ('application', ?), ('schema_version', ?)",
                [_APPLICATION, str(SCHEMA_VERSION)],
            )
            cursor.execute("COMMIT")
            return
        try:
            stored = dict(cursor.execute("SELECT key, value FROM settings").fetchall())
        except duckdb.Error:
            stored = {}
    if stored.get("application") != _APPLICATION:
        raise WorkspaceError(
            f"{path} is a database of something else: choose another file for the workspace."
        )
    version = int(stored.get("schema_version", 0))
    if version != SCHEMA_VERSION:
        raise WorkspaceError(
            f"The workspace {path} has schema version {version}, and this program reads version {SCHEMA_VERSION}: "
            + ("update the program." if version > SCHEMA_VERSION else "open it with an older program.")
        )


def _writer_of(path: str) -> _Writer:
    if path == ":memory:":
        return _Writer()
    with _writers_lock:
        return _writers.setdefault(str(Path(path).resolve()), _Writer())


def _id_of(cursor: duckdb.DuckDBPyConnection, name: str) -> int:
    found = cursor.execute("SELECT dataset_id FROM datasets WHERE name = ?", [name]).fetchone()
    if found is None:
        others = [row[0] for row in cursor.execute("SELECT name FROM datasets ORDER BY name").fetchall()]
        there = f"there are {', '.join(map(repr, others[:10]))}" if others else "there is none yet"
        raise DatasetError(f"There is no dataset {name!r}: {there}.")
    return int(found[0])
