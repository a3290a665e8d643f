"""Labels read in place, counted by Spark and added to what is there: seconds and peak memory by the number of rows.

    python -m benchmarks.scaling reference --rows 100000 1000000 10000000 [--systems 50] [--judges 5]
    python -m benchmarks.scaling spark --rows 100000 1000000 10000000     # two threads of this machine
    python -m benchmarks.scaling same --rows 10000000 [--draws 3]         # do both engines give the same tables?
    python -m benchmarks.scaling more --rows 1000000 [--systems 1000] [--cells]
    python -m benchmarks.scaling analyse --rows 100000000 --systems 1000  # the whole analysis of labels read in place

Each line is a process of its own on simulated labels (1 to 5, rows in random order) in Parquet. ``more`` ingests a
table, then 1% new rows, of new systems or (``--cells``) of random cells; takes them back, and ingests them again.
``same`` has blanks, ties, rows twice, contradictions, a fifth of the cells missing, and repeated draws where asked.
``analyse`` reads a folder of files of 10⁷ rows, of systems and rubrics that differ, and goes on to model, gate, bank
and leaderboard. CPU seconds depend less on how busy a machine is; Spark's are Java's. Several sizes end with a fitted
exponent and a fitted line.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import numpy as np

SPARK = (
    "--master local[2] --driver-memory 4g --conf spark.sql.shuffle.partitions=4 --conf spark.ui.enabled=false "
    "--conf spark.log.level=ERROR pyspark-shell"
)
STEPS = {"spark": ("start", "tally", "reduce"), "reference": ("reference", "reduce")}  # steps with a fit
CODE = """
import json, resource, sys, time
from crubric_core import Settings, Workspace
from crubric_core.analysis.pipeline import run_pipeline
from crubric_core.labels.store.reference import reference
from crubric_core.labels.store.spark import open_session, tally
def peak(whose=resource.RUSAGE_SELF):
    return resource.getrusage(whose).ru_maxrss / 2**20
def different(ws):
    # each table: rows of Spark's dataset and of DuckDB's, rows that the other has not
    answer, where = {}, "FROM {table} t JOIN datasets d USING (dataset_id) {joins} WHERE d.name = "
    system = "JOIN systems s USING (system_id)"
    rubric = "JOIN rubrics r USING (rubric_id) JOIN queries q USING (query_id)"
    judge = "LEFT JOIN judges k USING (judge_id)"
    with ws.reading() as cursor:
        for table, names, joins in (
            ("cell_tallies", "s.name, q.name, r.name, k.name, label, n", " ".join((system, rubric, judge))),
            ("judge_tallies", "s.name, k.name, labels, blank, lowest, highest", " ".join((system, judge))),
            ("rubric_tallies", "q.name, r.name, lowest, highest, n", rubric),
        ):
            sides = [f"SELECT {names} {where.format(table=table, joins=joins)} '{name}'" for name in ("d", "other")]
            found = [cursor.execute(f"SELECT count(*) FROM ({side})").fetchone()[0] for side in sides]
            for a, b in (sides, sides[::-1]):
                found.append(cursor.execute(f"SELECT count(*) FROM ({a} EXCEPT ALL {b})").fetchone()[0])
            answer[table] = found
    return answer
kind, workspace, *sources = sys.argv[1:]
told = {}
def timed(name, act):
    started, used = time.perf_counter(), time.process_time()
    found = act()
    told[name] = round(time.perf_counter() - started, 2)
    told[name + "_cpu"] = round(time.process_time() - used, 2)
    return found
