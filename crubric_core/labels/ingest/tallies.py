"""Keep tallies of the labels that an ingest adds to, so that the labels need not be read again.

Each table of tallies is a function of the rows of ``labels`` alone. New rows append their own tallies. If stored
labels were replaced, restored or moved, their rubrics are counted again. Appended rows are summed up with the others
once they are more than these.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from dataclasses import dataclass

import duckdb

from .parsed import execute

BLOCK = 20  # labels of one judge in a block of consecutive ones
FEW = 1000  # a table is summed up if its appended rows outnumber the folded ones by more
TABLES = ("label_tallies", "system_tallies", "reason_tallies", "stretches")


def hashed(content: str) -> str:
    """SQL for half of the MD5 of some JSON as a number; equals md5_number_lower, which converts by way of text."""
    return f"(md5_number(({content})::VARCHAR) >> 64)::HUGEINT"


def add(cursor: duckdb.DuckDBPyConnection, dataset: int, ingest: int, rows: int, *, reasons: bool) -> None:
    """Tally the labels of a new ingest. rows: number of rows of its file. reasons: whether any label has a reason."""
    own = f"ingest_id = {ingest:d}"
    for tally in _TALLIES:
        if reasons or tally.table != "reason_tallies":
            _insert(cursor, dataset, tally, own)
    _fold(cursor, dataset)
    if rows >= BLOCK:
        _find_stretches(cursor, dataset, own)


def recount(
    cursor: duckdb.DuckDBPyConnection,
    dataset: int,
    rubrics: str,
    ingests: str | None = None,
    *,
    reasons: bool = True,
) -> None:
    """Tally the labels of some rubrics again. rubrics, ingests: SELECTs of ids.

    ingests: those whose labels changed; None: any. reasons: whether any label may have a reason.
    """
    own = f"rubric_id IN ({rubrics})"
    for tally in _TALLIES:
        if tally.table == "reason_tallies" and not reasons:
            continue
        only = own if "rubric_id" in tally.key else "true"
        execute(cursor, f"DELETE FROM {tally.table} WHERE dataset_id = ? AND {only}", [dataset])
        _insert(cursor, dataset, tally, only, whole=True)
    _fold(cursor, dataset)
    changed = "true" if ingests is None else f"ingest_id IN ({ingests})"
    execute(cursor, f"DELETE FROM stretches WHERE dataset_id = ? AND {changed}", [dataset])
    _find_stretches(cursor, dataset, changed)


def has_reasons(cursor: duckdb.DuckDBPyConnection, dataset: int) -> bool:
    """Whether a current label, or a superseded one, may have a reason; False is certain."""
    ((found,),) = execute(
        cursor,
        """
        SELECT EXISTS (FROM reason_tallies WHERE dataset_id = $d)
            OR EXISTS (FROM superseded WHERE dataset_id = $d AND reason IS NOT NULL)
        """,
        {"d": dataset},
    ).fetchall()
    return bool(found)


def rebuild(cursor: duckdb.DuckDBPyConnection, dataset: int) -> None:
    """Tally all labels of a dataset again."""
    recount(cursor, dataset, f"SELECT rubric_id FROM rubrics WHERE dataset_id = {dataset:d}")


def sum_rubrics(cursor: duckdb.DuckDBPyConnection, dataset: int) -> None:
    """Create the temporary table ``rubric_sums``: the tallies of the labels summed by rubric.

    rows, hashes: sums. n: number of known labels, which range from lo to hi. seen: bit (label modulo 64) of each level.
    judges: bit (judge_id modulo 64) of every judge with known labels; summed_judges: of those with a folded row. Among
    the folded rows, high_lowest is the highest ``lowest`` and low_highest the lowest ``highest``.
    """
    judge = "1::UBIGINT << (judge_id & 63)::UBIGINT"
    execute(
        cursor,
        f"""
        CREATE OR REPLACE TEMP TABLE rubric_sums AS
        SELECT rubric_id, sum("rows") AS "rows", sum(hashes) AS hashes, sum(n)::BIGINT AS n, min(lowest) AS lo,
               max(highest) AS hi, bit_or(levels) AS seen,
               bit_or(CASE WHEN n > 0 THEN {judge} ELSE 0::UBIGINT END) AS judges,
               bit_or(CASE WHEN n > 0 AND folded THEN {judge} ELSE 0::UBIGINT END) AS summed_judges,
               max(CASE WHEN folded THEN lowest END) AS high_lowest,
               min(CASE WHEN folded THEN highest END) AS low_highest
        FROM label_tallies WHERE dataset_id = $dataset GROUP BY rubric_id
        """,
        {"dataset": dataset},
    )


@dataclass(frozen=True)
class _Tally:
    """A table of tallies. key: its id columns. sums: SQL that sums rows of a key. count: SELECT that counts labels."""

    table: str
    key: tuple[str, ...]
    sums: str
    count: str


# The token of a label is its system, judge, run and value. There are few tokens, so they are hashed and not the rows.
_CONTENT = """
    to_json([s.name, k.name, label::VARCHAR] || CASE WHEN d.name IS NOT NULL THEN ['run', d.name] ELSE [] END)
