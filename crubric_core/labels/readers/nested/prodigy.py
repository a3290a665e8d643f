"""Find labels in tasks of Prodigy: the options that an annotator chose, or whether a text's label was accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..columns.specs import Kind, rater_of
from .field_names import others

_HASHES = ("_input_hash", "_task_hash")  # fields that no other tool writes
_ANNOTATORS = ("_annotator_id", "_session_id")
_ANSWERS = frozenset(("accept", "reject", "ignore"))


def in_prodigy(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> dict[str, str] | None:
    """Canonical column → path for a file of Prodigy; None for other files, and for spans within texts."""
    if not all(h in fields for h in _HASHES) or not {*map(str, fields.get("answer", ("",)))} <= _ANSWERS:
        return None
    if "accept[]" in fields:
        found = {"label": "accept[]", "rubric": "=choice"}
    elif "label" in fields:
        found = {"label": "answer", "rubric": "label"}
    else:
        return None
    around = {f: v for f, v in fields.items() if not f.startswith("options[]")}
    found = {"query": _HASHES[0]} | others(kind, around, "", set(found.values())) | found
    judge = next((f for f in _ANNOTATORS if f in fields), None)
    return found | ({rater_of(kind): judge} if judge else {})