with Workspace(workspace) as ws:
    if kind == "more":
        timed("ingest", lambda: ws.ingest(sources[0], "d"))
        timed("more", lambda: ws.ingest(sources[1], "d"))
        timed("undo", lambda: ws.undo("d"))
        timed("more", lambda: ws.ingest(sources[1], "d"))  # again: the first has loaded what is loaded once
        told["share"] = round(told["more"] / told["ingest"], 3)
        told["share_cpu"] = round(told["more_cpu"] / told["ingest_cpu"], 3)
    elif kind in ("spark", "same"):
        session = timed("start", open_session)
        report = timed("tally", lambda: tally(ws, sources[0], "d", session=session))
        gateway = session.sparkContext._gateway
        session.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()
        told["java_gib"] = round(peak(resource.RUSAGE_CHILDREN), 2)
        java = resource.getrusage(resource.RUSAGE_CHILDREN)
        told["java_cpu"] = round(java.ru_utime + java.ru_stime, 1)
    else:
        timed("reference", lambda: reference(ws, sources[0], "d"))
    if kind == "same":
        ours = timed("reference", lambda: reference(ws, sources[0], "other"))
        told |= {name: getattr(ours.totals, name) for name in ("rows", "repeated", "contradicting", "blank")}
        told["totals_equal"] = ours.totals == report.totals
        told["rows_and_differences"] = different(ws)
    elif kind != "more":
        ds = ws.dataset("d")
        told["tallied_gib"] = round(peak(), 2)
        timed("reduce", ds.reduce)
        told["reduced_gib"] = round(peak(), 2)
        if kind == "analyse":
            found = timed("analyse", lambda: run_pipeline(ds, Settings()))
            told |= {"bank": len(found.bank), "candidates": len(found.items)}
