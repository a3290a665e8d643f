"""Scales that deserve a look: stretched by later labels, with gaps, below 0, narrow, or read apart by the judges."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pandas as pd

from ...text import count
from ..ingest.findings import SHOWN, Finding, select
from ..ingest.rubric_facts import RUBRIC_FACTS

_FEW_LEVELS = 12  # levels up to which a scale without one of them has a gap
_ENOUGH = 10  # labels of a criterion, or of a judge on it, below which nothing is concluded

_CRITERIA = f"""
    WITH {RUBRIC_FACTS}, seen AS MATERIALIZED (
        SELECT key, judge_id, label, sum(n) AS n FROM (
            SELECT rubric_id, judge_id, label, count(*) AS n FROM labels
            WHERE dataset_id = $dataset AND label IS NOT NULL GROUP BY ALL
        ) JOIN facts USING (rubric_id) GROUP BY key, judge_id, label
    ), by_judge AS (
        SELECT key, judge_id, min(label) AS lo, max(label) AS hi, sum(n) AS n FROM seen GROUP BY key, judge_id
    ), apart AS (
        SELECT key, max(lo) AS above, min(hi) AS below, max(hi) AS top FROM by_judge WHERE n >= {_ENOUGH}
        GROUP BY key HAVING count(*) > 1
    ), given_labels AS (
        SELECT key, count(*) AS different, min(label) AS lowest, max(label) AS highest, sum(n)::BIGINT AS n,
               left(string_agg(label::VARCHAR, ', ' ORDER BY label), 100) AS values
        FROM (SELECT key, label, sum(n) AS n FROM seen GROUP BY key, label) GROUP BY key
    )
    SELECT any_value(f.criterion) AS criterion, min(f.scale_min) AS scale_min, max(f.scale_max) AS scale_max,
           bool_and(f.given) AS given, g.lowest, g.highest, g.different, g.values AS labels, g.n,
           a.above > a.below OR (a.below <= 1 AND a.top >= 3) AS apart
    FROM facts f JOIN given_labels g USING (key) LEFT JOIN apart a USING (key)
    GROUP BY key, g.lowest, g.highest, g.different, g.values, g.n, a.above, a.below, a.top ORDER BY criterion
"""


def check_scales(cursor: duckdb.DuckDBPyConnection, dataset_id: int) -> Iterator[Finding]:
    """Findings about the scales as they are now."""
    table = select(cursor, _CRITERIA, dataset_id)
    if table.empty:
        return
    inferred = table[~table["given"].astype(bool)]
    yield from _below_zero(inferred)
    yield from _gaps(inferred)
    yield from _narrow(inferred)
    yield from _apart(table)


def _below_zero(table: pd.DataFrame) -> Iterator[Finding]:
    found = table[table["lowest"] < 0]
    if len(found):
        first = found.iloc[0]
        yield _warning(
            "negative_level",
            "Labels below 0",
            f"{count(len(found), 'scale')} begin below 0, such as that of {first['criterion']} ({first['labels']}): "
            f"if {first['lowest']} stands for no label, say so (--answer={first['lowest']}=); else give the scale.",
            found,
        )


def _gaps(table: pd.DataFrame) -> Iterator[Finding]:
    levels = table["highest"] - table["lowest"] + 1
    found = table[(levels > table["different"]) & (levels <= _FEW_LEVELS) & (table["n"] >= 2 * _ENOUGH)]
    if len(found):
        first = found.iloc[0]
        yield _warning(
            "gap",
            "Scales with levels that nobody gave",
            f"{count(len(found), 'scale')} {_have(found)} levels between others that no label has, such as that of "
            f"{first['criterion']} (labels {first['labels']}): see whether the scale is meant so.",
            found,
        )


def _narrow(table: pd.DataFrame) -> Iterator[Finding]:
    """Graded criteria whose labels stop short of the scale that most graded criteria have."""
    graded = table[table["scale_max"] - table["scale_min"] > 1]
    if graded.empty:
        return
    ends = graded.groupby(["scale_min", "scale_max"]).size().sort_values()
    low, high = ends.index[-1]
    found = graded[(graded["scale_min"] >= low) & (graded["scale_max"] < high)]
    if len(found):
        first = found.iloc[0]
        yield _warning(
            "narrow_scale",
            "Scales that may be narrower than meant",
            f"{count(len(found), 'scale')} end below the {high} that others reach, such as that of "
            f"{first['criterion']}: nobody gave it more than {first['highest']}, so its scale is taken as "
            f"{first['scale_min']} to {first['scale_max']}. If all share one, give it (--scale '*={low}..{high}').",
            found,
        )


def _apart(table: pd.DataFrame) -> Iterator[Finding]:
    found = table[table["apart"].fillna(value=False).astype(bool)]
    if len(found):
        first = found.iloc[0]
        yield _warning(
            "disjoint_ranges",
            "Judges that seem to use different scales",
            f"On {count(len(found), 'criterion', 'criteria')} judges give labels from ranges that do not fit "
            f"together, such as {first['criterion']} (labels {first['labels']}): bring them to one scale before they "
            "are compared.",
            found,
        )


def changed_scales(before: pd.DataFrame, after: pd.DataFrame) -> Iterator[Finding]:
    """Criteria that had labels before, and another scale now; both as ``rubric_facts.criteria`` tells them."""
    both = before[before["labels"] > 0].merge(after, on="criterion", suffixes=("_before", ""))
    moved = (both["scale_min"] != both["scale_min_before"]) | (both["scale_max"] != both["scale_max_before"])
    found = both[moved]
    if len(found):
        first = found.iloc[0]
        columns = ["criterion", "scale_min_before", "scale_max_before", "scale_min", "scale_max"]
        yield _warning(
            "scale_changed",
            "Scales that these rows change",
            f"{count(len(found), 'scale')} {'is' if len(found) == 1 else 'are'} another now, such as that of "
            f"{first['criterion']}: {first['scale_min_before']} to {first['scale_max_before']} before, "
            f"{first['scale_min']} to {first['scale_max']} with these rows. Labels that passed may fail, and the other "
            "way round: give the scale if it is not meant so.",
            found[columns],
        )


def _have(found: pd.DataFrame) -> str:
    return "has" if len(found) == 1 else "have"


def _warning(code: str, title: str, sentence: str, found: pd.DataFrame) -> Finding:
    return Finding("warning", code, title, sentence, len(found), found.head(SHOWN).reset_index(drop=True))
