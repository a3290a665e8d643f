"""A hash of a dataset's content that does not depend on the order of files, rows or ids."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

import hashlib

import duckdb

from .facts import FACTS, current_facts
from .parsed import execute
from .tallies import hashed, sum_rubrics

Query = tuple[str, dict[str, object]]

# The source of a query's type (type_source) is no content, because no result depends on it. Runs, reasons, answers,
# facts of the systems and pass marks were added later: without them, a dataset has the same fingerprint as before.
# The rows of each table are hashed and the hashes summed, so that the order does not matter. Labels and their reasons
# are summed within a rubric first, from their tallies: new labels add to the sums, and no stored label is read again.
# A given polarity counts if without it the polarity would be another one, or if other rubrics may inherit it.
_SECTIONS = {
    "labels": """
        SELECT json_array(q.name, r.name, hashes::VARCHAR, "rows"::VARCHAR) AS content
        FROM rubric_sums JOIN rubrics r USING (rubric_id) LEFT JOIN queries q ON q.query_id = r.query_id
    """,
    "gold": f"""
        WITH tokens AS (
            SELECT system_id, judge_id, label,
                   {hashed("to_json([s.name, k.name, label::VARCHAR])")} AS h
            FROM (SELECT DISTINCT system_id, judge_id, label FROM gold WHERE dataset_id = $dataset) t
            JOIN systems s USING (system_id) JOIN judges k USING (judge_id)
        ), sums AS (
            SELECT rubric_id, sum(h) AS total, count(*) AS n
            FROM gold l JOIN tokens t ON l.system_id = t.system_id AND l.judge_id = t.judge_id
                                     AND l.label IS NOT DISTINCT FROM t.label
            WHERE l.dataset_id = $dataset GROUP BY rubric_id
        )
        SELECT to_json([q.name, r.name, total::VARCHAR, n::VARCHAR]) AS content
        FROM sums JOIN rubrics r USING (rubric_id) LEFT JOIN queries q ON q.query_id = r.query_id
    """,
    "rubrics": """
        SELECT to_json([q.name, r.name, r.text, scale_min::VARCHAR, scale_max::VARCHAR, weight::VARCHAR, dimension,
                        severity] || CASE WHEN coalesce(polarity, weight) < 0 THEN ['-1'] ELSE [] END
                       || CASE WHEN polarity IS NOT NULL AND (weight < 0 OR r.query_id IS NULL)
                               THEN ['polarity', polarity::VARCHAR] ELSE [] END
                       || CASE WHEN tags IS NOT NULL THEN ['tags', tags] ELSE [] END
                       || CASE WHEN pass_mark IS NOT NULL THEN ['pass mark', pass_mark::VARCHAR] ELSE [] END) AS content
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
    "reasons": """
        WITH counting AS NOT MATERIALIZED (
            SELECT 'gold' AS kind, system_id, rubric_id, judge_id, 0 AS run_id, label, reason FROM gold
            WHERE dataset_id = $dataset
            UNION ALL SELECT 'anchors', NULL, rubric_id, judge_id, 0, label, reason FROM anchors
            WHERE dataset_id = $dataset
        ), given AS (
            SELECT * EXCLUDE (label) FROM counting WHERE reason IS NOT NULL
            UNION ALL
            SELECT kind, a.system_id, rubric_id, judge_id, run_id, a.reason FROM superseded a
            JOIN counting t USING (kind, rubric_id, judge_id, run_id)
            WHERE a.dataset_id = $dataset AND a.reason IS NOT NULL AND a.system_id IS NOT DISTINCT FROM t.system_id
              AND a.label IS NOT DISTINCT FROM t.label
        )
        SELECT to_json([kind, s.name, q.name, r.name, k.name, d.name, min(reason)]) AS content
        FROM given g LEFT JOIN systems s USING (system_id) JOIN rubrics r USING (rubric_id)
        LEFT JOIN queries q ON q.query_id = r.query_id JOIN judges k USING (judge_id)
        LEFT JOIN runs d ON d.run_id = g.run_id
        GROUP BY kind, s.name, q.name, r.name, k.name, d.name
    """,
    "answers": f"""
        SELECT to_json([s.name, q.name, a.text]) AS content FROM ({current_facts(FACTS["answers"])}) a
        JOIN systems s USING (system_id) JOIN queries q USING (query_id)
    """,
    "system_facts": f"""
        SELECT to_json([s.name, f.name, f.value]) AS content FROM ({current_facts(FACTS["systems"])}) f
        JOIN systems s USING (system_id)
    """,
    "reference_ranking": """
        SELECT to_json([s.name, rank::VARCHAR, score::VARCHAR]) AS content
        FROM reference_ranking t JOIN systems s USING (system_id) WHERE t.dataset_id = $dataset
    """,
}
_REASONS_OF_LABELS = """
    SELECT coalesce(sum("rows"), 0), coalesce(sum(hashes), 0) FROM reason_tallies WHERE dataset_id = $dataset
"""
SECTIONS = (
    *("labels", "gold", "rubrics", "queries", "reference_ranking"),
    *("anchors", "reasons", "answers", "system_facts"),
)
_ALWAYS = SECTIONS[:5]  # the other sections were added later, and count only if they have rows


