"""Long label tables beside a bare ``CREATE TABLE AS SELECT`` of the same file into a file on the same disk.

    python -m benchmarks.ingest [--rows 10000000] [--repeats 3] [--folder DIR]

Ours is all of it: reading, validating, storing, checking and one reduction to consensus and agreement. Both run in
turn, each in a process of its own with a fresh file; the ratio is that of the medians. Processor time is told besides:
a busy machine stretches the clock of both by different amounts.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

SYSTEMS, JUDGES, PER_QUERY = 50, 4, 10
LIMITS = {"csv": 3.0, "parquet": 3.0}

BARE = """
import duckdb, json, sys, time
started = time.perf_counter()
with duckdb.connect(sys.argv[2]) as connection:
    connection.execute("CREATE TABLE t AS SELECT * FROM '" + sys.argv[1] + "'")
print(json.dumps({"seconds": time.perf_counter() - started, "processor": time.process_time()}))
"""
OURS = """
import json, resource, sys, time
from crubric_core import Workspace
with Workspace(sys.argv[2]) as workspace:
    told, started = set(), time.perf_counter()
    report = workspace.ingest(sys.argv[1], "d", progress=lambda share, words: told.add(round(share, 2)))
    reduction = workspace.dataset("d").reduce()
    seconds = time.perf_counter() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(json.dumps({"seconds": seconds, "processor": time.process_time(), "peak": peak, "rows": report.accepted,
                  "labels": reduction.n_labels, "steps": len(told)}))
"""


def write_labels(folder: Path, rows: int) -> dict[str, Path]:
    """A long table with its rows in random order, as CSV and as Parquet."""
    cell = SYSTEMS * JUDGES
    paths = {ending: folder / f"labels.{ending}" for ending in LIMITS}
    with duckdb.connect() as connection:
        connection.execute(f"""
            CREATE TABLE t AS SELECT
                'system-' || lpad((i % {SYSTEMS})::VARCHAR, 3, '0') AS system,
                'query-' || (i // {cell * PER_QUERY}) AS query, 'rubric-' || (i // {cell}) AS rubric,
                'judge-' || (i // {SYSTEMS} % {JUDGES}) AS judge, (hash(i) % 2)::INTEGER AS label
            FROM range({rows}) r(i) ORDER BY hash(i + 1)
        """)
        for path in paths.values():
            connection.execute(f"COPY t TO '{path}'")
    return paths


def run(code: str, *arguments: Path | str) -> dict[str, float]:
    """Run a script in its own process, and return the JSON object that it prints."""
    answer = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=True
    )
    return json.loads(answer.stdout.splitlines()[-1])  # DuckDB may draw a bar before


def compare(source: Path, repeats: int, folder: Path) -> dict[str, float]:
    """Medians of the bare statement, on disk and in memory, and of ours, run in turn."""
    bare: list[dict[str, float]] = []
    memory: list[dict[str, float]] = []
    ours: list[dict[str, float]] = []
    for _ in range(repeats):
        for results, code, place in ((bare, BARE, "bare"), (ours, OURS, "ours"), (memory, BARE, None)):
            target = folder / f"{place}.duckdb" if place else ":memory:"
            results.append(run(code, source, target))
            if place:
                Path(target).unlink()
    both = (("bare", bare), ("ours", ours))
    seconds = {n: statistics.median(r["seconds"] for r in x) for n, x in both}
    seconds |= {f"{n}_processor": statistics.median(r["processor"] for r in x) for n, x in both}
    in_memory = statistics.median(r["seconds"] for r in memory)
    return {**ours[-1], **seconds, "memory": in_memory, "peak": max(r["peak"] for r in ours)}


def main() -> None:
    """Print one row for each file format."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--folder", type=Path, help="where the files lie for the time (default: the system's own)"
    )
    args = parser.parse_args()
    print(
        "| format | rows | bare, on disk | ours | ratio | at most | bare, processor | ours | ratio | bare, in memory |"
        " ratio | peak GiB | steps |"
    )
    print("|" + " --- |" * 13)
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        for ending, source in write_labels(folder, args.rows).items():
            r = compare(source, args.repeats, folder)
            ratios = f"{r['ours'] / r['bare']:.2f} | {LIMITS[ending]:g}"
            processor = f"{r['bare_processor']:.1f} s | {r['ours_processor']:.1f} s"
            print(
                f"| {ending} | {r['rows']:,} | {r['bare']:.1f} s | {r['ours']:.1f} s | {ratios} |"
                f" {processor} | {r['ours_processor'] / r['bare_processor']:.2f} | {r['memory']:.1f} s |"
                f" {r['ours'] / r['memory']:.2f} | {r['peak']:.2f} | {r['steps']} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
