"""Recognise names of totals, which sum up other rows: "Total", "Mean:", "TOTAL (4)", "average score"."""

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
_OF_RUBRICS = phrase_set("overall, % pass, % passed, pass %, pass rate, % met")  # may also be criteria
_TOPICS = phrase_set("mean, means, media, sum, sums")  # may also be the topic of a query or a rubric
_STATISTICS = phrase_set(
    "max, maximum, min, minimum, count, median, mode, std, stdev, stddev, std dev, standard deviation, sd, variance"
)
_OF_PEOPLE = phrase_set("max, min")
_COUNTED = re.compile(r"\s*([(\[]\s*(n\s*=\s*)?|n\s*=\s*)\d+$")  # TOTAL (4), mean, n=12
_ENDING = re.compile(r" (scores?|ratings?|grades?|points|rates?|values?|labels?)$")
# Names that may also be criteria, so that the labels have to decide: overall, score, mean of all
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
MAY_SUM = "|".join(sorted(map(re.escape, _SUMS | _STATISTICS)))  # each such name, in lower case, matches this
# Each name that may_total accepts matches this; used in SQL, where each name is tested once for all its rows.
MAY_TOTAL = f"{_MAY_TOTAL.pattern}|{_LABEL.pattern}|{_CJK_TOTAL.pattern}"
_WORDS_OF_TOTALS = 4  # most words of such a name
LONGEST = 40  # most characters of such a name


def sums_among(names: Collection[str], column: str, *, numbered: bool = True) -> set[str]:
    """The names in a column that are totals of others. column: "system", "query", "rubric", "judge" or "annotator".

    A word that may also be an ordinary name ("max"; for queries, "mean") counts only with a colon or an ending such as
    "score", or if all other names contain digits. numbered: whether names outside ``names`` all contain digits.
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
    """Whether a rubric's name may mean the sum or the mean of the others: "Overall quality", "final_score", "score"."""
    words = re.findall(r"[^\W\d_]+", plain(_parted(name)))
    some = any(map(_MAY_TOTAL.fullmatch, words)) or bool(_CJK_TOTAL.search(name))
    return len(words) <= _WORDS_OF_TOTALS and (some or (len(words) == 1 and bool(_LABEL.fullmatch(words[0]))))


def is_total(name: str) -> bool:
    """Whether a field's name alone shows that it is a total of other fields: ``total_score``, ``averageRating``."""
    return bool(_TOTAL_BY_NAME.fullmatch(_parted(name.strip())))


def _parted(name: str) -> str:
    """A camel-case name with underscores: total_Score for totalScore."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
