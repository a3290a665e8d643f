"""A dataset's tables as files gave them: ingested again in this order, they make the same dataset.

Names are those of the files. Scales are included only if they were given, not inferred; queries and rubrics only if a
file described them.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own
from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from ..ingest.report import tidy
from ..readers.columns.specs import SPECS, SYSTEM_FACTS
from . import catalogue

_GIVEN = """
    {reasons} SELECT {names}, t.label, {reason}.reason
    FROM {table} t JOIN judges j USING (judge_id) JOIN rubrics r USING (rubric_id)
    LEFT JOIN queries q ON q.query_id = r.query_id {systems}
    WHERE t.dataset_id = $dataset ORDER BY {order}
"""


def _attributes(kind: str, alias: str) -> str:
    return ", ".join(f'{alias}."{column}"' for column in SPECS[kind].values)


def _given(table: str, *, judge: str, systems: bool) -> str:
    names = ["q.name AS query", "r.name AS rubric", f"j.name AS {judge}"]
    order = "query NULLS FIRST, rubric, " + judge
    if not systems:
        return _GIVEN.format(
            table=table, names=", ".join(names), order=order, systems="", reasons="", reason="t"
        )
    join = "JOIN systems s ON s.system_id = t.system_id"
    names, order = ["s.name AS system", *names], f"system, {order}"
    if table == "labels":
        join += " LEFT JOIN runs d ON d.run_id = t.run_id"
        join += " LEFT JOIN why w ON " + " AND ".join(
            f"w.{key} = t.{key}" for key in ("system_id", "rubric_id", "judge_id", "run_id")
        )
        names, order = [*names, "d.name AS run"], f"{order}, run"
    of_labels = table == "labels"
    return _GIVEN.format(
        table=table,
        names=", ".join(names),
        order=order,
        systems=join,
        reasons=f"WITH {catalogue.REASONS}" if of_labels else "",
        reason="w" if of_labels else "t",
    )


CANONICAL: Mapping[str, str] = {
    "queries": f"""
        SELECT q.name AS query, {_attributes("queries", "q")} FROM queries q
        WHERE dataset_id = $dataset AND ingest_id IS NOT NULL ORDER BY name
    """,
    "rubrics": f"""
        SELECT q.name AS query, r.name AS rubric, {_attributes("rubrics", "r")}
        FROM rubrics r LEFT JOIN queries q ON q.query_id = r.query_id
        WHERE r.dataset_id = $dataset AND r.ingest_id IS NOT NULL ORDER BY query NULLS FIRST, rubric
    """,
    "labels": _given("labels", judge="judge", systems=True),
    "gold": _given("gold", judge="annotator", systems=True),
    "anchors": _given("anchors", judge="annotator", systems=False),
    "reference": f"""
        SELECT s.name AS system, {_attributes("reference", "r")}
        FROM reference_ranking r JOIN systems s USING (system_id) WHERE r.dataset_id = $dataset ORDER BY system
    """,
    "systems": catalogue.FACTS_OF_SYSTEMS,
    "answers": f"{catalogue.ANSWERS} ORDER BY system, query",
}
_OPTIONAL = ("run", "reason", "pass_mark")  # columns that are left out if they are empty


def as_file(kind: str, table: pd.DataFrame) -> pd.DataFrame:
    """A canonical table in the layout of a file: one column for each fact of the systems, no empty optional column."""
    if kind == "systems":
        return one_column_a_fact(table)
    return table.drop(columns=[c for c in _OPTIONAL if c in table and table[c].isna().all()])


def one_column_a_fact(table: pd.DataFrame) -> pd.DataFrame:
    """Pivot rows (system, fact, value) to a row per system, a column per fact: SYSTEM_FACTS first, others by name."""
    called = table.assign(
        fact=table["fact"].replace("system", "system (fact)")
    )  # not to be confused with the column of the systems
    wide = called.pivot(index="system", columns="fact", values="value")  # noqa: PD010 - there is one value a cell
    known = [fact for fact in SYSTEM_FACTS if fact in wide]
    ordered = (
        wide[[*known, *sorted(set(map(str, wide)) - set(known))]].rename_axis(columns=None).reset_index()
    )
    return tidy(ordered)
