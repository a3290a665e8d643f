"""Checks of what a dataset's tables say of each other, and of labels that look mechanical."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pandas as pd

from ...text import count, short_name, some
from ..ingest.findings import SHOWN, Finding, Severity, select, warning
from ..ingest.parsed import execute
from ..readers import values
from ..readers.columns.specs import TASK_TYPES
from .constant_runs import find_runs


def _holds(cursor: duckdb.DuckDBPyConnection, dataset_id: int, table: str) -> bool:
    """Whether a table has rows of the dataset; of statements those of a file, and not scales that were given alone."""
    of_file = ' AND "row" > 0' if table.endswith("_statements") else ""
    found = execute(cursor, f"SELECT 1 FROM {table} WHERE dataset_id = ?{of_file} LIMIT 1", [dataset_id])
    return found.fetchone() is not None


def _unmatched_names(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> Iterator[Finding]:
    """Names that one table has and another, which should have them, lacks."""
    for code, title, text, table, sql in _UNMATCHED:
        if not _holds(cursor, dataset_id, table):
            continue
        found = select(cursor, sql, dataset_id)
        if len(found):
            named = found.iloc[:, -1]
            sentence = text.format(n=count(len(found), str(named.name)), names=some(named))
            severity: Severity = "note" if code.startswith("idle") else "warning"
            yield Finding(severity, code, title, sentence, len(found), found.head(SHOWN))


COPY_LABELS = 100  # labels of a system that may be a copy
COPY_RARER = (
    10  # of them, other than the most frequent one: where nearly all is a pass, equal systems are equal
)
_UNEVEN = 0.1  # of a system's cells, or of a run on each
_LABELLED = "SELECT rubric_id FROM facts_now WHERE n IS NOT NULL"
_WITH_LABELS = "SELECT system_id FROM labelled_systems WHERE dataset_id = $dataset"
_UNMATCHED = (  # code, title, sentence, the table without rows of which there is nothing to find, SELECT
    (
        "undescribed_rubric",
        "Rubrics missing from the table of rubrics",
        "Labels name {n} that the table of rubrics does not have: {names}. Are they misspelt?",
        "rubric_statements",
        f"""
        SELECT q.name AS query, r.name AS rubric FROM rubrics r LEFT JOIN queries q USING (query_id)
        WHERE r.dataset_id = $dataset AND r.ingest_id IS NULL AND r.rubric_id IN ({_LABELLED})
          AND r.name NOT IN (SELECT name FROM rubrics
                             WHERE dataset_id = $dataset AND query_id IS NULL AND ingest_id IS NOT NULL)
        ORDER BY ALL
        """,
    ),
    (
        "undescribed_query",
        "Queries missing from the table of queries",
        "Labels name {n} that the table of queries does not have: {names}. Are they misspelt?",
        "query_statements",
        f"""
        SELECT name AS query FROM queries WHERE dataset_id = $dataset AND ingest_id IS NULL
          AND query_id IN (SELECT query_id FROM rubrics WHERE rubric_id IN ({_LABELLED}))
        ORDER BY ALL
        """,
    ),
    (
        "unknown_system",
        "Systems without labels",
        "No judge labelled {n} that the files name: {names}. Are they misspelt?",
        "systems",
        f"""
        SELECT name AS system FROM systems WHERE dataset_id = $dataset AND system_id NOT IN ({_WITH_LABELS})
          AND EXISTS ({_LABELLED})
        ORDER BY ALL
        """,
    ),
    (
        "idle_rubric",
        "Rubrics without labels",
        "No judge applied {n} of the table of rubrics: {names}.",
        "rubric_statements",
        f"""
        SELECT q.name AS query, r.name AS rubric FROM rubrics r LEFT JOIN queries q USING (query_id)
        WHERE r.dataset_id = $dataset AND r.ingest_id IS NOT NULL AND r.rubric_id NOT IN ({_LABELLED})
          AND r.query_id IS NOT NULL AND EXISTS ({_LABELLED})
        ORDER BY ALL
        """,
    ),
)


def _repeated_texts(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> Iterator[Finding]:
    if not _holds(cursor, dataset_id, "rubric_statements"):
        return
    found = select(
        cursor,
        """
        SELECT q.name AS query, string_agg(r.name, ', ' ORDER BY r.name) AS rubrics, count(*) AS times,
               left(any_value(r.text), 200) AS text
        FROM rubrics r LEFT JOIN queries q USING (query_id)
        WHERE r.dataset_id = $dataset AND r.text IS NOT NULL GROUP BY q.name, lower(r.text) HAVING count(*) > 1
        ORDER BY ALL
        """,
        dataset_id,
    )
    if len(found):
        sentence = (
            f"{count(len(found), 'rubric text')} {'has' if len(found) == 1 else 'have'} several names in one query, "
            f"such as {found['rubrics'].iloc[0]} of {found['query'].iloc[0] or 'all'}: each name counts separately."
        )
        yield warning("repeated_text", "The same rubric twice", sentence, found)


def _shares(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> Iterator[Finding]:
    if not _holds(cursor, dataset_id, "query_statements"):
        return
    shares = [f"p_{name}" for name in TASK_TYPES]
    found = select(
        cursor,
        f"""
        SELECT name AS query, {", ".join(shares)}, {" + ".join(shares)} AS total FROM queries
        WHERE dataset_id = $dataset AND abs(total - 1) > 0.01 ORDER BY name
        """,
        dataset_id,
    )
    if len(found):
        sentence = (
            f"The probabilities of the task types do not sum to 1 for {count(len(found), 'query')}, such as "
            f"{found['query'].iloc[0]} ({found['total'].iloc[0]:.3g})."
        )
        yield warning("shares", "Probabilities that do not sum to 1", sentence, found)


def _alike(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> Iterator[Finding]:
    """Names of systems, judges, queries or rubrics that are one but for case, encoding, spaces, hyphens, underscores.

    Or but for characters that nobody sees, or the form of a number: 1, 1.0 and 001. A rubric's name is compared within
    its query.
    """
    every = " UNION ALL ".join(
        f"SELECT '{what}' AS what, name, {query} AS query_id FROM {table} WHERE dataset_id = $dataset"
        for what, table, query in (
            ("system", "systems", "NULL"),
            ("judge", "judges", "NULL"),
            ("query", "queries", "NULL"),
            ("rubric", "rubrics", "query_id"),
        )
    )
    seen = "regexp_replace(nfc_normalize(name), '\\p{Cf}+', '', 'g')"
    # Names of ASCII alone (as many letters as bytes) need none of Unicode's classes, which take three times as long.
    spaced = f"""
        CASE WHEN length(name) = strlen(name) THEN regexp_replace(name, '[\\s_-]+', ' ', 'g')
             ELSE regexp_replace({seen}, '[\\s\\p{{Z}}\\p{{Pd}}_]+', ' ', 'g') END
    """
    sql = f"""
        SELECT what, array_to_string(list_sort(list(name)), ', ') AS names, count(*) AS times FROM ({every})
        GROUP BY what, query_id, regexp_replace(lower(rtrim({spaced})), '^0*(\\d+)(\\.0+)?$', '\\1')
        HAVING count(*) > 1 ORDER BY ALL
    """
    found = select(cursor, sql, dataset_id)
    if len(found):
        verb = "is" if len(found) == 1 else "are"
        sentence = (
            f"{count(len(found), 'name')} of a system, judge, query or rubric {verb} written in several ways, such as "
            f"{_with_codes(found['names'].iloc[0])}: each spelling counts separately. If they mean the same, use one "
            "spelling and ingest again."
        )
        yield warning("alike", "Names written in several ways", sentence, found)


def _with_codes(text: str) -> str:
    """A text with the codes of the characters in it that nobody sees."""
    return "".join(c if c.isprintable() else f"<U+{ord(c):04X}>" for c in text)


def _disarmed(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> Iterator[Finding]:
    every = " UNION ".join(
        f"SELECT '{table}' AS what, name FROM {table} WHERE dataset_id = $dataset"
        for table in ("systems", "judges", "queries", "rubrics")
    )
    sql = f"FROM ({every}) WHERE regexp_matches(name, '{values.GUARDED}') ORDER BY ALL"
    found = select(cursor, sql, dataset_id)
    if len(found):
        sentence = (
            f"{count(len(found), 'name begins', 'names begin')} with an apostrophe before a formula sign, such as "
            f"{found['name'].iloc[0]}: spreadsheets and safe exports put it there (apostrophes = strip removes it)."
        )
        yield warning("disarmed", "Apostrophes before names", sentence, found)


def _runs(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> Iterator[Finding]:
    found = find_runs(cursor, dataset_id)
    if len(found):
        first = found.iloc[0]
        sentence = (
            f"{first['judge']} gives the label {first['label']} to {first['labels']:,} cells in succession "
            f"({first['where']}), on which {first['others_differ']:.0%} of the other judges' labels differ"
            + (f" ({first['elsewhere']:.0%} elsewhere)" if pd.notna(first["elsewhere"]) else "")
            + (f", and {count(len(found) - 1, 'more such run')}" if len(found) > 1 else "")
            + ": its answers may have been misread."
        )
        yield warning("constant_run", "Suspicious constants", sentence, found)


def _uneven_runs(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> Iterator[Finding]:
    """Systems with different numbers of runs: what several labels of a cell make differs on average from one label."""
    if not _holds(cursor, dataset_id, "runs"):
        return
    found = select(
        cursor,
        """
        WITH own AS (SELECT * FROM labels WHERE dataset_id = $dataset AND label IS NOT NULL),
        cells AS (SELECT system_id, count(*) AS n FROM own GROUP BY system_id, judge_id, rubric_id)
        SELECT name AS system, avg(n) AS runs,
            CASE WHEN (SELECT count(DISTINCT label) FROM own) > 2 THEN avg((n % 2 = 0)::INT) ELSE 0 END AS even
        FROM cells JOIN systems USING (system_id)
        GROUP BY name ORDER BY even DESC, system
        """,
        dataset_id,
    )
    if found.empty:
        return
    most, least = found.iloc[0], found.iloc[-1]
    allowed = "the robust method's intervals and tiers allow for that. Give all systems equally many runs."
    sentence = ""
    if most["even"] - least["even"] > _UNEVEN:
        sentence = (
            f"{most['system']} has an even number of runs on {most['even']:.0%} of its cells, {least['system']} on "
            f"{least['even']:.0%}. If the number of ordered labels is even, the lower of the two middle labels counts, "
            f"so {most['system']} looks worse; {allowed}"
        )
    elif found["runs"].max() - found["runs"].min() > _UNEVEN:
        found = found.sort_values(["runs", "system"], ascending=[False, True], ignore_index=True)
        most, least = found.iloc[0], found.iloc[-1]
        sentence = (
            f"{most['system']} has {most['runs']:.1f} runs of a judge on a cell, {least['system']} has "
            f"{least['runs']:.1f}. The consensus of several runs differs on average from a single run, so equal "
            f"systems may look different; {allowed}"
        )
    if sentence:
        yield warning("uneven_runs", "Systems with different numbers of runs", sentence, found)


_AS_MANY = """
    WITH counted AS (SELECT system_id, judge_id, label, sum(n) AS n FROM system_tallies
                     WHERE dataset_id = $dataset AND label IS NOT NULL GROUP BY ALL),
    summed AS (SELECT system_id, sum(n) AS labels, sum(hash(judge_id, label, n)) AS content
               FROM counted GROUP BY system_id HAVING labels >= $fewest)
    SELECT system_id FROM summed QUALIFY count(*) OVER (PARTITION BY labels, content) > 1
