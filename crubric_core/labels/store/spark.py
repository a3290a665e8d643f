"""Reduce labels in a Spark cluster: only names and tallies are copied into the workspace.

PySpark is an optional requirement (``pip install 'calibrated-rubric[spark]'``). The session is the one of Spark's own
configuration (``SparkSession.builder.getOrCreate()``): spark-defaults.conf, SPARK_REMOTE and the like determine the
cluster and the permissions.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

import hashlib
import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import IngestError
from ...types import Progress, silent
from ..ingest.tallies import hashed
from . import catalogue, portable, tallying
from .database import Database
from .parquet_files import require_columns
from .reference import SEEN, ReferenceReport
from .sourced import Source, limit_memory, stand_in, view_names
from .tallying import Totals

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_INFER = "spark.sql.sources.partitionColumnTypeInference.enabled"
_PIECE = 2_000_000  # about how many tallies are fetched at once
_CELL = ("s.name", "k.name", "label::VARCHAR", "n::VARCHAR")
_JUDGE = ("s.name", "k.name", *(f"{column}::VARCHAR" for column in ("labels", "blank", "lowest", "highest")))
_ONE_RUBRIC = """
    SELECT system, judge, run, CASE WHEN MIN(label) = MAX(label) THEN MIN(label) END AS label FROM given
    WHERE fault IS NULL AND query = :query AND rubric = :rubric GROUP BY system, judge, run
    HAVING MIN(label) IS NULL OR MIN(label) = MAX(label) OR COUNT(label) < COUNT(*)
"""  # the rows that portable.keyed keeps, with names in place of ids


def open_session() -> Any:
    """A new Spark session on the configured cluster, with views of its own.

    Raises IngestError if PySpark or Java is missing, or the cluster cannot be reached.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # about pandas, which is not used here
            from pyspark.sql import SparkSession
    except ImportError as error:
        raise IngestError(
            "The engine spark needs PySpark: install it with `pip install 'calibrated-rubric[spark]'`."
        ) from error
    if not (os.environ.get("SPARK_REMOTE") or _has_java()):
        raise IngestError(
            "The engine spark needs Java 17 or later: install it (on Debian `apt install openjdk-17-jre-headless`), or "
            "set JAVA_HOME."
        )
    try:
        return SparkSession.builder.getOrCreate().newSession()
    except Exception as error:
        raise IngestError(
            f"No Spark session could be opened ({_first_line(error)}): see spark-defaults.conf."
        ) from error


def _has_java() -> bool:
    home = os.environ.get("JAVA_HOME")
    return (Path(home) / "bin" / "java").exists() if home else shutil.which("java") is not None


def tally(
    workspace: Database,
    location: str,
    dataset: str,
    progress: Progress | None = None,
    session: Any = None,
) -> ReferenceReport:
    """Make a dataset of labels that a Spark session reads: Parquet, CSV (``….csv``) or a table of its catalogue.

    location: as the session reads it (``s3a://…``, ``hdfs://…``, a path, or a table's name). session: the caller's
    Spark session; None: a new one. It works like ``reference``, with the same SQL. Raises IngestError if nothing can
    be used.
    """
    tell = progress or silent
    tell(0.02, "Starting Spark")
    spark = session or open_session()
    with _spark_errors(location), workspace.writing() as cursor:
        limit_memory(cursor)
        number = tallying.open_dataset(cursor, dataset)
        columns = _view_rows(spark, location)
        spark.sql(portable.given(runs="run" in columns)).createOrReplaceTempView("given")
        totals = _look_up(spark, cursor, number, tell)
        runs = bool(cursor.execute("SELECT 1 FROM seen_runs LIMIT 1").fetchone())
        _send_names(spark, cursor, number)
        with _kept(spark, "coded", portable.coded(runs=runs)):
            tell(0.4, "Looking for repeats")
            ((_, repeated, contradicting),) = spark.sql(portable.repeats()).collect()
            totals = replace(totals, repeated=int(repeated), contradicting=int(contradicting))
            tell(0.6, "Counting labels")
            _tally(spark, cursor, number, runs=runs)
        stand_in(cursor, Source(number, "spark", location, runs, bool(repeated)))
        source = ("spark", location, runs, bool(repeated), _fingerprint(cursor, number))
        fingerprint = tallying.finish(cursor, number, source, totals)
        ((tallies,),) = cursor.execute("SELECT count(*) FROM cell_tallies").fetchall()
    tell(1.0, "Done")
    return ReferenceReport(dataset, location, 0, totals, int(tallies), fingerprint)


