"""Which column of a table is meant by each canonical one: from its name and from what it holds."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...errors import IngestError
from .columns import KINDS, SPECS, SYNONYMS, SYSTEM_FACTS, Kind, choose_columns, plain_name, synonyms_of
from .plan import Guess
from .words import UNKNOWN, is_number, levels_of, plain

Spread = Literal["judge", "system", "rubric"]
Sample = Sequence[Sequence[str | None]]

CROSSED = "~ {judge}×{rubric}"  # in place of the judge's column: wide columns are judges times criteria
_ENOUGH = 0.8  # share of a column's known cells that must look like labels
_WIDEST = 101  # levels of the widest scale that contents alone may suggest
_NEVER_LABELS = frozenset(
    [
        "id",
        "index",
        "row",
        "n",
        "count",
        "total",
        "mean",
        "sd",
        "std",
        "time",
        "seconds",
        "timestamp",
        "date",
        "created_at",
        "tokens",
        "cost",
        "latency",
        "duration",
        "seed",
        "epoch",
        "version",
        "weight",
        "points",
        "max_points",
        "min_points",
        "max_score",
        "min_score",
        "turn",
        "position",
        "rank",
        "year",
        "age",
    ]
)
_ENDINGS = (
    "score",
    "scores",
    "label",
    "labels",
    "rating",
    "grade",
    "verdict",
    "judgment",
    "judgement",
    "vote",
    "present",
    "feedback",
)
_CONTAINS: Mapping[str, tuple[str, ...]] = {
    "system": ("system", "model", "candidate", "assistant"),
    "query": ("query", "question", "prompt", "task", "example"),
    "rubric": ("rubric", "criterion", "criteria", "checklist", "item"),
    "judge": ("judge", "grader", "rater", "annotator", "evaluator"),
    "annotator": ("annotator", "rater", "expert", "physician", "human"),
    "label": ("label", "score", "rating", "grade", "verdict", "met"),
}


MODEL = re.compile(
    r"(?i)(gpt|claude|gemini|llama|qwen|mistral|mixtral|deepseek|command|grok|phi|gemma|prometheus|sonnet|opus|haiku|^o[134]\b|human)"
)  # names of models


@dataclass(frozen=True)
class Profile:
    """What the first cells of a column hold.

    known: cells that are not blank. distinct: different ones. labels: share that look like labels. length: mean
    characters of a cell.
    """

    known: int
    distinct: int
    labels: float
    length: float


def profile(cells: Sequence[str | None]) -> Profile:
    """The profile of a column's first cells."""
    known = [c for c in cells if c is not None and plain(c) not in UNKNOWN]
    if not known:
        return Profile(0, 0, 0.0, 0.0)
    numbers = [float(c) for c in known if is_number(c)]
    words = levels_of(c for c in known if not is_number(c))
    alike = sum(abs(x) <= 100 and (x * 4).is_integer() for x in numbers) + sum(c in words for c in known)
    distinct = len(set(known))
    share = alike / len(known) if distinct <= _WIDEST else 0.0
    return Profile(len(known), distinct, share, sum(map(len, known)) / len(known))


def guess_kind(name: str, columns: Sequence[str]) -> Kind:
    """What a table holds, by its columns; labels and gold labels differ by name alone."""
    plainly = {plain_name(column) for column in columns}
    if plainly & {"valid", "validity"} and fits("anchors", columns):
        return "anchors"
    criteria = bool(plainly & {"rubric", *synonyms_of("labels", "rubric")})
    systems = any("system" in c or "model" in c for c in plainly)
    if systems and not criteria and not fits("labels", columns):
        return _of_systems(columns)
    if _lacks_system(columns):
        return "labels"
    kinds: tuple[Kind, ...] = ("labels",) if systems else ("labels", "rubrics", "queries")
    kind: Kind = next((k for k in kinds if fits(k, columns)), "labels")
    human = "gold" in name.lower() or any("annotator" in c for c in plainly)
    return "gold" if kind == "labels" and human else kind


_DESCRIBING = ("text", "scale_min", "scale_max", "weight", "dimension", "severity", "polarity")


