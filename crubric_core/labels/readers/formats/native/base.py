"""What a reader of one benchmark's layout promises, and the canonical rows it yields."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .....errors import IngestError
from ...columns.specs import names_of, plain_name
from ...columns.synonyms import INSTEAD_OF_SYSTEM
from ...word_lists import word_set
from ..records import as_text

Record = Mapping[str, Any]
Cell = str | float | int | bool | None
Row = tuple[str, tuple[Cell, ...]]

# The cells of each kind of row, in this order; ``place`` and ``row`` are added when it is written.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "queries": ("query", "text", "domain"),
    "rubrics": (
        "query",
        "rubric",
        "text",
        "scale_min",
        "scale_max",
        "weight",
        "dimension",
        "severity",
        "polarity",
        "tags",
    ),
    "labels": ("system", "query", "rubric", "judge", "run", "label", "reason"),
    "gold": ("system", "query", "rubric", "annotator", "label", "reason"),
    "answers": ("system", "query", "text"),
    "reference": ("system", "rank", "score"),
}


class MissingError(IngestError):
    """The file does not say which system (or judge) it is about, and nobody else did."""

    def __init__(self, what: str, name: str) -> None:
        super().__init__(
            f"{name.rsplit('/', 1)[-1]} does not say which {what} it is about: give its name "
            f'({{"{what}": "=…"}} in the mapping) or a pattern of the file names such as {{system}}__{{judge}}.jsonl.'
        )
        self.what = what


# what serves a model, or which state of it: beside a file that is named after the model, no system
_OF_A_MODEL = word_set("engine deployment model_version model_variant model_checkpoint checkpoint")
_SYSTEMS = (  # "system" is not the first, as it may be a prompt
    *("model", "model_name", "model_test", "response_model", *names_of("labels", "system")),
    *(name for name in INSTEAD_OF_SYSTEM if name not in _OF_A_MODEL),
    *("candidate", "candidate_id", "candidate_name"),
)
_PROMPT = re.compile(r"(?is)^\s*you\b|[.!?:]\s|[.!?]\s*$|\n|.{81}")


def _all_called(record: Record, names: Sequence[str]) -> Iterator[Any]:
    called = {plain_name(key): key for key in record}
    for key in (called[name] for name in names if name in called):
        found = record[key]
        if isinstance(found, dict):
            found = found.get("id") or found.get("name")
        if found not in (None, "") and not isinstance(found, list):
            yield found


def first_called(record: Record, names: Sequence[str]) -> Any:
    """The first value of the fields called so, however their names are written; of an object its id or name."""
    return next(_all_called(record, names), None)


def system_in(record: Record, *first: str) -> Any:
    """The system, by the first of these fields that a record has, else by any called a system; no prompt is one."""
    found = _all_called(record, (*first, *_SYSTEMS))
    return next((name for name in found if not _PROMPT.search(str(name))), None)


def _alone(_name: str) -> Iterator[Record]:
    return iter(())


@dataclass
class Setting:
    """What is known of a file besides its record: its path, system and judge by the user or by the path, its fellows.

    companion: the records of a file of that name that came with it, of all such files after a ``*``.
    memory: what earlier records left to later ones. told: what was left out on purpose, a sentence each.
    """

    name: str
    given: Mapping[str, str] = field(default_factory=dict)
    companion: Callable[[str], Iterator[Record]] = _alone
    memory: dict[str, Any] = field(default_factory=dict)
    told: dict[str, None] = field(default_factory=dict)

    def tell(self, sentence: str) -> None:
        """Say once what was left out of the file."""
        self.told[sentence] = None

    def query(self, name: str, apart: str) -> str:
        """A query's name; ``apart``, with what other files' queries of that name differ in, where the plan says so."""
        return apart if "query" in self.given else name

    def system(self, found: Any = None) -> str:
        """The system: what the user says, else what the record says, else what the file's name says."""
        return self._outside("system", found) or self._fail("system")

    def judge(self, found: Any = None) -> str:
        """The judge, likewise; "judge" where nobody names one."""
        return self._outside("judge", found) or "judge"

    def system_of(self, record: Record, *first: str) -> str:
        """The system, likewise, by ``system_in``."""
        return self.system(system_in(record, *first))

    def judge_of(self, record: Record) -> str:
        """The judge, likewise, by any field that is called a judge."""
        return self.judge(first_called(record, names_of("labels", "judge")))

    def unknown(self, what: str) -> str:
        """What the user says; MissingError where he does not, as the path does not tell."""
        return self.given.get(what) or self._fail(what)

    def _outside(self, what: str, found: Any) -> str:
        inside = "" if found is None else as_text(found).strip()
        return self.given.get(what) or inside

    def _fail(self, what: str) -> str:
        raise MissingError(what, self.name)


