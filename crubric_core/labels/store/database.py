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
    """A workspace file, or a database in memory; use it as a context manager, from any number of threads.

    Reads see one consistent state and never wait; writes queue up. Raises WorkspaceError if the file
    cannot be opened: locked by another process, not a workspace, or of a newer version.
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
        """Close the connection and release the file; it may be called more than once."""
        if not self._closed:
            self._closed = True
            with self._writer.lock:
                self._writer.users -= 1
        self._connection.close()

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A new, independent cursor on the workspace, which the caller closes; WorkspaceError if it is closed."""
        require_workspace()
        try:
            return self._connection.cursor()
        except duckdb.ConnectionException as error:
            raise WorkspaceError(f"The workspace {self.path} is closed: open it again.") from error

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor that sees one consistent state of the workspace until the context is left."""
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
        """A transaction of the only writer of the file: committed when the context is left, rolled back on an error.

        keep: False rolls back in any case, for a preview. Raises WorkspaceError if the file is read-only.
        """
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
        """A cursor of the only writer; its changes are committed when the context is left, all of them or none.

        Raises WorkspaceError if they could not be stored, for instance on a full disk.
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
        """Copy one consistent state to a new workspace file, while others read and write; return its path.

        Raises WorkspaceError if the file cannot be written, for instance on a full disk.
        """
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
    """A short reason why the database could not store a change: a full disk, or the error's first line."""
    full = any(words in str(error) for words in ("No space left", "File too large", "Disk quota"))
    return "the disk is full" if full else first_line(error)


def dataset_id_of(cursor: duckdb.DuckDBPyConnection, name: str) -> int:
    """The id of the dataset with this name; DatasetError, which lists the existing datasets, if there is none."""
    found = cursor.execute("SELECT dataset_id FROM datasets WHERE name = ?", [name]).fetchone()
    if found is None:
        others = [row[0] for row in cursor.execute("SELECT name FROM datasets ORDER BY name").fetchall()]
        there = f"there are {', '.join(map(repr, others[:10]))}" if others else "there is none yet"
        raise DatasetError(f"There is no dataset {name!r}: {there}.")
    return int(found[0])
