"""Parse the names of the label columns of a wide table: judge or system, criterion, query and run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, product

from ....errors import IngestError
from ..columns.label_names import ENDINGS
from ..guess import MODEL
from ..plan import Columns

_RATER = re.compile(
    r"(?i)^(judge|rater|grader|evaluator|annotator|scorer)[\s_.\-]+(?=[a-z])"
)  # before a model
_SEPARATORS = ("__", "/", "|", ":", "(", "[", ".", " - ", "_", "-", " ")
_CROSSING = re.compile(r"~ \{(\w+)\}×\{(\w+)\}")
PLACE = r"(\d*|[_\s.\-]+[a-z]|(?-i:[A-Z]))"  # judge 1, judge_b, judgeB
AFFIX = "|".join(ENDINGS)
_NUMBERED = (
    r"(?:run|epoch|trial|attempt|seed|draw|rep|repeat|repetition|replicate|iter|iteration)[\s_.\-#]*\d+"
)
_DRAW = re.compile(rf"(?i)(({AFFIX})[\s_.\-]+)?{_NUMBERED}([\s_.\-]+({AFFIX}))?")
_DRAWN = re.compile(rf"(?i)(?P<whose>.+?)[\s_.\-/:|(]+(?P<run>{_NUMBERED})\)?([\s_.\-]+({AFFIX}))?")
_DRAWN_BACK = re.compile(rf"(?i)(?P<run>{_NUMBERED})[\s_.\-/:|(]+(?P<whose>.+?)\)?")
_JUDGE = re.compile(
    rf"(?i)(^|[_\s.\-])(judge|grader|rater|annotator|evaluator|expert|human|worker|reviewer|assessor)s?[_\s.\-]*{PLACE}$"
    r"|^(coder|scorer|examiner|labell?er|physician|clinician|doctor|participant|respondent|member|person|volunteer)"
    r"[_\s.\-]*(\d+|[_\s.\-][a-z]|(?-i:[A-Z]))$|^j\d+$"
)
_SYSTEM = re.compile(rf"(?i)^(system|model|llm|chatbot|bot|agent|assistant|response)[_\s.\-]*{PLACE}$")
_PEOPLE = (
    "judge|grader|rater|annotator|evaluator|expert|human|worker|reviewer|assessor|coder|scorer|examiner|labell?er"
    "|physician|clinician|doctor|participant|respondent|member|person|volunteer|system|model|llm|chatbot|bot|agent|assistant|response"
)
_CALLED = re.compile(rf"(?i){_PEOPLE}|(?<![a-z])j\d")  # a word for a judge or a system
_WHO = rf"(?:{_PEOPLE})[\s_.\-]*(?:\d+|(?<=[\s_.\-])[a-z])"
_BESIDE_CRITERION = {  # rater_1_word_choice, word choice (Rater 1)
    1: re.compile(rf"(?i)(?P<who>{_WHO})[\s_.\-:/|]+(?P<rest>[^\[(].*)"),
    -1: re.compile(rf"(?i)(?P<rest>.+?)[\s_.\-:/|]+(?P<who>{_WHO})"),
}
_ROW_OF_GRID = re.compile(r"(?P<question>[^\[]+)\[(?P<name>.+)\]")  # a row of a grid question in Google Forms
_NUMBERED_QUERY = r"(q|query|question|prompt|task|case|example|item|email)[\s_.\-#]*\d+"
_QUESTION = re.compile(rf"(?i){_NUMBERED_QUERY}")
_OF_QUESTION = re.compile(rf"(?i)\W*{_NUMBERED_QUERY}\W")
_VERSION = re.compile(r"(?i)turbo|instruct|preview|latest|flash|mini|nano|lite|chat|base|large|medium|small")


_HOLDER = re.compile(
    r"(?i)(?:(?:\w+_)?(?:scores|ratings|grades|labels|metrics|dimensions|criteria|verdicts|votes|judge?ments|results)"
    r"|(?:llm_)?judge|eval|evaluations?|assessments?|feedback)\.(?=[^.]+$)"
)


def spread_names(columns: Sequence[str]) -> tuple[str, ...]:
    """The name of each wide column without an ending such as ``_score``, or such a beginning, if all columns have it.

    For paths into parallel lists (``answers[].clear[]``) or to fields of their items, it is the last key. For the rows
    of a grid question (``Rate the answer [Tone]``), it is the name in brackets.
    """
    if all(re.search(r"\[\]|\{\}", c) for c in columns):
        keys = [re.sub(r"[\[\]{}]+$", "", re.split(r"(?<!\\)\.", c)[-1]).replace("\\.", ".") for c in columns]
        columns = keys if len(set(keys)) == len(keys) else columns
    homes = [_HOLDER.match(c) for c in columns]
    if len({home and home[0] for home in homes}) == 1 and homes[0]:
        columns = [c[homes[0].end() :] for c in columns]  # the keys of one object
    rows = [_ROW_OF_GRID.fullmatch(c) for c in columns]
    inner = tuple(row["name"].strip() for row in rows if row)
    if len({row and row["question"] for row in rows}) == 1 and len(set(inner)) == len(columns) > 1:
        return inner
    affixes = [(rf"(?i)[\s_.\-/:]+{word}$", rf"(?i)^{word}[\s_.\-/:]+") for word in ENDINGS]
    for pattern in (*chain.from_iterable(affixes), r"(?i)^rank(ing)?[\s_.\-/:]+"):
        if not all(re.search(pattern, c) for c in columns):
            continue
        cut = [re.sub(pattern, "", c) for c in columns]
        if all(cut) and len(set(cut)) == len(columns):
            return tuple(c.strip() for c in cut)
    return tuple(c.strip() for c in columns)


def names_a_judge(name: str) -> bool:
    """Whether a column's name is a judge's or a model's and nothing else: ``gpt-4o``, ``human``, ``judge_claude``."""
    model = _RATER.sub("", name)
    rest = _VERSION.sub("", MODEL.sub("", model))
    more = re.search(r"[A-Za-z]{4,}" if model == name else r"[A-Za-z]", rest)
    return bool(_JUDGE.search(name) or (rest != model and not more))


