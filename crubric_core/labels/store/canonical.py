"""A dataset's tables as files gave them: read again in this order, they make the same dataset.

Names are the files' own, scales are left out where nobody gave them, and only what was described is described.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own
from __future__ import annotations

from collections.abc import Mapping

from ..readers.columns import SPECS

_GIVEN = """
    SELECT {names}, t.label FROM {table} t JOIN judges j USING (judge_id) JOIN rubrics r USING (rubric_id)
    LEFT JOIN queries q ON q.query_id = r.query_id {systems}
    WHERE t.dataset_id = $dataset ORDER BY {order}
"""


def _attributes(kind: str, alias: str) -> str:
    return ", ".join(f'{alias}."{column}"' for column in SPECS[kind].values)


def _given(table: str, *, judge: str, systems: bool) -> str:
    names = ["q.name AS query", "r.name AS rubric", f"j.name AS {judge}"]
    order = "query NULLS FIRST, rubric, " + judge
    if not systems:
        return _GIVEN.format(table=table, names=", ".join(names), order=order, systems="")
    join = "JOIN systems s ON s.system_id = t.system_id"
    names = ["s.name AS system", *names]
    return _GIVEN.format(table=table, names=", ".join(names), order=f"system, {order}", systems=join)


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
}