def read_rubric(cursor: duckdb.DuckDBPyConnection, source: Source, rubric: str) -> None:
    """Create a temporary table ``labels`` with the labels of one rubric, fetched from Spark.

    rubric: its name in the rubrics table; the table is empty if there is no such rubric.
    """
    found = cursor.execute(*catalogue.rubric_named(source.dataset_id, rubric)).fetchone()
    view_names(cursor, source.dataset_id)
    cursor.execute(
        "CREATE TEMP TABLE arrived_rubric (system VARCHAR, judge VARCHAR, run VARCHAR, label INTEGER)"
    )
    if found is not None:
        ((content,),) = cursor.execute(
            "SELECT fingerprint FROM label_sources WHERE dataset_id = ?", [source.dataset_id]
        ).fetchall()
        _insert(cursor, "arrived_rubric", _rubric_rows(source, str(content), str(found[1]), str(found[2])))
    cursor.execute(
        f"""
        CREATE TEMP TABLE labels AS
        SELECT {source.dataset_id:d} AS dataset_id, s.id AS system_id, $rubric::INTEGER AS rubric_id, k.id AS judge_id,
               a.label, 0 AS ingest_id, 0::BIGINT AS "row", coalesce(d.id, 0) AS run_id, NULL::VARCHAR AS reason
        FROM arrived_rubric a JOIN system_names s ON s.name = a.system JOIN judge_names k ON k.name = a.judge
        LEFT JOIN run_names d ON d.name = a.run
        """,
        {"rubric": None if found is None else found[0]},
    )


@lru_cache(maxsize=64)  # several figures read the rubric that is shown
def _rubric_rows(source: Source, _content: str, query: str, rubric: str) -> pa.Table:
    """(system, judge, run, label) of one rubric, one row a key; no other labels leave the cluster.

    _content: the fingerprint of the source, part of the key of the cache.
    """
    with _spark_errors(source.location):
        spark = open_session()
        _view_rows(spark, source.location)
        spark.sql(portable.given(runs=source.runs)).createOrReplaceTempView("given")
        return spark.sql(_ONE_RUBRIC, args={"query": query, "rubric": rubric}).toArrow()


def _view_rows(spark: Any, location: str) -> tuple[str, ...]:
    """Create the session's view ``raw`` of the labels at the location; return its columns."""
    spark.conf.set(_INFER, "false")  # a folder judge=01 is the judge 01
    name = location.lower()
    if name.endswith((".csv", ".csv.gz")):
        # a quoted name may have line ends
        frame = (
            spark.read.option("header", True).option("escape", '"').option("multiLine", True).csv(location)
        )
    elif "/" in location or name.endswith(".parquet"):
        frame = spark.read.parquet(location)
    else:
        frame = spark.table(location)
    require_columns(frame.columns, location)
    frame.createOrReplaceTempView("raw")
    return tuple(frame.columns)


