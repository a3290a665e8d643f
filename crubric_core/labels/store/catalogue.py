"""What a dataset holds, as pure functions from its id to (sql, params)."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

Query = tuple[str, dict[str, object]]

# Every rubric with labels or a description, in canonical order, with its scale resolved: what a table of rubrics
# says, else the extremes of the dataset's labels. A rubric described without a query lends its description to the
# rubrics of that name. A name that several queries share is shown as query#name, so that rubric names are unique.
RUBRIC_FACTS = """
    extremes AS (SELECT min(label) AS lowest, max(label) AS highest FROM labels WHERE dataset_id = $dataset),
    labelled AS (SELECT DISTINCT rubric_id FROM labels WHERE dataset_id = $dataset),
    named AS (
        SELECT r.*, q.name AS query FROM rubrics r LEFT JOIN queries q USING (query_id)
        WHERE r.dataset_id = $dataset
    ),
    general AS (FROM named WHERE query_id IS NULL),
    specific AS (SELECT DISTINCT name FROM named WHERE query_id IS NOT NULL),
    listed AS (
        SELECT r.rubric_id, r.query_id, r.name, coalesce(r.query, 'all') AS query,
               coalesce(r.text, g.text) AS text,
               coalesce(r.scale_min, g.scale_min) AS given_min, coalesce(r.scale_max, g.scale_max) AS given_max,
               coalesce(r.weight, g.weight) AS weight, coalesce(r.dimension, g.dimension) AS dimension,
               coalesce(r.severity, g.severity) AS severity,
               coalesce(r.polarity, g.polarity, CASE WHEN coalesce(r.weight, g.weight) < 0 THEN -1 END, 1) AS polarity,
               coalesce(r.tags, g.tags) AS tags
        FROM named r LEFT JOIN general g ON g.name = r.name AND r.query_id IS NOT NULL
        WHERE r.rubric_id IN (FROM labelled)
           OR (r.ingest_id IS NOT NULL AND (r.query_id IS NOT NULL OR r.name NOT IN (FROM specific)))
    ),
    topped AS (
        SELECT l.*, coalesce(given_max,
                             greatest(given_min + 1, CASE WHEN lowest = 0 AND highest = 0 THEN 1 ELSE highest END),
                             1) AS top, lowest
        FROM listed l CROSS JOIN extremes
    ),
    scaled AS (
        SELECT *, coalesce(given_min, CASE WHEN lowest < top THEN lowest WHEN top IN (0, 1) THEN top - 1
                                           WHEN top > 1 THEN 1 ELSE top - 1 END) AS bottom
        FROM topped
    ),
    qualified AS (
        SELECT *, CASE WHEN count(*) OVER (PARTITION BY name) > 1 THEN query || '#' || name ELSE name END AS rubric
        FROM scaled
    ),
    facts AS (
        SELECT row_number() OVER (ORDER BY query, rubric) - 1 AS j, rubric_id, query_id, rubric, query, text,
               bottom AS scale_min, top AS scale_max, top - bottom + 1 AS levels, weight, dimension, severity,
               polarity, tags,
               given_min IS NOT NULL AND given_max IS NOT NULL AS given
        FROM qualified
    )
"""

SYSTEM_ORDER = """
    system_order AS (
        SELECT row_number() OVER (ORDER BY name) - 1 AS i, system_id, name AS system FROM systems
        WHERE system_id IN (SELECT DISTINCT system_id FROM labels WHERE dataset_id = $dataset)
    )
"""

JUDGE_ORDER = """
    judge_order AS (
        SELECT row_number() OVER (ORDER BY name) - 1 AS k, judge_id, name AS judge FROM judges
        WHERE judge_id IN (SELECT DISTINCT judge_id FROM labels WHERE dataset_id = $dataset)
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
        " polarity, tags"
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


def scale(dataset: int) -> Query:
    """Lowest, highest, most levels, and whether every rubric was given its scale; no row without rubrics."""
    return (
        f"""
        WITH {RUBRIC_FACTS}
        SELECT min(scale_min), max(scale_max), max(levels), bool_and(given) FROM facts HAVING count(*) > 0
        """,
        {"dataset": dataset},
    )


def counts(dataset: int) -> Query:
    """One row: how much of systems × rubrics × judges is there, and how often a panel is full."""
    return (
        f"""
        WITH {RUBRIC_FACTS},
        cells AS (
            SELECT count(label) AS n FROM labels WHERE dataset_id = $dataset GROUP BY rubric_id, system_id
        ),
        panel AS (SELECT count(DISTINCT judge_id) AS n FROM labels WHERE dataset_id = $dataset)
        SELECT (SELECT count(DISTINCT system_id) FROM labels WHERE dataset_id = $dataset) AS systems,
               (SELECT count(DISTINCT query) FROM facts) AS queries,
               (SELECT count(*) FROM facts) AS rubrics,
               (SELECT n FROM panel) AS judges,
               (SELECT coalesce(sum(n), 0) FROM cells) AS labels,
               (SELECT count(*) FROM labels WHERE dataset_id = $dataset AND label IS NULL) AS blank,
               (SELECT count(*) FROM cells WHERE n > 0) AS cells,
               (SELECT count(*) FROM cells WHERE n >= 2) AS instances,
               (SELECT count(*) FROM cells WHERE n = (SELECT n FROM panel) AND n > 0) AS cells_full_panel
        """,
        {"dataset": dataset},
    )


def labels(dataset: int) -> Query:
    """The long label table: system, query, rubric (as in the rubrics table), judge, label."""
    return (
        f"""
        WITH {RUBRIC_FACTS}
        SELECT s.name AS system, f.query, f.rubric, k.name AS judge, l.label
        FROM labels l JOIN systems s USING (system_id) JOIN judges k USING (judge_id) JOIN facts f USING (rubric_id)
        WHERE l.dataset_id = $dataset ORDER BY system, query, rubric, judge
        """,
        {"dataset": dataset},
    )


def gold(dataset: int) -> Query:
    """Human labels: system, query, rubric (as in the rubrics table), label, annotator."""
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
    """What people said of the rubrics themselves: query, rubric (as in the rubrics table), annotator, valid."""
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
    """The human reference: system, rank, score."""
    return (
        "SELECT s.name AS system, rank, score FROM reference_ranking JOIN systems s USING (system_id)"
        " WHERE reference_ranking.dataset_id = $dataset ORDER BY system",
        {"dataset": dataset},
    )
