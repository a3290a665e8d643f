"""Detect scales on which lower seems to be better (1 = excellent, school grades), and ask the user to confirm."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ...errors import IngestError
from ..readers.columns.languages import WORDS
from ..readers.columns.specs import plain_name
from ..readers.values import shortened
from ..readers.words import is_number, named_levels, verdict_level
from .job import Job

_MOST = 500  # most different words among the labels, and most rubric names, that are examined
_GOOD: Mapping[int, str] = {
    5: "best, excellent, outstanding, perfect, sehr gut, hervorragend, très bien, très bon, excelente, muy bueno, "
    "最好, 优秀, 非常好",
    4: "very good, good, gut, bien, bon, bueno, strongly agree, agree, always, stimme voll zu, 好, 很好",
    2: "poor, bad, schlecht, mangelhaft, mauvais, malo, disagree, rarely, 差",
    1: "worst, very poor, very bad, terrible, severe, unacceptable, ungenügend, sehr schlecht, très mauvais, muy malo, "
    "very severe, strongly disagree, never, stimme gar nicht zu, 很差, 最差, 非常差",
}
_RANKS = {word.strip(): rank for rank, words in _GOOD.items() for word in words.split(",")}
_LEGEND = re.compile(r"(?<![\d.,])(\d{1,3})\s*(?:=|:|\()\s*([^\d,;/()=:]{2,40})")
_GRADES = ("note", "noten", "schulnote", "schulnoten")
_RANK = re.compile(r"(?i)rank(ing)?[\s_.\-:/]")
_BEST_GRADE, _WORST_GRADE = 1, 6


def is_reversed(names: Mapping[int, str]) -> bool:
    """Whether numbers with names go from good to bad: 1 excellent to 5 poor, 1 yes to 2 no.

    A single name is enough if it is 1 best or 5 worst. names: number → its name.
    """
    verdicts = [level for _, name in sorted(names.items()) if (level := verdict_level(name)) is not None]
    if len(verdicts) > 1 and verdicts == sorted(verdicts, reverse=True) and verdicts[0] > verdicts[-1]:
        return True
    ranks = [(n, _RANKS[name]) for n, name in sorted(names.items()) if name in _RANKS]
    pairs = [(a, b) for i, (_, a) in enumerate(ranks) for _, b in ranks[i + 1 :]]
    if len(ranks) == 1:
        ((number, rank),) = ranks
        return (number <= 1 and rank == 5) or (number >= 4 and rank == 1)
    return bool(pairs) and all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)


def legend_of(text: str) -> dict[int, str]:
    """Number → its name, from a header or text such as ``rating (1 = best, 5 = worst)``."""
    return {int(n): name.strip().lower() for n, name in _LEGEND.findall(text)}


def refuse_unsaid(job: Job) -> None:
    """Raise IngestError where lower seems to be better, and no polarity is given by the policies or for the rubrics."""
    if job.kind == "anchors" or job.policies.polarity:
        return
    unsaid = job.all(f"""
        SELECT DISTINCT n.rubric, n.text FROM rubric_names n LEFT JOIN rubrics r ON r.rubric_id = n.id
        WHERE n.rubric IS NOT NULL AND r.polarity IS NULL LIMIT {_MOST}
    """)
    why = _evidence(job, (text for row in unsaid for text in row if text)) if unsaid else ""
    if why:
        raise IngestError(
            f"{why}, so lower labels seem to be better in {job.source}, but higher labels count as better. Say which "
            "label is the best, with --polarity '*=-1' if it is the lowest, or --polarity '*=1' if it is the highest "
            "(in place of * you can name a criterion)."
        )


def _evidence(job: Job, rubrics: Iterable[str]) -> str:
    """The evidence that lower is better, as the beginning of a sentence; "" if there is none."""
    texts = [str(t) for (t,) in job.all(f"SELECT raw FROM label_words WHERE raw IS NOT NULL LIMIT {_MOST}")]
    named = named_levels(texts)
    if is_reversed(named):
        first, last = named[min(named)], named[max(named)]
        return f"Labels are named from {min(named)} ({shortened(first)}) to {max(named)} ({shortened(last)})"
    header = job.headers.get("label", "")
    for text in (header, *rubrics):
        if is_reversed(legend_of(text)):
            return f"{shortened(text)!r} says what its numbers mean"
    if ranks := _ranked(job):
        return f"The columns {shortened(ranks)!r} hold ranks, of which 1 is the best"
    if _looks_like_grades(job, texts):
        return f"The column {header!r} looks like German school grades, of which 1 is the best"
    return ""


def _ranked(job: Job) -> str:
    """The label columns if all are named ranks: "rank_gpt-4o, rank_claude"; else ""."""
    spread = [columns.split(", ") for columns in job.headers.values() if ", " in columns]
    found = next((own for own in spread if all(map(_RANK.match, own))), [])
    return ", ".join(found)


def _looks_like_grades(job: Job, texts: Iterable[str]) -> bool:
    """Whether the label column is named "Note" beside another German header, and all its numbers lie from 1 to 6."""
    if plain_name(job.headers.get("label", "")) not in _GRADES:
        return False
    german = {word for words in WORDS["German"].values() for word in words}
    numbers = [float(t.replace(",", ".")) for t in texts if is_number(t.replace(",", "."))]
    inside = bool(numbers) and all(_BEST_GRADE <= n <= _WORST_GRADE for n in numbers)
    return inside and any(plain_name(h) in german for c, h in job.headers.items() if c != "label")
