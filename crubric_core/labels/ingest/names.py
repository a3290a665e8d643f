"""Map names to ids: each distinct name of the file is looked up once, and new names get the next ids.

The temporary tables map the file's raw text to (name, id). Nothing is written to the workspace before
``keep_names`` receives the ids that the accepted rows use.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Collection, Sequence

import pandas as pd

from ..readers import values
from ..readers.columns.label_names import CERTAINTIES, SPENT
from ..readers.policies import folded
from ..readers.sums import LONGEST, MAY_SUM, MAY_TOTAL, is_total, may_total, sums_among
from ..readers.wide.questions import CALLED_OVERALL, called_overall, one_more_rubric
from .findings import Finding
from .job import Job

_SAID_OF_LABELS = {CERTAINTIES: "it says how sure a label is", SPENT: "it is the time or cost of an answer"}
_TABLES = {"system": "systems", "judge": "judges", "annotator": "judges", "run": "runs"}


def _id(id_column: str, table: str) -> str:
    """SQL over ``stored`` and ``rank`` for the id of a name: the stored id, else a new one by the name's rank."""
    return f"CAST(coalesce(stored, (SELECT coalesce(max({id_column}), 0) FROM {table}) + rank) AS INTEGER)"


def _ranked(names: str, *key: str) -> str:
    """SELECT of the new names of a relation with their ``rank``; the last column of ``key`` is the name."""
    columns = ", ".join(key)
    return f"""
        SELECT {columns}, row_number() OVER (ORDER BY {columns}) AS rank
        FROM (SELECT DISTINCT {columns} FROM {names} WHERE stored IS NULL AND {key[-1]} IS NOT NULL)
    """


def look_up_names(job: Job, column: str) -> None:
    """Create ``{column}_names(raw, name, id, is_new)`` for a column of systems, judges, annotators or runs."""
    table = _TABLES[column]
    id_column = f"{table[:-1]}_id"
    job.run(f"""
        CREATE TEMP TABLE {column}_names AS
        WITH named AS (
            SELECT raw, {values.name("raw")} AS name FROM (SELECT DISTINCT "{column}" AS raw FROM incoming)
        ), stored AS (
            SELECT name, {id_column} AS stored FROM {table} WHERE dataset_id = $dataset
        ), met AS (FROM named LEFT JOIN stored USING (name)),
        ranked AS ({_ranked("met", "name")})
        SELECT raw, name, {_id(id_column, table)} AS id, stored IS NULL AS is_new
        FROM met LEFT JOIN ranked USING (name)
    """)


def leave_out_sums(job: Job) -> None:
    """Move rows that sum up others, or hold certainty, time or cost, to ``rejected`` before labels are interpreted.

    Their system, judge, query or rubric is none, and a mean of 3.2 would distort a scale in whole numbers. If all rows
    of a file are such, they are kept.
    """
    # One query for each column: DuckDB then examines each distinct name once, not each row.
    totals: list[str] = []
    for column in sorted({"system", "query", "rubric", "judge", "annotator"} & job.columns):
        kinds = _SAID_OF_LABELS if column == "rubric" else {}
        found, others, may_be_totals = job.one(
            f"""
            SELECT coalesce(list(raw) FILTER (may_sum OR list_contains($words, lower(name))), []),
                   count(*) FILTER (NOT may_sum AND NOT regexp_matches(name, '[0-9]')),
                   coalesce(list(raw) FILTER (length(raw) <= {LONGEST} AND regexp_matches(lower(raw), $totals)), [])
            FROM (
                SELECT raw, {values.name("raw")} AS name,
                       length(raw) <= {LONGEST} AND regexp_matches(lower(raw), $pattern) AS may_sum
                FROM (SELECT DISTINCT {column} AS raw FROM incoming)
            )
            """,
            pattern=MAY_SUM,
            totals=f"{MAY_TOTAL}|{CALLED_OVERALL}",
            words=sorted(frozenset().union(*kinds)),
        )
        totals = may_be_totals if column == "rubric" else totals
        if found:
            sums = sums_among(found, column, numbered=not others)
            _leave_out(job, column, sorted(sums), "it sums up other rows")
        for words, why in kinds.items():
            _leave_out(job, column, sorted(raw for raw in found if folded(raw) in words), why)
    if not _are_columns(job):
        _leave_out_totals(job, sorted(name for name in totals if may_total(name) or called_overall(name)))


def _are_columns(job: Job) -> bool:
    """Whether rubrics are columns of a wide table: the reader has already left out those that sum up others."""
    return ", " in job.headers.get("rubric", "")


_LEAST = 4  # answers that are needed to show that a rubric sums up the others
_MOST_NAMED = 2  # possible totals that are reported; if there are more, they are names of criteria
_LEAST_ROUNDED = 8  # the same for means in whole numbers, which agree by chance more easily


