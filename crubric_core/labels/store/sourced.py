"""Read a dataset whose labels are outside the workspace: from its tallies, and from its files if labels are needed."""

# ruff: noqa: S608 - identifiers are this program's own, ids are whole numbers, names of files quoted literals
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import duckdb

from ...errors import DatasetError, IngestError
from ..ingest.rubric_facts import RUBRIC_FACTS, Query
from . import portable
from .parquet_files import check_unchanged, scan

MEMORY = "2GB"  # for the database while it reads outside labels: the rest goes to its temporary files
_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


@dataclass(frozen=True)
class Source:
    """Where the labels of a dataset are stored.

    engine: duckdb, which reads Parquet files in place, or spark, of whose labels only tallies are in the workspace.
    location: as the user gave it. runs: whether rows name runs. repeats: whether several rows have the same key.
    """

    dataset_id: int
    engine: Literal["duckdb", "spark"]
    location: str
    runs: bool
    repeats: bool


def source_of(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> Source | None:
    """The source of the dataset's labels; None if they are in the workspace."""
    found = cursor.execute(
        "SELECT engine, location, runs, repeats FROM label_sources WHERE dataset_id = ?", [dataset_id]
    ).fetchone()
    return None if found is None else Source(dataset_id, *found)


def require_own_labels(cursor: duckdb.DuckDBPyConnection, name: str) -> None:
    """IngestError if the labels of the dataset are outside the workspace: nothing can be ingested into it."""
    found = cursor.execute(
        "SELECT location FROM label_sources JOIN datasets USING (dataset_id) WHERE name = ?", [name]
    ).fetchone()
    if found is not None:
        raise IngestError(
            f"The labels of {name!r} lie elsewhere ({found[0]}): nothing can be ingested into it, edited or undone. "
            "Ingest descriptions into a new dataset first, and reference the labels then; or ingest the labels too."
        )


def stand_in(cursor: duckdb.DuckDBPyConnection, source: Source) -> None:
    """Create temporary views of the dataset's tallies that replace the views and tables derived from labels."""
    limit_memory(cursor)
    ((database,),) = cursor.execute("SELECT current_database()").fetchall()
    home, own = f'"{database}".main', f"WHERE dataset_id = {source.dataset_id:d}"
    for name, columns, table in (
        ("label_extremes", "dataset_id, rubric_id, lowest AS lo, highest AS hi, n", "rubric_tallies"),
        ("labelled_systems", "DISTINCT dataset_id, system_id", "judge_tallies"),
        ("labelled_judges", "DISTINCT dataset_id, judge_id", "judge_tallies"),
        ("cell_tallies", "*", "cell_tallies"),
    ):
        cursor.execute(f"CREATE TEMP VIEW {name} AS SELECT {columns} FROM {home}.{table} {own}")


def limit_memory(cursor: duckdb.DuckDBPyConnection) -> None:
    """Limit the database's memory to ``MEMORY`` from now on; a lower limit stays."""
    ((limit,),) = cursor.execute("SELECT current_setting('memory_limit')").fetchall()
    number, unit = str(limit).split()
    if float(number) * _UNITS[unit] > 2e9:
        cursor.execute(f"SET memory_limit = '{MEMORY}'")


def check_files(cursor: duckdb.DuckDBPyConnection, source: Source, name: str) -> None:
    """DatasetError if a file from which the dataset is read is missing or was changed."""
    if source.engine == "duckdb":
        check_unchanged(name, Path(source.location), _files(cursor, source))


def _files(cursor: duckdb.DuckDBPyConnection, source: Source) -> list[tuple[str, int, int]]:
    return cursor.execute(
        "SELECT path, bytes, modified FROM source_files WHERE dataset_id = ? ORDER BY path",
        [source.dataset_id],
    ).fetchall()


def only_tallies(name: str) -> str:
    """The error message if the labels of all judges are needed but a Spark session has them."""
    return (
        f"The labels of {name!r} lie where a Spark session reads them, and only their tallies are in the workspace: "
        "what needs every judge's labels is not available. Ingest or reference the labels for that."
    )


def read_labels(cursor: duckdb.DuckDBPyConnection, source: Source, name: str) -> None:
    """Create a temporary view ``labels`` of the files; DatasetError if the labels cannot be read from here."""
    if source.engine != "duckdb":
        raise DatasetError(only_tallies(name))
    check_files(cursor, source, name)
    place = Path(source.location)
    paths = [place / path if path else place for path, _, _ in _files(cursor, source)]
    view_rows(cursor, scan(paths), runs=source.runs)
    view_names(cursor, source.dataset_id)
    cursor.execute(f"CREATE TEMP VIEW coded AS {portable.coded(runs=source.runs)}")
    rows = portable.keyed() if source.repeats else "SELECT * FROM coded"
    cursor.execute(f"""
        CREATE TEMP VIEW labels AS
        SELECT {source.dataset_id:d} AS dataset_id, system_id, rubric_id, judge_id, label, 0 AS ingest_id,
               0::BIGINT AS "row", run_id, NULL::VARCHAR AS reason
        FROM ({rows})
    """)


def view_rows(cursor: duckdb.DuckDBPyConnection, rows: str, *, runs: bool) -> None:
    """Create the views ``raw`` and ``given`` (``portable.given``) of a relation ``rows``."""
    cursor.execute(f"CREATE TEMP VIEW raw AS FROM {rows}")
    cursor.execute(f"CREATE TEMP VIEW given AS {portable.given(runs=runs)}")


def view_names(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> None:
    """Create the views of names that ``portable.coded`` needs."""
    for name in ("system", "judge", "run"):
        cursor.execute(
            f"CREATE TEMP VIEW {name}_names AS SELECT {name}_id AS id, name FROM {name}s"
            f" WHERE dataset_id = {dataset_id:d}"
        )
    cursor.execute(f"""
        CREATE TEMP VIEW rubric_names AS
        SELECT rubric_id AS id, q.name AS query, r.name FROM rubrics r JOIN queries q USING (query_id)
        WHERE r.dataset_id = {dataset_id:d}
    """)


def counts(source: Source) -> Query:
    """Like ``catalogue.counts``, from the tallies."""
    known = "SELECT system_id, rubric_id, n FROM cell_tallies WHERE label IS NOT NULL"
    if source.runs:
        known = (
            "SELECT DISTINCT system_id, rubric_id, judge_id, 1 AS n FROM cell_tallies WHERE label IS NOT NULL"
        )
    return (
        f"""
        WITH {RUBRIC_FACTS},
        cells AS (SELECT sum(n) AS n FROM ({known}) GROUP BY system_id, rubric_id),
        panel AS (SELECT count(*) AS n FROM labelled_judges)
        SELECT (SELECT count(*) FROM labelled_systems) AS systems,
               (SELECT count(DISTINCT query) FROM facts) AS queries, (SELECT count(*) FROM facts) AS rubrics,
               (SELECT n FROM panel) AS judges,
               (SELECT coalesce(sum(labels), 0) FROM judge_tallies WHERE dataset_id = $dataset) AS labels,
               (SELECT coalesce(sum(blank), 0) FROM judge_tallies WHERE dataset_id = $dataset) AS blank,
               (SELECT count(*) FROM cells) AS cells, (SELECT count(*) FROM cells WHERE n >= 2) AS instances,
               (SELECT count(*) FROM cells WHERE n = (SELECT n FROM panel)) AS cells_full_panel
        """,
        {"dataset": source.dataset_id},
    )
