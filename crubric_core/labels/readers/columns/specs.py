"""The canonical columns of each kind of table, and the choice of the file's column for each of them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, get_args

from ....errors import IngestError
from ....text import as_json, some, with_article
from ..values import HIGHEST_BEHIND
from ..word_lists import word_list
from .languages import MARKS, is_foreign, words_for
from .synonyms import INSTEAD_OF_LABEL, INSTEAD_OF_RUBRIC, INSTEAD_OF_SYSTEM, ITEMS, JUDGED, SYNONYMS

Kind = Literal["labels", "rubrics", "queries", "gold", "reference", "anchors", "answers", "systems"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Type = Literal["text", "number", "whole", "share", "positive", "sign", "bit"]

TASK_TYPES = ("evidence_reasoning", "decision_support", "high_risk_constraint", "creative_divergent")


SYSTEM_FACTS = ("organisation", "date", "cost", "licence")  # a table of systems may have any other column


@dataclass(frozen=True)
class TableSpec:
    """The canonical columns of one kind of table.

    keys: the columns that identify a row. needed: columns that a file must have. values: all other columns, with their
    types. any_of: columns of which a file must have at least one.
    synonyms: other names of its columns, in place of those in ``SYNONYMS``.
    """

    keys: tuple[str, ...]
    needed: tuple[str, ...]
    values: Mapping[str, Type]
    any_of: tuple[str, ...] = ()
    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """All canonical columns."""
        return (*self.keys, *self.values)


SPECS: Mapping[str, TableSpec] = {
    "labels": TableSpec(
        ("system", "query", "rubric", "judge", "run"),
        ("system", "rubric", "label"),
        {"label": "whole", "reason": "text"},
    ),
    "gold": TableSpec(
        ("system", "query", "rubric", "annotator"),
        ("system", "rubric", "label"),
        {"label": "whole", "reason": "text"},
    ),
    "rubrics": TableSpec(
        ("query", "rubric"),
        ("rubric",),
        {
            "text": "text",
            "scale_min": "whole",
            "scale_max": "whole",
            "weight": "number",
            "dimension": "text",
            "severity": "text",
            "polarity": "sign",
            "tags": "text",
            "pass_mark": "whole",
        },
        synonyms={
            "text": word_list(
                "description criterion_text rubric_text content rubric_description criterion_description "
                "criterion criteria requirement definition"
            )
        },
    ),
    "queries": TableSpec(
        ("query",),
        ("query",),
        {
            "text": "text",
            "domain": "text",
            "task_type": "text",
            **{f"p_{name}": "share" for name in TASK_TYPES},
            "type_source": "text",
            "omega": "positive",
        },
        synonyms={
            "text": word_list(
                "description query_text prompt_text question_text content question prompt user_prompt "
                "instruction input"
            )
        },
    ),
    "reference": TableSpec(
        ("system",),
        ("system",),
        {"rank": "positive", "score": "number"},
        any_of=("rank", "score"),
        synonyms={
            "rank": ("ranking",),
            "score": ("elo", "elo_score", "elo_rating", "arena_elo", "arena_score", "win_rate", "winrate"),
        },
    ),
    "anchors": TableSpec(
        ("query", "rubric", "annotator"), ("rubric", "label"), {"label": "bit", "reason": "text"}
    ),
    "answers": TableSpec(
        ("system", "query"),
        ("system", "query", "text"),
        {"text": "text"},
        synonyms={
            "text": ("answer", "response", "completion", "output", "generation", "model_output", "reply")
        },
    ),
    "systems": TableSpec(("system",), ("system",), dict.fromkeys(SYSTEM_FACTS, "text")),
}


def choose_columns(
    kind: Kind,
    columns: Sequence[str],
    mapping: Mapping[str, str] | None,
    source: str,
    own: Sequence[str] | None = None,
) -> dict[str, int]:
    """Canonical column of ``kind`` → position of the file's column for it.

    mapping: canonical column → the file's column, "" for none. source: name of the file, for messages. own: the columns
    of the file itself, for messages, if ``columns`` has derived ones.

    The order of precedence is: ``mapping``, canonical names, synonyms and words of other languages (upper or lower
    case), then ``INSTEAD_OF_SYSTEM`` and, for labels, ``INSTEAD_OF_RUBRIC`` and ``INSTEAD_OF_LABEL``.
    Raises IngestError where a needed column is missing, or several columns fit one canonical column.
    """
    _refuse_duplicates(columns, source)
    chosen = _mapped(kind, columns, mapping or {}, source)
    for own_name in (True, False):
        for canonical in SPECS[kind].columns:
            if canonical not in chosen and (mapping or {}).get(canonical) != "":
                names = (canonical,) if own_name else synonyms_of(kind, canonical)
                chosen |= _fit(kind, canonical, names, columns, chosen, source)
    _refuse_two_models(columns, chosen, mapping or {}, source)
    if "system" in SPECS[kind].needed and "system" not in chosen and (mapping or {}).get("system") != "":
        chosen |= _fit(kind, "system", INSTEAD_OF_SYSTEM, columns, chosen, source, first=True)
    if kind in ("labels", "gold") and "label" not in chosen and (mapping or {}).get("label") != "":
        marks = MARKS if is_foreign([plain_name(c) for c in columns]) else ()
        chosen |= _fit(kind, "label", marks, columns, chosen, source)
    if kind in ("labels", "gold") and "rubric" not in chosen and (mapping or {}).get("rubric") != "":
        chosen |= _fit(kind, "rubric", INSTEAD_OF_RUBRIC, columns, chosen, source, first=True)
    if {"system", "rubric"} <= set(chosen) and "label" not in chosen and (mapping or {}).get("label") != "":
        named = [i for i, c in enumerate(columns) if plain_name(c) in INSTEAD_OF_LABEL]
        chosen |= {"label": named[0]} if len(set(named) - set(chosen.values())) == len(named) == 1 else {}
    _require_needed(kind, columns if own is None else own, chosen, source)
    return chosen


def _refuse_two_models(
    columns: Sequence[str], chosen: Mapping[str, int], mapping: Mapping[str, str], source: str
) -> None:
    """Raise IngestError if both ``model`` and ``evaluated_model`` may be the system: one of them may be the judge."""
    if "system" in mapping or "judge" in chosen or "label" not in chosen or "system" not in chosen:
        return
    model = columns[chosen["system"]]
    others = [c for c in columns if plain_name(c) in JUDGED and c != model]
    if others and plain_name(model) in ("model", "model_id", "model_name"):
        shown = as_json({"system": others[0], "judge": model})
        raise IngestError(
            f"In {source} the columns {model!r} and {others[0]!r} could each be the system: say which, and whether the "
            f"other is the judge, such as {shown} (mapping)."
        )


def _refuse_duplicates(columns: Sequence[str], source: str) -> None:
    for name, times in Counter(c.strip() for c in columns if c.strip()).items():
        if times > 1:
            raise IngestError(f"{source} has the column {name!r} {times} times: rename or drop the others.")


def _mapped(kind: Kind, columns: Sequence[str], mapping: Mapping[str, str], source: str) -> dict[str, int]:
    chosen = {}
    for canonical, name in mapping.items():
        if canonical not in SPECS[kind].columns:
            raise IngestError(
                f"The mapping names {canonical!r}, which {with_article(kind)} table does not have: "
                f"use {', '.join(SPECS[kind].columns)}."
            )
        if name == "":
            continue
        if name not in columns:
            raise IngestError(
                f"The mapping takes {canonical} from the column {name!r}, which {source} does not have: "
                f"its columns are {listed_columns(columns)}."
            )
        chosen[canonical] = list(columns).index(name)
    return chosen


def synonyms_of(kind: Kind, canonical: str) -> tuple[str, ...]:
    """Other names of a canonical column in this kind of table, in all languages."""
    return (*SPECS[kind].synonyms.get(canonical, SYNONYMS.get(canonical, ())), *words_for(canonical))


def names_of(kind: Kind, canonical: str) -> tuple[str, ...]:
    """All names of a canonical column in this kind of table: its own name, then the synonyms."""
    return (canonical, *synonyms_of(kind, canonical))


def rater_of(kind: Kind) -> str:
    """The canonical column of the rater: "annotator" for gold labels, else "judge"."""
    return "annotator" if kind == "gold" else "judge"


def _fit(
    kind: Kind,
    canonical: str,
    names: Sequence[str],
    columns: Sequence[str],
    chosen: Mapping[str, int],
    source: str,
    *,
    first: bool = False,
) -> dict[str, int]:
    """{canonical: position} of the column that has one of these names; {} if none has.

    If several have: with ``first``, or for an optional value column, it is the one whose name comes first in ``names``.
    An id is preferred to the name of the same thing (criterion_id, criterion; question_id, prompt), and the id of a
    criterion to that of a rubric, since a rubric has several. An item beside a criterion is not taken as the rubric.
    Raises IngestError if several columns are left.
    """
    taken = set(chosen.values())
    fits = [i for i, c in enumerate(columns) if i not in taken and plain_name(c) in names]
    first = first or (canonical in SPECS[kind].values and canonical not in SPECS[kind].needed)
    if len(fits) > 1 and first:
        fits = sorted(fits, key=lambda i: names.index(plain_name(columns[i])))[:1]
    if len(fits) > 1 and canonical == "rubric" and kind in ("labels", "gold") and "query" not in chosen:
        fits = [i for i in fits if plain_name(columns[i]) not in ITEMS] or fits
    if len(fits) > 1 and canonical in ("query", "rubric"):
        named = {i: plain_name(columns[i]) for i in fits}
        if len({_thing(name) for name in named.values()}) == 1:
            fits = [i for i in fits if named[i].endswith(("_id", "_code"))] or fits
            fits = [i for i in fits if named[i].startswith("criteri")] or fits
    if len(fits) > 1:
        both = " and ".join(repr(columns[i]) for i in fits)
        raise IngestError(
            f"In {source} the columns {both} could each be the {canonical}: say which (mapping)."
        )
    return {canonical: fits[0]} if fits else {}


def _thing(name: str) -> str:
    """The thing that a column's name refers to: "rubric" for "criterion_id", "query" for "prompt"."""
    bare = re.sub("_(id|code|name|title)$", "", name)
    known = {"criterion": "rubric", "criteria": "rubric", "question": "query", "prompt": "query"}
    return known.get(bare) or next((c for c in ("rubric", "query") if bare in words_for(c)), bare)


