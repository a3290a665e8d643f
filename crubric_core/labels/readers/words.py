"""Labels given as words: which level each stands for, decided by all the words of a file together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip() for word in text.split(","))


_NO = _words(
    "no, n, false, f, fail, failed, unmet, not met, does not meet, unsatisfied, not satisfied, incorrect, wrong, "
    "absent, not present, unfulfilled, not fulfilled, unaddressed, not addressed"
)
_YES = _words(
    "yes, y, true, t, pass, passed, met, fully met, meets, meets criteria, satisfied, fully satisfied, correct, "
    "fully correct, right, present, fulfilled, addressed"
)
_PARTLY = _words("partial, partially, partly, mixed, partial pass, partial credit") | {
    f"{how} {what}"
    for how in ("partially", "partly", "somewhat")
    for what in ("met", "satisfied", "correct", "fulfilled", "present", "addressed")
}
UNKNOWN = _words(
    ", na, n/a, null, none, nan, unknown, unscored, refused, refusal, abstain, abstained, unsure, unclear, invalid, "
    "error, skipped, cannot assess, can't assess, unable to assess, not applicable, cannot determine"
)
_LADDERS = (
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("very poor", "poor", "fair", "good", "very good"),
    ("poor", "fair", "good", "excellent"),
    ("bad", "poor", "fair", "good", "excellent"),
    ("never", "rarely", "sometimes", "often", "always"),
)


def plain(word: str) -> str:
    """A word as it is compared: no case, no underscores, single spaces."""
    return re.sub(r"[\s_]+", " ", word).strip().lower()


def is_number(text: str) -> bool:
    """Whether a label is a number as it stands."""
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False


def levels_of(words: Iterable[str]) -> dict[str, int | None]:
    """Word → level of all the words that are understood; None where one says that its label is unknown.

    yes and no are 1 and 0; with a partial verdict among them no, partial, yes are 0, 1, 2. A ladder such as poor,
    fair, good, excellent counts from 0, where all words belong to it.
    """
    seen = {word: plain(word) for word in words if not is_number(word)}
    known = {p for p in seen.values() if p not in UNKNOWN}
    if known and not known & (_NO | _YES | _PARTLY):
        ladder = next((rungs for rungs in _LADDERS if known <= set(rungs)), ())
        found = {rung: level for level, rung in enumerate(ladder)}
    else:
        top = 2 if known & _PARTLY else 1
        found = dict.fromkeys(_NO, 0) | dict.fromkeys(_PARTLY, 1) | dict.fromkeys(_YES, top)
    return {w: None if p in UNKNOWN else found[p] for w, p in seen.items() if p in UNKNOWN or p in found}


def settled(words: Iterable[str], planned: Mapping[str, int | None]) -> dict[str, int | None]:
    """The levels of all words of a table, where a plan was made from its first rows alone.

    What a person changed in the plan stays; what had only been understood of the first rows is understood anew.
    """
    understood = levels_of(planned)
    told = {
        word: level for word, level in planned.items() if word not in understood or understood[word] != level
    }
    return levels_of({*words, *planned}) | told
