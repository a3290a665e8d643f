"""Queries for the content of a dataset, as pure functions from its id to (sql, params)."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from ..ingest.facts import FACTS, current_facts
from ..ingest.rubric_facts import RUBRIC_FACTS

Query = tuple[str, dict[str, object]]

# The reason of every label that has one: the alphabetically first of the reasons given with the label that counts.
REASONS = """
    why AS (
        SELECT system_id, rubric_id, judge_id, run_id, min(reason) AS reason FROM (
            SELECT system_id, rubric_id, judge_id, run_id, reason FROM labels WHERE dataset_id = $dataset
            UNION ALL
            SELECT a.system_id, a.rubric_id, a.judge_id, a.run_id, a.reason FROM superseded a JOIN labels l
            ON l.dataset_id = a.dataset_id AND l.system_id = a.system_id AND l.rubric_id = a.rubric_id
               AND l.judge_id = a.judge_id AND l.run_id = a.run_id AND l.label IS NOT DISTINCT FROM a.label
            WHERE a.dataset_id = $dataset AND a.kind = 'labels'
        ) WHERE reason IS NOT NULL GROUP BY ALL
    )
"""

ANSWERS = f"""
    SELECT s.name AS system, q.name AS query, a.text FROM ({current_facts(FACTS["answers"])}) a
    JOIN systems s USING (system_id) JOIN queries q USING (query_id)
"""

FACTS_OF_SYSTEMS = f"""
    SELECT s.name AS system, f.name AS fact, f.value FROM ({current_facts(FACTS["systems"])}) f
    JOIN systems s USING (system_id) ORDER BY system, fact
"""

SYSTEM_ORDER = """
    system_order AS (
        SELECT row_number() OVER (ORDER BY name) - 1 AS i, system_id, name AS system FROM systems
        WHERE system_id IN (SELECT system_id FROM labelled_systems WHERE dataset_id = $dataset)
    )
"""

JUDGE_ORDER = """
    judge_order AS (
        SELECT row_number() OVER (ORDER BY name) - 1 AS k, judge_id, name AS judge FROM judges
        WHERE judge_id IN (SELECT judge_id FROM labelled_judges WHERE dataset_id = $dataset)
    )
