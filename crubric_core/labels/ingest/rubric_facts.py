"""Criteria, scales and pass marks of the rubrics of a dataset, as SQL over the stored tables."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ..readers.values import SCALE_BEHIND
from .parsed import execute

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

Query = tuple[str, dict[str, object]]


def own_name(name: str, query: str) -> str:
    """SQL for a rubric's name without its query's prefix: "tone" for "q1#tone"; the whole name if it has no prefix."""
    return f"""
        CASE WHEN starts_with({name}, {query}) AND length({name}) > length({query}) + 1
                  AND substr({name}, length({query}) + 1, 1) IN ('#', '/', ':', '_', '-', '.', '|', ' ')
             THEN substr({name}, length({query}) + 2) ELSE {name} END
    """


def criterion_key(text: str, own: str, rubric_id: str) -> str:
    """SQL for the key that rubrics of one criterion share: their text, else their own name.

    A bare number is a position and no name, so that such a rubric is its own criterion.
    """
    return rf"""
        CASE WHEN {text} IS NOT NULL THEN 'text ' || lower(trim(regexp_replace({text}, '\s+', ' ', 'g')))
             WHEN regexp_matches({own}, '^[0-9]+$') THEN 'rubric ' || {rubric_id} ELSE 'name ' || {own} END
    """


_LONGEST = 60  # most letters of a name; a longer text is a sentence, which may end with any two numbers


def scale_behind(name: str) -> str:
    """SQL for {lo, hi} of the scale at the end of a short name: ``Clarity (1-5)``, ``Tone [0 = rude, 10 = kind]``.

    lo is NULL if only the highest level is named: ``Style (out of 10)``, ``Style (/10)``. NULL for other names.
    """
    return f"""
        CASE WHEN right({name}, 1) IN (')', ']') AND length({name}) <= {_LONGEST}
                  AND regexp_matches({name}, '{SCALE_BEHIND}') THEN
             {{'lo': TRY_CAST(regexp_extract({name}, '{SCALE_BEHIND}', 1) AS INTEGER),
              'hi': regexp_extract({name}, '{SCALE_BEHIND}', 2)::INTEGER}} END
    """


# Every rubric with labels or a description, in canonical order, with its scale (docs/method.md §1): the scale in a
# table of rubrics, else the one at the end of its name if all labels are on it and some are neither 0 nor 1 (unlike
# verdicts on "Mentions the ages (0-12)"), else the extremes of the labels of its criterion over all queries. A
# criterion is identified by its text, else by its name without the query's prefix; a bare number is a position and no
# name. A scale without 0 begins at 1.
# Points that are already signed count as they are: if labels are negative points or 0, more of them is better.
# A rubric described without a query passes its description to the rubrics of that name. A name that several queries
# share is shown as query#name, so that rubric names are unique; with (2) at the end if another rubric has that name.
RUBRIC_FACTS = f"""
    labelled AS (
        SELECT rubric_id, lo, hi, n FROM label_extremes WHERE dataset_id = $dataset
    ),
    own_rubrics AS (FROM rubrics WHERE dataset_id = $dataset),
    named AS (
        SELECT r.*, q.name AS query, {own_name("r.name", "q.name")} AS own, l.rubric_id IS NOT NULL AS has_labels,
               lo, hi
        FROM own_rubrics r LEFT JOIN queries q USING (query_id) LEFT JOIN labelled l USING (rubric_id)
    ),
    listed AS (
        SELECT r.rubric_id, r.query_id, r.name, r.own, coalesce(r.query, 'all') AS query,
               coalesce(r.text, g.text) AS text,
               coalesce(r.scale_min, g.scale_min) AS given_min, coalesce(r.scale_max, g.scale_max) AS given_max,
               coalesce(r.pass_mark, g.pass_mark) AS given_mark,
               coalesce(r.weight, g.weight) AS weight, coalesce(r.dimension, g.dimension) AS dimension,
               coalesce(r.severity, g.severity) AS severity,
               coalesce(r.polarity, g.polarity) AS given_polarity,
               coalesce(r.tags, g.tags) AS tags, lo, hi
        FROM named r LEFT JOIN own_rubrics g ON g.name = r.name AND g.query_id IS NULL AND r.query_id IS NOT NULL
        WHERE has_labels
           OR (r.ingest_id IS NOT NULL
               AND (r.query_id IS NOT NULL
                    OR r.name NOT IN (SELECT name FROM own_rubrics WHERE query_id IS NOT NULL)))
    ),
    keyed AS MATERIALIZED (
        SELECT *, {criterion_key("text", "own", "rubric_id")} AS key, {scale_behind("own")} AS behind
        FROM listed
    ),
    keys AS (
        SELECT key, min(own) = max(own) AS one_own, min(text) AS first_text, min(rubric_id) AS criterion_id,
               min(least(lo, given_min)) AS lowest, max(greatest(hi, given_max)) AS highest,
               CASE WHEN min(given_mark) = max(given_mark) THEN min(given_mark) END AS mark,
               CASE WHEN min(behind) = max(behind) AND count(given_min) + count(given_max) = 0
                         AND coalesce(min(behind.lo), 0) <= coalesce(min(lo), 1)
                         AND min(behind.hi) >= coalesce(max(hi), 1) AND coalesce(min(behind.lo), 0) < min(behind.hi)
                         AND (coalesce(max(hi), 2) > 1 OR min(behind.hi) = 1) THEN min(behind) END AS own_scale
        FROM keyed GROUP BY key
    ),
    names AS (SELECT name, count(*) AS times FROM keyed GROUP BY name),
    owns AS (SELECT own, min(key) = max(key) AS one_key FROM keyed GROUP BY own),
    topped AS (
        SELECT *,
               CASE WHEN given_polarity IS NOT NULL THEN given_polarity
                    WHEN weight < 0 AND NOT coalesce(lowest < 0 AND highest <= 0, false) THEN -1 ELSE 1 END AS polarity,
               coalesce(given_max, own_scale.hi,
                        greatest(given_min + 1, CASE WHEN lowest = 0 AND highest = 0 THEN 1 ELSE highest END),
                        1) AS top,
               coalesce(given_min, own_scale.lo,
                        CASE WHEN lowest >= 1 AND top > 1 THEN CASE WHEN top > 12 THEN 0 ELSE 1 END
                             WHEN lowest < top THEN lowest ELSE top - 1 END) AS bottom
        FROM keyed JOIN keys USING (key)
    ),
    qualified AS (
        SELECT t.*, CASE WHEN times = 1 THEN name ELSE query || '#' || name END
                    || CASE WHEN times > 1 AND query || '#' || name IN (SELECT name FROM names) THEN ' (2)' ELSE '' END
                    AS rubric,
               one_key AND one_own AS own_is_one, top - bottom + 1 AS levels
        FROM topped t JOIN names USING (name) JOIN owns USING (own)
    ),
    facts AS (
        SELECT row_number() OVER (ORDER BY query, rubric, rubric_id) - 1 AS j, rubric_id, query_id, rubric, query, text,
               bottom AS scale_min, top AS scale_max, levels, weight, dimension, severity, polarity, tags,
               CASE WHEN own_is_one AND NOT starts_with(key, 'rubric ') THEN own ELSE coalesce(first_text, rubric) END
                   AS criterion, key, criterion_id,
               coalesce(given_mark, mark, CASE WHEN polarity < 0 THEN top - levels // 2 + 1
                                               ELSE bottom + levels // 2 END) AS pass_mark,
               coalesce(given_mark, mark) IS NOT NULL AS mark_given,
               given_min IS NOT NULL AND given_max IS NOT NULL AS given
        FROM qualified
    )
"""


_CRITERIA = """
    SELECT criterion_id, criterion, count(*) AS rubrics, count(DISTINCT query) AS queries,
           coalesce(sum(n), 0)::BIGINT AS labels, min(lo) AS lowest, max(hi) AS highest,
           min(scale_min) AS scale_min, max(scale_max) AS scale_max, max(levels) AS levels,
           min(polarity) AS polarity, min(pass_mark) AS pass_mark, bool_or(mark_given) AS mark_given,
           bool_and(given) AS given {more}
    FROM {facts} GROUP BY criterion_id, criterion
"""
_SHOWN = """
    SELECT criterion, rubrics, queries, labels, lowest, highest, scale_min, scale_max, levels, polarity, pass_mark,
           mark_given, {source} AS source
    FROM ({found}) ORDER BY labels DESC, criterion
"""


def criteria(dataset: int) -> Query:
    """A query with one row per criterion: its scale, the labels that it was inferred from, and its pass mark."""
    found = _CRITERIA.format(facts="facts LEFT JOIN labelled USING (rubric_id)", more="")
    source = "CASE WHEN given THEN 'given' ELSE 'inferred' END"
    return f"WITH {RUBRIC_FACTS} {_SHOWN.format(found=found, source=source)}", {"dataset": dataset}


_SCALE = """
    rubric_id, query, criterion, criterion_id, scale_min, scale_max, levels, polarity, pass_mark, mark_given, given
"""


_OF_LABELS = "SELECT rubric_id, lo, hi, n FROM label_extremes WHERE dataset_id = $dataset"
_OF_SUMS = "SELECT rubric_id, lo, hi, n FROM rubric_sums"
_FACTS = "SELECT * FROM ({scales}) LEFT JOIN ({labelled}) USING (rubric_id)"


def keep_facts(cursor: duckdb.DuckDBPyConnection, dataset: int, *, store: bool = False) -> None:
    """Create the temporary ``facts_now``: rubrics with their scale, and lo, hi and n of their labels.

    Stored scales are used if they are of the same state of the dataset. store: whether new scales are stored for later.
    Then the figures of the labels come from ``rubric_sums``, which the fingerprint created, and ``facts_now`` is a view
    of both, because the join is faster than writing its rows.
    """
    labelled, own = _OF_SUMS if store else _OF_LABELS, {"dataset": dataset}
    state = _state(cursor, dataset, labelled)
    stands = _stored_state(cursor, dataset) == state
    stored = f"SELECT {_SCALE} FROM rubric_scales WHERE dataset_id = {dataset:d}"
    if store:
        if not stands:
            execute(cursor, "DELETE FROM rubric_scales WHERE dataset_id = $dataset", own)
            execute(
                cursor,
                f"""
                INSERT INTO rubric_scales BY NAME
                WITH {RUBRIC_FACTS} SELECT $dataset AS dataset_id, $state AS state, {_SCALE} FROM facts
                """,
                own | {"state": state},
            )
        execute(
            cursor,
            f"CREATE OR REPLACE TEMP VIEW facts_now AS {_FACTS.format(scales=stored, labelled=labelled)}",
        )
        return
    names, scales = ("", stored) if stands else (f"WITH {RUBRIC_FACTS}", f"SELECT {_SCALE} FROM facts")
    facts = _FACTS.format(scales=scales, labelled=labelled)
    execute(cursor, f"CREATE OR REPLACE TEMP TABLE facts_now AS {names} {facts}", own)


def keep_criteria(cursor: duckdb.DuckDBPyConnection, more: str = "") -> None:
    """Create the temporary table ``criteria_now`` with the columns of ``criteria``, from ``facts_now``.

    more: further aggregates of ``facts_now`` and ``rubric_sums``, as SQL that begins with a comma.
    """
    facts = "facts_now LEFT JOIN (SELECT * EXCLUDE (n, lo, hi) FROM rubric_sums) USING (rubric_id)"
    found = _CRITERIA.format(facts=facts, more=more)
    execute(cursor, f"CREATE OR REPLACE TEMP TABLE criteria_now AS {found}")


def criteria_now(cursor: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """The result of ``criteria`` from ``criteria_now``; the column ``source`` is mapped here, faster than in DuckDB."""
    found = execute(cursor, _SHOWN.format(found="FROM criteria_now", source="given")).df()
    return found.assign(source=found["source"].map({True: "given", False: "inferred"}).astype("str"))


_STATE = """
    SELECT (SELECT (count(*), sum(hash(rubric_id, lo, hi)::HUGEINT)) FROM ({labelled})),
           (SELECT (count(*), sum(hash(rubric_id, q.name, r.name, r.text, scale_min, scale_max, weight, polarity,
                                       pass_mark, r.ingest_id IS NULL)::HUGEINT))
            FROM rubrics r LEFT JOIN queries q USING (query_id) WHERE r.dataset_id = $dataset)
"""
_METHOD = hashlib.md5(RUBRIC_FACTS.encode(), usedforsecurity=False).hexdigest()[:8]


def _state(cursor: duckdb.DuckDBPyConnection, dataset: int, labelled: str = _OF_LABELS) -> str:
    """A text that changes with everything that the scales of a dataset depend on. labelled: SELECT of lo, hi, n."""
    found = execute(cursor, _STATE.format(labelled=labelled), {"dataset": dataset}).fetchone()
    return f"{_METHOD} {found}"


def _stored_state(cursor: duckdb.DuckDBPyConnection, dataset: int) -> str | None:
    """The state for which scales are stored; None if none are."""
    found = execute(
        cursor, "SELECT state FROM rubric_scales WHERE dataset_id = ? LIMIT 1", [dataset]
    ).fetchone()
    return None if found is None else str(found[0])


def scales_stand(before: duckdb.DuckDBPyConnection, now: duckdb.DuckDBPyConnection, dataset: int) -> bool:
    """Whether the scales depend on the same state before and now. now: has just stored the scales.

    Every change of a dataset stores its scales, so that those stored in ``before`` are of the earlier state.
    """
    stored = _stored_state(before, dataset) or _state(before, dataset)
    return stored == _stored_state(now, dataset)


def named_as(dataset: int, criteria: list[str]) -> Query:
    """A query for (query, rubric), as files name them, of the rubrics of some criteria."""
    return (
        f"""
        WITH {RUBRIC_FACTS}
        SELECT q.name AS query, r.name AS rubric FROM facts f JOIN rubrics r USING (rubric_id)
        LEFT JOIN queries q ON q.query_id = r.query_id
        WHERE f.criterion IN (SELECT unnest($criteria::VARCHAR[])) ORDER BY ALL
        """,
        {"dataset": dataset, "criteria": criteria},
    )