def _leave_out_totals(job: Job, totals: Sequence[str]) -> None:
    """Reject the rows of rubrics whose names may mean a total and whose labels sum up each answer's other rows.

    If every answer has such a rubric, some names are sufficient without sums or means; for others, a note is added.
    totals: the names that may mean a total.
    """
    kept = []
    for name in totals:
        rest = [other for other in totals if other != name and is_total(other)]
        what, everywhere = _what_totals(job, name, rest)
        if what:
            _leave_out(job, "rubric", [name], what)
        elif everywhere and called_overall(name):
            kept.append(name)
    for name in kept if len(kept) <= _MOST_NAMED else ():
        job.findings.append(
            Finding(
                "note",
                "may_be_total",
                "A rubric may sum up the others",
                f"{one_more_rubric(name)}, leave it out of the file.",
                1,
                pd.DataFrame({"rubric": [name]}),
            )
        )


def _what_totals(job: Job, name: str, others: Collection[str]) -> tuple[str, bool]:
    """(how a rubric sums up the others, or ""; whether every answer has it beside several others).

    others: other rubrics that are totals and do not count as parts.
    """
    keys = ", ".join(sorted({"system", "query", "judge", "annotator", "run"} & job.columns))
    part = "rubric <> $name AND NOT list_contains($others, rubric)"
    known, summed, mean, rounded, telling, levels, above, everywhere = job.one(
        f"""
        WITH cells AS (SELECT {keys}, rubric, {values.number("label")} AS x FROM incoming),
        about AS (
            SELECT max(x) FILTER (rubric = $name) AS own, count(*) FILTER (rubric = $name) AS times,
                   sum(x) FILTER ({part}) AS total, avg(x) FILTER ({part}) AS mean, max(x) FILTER ({part}) AS most,
                   min(x) FILTER ({part}) AS least, count(x) FILTER ({part}) AS parts, count(*) FILTER ({part}) AS n
            FROM cells GROUP BY {keys}
        ), whole AS (SELECT * FROM about WHERE times = 1 AND own IS NOT NULL AND parts = n AND parts > 1)
        SELECT count(*), coalesce(bool_and(abs(own - total) <= 0.0051), false),
               coalesce(bool_and(abs(own - mean) <= 0.0051 OR abs(own - round(mean, 1)) < 1e-9), false),
               coalesce(bool_and(own = floor(mean + 0.5) OR own = round_even(mean, 0)), false),
               count(*) FILTER (most > least), count(DISTINCT own), coalesce(max(own) > max(most), false),
               (SELECT coalesce(bool_and(times = 1 AND n > 1), false) FROM about)
        FROM whole
        """,
        name=name,
        others=list(others),
    )
    if known >= _LEAST and summed and levels > 1 and above:
        return "it is the sum of the other rows about the same", everywhere
    if levels > 1 and (
        (mean and telling >= _LEAST) or (rounded and levels > 2 and telling >= _LEAST_ROUNDED)
    ):
        return "it is the mean of the other rows about the same", everywhere
    return "it sums up other rows" if everywhere and is_total(name) else "", everywhere


def _leave_out(job: Job, column: str, names: Collection[str], why: str) -> None:
    """Move the rows with these names from ``incoming`` to ``rejected``, unless all rows have them."""
    found = f"list_contains($names, i.{column})"
    if (
        not names
        or not job.one(f"SELECT bool_or(NOT coalesce({found}, false)) FROM incoming i", names=names)[0]
    ):
        return
    place = f"coalesce(' (' || {job.place_sql} || ')', '')" if job.place_sql else "''"
    job.run(
        f"""
        INSERT INTO rejected
        SELECT {job.row_sql}, '{column}', i.{column}, '{why}, and is no {column}: rename it if it is one' || {place}
        FROM incoming i WHERE {found}
        """,
        names=names,
    )
    job.run(f"DELETE FROM incoming i WHERE {found}", names=names)


def stand_in(job: Job, column: str) -> None:
    """Add a column that a kind of table lacks to ``incoming``, with ``{column}_names`` of one name: "" with id 0."""
    job.run(f'ALTER TABLE incoming ADD COLUMN "{column}" VARCHAR')
    job.run(
        f"CREATE TEMP TABLE {column}_names AS SELECT NULL::VARCHAR AS raw, '' AS name, 0 AS id, false AS is_new"
    )


def keep_names(job: Job, column: str, used: str) -> None:
    """Insert the new names whose ids are in ``used``, SQL with a column ``id``, into the table of the column."""
    job.run(f"""
        INSERT INTO {_TABLES[column]}
        SELECT DISTINCT id, $dataset, name FROM {column}_names WHERE is_new AND id IN ({used})
    """)


