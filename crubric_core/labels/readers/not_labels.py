"""What is no label of one answer on a rubric, and evaluation files hold: preferences between two, spans of errors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .columns import plain_name

_PAIRS = (
    *(
        ("model_a", "model_b"),
        ("model_1", "model_2"),
        ("generator_1", "generator_2"),
        ("system_a", "system_b"),
    ),
    *(
        ("response_a", "response_b"),
        ("output_1", "output_2"),
        ("answer_a", "answer_b"),
        ("chosen", "rejected"),
        ("response_a_model", "response_b_model"),
        ("model_a_name", "model_b_name"),
    ),
)
_PREFERENCE = re.compile(r"\W*[AB]\W*(?:>{1,2}|<{1,2}|=)\W*[AB]\W*")  # A>B, B>>A, A=B
_SPANS = ({"severity", "category"}, {"severity", "error_type"}, {"severity", "error_span"})


def why_no_labels(name: str, columns: Sequence[str], fields: Mapping[str, Sequence[Any]]) -> str | None:
    """Why a file in which no labels are found has none, by its columns and nested fields; None where nothing tells."""
    plain = {plain_name(c) for c in columns}
    pair = next((p for p in _PAIRS if plain.issuperset(p)), None)
    compared = pair is not None or any(_prefers(values) for values in fields.values())
    if compared:
        some = f" ({pair[0]}, {pair[1]})" if pair else ""
        return (
            f"{name} says which of two answers is better{some}, and a rubric's label is of one answer: have each "
            "answer judged by itself, or say what counts as system, rubric and label (mapping)."
        )
    if any(plain >= spans for spans in _SPANS):
        return (
            f"{name} lists errors with their category and severity, and a rubric's label is of one answer: count the "
            "errors of each answer and category (0 where there is none), and give these counts as labels."
        )
    return None


def _prefers(values: Sequence[Any]) -> bool:
    texts = [v for v in values if isinstance(v, str) and v.strip()]
    return bool(texts) and all(_PREFERENCE.fullmatch(text) for text in texts)
