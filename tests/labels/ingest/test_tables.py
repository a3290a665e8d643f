"""The list of temporary tables is true: of the source, and of what ingests really make."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import crubric_core.labels.ingest as room
from crubric_core.labels.ingest.parts import stage_parts, store_parts
from crubric_core.labels.ingest.staging import parts_of
from crubric_core.labels.ingest.tables import TABLES
from crubric_core.labels.readers.bundle import plan_pieces
from crubric_core.labels.readers.plan import Overrides
from crubric_core.labels.readers.policies import Policies
from crubric_core.labels.readers.sources import gathered

SOURCES = {
    path.stem: path.read_text() for path in Path(room.__file__).parent.glob("*.py") if path.stem != "tables"
}
MADE = re.compile(r"CREATE (?:OR REPLACE )?TEMP TABLE ([a-z_]+|\{column\}_names)\b")
STAGED = (
    "incoming",
    "rejected",
)  # made by the readers too, under numbers of their own where there are several


def test_every_temporary_table_of_the_source_is_listed_with_its_makers():
    made = {}
    for module, text in SOURCES.items():
        for name in MADE.findall(text):
            made.setdefault(name, set()).add(module)
    listed = {table.name: set(table.made_by) for table in TABLES if table.name not in STAGED}
    assert {n: m for n, m in made.items() if n not in STAGED} == listed


def test_the_modules_that_are_said_to_read_a_table_name_it():
    for table in TABLES:
        name = table.name.replace("{column}", "")
        for module in table.read_by:
            assert name in SOURCES[module], (table.name, module)


def test_an_ingest_makes_them_with_the_columns_that_are_listed(ws):
    header = "system,query,rubric,judge,run,label,reason"
    rows = [f"s{i % 4},q,r,j,{i},{i % 2}," for i in range(40)] + ["s0,q,r,j,0,0,x", "s1,q,r,j,99,9999,"]
    content = "\n".join([header, *rows]).encode()
    policies = Policies(scales={"other": (0, 5)})
    with gathered(content) as pieces, closing(ws.cursor()) as cursor:
        parts = parts_of(plan_pieces(pieces, Overrides("labels")), pieces, "d", policies, lambda *_: None)
        waiting = stage_parts(cursor, parts, lambda *_: None)
        with ws.transaction(cursor, keep=False):
            store_parts(cursor, waiting, lambda *_: None, numbered=False)
            found = cursor.execute(
                "SELECT table_name, list(column_name) FROM duckdb_columns() WHERE table_name IN"
                " (SELECT table_name FROM duckdb_tables() WHERE temporary) GROUP BY ALL"
            ).fetchall()
    made = dict(found)
    assert {"coded", "strays", "criterion_values", "label_values", "run_names", "repeated"} <= set(made)
    for table in TABLES:
        for name in [f"{c}_names" for c in ("system", "judge", "run")] if "{" in table.name else [table.name]:
            assert set(table.columns) <= set(made.get(name, table.columns)), name