def names_a_system(name: str) -> bool:
    """Whether a column's name is a numbered or lettered system: ``Model A``, ``system_2``."""
    return bool(_SYSTEM.search(name))


def called_after_queries(columns: Iterable[str]) -> bool:
    """Whether all columns are numbered queries: ``Q1``, ``prompt_2``."""
    return all(map(_QUESTION.fullmatch, spread_names(tuple(columns))))


def crossing(first: str, last: str) -> str:
    """The rule "~ {first}×{last}": each wide column's name holds a name of ``first``, then one of ``last``."""
    return f"~ {{{first}}}×{{{last}}}"


def is_crossing(rule: str) -> bool:
    """Whether a mapping's value is a rule as ``crossing`` writes it, such as "~ {judge}×{rubric}"."""
    return bool(_CROSSING.fullmatch(rule))


def names_within(
    what: str, columns: Sequence[str], mapping: Columns, source: str
) -> dict[str, tuple[str, ...]]:
    """Canonical column → its name for each wide column, for ``what`` and for the mapping's crossing rules.

    Example: ``gpt4_tone`` with {"judge": "~ {judge}×{rubric}"} has the judge gpt4 and the rubric tone.
    Raises IngestError where the columns are not named as a rule says.
    """
    found = {what: spread_names(columns)}
    # In the order in which ``wide.plan`` infers them, whatever the order of the mapping.
    for other in sorted(mapping, key=lambda c: (c != "run", c != "query")):
        said = mapping[other]
        parts = _CROSSING.fullmatch(said) if isinstance(said, str) else None
        if parts is None:
            continue
        own = tuple(dict.fromkeys(found[what]))
        pairs = drawn_names(own) if other == "run" else None
        order = 1 if parts[1] == other else -1
        pairs = pairs or (crossed_names(own, order, called_after_queries) if other == "query" else None)
        pairs = pairs or crossed_names(own, order)
        if pairs is None or set(parts.groups()) != {what, other}:
            raise IngestError(
                f"The columns of {source} are not each {other} times each {what}, as {said!r} says: give those of one "
                f"{other} at a time (mapping)."
            )
        at = dict(zip(own, pairs, strict=True))
        whose = dict(
            zip(own, spread_of_draws(pairs) if other == "run" else [p[1] for p in pairs], strict=True)
        )
        found |= {other: tuple(at[c][0] for c in found[what]), what: tuple(whose[c] for c in found[what])}
    return found


