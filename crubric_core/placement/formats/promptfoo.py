"""The bank as a promptfoo configuration: a test for each query, a model-graded assertion for each rubric.

The ids are the metrics. An assertion passes if its rubric is met, also if that is bad: the bank knows the sign.
(promptfoo passes an assertion of weight 0 without asking, so that weights are the points without their sign.)
"""

from __future__ import annotations

from ...files import json_bytes
from ..bank_scale import BankScale
from .base import asked, require_binary


def files(bank_scale: BankScale) -> dict[str, bytes]:
    """The file promptfooconfig.json; raises ExportError if a rubric is graded."""
    require_binary(bank_scale, "promptfoo")
    tests = [
        {
            "description": query,
            "vars": {"question": _literal(said)},
            "assert": [
                {
                    "type": "llm-rubric",
                    "value": _literal(rubric.text),
                    "metric": rubric.token,
                    "weight": abs(rubric.signed_points),
                }
                for rubric in rubrics
            ],
        }
        for query, said, rubrics in asked(bank_scale)
    ]
    config = {
        "description": f"crubric-bank {bank_scale.bank_id}",
        "prompts": ["{{question}}"],
        "providers": [],
        "tests": tests,
    }
    return {"promptfooconfig.json": json_bytes(config)}


def _literal(text: str) -> str:
    """The text, escaped so that promptfoo's templates do not change it."""
    if not any(mark in text for mark in ("{{", "{%", "{#")):
        return text
    parts = text.split("{% endraw %}")
    return "{{ '{% endraw %}' }}".join(f"{{% raw %}}{part}{{% endraw %}}" for part in parts)
