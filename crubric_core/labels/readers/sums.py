"""Names of rows that sum up others: Total, Mean:, TOTAL (4), average score."""

from __future__ import annotations

import re
from collections.abc import Collection

from .word_lists import phrase_set
from .words import plain

_SUMS = phrase_set(
    "total, totals, grand total, subtotal, sum, sums, σ, ∑, average, averages, avg, mean, means, ø, overall, "
    "overall total, overall average, overall mean, weighted average, weighted mean, macro average, micro average, "
    "% pass, % passed, pass %, pass rate, % met, summe, gesamt, insgesamt, mittelwert, durchschnitt, somme, moyenne, "
    "promedio, media, 合计, 总计, 平均, 平均值"
)
_OF_RUBRICS = phrase_set("overall, % pass, % passed, pass %, pass rate, % met")  # criteria, too
_TOPICS = phrase_set("mean, means, media, sum, sums")  # those that a query or a rubric may be about
_STATISTICS = phrase_set(
    "max, maximum, min, minimum, count, median, mode, std, stdev, stddev, std dev, standard deviation, sd, variance"
)
_OF_PEOPLE = phrase_set("max, min")
_COUNTED = re.compile(r"\s*([(\[]\s*(n\s*=\s*)?|n\s*=\s*)\d+$")  # TOTAL (4), mean, n=12
_ENDING = re.compile(r" (scores?|ratings?|grades?|points|rates?|values?|labels?)$")
# What may be a criterion as well, so that its labels tell: overall, score, mean of all
_MAY_TOTAL = re.compile(
    r"(grand|sub)?totals?|sums?|overall|averaged?|avg|means?|final|aggregated?|composite|weighted|combined|global|"
    r"gesamt\w*|insgesamt|mittelwert|durchschnitt|somme|moyenne|promedio|globale?"
)
_LABEL = re.compile(r"(score|rating|grade|point|mark|result|reward|note)s?")
_CJK_TOTAL = re.compile(r"[总總合综綜平][分計计合評评均価]|총점|итого")
_TOTAL_BY_NAME = re.compile(
    r"(?i)(grand_|weighted_)?(total|final|average|avg|mean|weighted|composite|aggregated?)_"
    r"(score|rating|grade|points|marks)s?"
)
MAY_SUM = "|".join(sorted(map(re.escape, _SUMS | _STATISTICS)))  # what any such name has, in lower case
# What every name holds that may_total takes: in SQL it looks at a name once for all of its rows.
MAY_TOTAL = f"{_MAY_TOTAL.pattern}|{_LABEL.pattern}|{_CJK_TOTAL.pattern}"
_WORDS_OF_TOTALS = 4  # of such a name, at most
LONGEST = 40  # characters of such a name


def sums_among(names: Collection[str], column: str, *, numbered: bool = True) -> set[str]:
    """Those of the names of a column of systems, queries, rubrics, judges or annotators that sum up others.

    A word that names other things as often (max, and of queries mean) counts with a colon or an ending, or where all
    other names have digits. numbered: whether those have that are not among ``names``.
    """
    clear, doubtful = _SUMS, _STATISTICS
    if column in ("system", "judge", "annotator"):
        doubtful -= _OF_PEOPLE
    if column == "query":
        clear, doubtful = clear - _TOPICS, doubtful | _TOPICS
    if column == "rubric":
        clear, doubtful = clear - _TOPICS - _OF_RUBRICS, frozenset()
    found, open_ = set(), set()
    for name in names:
        bare = _COUNTED.sub("", plain(name)).rstrip(" ,")
        short = bare if column == "rubric" else _ENDING.sub("", bare)
        marked = short != plain(name) or name.strip().endswith(":")
        if short in clear or bare in clear or (short in doubtful and marked):
            found.add(name)
        elif short in doubtful:
            open_.add(name)
    others = set(names) - found - open_
    return found | open_ if numbered and all(re.search(r"\d", name) for name in others) else found


def may_total(name: str) -> bool:
    """Whether a rubric's name may be that of the sum or the mean of the others: Overall quality, final_score, score."""
    words = re.findall(r"[^\W\d_]+", plain(_parted(name)))
    some = any(map(_MAY_TOTAL.fullmatch, words)) or bool(_CJK_TOTAL.search(name))
    return len(words) <= _WORDS_OF_TOTALS and (some or (len(words) == 1 and bool(_LABEL.fullmatch(words[0]))))


def is_total(name: str) -> bool:
    """Whether a field's name says that it sums up others, whatever it holds: total_score. A text has no such name."""
    return bool(_TOTAL_BY_NAME.fullmatch(_parted(name.strip())))


def _parted(name: str) -> str:
    """A name with totalScore in the form total_score."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
