"""What a plan leaves out of its files that somebody should know of."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from ...text import count
from ..ingest.findings import Finding, warning
from ..readers.plan import Plan
from ..readers.tables.raters import question


def check_plan(plan: Plan) -> Iterator[Finding]:
    """Warnings where what looks like labels is not used, or what tells apart rows about the same."""
    yield from _unused_labels(plan)
    yield from _open_questions(plan)


def _open_questions(plan: Plan) -> Iterator[Finding]:
    asked = [(f.name, f.apart, question(f)) for f in plan.files if not f.skip and question(f)]
    if asked:
        name, _, sentence = asked[0]
        more = f" The same question arises in {count(len(asked) - 1, 'more file')}." if len(asked) > 1 else ""
        yield warning(
            "told_apart",
            "Rows of the same cell that differ in an unused column",
            f"{name}: {sentence}.{more}",
            pd.DataFrame(asked, columns=["file", "column", "question"]),
        )


def _unused_labels(plan: Plan) -> Iterator[Finding]:
    # A key of JSON may hold half a character, which no table can.
    plain = [
        (f.name, c.encode(errors="replace").decode()) for f in plan.files if not f.skip for c in f.suspects
    ]
    found = list(dict.fromkeys(plain))
    if not found:
        return
    table = pd.DataFrame(found, columns=["file", "column"])
    columns = table["column"].unique()
    named = ", ".join(map(repr, columns[:3])) + (f" and {len(columns) - 3} more" if len(columns) > 3 else "")
    yield warning(
        "unused_labels",
        "Columns that look like labels and are not used",
        f"{named} of {count(table['file'].nunique(), 'file')} {'looks' if len(columns) == 1 else 'look'} like labels, "
        'but nothing is read from there. If these are the labels, name them in the mapping, such as {"label": "…"}.',
        table,
    )
