"""Reject cells with several choices of one question, which have no level."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

import re

from ...errors import IngestError
from ..readers.plan import Words
from ..readers.policies import folded
from ..readers.values import shortened
from ..readers.words import joined_choices, levels_of
from .job import Job

_MOST = 50_000  # different texts; a column with more of them holds no labels
_NUMBER = re.compile(  # with a decimal comma, as a ratio, or with thousands separators
    r"[+-]?\d+,\d+|\d+\s*/\s*\d+|[+-]?\d{1,3}([.,]\d{3})+([.,]\d+)?"
)
_MANY = 10  # if one cell in so many holds several choices, it is no mistake
_CRITERION = (
    "CASE WHEN starts_with(rubric, query || '#') THEN substr(rubric, length(query) + 2) ELSE rubric END"
)


def leave_out_choices(job: Job, planned: Words) -> None:
    """Reject cells that hold several choices, and all cells of a criterion if they are at least a tenth of its cells.

    Its cells with a single choice would be a biased selection. Texts with a ``planned`` level are kept. Raises
    IngestError if all criteria are rejected.
    """
    texts = [t for (t,) in job.all(f"SELECT DISTINCT label FROM incoming WHERE label <> '' LIMIT {_MOST}")]
    given = {folded(word) for word in (*job.policies.answers, *planned, *levels_of(texts))}
    several = (t for t in joined_choices(texts) if not _NUMBER.fullmatch(t.strip()))
    found = [t for t in several if folded(t) not in given]
    if not found:
        return
    job.run(
        f"""
        CREATE TEMP TABLE choosing AS
        SELECT {_CRITERION} AS criterion, count(label) AS known, count(*) FILTER (label IN $found) AS several,
               min(label) FILTER (label IN $found) AS first
        FROM incoming GROUP BY criterion
        """,
        found=found,
    )
    all_such, known, held, first = job.one(
        f"SELECT bool_and(several * {_MANY} >= known), sum(known), sum(several), min(first) FROM choosing"
    )
    if all_such:
        raise IngestError(
            f"{held:,} of {known:,} labels of {job.source} hold several choices, such as {shortened(first)!r}, but a "
            "label is one value: make each choice a rubric of its own, with 1 where it was chosen and 0 where it was "
            "not, or say which label each text stands for (--answer TEXT=LABEL)."
        )
    place = f"coalesce(' (' || {job.place_sql} || ')', '')" if job.place_sql else "''"
    whole = f"(SELECT criterion FROM choosing WHERE several * {_MANY} >= known)"
    for which, reason in (
        (
            f"{_CRITERION} IN {whole}",
            "' is of a criterion whose cells hold several choices: make each choice a rubric'",
        ),
        ("label IN $found", "' holds several choices: say which label it stands for (--answer TEXT=LABEL)'"),
    ):
        bound = {"found": found} if "$found" in which else {}
        job.run(
            f"""
            INSERT INTO rejected
            SELECT {job.row_sql}, 'label', label, coalesce(label, 'it') || {reason} || {place}
            FROM incoming i WHERE {which}
            """,
            **bound,
        )
        job.run(f"DELETE FROM incoming i WHERE {which}", **bound)