told["peak_gib"] = round(peak(), 2)
print(json.dumps(told))
"""


def write_labels(
    path: Path, rows: int, systems: int, judges: int, first_system: int = 0, which: str = "true"
) -> Path:
    """Write a Parquet file of labels 1 to 5 in random order; every judge labels every rubric of every system.

    which: an SQL condition on the number ``i`` of a label.
    """
    cell = systems * judges
    with duckdb.connect() as connection:
        connection.execute(f"""
            COPY (
                SELECT 'system-' || ({first_system} + i % {systems}) AS system, 'query-' || (i // {cell * 10}) AS query,
                       'rubric-' || (i // {cell}) AS rubric, 'judge-' || (i // {systems} % {judges}) AS judge,
                       (hash(i) % 5)::INTEGER + 1 AS label
                FROM range({rows}) r(i) WHERE {which} ORDER BY hash(i + 1)
            ) TO '{path}' (FORMAT parquet)
        """)
    return path


def write_faults(path: Path, rows: int, systems: int, judges: int, draws: int) -> Path:
    """Write labels like ``write_labels`` with a fifth of the cells missing, and faults in some rows.

    One in 30 is blank, one in 20 is there twice, one in 60 is contradicted. draws: runs of each judge on each cell.
    """
    cell = systems * judges * draws
    run = f"'run-' || (i // {systems * judges} % {draws}) AS run, " if draws > 1 else ""
    with duckdb.connect() as connection:
        connection.execute(f"""
            COPY (
                WITH labelled AS (
                    SELECT i, 'system-' || (i % {systems}) AS system, 'query-' || (i // {cell * 10}) AS query,
                           'rubric-' || (i // {cell}) AS rubric, 'judge-' || (i // {systems} % {judges}) AS judge, {run}
                           CASE WHEN hash(i, 2) % 30 > 0 THEN (hash(i) % 5)::INTEGER + 1 END AS label
                    FROM range({rows}) r(i) WHERE hash(i // {cell}, i % {systems}) % 5 > 0
                )
                SELECT * EXCLUDE (i) FROM (
                    FROM labelled
                    UNION ALL FROM labelled WHERE hash(i, 3) % 20 = 0
                    UNION ALL SELECT * REPLACE (label % 5 + 1 AS label) FROM labelled WHERE hash(i, 4) % 60 = 0
                ) ORDER BY hash(i, label)
            ) TO '{path}' (FORMAT parquet)
        """)
    return path


def write_folder(folder: Path, rows: int, systems: int, judges: int, a_file: int = 10_000_000) -> Path:
    """Write a folder of Parquet files with labels 1 to 5 of systems and rubrics that differ.

    a_file: about how many rows each file has; a rubric is in one file only, with its rows in random order.
    """
    folder.mkdir()
    cell = systems * judges
    a_file -= a_file % cell
    with duckdb.connect(config={"memory_limit": "4GB", "temp_directory": str(folder.parent)}) as connection:
        connection.execute("CREATE MACRO u(a, b) AS hash(a, b) / 2.0**64 - 0.5")
        for number, start in enumerate(range(0, rows, a_file)):
            connection.execute(f"""
                COPY (
                    WITH named AS (
                        SELECT i, i % {systems} AS s, i // {cell} AS r, i // {systems} % {judges} AS k
                        FROM range({start}, {min(start + a_file, rows)}) r(i)
                    )
                    SELECT 'system-' || s AS system, 'query-' || (r // 10) AS query, 'rubric-' || r AS rubric,
                           'judge-' || k AS judge,
                           greatest(1, least(5, round(3 + 3 * u(s, 1) + 3 * u(r, 2) + 3 * u(s + {systems} * r, 3)
                                                      + 1.5 * u(i, 4))))::INTEGER AS label
                    FROM named ORDER BY hash(i)
                ) TO '{folder}/{number:03}.parquet' (FORMAT parquet)
            """)
    return folder


def fitted(rows: list[int], seconds: list[float]) -> str:
    """In words: the exponent p of seconds ∝ rows^p by least squares on the log scale, and the line through the ends."""
    p = float(np.polyfit(np.log(rows), np.log(seconds), 1)[0])
    per_million = (seconds[-1] - seconds[0]) / (rows[-1] - rows[0]) * 1e6
    fixed = seconds[0] - per_million * rows[0] / 1e6
    return f"rows^{p:.2f}; {fixed:.1f} s and {per_million:.2f} s a million rows"


def measure(
    kind: str, rows: int, systems: int, judges: int, draws: int = 1, *, cells: bool = False
) -> dict[str, float]:
    """Seconds, memory and counts of one run in its own process; the keys depend on ``kind``."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if kind == "same":
            sources = [write_faults(place / "labels.parquet", rows, systems, judges, draws)]
        elif kind == "analyse":
            sources = [write_folder(place / "labels", rows, systems, judges)]
        elif cells:
            late = "hash(i + 2) % 100 = 0"
            sources = [
                write_labels(place / f"{name}.parquet", rows, systems, judges, which=which)
                for name, which in (("labels", f"NOT {late}"), ("more", late))
            ]
        else:
            sources = [write_labels(place / "labels.parquet", rows, systems, judges)]
        if kind == "more" and not cells:
            sources.append(
                write_labels(place / "more.parquet", rows // 100, max(systems // 100, 1), judges, systems)
            )
        answer = subprocess.run(
            [sys.executable, "-c", CODE, kind, str(place / "w.duckdb"), *map(str, sources)],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYSPARK_SUBMIT_ARGS": os.environ.get("PYSPARK_SUBMIT_ARGS", SPARK)},
        )
        size = sum(path.stat().st_size for path in place.glob("w.duckdb*")) / 2**20
    return {"rows": rows, **json.loads(answer.stdout.splitlines()[-1]), "workspace_mib": round(size)}


def main() -> None:
    """Print one JSON line for each number of rows, then the fitted exponents."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("reference", "spark", "same", "more", "analyse"))
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--systems", type=int, default=50)
    parser.add_argument("--judges", type=int, default=5)
    parser.add_argument(
        "--draws", type=int, default=1, help="same: repeated draws of each judge on each cell"
    )
    parser.add_argument("--cells", action="store_true", help="more: of systems that are there, at random")
    args = parser.parse_args()
    found = []
    for rows in args.rows:
        found.append(measure(args.kind, rows, args.systems, args.judges, args.draws, cells=args.cells))
        print(json.dumps(found[-1]), flush=True)
    for step in STEPS.get(args.kind, ()) if len(found) > 1 else ():
        print(f"{step}: {fitted(args.rows, [told[step] for told in found])}")


if __name__ == "__main__":
    main()
