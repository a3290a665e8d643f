"""Data-quality issues of a dataset: rows that were rejected, and labels that were kept but deserve a look."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import duckdb
import numpy as np
import pandas as pd

from ...text import count, some
from ..ingest.findings import SHOWN, Finding, Severity, select
from ..ingest.parsed import execute
from ..ingest.rubric_facts import keep_facts
from ..ingest.tallies import sum_rubrics
from ..readers.ground_truth import is_truth
from . import consistency, scale_checks
from .thin_pairs import thin_pairs

Check = Callable[[duckdb.DuckDBPyConnection, int], Iterator[Finding]]

_ORDER = ("error", "warning", "note")
_UNEQUAL = 0.1  # share of a system's labels that would have to come from other judges
_MANY_BLANK = 0.05  # share of a judge's labels
MUCH_MISSING = 0.2  # share of systems × rubrics × judges


def check_dataset(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> tuple[Finding, ...]:
    """Every finding, errors first."""
    sum_rubrics(cursor, dataset_id)
    keep_facts(cursor, dataset_id)
    return _check(cursor, dataset_id, 0, coverage(cursor, dataset_id))


def _check(
    cursor: duckdb.DuckDBPyConnection, dataset_id: int, since: int, covered: pd.DataFrame
) -> tuple[Finding, ...]:
    """Every finding; of the rejected rows those of the ingest ``since`` and later ones."""
    found = [*_rejected(cursor, dataset_id, since), *_elsewhere(cursor, dataset_id)]
    ((n_queries,),) = execute(
        cursor, "SELECT count(*) FROM queries WHERE dataset_id = ?", [dataset_id]
    ).fetchall()
    found += [*_missing(cursor, covered), *thin_pairs(cursor, dataset_id, covered)]
    found += _coverage(covered, n_queries)
    for check in _CHECKS:
        found += check(cursor, dataset_id)
    return by_severity(found)


def by_severity(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Errors first, then warnings, then notes; each in the order given."""
    return tuple(sorted(found, key=lambda finding: _ORDER.index(finding.severity)))


def check_latest(cursor: duckdb.DuckDBPyConnection) -> tuple[tuple[Finding, ...], pd.DataFrame]:
    """The findings about what the open transaction has ingested, and the coverage of its dataset."""
    ((dataset_id, since),) = execute(
        cursor,
        "SELECT any_value(dataset_id), min(ingest_id) FROM ingests WHERE ingested_at = make_timestamp(epoch_us(now()))",
    ).fetchall()
    keep_facts(cursor, dataset_id, store=True)
    covered = coverage(cursor, dataset_id)
    return _check(cursor, dataset_id, since, covered), covered


class _Cause(NamedTuple):
    """Why rows were rejected: a pattern of their reasons, and what to do."""

    pattern: str
    code: str
    title: str
    remedy: str


_CAUSES = (
    _Cause(
        "%looks like a code for a missing label%",
        "code",
        "Codes for a missing label",
        "say what they stand for: --answer=-9= for no label, or give the scale",
    ),
    _Cause(
        "%lies far outside the other labels%",
        "stray",
        "Stray numbers among the labels",
        "correct the file, or give the scale (--scale NAME=LOW..HIGH)",
    ),
    _Cause(
        "conflicts with row%",
        "conflict",
        "Contradicting rows",
        "choose which to keep: on_conflict = last or first; or number them as repeated labels: on_conflict = runs",
    ),
    _Cause(
        "%outside the scale%",
        "off_scale",
        "Labels outside their scale",
        "correct the scale, or off_scale = clip",
    ),
    _Cause(
        "%between two levels%", "fraction", "Labels between two levels", "round them: fractions = down or up"
    ),
    _Cause(
        "%is a verdict%",
        "verdict",
        "Words on a graded scale",
        "give numbers, or the label of each word",
    ),
    _Cause(
        "%several choices%",
        "choices",
        "Several choices in one cell",
        "give the label of each text (answers)",
    ),
    _Cause("%is not a number%", "text", "Text in place of a number", "give the label of each word (answers)"),
    _Cause(
        "%has no name%",
        "no_name",
        "Rows without a name",
        "name the system, the rubric and the judge in each row",
    ),
    _Cause("several queries%", "ambiguous", "Rubrics of several queries", "name the query in each row"),
    _Cause("%", "unreadable", "Rows that cannot be used", "see the reasons and correct the file"),
)


