"""Files into text: one small reader a file format, and the recognition of a file by its content."""

from __future__ import annotations

from pathlib import Path

from ...errors import IngestError
from .base import Reader, Staged
from .delimited import DelimitedReader
from .json_records import JsonReader
from .parquet import ParquetReader

__all__ = ["FORMATS", "Reader", "Staged", "open_reader"]

FORMATS = ("auto", "csv", "tsv", "parquet", "jsonl", "json")
_PEEK = 1 << 16


def open_reader(path: Path, name: str, file_format: str, scratch: Path) -> Reader:
    """The reader of a file, by ``file_format`` or by what the file's first bytes look like.

    ``name`` is what messages call the file, ``scratch`` a folder that lives as long as the ingest.
    """
    if file_format not in FORMATS:
        raise IngestError(f"The format {file_format!r} is unknown: use one of {', '.join(FORMATS)}.")
    with path.open("rb") as file:
        head = file.read(_PEEK)
    if not head.strip():
        raise IngestError(f"{name} is empty: it needs a header and at least one row.")
    found = _recognise(head, name) if file_format == "auto" else file_format
    if found == "parquet":
        return ParquetReader(path, name)
    if found in ("json", "jsonl"):
        return JsonReader(path, name)
    return DelimitedReader(path, name, scratch, prefer_tab=found == "tsv" or name.lower().endswith(".tsv"))


def _recognise(head: bytes, name: str) -> str:
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise IngestError(f"{name} is UTF-16, not UTF-8: save it again as CSV UTF-8.")
    if head.startswith(b"PK\x03\x04"):
        raise IngestError(
            f"{name} is a ZIP archive or an Excel workbook, which is not read: save the sheet as CSV or unpack it."
        )
    if head.startswith(b"\x1f\x8b"):
        raise IngestError(f"{name} is compressed (gzip): unpack it first.")
    if b"\0" in head:
        raise IngestError(f"{name} is a binary file: expected CSV, TSV, Parquet, JSON or JSONL.")
    return "json" if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[") else "csv"
