"""Duplicate a dataset: copy every row under new ids, including the history."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Mapping

import duckdb

from ..ingest.new_dataset import new_dataset

# Each table's columns that hold ids, with the table that they are ids of.
_IDS: Mapping[str, Mapping[str, str]] = {
    "systems": {"system_id": "systems"},
    "judges": {"judge_id": "judges"},
    "runs": {"run_id": "runs"},
    "queries": {"query_id": "queries", "ingest_id": "ingests"},
    "rubrics": {"rubric_id": "rubrics", "query_id": "queries", "ingest_id": "ingests"},
    "ingests": {"ingest_id": "ingests"},
    "reference_ranking": {
        "reference_id": "reference_ranking",
        "system_id": "systems",
        "ingest_id": "ingests",
    },
    **{
        table: {"system_id": "systems", "rubric_id": "rubrics", "judge_id": "judges", "ingest_id": "ingests"}
        | ({} if table == "gold" else {"run_id": "runs"})
        for table in ("labels", "gold", "superseded")
    },
    "anchors": {"rubric_id": "rubrics", "judge_id": "judges", "ingest_id": "ingests"},
    "moved": {
        "system_id": "systems",
        "judge_id": "judges",
        "old_rubric_id": "rubrics",
        "new_rubric_id": "rubrics",
        "run_id": "runs",
        "said_by": "ingests",
        "ingest_id": "ingests",
    },
    "query_statements": {"query_id": "queries", "ingest_id": "ingests"},
    "rubric_statements": {"rubric_id": "rubrics", "ingest_id": "ingests"},
    "reference_statements": {"system_id": "systems", "ingest_id": "ingests"},
    "answers": {"system_id": "systems", "query_id": "queries", "ingest_id": "ingests"},
    "system_facts": {"system_id": "systems", "ingest_id": "ingests"},
    "scoring_rules": {},
    "scenarios": {},
    "label_sources": {},
    "source_files": {},
    "cell_tallies": {"system_id": "systems", "rubric_id": "rubrics", "judge_id": "judges"},
    "judge_tallies": {"system_id": "systems", "judge_id": "judges"},
    "rubric_tallies": {"rubric_id": "rubrics"},
    "label_tallies": {"rubric_id": "rubrics", "judge_id": "judges"},
    "system_tallies": {"system_id": "systems", "judge_id": "judges"},
    "reason_tallies": {"rubric_id": "rubrics"},
    "rubric_scales": {"rubric_id": "rubrics", "criterion_id": "rubrics"},
    "read_files": {"ingest_id": "ingests"},
    "stretches": {"judge_id": "judges", "ingest_id": "ingests"},
}
TABLES = tuple(_IDS)  # every table that belongs to a dataset by its dataset_id
_OWN_ID = {
    "systems": "system_id",
    "judges": "judge_id",
    "runs": "run_id",
    "queries": "query_id",
    "rubrics": "rubric_id",
    "ingests": "ingest_id",
    "reference_ranking": "reference_id",
}


def duplicate(cursor: duckdb.DuckDBPyConnection, dataset_id: int, new_name: str) -> None:
    """Copy a dataset within the caller's transaction. new_name: a name that no dataset has."""
    new_id = new_dataset(cursor, new_name)
    cursor.execute(
        "UPDATE datasets SET created_at = o.created_at, fingerprint = o.fingerprint FROM datasets o"
        " WHERE o.dataset_id = ? AND datasets.dataset_id = ?",
        [dataset_id, new_id],
    )
    for table, column in _OWN_ID.items():
        cursor.execute(
            f"""
            CREATE OR REPLACE TEMP TABLE new_{table} AS
            SELECT {column} AS old, CAST((SELECT max({column}) FROM {table}) + row_number() OVER (ORDER BY {column})
                                         AS INTEGER) AS new
            FROM {table} WHERE dataset_id = ?
            """,
            [dataset_id],
        )
    for table, ids in _IDS.items():
        joins = " ".join(f"LEFT JOIN new_{of} AS n_{c} ON n_{c}.old = t.{c}" for c, of in ids.items())
        renewed = (f"coalesce(n_{c}.new, {0 if c == 'run_id' else 'NULL'}) AS {c}" for c in ids)
        replaced = ", ".join([*renewed, "$new::INTEGER AS dataset_id"])
        cursor.execute(
            f"INSERT INTO {table} BY NAME SELECT t.* REPLACE ({replaced})"
            f" FROM {table} t {joins} WHERE t.dataset_id = $old",
            {"new": new_id, "old": dataset_id},
        )
    cursor.execute(
        "INSERT INTO rejects SELECT n.new, r.* EXCLUDE (ingest_id)"
        " FROM rejects r JOIN new_ingests n ON n.old = r.ingest_id"
    )