def _rejected(cursor: duckdb.DuckDBPyConnection, dataset_id: int, since: int) -> Iterator[Finding]:
    if not execute(cursor, "SELECT 1 FROM rejects WHERE ingest_id >= ? LIMIT 1", [since]).fetchone():
        return
    cases = " ".join(f"WHEN reason LIKE '{c.pattern}' THEN {i}" for i, c in enumerate(_CAUSES))
    rows = select(
        cursor,
        f"""
        WITH own AS (
            SELECT source AS file, "row", "column", value, reason, CASE {cases} END AS cause
            FROM rejects JOIN ingests USING (ingest_id)
            WHERE dataset_id = $dataset AND ingest_id >= $since
        )
        SELECT *, count(*) OVER (PARTITION BY cause) AS n FROM own
        QUALIFY row_number() OVER (PARTITION BY cause ORDER BY file, "row") <= {SHOWN} ORDER BY cause, file, "row"
        """,
        dataset_id,
        since=since,
    )
    for number, part in rows.groupby("cause"):
        cause, n = _CAUSES[int(str(number))], int(part["n"].iloc[0])
        sentence = f"{count(n, 'row')} rejected, such as row {part['row'].iloc[0]}: {part['reason'].iloc[0]}."
        examples = part[["file", "row", "column", "value", "reason"]].reset_index(drop=True)
        yield Finding(
            "error", cause.code, cause.title, f"{sentence} To keep them, {cause.remedy}.", n, examples
        )


_OF_SYSTEMS = """
    SELECT system_id, judge_id, coalesce(sum(n) FILTER (label IS NOT NULL), 0)::BIGINT AS labels,
           coalesce(sum(n) FILTER (label IS NULL), 0)::BIGINT AS blank, min(label) AS lowest, max(label) AS highest
    FROM system_tallies WHERE dataset_id = $dataset GROUP BY system_id, judge_id
"""
_OF_DRAWS = """
    SELECT system_id, judge_id, count(lowest) AS labels, count(*) - count(lowest) AS blank, min(lowest) AS lowest,
           max(highest) AS highest
    FROM (
        SELECT system_id, judge_id, rubric_id, min(label) AS lowest, max(label) AS highest
        FROM labels WHERE dataset_id = $dataset GROUP BY system_id, judge_id, rubric_id
    ) GROUP BY system_id, judge_id
"""
_ELSEWHERE = "SELECT * EXCLUDE (dataset_id) FROM judge_tallies WHERE dataset_id = $dataset"