def _require_needed(kind: Kind, columns: Sequence[str], chosen: Mapping[str, int], source: str) -> None:
    spec = SPECS[kind]
    missing = [c for c in spec.needed if c not in chosen]
    if not missing and spec.any_of and not any(c in chosen for c in spec.any_of):
        missing = [" or ".join(spec.any_of)]
    if missing:
        may_be_one = "label" not in missing or missing[0] == "system"
        same = f", with {_whole(missing[0])} where it is the same for all rows" if may_be_one else ""
        raise IngestError(
            f"{source}{MISSING}{' and '.join(missing)}, which {with_article(kind)} table needs{COLUMNS}"
            f"{listed_columns(columns)}; rename one or say which it is (mapping){same}."
        )


MISSING = " has no column for "
COLUMNS = ": its columns are "  # followed by the list of the file's columns


def _whole(column: str) -> str:
    return f'{{"{column}": "=…"}}'


@lru_cache(maxsize=2**15)  # called for the same columns by every rule
def plain_name(name: str) -> str:
    """A column's name in a normal form for comparisons: lower case, underscores between words (also ``ModelName``).

    A number is read as an id: ``Question #`` and ``question_number`` become ``question_id``. A scale at the end is
    removed: ``Rating (1-5)``, ``rating (1 = best, 5 = worst)``, ``Polite (Y/N)``. A prefix for a part of a task is
    removed: ``Input.model`` (MTurk), ``OUTPUT:fluency`` (Toloka), ``inputs.query``, ``item.id`` and ``sample.model``
    (OpenAI).
    """
    bare = _PART_OF_TASK.sub("", _LEGEND.sub("", unicodedata.normalize("NFC", name)).strip())
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", bare or name.strip())
    return _NUMBERED.sub("_id", re.sub(r"[\s\-.]+", "_", parted.lower()))


_LEVELS = r"[^()\[\]]*\d\s*(?:[-–—=/:~]|\.\.|to\b|bis\b|à)[^()\[\]]*"
_VERDICT = r"(?:y|yes|n|no|t|true|f|false|pass|fail)"
_LEGEND = re.compile(
    rf"(?i)\s*[(\[](?:{_LEVELS}|\s*{HIGHEST_BEHIND}\s*\d+\s*|\s*{_VERDICT}\s*/\s*{_VERDICT}\s*)[)\]]\s*$"
)
_PART_OF_TASK = re.compile(
    r"(?i)^((inputs?|outputs?|answer)[.:]|(item|sample)\.(?!\d)|assignment:(?=worker))(?=\w)"
)
_NUMBERED = re.compile(r"(?<=[a-z])(_*#|_(num|number|nr)_?|_no_)$")


def listed_columns(columns: Sequence[str]) -> str:
    """The first 12 columns of a file as words of a sentence."""
    return some((repr(c if len(c) <= 40 else f"{c[:39]}…") for c in columns), 12)
