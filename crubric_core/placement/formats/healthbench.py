"""The bank as HealthBench examples (simple-evals): prompts with rubrics, ids among the tags, which graders preserve."""

from __future__ import annotations

from ..bank_scale import BankScale
from .base import asked, json_lines, require_binary


def files(bank_scale: BankScale) -> dict[str, bytes]:
    """The file healthbench.jsonl, one prompt on each line; raises ExportError if a rubric is graded."""
    require_binary(bank_scale, "HealthBench")
    records = [
        {
            "prompt_id": query,
            "prompt": [{"role": "user", "content": said}],
            "rubrics": [
                {
                    "criterion": rubric.text,
                    "points": rubric.signed_points,
                    "tags": [rubric.token, *([f"axis:{rubric.dimension}"] if rubric.dimension else [])],
                }
                for rubric in rubrics
            ],
            "example_tags": [f"crubric-bank:{bank_scale.bank_id}"],
        }
        for query, said, rubrics in asked(bank_scale)
    ]
    return {"healthbench.jsonl": json_lines(records)}
