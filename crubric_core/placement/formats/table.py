"""The bank as a table for spreadsheets: one row a rubric with the texts, and empty cells for the labels."""

from __future__ import annotations

import pandas as pd

from ...files import csv_bytes
from ..bank_scale import BankScale
from .base import asked

SYSTEM = "my system"


def form_table(bank_scale: BankScale) -> pd.DataFrame:
    """One row a rubric, in the order of the bank; ``rubric`` is its token (own id and the bank's); labels are empty."""
    rows = [
        {
            "system": SYSTEM,
            "query": query,
            "query_text": said,
            "rubric": rubric.token,
            "name": rubric.name,
            "text": rubric.text,
            "scale_min": rubric.low,
            "scale_max": rubric.high,
            "polarity": rubric.polarity,
            "points": rubric.points,
            "judge": "",
            "label": "",
        }
        for query, said, rubrics in asked(bank_scale)
        for rubric in rubrics
    ]
    return pd.DataFrame(rows)


def files(bank_scale: BankScale) -> dict[str, bytes]:
    """The file bank_form.csv as a mapping from name to content."""
    return {"bank_form.csv": csv_bytes(form_table(bank_scale))}