"""


def systems(dataset: int) -> Query:
    """The systems that have labels, sorted."""
    return f"WITH {SYSTEM_ORDER} SELECT system FROM system_order ORDER BY i", {"dataset": dataset}


def judges(dataset: int) -> Query:
    """The judges that gave labels, sorted."""
    return f"WITH {JUDGE_ORDER} SELECT judge FROM judge_order ORDER BY k", {"dataset": dataset}


def rubrics(dataset: int) -> Query:
    """One row a rubric, sorted by (query, rubric)."""
    return (
        f"WITH {RUBRIC_FACTS} SELECT rubric, query, text, scale_min, scale_max, levels, weight, dimension, severity,"
        " polarity, tags, criterion, pass_mark, CASE WHEN given THEN 'given' ELSE 'inferred' END AS scale_source"
        " FROM facts ORDER BY j",
        {"dataset": dataset},
    )


def queries(dataset: int) -> Query:
    """One row a query that has rubrics, sorted."""
    return (
        f"""
        WITH {RUBRIC_FACTS}
        SELECT f.query, any_value(q.text) AS text, any_value(q.domain) AS domain,
               any_value(q.task_type) AS task_type,
               any_value(q.p_evidence_reasoning) AS p_evidence_reasoning,
               any_value(q.p_decision_support) AS p_decision_support,
               any_value(q.p_high_risk_constraint) AS p_high_risk_constraint,
               any_value(q.p_creative_divergent) AS p_creative_divergent,
               any_value(q.type_source) AS type_source, any_value(q.omega) AS omega
        FROM facts f LEFT JOIN queries q USING (query_id) GROUP BY f.query ORDER BY f.query
        """,
        {"dataset": dataset},
    )


SCALE = "SELECT min(scale_min), max(scale_max), max(levels), bool_and(given) FROM {facts} HAVING count(*) > 0"


def scale(dataset: int) -> Query:
    """One row: minimum, maximum and most levels of the scales, whether all were given; no row without rubrics."""
    return f"WITH {RUBRIC_FACTS} {SCALE.format(facts='facts')}", {"dataset": dataset}


def has_runs(dataset: int) -> Query:
    """One row if any label belongs to a named run; no row otherwise."""
    return "SELECT 1 FROM labels WHERE dataset_id = $dataset AND run_id <> 0 LIMIT 1", {"dataset": dataset}


def runs(dataset: int) -> Query:
    """Names of the runs, sorted."""
    return "SELECT name FROM runs WHERE dataset_id = $dataset ORDER BY name", {"dataset": dataset}


def counts(dataset: int, runs: bool) -> Query:
    """One row: numbers of systems, queries, rubrics, judges, labels, blanks and cells; runs of a judge count once.

    instances: cells with labels of two judges or more. cells_full_panel: cells with a label of every judge.
    """
    given = "SELECT rubric_id, system_id, label FROM labels WHERE dataset_id = $dataset"
    if runs:
        given = """
            SELECT rubric_id, system_id, judge_id, max(label) AS label FROM labels
            WHERE dataset_id = $dataset GROUP BY ALL
        """
    return (
        f"""
        WITH {RUBRIC_FACTS}, given AS ({given}),
        cells AS (SELECT count(label) AS n FROM given GROUP BY rubric_id, system_id),
        panel AS (SELECT count(DISTINCT judge_id) AS n FROM labels WHERE dataset_id = $dataset)
        SELECT (SELECT count(DISTINCT system_id) FROM labels WHERE dataset_id = $dataset) AS systems,
               (SELECT count(DISTINCT query) FROM facts) AS queries,
               (SELECT count(*) FROM facts) AS rubrics,
               (SELECT n FROM panel) AS judges,
               (SELECT coalesce(sum(n), 0) FROM cells) AS labels,
               (SELECT count(*) FROM given WHERE label IS NULL) AS blank,
               (SELECT count(*) FROM cells WHERE n > 0) AS cells,
               (SELECT count(*) FROM cells WHERE n >= 2) AS instances,
               (SELECT count(*) FROM cells WHERE n = (SELECT n FROM panel) AND n > 0) AS cells_full_panel
        """,
        {"dataset": dataset},
    )


def labels(
    dataset: int, system: str | None = None, query: str | None = None, rubric: str | None = None
) -> Query:
    """The long label table: system, query, rubric (as in the rubrics table), judge, run, label, reason.

    system, query, rubric: only labels of these; None for no restriction.
    """
    return (
        f"""
        WITH {RUBRIC_FACTS}, {REASONS}
        SELECT s.name AS system, f.query, f.rubric, k.name AS judge, d.name AS run, l.label, w.reason
        FROM labels l JOIN systems s USING (system_id) JOIN judges k USING (judge_id) JOIN facts f USING (rubric_id)
        LEFT JOIN runs d ON d.run_id = l.run_id LEFT JOIN why w
            ON w.system_id = l.system_id AND w.rubric_id = l.rubric_id AND w.judge_id = l.judge_id
               AND w.run_id = l.run_id
        WHERE l.dataset_id = $dataset AND s.name = coalesce($system, s.name)
              AND f.query = coalesce($query, f.query) AND f.rubric = coalesce($rubric, f.rubric)
        ORDER BY system, f.query, f.rubric, judge, run
        """,
        {"dataset": dataset, "system": system, "query": query, "rubric": rubric},
    )


def rubric_named(dataset: int, rubric: str) -> Query:
    """(id, query, rubric) of a rubric, named as in the label files. rubric: its name in the rubrics table."""
    return (
        f"""
        WITH {RUBRIC_FACTS}
        SELECT f.rubric_id, q.name, r.name FROM facts f JOIN rubrics r USING (rubric_id)
        JOIN queries q ON q.query_id = r.query_id WHERE f.rubric = $rubric
        """,
        {"dataset": dataset, "rubric": rubric},
    )


def answers(dataset: int, system: str | None = None, query: str | None = None) -> Query:
    """The answers of the systems: system, query, text. system, query: only theirs; None for no restriction."""
    return (
        f"""
        {ANSWERS}
        WHERE s.name = coalesce($system, s.name) AND q.name = coalesce($query, q.name) ORDER BY system, query
        """,
        {"dataset": dataset, "system": system, "query": query},
    )


def system_facts(dataset: int) -> Query:
    """Facts about the systems, one row each: system, fact (organisation, date, cost, licence …), value."""
    return FACTS_OF_SYSTEMS, {"dataset": dataset}


def gold(dataset: int) -> Query:
    """Human labels: system, query, rubric (as in the rubrics table), annotator, label."""
    return (
        f"""
        WITH {RUBRIC_FACTS}
        SELECT s.name AS system, coalesce(f.query, q.name, 'all') AS query, coalesce(f.rubric, r.name) AS rubric,
               a.name AS annotator, g.label
        FROM gold g JOIN systems s USING (system_id) JOIN judges a USING (judge_id)
        JOIN rubrics r USING (rubric_id) LEFT JOIN queries q ON q.query_id = r.query_id
        LEFT JOIN facts f ON f.rubric_id = g.rubric_id
        WHERE g.dataset_id = $dataset ORDER BY system, query, rubric, annotator
        """,
        {"dataset": dataset},
    )


def anchors(dataset: int) -> Query:
    """Human verdicts on the rubrics themselves: query, rubric (as in the rubrics table), annotator, valid."""
    return (
        f"""
        WITH {RUBRIC_FACTS}
        SELECT coalesce(f.query, q.name, 'all') AS query, coalesce(f.rubric, r.name) AS rubric,
               a.name AS annotator, h.label AS valid
        FROM anchors h JOIN judges a USING (judge_id) JOIN rubrics r USING (rubric_id)
        LEFT JOIN queries q ON q.query_id = r.query_id LEFT JOIN facts f ON f.rubric_id = h.rubric_id
        WHERE h.dataset_id = $dataset ORDER BY query, rubric, annotator
        """,
        {"dataset": dataset},
    )


def reference_ranking(dataset: int) -> Query:
    """The reference ranking: system, rank, score."""
    return (
        "SELECT s.name AS system, rank, score FROM reference_ranking JOIN systems s USING (system_id)"
        " WHERE reference_ranking.dataset_id = $dataset ORDER BY system",
        {"dataset": dataset},
    )
