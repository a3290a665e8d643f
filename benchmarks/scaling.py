"""Labels read in place and added to what is there: seconds and peak memory by the number of rows.

    python -m benchmarks.scaling reference --rows 100000 1000000 10000000 [--systems 50] [--judges 5]
    python -m benchmarks.scaling more --rows 1000000

Each line is a process of its own on simulated labels (1 to 5, rows in random order) in Parquet. ``more`` ingests a
table, then 1% new rows, of one new system; takes them back, and ingests them again. CPU seconds depend less on how busy
a machine is.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

CODE = """
import json, resource, sys, time
from crubric_core import Workspace
from crubric_core.labels.store.reference import reference
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
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
    else:
        timed("reference", lambda: reference(ws, sources[0], "d"))
    if kind != "more":
        ds = ws.dataset("d")
        told["tallied_gib"] = round(peak(), 2)
        timed("reduce", ds.reduce)
told["peak_gib"] = round(peak(), 2)
print(json.dumps(told))
"""


def write_labels(path: Path, rows: int, systems: int, judges: int, first_system: int = 0) -> Path:
    """A Parquet file with labels from 1 to 5 in random order, for rubrics that every system and judge meets."""
    cell = systems * judges
    with duckdb.connect() as connection:
        connection.execute(f"""
            COPY (
                SELECT 'system-' || ({first_system} + i % {systems}) AS system, 'query-' || (i // {cell * 10}) AS query,
                       'rubric-' || (i // {cell}) AS rubric, 'judge-' || (i // {systems} % {judges}) AS judge,
                       (hash(i) % 5)::INTEGER + 1 AS label
                FROM range({rows}) r(i) ORDER BY hash(i + 1)
            ) TO '{path}' (FORMAT parquet)
        """)
    return path


def measure(kind: str, rows: int, systems: int, judges: int) -> dict[str, float]:
    """What one process of its own takes."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        sources = [write_labels(place / "labels.parquet", rows, systems, judges)]
        if kind == "more":
            sources.append(write_labels(place / "more.parquet", rows // 100, 1, judges, systems))
        answer = subprocess.run(
            [sys.executable, "-c", CODE, kind, str(place / "w.duckdb"), *map(str, sources)],
            capture_output=True,
            text=True,
            check=True,
        )
        size = sum(path.stat().st_size for path in place.glob("w.duckdb*")) / 2**20
    return {"rows": rows, **json.loads(answer.stdout.splitlines()[-1]), "workspace_mib": round(size)}


def main() -> None:
    """Run what the command line asks for and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("reference", "more"))
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--systems", type=int, default=50)
    parser.add_argument("--judges", type=int, default=5)
    args = parser.parse_args()
    for rows in args.rows:
        print(json.dumps(measure(args.kind, rows, args.systems, args.judges)), flush=True)


if __name__ == "__main__":
    main()