@dataclass(frozen=True)
class NativeFormat:
    """One layout: how a record shows it, and what canonical rows a record gives.

    fits: whether a record has this layout. rows: its rows; raises MalformedError where it is broken.
    recognised_by: for people, how it is recognised. companions: names of files that belong to it.
    apart: in the mapping, how queries are named where files give one name to several (``Setting.query``).
    """

    name: str
    title: str
    recognised_by: str
    fits: Callable[[Record], bool]
    rows: Callable[[Record, Setting], Iterator[Row]]
    companions: tuple[str, ...] = ()
    apart: str = ""


class MalformedError(ValueError):
    """A record that has the layout but cannot be read; the message is the reason for its rejection."""


OPTIONAL: Mapping[str, tuple[str, ...]] = {"labels": ("run", "reason"), "gold": ("reason",)}


def label(
    system: str, query: str, rubric: str, judge: str, value: Any, *, run: Any = None, reason: Any = None
) -> Row:
    """A judge's label, one of its runs, with its reason; None is unknown."""
    draw = None if run is None else as_text(run)
    return "labels", (system, query, f"{query}#{rubric}", judge, draw, level(value), words(reason))


def gold(system: str, query: str, rubric: str, annotator: str, value: Any, reason: Any = None) -> Row:
    """A person's label, with its reason."""
    return "gold", (system, query, f"{query}#{rubric}", annotator, level(value), words(reason))


def answer(system: str, query: str, text: Any) -> Iterator[Row]:
    """What a system answered; nothing where that is not known."""
    stated = words(text)
    if stated is not None:
        yield "answers", (system, query, stated)


def words(value: Any) -> str | None:
    """A text, or anything else as JSON; None where there is none."""
    if value is None or value == "" or value == [] or value == {}:
        return None
    return as_text(value)


def label_of(row: Row) -> Cell:
    """The label among the cells of a row of labels or gold labels."""
    return row[1][COLUMNS[row[0]].index("label")]


def rubric(
    query: str,
    name: str,
    text: Any = None,
    *,
    scale: tuple[int, int] | tuple[None, None] = (None, None),
    weight: Any = None,
    dimension: Any = None,
    polarity: int | None = None,
    tags: str | None = None,
) -> Row:
    """What a rubric is; ``polarity`` -1 where meeting it is bad, ``tags`` separated by commas."""
    described = None if text is None else as_text(text)
    return "rubrics", (query, f"{query}#{name}", described, *scale, weight, dimension, None, polarity, tags)


def query(name: str, text: Any = None, domain: Any = None) -> Row:
    """What a query is; a conversation becomes one text."""
    return "queries", (name, conversation(text), None if domain is None else as_text(domain))


def level(value: Any) -> Cell:
    """A label as a cell: true and false become 1 and 0, a number stays, text is read later, anything else is odd."""
    if value is None or isinstance(value, (bool, int, float)):
        return int(value) if isinstance(value, bool) else value
    return as_text(value)


def points(value: Any) -> tuple[Cell, int]:
    """(weight, polarity) of a rubric with points: negative ones count against a system that meets it."""
    weight = number(value)
    return weight, -1 if weight is not None and weight < 0 else 1


def conversation(value: Any) -> str | None:
    """The text of a prompt, whether given as text or as messages."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(m, dict) for m in value):
        return "\n\n".join(f"{m.get('role', 'user')}: {as_text(m.get('content', ''))}" for m in value)
    return as_text(value)


def listed(record: Record, key: str) -> list[Any]:
    """A list of the record; MalformedError where it is something else."""
    value = record.get(key)
    if not isinstance(value, list):
        raise MalformedError(f"has no list {key!r}")
    return value


def mapped(value: Any, what: str) -> Record:
    """An object; MalformedError where it is something else."""
    if not isinstance(value, dict):
        raise MalformedError(f"has {what} that is not an object")
    return value


def named(record: Record, *keys: str) -> str:
    """The first of some keys that the record has, as a name; MalformedError where it has none."""
    for key in keys:
        value = record.get(key)
        if value is not None and not isinstance(value, (dict, list)) and as_text(value).strip():
            return as_text(value).strip()
    raise MalformedError(f"has no {keys[0]!r}")


def has(record: Any, *keys: str) -> bool:
    """Whether a record is an object with all these keys."""
    return isinstance(record, dict) and all(key in record for key in keys)


def is_list_of(value: Any, *keys: str) -> bool:
    """Whether a value is a non-empty list whose first item has all these keys."""
    return isinstance(value, list) and bool(value) and has(value[0], *keys)


def number(value: Any) -> float | None:
    """A number given as a number or as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except ValueError:
        return None
    return found if abs(found) < float("inf") else None


def fingerprint(text: str) -> str:
    """A short name for a criterion that has none but its text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


def name_of_text(text: str) -> str:
    """A name for what has none but its text: the text, or its beginning and what tells it from others that begin so."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… {fingerprint(text)}"


_LONGEST = 80  # characters of a text that is its own name