def _lacks_system(columns: Sequence[str]) -> bool:
    """Whether a table holds labels of rubrics and describes none of them: its system stands outside the file."""
    held = {plain_name(column) for column in columns}
    described = any(held & {c, *synonyms_of("rubrics", c)} for c in _DESCRIBING)
    rubrics = held & {"rubric", *synonyms_of("labels", "rubric")}
    return bool(rubrics and held & {"label", *synonyms_of("labels", "label")}) and not described


def _of_systems(columns: Sequence[str]) -> Kind:
    """What a table holds that names systems, but no labels of rubrics as far as its column names tell."""
    if fits("answers", columns):
        return "answers"
    if fits("reference", columns):
        return "reference"
    described = any(_by_name("systems", fact, c)[0] > 0.9 for fact in SYSTEM_FACTS for c in columns)
    return "systems" if described and fits("systems", columns) else "labels"


def fits(kind: Kind, columns: Sequence[str]) -> bool:
    """Whether the names alone tell all columns that a table of this kind needs."""
    try:
        choose_columns(kind, columns, None, "")
    except IngestError:
        return False
    return True


def fits_name(column: str) -> bool:
    """Whether a column's name is, or is another word for, one of any kind of table."""
    return any(_by_name(kind, c, column)[0] > 0.9 for kind in KINDS for c in SPECS[kind].columns)


def guess_columns(kind: Kind, columns: Sequence[str], sample: Sample) -> tuple[Guess, ...]:
    """The likeliest column of each canonical one, best first, each column once; nothing below a third of certainty."""
    profiles = [profile([row[i] if i < len(row) else None for row in sample]) for i in range(len(columns))]
    rows = max(len(sample), 1)
    offers = [
        (guess, i)
        for canonical in SPECS[kind].columns
        for i, column in enumerate(columns)
        if (guess := _weigh(kind, canonical, column, profiles[i], rows)).confidence > 1 / 3
    ]
    chosen: dict[str, Guess] = {}
    taken: set[int] = set()
    for guess, i in sorted(offers, key=lambda offer: -offer[0].confidence):
        if guess.canonical not in chosen and i not in taken:
            chosen[guess.canonical] = guess
            taken.add(i)
    return tuple(chosen.values())


def _weigh(kind: Kind, canonical: str, column: str, held: Profile, rows: int) -> Guess:
    named, why = _by_name(kind, canonical, column)
    content, what = _by_content(canonical, held, rows)
    needed = canonical in SPECS[kind].needed
    if named:
        sure = named * (0.7 + 0.3 * content) if held.known else named * 0.8
        return Guess(canonical, column, round(sure, 2), f"{why}; {what}" if what else why)
    sure = 0.5 * content if needed and what and column.strip() else 0.0
    return Guess(canonical, column, round(sure, 2), what)


def _by_name(kind: Kind, canonical: str, column: str) -> tuple[float, str]:
    name, synonyms = plain_name(column), synonyms_of(kind, canonical)
    if name == canonical:
        return 1.0, "the name"
    if name in synonyms:
        return 0.95 - 0.02 * min(synonyms.index(name), 10), f"{column!r} is another word for {canonical}"
    parts = set(name.split("_"))
    if parts & set(_CONTAINS.get(canonical, ())):
        return 0.6, f"{column!r} contains a hint"
    return 0.0, ""


