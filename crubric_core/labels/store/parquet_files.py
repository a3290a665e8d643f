"""Parquet files from which labels are read in place: find and describe them, and check that they are unchanged."""

# ruff: noqa: S608 - names of files are quoted as literals
from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import duckdb

from ...errors import DatasetError, IngestError
from ...text import count
from ..readers.formats.base import first_line

_MAGIC = b"PAR1"
REQUIRED = ("system", "query", "rubric", "judge", "label")


@dataclass(frozen=True)
class ParquetFile:
    """One file, by its metadata alone.

    path: relative to the location, with slashes; "" if the location is the file. size: bytes. modified: nanoseconds
    since 1970. rows: number of rows in its footer. footer: MD5 of the footer, which holds the schema, the row groups
    and their statistics.
    """

    path: str
    size: int
    modified: int
    rows: int
    footer: str


def find_files(location: Path) -> list[Path]:
    """The Parquet files in a folder and its subfolders, sorted, or the one file; names with ``.`` or ``_`` are skipped.

    Raises IngestError if there is none.
    """
    if location.is_file():
        return [location]
    found = sorted(
        path
        for path in location.rglob("*.parquet")
        if path.is_file()
        and not any(part.startswith((".", "_")) for part in path.relative_to(location).parts)
    )
    if not found:
        raise IngestError(
            f"There is no Parquet file at {location}: name a .parquet file or a folder of them."
        )
    return found


def describe_files(
    cursor: duckdb.DuckDBPyConnection, location: Path, paths: Sequence[Path]
) -> list[ParquetFile]:
    """The metadata of each file; IngestError if a file is not a Parquet file."""
    digests = {str(path): _footer(path) for path in paths}
    rows = dict(
        cursor.execute(
            f"SELECT file_name, num_rows FROM parquet_file_metadata({file_list(paths)})"
        ).fetchall()
    )
    found = []
    for path in paths:
        stat, inside = path.stat(), path.relative_to(location).as_posix()
        inside = "" if inside == "." else inside
        found.append(
            ParquetFile(inside, stat.st_size, stat.st_mtime_ns, int(rows[str(path)]), digests[str(path)])
        )
    return found


def _footer(path: Path) -> str:
    """MD5 of the footer of a Parquet file, in hexadecimal; IngestError if it is not a Parquet file or unreadable."""
    try:
        with path.open("rb") as file:
            end = file.seek(0, 2)
            file.seek(max(end - 8, 0))
            tail = file.read(8)
            length = int.from_bytes(tail[:4], "little")
            if tail[4:] != _MAGIC or length + 12 > end:
                raise IngestError(
                    f"{path} is no Parquet file: only Parquet files are read in place; ingest others."
                )
            file.seek(end - 8 - length)
            return hashlib.md5(file.read(length), usedforsecurity=False).hexdigest()
    except OSError as error:
        raise IngestError(f"{path} cannot be read ({error.strerror}).") from error


def fingerprint(files: Sequence[ParquetFile]) -> str:
    """Hash of the files' metadata, 32 hexadecimal digits; it does not depend on the location of the folder."""
    said = "\n".join(
        f"{f.path}\t{f.size}\t{f.modified}\t{f.rows}\t{f.footer}" for f in sorted(files, key=lambda f: f.path)
    )
    return hashlib.sha256(said.encode()).hexdigest()[:32]


def file_list(paths: Sequence[Path]) -> str:
    """The files as an SQL list of literals; IngestError if a name has a wildcard, which would match other files."""
    for path in paths:
        if re.search(r"[\[*?]", str(path)):
            raise IngestError(
                f"{path} has one of [, * and ? in its name, which stand for other files: rename it."
            )
    return "[" + ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths) + "]"


def scan(paths: Sequence[Path]) -> str:
    """SQL relation of the rows of the files; names of partition folders (``judge=a/``) become text columns.

    A column has a type that holds the values of all files: the type in the first file could round or merge others.
    """
    options = "union_by_name = true, hive_partitioning = true, hive_types_autocast = false"
    return f"read_parquet({file_list(paths)}, {options})"


def read_columns(cursor: duckdb.DuckDBPyConnection, paths: Sequence[Path], location: Path) -> tuple[str, ...]:
    """The columns of the files; IngestError if a file lacks a required column or they cannot be read together.

    A file may also contain a column that its folders name (``judge=a/``); IngestError if the values differ.
    """
    try:
        found = cursor.execute(f"DESCRIBE SELECT * FROM {scan(paths)}").fetchall()
        inside = cursor.execute(
            f"SELECT file_name, list(lower(name)) FROM parquet_schema({file_list(paths)}) GROUP BY ALL ORDER BY 1"
        ).fetchall()
    except duckdb.Error as error:
        raise IngestError(
            f"The Parquet files of {location} cannot be read together ({first_line(error)})."
        ) from error
    columns = tuple(str(row[0]) for row in found)
    require_columns(columns, location)
    for file, names in inside:
        folders = dict(part.split("=", 1) for part in Path(file).parent.parts if "=" in part)
        require_columns([*names, *folders], file)
        for name in set(names) & set(folders) & {*REQUIRED, "run"}:
            value = unquote(folders[name])
            _require_value(cursor, Path(file), name, value)
    return columns


def _require_value(cursor: duckdb.DuckDBPyConnection, path: Path, name: str, value: str) -> None:
    """IngestError if the column ``name`` of the file has a value other than ``value``, the one of its folder."""
    other = cursor.execute(
        f"SELECT {name}::VARCHAR FROM read_parquet({file_list([path])}, hive_partitioning = false) "
        f"WHERE {name}::VARCHAR IS DISTINCT FROM ? LIMIT 1",
        [value],
    ).fetchone()
    if other:
        raise IngestError(
            f"{path} has {other[0]!r} as {name}, and lies in a folder of {name} {value!r}: "
            "correct the column, or leave it out."
        )


def require_columns(columns: Sequence[str], location: Path | str) -> None:
    """IngestError if a column of REQUIRED is missing."""
    missing = [name for name in REQUIRED if name not in columns]
    if missing:
        raise IngestError(
            f"{location} has no column {missing[0]!r}: labels that are read in place need the columns "
            f"{', '.join(REQUIRED)} and may have run; ingest other layouts."
        )


def check_unchanged(name: str, location: Path, files: Sequence[tuple[str, int, int]]) -> None:
    """DatasetError if one of the files (path, bytes, modified) of the dataset ``name`` is missing or was changed."""
    missing, changed = [], []
    for path, size, modified in files:
        try:
            stat = (location / path if path else location).stat()
        except OSError:
            missing.append(path or str(location))
            continue
        if (stat.st_size, stat.st_mtime_ns) != (size, modified):
            changed.append(path or str(location))
    for found, what in ((missing, "missing"), (changed, "changed since it was read")):
        if found:
            others = f" ({count(len(found) - 1, 'other')} too)" if len(found) > 1 else ""
            raise DatasetError(
                f"The dataset {name!r} is read from {location}, and {found[0]} is {what}{others}: put the file back, "
                "or delete the dataset and reference the files again."
            )