def _look_up(spark: Any, cursor: duckdb.DuckDBPyConnection, dataset_id: int, tell: Progress) -> Totals:
    """Count the usable rows, and assign an id to every name."""
    tell(0.05, "Checking every row")
    totals = tallying.totals_of([tuple(row) for row in spark.sql(portable.totals()).collect()])
    tell(0.2, "Looking up names")
    cursor.register("arrived", spark.sql(portable.all_names()).toArrow())
    for table, columns in SEEN.items():
        cursor.execute(
            f"CREATE TEMP TABLE seen_{table} AS SELECT {', '.join(columns)} FROM arrived WHERE {columns[0]} IS NOT NULL"
        )
    cursor.unregister("arrived")
    tallying.store_names(cursor, dataset_id)
    return totals


def _send_names(spark: Any, cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> None:
    """Copy the names with their ids to views of the Spark session."""
    view_names(cursor, dataset_id)
    for name in ("system_names", "judge_names", "run_names", "rubric_names"):
        table = cursor.sql(f"FROM {name}").to_arrow_table()  # Arrow needs no Python on the cluster
        spark.createDataFrame(table).createOrReplaceTempView(name)


def _tally(spark: Any, cursor: duckdb.DuckDBPyConnection, dataset_id: int, *, runs: bool) -> None:
    """Store the tallies that the session counts, in pieces that fit in memory."""
    spark.sql(portable.keyed()).createOrReplaceTempView("keyed")
    with _kept(spark, "cell_tallies", portable.cell_tallies(runs=runs)) as cells:
        ((rows, low, high),) = spark.sql(
            "SELECT COUNT(*), MIN(rubric_id), MAX(rubric_id) FROM cell_tallies"
        ).collect()
        pieces = -(-rows // _PIECE)
        step = -(-(high - low + 1) // pieces)
        for first in range(low, high + 1, step):
            piece = cells.where(f"rubric_id BETWEEN {first:d} AND {first + step - 1:d}")
            _insert(cursor, "cell_tallies", piece.toArrow(), dataset_id)
        _insert(cursor, "rubric_tallies", spark.sql(portable.rubric_tallies()).toArrow(), dataset_id)
    _insert(cursor, "judge_tallies", spark.sql(portable.judge_tallies(runs=runs)).toArrow(), dataset_id)


def _insert(
    cursor: duckdb.DuckDBPyConnection, table: str, rows: pa.Table, dataset_id: int | None = None
) -> None:
    own = "" if dataset_id is None else f"{dataset_id:d} AS dataset_id, "
    cursor.register("arrived", rows)
    cursor.execute(f"INSERT INTO {table} BY NAME SELECT {own}* FROM arrived")
    cursor.unregister("arrived")


@contextmanager
def _kept(spark: Any, name: str, sql: str) -> Iterator[Any]:
    """A view ``name`` of the query, which the cluster computes once and caches until the context is left."""
    frame = spark.sql(sql).persist()
    try:
        frame.createOrReplaceTempView(name)
        yield frame
    finally:
        frame.unpersist()


def _fingerprint(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> str:
    """Hash of the tallies with their names, 32 hexadecimal digits; it does not depend on the order of rows."""
    found = []
    for table, joins, values in (
        (
            "cell_tallies",
            "JOIN rubrics r USING (rubric_id) JOIN queries q USING (query_id)",
            ("q.name", "r.name", *_CELL),
        ),
        ("judge_tallies", "", _JUDGE),
    ):
        found += cursor.execute(f"""
            SELECT count(*), coalesce(sum({hashed(f"to_json([{', '.join(values)}])")}), 0)
            FROM {table} t JOIN systems s USING (system_id) LEFT JOIN judges k USING (judge_id) {joins}
            WHERE t.dataset_id = {dataset_id:d}
        """).fetchall()
    return hashlib.sha256(str(found).encode()).hexdigest()[:32]


@contextmanager
def _spark_errors(location: str) -> Iterator[None]:
    """Convert an error of Spark into an IngestError with its first line."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.split(".")[0] not in ("pyspark", "py4j"):
            raise
        raise IngestError(f"Spark could not read {location} ({_first_line(error)}).") from error


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.split("\n", 1)[0].strip(". ")[:200] or type(error).__name__
