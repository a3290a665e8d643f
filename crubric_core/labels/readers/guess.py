"""Guess which column of a table is each canonical column, such as ``system``, from the names and the cells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ...errors import IngestError
from ...text import count
from .columns.label_names import ENDINGS
from .columns.specs import KINDS, SPECS, SYSTEM_FACTS, Kind, choose_columns, names_of, plain_name, synonyms_of
from .columns.synonyms import INSTEAD_OF_RUBRIC, INSTEAD_OF_SYSTEM
from .plan import Guess
from .word_lists import word_list, word_set
from .words import UNKNOWN, is_abc, is_number, letters_of, levels_of, plain

Sample = Sequence[Sequence[str | None]]

ENOUGH = 0.8  # share of a column's known cells that must look like labels
_WIDEST = 101  # levels of the widest scale that contents alone may suggest
_CONTAINS: Mapping[str, tuple[str, ...]] = {
    "system": ("system", "model", "candidate", "assistant"),
    "query": ("query", "question", "prompt", "task", "example"),
    "rubric": ("rubric", "criterion", "criteria", "checklist", "item"),
    "judge": ("judge", "grader", "rater", "annotator", "evaluator"),
    "annotator": ("annotator", "rater", "expert", "physician", "human"),
    "label": ("label", "score", "rating", "grade", "verdict", "met"),
}

# words in column names of models that gave no answers: judge_model, guessed_model, model_returned (by the judge's API)
_NO_SYSTEMS = word_set(
    "judge judging grader grading evaluator rater scorer embedding tokenizer guess guessed predicted "
    "returned preferred winning losing"
)
# last words of columns with a judge's output: judge_score, human_label, evaluator_notes
_SAID = frozenset(
    (
        *ENDINGS,
        *word_list(
            "correct decision choice answer reason reasoning explanation rationale comment comments note "
            "notes raw output response text cost confidence"
        ),
    )
)

# last words of columns with properties that several queries share: question_group, task_type
_GROUPS = frozenset(["group", "type", "category", "class", "kind", "level", "difficulty"])

_ANSWERS = frozenset(["response", "responses", "output", "outputs", "reply", "completion", "text", "latency"])

MODEL = re.compile(  # names of models and of their makers; some occur within other words: coherence, sophistication
    r"(?i)(gpt|claude|gemini|llama|qwen|mistral|mixtral|deepseek|grok|gemma|prometheus|sonnet|haiku|openai|anthropic"
    r"|(?<![a-z])(?:command(?:-?r)?|phi|opus|cohere|humans?)(?![a-z])|^o[134]\b)"
)


@dataclass(frozen=True)
class Profile:
    """Statistics of the first cells of a column.

    known: number of cells that are neither blank nor a word for unknown. distinct: number of different known cells.
    labels: share of the known cells that look like labels. scores: share that are numbers from 0 to 100; 0 if all
    numbers are multiples of a quarter. length: mean number of characters of a known cell.
    """

    known: int
    distinct: int
    labels: float
    scores: float
    length: float


def cells_at(rows: Sample, at: int) -> list[str | None]:
    """The cells of a column; None where a row ends before it."""
    return [row[at] if at < len(row) else None for row in rows]


def filled_cells(rows: Sample, at: int) -> list[str]:
    """The cells of a column that are not empty."""
    return [cell for cell in cells_at(rows, at) if cell]


def profile(cells: Sequence[str | None]) -> Profile:
    """The profile of a column's first cells; cached, because many functions need it."""
    return _profile(tuple(cells))


@lru_cache(maxsize=64)
def _profile(cells: tuple[str | None, ...]) -> Profile:
    known = [c for c in cells if c is not None and plain(c) not in UNKNOWN]
    if not known:
        return Profile(0, 0, 0.0, 0.0, 0.0)
    numbers = [float(c) for c in known if is_number(c)]
    texts = [c for c in known if not is_number(c)]
    # The meaning of A, B and C alone is asked later.
    words = levels_of(texts) or dict.fromkeys(texts if is_abc(letters_of(texts)) else ())
    alike = sum(abs(x) <= 100 and (x * 4).is_integer() for x in numbers) + sum(c in words for c in known)
    distinct = len(set(known))
    share = alike / len(known) if distinct <= _WIDEST else 0.0
    continuous = any(not (x * 4).is_integer() for x in numbers)
    scores = sum(0 <= x <= 100 for x in numbers) / len(known) if continuous else 0.0
    return Profile(len(known), distinct, share, scores, sum(map(len, known)) / len(known))


