"""The bank as an autorubric dataset (``RubricDataset.from_file``): an item for each query, ids as criterion names.

A graded rubric becomes a choice among its labels. Submissions are left empty for the new system's answers.
"""

from __future__ import annotations

from typing import Any

from ...files import json_bytes
from ..bank_scale import BankScale
from .base import Asked, asked


def files(bank_scale: BankScale) -> dict[str, bytes]:
    """The file autorubric.json as a mapping from name to content."""
    items = [
        {
            "submission": "",
            "description": query,
            "prompt": said,
            "rubric": [_criterion(rubric) for rubric in rubrics],
            "ground_truth": None,
        }
        for query, said, rubrics in asked(bank_scale)
    ]
    name = f"crubric-bank {bank_scale.bank_id}"
    return {"autorubric.json": json_bytes({"name": name, "prompt": None, "rubric": None, "items": items})}


def _criterion(rubric: Asked) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": rubric.token,
        "weight": rubric.signed_points,
        "requirement": rubric.text,
    }
    if rubric.graded:
        width = rubric.high - rubric.low
        found["scale_type"] = "ordinal"
        found["options"] = [
            {"label": str(rubric.low + step), "value": step / width, "na": False} for step in range(width + 1)
        ]
    return found