def _by_content(canonical: str, held: Profile, rows: int) -> tuple[float, str]:
    """How well the cells fit (0 to 1; 1 where they say nothing against it), and what they look like."""
    if canonical in ("label", "valid"):
        if held.labels >= _ENOUGH and held.distinct <= 12:
            return 1.0, f"{held.distinct} different values that look like labels"
        return (
            held.labels * 0.6,
            "" if held.labels < 0.5 else f"{held.labels:.0%} of its cells look like labels",
        )
    share = held.distinct / rows
    texty = held.labels < _ENOUGH or held.length > 3
    if canonical == "rubric":
        return (0.8, f"{held.distinct} different names or texts") if texty and share > 0.05 else (0.4, "")
    if canonical in ("system", "judge", "annotator"):
        few = texty and 1 < held.distinct <= max(50, rows // 2) and held.length < 60
        return (0.75, f"{held.distinct} different short names") if few else (0.4, "")
    return (1.0, "") if canonical != "query" else (0.8, "")


NOTED = frozenset(  # columns of a Qualtrics export that are about the response, and no answers
    (
        *("StartDate", "EndDate", "Status", "IPAddress", "Progress", "Duration (in seconds)", "Finished"),
        *("RecordedDate", "RecipientLastName", "RecipientFirstName", "RecipientEmail", "ExternalReference"),
        *("LocationLatitude", "LocationLongitude", "DistributionChannel", "UserLanguage"),
    )
)


def label_columns(columns: Sequence[str], sample: Sample) -> tuple[str, ...]:
    """The columns that may be labels of a wide table, by their cells and names, and name nothing else."""
    taken = {g.column for g in guess_columns("labels", columns, ()) if g.confidence > 0.6}
    noted = NOTED.intersection(columns)
    taken |= noted if len(noted) > 1 else set()  # one alone may be a criterion: Progress
    cells = {c: [row[i] if i < len(row) else None for row in sample] for i, c in enumerate(columns)}
    return tuple(
        c for c in columns if c not in taken and may_hold_labels(c) and profile(cells[c]).labels >= _ENOUGH
    )


def guess_spread(
    columns: Sequence[str], sample: Sample, known: Collection[str] = ()
) -> tuple[Spread, tuple[str, ...]] | None:
    """(what the columns stand for, the columns) of a wide table: one label column a judge, system or rubric.

    What is spread is the key that no column names, and that is not ``known`` otherwise; of several queries' labels
    columns that are not named after models are rubrics. None for a table that is not wide.
    """
    found = {g.canonical for g in guess_columns("labels", columns, ()) if g.confidence > 0.6} | set(known)
    wide = label_columns(columns, sample)
    if "label" in found or len(wide) < 2:
        return None
    if {"system", "rubric"} <= found:
        return ("judge", wide) if "judge" not in found else None
    if "rubric" in found:
        return "system", wide
    if "query" in found and "system" not in found:
        named = any(MODEL.search(c) or names_a_judge(c) for c in spread_names(wide))
        return "system" if named else "rubric", wide
    if "system" in found and "judge" not in found and all(map(names_a_judge, spread_names(wide))):
        return "judge", wide
    return ("rubric", wide) if "system" in found else None


_JUDGE = re.compile(r"(?i)(^|[_\s.\-])(judge|grader|rater|annotator|evaluator|expert|human)s?[_\s.\-]*\d*$")

_VERSION = re.compile(r"(?i)turbo|instruct|preview|latest|flash|mini|nano|lite|chat|base|large|medium|small")


def names_a_judge(name: str) -> bool:
    """Whether a column is named after a judge and nothing else: ``gpt-4o``, ``human``, ``rater 2``."""
    rest = _VERSION.sub("", MODEL.sub("", name))
    return bool(_JUDGE.search(name) or (rest != name and not re.search(r"[A-Za-z]{4,}", rest)))


def crossed_names(columns: Sequence[str]) -> tuple[tuple[str, str], ...] | None:
    """(judge, rubric) of each column, where the columns are all judges times all criteria; None where they are not.

    ``gpt4_clarity, gpt4_tone, claude_clarity, claude_tone`` are two judges and two criteria.
    """
    for separator in ("__", "/", "|", ":", ".", " - ", "_", "-", " "):
        for at_end in (False, True):
            pairs = [_halves(c, separator, at_end=at_end) for c in columns]
            for order in (1, -1):
                judges, rubrics = ({p[::order][i] for p in pairs} for i in (0, 1))
                crossed = len(judges) * len(rubrics) == len(set(pairs)) == len(columns)
                if crossed and min(len(judges), len(rubrics)) > 1 and all(map(names_a_judge, judges)):
                    return tuple((p[::order][0], p[::order][1]) for p in pairs)
    return None


def _halves(column: str, separator: str, *, at_end: bool) -> tuple[str, str]:
    first, _, last = column.rpartition(separator) if at_end else column.partition(separator)
    return first.strip(), last.strip()


@dataclass(frozen=True)
class Matrix:
    """A table of responses, systems by items or the other way round.

    what: what its columns are, system or rubric; columns: those with labels; key: the column that names the rows.
    """

    what: Spread
    columns: tuple[str, ...]
    key: str
    confidence: float
    reason: str

    @property
    def rows_are(self) -> Spread:
        """What its rows are."""
        return "rubric" if self.what == "system" else "system"


_NAMELESS = frozenset(["column_1", "id", "name", "index", "unnamed:_0", "row"])


def named_after_models(columns: Sequence[str], sample: Sample) -> bool:
    """Whether several columns hold labels and are named after models: a wide table, whatever else it names."""
    return sum(bool(MODEL.search(c)) for c in label_columns(columns, sample)) > 1


def guess_matrix(columns: Sequence[str], sample: Sample) -> Matrix | None:
    """A response matrix: one column of names, and nothing but labels in all others; None for any other table."""
    if len(columns) < 4 or plain_name(columns[0]) not in _NAMELESS:
        return None
    cells = [[row[i] if i < len(row) else None for row in sample] for i in range(len(columns))]
    names = [c for c in cells[0] if c]
    wide = tuple(columns[1:])
    if len(set(names)) < max(2, len(sample)) or not all(profile(c).labels >= _ENOUGH for c in cells[1:]):
        return None
    rows, heads = (sum(bool(MODEL.search(n)) for n in part) / len(part) for part in (names, wide))
    if max(rows, heads) >= 0.5 and abs(rows - heads) >= 0.3:
        what: Spread = "rubric" if rows > heads else "system"
        return Matrix(
            what, wide, columns[0], 0.75, f"its {'rows' if rows > heads else 'columns'} are named like models"
        )
    what = "rubric" if len(names) <= len(wide) else "system"
    return Matrix(what, wide, columns[0], 0.5, "one column of names, and labels in all others")


# last words, a unit apart, of names of what is measured or counted along with labels: lead_time, latency_ms
_MEASURED = frozenset(
    (
        *("idx", "index", "hash", "time", "timestamp", "duration", "latency", "seconds", "tokens", "cost"),
        *("total", "average", "avg", "mean", "sum", "count", "possible", "max", "maximum"),
    )
)
_UNITS = frozenset(["ms", "s", "sec", "secs", "seconds", "minutes", "usd", "in"])


def is_measured(column: str) -> bool:
    """Whether a column counts, times or sums up: ``lead_time``, ``Duration (in seconds)``, ``average score``."""
    parts = re.findall(r"[^\W_]+", plain_name(column))
    bare = [w for i, w in enumerate(parts) if i == 0 or w not in _UNITS]
    while len(bare) > 1 and bare[-1] in _ENDINGS:
        bare = bare[:-1]
    return bool(bare) and bare[-1] in _MEASURED


def may_hold_labels(column: str) -> bool:
    """Whether a column may hold labels as far as its name tells: it is no id, count or weight, and names no key."""
    name = plain_name(column)
    if is_measured(column):
        return False
    described = {s for names in SYNONYMS.values() for s in names} - set(SYNONYMS["label"])
    described |= set(synonyms_of("answers", "text"))
    return bool(name) and name not in _NEVER_LABELS and name not in described and not name.endswith("_id")


def spread_names(columns: Sequence[str]) -> tuple[str, ...]:
    """The names of what wide columns stand for: without an ending such as _score, or such a beginning, of them all."""
    for word in _ENDINGS:
        for pattern in (rf"(?i)[\s_.\-]+{word}$", rf"(?i)^{word}[\s_.\-]+"):
            cut = [re.sub(pattern, "", c) for c in columns]
            changed = all(c and c != whole for c, whole in zip(cut, columns, strict=True))
            if changed and len(set(cut)) == len(columns):
                return tuple(c.strip() for c in cut)
    return tuple(c.strip() for c in columns)
