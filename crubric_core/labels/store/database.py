"""The DuckDB file of a workspace: one connection, many readers, one writer at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb

from ...access import require_editor, require_workspace
from ...errors import DatasetError, WorkspaceError
from ..readers.formats.base import first_line
from .backup import copy_to, damage, is_damage, sweep
from .opening import connect, prepare, writer_of


class Database:
    """A workspace file (or none, in memory); use it as a context manager, from any number of threads.

    Reads see one consistent state and never wait; writes queue up. Raises WorkspaceError where the file
    cannot be opened: locked by another process, foreign, or of a newer version.
    """

    def __init__(self, path: str | Path = ":memory:") -> None:
        if not isinstance(path, (str, Path)):
            raise WorkspaceError(
                f'The workspace {path!r} is no path: give the name of a file, or ":memory:".'
            )
        require_workspace()
        self.path = str(path)
        self._connection, self.read_only = connect(self.path)
        self._writer, self._closed = writer_of(self.path), False
        try:
            with self._writer.lock:
                prepare(self._connection, self.path, read_only=self.read_only)
                if not self.read_only and self.path != ":memory:" and not self._writer.users:
                    sweep(self.path)
                self._writer.users += 1
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
        if not self._closed:
            self._closed = True
            with self._writer.lock:
                self._writer.users -= 1
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
        try:
            with closing(self.cursor()) as cursor:
                cursor.execute("BEGIN TRANSACTION")
                yield cursor
                cursor.execute("ROLLBACK")
        except duckdb.Error as error:
            if is_damage(error):
                raise damage(self.path, error) from error
            raise

    @contextmanager
    def transaction(self, cursor: duckdb.DuckDBPyConnection, *, keep: bool = True) -> Iterator[None]:
        """The only writer of the file, until all is committed or nothing; without ``keep`` nothing is."""
        require_editor("change the workspace")
        if self.read_only:
            raise WorkspaceError(
                f"The workspace {self.path} can be looked at and not changed, as this user or this disk cannot write "
                "it: let this user write the file and its folder, or open a copy."
            )
        with self._writer.lock:
            cursor.execute("BEGIN TRANSACTION")
            try:
                yield
                cursor.execute("COMMIT" if keep else "ROLLBACK")
            except BaseException:
                cursor.close()  # which rolls back
                raise

    @contextmanager
    def writing(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor of the only writer; what it did counts when it is left, or not at all.

        Raises WorkspaceError where it could not be stored, for instance on a full disk.
        """
        try:
            with closing(self.cursor()) as cursor, self.transaction(cursor):
                yield cursor
        except duckdb.Error as error:
            if is_damage(error):
                raise damage(self.path, error) from error
            raise WorkspaceError(
                f"The change could not be stored ({cause(error)}); the workspace is as it was."
            ) from error

    def backup(self, target: str | Path) -> Path:
        """One consistent state as a new workspace file, while others read and write; WorkspaceError without room."""
        path = Path(target)
        try:
            with closing(self.cursor()) as cursor:
                copy_to(cursor, path)
        except duckdb.Error as error:
            if is_damage(error):
                raise damage(self.path, error) from error
            raise WorkspaceError(
                f"The backup {path} could not be written ({cause(error)}): make room, or name another file."
            ) from error
        except OSError as error:
            raise WorkspaceError(
                f"The backup {path} could not be written ({error.strerror}): name a file in a folder that can be."
            ) from error
        return path


def cause(error: duckdb.Error) -> str:
    """Why the database could not store something, in a few words."""
    full = any(words in str(error) for words in ("No space left", "File too large", "Disk quota"))
    return "the disk is full" if full else first_line(error)


def dataset_id_of(cursor: duckdb.DuckDBPyConnection, name: str) -> int:
    """The id of a dataset; DatasetError names the ones there are."""
    found = cursor.execute("SELECT dataset_id FROM datasets WHERE name = ?", [name]).fetchone()
    if found is None:
        others = [row[0] for row in cursor.execute("SELECT name FROM datasets ORDER BY name").fetchall()]
        there = f"there are {', '.join(map(repr, others[:10]))}" if others else "there is none yet"
        raise DatasetError(f"There is no dataset {name!r}: {there}.")
    return int(found[0])
