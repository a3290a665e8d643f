"""Scales of the criteria in a file of labels: apply those that the user gives, and find numbers that are no levels."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from ...errors import UnknownCriterionError
from ...text import count, listed
from ..readers import values
from ..readers.policies import Policies
from ..readers.values import shortened
from .findings import Finding, warning
from .job import Job
from .parsed import execute
from .rubric_facts import criterion_key, own_name
from .statements import fold
from .strays import alone, candidates, find_strays, why

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")
_EVERY = "*"


def find_criteria(job: Job) -> None:
    """Create ``criterion_keys(id, key, criterion, rubric, own, text)`` for the rubrics of the file."""
    job.run(f"""
        CREATE OR REPLACE TEMP TABLE criterion_keys AS
        SELECT id, {criterion_key("text", "own", "id")} AS key, coalesce(text, own) AS criterion, rubric, own, text
        FROM (
            SELECT DISTINCT id, rubric, text, {own_name("rubric", "query")} AS own
            FROM rubric_names WHERE id IS NOT NULL
        )
    """)


def apply_given(job: Job) -> None:
    """Write the scales of the policies to ``lo`` and ``hi`` of ``rubric_names``."""
    if job.policies.scales:
        find_criteria(job)
    for name, (low, high) in _from_all_to_one(job.policies.scales):
        job.run(
            f"""
            UPDATE rubric_names SET lo = coalesce($low::INTEGER, lo), hi = coalesce($high::INTEGER, hi)
            WHERE id IN (SELECT id FROM criterion_keys WHERE {_NAMED})
            """,
            low=low,
            high=high,
            name=name,
        )


def _from_all_to_one(given: Mapping[str, T]) -> list[tuple[str, T]]:
    """The items of a mapping with "*" (every criterion) first, so that those of single criteria override it."""
    return sorted(given.items(), key=lambda said: said[0] != _EVERY)


_NAMED = f"$name = '{_EVERY}' OR lower($name) IN (lower(rubric), lower(own), lower(text))"


def keep_given(job: Job) -> None:
    """Add scales, pass marks and polarity of the policies to ``rubric_statements`` for the rubrics of this file.

    Also updates ``rubrics``, and creates ``given_scales``.
    """
    given = job.policies
    if not (given.scales or given.pass_marks or given.polarity):
        return
    find_criteria(job)
    job.run("""
        CREATE TEMP TABLE given_scales (
            place INTEGER, id INTEGER, low INTEGER, high INTEGER, mark INTEGER, sign INTEGER
        )
    """)
    said: list[tuple[str, int | None, int | None, int | None, int | None]] = [
        *((name, low, high, None, None) for name, (low, high) in _from_all_to_one(given.scales)),
        *((name, None, None, mark, None) for name, mark in _from_all_to_one(given.pass_marks)),
        *((name, None, None, None, sign) for name, sign in _from_all_to_one(given.polarity)),
    ]
    for place, (name, low, high, mark, sign) in enumerate(said):
        job.run(
            f"""
            INSERT INTO given_scales SELECT $place, id, $low, $high, $mark, $sign FROM criterion_keys WHERE {_NAMED}
            """,
            **{"place": place, "name": name, "low": low, "high": high, "mark": mark, "sign": sign},
        )
    last = ", ".join(f"max_by({c}, place) FILTER ({c} IS NOT NULL)" for c in ("low", "high", "mark", "sign"))
    job.run(f"""
        INSERT INTO rubric_statements
            (dataset_id, rubric_id, scale_min, scale_max, pass_mark, polarity, ingest_id, "row")
        SELECT $dataset, id, {last}, $ingest, 0 FROM given_scales
        WHERE id IN (SELECT rubric_id FROM rubrics WHERE dataset_id = $dataset) GROUP BY id
    """)
    fold(job.cursor, "rubrics", job.dataset_id, "SELECT DISTINCT id FROM given_scales")


def refuse_unknown(job: Job, given: Policies) -> None:
    """Raise UnknownCriterionError if the policies name a criterion that neither the file nor the dataset has."""
    if not (named := _named_in(given)):
        return
    find_criteria(job)
    known = (
        "SELECT rubric, own, text, criterion FROM criterion_keys"
        f" UNION ALL SELECT rubric, own, text, criterion FROM ({_stored('$dataset')})"
    )
    for name in named:
        if not job.all(f"SELECT 1 FROM ({known}) WHERE {_NAMED} LIMIT 1", name=name):
            some = job.all("SELECT DISTINCT criterion FROM criterion_keys ORDER BY criterion LIMIT 5")
            raise _unknown(job.source, name, some)


def refuse_unknown_of_all(cursor: duckdb.DuckDBPyConnection, dataset: str, given: Policies) -> None:
    """Raise UnknownCriterionError if the policies name a criterion that the dataset lacks after the whole ingest."""
    stored = _stored("(SELECT dataset_id FROM datasets WHERE name = $dataset)")
    for name in _named_in(given):
        asked = {"dataset": dataset, "name": name}
        if not execute(cursor, f"SELECT 1 FROM ({stored}) WHERE {_NAMED} LIMIT 1", asked).fetchall():
            some = execute(
                cursor, f"SELECT DISTINCT rubric FROM ({stored}) ORDER BY 1 LIMIT 5", {"dataset": dataset}
            ).fetchall()
            raise _unknown(f"The dataset {dataset!r}", name, some)


def not_taken(cursor: duckdb.DuckDBPyConnection, dataset: str, given: Policies) -> tuple[Finding, ...]:
    """A warning about policies for single criteria from which the stored values differ after the ingest; else ()."""
    said: list[tuple[str, str, Mapping[str, int | None]]] = [
        *(
            ("scale", name, {"scale_min": ends[0], "scale_max": ends[1]})
            for name, ends in given.scales.items()
        ),
        *(("pass mark", name, {"pass_mark": mark}) for name, mark in given.pass_marks.items()),
        *(("polarity", name, {"polarity": sign}) for name, sign in given.polarity.items()),
    ]
    stored = _stored("(SELECT dataset_id FROM datasets WHERE name = $dataset)")
    found = []
    for what, name, facts in said:
        asked = {column: value for column, value in facts.items() if value is not None}
        if name == _EVERY or not asked:
            continue
        other = " OR ".join(f"{column} IS DISTINCT FROM ${column}" for column in asked)
        sql = f"SELECT 1 FROM ({stored}) WHERE ({_NAMED}) AND ({other}) LIMIT 1"
        if execute(cursor, sql, {"dataset": dataset, "name": name, **asked}).fetchall():
            found.append(f"{what} of {shortened(name)!r}")
    if not found:
        return ()
    sentence = (
        f"Not taken: {listed(found)}, because the dataset already has other values. Change these on the Data page, "
        "or with crubric scales."
    )
    title = "Scales, marks or polarities that were not taken"
    return (warning("not_taken", title, sentence, pd.DataFrame({"said": found})),)


def _named_in(given: Policies) -> list[str]:
    return [
        name for said in (given.scales, given.pass_marks, given.polarity) for name in said if name != _EVERY
    ]


def _stored(dataset: str) -> str:
    """SQL for the rubrics of a dataset with the names of their criteria (rubric, own, text) and their scales.

    dataset: SQL for its id.
    """
    return f"""
        SELECT r.name AS rubric, {own_name("r.name", "q.name")} AS own, r.text AS text, NULL AS criterion,
               scale_min, scale_max, pass_mark, polarity
        FROM rubrics r LEFT JOIN queries q USING (query_id) WHERE r.dataset_id = {dataset}
    """


def _unknown(where: str, name: str, some: Sequence[tuple[Any, ...]]) -> UnknownCriterionError:
    return UnknownCriterionError(
        f"{where} has no criterion {name!r} to give a scale, a pass mark or a polarity: it has "
        f"{', '.join(repr(values.shortened(str(c))) for (c,) in some)}."
    )


def find_exceptions(job: Job) -> bool:
    """Create ``strays(rubric_id, value, reason)`` and the column ``rubric_names.seen_hi`` (highest numbers).

    If words form a scale of more levels, only numbers of this file count, because yes may be a level of the stored
    labels. Return False, and create neither, if the distinct values show that no row can be an exception.
    """
    found = job.all(
        "SELECT is_word, value, sum(n) FROM label_values"
        " WHERE is_word OR (value IS NOT NULL AND problem IS NULL) GROUP BY ALL"
    )
    counts: dict[int, int] = defaultdict(int)
    for _, value, n in found:
        if value is not None:
            counts[int(value)] += int(n)
    numbers = {int(value) for is_word, value, _ in found if not is_word}
    suspects = candidates(counts) & numbers if len(counts) > 1 else frozenset[int]()
    words = any(is_word for is_word, _, _ in found)
    if not suspects and not words:
        return False
    find_criteria(job)
    _keep_values(job)
    _warn_of_strays(job, suspects, sum(counts.values()))
    _keep_tops(job)
    return True


def _keep_values(job: Job) -> None:
    """Create ``criterion_values(key, value, n, tops)``: how often each criterion has each label, in file and dataset.

    tops: whether the label occurs as a number of the scale, not only as a word.
    """
    job.run(
        f"""
        CREATE TEMP TABLE criterion_values AS
        SELECT key, value::INTEGER AS value, sum(n)::BIGINT AS n, bool_or(tops) AS tops FROM (
            SELECT k.key, l.value, count(*) AS n, NOT l.is_word AND NOT ($graded AND l.answered) AS tops
            FROM incoming i JOIN label_values l ON l.raw IS NOT DISTINCT FROM i.label
            JOIN rubric_names r ON r.rubric_raw IS NOT DISTINCT FROM i.rubric
                               AND r.query_raw IS NOT DISTINCT FROM i.query
            JOIN criterion_keys k ON k.id = r.id
            WHERE l.value IS NOT NULL AND l.problem IS NULL
              AND coalesce(l.value BETWEEN r.lo AND r.hi, true) GROUP BY ALL
            UNION ALL
            SELECT k.key, t.label, count(*), NOT $graded FROM {job.kind} t JOIN criterion_keys k ON k.id = t.rubric_id
            WHERE t.dataset_id = $dataset AND t.label IS NOT NULL GROUP BY ALL
        ) GROUP BY key, value
    """,
        graded=job.graded,
    )


def _keep_tops(job: Job) -> None:
    """Set ``rubric_names.seen_hi`` to the highest number of each criterion that is no stray.

    For gold labels, the highest label of the judges counts, too.
    """
    job.run("ALTER TABLE rubric_names ADD COLUMN seen_hi INTEGER")
    of_judges = "SELECT rubric_id AS id, max(highest) AS top FROM label_tallies WHERE dataset_id = $dataset GROUP BY id"
    job.run(
        f"""
        UPDATE rubric_names SET seen_hi = s.top FROM (
            WITH tops AS (
                SELECT k.key, v.value AS top FROM criterion_values v JOIN criterion_keys k USING (key)
                ANTI JOIN strays t ON t.rubric_id = k.id AND t.value = v.value WHERE v.tops
                UNION ALL SELECT key, top FROM ({of_judges}) JOIN criterion_keys USING (id) WHERE $gold
            )
            SELECT k.id, max(top) AS top FROM tops JOIN criterion_keys k USING (key) GROUP BY k.id
        ) s WHERE s.id = rubric_names.id
    """,
        gold=job.kind == "gold" and not job.graded,
    )


def _warn_of_strays(job: Job, suspects: frozenset[int], everywhere: int) -> None:
    """Create ``strays`` for the criteria without a given scale, and add a warning about lone numbers.

    suspects: numbers that may be strays. everywhere: number of labels in the file.
    """
    job.run("CREATE TEMP TABLE strays (rubric_id INTEGER, value INTEGER, reason VARCHAR)")
    found = job.all(
        """
        SELECT key, value, n FROM criterion_values WHERE key IN (
            SELECT key FROM criterion_values JOIN criterion_keys USING (key) JOIN rubric_names USING (id)
            WHERE value IN (SELECT unnest($suspects::INTEGER[])) AND (lo IS NULL OR hi IS NULL)
        )
        """,
        suspects=sorted(suspects),
    )
    by_key: dict[str, dict[int, int]] = defaultdict(dict)
    for key, value, n in found:
        by_key[key][value] = n
    points: dict[str, set[int]] = defaultdict(set)  # a label that equals its rubric's weight is no code
    for key, weight in job.all("""
        SELECT DISTINCT key, weight FROM criterion_keys k JOIN rubrics r ON r.rubric_id = k.id
        WHERE r.dataset_id = $dataset AND weight = round(weight)
    """):
        points[key].add(int(weight))
    rows, lone = [], []
    for key, counts in by_key.items():
        name = _called(job, key)
        strays = find_strays(counts, suspects - points[key], everywhere)
        for value, (low, high) in strays.items():
            rows.append((key, value, why(value, counts[value], sum(counts.values()), low, high, name)))
        kept = {value: n for value, n in counts.items() if value not in strays}
        if not re.search(values.SCALE_BEHIND, name):
            found_alone = alone(kept, suspects - points[key], everywhere)
            lone += [
                (name, v, kept[v], sum(kept.values()), *ends, *_ends(kept)) for v, ends in found_alone.items()
            ]
    if lone:
        job.findings.append(_warning_of(lone))
    if rows:
        job.run(
            """
            INSERT INTO strays SELECT k.id, s.value, s.reason FROM (
                SELECT unnest($keys::VARCHAR[]) AS key, unnest($values::INTEGER[]) AS value,
                       unnest($reasons::VARCHAR[]) AS reason
            ) s JOIN criterion_keys k USING (key)
            """,
            keys=[key for key, _, _ in rows],
            values=[value for _, value, _ in rows],
            reasons=[reason for _, _, reason in rows],
        )


def _ends(counts: Mapping[int, int]) -> tuple[int, int]:
    return min(counts), max(counts)


def _warning_of(lone: list[tuple[str, int, int, int, int, int, int, int]]) -> Finding:
    """A warning about labels that are alone outside the range of the others of their criterion."""
    columns = ["criterion", "label", "times", "labels", "low", "high", "scale_min", "scale_max"]
    name, value, n, total, low, high, first, last = lone[0]
    more = f" The same question arises for {count(len(lone) - 1, 'other label')}." if len(lone) > 1 else ""
    sentence = (
        f"{n:,} of the {count(total, 'label')} of {name} {'is' if n == 1 else 'are'} {value}, but the others go from "
        f"{low} to {high}: the scale is taken as {first} to {last}. If {value} stands for no label, say so "
        f"(--answer={value}=). If it is a mistake, correct it. Otherwise give the scale "
        f"(--scale '{name}={first}..{last}').{more}"
    )
    return warning(
        "lone_level",
        "Single labels outside the range of the others",
        sentence,
        pd.DataFrame(lone, columns=columns),
    )


def _called(job: Job, key: str) -> str:
    """The name of a criterion for a sentence, shortened."""
    (name,) = job.one("SELECT min(criterion) FROM criterion_keys WHERE key = $key", key=key)
    return values.shortened(str(name))
