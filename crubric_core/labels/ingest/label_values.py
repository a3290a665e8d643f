"""Convert each different text of a label to its level, or to the reason why it has none."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from fractions import Fraction
from math import ceil

import duckdb
import pandas as pd

from ...errors import IngestError
from ...text import listed
from ..readers import values
from ..readers.columns.specs import SPECS
from ..readers.policies import Policies, folded
from ..readers.values import shortened
from ..readers.words import is_number
from .findings import Finding, warning
from .job import Job

_PERCENT = 100  # the highest level of percentages
_SMALL = 10  # if no number is larger, numbers are levels or shares and not percentages
_DECIMALS = (2, 3, 4)  # decimals to which means of a few raters are rounded: 4.33
_LIKERT = 7  # highest level of most scales that begin at 1
_EITHER = (
    "has a comma that may be a decimal comma or a thousands separator: write it with a decimal point, or without the "
    "comma"
)
_NUMBER = f"coalesce(amount, {values.number('raw')})"


def read_labels(job: Job) -> None:
    """Create ``label_values`` with each text once: its label or the problem, and which policies decided it."""
    policies = job.policies
    whole = {"reject": "scaled", "down": "floor(scaled)", "up": "ceil(scaled)"}[policies.fractions]
    zero = "number = 0 AND verdict IS NULL AND NOT answered" if policies.zero == "unknown" else "false"
    words = [folded(word) for word in policies.answers]
    job.run(
        f"""
        CREATE TEMP TABLE label_values AS
        WITH answers AS (SELECT unnest($words::VARCHAR[]) AS word, unnest($meanings::DOUBLE[]) AS meaning),
        parsed AS (
            SELECT raw, n, amount, word, meaning, {values.verdict("raw")} AS verdict, {_NUMBER} AS number,
                   {values.is_unknown("raw")} AS missing
            FROM label_words LEFT JOIN answers ON word = lower({values.name("raw")})
        ), stated AS (
            SELECT * REPLACE (CASE WHEN NOT answered THEN verdict END AS verdict) FROM (
                SELECT *, word IS NOT NULL AND amount IS NULL AND NOT (missing AND meaning IS NULL) AND (
                    verdict IS NULL  -- or one word means another level than usual, and then all of them do
                    OR bool_or(word IS NOT NULL AND verdict IS NOT NULL AND verdict IS DISTINCT FROM meaning) OVER ()
                    OR $graded  -- nor is yes or no a verdict beside partly
                    OR word IN (SELECT unnest($given::VARCHAR[]))
                ) AS answered
                FROM parsed
            )
        ), scaled AS (
            SELECT *, CASE WHEN answered THEN meaning WHEN verdict IS NOT NULL THEN verdict
                           ELSE {_levelled(job)} END AS scaled
            FROM stated
        ), valued AS (
            SELECT *, {zero} AS no_label, CASE WHEN isfinite(scaled) THEN {whole} ELSE scaled END AS value
            FROM scaled
        ), resolved_levels AS (
            SELECT *, missing AND NOT answered OR answered AND meaning IS NULL OR coalesce(no_label, false) AS unknown
            FROM valued
        )
        SELECT raw, n, CASE WHEN NOT unknown THEN value END AS value, unknown,
               verdict IS NOT NULL OR coalesce(word IN (SELECT unnest($verdicts::VARCHAR[])), false) AS is_word,
               answered, no_label, scaled,
               CASE WHEN value IS NULL AND NOT unknown AND {values.has_either_comma("raw")} THEN '{_EITHER}'
                    ELSE {values.problem("value", "unknown", SPECS[job.kind].values["label"])} END AS problem
        FROM resolved_levels
        """,
        words=words,
        graded=job.graded,
        given=sorted(job.given),
        verdicts=sorted(job.verdicts),
        meanings=list(policies.answers.values()),
    )
    _refuse_two_ways(job)
    _count_policies(job)
    _refuse_fractions(job)


def words_of(cursor: duckdb.DuckDBPyConnection) -> set[str]:
    """The different labels of the table that was just read, as texts in lower case."""
    found = cursor.execute(f"SELECT lower({values.name('raw')}) FROM label_words").fetchall()
    return {word for (word,) in found if word}


def unused_answers(given: Policies, used: Set[str], source: str) -> tuple[Finding, ...]:
    """A warning of ``answers`` for words that no label has; or (). used: all labels, in lower case."""
    numbers = {float(word) for word in (w.replace(values.MINUS, "-") for w in used) if is_number(word)}
    unused = [
        word
        for word in given.answers
        if folded(word) not in used and not (is_number(word) and float(word) in numbers)
    ]
    if not unused:
        return ()
    sentence = (
        f"No label of {source} is {listed([repr(shortened(word)) for word in unused])}: this answer (--answer) has "
        "no effect. Write each word as it is in the labels."
    )
    title = "Answers to words that no label has"
    return (warning("unused_answers", title, sentence, pd.DataFrame({"word": unused})),)


def _levelled(job: Job) -> str:
    """SQL that turns a number into a level by the policies threshold, bins or multiply."""
    policies = job.policies
    if policies.threshold is not None:
        return f"CAST(number >= {float(policies.threshold)!r} AS DOUBLE)"
    if policies.bins:
        low, high = _ends_of_scores(job)
        return f"least(floor((number - {low}) * {policies.bins} / {high - low}), {policies.bins - 1})"
    if policies.multiply == 1:
        return "number"
    level = f"round(number * {policies.multiply})"
    meant = " OR ".join(f"abs(round({level} / {policies.multiply}, {n}) - number) < 1e-9" for n in _DECIMALS)
    return f"CASE WHEN {meant} THEN {level} ELSE round(number * {policies.multiply}, 6) END"


def _ends_of_scores(job: Job) -> tuple[int, int]:
    """The range that ``bins`` divides: given, or implied by the labels, else 0 to the least sufficient of 1, 10, 100.

    Raises IngestError where scores lie outside it, or where they may be means on a scale that begins at 1.
    """
    low, high = job.one(f"SELECT min(n), max(n) FROM (SELECT {_NUMBER} AS n FROM label_words)")
    if low is None:
        return job.ends or (0, 1)
    if job.ends and (low < job.ends[0] or high > job.ends[1]):
        raise IngestError(
            f"The labels of {job.source} go from {low:g} to {high:g}, beyond the {job.ends[0]} to {job.ends[1]} that "
            "are given (--scale): bins divides this range."
        )
    if job.ends or job.whole:
        return job.ends or (0, job.whole or 1)
    if low >= 1 < high <= _LIKERT:
        raise IngestError(
            f"The labels of {job.source} go from {low:g} to {high:g}, and may be means on a scale from 1: say which "
            f"range bins divides (--scale '*=1..{ceil(high)}', or '*=0..10'), or convert them to 0 to 1."
        )
    for top in (1, 10, 100):
        if low >= 0 and high <= top:
            return 0, top
    raise IngestError(
        f"The labels of {job.source} go from {low:g} to {high:g}, and bins divides scores of 0 to 1, 10 or 100: give "
        "their range (--scale '*=LOW..HIGH'), use threshold, or convert them to one of these ranges."
    )


def _count_policies(job: Job) -> None:
    """Count in the tally how many rows each policy decided."""
    rounded, zeros, answered, multiplied = job.one("""
        SELECT coalesce(sum(n) FILTER (scaled <> value), 0), coalesce(sum(n) FILTER (no_label), 0),
               coalesce(sum(n) FILTER (answered), 0),
               coalesce(sum(n) FILTER (value IS NOT NULL AND NOT answered AND NOT is_word), 0)
        FROM label_values
    """)
    job.tally.apply("fractions", rounded)
    job.tally.apply("zero", zeros)
    job.tally.apply("answers", answered)
    for name, chosen in (
        ("multiply", job.policies.multiply > 1),
        ("threshold", job.policies.threshold is not None),
        ("bins", job.policies.bins > 0),
    ):
        job.tally.apply(name, multiplied if chosen else 0)


def _refuse_two_ways(job: Job) -> None:
    """Raise IngestError for percentages beside other numbers up to 10: "80%" beside 0.8, or beside stars from 1 to 5.

    One of them would be read on the scale of the other.
    """
    if job.whole != _PERCENT:
        return
    plain = f"amount IS NULL AND {values.number('raw')}"
    small, top, percent, others = job.one(f"""
        SELECT min(raw) FILTER ({plain} BETWEEN 0 AND {_SMALL}), max({values.number("raw")}) FILTER (amount IS NULL),
               max_by(raw, amount) FILTER (amount > 1), count(*) FILTER ({plain} NOT BETWEEN 0 AND {_SMALL})
        FROM label_words
    """)
    if small is not None and percent is not None and not others:
        raise IngestError(
            f"Some labels of {job.source} are percentages, such as {shortened(percent)!r}, and all others numbers up "
            f"to {top:g}, such as {shortened(small)!r}: write all of them in one way, or put criteria with different "
            "scales into separate files."
        )


def _refuse_fractions(job: Job) -> None:
    """Raise IngestError, with a policy that makes levels of them, if a tenth of the labels or more are fractional."""
    known, fractional = job.one(
        "SELECT coalesce(sum(n), 0), coalesce(sum(n) FILTER (value <> round(value)), 0)"
        " FROM label_values WHERE isfinite(value)"
    )
    if fractional * 10 < known or not fractional:
        return
    found = job.all(
        "SELECT DISTINCT value FROM label_values WHERE isfinite(value) AND abs(value) <= 1000 LIMIT 1001"
    )
    scores = [value for (value,) in found]
    steps = [(p, 0) for p in range(2, 21)] + [(p, n) for p in range(3, 13) for n in _DECIMALS]
    parts = next((p for p, n in steps if all(map(_in_steps_of(p, n), scores))), None)
    if parts and len(found) <= 1000:
        raise IngestError(
            f"The labels of {job.source} go in steps of {float(Fraction(1, parts)):.4g}, and levels are whole "
            f"numbers: multiply the labels (and scale_min, scale_max) by {parts} (policy multiply={parts})."
        )
    raise IngestError(
        f"The labels of {job.source} are continuous scores ({_range_of(found)}), and levels are whole numbers: say "
        f"from which score a rubric is met (policy threshold={_middle_of(found):g}), or how many equal steps there are "
        "(policy bins=5)."
    )


def _in_steps_of(parts: int, decimals: int) -> Callable[[float], bool]:
    """A test whether a score is a multiple of 1/parts, rounded to ``decimals`` (4.33 for thirds) or, with 0, exact."""
    if not decimals:
        return lambda v: abs(v * parts - round(v * parts)) < 1e-6
    return lambda v: abs(round(round(v * parts) / parts, decimals) - v) < 1e-9


def _middle_of(found: Sequence[tuple[float]]) -> float:
    """An example of a threshold: half of the least of 1, 10, 100 that no score exceeds, else the scores' middle."""
    scores = [score for (score,) in found] or [0.0, 1.0]
    low, high = min(scores), max(scores)
    half = next((top for top in (1, 10, 100) if high <= top), high) / 2
    return half if low < half < high else round((low + high) / 2, 2)


def _range_of(found: Sequence[tuple[float]]) -> str:
    scores = [score for (score,) in found]
    return f"{min(scores):.4g} to {max(scores):.4g}"
