"""What a plan leaves out of its files that somebody should know of."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from ...text import count
from ..ingest.findings import SHOWN, Finding
from ..readers.plan import Plan


def check_plan(plan: Plan) -> Iterator[Finding]:
    """A warning where columns or fields that look like labels are not used."""
    found = [(f.name, column) for f in plan.files if not f.skip for column in f.suspects]
    if not found:
        return
    table = pd.DataFrame(found, columns=["file", "column"])
    columns = table["column"].unique()
    named = ", ".join(map(repr, columns[:3])) + (f" and {len(columns) - 3} more" if len(columns) > 3 else "")
    yield Finding(
        "warning",
        "unused_labels",
        "What looks like labels and is not used",
        f"{named} of {count(table['file'].nunique(), 'file')} {'looks' if len(columns) == 1 else 'look'} like "
        'labels, and nothing is read from there: say so if it is what counts (mapping, such as {"label": "…"}).',
        len(found),
        table.head(SHOWN),
    )