def guess_kind(name: str, columns: Sequence[str]) -> Kind:
    """The kind of a table, from its column names. The file's name decides only between "labels" and "gold"."""
    plainly = {plain_name(column) for column in columns}
    if plainly & {"valid", "validity"} and fits("anchors", columns):
        return "anchors"
    criteria = bool(plainly & set(names_of("labels", "rubric")))
    systems = any("system" in c or "model" in c for c in plainly)
    if systems and not criteria and not fits("labels", columns):
        return _of_systems(columns)
    kinds: tuple[Kind, ...] = (
        ("labels",) if systems or _holds_labels(columns) else ("labels", "rubrics", "queries")
    )
    kind: Kind = next((k for k in kinds if fits(k, columns)), "labels")
    return "gold" if kind == "labels" and _GOLD.search(name) else kind


_GOLD = re.compile(r"(?i)(?<![a-z])gold(en)?(?![a-z])")


_DESCRIBING = ("text", "scale_min", "scale_max", "weight", "dimension", "severity", "polarity")


def _holds_labels(columns: Sequence[str]) -> bool:
    """Whether the columns include a rubric and a label, and none describes rubrics; the path may give the system."""
    held = {plain_name(column) for column in columns}
    names = set(names_of("labels", "rubric"))
    names |= set() if held & names else set(INSTEAD_OF_RUBRIC)
    described = any(held & ({c, *synonyms_of("rubrics", c)} - names) for c in _DESCRIBING)
    return bool(held & names and held & set(names_of("labels", "label"))) and not described


def _of_systems(columns: Sequence[str]) -> Kind:
    """The kind of a table with a column of systems but no labels of rubrics, according to its column names."""
    if fits("answers", columns):
        return "answers"
    if fits("reference", columns):
        return "reference"
    described = any(_by_name("systems", fact, c)[0] > 0.9 for fact in SYSTEM_FACTS for c in columns)
    return "systems" if described and fits("systems", columns) else "labels"


def fits(kind: Kind, columns: Sequence[str]) -> bool:
    """Whether all columns that a table of this kind needs can be recognised by their names."""
    try:
        choose_columns(kind, columns, None, "")
    except IngestError:
        return False
    return True


def fits_name(column: str) -> bool:
    """Whether a column's name is a canonical name, or a synonym of one, in any kind of table."""
    return any(_by_name(kind, c, column)[0] > 0.9 for kind in KINDS for c in SPECS[kind].columns)


def guess_columns(kind: Kind, columns: Sequence[str], sample: Sample) -> tuple[Guess, ...]:
    """The likeliest column for each canonical one, best first; each column at most once, with confidence above 1/3."""
    profiles = [profile(cells_at(sample, i)) for i in range(len(columns))]
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
    system = plain_name(chosen["system"].column) if "system" in chosen else ""
    if "judge" in chosen and "used" in system.split("_"):
        del chosen["system"]  # model_used beside judge_name is the judge's model
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
        return 0.95 - 0.02 * min(synonyms.index(name), 8), f"{column!r} is another word for {canonical}"
    if canonical == "rubric" and kind in ("labels", "gold") and name in INSTEAD_OF_RUBRIC:
        return 0.65, f"{column!r} may be the rubric"
    if canonical == "system" and name in INSTEAD_OF_SYSTEM:
        return 0.65, f"{column!r} may be the system"
    parts = set(re.findall(r"[^\W\d_]+", name))
    # model_response and model_answer hold answers, not systems
    answer = canonical == "system" and (parts & _ANSWERS or name.endswith("_answer"))
    other = canonical == "system" and parts & _NO_SYSTEMS
    said = canonical in ("judge", "annotator") and name.rpartition("_")[2] in _SAID
    shared = canonical == "query" and name.rpartition("_")[2] in _GROUPS
    if (hints := parts & set(_CONTAINS.get(canonical, ()))) and not (answer or other or said or shared):
        sure = 0.65 if "model" in parts else 0.55 if hints == {"item"} else 0.6  # an item may be a query
        return sure, f"{column!r} contains a hint"
    return 0.0, ""


def _by_content(canonical: str, held: Profile, rows: int) -> tuple[float, str]:
    """(how well the cells fit the canonical column, 0 to 1, 1 if nothing speaks against it; a description, or "")."""
    if canonical in ("label", "valid"):
        if held.labels >= ENOUGH and held.distinct <= 12:
            return 1.0, f"{held.distinct} different values that look like labels"
        return (
            held.labels * 0.6,
            "" if held.labels < 0.5 else f"{held.labels:.0%} of its cells look like labels",
        )
    share = held.distinct / rows
    texty = held.labels < ENOUGH or held.length > 3
    if canonical == "rubric":
        return (
            (0.8, f"{held.distinct} different names or texts in {count(rows, 'row')}")
            if texty and share > 0.05
            else (0.4, "")
        )
    if canonical in ("system", "judge", "annotator"):
        few = held.labels < ENOUGH and 1 < held.distinct <= max(50, rows // 2) and held.length < 60
        return (0.75, f"{held.distinct} different short names in {count(rows, 'row')}") if few else (0.4, "")
    return (1.0, "") if canonical != "query" else (0.8, "")