"""
_LABELS = f"""
    WITH own AS (
        SELECT system_id, rubric_id, judge_id, run_id, label FROM labels WHERE dataset_id = $dataset AND {{only}}
    ), tokens AS (
        SELECT system_id, judge_id, label, run_id,
               {hashed(_CONTENT)} AS h
        FROM (SELECT DISTINCT system_id, judge_id, label, run_id FROM own)
        JOIN systems s USING (system_id) JOIN judges k USING (judge_id) LEFT JOIN runs d USING (run_id)
    )
    SELECT l.rubric_id, l.judge_id, count(*) AS "rows", count(l.label) AS n, min(l.label) AS lowest,
           max(l.label) AS highest, bit_or(1::UBIGINT << (l.label & 63)::UBIGINT) AS levels, sum(t.h) AS hashes
    FROM own l JOIN tokens t ON l.system_id = t.system_id AND l.judge_id = t.judge_id AND l.run_id = t.run_id
                            AND l.label IS NOT DISTINCT FROM t.label
    GROUP BY l.rubric_id, l.judge_id
"""
_SYSTEMS = """
    SELECT system_id, judge_id, label, count(*) AS n FROM labels WHERE dataset_id = $dataset AND {only}
    GROUP BY system_id, judge_id, label
"""
# The reason of a label is the alphabetically first of those that were given with this label.
_REASONS = f"""
    WITH own AS (
        SELECT system_id, rubric_id, judge_id, run_id, label, reason FROM labels
        WHERE dataset_id = $dataset AND {{only}}
    ), given AS (
        SELECT * EXCLUDE (label) FROM own WHERE reason IS NOT NULL
        UNION ALL
        SELECT a.system_id, a.rubric_id, a.judge_id, a.run_id, a.reason FROM superseded a
        JOIN own t USING (system_id, rubric_id, judge_id, run_id)
        WHERE a.dataset_id = $dataset AND a.kind = 'labels' AND a.reason IS NOT NULL
          AND a.label IS NOT DISTINCT FROM t.label
    ), reasons AS (
        SELECT system_id, rubric_id, judge_id, run_id, min(reason) AS reason FROM given GROUP BY ALL
    )
    SELECT rubric_id, count(*) AS "rows",
           sum({hashed("to_json(['labels', s.name, q.name, r.name, k.name, d.name, g.reason])")}) AS hashes
    FROM reasons g JOIN systems s USING (system_id) JOIN rubrics r USING (rubric_id)
    LEFT JOIN queries q ON q.query_id = r.query_id JOIN judges k USING (judge_id) LEFT JOIN runs d USING (run_id)
    GROUP BY rubric_id
