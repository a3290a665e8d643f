"""Long runs of one value by one judge where the other judges vary: what a parser writes when it fails.

A run is a stretch of the file, or all labels of one system. It is suspicious where chance would hardly make one (the
judge's share of the value, to the power of the run's length, times the number of runs there could be, below 1%), and
where at least a fifth of what the other judges say of the same cells is something else.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

import duckdb
import pandas as pd

from ..ingest.findings import select
from ..ingest.tallies import BLOCK

_SHORTEST = BLOCK
_CHANCE = 0.01
_DIFFER = 0.2

# Stretches of the files were found when these were ingested (ingest/tallies.py).
_STRETCHES = """
    SELECT judge_id, ingest_id, "first", "last", NULL::INTEGER AS system_id, n, label FROM stretches
    WHERE dataset_id = $dataset
"""
_SYSTEMS = """
    SELECT judge_id, NULL::INTEGER AS ingest_id, NULL::BIGINT AS first, NULL::BIGINT AS last, system_id,
           sum(n) AS n, min(label) AS label
    FROM system_tallies WHERE dataset_id = $dataset AND label IS NOT NULL
    GROUP BY judge_id, system_id HAVING min(label) = max(label)
"""
_RARE = f"""
    CREATE OR REPLACE TEMP TABLE rare_runs AS
    WITH runs AS ({{runs}}), values AS (
        SELECT judge_id, label, sum(n) AS n FROM system_tallies
        WHERE dataset_id = $dataset AND label IS NOT NULL GROUP BY judge_id, label
    ), judges AS (SELECT judge_id, sum(n) AS total FROM values GROUP BY judge_id)
    SELECT runs.*, row_number() OVER () AS run FROM runs
    JOIN values v ON v.judge_id = runs.judge_id AND v.label = runs.label
    JOIN judges j ON j.judge_id = runs.judge_id
    WHERE runs.n >= {_SHORTEST} AND v.n < j.total
      AND runs.n * ln(v.n / j.total) + ln(greatest(j.total / {BLOCK}, 1)) < ln({_CHANCE})
"""
_OTHERS = f"""
    WITH cells AS (
        SELECT r.run, r.judge_id, r.label, l.system_id, l.rubric_id FROM labels l JOIN rare_runs r
        ON l.judge_id = r.judge_id AND {{same}}
        WHERE l.dataset_id = $dataset AND l.label IS NOT NULL
    ), compared AS (
        SELECT run, avg((o.label <> c.label)::INTEGER) AS others_differ FROM cells c JOIN labels o
        ON o.system_id = c.system_id AND o.rubric_id = c.rubric_id AND o.judge_id <> c.judge_id
        WHERE o.dataset_id = $dataset AND o.label IS NOT NULL GROUP BY run
    )
    SELECT k.name AS judge, r.label, r.n::BIGINT AS labels,
           coalesce('system ' || s.name, 'about rows ' || r.first || ' to ' || r.last || ' of ' || i.source) AS "where",
           others_differ
    FROM rare_runs r JOIN compared USING (run) JOIN judges k ON k.judge_id = r.judge_id
    LEFT JOIN systems s ON s.system_id = r.system_id LEFT JOIN ingests i ON i.ingest_id = r.ingest_id
    WHERE others_differ >= {_DIFFER} ORDER BY r.n DESC, r.run
"""
_KINDS = (
    (_STRETCHES, 'l.ingest_id = r.ingest_id AND l."row" BETWEEN r.first AND r.last'),
    (_SYSTEMS, "l.system_id = r.system_id"),
)


def find_runs(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> pd.DataFrame:
    """judge, label, labels (length), where, others_differ (share), the longest first."""
    found = []
    for runs, same in _KINDS:
        cursor.execute(_RARE.format(runs=runs), {"dataset": dataset_id})
        if cursor.execute("SELECT 1 FROM rare_runs LIMIT 1").fetchone():
            found.append(select(cursor, _OTHERS.format(same=same), dataset_id))
    if not found:
        return pd.DataFrame(columns=["judge", "label", "labels", "where", "others_differ"])
    return pd.concat(found, ignore_index=True).sort_values("labels", ascending=False, ignore_index=True)
