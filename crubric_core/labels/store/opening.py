"""Open a workspace file: lock it, bring its schema up to date, and admit one writer at a time."""

from __future__ import annotations

import re
import threading
from contextlib import closing
from pathlib import Path
from weakref import WeakValueDictionary

import duckdb

from ...errors import InUseError, WorkspaceError
from ..ingest import tallies
from ..ingest.parsed import execute
from ..readers.formats.base import LOCAL, first_line
from .backup import copy_to, damage, is_damage

SCHEMA_VERSION = 9
_TALLIED = 8  # the version from which labels are tallied as they are ingested
_APPLICATION = "calibrated-rubric"
LOG = "64MB"  # log size at which it is written to the file; 8 MB are 100,000 labels and their tallies
_UNWRITABLE = ("Permission denied", "Read-only file system", "read-only")
_SCHEMA = Path(__file__).with_name("schema")


class Writer:
    """The write lock of one file, shared by all who opened it in this process. users: how many have it open."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.users = 0


_writers: WeakValueDictionary[str, Writer] = WeakValueDictionary()
_writers_lock = threading.Lock()


def connect(path: str) -> tuple[duckdb.DuckDBPyConnection, bool]:
    """(connection, read_only) of the database file, which is created if it does not exist.

    Raises InUseError if another process has it open, WorkspaceError if it cannot be opened.
    """
    if path != ":memory:" and not Path(path).parent.is_dir():
        raise WorkspaceError(
            f"There is no folder {str(Path(path).parent)!r} for the workspace: create it first."
        )
    if path != ":memory:" and Path(path).exists() and not Path(path).is_file():
        raise WorkspaceError(f"{path} is no plain file: name another one for the workspace.")
    try:
        return duckdb.connect(path, config={**LOCAL, "checkpoint_threshold": LOG}), False
    except duckdb.Error as error:
        text = str(error)
        if Path(path).is_file() and any(words in text for words in _UNWRITABLE):
            return _connect_to_read(path), True
        if "lock on file" in text:
            holder = re.search(r"PID (\d+)", text)
            who = f"another process (PID {holder[1]})" if holder else "another process"
            raise InUseError(
                f"The workspace {path} is in use by {who}: close it there, or open another file."
            ) from error
        if "not a valid DuckDB" in text or "version number" in text:
            raise WorkspaceError(
                f"{path} is not a workspace that this version can read: choose another file."
            ) from error
        if is_damage(error):
            raise damage(path, error) from error
        raise WorkspaceError(f"The workspace {path} cannot be opened ({first_line(error)}).") from error


def _connect_to_read(path: str) -> duckdb.DuckDBPyConnection:
    try:
        return duckdb.connect(path, read_only=True, config=dict(LOCAL))
    except duckdb.Error as error:
        raise WorkspaceError(
            f"The workspace {path} can be neither written nor read ({first_line(error)}): open a copy of it."
        ) from error


def prepare(connection: duckdb.DuckDBPyConnection, path: str, *, read_only: bool = False) -> None:
    """Bring a new or older workspace to the present schema; an older file is first copied to ``<name>.v<version>``.

    Raises WorkspaceError if it is not a workspace, of a newer version, or of an older version and read-only.
    """
    with closing(connection.cursor()) as cursor:
        version = 0 if path == ":memory:" else _version(cursor, path)
        if version == SCHEMA_VERSION:
            return
        if read_only:
            raise WorkspaceError(
                f"The workspace {path} is of schema version {version} and cannot be written: open a copy of it, which "
                f"is brought to version {SCHEMA_VERSION}."
            )
        try:
            copy = Path(f"{path}.v{version}")
            if version and path != ":memory:" and not copy.exists():
                copy_to(cursor, copy)
            _migrate(cursor, version)
        except (duckdb.Error, OSError) as error:
            why = first_line(error) if isinstance(error, duckdb.Error) else error.strerror
            raise WorkspaceError(
                f"The workspace {path} of schema version {version} could not be brought to version {SCHEMA_VERSION} "
                f"({why}); it is as it was: make room on the disk, or open a copy of it."
            ) from error


def _version(cursor: duckdb.DuckDBPyConnection, path: str) -> int:
    """The schema version of the file, 0 if it is empty; WorkspaceError if it is no workspace or of a newer version."""
    tables = {row[0] for row in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    if not tables:
        return 0
    try:
        stored = dict(cursor.execute("SELECT key, value FROM settings").fetchall())
    except duckdb.Error as error:
        if is_damage(error):
            raise damage(path, error) from error
        stored = {}
    if stored.get("application") != _APPLICATION:
        raise WorkspaceError(
            f"{path} is a database of something else: choose another file for the workspace."
        )
    version = str(stored.get("schema_version", "none"))
    if not version.isdigit() or not 0 < int(version) <= SCHEMA_VERSION:
        raise WorkspaceError(
            f"The workspace {path} has schema version {version}, and this program reads versions up to "
            f"{SCHEMA_VERSION}: open it with the version of the program that wrote it, or a later one."
        )
    return int(version)


def _migrate(cursor: duckdb.DuckDBPyConnection, version: int) -> None:
    """Run the schema files after ``version``, in one transaction."""
    cursor.execute("BEGIN TRANSACTION")
    try:
        for number in range(version + 1, SCHEMA_VERSION + 1):
            execute(cursor, (_SCHEMA / f"{number}.sql").read_text(encoding="utf-8"))
        if 0 < version < _TALLIED:
            for (dataset_id,) in cursor.execute("SELECT dataset_id FROM datasets").fetchall():
                tallies.rebuild(cursor, dataset_id)
        cursor.execute(
            "INSERT OR REPLACE INTO settings VALUES ('application', ?), ('schema_version', ?)",
            [_APPLICATION, str(SCHEMA_VERSION)],
        )
        cursor.execute("COMMIT")
    except BaseException:
        cursor.execute("ROLLBACK")
        raise


def writer_of(path: str) -> Writer:
    """The write lock of a file, shared by all who opened it in this process; each database in memory has its own."""
    if path == ":memory:":
        return Writer()
    with _writers_lock:
        return _writers.setdefault(str(Path(path).resolve()), Writer())