"""
_TALLIES = (
    _Tally(
        "label_tallies",
        ("rubric_id", "judge_id"),
        'sum("rows") AS "rows", sum(n) AS n, min(lowest) AS lowest, max(highest) AS highest, bit_or(levels) AS levels,'
        " sum(hashes) AS hashes",
        _LABELS,
    ),
    _Tally("system_tallies", ("system_id", "judge_id", "label"), "sum(n) AS n", _SYSTEMS),
    _Tally("reason_tallies", ("rubric_id",), 'sum("rows") AS "rows", sum(hashes) AS hashes', _REASONS),
)


def _insert(
    cursor: duckdb.DuckDBPyConnection, dataset: int, tally: _Tally, only: str, *, whole: bool = False
) -> None:
    """Insert the tallies of labels. only: SQL condition on them. whole: whether their keys have no other rows."""
    counted = tally.count.format(only=only)
    folded = "true" if whole else f"NOT EXISTS (FROM {tally.table} WHERE dataset_id = $dataset)"
    execute(
        cursor,
        f"INSERT INTO {tally.table} BY NAME SELECT $dataset AS dataset_id, *, {folded} AS folded FROM ({counted})",
        {"dataset": dataset},
    )


def _fold(cursor: duckdb.DuckDBPyConnection, dataset: int) -> None:
    """Sum up the tables whose appended rows outnumber the folded ones by more than FEW."""
    counts = ", ".join(
        f"(SELECT coalesce(sum(CASE WHEN folded THEN -1 ELSE 1 END), 0) FROM {tally.table} WHERE dataset_id = $dataset)"
        for tally in _TALLIES
    )
    (beyond,) = execute(cursor, f"SELECT {counts}", {"dataset": dataset}).fetchall()
    for tally, more in zip(_TALLIES, beyond, strict=True):
        if more > FEW:
            _sum_up(cursor, dataset, tally)


def _sum_up(cursor: duckdb.DuckDBPyConnection, dataset: int, tally: _Tally) -> None:
    """Reduce a table of tallies to one row for each key."""
    key = ", ".join(tally.key)
    execute(
        cursor,
        f"""
        CREATE OR REPLACE TEMP TABLE summed AS
        SELECT {key}, {tally.sums} FROM {tally.table} WHERE dataset_id = $dataset GROUP BY {key}
        """,
        {"dataset": dataset},
    )
    execute(cursor, f"DELETE FROM {tally.table} WHERE dataset_id = ?", [dataset])
    execute(
        cursor,
        f"INSERT INTO {tally.table} BY NAME SELECT ? AS dataset_id, *, true AS folded FROM summed",
        [dataset],
    )
    execute(cursor, "DROP TABLE summed")


def _find_stretches(cursor: duckdb.DuckDBPyConnection, dataset: int, only: str) -> None:
    """Insert ``stretches``: consecutive blocks of about BLOCK labels of a judge in a file that all have one value."""
    execute(
        cursor,
        f"""
        INSERT INTO stretches
        WITH own AS (SELECT judge_id, ingest_id, "row", label FROM labels WHERE dataset_id = $dataset AND {only}),
        width AS (SELECT ingest_id, {BLOCK} * count(DISTINCT judge_id) AS w FROM own GROUP BY ingest_id),
        blocks AS (
            SELECT judge_id, ingest_id, w, "row" // w AS block, count(label) AS n, min(label) AS lo, max(label) AS hi
            FROM own JOIN width USING (ingest_id) GROUP BY ALL
        ), islands AS (
            SELECT *, block - row_number() OVER (PARTITION BY judge_id, ingest_id, lo ORDER BY block) AS island
            FROM blocks WHERE lo = hi
        )
        SELECT $dataset, ingest_id, judge_id, min(block) * w, (max(block) + 1) * w - 1, sum(n), lo
        FROM islands GROUP BY judge_id, ingest_id, lo, island, w HAVING sum(n) >= {BLOCK}
        """,
        {"dataset": dataset},
    )
