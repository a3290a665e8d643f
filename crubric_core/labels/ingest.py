"""A file of any origin on its way in: found, read and staged as text for ``storing`` to validate and store."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ..errors import IngestError
from .columns import SPECS, choose_columns
from .formats import open_reader
from .storing import IngestReport, IngestRequest, Progress, Upload

if TYPE_CHECKING:
    import duckdb

__all__ = ["IngestReport", "IngestRequest", "Progress", "Source", "Upload", "local_file", "stage_file"]

Source = str | Path | bytes | IO[bytes]

_DEFAULT_NAMES = {"judge": "judge", "annotator": "human"}


@contextmanager
def local_file(source: Source, name: str | None) -> Iterator[tuple[Path, str, Path]]:
    """(path, name in messages, scratch folder) of a path, of bytes or of an open binary file."""
    with tempfile.TemporaryDirectory(prefix="crubric-") as folder:
        scratch = Path(folder)
        if isinstance(source, (str, Path)):
            path = Path(source).expanduser()
            if not path.is_file():
                raise IngestError(f"There is no file {str(source)!r}: check the path.")
            plain = scratch / "source"
            plain.symlink_to(path.resolve())  # a path with * or [ would be taken for a pattern
            yield plain, name or path.name, scratch
            return
        label = name or Path(str(getattr(source, "name", "") or "upload")).name
        path = scratch / "source"
        if isinstance(source, bytes):
            path.write_bytes(source)
        else:
            with path.open("wb") as file:
                while block := source.read(1 << 20):
                    file.write(block)
        yield path, label, scratch


def stage_file(
    cursor: duckdb.DuckDBPyConnection, request: IngestRequest, file: tuple[Path, str, Path], report: Progress
) -> Upload:
    """Read the file into ``incoming``, outside any transaction: row ids inside one do not count from 0."""
    path, name, scratch = file
    reader = open_reader(path, name, request.file_format, scratch)
    chosen = choose_columns(request.kind, reader.columns, request.mapping, name)
    report(0.05, f"Reading {name}")
    cursor.execute(
        'CREATE TEMP TABLE rejected ("row" BIGINT, "column" VARCHAR, value VARCHAR, reason VARCHAR)'
    )
    staged = reader.stage(cursor, chosen)
    for column in SPECS[request.kind].keys:
        if column not in chosen:
            default = f" DEFAULT '{_DEFAULT_NAMES[column]}'" if column in _DEFAULT_NAMES else ""
            cursor.execute(f'ALTER TABLE incoming ADD COLUMN "{column}" VARCHAR{default}')
    return Upload(name, staged.row_sql, {c: reader.columns[i] for c, i in chosen.items()})
