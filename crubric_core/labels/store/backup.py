"""Back up a workspace while it is used, restore it, and detect and report a damaged file."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from ...environment import typed
from ...errors import WorkspaceError
from ..readers.formats.base import LOCAL, first_line

PARTIAL = ".part"
_DAMAGE = ("checksum", "Corrupt", "corrupt", "Input/output error", "Could not read", "fatal error")
_REQUEST = re.compile(r"[0-9a-f]{32}")


def is_damage(error: duckdb.Error) -> bool:
    """Whether an error means that the file itself is damaged or cannot be read."""
    return any(words in str(error) for words in _DAMAGE)


def damage(path: str | Path, error: duckdb.Error) -> WorkspaceError:
    """The error to raise for a damaged workspace file; its message says how to restore a backup."""
    return WorkspaceError(
        f"The workspace {path} is damaged ({first_line(error)}). Stop every program that uses it and put its last "
        f"backup in its place: {typed('restore', '--workspace', Path(path).absolute(), 'BACKUP')} checks the backup "
        "first and keeps the damaged file (docs/deploy.md, Backup and restore)."
    )


def copy_to(cursor: duckdb.DuckDBPyConnection, target: Path) -> None:
    """Copy one consistent state of the database to a new file at ``target``; others may read and write meanwhile.

    The database itself copies: opening the file a second time, as a program for copying does, would release its lock.
    """
    partial = target.with_name(f"{target.name}{PARTIAL}")
    partial.unlink(missing_ok=True)
    name = f"copy_{secrets.token_hex(8)}"
    ((source,),) = cursor.execute("SELECT current_database()").fetchall()
    try:
        cursor.execute(f"ATTACH {_literal(str(partial))} AS {name} (READ_WRITE)")
        try:
            cursor.execute(f"COPY FROM DATABASE {_quoted(source)} TO {name}")
            cursor.execute(f"CHECKPOINT {name}")
        finally:
            cursor.execute(f"DETACH {name}")
        _sync(partial)
        partial.replace(target)
    except BaseException:
        for left in (partial, partial.with_name(f"{partial.name}.wal")):
            left.unlink(missing_ok=True)
        raise


def check_whole(path: Path) -> None:
    """Raise WorkspaceError unless the file is a workspace and every block of every table can be read."""
    try:
        with path.open("rb") as file:
            if file.read(12)[8:] != b"DUCK":  # DuckDB itself opens a table in other formats
                raise WorkspaceError(f"{path} is no workspace: name a backup of one.")
        with closing(duckdb.connect(str(path), read_only=True, config=dict(LOCAL))) as connection:
            names = [
                row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
            ]
            if "settings" not in names:
                raise WorkspaceError(f"{path} is no workspace: name a backup of one.")
            for name in names:
                connection.execute(f"SELECT count(hash(t)) FROM {_quoted(name)} t").fetchall()  # noqa: S608 - quoted
    except OSError as error:
        raise WorkspaceError(f"The backup {path} cannot be read ({error.strerror}): name another.") from error
    except duckdb.Error as error:
        raise WorkspaceError(
            f"The backup {path} cannot be read ({first_line(error)}): name another."
        ) from error


def restore(backup: Path, workspace: Path) -> Path | None:
    """Replace the workspace by a backup; return the path of the old file, or None if there was none.

    The backup is checked first. The old file, damaged or not, is renamed to ``<name>.before-<time>``. Raises
    WorkspaceError if the backup is not whole, the workspace is in use, or the copy cannot be written.
    """
    check_whole(backup)
    if (log := backup.with_name(f"{backup.name}.wal")).exists():
        raise WorkspaceError(
            f"The backup {backup} has not taken in its log {log.name}: open it once "
            f"(`{typed('datasets', '--workspace', str(backup))}`), then restore it."
        )
    _check_unused(workspace)
    partial = workspace.with_name(f"{workspace.name}{PARTIAL}")
    try:
        shutil.copyfile(backup, partial)
        _sync(partial)
        kept = _keep_damaged(workspace)
        partial.replace(workspace)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise WorkspaceError(
            f"The workspace {workspace} could not be restored ({error.strerror}): make room, or name another file."
        ) from error
    return kept


def _keep_damaged(workspace: Path) -> Path | None:
    """Rename the workspace file, and its log so that the restored file does not replay it; the new path, or None."""
    kept = workspace.with_name(f"{workspace.name}.before-{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
    log = workspace.with_name(f"{workspace.name}.wal")
    if log.exists():
        log.replace(kept.with_name(f"{kept.name}.wal"))
    return workspace.replace(kept) if workspace.exists() else None


def _check_unused(workspace: Path) -> None:
    if not workspace.exists():
        return
    try:
        duckdb.connect(str(workspace), config=dict(LOCAL)).close()
    except duckdb.Error as error:
        # A ConnectionException: this process has it open.
        if "lock on file" in str(error) or isinstance(error, duckdb.ConnectionException):
            raise WorkspaceError(
                f"The workspace {workspace} is in use: stop the program that has it open."
            ) from error


def request_path(workspace: Path) -> Path:
    """Path of the file that requests a backup from the process that has the workspace open."""
    return workspace.with_name(f"{workspace.name}.backup-wanted")


def answer_paths(workspace: Path, request: str) -> tuple[Path, Path]:
    """Paths of the answer to a request: the copy, or a file with one line that says why there is no copy."""
    return (
        workspace.with_name(f"{workspace.name}.backup-{request}"),
        workspace.with_name(f"{workspace.name}.backup-{request}.failed"),
    )


def read_request(workspace: Path) -> str | None:
    """The id of the waiting request, 32 hexadecimal digits; None without a request or if its form is not valid."""
    with suppress(OSError, UnicodeDecodeError):
        text = request_path(workspace).read_text("ascii").strip()
        return text if _REQUEST.fullmatch(text) else None
    return None


def sweep(path: str) -> None:
    """Delete the partial and temporary files of a killed process; only the process that opened the workspace may."""
    workspace = Path(path)
    left = [workspace.with_name(f"{workspace.name}{PARTIAL}")]
    left += workspace.parent.glob(f"{_plain(workspace.name)}.*{PARTIAL}")
    left += workspace.parent.glob(f"{_plain(workspace.name)}.*{PARTIAL}.wal")
    with suppress(OSError):
        for file in left:
            file.unlink(missing_ok=True)
    shutil.rmtree(
        workspace.with_name(f"{workspace.name}.tmp"), ignore_errors=True
    )  # the database's temporary files


def _plain(name: str) -> str:
    """The name as a glob pattern that matches only this name."""
    return re.sub(r"([\[*?])", r"[\1]", name)


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDWR)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