"""
_SAME = """
    WITH own AS (FROM labels WHERE dataset_id = $dataset AND label IS NOT NULL
                 AND system_id IN (SELECT unnest($likely::INTEGER[]))),
    summed AS (SELECT system_id, count(*) AS labels, sum(hash(rubric_id, judge_id, label)) AS content
               FROM own GROUP BY system_id),
    alike AS (SELECT labels, content, min(system_id) AS first, count(*) AS times,
                     array_to_string(list_sort(list(name)), ', ') AS systems
              FROM summed JOIN systems USING (system_id) GROUP BY labels, content HAVING count(*) > 1),
    usual AS (SELECT system_id, max(n) AS n FROM (SELECT system_id, count(*) AS n FROM own
              WHERE system_id IN (SELECT first FROM alike) GROUP BY system_id, label) GROUP BY system_id)
    SELECT systems, times, labels FROM alike JOIN usual ON system_id = first WHERE labels - n >= $rarer ORDER BY ALL
"""


def _copies(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> Iterator[Finding]:
    """Systems of which every label is the same: one answered for the other, or its rows were written twice.

    Labels are read of systems alone that have equally many of each value from each judge, as the tallies say.
    """
    likely = select(cursor, _AS_MANY, dataset_id, fewest=COPY_LABELS)["system_id"].tolist()
    found = select(cursor, _SAME, dataset_id, likely=likely, rarer=COPY_RARER) if likely else pd.DataFrame()
    if len(found):
        first, of = found.iloc[0], found["times"].sum()
        groups = "" if len(found) == 1 else f" in {len(found):,} groups"
        sentence = (
            f"{of:,} systems{groups} have the same labels as another, such as {short_name(first['systems'], 120)} on "
            f"all {first['labels']:,}. If one is a copy of another, they are one system, which the leaderboard lists "
            "several times. Rubrics are fitted without all of these systems to place any of them."
        )
        yield warning("copies", "Systems with the same labels", sentence, found)


CHECKS = (_runs, _uneven_runs, _copies, _unmatched_names, _repeated_texts, _alike, _shares, _disarmed)
