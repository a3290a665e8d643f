"""The interface of a reader of one benchmark's or tool's layout, and the canonical rows that it yields."""

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
    """Neither the file nor the mapping names the system (or judge). what: "system" or "judge"."""

    def __init__(self, what: str, name: str) -> None:
        super().__init__(
            f"{name.rsplit('/', 1)[-1]} does not say which {what} it is about: give its name "
            f'({{"{what}": "=…"}} in the mapping) or a pattern of the file names such as {{system}}__{{judge}}.jsonl.'
        )
        self.what = what


# fields that name what serves a model, or its version: the file may be named after the model itself
_OF_A_MODEL = word_set("engine deployment model_version model_variant model_checkpoint checkpoint")
_SYSTEMS = (  # "system" comes late, as it may hold a system prompt
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
    """The first non-empty value of the fields ``names``, in any spelling; None without one.

    For an object it is its ``id`` or ``name``. Lists are skipped.
    """
    return next(_all_called(record, names), None)


def system_in(record: Record, *first: str) -> Any:
    """The system's name, from the fields ``first``, else from any field of systems (``model``); None without one.

    Texts that look like a prompt are skipped.
    """
    found = _all_called(record, (*first, *_SYSTEMS))
    return next((name for name in found if not _PROMPT.search(str(name))), None)


def _alone(_name: str) -> Iterator[Record]:
    return iter(())


@dataclass
class Setting:
    """The context of a file's records: its path, the names that the user or the path gives, and the other files.

    name: the file's path. given: the plan's mapping, such as "system" → its name, or "custom_id" → a pattern.
    companion: file name → the records of that file, if it came with this one; ``*`` and an ending: of all such files.
    memory: values that earlier records keep for later ones. remarks: a sentence on each intended omission.
    """

    name: str
    given: Mapping[str, str] = field(default_factory=dict)
    companion: Callable[[str], Iterator[Record]] = _alone
    memory: dict[str, Any] = field(default_factory=dict)
    remarks: dict[str, None] = field(default_factory=dict)

    def remark(self, sentence: str) -> None:
        """Add a remark on something that was left out of the file; repeated ones are kept once."""
        self.remarks[sentence] = None

    def query(self, name: str, apart: str) -> str:
        """The query's name: ``apart``, longer and unique across files, if the mapping has "query"; else ``name``."""
        return apart if "query" in self.given else name

    def system(self, found: Any = None) -> str:
        """The system in the mapping (by the user or the path), else ``found`` in the record; or MissingError."""
        return self._outside("system", found) or self._fail("system")

    def judge(self, found: Any = None) -> str:
        """The judge in the mapping, else ``found`` in the record, else "judge"."""
        return self._outside("judge", found) or "judge"

    def system_of(self, record: Record, *first: str) -> str:
        """Like ``system``, with the name that ``system_in`` finds in the record."""
        return self.system(system_in(record, *first))

    def judge_of(self, record: Record) -> str:
        """Like ``judge``, with the name in any field of judges (``judge_model``)."""
        return self.judge(first_called(record, names_of("labels", "judge")))

    def unknown(self, what: str) -> str:
        """The name of ``what`` ("system") that the user gives, as record and path have none; else MissingError."""
        return self.given.get(what) or self._fail(what)

    def _outside(self, what: str, found: Any) -> str:
        inside = "" if found is None else as_text(found).strip()
        return self.given.get(what) or inside

    def _fail(self, what: str) -> str:
        raise MissingError(what, self.name)


@dataclass(frozen=True)
class NativeFormat:
    """One layout: how its records are recognised, and how they become canonical rows.

    fits: whether a record has this layout. rows: the rows of a record; raises MalformedError if it is broken.
    recognised_by: description for people of how it is recognised. companions: names of files that belong to it.
    apart: "query" in the mapping that makes names unique if files share them, as ``~ {task}/{query}``; or "".
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
    """The row of a judge's label in one run, with its reason; value, run and reason may be None."""
    draw = None if run is None else as_text(run)
    return "labels", (system, query, f"{query}#{rubric}", judge, draw, level(value), words(reason))


def gold(system: str, query: str, rubric: str, annotator: str, value: Any, reason: Any = None) -> Row:
    """The row of a person's gold label, with its reason."""
    return "gold", (system, query, f"{query}#{rubric}", annotator, level(value), words(reason))


def answer(system: str, query: str, text: Any) -> Iterator[Row]:
    """The row of a system's answer; no row if the text is empty."""
    stated = words(text)
    if stated is not None:
        yield "answers", (system, query, stated)


def words(value: Any) -> str | None:
    """A text as it is, any other value as JSON; None if it is empty (None, "", [] or {})."""
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
    """The row that describes a rubric. polarity: -1 if meeting it is bad. tags: separated by commas."""
    described = None if text is None else as_text(text)
    return "rubrics", (query, f"{query}#{name}", described, *scale, weight, dimension, None, polarity, tags)


def query(name: str, text: Any = None, domain: Any = None) -> Row:
    """The row that describes a query; a conversation becomes one text."""
    return "queries", (name, conversation(text), None if domain is None else as_text(domain))


def level(value: Any) -> Cell:
    """A label as a cell: true and false as 1 and 0; numbers, text and None as they are; lists and objects as JSON."""
    if value is None or isinstance(value, (bool, int, float)):
        return int(value) if isinstance(value, bool) else value
    return as_text(value)


def points(value: Any) -> tuple[Cell, int]:
    """(weight, polarity) by a rubric's points: polarity -1 if they are negative, else 1; weight None if no number."""
    weight = number(value)
    return weight, -1 if weight is not None and weight < 0 else 1


def conversation(value: Any) -> str | None:
    """A prompt as one text: text as it is, a list of messages as ``role: content``, other values as JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(m, dict) for m in value):
        return "\n\n".join(f"{m.get('role', 'user')}: {as_text(m.get('content', ''))}" for m in value)
    return as_text(value)


def listed(record: Record, key: str) -> list[Any]:
    """The list in the field ``key`` of a record; MalformedError if that is no list."""
    value = record.get(key)
    if not isinstance(value, list):
        raise MalformedError(f"has no list {key!r}")
    return value


def mapped(value: Any, what: str) -> Record:
    """The value, if it is an object; else MalformedError, whose message calls it ``what``."""
    if not isinstance(value, dict):
        raise MalformedError(f"has {what} that is not an object")
    return value


def named(record: Record, *keys: str) -> str:
    """The first non-empty text or number under some keys, as a name; MalformedError if there is none."""
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
    """A finite number, given as a number or as text; None for any other value."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except ValueError:
        return None
    return found if abs(found) < float("inf") else None


def fingerprint(text: str) -> str:
    """8 hexadecimal digits of a text's hash: a short name for a criterion that has only its text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


def name_of_text(text: str) -> str:
    """A text as a name: as it is, or its first 80 characters and its fingerprint if it is longer."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… {fingerprint(text)}"


_LONGEST = 80  # characters of a text that is its own name
