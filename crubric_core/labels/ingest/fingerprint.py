"""A hash of a dataset's content that no order of files, rows or ids can change."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

import hashlib

import duckdb

Query = tuple[str, dict[str, object]]

# Who typed a query (type_source) is no content: no result hangs on it.
# The rows of each table are hashed and the hashes summed, so that order is no matter. Labels are summed within a
# rubric first: their hashes come from the few (system, judge, label) there are, never from ten million strings.
_SECTIONS = {
    "labels": """
        WITH tokens AS (
            SELECT system_id, judge_id, label, md5_number_lower(to_json([s.name, k.name, label::VARCHAR])::VARCHAR) AS h
            FROM (SELECT DISTINCT system_id, judge_id, label FROM {table} WHERE dataset_id = $dataset)
            JOIN systems s USING (system_id) JOIN judges k USING (judge_id)
        ), sums AS (
            SELECT rubric_id, sum(h::HUGEINT) AS total, count(*) AS n
            FROM {table} l JOIN tokens t ON l.system_id = t.system_id AND l.judge_id = t.judge_id
                                         AND l.label IS NOT DISTINCT FROM t.label
            WHERE l.dataset_id = $dataset GROUP BY rubric_id
        )
        SELECT to_json([q.name, r.name, total::VARCHAR, n::VARCHAR]) AS content
        FROM sums JOIN rubrics r USING (rubric_id) LEFT JOIN queries q ON q.query_id = r.query_id
    """,
    "rubrics": """
        SELECT to_json([q.name, r.name, r.text, scale_min::VARCHAR, scale_max::VARCHAR, weight::VARCHAR, dimension,
                        severity] || CASE WHEN coalesce(polarity, weight) < 0 THEN ['-1'] ELSE [] END
                       || CASE WHEN tags IS NOT NULL THEN ['tags', tags] ELSE [] END) AS content
        FROM rubrics r LEFT JOIN queries q USING (query_id)
        WHERE r.dataset_id = $dataset AND r.ingest_id IS NOT NULL
    """,
    "queries": """
        SELECT to_json([name, text, domain, task_type, p_evidence_reasoning::VARCHAR, p_decision_support::VARCHAR,
                        p_high_risk_constraint::VARCHAR, p_creative_divergent::VARCHAR, omega::VARCHAR]) AS content
        FROM queries WHERE dataset_id = $dataset AND ingest_id IS NOT NULL
    """,
    "anchors": """
        SELECT to_json([q.name, r.name, k.name, label::VARCHAR]) AS content
        FROM anchors a JOIN judges k USING (judge_id) JOIN rubrics r USING (rubric_id)
        LEFT JOIN queries q ON q.query_id = r.query_id WHERE a.dataset_id = $dataset
    """,
    "reference_ranking": """
        SELECT to_json([s.name, rank::VARCHAR, score::VARCHAR]) AS content
        FROM reference_ranking t JOIN systems s USING (system_id) WHERE t.dataset_id = $dataset
    """,
}
SECTIONS = ("labels", "gold", "rubrics", "queries", "reference_ranking", "anchors")


def section(name: str, dataset: int) -> Query:
    """(rows, sum of their hashes) of one table of the dataset."""
    content = _SECTIONS["labels" if name == "gold" else name].format(table=name)
    sql = f"SELECT count(*), coalesce(sum(md5_number_lower(content::VARCHAR)::HUGEINT), 0) FROM ({content})"
    return sql, {"dataset": dataset}


def combine(sections: dict[str, tuple[int, int]]) -> str:
    """32 hexadecimal digits for the (rows, sum) of every section."""
    there = [
        name for name in SECTIONS if name != "anchors" or sections[name][0]
    ]  # anchors came later than the rest
    text = ";".join(f"{name}:{sections[name][0]}:{sections[name][1]}" for name in there)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def renew(cursor: duckdb.DuckDBPyConnection, dataset: int) -> str:
    """The fingerprint of the dataset as the transaction sees it, stored with it."""
    sections = {}
    for name in SECTIONS:
        rows, total = cursor.execute(*section(name, dataset)).fetchall()[0]
        sections[name] = (int(rows), int(total))
    found = combine(sections)
    cursor.execute("UPDATE datasets SET fingerprint = ? WHERE dataset_id = ?", [found, dataset])
    return found