def _given(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> str:
    """(system_id, judge_id, labels, blank, lowest, highest) by a judge's label of a cell, repeated draws together."""
    if execute(cursor, "SELECT 1 FROM label_sources WHERE dataset_id = ?", [dataset_id]).fetchone():
        return _ELSEWHERE
    runs = execute(cursor, "SELECT 1 FROM runs WHERE dataset_id = ? LIMIT 1", [dataset_id]).fetchone()
    return _OF_SYSTEMS if runs is None else _OF_DRAWS


def coverage(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> pd.DataFrame:
    """One row a system and judge: labels (known), blank, cells, share (labels over cells), lowest, highest.

    cells: the most that one judge has of the system, labels and blanks; all judges together may have more. Repeated
    draws of a judge on a cell count once.
    """
    return select(
        cursor,
        f"""
        WITH given AS ({_given(cursor, dataset_id)}), judging AS (SELECT DISTINCT judge_id FROM given),
        judged AS (SELECT system_id, max(labels + blank) AS most FROM given GROUP BY system_id)
        SELECT s.name AS system, k.name AS judge, coalesce(labels, 0) AS labels, coalesce(blank, 0) AS blank,
               most AS cells, coalesce(labels, 0) / most AS share, lowest, highest
        FROM judged CROSS JOIN judging LEFT JOIN given USING (system_id, judge_id)
        JOIN systems s USING (system_id) JOIN judges k USING (judge_id)
        ORDER BY system, judge
        """,
        dataset_id,
    )


def _missing(cursor: duckdb.DuckDBPyConnection, table: pd.DataFrame) -> Iterator[Finding]:
    """That much of systems × rubrics × judges has no label, also where all judges lack the same."""
    ((n_rubrics,),) = execute(cursor, "SELECT count(*) FROM facts_now").fetchall()
    room = len(table) * n_rubrics
    known = int(table["labels"].sum())
    if room and 1 - known / room > MUCH_MISSING:
        sentence = (
            f"{1 - known / room:.0%} of the possible labels ({count(table['system'].nunique(), 'system')} × "
            f"{count(n_rubrics, 'rubric')} × {count(table['judge'].nunique(), 'judge')}) are missing: systems that "
            "lack different labels are hard to compare. Unless the judges share the answers out, add them, and label "
            "the answers that failed as failed."
        )
        yield Finding("warning", "missing", "Many missing labels", sentence, room - known, pd.DataFrame())


def _coverage(table: pd.DataFrame, n_queries: int) -> Iterator[Finding]:
    """Judges that others do not share systems with, that say nothing, and that always say the same."""
    if table.empty:
        return
    yield from _unequal(table, n_queries)
    judges = table.groupby("judge", as_index=False).agg(
        labels=("labels", "sum"), blank=("blank", "sum"), lowest=("lowest", "min"), highest=("highest", "max")
    )
    yield from _blank(judges)
    yield from _people(judges)
    flat = judges[(judges["lowest"] == judges["highest"]) & (judges["labels"] >= SHOWN)]
    if len(flat):
        sentence = (
            f"{some(flat['judge'])} gave the same label every time: such labels carry no information. "
            "Check how the answers were read, or remove the judge."
        )
        yield Finding("warning", "never_varies", "Judges that never vary", sentence, len(flat), flat)


def _unequal(table: pd.DataFrame, n_queries: int) -> Iterator[Finding]:
    """Systems whose labels come from other judges than those of the rest, by more than missing labels may explain."""
    if (table["judge"] == table["judge"].iloc[0]).all():
        return
    labels = table.pivot_table(index="system", columns="judge", values="labels")
    share = labels[labels.sum(axis=1) > 0].pipe(lambda given: given.div(given.sum(axis=1), axis=0))
    usual = share.median()
    apart = share - usual
    distance = apart.abs().sum(axis=1) / 2
    # Twice the most that is expected where all judges lack whole queries of the median system at random.
    missing = 1 - table.groupby("system")["share"].mean().median()
    chance = np.sqrt(usual * (1 - usual) * missing / max(n_queries, 1)).sum()
    found = distance[distance > _UNEQUAL + chance].sort_values(ascending=False, kind="stable")
    if found.empty:
        return
    system = found.index[0]
    judge = apart.loc[system].idxmax()
    were = "was" if len(found) == 1 else "were"
    who = f"{count(len(found), 'system')} {were} labelled by other judges than most systems"
    if 2 * len(found) > len(share):
        who = f"{len(found):,} of {len(share):,} systems were labelled by different judges"
    sentence = (
        f"{who}{':' if len(found) == 1 else '. For example,'} {judge!s} gave "
        f"{share.loc[system, judge]:.0%} of the labels of {system!s}, and {usual[judge]:.0%} of the labels of the "
        "median system. If judges differ in leniency, such systems look better or worse than they are. The "
        "leaderboard's intervals allow for this beyond chance, unless rubrics are resampled. Have the same judges "
        "label all systems."
    )
    rows = found.rename("distance").reset_index()
    yield Finding("warning", "unequal", "Systems with different judges", sentence, len(found), rows)


def _blank(judges: pd.DataFrame) -> Iterator[Finding]:
    total = int(judges["blank"].sum())
    if not total:
        return
    share = judges["blank"] / (judges["labels"] + judges["blank"])
    worst = judges.assign(share=share).sort_values("share", ascending=False)
    first = worst.iloc[0]
    sentence = (
        f"{count(total, 'label')} {'is' if total == 1 else 'are'} unknown (blank, N/A, refused); "
        f"{first['judge']} has the most, {first['share']:.1%} of its own."
    )
    severity: Severity = "warning" if first["share"] >= _MANY_BLANK else "note"
    yield Finding(severity, "blank", "Unknown labels", sentence, total, worst.reset_index(drop=True))


def _people(judges: pd.DataFrame) -> Iterator[Finding]:
    """Judges that are named like ground truth, next to others."""
    named = judges[judges["judge"].map(is_truth)]
    if len(named) in (0, len(judges)):
        return
    verb, counted = ("is", "counts as one") if len(named) == 1 else ("are", f"count as {len(named)}")
    sentence = (
        f"{some(named['judge'])} {verb} named like ground truth and {counted} of the {len(judges)} judges, in "
        "agreement and consensus. If the labels are ground truth, put their rows into a file of their own and ingest "
        "it as gold (--kind gold)."
    )
    yield Finding("warning", "gold_judge", "Judges that may be ground truth", sentence, len(named), named)


def _elsewhere(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> Iterator[Finding]:
    """What is not known of labels that are not in the workspace."""
    found = execute(
        cursor,
        "SELECT location, rejected FROM label_sources JOIN ingests USING (dataset_id)"
        " WHERE dataset_id = ? AND kind = 'labels'",
        [dataset_id],
    ).fetchall()
    for location, rejected in found:
        if rejected:
            sentence = (
                f"{count(rejected, 'row')} of {location} {'does' if rejected == 1 else 'do'} not count: a name is "
                "missing, the label is not a whole number, or another row of the same key contradicts it."
            )
            yield Finding("error", "unusable", "Rows that do not count", sentence, rejected, pd.DataFrame())
        sentence = (
            f"The labels stay at {location}: unlike ingested labels, they were not searched for blocks of equal "
            "labels, stray numbers or gaps in a scale."
        )
        yield Finding("note", "elsewhere", "Labels that stay where they are", sentence, 1, pd.DataFrame())


_CHECKS: tuple[Check, ...] = (scale_checks.check_scales, *consistency.CHECKS)