def look_up_queries(job: Job, pairs: str) -> None:
    """Create ``query_names(name, id, is_new)`` for the distinct ``query`` of the relation ``pairs``."""
    job.run(f"""
        CREATE TEMP TABLE query_names AS
        WITH named AS (SELECT DISTINCT query AS name FROM {pairs} WHERE query IS NOT NULL),
        stored AS (SELECT name, query_id AS stored FROM queries WHERE dataset_id = $dataset),
        met AS (FROM named LEFT JOIN stored USING (name)),
        ranked AS ({_ranked("met", "name")})
        SELECT name, {_id("query_id", "queries")} AS id, stored IS NULL AS is_new
        FROM met LEFT JOIN ranked USING (name)
    """)


def look_up_rubrics(job: Job, *, borrow_query: bool) -> None:
    """Create ``rubric_names(query_raw, rubric_raw, query, rubric, ambiguous, id, query_id, is_new, lo, hi, text)``.

    A rubric is one (query, name). With ``borrow_query`` a row without a query takes that of the only rubric
    of its name, in the file or stored; if several have the name it is ambiguous. ``lo``, ``hi`` and ``text`` are
    the scale and the text that the stored rubric, or the description of its name for every query, was given.
    """
    job.run(f"""
        CREATE TEMP TABLE rubric_pairs AS
        SELECT query_raw, rubric_raw, {values.name("query_raw")} AS query, {values.name("rubric_raw")} AS rubric,
               false AS ambiguous
        FROM (SELECT DISTINCT query AS query_raw, rubric AS rubric_raw FROM incoming)
    """)
    if borrow_query and job.one("SELECT count(*) FROM rubric_pairs WHERE query IS NULL")[0]:
        job.run("""
            UPDATE rubric_pairs SET query = s.sole, ambiguous = s.several FROM (
                SELECT rubric, min(query) AS sole, count(DISTINCT query) > 1 AS several FROM (
                    SELECT query, rubric FROM rubric_pairs WHERE query IS NOT NULL
                    UNION ALL
                    SELECT q.name, r.name FROM rubrics r JOIN queries q USING (query_id) WHERE r.dataset_id = $dataset
                ) GROUP BY rubric
            ) s WHERE rubric_pairs.query IS NULL AND s.rubric = rubric_pairs.rubric
        """)
    look_up_queries(job, "rubric_pairs")
    job.run(f"""
        CREATE TEMP TABLE rubric_names AS
        WITH stored AS (
            SELECT q.name AS query, r.name AS rubric, r.rubric_id AS stored, r.scale_min, r.scale_max, r.text
            FROM rubrics r LEFT JOIN queries q USING (query_id) WHERE r.dataset_id = $dataset
        ), met AS (
            SELECT p.*, s.stored, s.scale_min, s.scale_max, s.text
            FROM rubric_pairs p LEFT JOIN stored s ON s.rubric = p.rubric AND s.query IS NOT DISTINCT FROM p.query
        ), ranked AS ({_ranked("met", "query", "rubric")})
        SELECT m.query_raw, m.rubric_raw, m.query, m.rubric, m.ambiguous, {_id("rubric_id", "rubrics")} AS id,
               n.id AS query_id, stored IS NULL AS is_new,
               coalesce(m.scale_min, t.scale_min) AS lo, coalesce(m.scale_max, t.scale_max) AS hi,
               coalesce(m.text, t.text) AS text
        FROM met m
        LEFT JOIN ranked k ON k.rubric = m.rubric AND k.query IS NOT DISTINCT FROM m.query
        LEFT JOIN (SELECT * EXCLUDE (stored) FROM stored WHERE query IS NULL) t ON t.rubric = m.rubric
        LEFT JOIN query_names n ON n.name = m.query
    """)


def keep_rubrics(job: Job, used: str) -> None:
    """Insert the new rubrics whose ids are in ``used`` (SQL with a column ``id``), and their new queries."""
    job.run(f"""
        CREATE TEMP TABLE rubrics_used AS
        SELECT DISTINCT id, query_id, rubric FROM rubric_names WHERE is_new AND id IN ({used})
    """)
    keep_queries(job, "SELECT query_id AS id FROM rubrics_used")
    job.run("""
        INSERT INTO rubrics (rubric_id, dataset_id, query_id, name)
        SELECT id, $dataset, query_id, rubric FROM rubrics_used
    """)


def keep_queries(job: Job, used: str) -> None:
    """Insert the new queries whose ids are in ``used`` (SQL with a column ``id``)."""
    job.run(f"""
        INSERT INTO queries (query_id, dataset_id, name)
        SELECT id, $dataset, name FROM query_names WHERE is_new AND id IN ({used})
    """)
