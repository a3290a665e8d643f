"""Infer the levels of the words among all labels of a file, as one vocabulary, independent of the rows."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ...errors import IngestError
from ..readers import values
from ..readers.plan import Words
from ..readers.policies import Policies, folded
from ..readers.words import amounts_of, is_number, is_verdict, levels_of, plain, resolved_levels, whole_of
from .job import Job

if TYPE_CHECKING:
    import duckdb

_MOST = 50_000  # different texts; a column with more of them holds no labels


def with_vocabulary(job: Job, planned: Words) -> tuple[Job, Words]:
    """(the job with the level of each word in its policies, word → level).

    Creates ``label_words(raw, n, amount)`` with each text once; amount: the number in a text such as "80.5%". A level
    by the user has precedence over the plan's, and this over an inferred one. Raises IngestError where there are too
    many different texts to be labels.
    """
    job.run(
        "CREATE TEMP TABLE label_words AS"
        " SELECT label AS raw, count(*) AS n, NULL::DOUBLE AS amount FROM incoming GROUP BY label"
    )
    job = replace(job, policies=_with_numbers_alike(job))
    texts = _texts(job)
    criteria, words = _understood(job, texts, planned)
    counted = _amounts_among(criteria, words)
    given = frozenset(map(folded, job.policies.answers))
    top = max((level for level in words.values() if level is not None), default=0)
    graded = any(
        level is not None and level > 1 and word not in counted and folded(word) not in given
        for word, level in words.items()
    )
    plainly = top <= 1 or (graded and _has_numbers(job))
    verdicts = frozenset(folded(word) for word in words if plainly and is_verdict(word)) - given
    policies = _with_answers(job.policies, words)
    _keep_amounts(job, counted, words)
    if any("," in text for text in texts):
        _keep_commas(job)
    whole = whole_of(words)
    low, high = policies.scales.get("*", (None, None)) if policies.bins else (None, None)
    ends = None if low is None or high is None else (low, high)
    if (scale := _scale_of(policies, whole)) and (ends or not policies.scales):
        policies = replace(policies, scales={**policies.scales, "*": scale})
    elif counted and not policies.scales:
        wholes = {c: whole_of(own) for c, own in criteria.items() if amounts_of(own).keys() <= counted.keys()}
        policies = replace(
            policies, scales={c: (None, n * policies.multiply) for c, n in wholes.items() if n}
        )
    understood = {word: policies.answers.get(folded(word), level) for word, level in words.items()}
    return replace(
        job, policies=policies, verdicts=verdicts, graded=graded, given=given, whole=whole, ends=ends
    ), understood


def _texts(job: Job) -> list[str]:
    """The different labels that are no numbers. Raises IngestError where there are too many."""
    found = job.all(
        f"SELECT raw FROM label_words WHERE try_cast(raw AS DOUBLE) IS NULL AND trim(raw) <> '' LIMIT {_MOST + 1}"
    )
    if len(found) > _MOST:
        raise IngestError(
            f"The label column of {job.source} holds more than {_MOST:,} different texts: name the column that holds "
            "the labels, or a rule that finds the label in a text (extract)."
        )
    return [text for (text,) in found]


def _understood(job: Job, texts: list[str], planned: Words) -> tuple[dict[str, list[str]], Words]:
    """(criterion → its texts, word → level). All texts are under "" if they are understood without the criteria."""
    together = levels_of(texts)
    unsaid = any(text not in together or plain(text) == "none" for text in texts)
    criteria = (unsaid and words_by_criterion(job.cursor, "incoming")) or {"": texts}
    words = resolved_levels(criteria.values(), planned)
    if _among_numbers(job, [w for w, n in words.items() if n is not None and not is_verdict(w)]):
        criteria = criteria if unsaid else {"": [*texts, "0"]}
        words = resolved_levels(criteria.values(), planned, "0")
    return criteria, words


def _amounts_among(criteria: Mapping[str, list[str]], words: Words) -> Mapping[str, float]:
    """Word → number, for words such as "4/5": from all words together, else from those of single criteria."""
    counted = amounts_of(words)
    if counted or not any(amounts_of([text]) for texts in criteria.values() for text in texts):
        return counted
    amounts = (found for own in criteria.values() for found in amounts_of(own).items())
    return {word: number for word, number in amounts if words.get(word) == number}


def _scale_of(policies: Policies, whole: int | None) -> tuple[int | None, int | None] | None:
    """The (lowest, highest) level that the policies or the labels (4/5) imply, even if it does not occur; or None."""
    if policies.bins:
        return 0, policies.bins - 1
    if policies.threshold is not None:
        return 0, 1
    return None if whole is None else (None, whole * policies.multiply)


def words_by_criterion(cursor: duckdb.DuckDBPyConnection, table: str) -> dict[str, list[str]]:
    """Criterion → its texts in a staged table, with "0" for all numbers; {} if there are too many texts."""
    found = cursor.execute(f"""
        SELECT DISTINCT coalesce(rubric, ''), CASE WHEN try_cast(label AS DOUBLE) IS NULL THEN label ELSE '0' END
        FROM {table} WHERE trim(label) <> '' LIMIT {_MOST + 1}
    """).fetchall()
    criteria: dict[str, list[str]] = {}
    for rubric, text in sorted(found):
        criteria.setdefault(rubric, []).append(text)
    return criteria if len(found) <= _MOST else {}


def _keep_amounts(job: Job, counted: Mapping[str, float], words: Words) -> None:
    """Set ``amount`` of texts such as "4/5" in ``label_words``, unless the user gave them another level.

    Policies such as multiply then apply to these numbers, too.
    """
    given = {folded(word): level for word, level in job.policies.answers.items()}
    amounts = {
        word: number
        for word, number in counted.items()
        if words[word] == number == given.get(folded(word), number)
    }
    if amounts:
        job.run(
            "UPDATE label_words SET amount = a.amount FROM"
            " (SELECT unnest($texts::VARCHAR[]) AS raw, unnest($numbers::DOUBLE[]) AS amount) a"
            " WHERE label_words.raw = a.raw",
            texts=list(amounts),
            numbers=list(amounts.values()),
        )


def _keep_commas(job: Job) -> None:
    """Read labels such as "1,000" as 1 if other labels have a comma that must be a decimal comma, such as "0,875"."""
    job.run(
        "UPDATE label_words SET amount = replace(raw, ',', '.')::DOUBLE"
        f" WHERE amount IS NULL AND {values.has_either_comma('raw')}"
        f" AND EXISTS (SELECT 1 FROM label_words WHERE {values.has_decimal_comma('raw')})"
    )


def _among_numbers(job: Job, ranked: list[str]) -> bool:
    """Whether a rubric has both numbers and words of ``ranked``, whose level depends on the order among other words."""
    numbers = "label IS NOT NULL AND try_cast(label AS DOUBLE) IS NOT NULL"
    if not ranked or not _has_numbers(job):
        return False
    found = job.all(
        f"SELECT 1 FROM incoming GROUP BY rubric HAVING bool_or({numbers}) AND "
        "bool_or(label IN (SELECT unnest($ranked::VARCHAR[]))) LIMIT 1",
        ranked=ranked,
    )
    return bool(found)


def _has_numbers(job: Job) -> bool:
    return bool(job.all("SELECT 1 FROM label_words WHERE try_cast(raw AS DOUBLE) IS NOT NULL LIMIT 1"))


def _with_numbers_alike(job: Job) -> Policies:
    """The policies with ``answers`` to a number also for other spellings of it in the labels: -9 and -9.0."""
    given = {float(word): level for word, level in job.policies.answers.items() if is_number(word.strip())}
    if not given:
        return job.policies
    found = job.all(
        f"SELECT raw, {values.number('raw')} AS number FROM label_words"
        " WHERE number IN (SELECT unnest($numbers::DOUBLE[]))",
        numbers=list(given),
    )
    alike = {folded(raw): given[number] for raw, number in found}
    return replace(job.policies, answers=alike | dict(job.policies.answers))


def _with_answers(policies: Policies, words: Words) -> Policies:
    meant = {folded(word): level for word, level in words.items() if word.strip()}
    given = {folded(word): level for word, level in policies.answers.items()}
    return replace(policies, answers=meant | given) if meant | given else policies