def drawn_names(columns: Sequence[str]) -> tuple[tuple[str, str], ...] | None:
    """(run, rest of the name) of each column if all end, or all begin, with a numbered run (``gpt4_run1``); or None."""
    for pattern in (_DRAWN, _DRAWN_BACK):
        found = [m for c in columns if (m := pattern.fullmatch(c)) and m["whose"].lower() not in ENDINGS]
        pairs = tuple((m["run"], m["whose"]) for m in found)
        if (
            len(found) == len(columns)
            and len({run for run, _ in pairs}) > 1
            and len(set(pairs)) == len(pairs)
        ):
            return pairs
    return None


def spread_of_draws(pairs: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The name of each column without its run, and without an ending such as ``_score`` that all share.

    pairs: as ``drawn_names`` returns them.
    """
    whose = tuple(dict.fromkeys(name for _, name in pairs))
    bare = dict(zip(whose, spread_names(whose), strict=True))
    return tuple(bare[name] for _, name in pairs)


def without_draws(columns: Sequence[str]) -> tuple[str, ...]:
    """The distinct names of the columns without their run numbers; the columns unchanged if they have none."""
    pairs = drawn_names(spread_names(columns))
    return tuple(dict.fromkeys(spread_of_draws(pairs))) if pairs else tuple(columns)


def without_queries(columns: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...], int] | None:
    """(numbered queries, names without the queries, order) of columns named after queries times others: ``Q1_tone``.

    order: as in ``crossed_names``. None for other columns.
    """
    for order in (1, -1):
        if pairs := crossed_names(columns, order, called_after_queries):
            queries, others = zip(*pairs, strict=True)
            return tuple(dict.fromkeys(queries)), tuple(dict.fromkeys(others)), order
    return None


def crossed_names(
    columns: Sequence[str], order: int = 0, named: Callable[[Collection[str]], bool] | None = None
) -> tuple[tuple[str, str], ...] | None:
    """(judge or system, rubric) of each column, if the columns are judges or systems times criteria; else None.

    ``gpt4_clarity, gpt4_tone, claude_clarity, claude_tone`` are two judges and two criteria. Some combinations may be
    missing if the names are clearly of judges or systems. order: 1 if the rubric comes last, -1 if it comes first, so
    that any names are accepted; 0: inferred from the names. named: test whether names may be the first of the pairs;
    None: names of judges or systems.
    """
    columns = spread_names(columns)
    splits = [
        pairs for pairs in _splits(columns, order) if all(map(all, pairs)) and len(set(pairs)) == len(pairs)
    ]
    told = named or _of_judges_or_systems
    tests = [(told, _is_complete), (told, _is_partial)]
    tests += [(_any_names, _is_complete)] if order and not named else []
    for test, crossed in tests:
        for pairs in splits:
            firsts, lasts = ({pair[i] for pair in pairs} for i in (0, 1))
            several = min(len(firsts), len(lasts)) > 1 and crossed(pairs)
            sure = crossed is _is_complete or any(map(_is_one, firsts))
            if several and sure and all(map(_is_whole, (*firsts, *lasts))) and test(firsts):
                return pairs
    return None


def crossed_among(columns: Sequence[str], known: Collection[str] = ()) -> tuple[str, ...]:
    """The columns that are judges times criteria by their names, if more than half are; else all columns.

    The others name no judge: ``clarity`` beside ``rater1_clarity, rater2_clarity, rater1_tone, …``.
    known: canonical columns that other columns of the table are.
    """
    if 2 * sum(bool(_CALLED.search(c) or MODEL.search(c)) for c in columns) <= len(columns):
        return tuple(columns)
    most: tuple[str, ...] = ()
    for pairs in _splits(columns, 0) if "judge" not in known else ():
        found = tuple(
            c for c, (first, last) in zip(columns, pairs, strict=True) if last and names_a_judge(first)
        )
        if len(columns) < 2 * len(found) and len(found) > len(most) and crossed_names(found):
            most = found
    judges = {first for first, _ in crossed_names(most) or ()}
    # If no other column names the systems, the models are the systems, and no column is left out.
    told = "system" in known or all(map(called_judge, judges))
    return most if told and any(map(_is_one, judges)) else tuple(columns)


def _is_one(name: str) -> bool:
    """Whether a name is of one model, or of a person with a number or letter (``rater 2``); not ``human`` alone."""
    if re.search(r"\d|[\s_.\-][A-Za-z]$|[a-z][A-Z]$", name):
        return True
    return bool(MODEL.search(name)) and name.lower() not in ("human", "humans")


def _is_complete(pairs: Sequence[tuple[str, str]]) -> bool:
    """Whether pairs, all different, are all combinations of the first with the last names."""
    return len({first for first, _ in pairs}) * len({last for _, last in pairs}) == len(pairs)


def _is_partial(pairs: Sequence[tuple[str, str]]) -> bool:
    """Whether pairs are at least half of all combinations, and each first name shares a last name with another one."""
    firsts, lasts = Counter(first for first, _ in pairs), Counter(last for _, last in pairs)
    shared = {first for first, last in pairs if lasts[last] > 1}
    return len(firsts) * len(lasts) <= 2 * len(pairs) and len(shared) == len(firsts)


def _is_whole(name: str) -> bool:
    """Whether the brackets in a part of a name are balanced."""
    return all(name.count(a) == name.count(b) for a, b in ("()", "[]"))


def _any_names(names: Collection[str]) -> bool:
    return bool(names)


def _of_judges_or_systems(names: Collection[str]) -> bool:
    alike = all(map(names_a_judge, names)) or all(map(names_a_system, names))
    return alike and not any(map(_OF_QUESTION.match, names))  # "Q1 ..." differs with each query


def called_judge(name: str) -> bool:
    """Whether a name contains a word for a judge or a person: ``rater 2``, ``human``; not a model's name alone."""
    return bool(_JUDGE.search(name))


def _splits(columns: Sequence[str], order: int) -> Iterator[tuple[tuple[str, str], ...]]:
    """Each way to split all names in two: after or before a numbered judge or system, or at a separator.

    Yields the pairs (first, last) of all columns. order: as in ``crossed_names``. Parts are "" where a name cannot be
    split in this way.
    """
    ways = (order,) if order else (1, -1)
    for way in ways:
        matches = [_BESIDE_CRITERION[way].fullmatch(c) for c in columns]
        yield tuple((m["who"].strip(), m["rest"].strip()) if m else ("", "") for m in matches)
    for separator in (s for s in _SEPARATORS if any(s in c for c in columns)):
        for at_end in (False, True):
            for way in ways:
                yield tuple(_halves(c, separator, way, at_end=at_end) for c in columns)
        for pairs in _products(columns, separator):
            yield from (pairs if way == 1 else tuple((last, first) for first, last in pairs) for way in ways)


def _products(columns: Sequence[str], separator: str) -> Iterator[tuple[tuple[str, str], ...]]:
    """Each way in which the columns are all combinations of two sets of names, which may contain the separator.

    ``judge_gpt4_overall_quality`` is ``judge_gpt4`` and ``overall_quality`` if this splits all other columns, too.
    """
    words = columns[0].split(separator)
    for at in range(1, len(words)):
        start, end = separator.join(words[:at]), separator.join(words[at:])
        firsts = [c.removesuffix(separator + end) for c in columns if c.endswith(separator + end)]
        lasts = [c.removeprefix(start + separator) for c in columns if c.startswith(start + separator)]
        if len(firsts) * len(lasts) != len(columns):
            continue
        parted = {separator.join(pair): pair for pair in product(firsts, lasts)}
        if parted.keys() == set(columns):
            yield tuple(parted[c] for c in columns)


def _halves(column: str, separator: str, way: int, *, at_end: bool) -> tuple[str, str]:
    """The parts before and after the first separator (the last if ``at_end``), in reverse order if ``way`` is -1."""
    left, _, right = column.rpartition(separator) if at_end else column.partition(separator)
    first, last = left.strip(), right.strip().removesuffix({"(": ")", "[": "]"}.get(separator, ""))
    return (first, last) if way == 1 else (last, first)


def repeats_among(columns: Sequence[str]) -> tuple[str, ...]:
    """The columns that are named like numbered runs: ``run1``, ``seed_0``."""
    return tuple(c for c in columns if _DRAW.fullmatch(c))
