"""Opening a workspace file: its lock, its schema, and one writer at a time."""

from __future__ import annotations

import re
import threading
from contextlib import closing
from pathlib import Path
from weakref import WeakValueDictionary

import duckdb

from ..errors import WorkspaceError
from .formats.base import first_line

SCHEMA_VERSION = 1
_APPLICATION = "calibrated-rubric"
_SCHEMA = Path(__file__).with_name("schema.sql")
_CONFIG = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}


class Writer:
    """One writer at a time for each file, whoever opened it in this process."""

    def __init__(self) -> None:
        self.lock = threading.RLock()


_writers: WeakValueDictionary[str, Writer] = WeakValueDictionary()
_writers_lock = threading.Lock()


def connect(path: str) -> duckdb.DuckDBPyConnection:
    """The database file, made if it is new."""
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


def prepare(connection: duckdb.DuckDBPyConnection, path: str) -> None:
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
    version = stored.get("schema_version", "none")
    if version != str(SCHEMA_VERSION):
        raise WorkspaceError(
            f"The workspace {path} has schema version {version}, and this program reads version {SCHEMA_VERSION}: "
            "open it with the version of the program that wrote it, or a later one."
        )
    with closing(connection.cursor()) as cursor:
        # a file from before types had a source
        cursor.execute("ALTER TABLE queries ADD COLUMN IF NOT EXISTS type_source VARCHAR")


def writer_of(path: str) -> Writer:
    """The writers' queue of a file, shared by all that opened it in this process."""
    if path == ":memory:":
        return Writer()
    with _writers_lock:
        return _writers.setdefault(str(Path(path).resolve()), Writer())
