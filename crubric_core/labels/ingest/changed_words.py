"""Detect words that stand for another level than in an earlier ingest, in which other words came with them."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import pandas as pd

from ...text import listed
from ..readers import values
from ..readers.plan import Words
from ..readers.policies import folded
from ..readers.values import shortened
from .findings import Finding, warning
from .job import Job
from .rubric_facts import criterion_key, own_name
from .scales import find_criteria

_SHOWN = 10  # words in a sentence
_KEYS = f"""
    SELECT {criterion_key("text", "own", "id")} AS key FROM (
        SELECT r.rubric_id AS id, r.text, {own_name("r.name", "q.name")} AS own
        FROM rubrics r LEFT JOIN queries q USING (query_id)
        WHERE r.dataset_id = $dataset AND r.rubric_id IN (
            SELECT rubric_id FROM labels WHERE dataset_id = $dataset AND ingest_id <> $ingest
            UNION ALL SELECT rubric_id FROM gold WHERE dataset_id = $dataset AND ingest_id <> $ingest
        )
    )
"""


def changed_words(job: Job, words: Words) -> tuple[Finding, ...]:
    """A warning about words that an earlier ingest read as another level, in criteria with earlier labels; else ()."""
    now = {folded(word): level for word, level in words.items() if level is not None}
    before = _read_before(job, now)
    changed = {word: level for word, level in before.items() if level != now[word]}
    if not changed:
        return ()
    find_criteria(job)
    found = job.all(
        f"""
        SELECT lower({values.name("i.label")}) AS word, min(k.criterion) FROM incoming i
        JOIN rubric_names r ON r.rubric_raw IS NOT DISTINCT FROM i.rubric AND r.query_raw IS NOT DISTINCT FROM i.query
        JOIN criterion_keys k ON k.id = r.id
        WHERE k.key IN ({_KEYS}) AND word IN (SELECT unnest($words::VARCHAR[])) GROUP BY word ORDER BY word
        """,
        words=list(changed),
    )
    return (_finding(found, changed, now),) if found else ()


def _read_before(job: Job, words: Iterable[str]) -> dict[str, float]:
    """Word → its level in the latest other ingest that has it, parsed from ``ingests.policies``."""
    told = job.all(
        "SELECT policies FROM ingests WHERE dataset_id = $dataset AND ingest_id <> $ingest"
        " AND contains(policies, 'answers: ') ORDER BY ingest_id DESC"
    )
    before: dict[str, float] = {}
    for word in words:
        pattern = re.compile(rf"(?:answers: |, ){re.escape(word)} → (-?[\d.]+)(?=[,;]| \(|$)")
        earlier = next((m for (policies,) in told if (m := pattern.search(policies))), None)
        if earlier:
            before[word] = float(earlier[1])
    return before


def _finding(found: list[tuple[str, str]], before: Mapping[str, float], now: Mapping[str, float]) -> Finding:
    rows = [(criterion, word, before[word], now[word]) for word, criterion in found]
    criterion, word, then, level = rows[0]
    more = (
        f"; the same holds for {listed([repr(shortened(w)) for _, w, *_ in rows[1:_SHOWN]])}"
        if rows[1:]
        else ""
    )
    ways = " ".join(f"--answer '{shortened(w)}={old:g}'" for _, w, old, _ in rows[:_SHOWN])
    sentence = (
        f"{shortened(word)!r} of {shortened(criterion)} was {then:g} in an earlier ingest and is {level:g} in this, "
        f"because this ingest has other words{more}: labels of one criterion are on two scales. Undo this ingest, and "
        f"say what the words stand for ({ways})."
    )
    columns = ["criterion", "word", "level_before", "level"]
    return warning(
        "changed_words",
        "Words that mean another level than before",
        sentence,
        pd.DataFrame(rows, columns=columns),
    )
