"""The bank as an Inspect task: a sample for each query, labels in the score's metadata under the rubrics' ids.

The score's value cannot be a dictionary of labels: rubrics differ by query, and Inspect's metrics need the same keys.
"""

from __future__ import annotations

from pathlib import Path

from ..bank_scale import BankScale
from .base import asked, json_lines

TASK = Path(__file__).with_name("inspect_task.py.txt")


def files(bank_scale: BankScale) -> dict[str, bytes]:
    """The files task.py and dataset.jsonl, which belong in one folder."""
    samples = [
        {
            "id": query,
            "input": said,
            "rubrics": [
                {"id": rubric.token, "text": rubric.text, "low": rubric.low, "high": rubric.high}
                for rubric in rubrics
            ],
        }
        for query, said, rubrics in asked(bank_scale)
    ]
    task = TASK.read_text(encoding="utf-8").replace("{bank_id}", bank_scale.bank_id)
    return {"task.py": task.encode(), "dataset.jsonl": json_lines(samples)}
