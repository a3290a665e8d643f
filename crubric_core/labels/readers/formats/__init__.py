"""Read tables as text: one reader for each file format, which is recognised by the file's content."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from ....environment import typed
from ....errors import IngestError
from .base import Reader, Staged
from .delimited import DelimitedReader
from .frame import as_table, is_frame
from .json_records import JsonReader
from .native import NATIVE
from .parquet import ParquetReader
from .ticked import with_ticked

__all__ = ["FORMATS", "TABLES", "Reader", "Staged", "open_reader", "recognise"]

TABLES = ("csv", "tsv", "parquet", "jsonl", "json")
FORMATS = ("auto", *TABLES, *NATIVE)
_PEEK = 1 << 16


def open_reader(path: Path, name: str, file_format: str, scratch: Path) -> Reader:
    """The reader of a table in ``file_format``; "auto" recognises the format by the file's first bytes.

    name: the file's name in messages. scratch: a folder that is kept until the ingest ends.
    """
    check_format(file_format)
    found = recognise(path, name) if file_format == "auto" else file_format
    if found == "parquet":
        return ParquetReader(path, name)
    if found in ("json", "jsonl"):
        reader = JsonReader(path, name)
        return (
            DelimitedReader(as_table(path, name, scratch), name, scratch)
            if is_frame(reader.columns)
            else reader
        )
    tabs = found == "tsv" or name.lower().endswith(".tsv")
    return with_ticked(DelimitedReader(path, name, scratch, prefer_tab=tabs))


def check_format(file_format: str) -> None:
    """Raise IngestError if there is no such format."""
    if file_format not in FORMATS:
        near = " or ".join(get_close_matches(str(file_format), NATIVE)) or "healthbench-graded"
        raise IngestError(
            f"The format {file_format!r} is unknown: use one of auto, {', '.join(TABLES)}, or a layout such as {near} "
            f"(`{typed('ingest', '--help')}` lists them)."
        )


def recognise(path: Path, name: str) -> str:
    """Return "parquet", "zip", "json" or "csv", by the first bytes; IngestError if none of them fits."""
    with path.open("rb") as file:
        head = file.read(_PEEK)
    if not head.strip():
        raise IngestError(f"{name} is empty: it needs a header and at least one row.")
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"PK\x03\x04"):
        return "zip"
    if head.startswith(b"\x1f\x8b"):
        raise IngestError(f"{name} is compressed (gzip): unpack it first.")
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise IngestError(
            f"{name} is an Excel workbook of before 2007, or encrypted: save it as .xlsx or CSV."
        )
    if head.startswith(b"SQLite format 3\0") or head[8:12] == b"DUCK":
        kind = "a DuckDB" if head[8:12] == b"DUCK" else "an SQLite"
        raise IngestError(
            f"{name} is {kind} database, and no table: export its table of labels as CSV or Parquet."
        )
    if b"\0" in head:
        raise IngestError(f"{name} is a binary file: expected CSV, TSV, Parquet, JSON, JSONL, Excel or ZIP.")
    return "json" if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[") else "csv"
