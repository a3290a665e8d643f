"""Make a dataset of labels in Parquet files that are read in place: only names and tallies are stored."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from ...errors import IngestError
from ...types import Progress, silent
from ..ingest.statements import count_keys
from ..readers.formats.base import first_line
from . import portable, tallying
from .database import Database
from .parquet_files import ParquetFile, describe_files, find_files, fingerprint, read_columns, scan
from .sourced import Source, limit_memory, stand_in, view_names, view_rows
from .tallying import Totals

SEEN = {"systems": ("system",), "judges": ("judge",), "runs": ("run",), "rubrics": ("query", "rubric")}
_FEW = 2**30  # most possible keys for which distinctness is checked with one bit per key


@dataclass(frozen=True)
class ReferenceReport:
    """Report on a dataset whose labels stay in their source.

    dataset, location: names as given. files: how many were read, 0 if the engine does not report it. totals: numbers
    of rows used and rejected. tallies: rows of cell tallies in the workspace. fingerprint: of the dataset.
    """

    dataset: str
    location: str
    files: int
    totals: Totals
    tallies: int
    fingerprint: str


def reference(
    workspace: Database, location: str | Path, dataset: str, progress: Progress | None = None
) -> ReferenceReport:
    """Make a dataset of Parquet files that stay where they are, in canonical columns (docs/data.md).

    location: a file, or a folder whose subfolders may be partitions (``judge=a/``). The dataset may already hold
    descriptions, gold labels and a reference ranking, but no labels. Rows with the same key and label are one label;
    if rows of a key contradict each other, none counts. Raises IngestError if nothing can be used, DatasetError if the
    dataset has labels; the workspace is unchanged then.
    """
    tell = progress or silent
    place = Path(location).absolute()
    paths = find_files(place)
    with workspace.writing() as cursor:
        limit_memory(cursor)
        try:
            files = describe_files(cursor, place, paths)
            columns = read_columns(cursor, paths, place)
            number = tallying.open_dataset(cursor, dataset)
            _store_files(cursor, number, files)
            runs = "run" in columns
            view_rows(cursor, scan(paths), runs=runs)
            totals = _look_up(cursor, number, tell, runs=runs)
            runs = bool(cursor.execute("SELECT 1 FROM seen_runs LIMIT 1").fetchone())
            cursor.execute(f"CREATE TEMP VIEW coded AS {portable.coded(runs=runs)}")
            tell(0.5, "Looking for repeats")
            totals = _count_repeats(cursor, totals)
            tell(0.6, "Counting labels")
            _tally(cursor, number, runs=runs, repeats=bool(totals.repeated))
        except duckdb.Error as error:
            if isinstance(error, duckdb.OutOfMemoryException) or "No space" in str(error):
                raise
            raise IngestError(f"{place} could not be read ({first_line(error)}).") from error
        repeats = bool(totals.repeated)
        stand_in(cursor, Source(number, "duckdb", str(place), runs, repeats))
        source = ("duckdb", str(place), runs, repeats, fingerprint(files))
        found = tallying.finish(cursor, number, source, totals)
        ((tallies,),) = cursor.execute("SELECT count(*) FROM cell_tallies").fetchall()
    tell(1.0, "Done")
    return ReferenceReport(dataset, str(place), len(files), totals, int(tallies), found)


def _store_files(cursor: duckdb.DuckDBPyConnection, dataset_id: int, files: Iterable[ParquetFile]) -> None:
    rows = [(dataset_id, f.path, f.size, f.modified, f.rows, f.footer) for f in files]
    cursor.executemany("INSERT INTO source_files VALUES (?, ?, ?, ?, ?, ?)", rows)


def _look_up(cursor: duckdb.DuckDBPyConnection, dataset_id: int, tell: Progress, *, runs: bool) -> Totals:
    """Count the usable rows, and assign an id to every name."""
    tell(0.05, "Checking every row")
    totals = tallying.totals_of(cursor.execute(portable.totals()).fetchall())
    tell(0.25, "Looking up names")
    for table, columns in SEEN.items():
        asked = portable.names(*columns) if runs or table != "runs" else "SELECT run FROM given LIMIT 0"
        cursor.execute(f"CREATE TEMP TABLE seen_{table} AS {asked}")
    tallying.store_names(cursor, dataset_id)
    view_names(cursor, dataset_id)
    return totals


def _count_repeats(cursor: duckdb.DuckDBPyConnection, totals: Totals) -> Totals:
    """The totals with the numbers of rows that repeat or contradict another row of the same key."""
    useful = totals.rows - totals.rejected
    if _are_distinct(cursor, useful):
        return totals
    ((_, repeated, contradicting),) = cursor.execute(portable.repeats()).fetchall()
    return replace(totals, repeated=int(repeated), contradicting=int(contradicting))


def _are_distinct(cursor: duckdb.DuckDBPyConnection, rows: int) -> bool:
    """Whether no key occurs twice, checked with one bit per possible key; False too if there are too many to check."""
    ends = ", ".join(
        f"(SELECT min(id) FROM {name}_names), (SELECT max(id) FROM {name}_names)"
        for name in ("system", "rubric", "judge")
    )
    (found,) = cursor.execute(f"SELECT {ends}, 0, (SELECT coalesce(max(id), 0) FROM run_names)").fetchall()
    keys = count_keys(("system_id", "rubric_id", "judge_id", "run_id"), found, at_most=_FEW)
    return keys is not None and cursor.execute(f"SELECT {keys} FROM coded").fetchall() == [(rows,)]


def _tally(cursor: duckdb.DuckDBPyConnection, dataset_id: int, *, runs: bool, repeats: bool) -> None:
    rows = portable.keyed() if repeats else "SELECT * FROM coded"
    cursor.execute(f"CREATE TEMP VIEW keyed AS {rows}")
    for table, asked in (
        ("cell_tallies", portable.cell_tallies(runs=runs)),
        ("judge_tallies", portable.judge_tallies(runs=runs)),
    ):
        cursor.execute(f"INSERT INTO {table} BY NAME SELECT {dataset_id:d} AS dataset_id, * FROM ({asked})")
    cursor.execute(f"""
        INSERT INTO rubric_tallies BY NAME
        SELECT {dataset_id:d} AS dataset_id, * FROM (
            WITH own AS (SELECT * FROM cell_tallies WHERE dataset_id = {dataset_id:d})
            {portable.rubric_tallies("own")}
        )
    """)
