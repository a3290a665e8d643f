"""Find lists of verdicts on the repeated runs of a system: ``passed: [true, false, …]`` for k samples."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..columns.specs import Kind, plain_name
from ..paths import list_around, parts_of, unescaped
from ..plan import Columns
from ..word_lists import word_set
from ..words import is_verdict
from .beside import named_raters
from .criteria import criteria_around
from .field_names import last_name, others

_DRAWS = word_set("samples attempts trials draws rollouts runs repeats")  # names of lists of runs only
_MAY_BE = word_set(
    "passed results correct is_correct success successes passes outcomes solved graded_list"
)  # tests, too
_ANSWERS = word_set(
    "completions samples outputs responses answers generations solutions predictions attempts trials rollouts "
    "output_list code_list metadata"  # LiveCodeBench
)
_COUNTS = re.compile(
    r"(n|num|number_of|total)_(samples|attempts|trials|draws|runs|rollouts|correct|passed|generations|completions)"
    r"|pass(@|\^|_at_)(k|\d+)"
)


def in_draws(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> dict[str, str] | None:
    """Canonical column → path, if there is exactly one list of verdicts with a name of runs, such as ``passed[]``.

    Each item is then a run. None for other files.
    """
    found = [f for f in fields if _may_be_drawn(f, fields[f])] if kind == "labels" else []
    if (
        len(found) != 1
        or named_raters(fields, found[0])
        or criteria_around(_without_answers(fields), found[0])
    ):
        return None
    label = found[0]
    if any(_is_other(f, label, fields) for f in fields):
        return None
    mapping = {"label": label, "run": f"{label}.#"} | others(kind, fields, list_around(_home(label)), {label})
    return {"rubric": f"={last_name(label)}"} | mapping


def may_be_else(found: Columns, fields: Mapping[str, Sequence[Any]]) -> bool:
    """Whether a list's items are read as runs without evidence for it, such as a list of answers beside it."""
    label = str(found.get("label"))
    if found.get("run") != f"{label}.#" or last_name(label) not in _MAY_BE:
        return False
    beside = [f for f in fields if _home(f) == _home(label)]
    counted = any(_COUNTS.fullmatch(plain_name(unescaped(parts_of(f)[-1]))) for f in beside)
    return not counted and not any(_has_answers(f, label, fields) for f in fields)


def _may_be_drawn(field: str, values: Sequence[Any]) -> bool:
    named = field.endswith("[]") and not field.endswith("[][]") and last_name(field) in _DRAWS | _MAY_BE
    return named and all(v in (0, 1) or (isinstance(v, str) and is_verdict(v)) for v in values)


def _home(field: str) -> str:
    return ".".join(parts_of(field)[:-1])


def _has_answers(field: str, label: str, fields: Mapping[str, Sequence[Any]]) -> bool:
    """Whether a field is a list of answers (``completions[]``) beside the labels, with one for each label."""
    listed = field.endswith("[]") and _home(field) == _home(label) and last_name(field) in _ANSWERS
    return listed and len(fields[field]) == len(fields[label])


def _is_other(field: str, label: str, fields: Mapping[str, Sequence[Any]]) -> bool:
    """Whether another list beside the labels has one item for each label that is no answer: a test, judge or reason."""
    start = f"{_home(label)}." if _home(label) else ""
    within = field != label and field.startswith(start) and "[]" in field.removeprefix(start)
    listed = within and len(fields[field]) == len(fields[label])
    return listed and not _has_answers(field, label, fields)


def _without_answers(fields: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    return {f: v for f, v in fields.items() if last_name(f) not in _ANSWERS}