# The tables of each section except the labels. A section is skipped if the dataset has no row in any of its tables.
_TABLES = {
    "gold": ("gold",),
    "rubrics": ("rubric_statements",),
    "queries": ("query_statements",),
    "anchors": ("anchors",),
    "reasons": ("gold", "anchors"),
    "answers": ("answers",),
    "system_facts": ("system_facts",),
    "reference_ranking": ("reference_ranking",),
}
_HELD = " UNION ALL ".join(
    f"(SELECT '{table}' FROM {table} WHERE dataset_id = $dataset LIMIT 1)"
    for table in sorted({table for tables in _TABLES.values() for table in tables})
)


def _section(name: str, dataset: int) -> Query:
    """A query for (number of rows, sum of their hashes) of one section; for labels from ``rubric_sums``."""
    content = _SECTIONS[name]
    sql = f"SELECT count(*), coalesce(sum({hashed('content')}), 0) FROM ({content})"
    return sql, {"dataset": dataset} if "$dataset" in sql else {}


def _combine(sections: dict[str, tuple[int, int]]) -> str:
    """The fingerprint, 32 hexadecimal digits, from (rows, sum of hashes) of every section."""
    there = [name for name in SECTIONS if name in _ALWAYS or sections[name][0]]
    text = ";".join(f"{name}:{sections[name][0]}:{sections[name][1]}" for name in there)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def renew(cursor: duckdb.DuckDBPyConnection, dataset: int) -> str:
    """Compute, store and return the fingerprint of the dataset within the transaction; creates ``rubric_sums``."""
    sum_rubrics(cursor, dataset)
    held = {table for (table,) in execute(cursor, _HELD, {"dataset": dataset}).fetchall()}
    sections = {}
    for name in SECTIONS:
        rows, total = 0, 0
        if name == "labels" or not held.isdisjoint(_TABLES[name]):
            rows, total = execute(cursor, *_section(name, dataset)).fetchall()[0]
        sections[name] = (int(rows), int(total))
    ((rows, total),) = execute(cursor, _REASONS_OF_LABELS, {"dataset": dataset}).fetchall()
    sections["reasons"] = (sections["reasons"][0] + int(rows), sections["reasons"][1] + int(total))
    source = execute(
        cursor, 'SELECT "rows", fingerprint FROM label_sources WHERE dataset_id = ?', [dataset]
    ).fetchone()
    if source is not None:  # labels by reference: the stored fingerprint of their files
        sections["labels"] = (int(source[0]), int(source[1], 16))
    found = _combine(sections)
    execute(cursor, "UPDATE datasets SET fingerprint = ? WHERE dataset_id = ?", [found, dataset])
    return found
