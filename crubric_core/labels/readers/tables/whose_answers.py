"""Ask what rows with the same query are if no column names a system: answers of several systems, or runs of one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ....text import as_json
from ..columns.label_names import RATERS
from ..columns.query_names import bare_name, is_feedback, is_written
from ..columns.specs import MISSING
from ..plan import FilePlan
from ..word_lists import word_list
from ..words import is_number
from .plan_cells import LEAST, cells_of, rows_of_keys
from .raters import with_distinguishing_column

BY_PATH = "the file's path: "  # beginning of the reason of a guess that was made from the path
# columns whose values may each be a system, where essays or persons are graded and not models
_GRADED = frozenset(
    ("essay_id", "essay", "student_id", "student", "pupil_id", "examinee_id", "candidate_id", "writer_id")
)
_SHARE = 0.2  # least share of rows with a repeated key, from which the question is asked

_TEXTS = word_list("reference references source source_text context target translation")  # never systems


def asked_whose(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> FilePlan:
    """The plan with a problem that asks for the system, if keys repeat and only the file's path could give it."""
    lacking = "system" not in plan.mapping and (not plan.problem or MISSING in plan.problem)
    by_path = any(
        g.canonical == "system" and g.reason.startswith(BY_PATH) and g.confidence < 1 for g in plan.guesses
    )
    if plan.kind != "labels" or not (lacking or (by_path and not plan.problem)) or len(rows) < LEAST:
        return plan
    named = [] if "judge" in plan.mapping else [c for c in plan.unused if bare_name(c) in RATERS]
    raters = sorted(named, key=lambda c: RATERS.index(bare_name(c)))[:1]
    keys = list(zip(rows_of_keys(plan, rows), *(cells_of(plan, rows, c) for c in raters), strict=True))
    if (
        not {"query", "rubric"} & set(plan.mapping)
        or "run" in plan.mapping
        or len(keys) - len(set(keys)) < _SHARE * len(keys)
    ):
        return plan
    told = {c: cells_of(plan, rows, c) for c in plan.unused if c in plan.columns}
    ids = [c for c in told if bare_name(c).endswith("_id") and is_written(c.rpartition("_")[0])]
    written = (*ids, *(c for c in told if is_written(c) and not is_feedback(c)))
    answer = next((c for c in written if len(set(zip(keys, told[c], strict=True))) > len(set(keys))), "")
    column = with_distinguishing_column(plan, rows).apart
    if answer and column and len(set(zip(keys, told[column], strict=True))) < len(rows):
        column = ""
    column, judge = "" if column in raters else column, (raters or ["…"])[0]
    apart = column or answer
    differ = f" (they differ in {apart!r})" if apart else ""
    says = bool(column) and bare_name(column) not in _TEXTS and not all(map(is_number, told[column]))
    graded = next(
        (c for c, own in told.items() if bare_name(c) in _GRADED and len(set(own)) == len(rows)), ""
    )
    system = graded or (column if says else "")
    offer = f"say so if {system!r} does ({json.dumps({'system': system})}), or " if system else ""
    about = "query" if "query" in plan.mapping else "rubric"
    sentence = (
        f"Several rows of {plan.name} are about the same {about}{differ}, and no column says which system each "
        f'belongs to: {offer}add such a column; or say that they are repeated draws of one system ({{"system": "=…", '
        f'"run": "{apart or "…"}"}} in the mapping), or who judged each ({{"system": "=…", "judge": "{judge}"}}).'
    )
    problem = plan.problem or ""
    if system:  # so that the mapping that is shown before reads all rows
        problem = problem.replace('{"system": "=…", ', f'{{"system": {as_json(system)}, ', 1)
    return replace(plan, problem=f"{problem} {sentence}".strip())
