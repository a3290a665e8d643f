"""Labels given as words: the level of each word, decided from all the words of a file together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from .word_lists import phrase_set, word_list

_NO = phrase_set(
    "no, n, false, f, fail, failed, unmet, missed, not met, does not meet, unsatisfied, not satisfied, incorrect, "
    "wrong, absent, not present, unfulfilled, not fulfilled, unaddressed, not addressed, "
    "non, nein, não, nao, нет, 否, いいえ, nie, hayır, 아니요, nee, nej, faux, falso, falsch, incorrecto, "
    "nicht erfüllt, non satisfait, no cumple, "
    "ne, не, ні, όχι, ei, nem, nu, không, tidak, لا, לא, خیر, नहीं, ไม่ใช่, 아니오, "
    "onwaar, falskt, falsk, fałsz, insatisfait, 不符合, 不满足, 错, 错误, 不正确, ☐, "
    "reject, rejected, fails, unsupported, not supported, not support"
)
_YES = phrase_set(
    "yes, y, true, t, pass, passed, met, fully met, meets, meets criteria, satisfied, fully satisfied, correct, "
    "fully correct, right, present, fulfilled, addressed, "
    "oui, sí, sì, si, ja, sim, да, 是, はい, tak, evet, 예, 네, vrai, verdadero, wahr, richtig, correcto, erfüllt, "
    "ano, áno, da, так, ναι, kyllä, igen, có, ya, نعم, כן, بله, हाँ, ใช่, "
    "vero, waar, sant, sand, prawda, satisfait, cumple, 符合, 满足, 对, 正确, "
    "accept, accepted, passes, supported, fully supported, support"
)
_BAD = phrase_set(
    "unsafe, harmful, toxic, unfaithful, inconsistent, unhelpful, inaccurate, hallucinated, nonfactual, "
    "ungrounded, not grounded, irrelevant, not relevant, noncompliant, non-compliant, not compliant, unsolved, "
    "not solved, unresolved, not resolved, failure, unsuccessful"
)
_GOOD = phrase_set(
    "safe, unharmful, harmless, non-toxic, faithful, consistent, helpful, accurate, factual, "
    "grounded, relevant, compliant, solved, resolved, success, successful"
)
_INITIALS = phrase_set("y, n, t, f")
_VERDICTS = _NO | _YES | _BAD | _GOOD
_PARTLY = phrase_set(
    "partial, partially, partly, mixed, partial pass, partial credit, partial support, "
    "teilweise, teilweise erfüllt, partiellement, partiellement satisfait, parcial, parcialmente, "
    "cumple parcialmente, parzialmente, gedeeltelijk, delvis, częściowo, 部分, 部分符合, 部分满足"
) | {
    f"{how} {what}"
    for how in ("partially", "partly", "somewhat")
    for what in word_list(
        "met satisfied correct fulfilled present addressed supported grounded relevant compliant solved "
        "resolved faithful accurate successful"
    )
}
_NOTHING = phrase_set("missing, not at all, no credit")  # "no" beside a partial verdict, without a plainer no
_WHOLE = phrase_set("complete, completely, full, fully, full credit")
UNKNOWN = phrase_set(
    ", na, n/a, n / a, null, none, nan, unknown, unscored, refused, refusal, abstain, abstained, unsure, unclear, "
    "invalid, error, skipped, ignore, ignored, cannot assess, can't assess, unable to assess, not applicable, "
    "cannot determine, not rated, not scored, not graded, unrated, don't know, i don't know, not sure, cannot judge, "
    "unable to judge, n.a, n/d, n.d, k.a, -, --, –, —, "
    "#n/a, #ref, #value, #div/0, #name, nicht anwendbar, keine angabe, sans objet, no aplica, 不适用"
)
_LADDERS = (
    ("bad", "good"),
    ("disagree", "agree"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("very poor", "poor", "fair", "good", "very good"),
    ("poor", "fair", "good", "excellent"),
    ("bad", "poor", "fair", "good", "excellent"),
    ("bad", "could be improved", "acceptable", "excellent"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("not at all", "barely", "moderately", "mostly", "completely"),
    ("strongly disagree", "disagree", "neither agree nor disagree", "agree", "strongly agree"),
    (
        "strongly disagree",
        "somewhat disagree",
        "neither agree nor disagree",
        "somewhat agree",
        "strongly agree",
    ),
    ("stimme gar nicht zu", "stimme eher nicht zu", "teils/teils", "stimme eher zu", "stimme voll zu"),
    ("pas du tout d'accord", "pas d'accord", "neutre", "d'accord", "tout à fait d'accord"),
    ("muy en desacuerdo", "en desacuerdo", "neutral", "de acuerdo", "muy de acuerdo"),
    ("非常不同意", "不同意", "一般", "同意", "非常同意"),
    ("ungenügend", "mangelhaft", "ausreichend", "befriedigend", "gut", "sehr gut"),
)


_TICKS, _CROSSES = "✅✔☑✓👍🟢", "❌✗✘✖❎👎🚫🔴"
_MARKS = re.compile(f"[{_TICKS}{_CROSSES}\ufe0f\u200d]")
_AMOUNT = r"(\d{1,4}(?:\.\d+|,\d{1,2})?)"
_UNIT = r"(?:stars?|points?|pts?|★|⭐)"
_RATIO = re.compile(rf"{_AMOUNT}\s*(?:{_UNIT}\s*)?(?:/|out of|of)\s*(\d{{1,4}})(?:\.0*)?\s*{_UNIT}?")
_COUNTED = re.compile(rf"{_AMOUNT}\s*{_UNIT}")
_PACKED = re.compile(rf'\{{"(?:rating|number)": ?{_AMOUNT}\}}')  # the form that Label Studio writes to a cell
_STARS = re.compile(r"(?=.)([★⭐🌟]*)([☆✩]*)")
# 4 - good, 5: always, 1 (bad
_NAMED = re.compile(r"([+-]?\d{1,4})\s*[-–—:=.(]\s*([^\W\d].{0,99})", re.DOTALL)
_NAME_FIRST = re.compile(r"([^\W\d].{0,99}?)\s*\(([+-]?\d{1,4})", re.DOTALL)  # good (4
_PARTED = re.compile(r"\s+[-–—]\s+|\s*[:(]\s*")
_PERCENT = re.compile(rf"{_AMOUNT}\s*%")
_LIST = re.compile(r"\s*\[(.*)\]\s*", re.DOTALL)
_JOINED = re.compile(r"[,;|/+&\n]")  # between the choices of one cell
_GRADE = re.compile(r"[a-f][+-]?")
_SIGNED = [f"{letter}{sign}" for letter in "fdcba" for sign in ("-", "", "+") if letter != "f" or not sign]


@lru_cache(maxsize=2**12)  # the same few words label most cells
def plain(word: str) -> str:
    """A word in a normal form for comparisons: lower case, spaces for underscores, no marks or outer punctuation.

    A mark alone becomes "yes" (✅ ✓ 👍) or "no" (❌ ✗ 👎).
    """
    text = re.sub(r"[\s_]+", " ", _MARKS.sub(" ", word)).strip().lower().strip("*\"'`“”«»()[]. !?;:,")
    if text or not _MARKS.search(word):
        return text
    return "yes" if any(mark in word for mark in _TICKS) else "no" if any(m in word for m in _CROSSES) else ""


def comparable(cell: str | None) -> str:
    """A cell in a normal form for comparisons: 1 and 1.0 are equal, and None and words for unknown are ""."""
    if cell is None or plain(cell) in UNKNOWN:
        return ""
    return str(float(cell)) if is_number(cell) else plain(cell)


def is_number(text: str) -> bool:
    """Whether a label is written as a finite number."""
    try:
        return "_" not in text and abs(float(text)) < float("inf")  # Python reads 1_0 as 10
    except ValueError:
        return False


def levels_of(words: Iterable[str]) -> dict[str, float | None]:
    """Word → level, for the words that are understood; None for words that mean unknown.

    "yes" and "no" are 1 and 0. If a partial verdict occurs, no, partial, yes are 0, 1, 2. A ladder such as poor, fair,
    good, excellent counts from 0 if all words belong to it; good and bad alone are 1 and 0. A number with its name
    ("4 - good") is the number. If plain numbers occur, only words whose level does not depend on others are understood.
    """
    given = tuple(words)
    seen = {word: plain(word) for word in given if not is_number(word)}
    seen = {word: "na" if _means_unknown(p) else p for word, p in seen.items()}
    known = {p for p in seen.values() if p not in UNKNOWN}
    none = (
        bool(known & _PARTLY) and known <= _PARTLY | _WHOLE and not any(map(is_number, given))
    )  # full, partial, none
    known -= (packed := _packed(known)).keys()
    no, yes = _verdicts(known)
    found: Mapping[str, float]
    if counted := _numbered(known) or _parts(known):
        found = counted
    elif packed or any(map(is_number, given)):
        found = {} if known & _PARTLY else dict.fromkeys(no, 0) | dict.fromkeys(yes, 1)
    elif graded := _grades(known):
        found = graded
    elif known and not known & (no | yes | _PARTLY):
        ladder: tuple[str, ...] = next((rungs for rungs in _LADDERS if known <= set(rungs)), ())
        found = {rung: level for level, rung in enumerate(ladder)}
    elif known & _PARTLY:
        nothing, whole = no if known & no else _NOTHING, yes if known & yes else _WHOLE
        found = (
            dict.fromkeys(nothing | ({"none"} if none else set()), 0)
            | dict.fromkeys(_PARTLY, 1)
            | dict.fromkeys(whole, 2)
        )
    else:
        found = dict.fromkeys(no, 0) | dict.fromkeys(yes, 1)
    found = {**found, **packed}
    signs = any(p.strip("+") == "" for p in known)  # beside a plus, a minus is a verdict and not unknown
    unknown = {
        p for p in UNKNOWN if not (signs and p and p.strip("-–—") == "") and not (none and p == "none")
    }
    return {w: None if p in unknown else found[p] for w, p in seen.items() if p in unknown or p in found}


def _verdicts(known: Collection[str]) -> tuple[frozenset[str], frozenset[str]]:
    """(words that mean no, words that mean yes), to read the words in ``known``.

    Beside other letters (A, B, N), the initials y, n, t, f are choices, not verdicts. Words such as "unsafe" and "safe"
    are verdicts only if all words are verdicts.
    """
    letters = any(len(p) == 1 and p.isascii() and p.isalpha() for p in set(known) - _INITIALS)
    no, yes = (_NO - _INITIALS, _YES - _INITIALS) if letters else (_NO, _YES)
    return (no | _BAD, yes | _GOOD) if set(known) <= _NO | _YES | _PARTLY | _BAD | _GOOD else (no, yes)


def verdict_level(name: str) -> int | None:
    """0 for a word that means no, 2 for yes, 1 for partly, None for any other word. name: as ``plain`` returns it."""
    return 0 if name in _NO else 2 if name in _YES else 1 if name in _PARTLY else None


def _means_unknown(text: str) -> bool:
    """Whether all parts of a text mean unknown, except a number at the beginning: "N/A - not applicable", "9: n/a".

    A number with the name "none" is a level: "0 - none" beside "1 - mild".
    """
    parts = [part.strip(" ()") for part in _PARTED.split(text)]
    if parts[0].isdigit() and parts[1:] == ["none"]:
        return False
    return len(parts) > 1 and all(p in UNKNOWN or (i == 0 and p.isdigit()) for i, p in enumerate(parts))


def named_levels(words: Iterable[str]) -> dict[int, str]:
    """Number → its name, if all words are numbers with names ("4 - good", "Good (4)"); else {}."""
    known = _amounts(words) & {p for p in map(plain, words) if not _means_unknown(p)}
    return dict(_pairs(known).values()) if _numbered(known) else {}


def _pairs(known: Collection[str]) -> dict[str, tuple[int, str]]:
    """Word → (number, name), for the words that are a number with a name."""
    first, last = ({p: pattern.fullmatch(p) for p in known} for pattern in (_NAMED, _NAME_FIRST))
    pairs = {p: (m[1], m[2]) for p, m in first.items() if m} | {p: (m[2], m[1]) for p, m in last.items() if m}
    return {p: (int(number), name.strip()) for p, (number, name) in pairs.items()}


def _numbered(known: Collection[str]) -> dict[str, int]:
    """Word → number ("4 - good" → 4), if all words have a number and a name that match one to one; else {}."""
    pairs = _pairs(known)
    distinct = set(pairs.values())
    alone = len({n for n, _ in distinct}) == len({name for _, name in distinct}) == len(distinct)
    return {p: n for p, (n, _) in pairs.items()} if alone and len(pairs) == len(known) else {}


def _grades(known: Collection[str]) -> dict[str, int]:
    """Letter grade → level, F the lowest, if all words are letter grades and at least one of A to D occurs; else {}.

    A, B and C alone are not read as grades, because they often name categories (SimpleQA: correct, incorrect, not
    attempted).
    """
    letters = {p[:1] for p in known}
    if not known or not all(_GRADE.fullmatch(p) for p in known) or not letters & set("abcd") or "e-" in known:
        return {}
    if is_abc(known):
        return {}
    if any(len(p) > 1 for p in known):
        return {p: _SIGNED.index(p) for p in known} if all(p in _SIGNED for p in known) else {}
    order = "fedcba" if "e" in letters and "f" in letters else "edcba" if "e" in letters else "fdcba"
    return {p: order.index(p) for p in known}


def _packed(known: Collection[str]) -> dict[str, float]:
    """Word → number, for the words of the form [{"rating": 4}], independent of the other words."""
    return {p: _number(m[1]) for p in known if (m := _PACKED.fullmatch(p))}


def _parts(known: Collection[str]) -> dict[str, float]:
    """Word → number, if the words are amounts of one kind: "4/5" and "★★★★☆" → 4, "80.5%" → 80.5, "4 stars" → 4."""
    return _measured(known)[0]


def _measured(known: Collection[str]) -> tuple[dict[str, float], int | None]:
    """(text → number, the whole that all texts name, or None) if the texts are amounts of one kind; else ({}, None).

    Texts of another form, such as "~80%", get no number. They must be fewer than a third of the others.
    """
    for pattern, whole in ((_RATIO, None), (_PERCENT, 100), (_COUNTED, None)):
        found = {p: m for p in known if (m := pattern.fullmatch(p))}
        wholes = {m[2] for m in found.values()} if pattern is _RATIO else {whole}
        if found and 3 * (len(known) - len(found)) < len(found) and len(wholes) == 1:
            (one,) = wholes
            return {p: _number(m[1]) for p, m in found.items()}, int(one) if one else None
    return _starred(known)


def _starred(known: Collection[str]) -> tuple[dict[str, float], int | None]:
    """(text → number of full stars, number of full and empty stars or None if no star is empty), or ({}, None)."""
    found = {p: m for p in known if (m := _STARS.fullmatch(p.replace(" ", "")))}
    wholes = {len(m[0]) for m in found.values()} if any(m[2] for m in found.values()) else {0}
    full = {p: float(len(m[1])) for p, m in found.items()}
    if len(found) < len(known) or len(wholes) != 1 or not any(full.values()):
        return {}, None
    return {p: int(n) for p, n in full.items()}, wholes.pop() or None


def _number(amount: str) -> float:
    value = float(amount.replace(",", "."))
    return int(value) if value.is_integer() else value


def whole_of(words: Iterable[str]) -> int | None:
    """The highest level that labels such as 4/5 (5), ★★★★☆ (5) or 80% (100) imply; None if they imply none.

    Stars imply it only if some label has empty stars.
    """
    return _measured(_amounts(words))[1]


def amounts_of(words: Iterable[str]) -> dict[str, float]:
    """Word → number, for the words that express a number in another form: 4/5, 80.5%, 4 stars, [{"rating": 4}]."""
    given = tuple(words)
    known = _amounts(given)
    packed = _packed(known)
    found = _parts(known - packed.keys()) | packed
    return {word: found[plain(word)] for word in given if plain(word) in found}


def _amounts(words: Iterable[str]) -> set[str]:
    return {p for p in map(plain, words) if p not in UNKNOWN and not is_number(p)}


def is_verdict(word: str) -> bool:
    """Whether a word means yes or no, or is a judgement such as "safe" or "unfaithful"."""
    return plain(word) in _VERDICTS


def joined_choices(words: Collection[str]) -> set[str]:
    """The words that hold several choices: a list (["A", "B"]), or "A, B" and "A|B" if A and B occur in other words."""
    listed = {word: m[1] for word in words if (m := _LIST.fullmatch(word))}
    known = [word for word in words if plain(word) not in UNKNOWN]
    parts = {word: set(map(plain, _JOINED.split(listed.get(word, word)))) - {""} for word in known}
    times = Counter(choice for own in parts.values() for choice in own)
    return {
        word
        for word, own in parts.items()
        if len(own) > 1 and (word in listed or all(times[choice] > 1 for choice in own))
    }


def is_abc(words: Collection[str]) -> bool:
    """Whether the words are only A, B and C, which may be grades or categories. words: as ``plain`` returns them."""
    return bool(words) and set(words) <= set("abc")


def letters_of(cells: Iterable[str | None]) -> set[str]:
    """The letters in cells that are all single letter grades (A to F, with + or -); an empty set if any cell is not."""
    words = {plain(cell) for cell in cells if cell}
    return words if all(_GRADE.fullmatch(word) for word in words) else set()


def levels_apart(groups: Collection[Collection[str]], also: Iterable[str] = ()) -> dict[str, float | None]:
    """Word → level for several criteria: levels from all words together, then those that only one criterion shows.

    groups: the words of each criterion. So "full, partly, missing" of one criterion are understood beside the "pass,
    fail" of another. A criterion adds nothing if one of its words has another level in other criteria or in all words
    together, or is not understood in another criterion.
    """
    groups = {frozenset(group) for group in groups}  # thousands of rubrics have the same few words
    together = levels_of({*also, *(word for group in groups for word in group if not is_number(word))})
    own = [levels_of(group) for group in groups]
    meant: dict[str, set[float | None]] = {}
    for group, levels in zip(groups, own, strict=True):
        for word in group:
            if word in levels or word not in together:
                meant.setdefault(word, set()).add(levels.get(word, float("inf")))  # infinity: not understood
    found = dict(together)
    for levels in own:
        if all(
            len(meant[w] - {None}) < 2 and together.get(w) in (None, level) for w, level in levels.items()
        ):
            found |= {w: level for w, level in levels.items() if len(meant[w]) == 1}
    return found


def resolved_levels(
    groups: Collection[Collection[str]], planned: Mapping[str, float | None], also: Iterable[str] = ()
) -> dict[str, float | None]:
    """Word → level for all words of a table, whose plan was made from its first rows only.

    Levels that a person changed in the plan are kept; all others are inferred again from all words.
    groups: the words of each criterion, or all words as one group. also: further words, read together with them.
    """
    return levels_apart(groups, (*planned, *also)) | _edited(groups, planned)


def merged_levels(
    tables: Sequence[tuple[Mapping[str, Collection[str]], Mapping[str, float | None]]],
) -> dict[str, float | None]:
    """Word → level for the words of several tables together, whatever their order.

    Levels that a person changed in a plan are kept. tables: (criterion → its words, the plan's levels) of each table.
    """
    criteria: dict[str, set[str]] = {}
    edited: dict[str, float | None] = {}
    for own, planned in tables:
        edited |= _edited(own.values(), planned)
        for criterion, words in own.items():
            criteria.setdefault(criterion, set()).update(words)
    return levels_apart(criteria.values(), (word for _, planned in tables for word in planned)) | edited


def _edited(
    groups: Collection[Collection[str]], planned: Mapping[str, float | None]
) -> dict[str, float | None]:
    """Word → level, for the levels of a plan that a person changed: those that differ from what its words imply."""
    first = [[word for word in group if word in planned or is_number(word)] for group in groups]
    understood = levels_apart(first, planned)
    return {w: level for w, level in planned.items() if w not in understood or understood[w] != level}


def levels_among(*groups: Iterable[object]) -> dict[str, float | None]:
    """Word → level, sorted by word, for the words of one or more criteria, without numbers and blanks."""
    texts = [{v for v in group if isinstance(v, str) and v.strip()} for group in groups]
    return dict(sorted(levels_apart(texts).items()))
