"""Long runs of one value by one judge where the other judges vary: what a parser writes when it fails.

A run is a stretch of the file, or all labels of one system. It is suspicious where chance would hardly make one (the
judge's share of the value, to the power of the run's length, times the number of runs there could be, below 1%), and
where the other judges differ, on at least a fifth of its cells and on more of them than wherever else this judge gives
the value (one-sided binomial test at 1%, Bonferroni over the runs): on a hard rubric, or with a strong system, they
differ no more than usual.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
from scipy.special import bdtrc

from ..ingest.findings import select
from ..ingest.parsed import execute
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
    SELECT runs.*, (runs.last - runs.first + 1) * {BLOCK} // runs.n AS block, row_number() OVER () AS run,
           dense_rank() OVER (ORDER BY runs.judge_id, runs.label) AS said
    FROM runs
    JOIN values v ON v.judge_id = runs.judge_id AND v.label = runs.label
    JOIN judges j ON j.judge_id = runs.judge_id
    WHERE runs.n >= {_SHORTEST} AND v.n < j.total
      AND runs.n * ln(v.n / j.total) + ln(greatest(j.total / {BLOCK}, 1)) < ln({_CHANCE})
"""
_LONG = f"SELECT 1 FROM ({{runs}}) WHERE n >= {_SHORTEST} LIMIT 1"
_DIFFER_ON = """
    SELECT {key}, count(*) AS cells, avg(differ) AS others_differ FROM (
        SELECT {key}, avg((o.label <> c.label)::INTEGER) AS differ FROM ({cells}) c JOIN labels o
        ON o.system_id = c.system_id AND o.rubric_id = c.rubric_id AND o.judge_id <> c.judge_id
        WHERE o.dataset_id = $dataset AND o.label IS NOT NULL GROUP BY {key}, c.system_id, c.rubric_id
    ) GROUP BY {key}
"""
_IN_RUNS = """
    SELECT DISTINCT run, l.judge_id, l.label, l.system_id, l.rubric_id
    FROM labels l JOIN rare_runs r ON l.judge_id = r.judge_id AND {same}
    WHERE l.dataset_id = $dataset AND l.label IS NOT NULL
"""
_ELSEWHERE = """
    SELECT DISTINCT said, l.judge_id, l.label, l.system_id, l.rubric_id
    FROM labels l JOIN (SELECT DISTINCT said, judge_id, label FROM doubtful_runs) d
    ON l.judge_id = d.judge_id AND l.label = d.label
    ANTI JOIN doubtful_runs r ON l.judge_id = r.judge_id AND {beside}
    WHERE l.dataset_id = $dataset
"""
_DOUBTFUL = f"""
    CREATE OR REPLACE TEMP TABLE doubtful_runs AS
    SELECT * FROM rare_runs JOIN ({_DIFFER_ON.format(key="run", cells=_IN_RUNS)}) USING (run)
    WHERE others_differ >= {_DIFFER}
"""
_COMPARED = f"""
    SELECT k.name AS judge, r.label, r.n::BIGINT AS labels,
           coalesce('system ' || s.name, 'about rows ' || r.first || ' to ' || r.last || ' of ' || i.source) AS "where",
           r.others_differ, r.cells, e.others_differ AS elsewhere
    FROM doubtful_runs r JOIN judges k ON k.judge_id = r.judge_id
    LEFT JOIN ({_DIFFER_ON.format(key="said", cells=_ELSEWHERE)}) e USING (said)
    LEFT JOIN systems s ON s.system_id = r.system_id LEFT JOIN ingests i ON i.ingest_id = r.ingest_id
    ORDER BY r.n DESC, r.run
"""
_NONE = pd.DataFrame(columns=["judge", "label", "labels", "where", "others_differ", "elsewhere"])
# SELECT, which labels are in a run, and which are in it or beside it: a stretch is known to a block of rows.
_KINDS = (
    (
        _STRETCHES,
        'l.ingest_id = r.ingest_id AND l."row" BETWEEN r.first AND r.last',
        'l.ingest_id = r.ingest_id AND l."row" BETWEEN r.first - r.block AND r.last + r.block',
    ),
    (_SYSTEMS, "l.system_id = r.system_id", "l.system_id = r.system_id"),
)


def find_runs(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> pd.DataFrame:
    """judge, label, labels (length), where, others_differ (share), elsewhere (the same of its other such labels).

    The longest first; elsewhere is unknown where the judge gives the label on no other cell that others judge.
    """
    found = [_suspicious(cursor, dataset_id, *kind) for kind in _KINDS]
    return pd.concat(found, ignore_index=True).sort_values(
        "labels", ascending=False, ignore_index=True, kind="stable"
    )


def _suspicious(
    cursor: duckdb.DuckDBPyConnection, dataset_id: int, runs: str, same: str, beside: str
) -> pd.DataFrame:
    given = {"dataset": dataset_id}
    if not execute(cursor, _LONG.format(runs=runs), given).fetchone():
        return _NONE
    execute(cursor, _RARE.format(runs=runs), given)
    (rare,) = execute(cursor, "SELECT count(*) FROM rare_runs").fetchone() or (0,)
    if rare:
        execute(cursor, _DOUBTFUL.format(same=same), given)
    if not rare or not execute(cursor, "SELECT 1 FROM doubtful_runs LIMIT 1").fetchone():
        return _NONE
    found = select(cursor, _COMPARED.format(beside=beside), dataset_id)
    cells = found.pop("cells")
    differ = np.round(found["others_differ"] * cells)
    return found[bdtrc(differ - 1, cells, found["elsewhere"].astype(float).fillna(0)) < _CHANCE / rare]
