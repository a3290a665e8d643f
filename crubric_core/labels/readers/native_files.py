"""Files of native layouts: recognise the layout, read the records as objects, and give their canonical rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from ...errors import IngestError
from .formats import recognise
from .formats.delimited import DelimitedReader
from .formats.native import NATIVE, inspect_log, native_format_of
from .formats.native.base import MalformedError, MissingError, NativeFormat, Row, Setting
from .formats.parquet import ParquetReader
from .formats.records import Fault, read_records
from .sources import Piece

TRIED = 20  # records that are read to recognise the layout


def first_records(piece: Piece, basic: str) -> list[tuple[int, Any]]:
    """The first records of a file, each with its line; [] if they cannot be read, which the table reader reports.

    Raises IngestError for an Inspect log that cannot be read, because it is no table.
    """
    if basic == "zip":
        return list(islice(records_of(piece, basic), TRIED))
    try:
        return list(islice(records_of(piece, basic, TRIED), TRIED))
    except IngestError:
        return []


def native_of(records: Sequence[tuple[int, Any]], file_format: str) -> NativeFormat | None:
    """The native layout of a file, or None: the requested one, or that of its first record or of half of its records.

    The first record alone is not decisive, because tasks without annotations may come first.
    """
    if file_format in NATIVE:
        return NATIVE[file_format]
    shown = [native_format_of(r) for _, r in records if not isinstance(r, Fault)]
    found = next(filter(None, shown), None)
    return found if found and (shown[0] or 2 * shown.count(None) <= len(shown)) else None


def records_of(piece: Piece, basic: str, most: int | None = None) -> Iterator[tuple[int, Any]]:
    """The records of any file as objects, each with its line: JSON values, rows of Parquet or CSV, an Inspect log.

    most: number of records that the caller will read; None if it is not known.
    """
    if basic == "json":
        return read_records(piece.path, piece.name)
    if basic == "parquet":
        return ParquetReader(piece.path, piece.name).records(most)
    if basic == "zip":
        return inspect_log.read_archive(piece.path, piece.name)
    return DelimitedReader(piece.path, piece.name, piece.scratch).records()


def companions(piece: Piece, pieces: Sequence[Piece]) -> Callable[[str], Iterator[dict[str, Any]]]:
    """A function that yields the records of a companion file of ``piece``, given the ending of its name.

    It reads the first such file in the folder of ``piece``, else in any folder; after ``*`` all files with this ending.
    """
    folder = piece.seen_path.rpartition("/")[0]

    def records(name: str) -> Iterator[dict[str, Any]]:
        alike = [p for p in pieces if p.seen_path.rsplit("/", 1)[-1].endswith(name.removeprefix("*"))]
        near = [p for p in alike if p.seen_path.rpartition("/")[0] == folder] or alike
        for found in alike if name.startswith("*") else near[:1]:
            for _, record in records_of(found, recognise(found.path, found.name)):
                if isinstance(record, dict):
                    yield record

    return records


def native_rows(
    records: Iterable[tuple[int, Any]], native: NativeFormat, setting: Setting
) -> Iterator[tuple[int, Row | Fault]]:
    """The canonical rows of native records, each with its record's line; a Fault for a record that cannot be read."""
    for line, record in records:
        if isinstance(record, Fault):
            yield line, record
            continue
        if not isinstance(record, dict):
            yield line, Fault("is not an object", str(record)[:200])
            continue
        try:
            for row in native.rows(record, setting):
                yield line, row
        except MalformedError as error:
            yield line, Fault(str(error), str(record)[:200])
        except MissingError as error:  # where other records name it
            yield line, Fault(f"does not say which {error.what} it is about", str(record)[:200])
        except (
            TypeError,
            KeyError,
            AttributeError,
            IndexError,
            OverflowError,
            RecursionError,
        ):  # a record of an unforeseen structure
            yield line, Fault(f"is not as {native.title} has it", str(record)[:200])
