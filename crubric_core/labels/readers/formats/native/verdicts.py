"""Find the verdicts in a judge's reply in JSON: one on the whole answer, or one on each criterion, however nested."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...columns.label_names import is_certainty, is_measured, may_hold_labels
from ...columns.specs import synonyms_of
from ...word_lists import word_list
from ...words import is_number, is_verdict, levels_of
from .base import MalformedError

VERDICTS = word_list("grade score verdict criteria_met met label rating judgment judgement passed")
REASONS = ("explanation", "reason", "rationale", "reasoning", "justification", "comment")
JUDGES = ("judge", "judge_id", "judge_model", "grader", "grader_id", "grader_model")
RUBRICS = ("criterion_id", "rubric_id", "rubric", "criterion", "item_id")
_NAMES = (*RUBRICS, "name", "id", "title", "dimension", "aspect", "metric")
_OF_WHOLE = (*VERDICTS, "pass")
_OF_CRITERION = tuple(dict.fromkeys((*VERDICTS, *synonyms_of("labels", "label"))))
_NOTED = frozenset(("id", "index", "weight", "version", "threshold"))
_HOLDING = re.compile(  # keys of objects or lists that hold criteria, and are no criterion themselves
    r"(?i)(^|_)(scores|ratings|grades|labels|verdicts|judge?ments?|evaluations?|assessments?|criteria|rubrics?"
    r"|results?|dimensions|metrics|checks|items|output|response)$"
)
_OVERALL = re.compile(r"(?i)(overall|final)(_\w+)?")  # a score of the whole, beside criteria


@dataclass(frozen=True)
class ReplyVerdict:
    """The label of one criterion, with its reason. group: key of the object or list that holds it; "" at the top."""

    criterion: str
    label: Any
    reason: Any = None
    group: str = ""


@dataclass
class FoundVerdicts:
    """The verdicts in a reply. whole: on the whole answer. left: keys of labels that are not used beside the others."""

    whole: ReplyVerdict | None = None
    criteria: list[ReplyVerdict] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def first_of(record: Mapping[str, Any], keys: Sequence[str]) -> Any:
    """The first non-empty value under some keys of a record; None without one."""
    return next((record[k] for k in keys if record.get(k) not in (None, "")), None)


def parse_verdicts(found: Any) -> FoundVerdicts:
    """The verdicts in a parsed reply; if several groups share a criterion's name, names become ``group.criterion``.

    Raises MalformedError if labels have no names, or if some criteria of a list have no label.
    """
    said = FoundVerdicts(criteria=_of_list(found, "")) if isinstance(found, list) else FoundVerdicts()
    said = _of_object(found, "") if isinstance(found, dict) else said
    if (
        len(set(names := [v.criterion for v in said.criteria])) < len(names)
        and len({v.group for v in said.criteria}) > 1
    ):
        said.criteria = [replace(v, criterion=f"{v.group}.{v.criterion}".lstrip(".")) for v in said.criteria]
    return said


def _of_object(found: Mapping[str, Any], group: str) -> FoundVerdicts:
    whole = next((k for k in _OF_WHOLE if k in found and _is_plain(found[k])), None)
    plain, held = list[ReplyVerdict](), list[ReplyVerdict]()
    left = list[str]()
    for key, value in found.items():
        if isinstance(value, list) and not (whole and _is_nameless(value)):
            held += _of_list(value, key)
        elif isinstance(value, dict):
            inner = _of_inner(value, key, group)
            held, left = [*held, *inner.criteria], [*left, *inner.left]
        elif key != whole and _is_label(key, value):
            plain.append(ReplyVerdict(key, value, group=group))
    criteria = [*plain, *held]
    if any(v.group != group for v in held):
        sums = [v for v in criteria if v.group == group and _OVERALL.fullmatch(v.criterion)]
        criteria, left = [v for v in criteria if v not in sums], [*left, *(v.criterion for v in sums)]
    if whole is None:
        return FoundVerdicts(None, criteria, left)
    verdict = ReplyVerdict("score" if whole in VERDICTS else whole, found[whole], first_of(found, REASONS))
    if held or len(plain) > 1:
        return FoundVerdicts(verdict, criteria, [*left, whole])
    # One key beside a verdict may be any remark.
    return FoundVerdicts(verdict, [], [v.criterion for v in plain])


def _of_inner(found: Mapping[str, Any], key: str, group: str) -> FoundVerdicts:
    """The label of the criterion ``key``, if the object has a verdict; else the criteria within it.

    An object with a key such as ``scores`` holds criteria, even if it has a verdict, too.
    """
    verdict = next((k for k in _OF_CRITERION if k in found and not isinstance(found[k], (list, dict))), None)
    said = _of_object(found, key)
    if verdict is None or (said.criteria and _HOLDING.search(key)):
        return said
    return FoundVerdicts(criteria=[ReplyVerdict(key, found[verdict], first_of(found, REASONS), group)])


def _of_list(items: Sequence[Any], key: str) -> list[ReplyVerdict]:
    """The label of each item, named by its name or else its position; [] if no item has a verdict."""
    if items and _HOLDING.search(key) and all(isinstance(i, (int, float)) for i in items):
        raise MalformedError(f"gives labels in {key!r} of its reply, and no names of criteria")
    verdicts = [
        next((k for k in _OF_CRITERION if k in item), None) if isinstance(item, dict) else None
        for item in items
    ]
    if not any(verdicts):
        return []
    found = []
    for place, (item, verdict) in enumerate(zip(items, verdicts, strict=True)):
        if verdict is None or isinstance(item[verdict], (list, dict)):
            raise MalformedError("has a criterion without a verdict in its reply")
        name = first_of(item, _NAMES)
        found.append(
            ReplyVerdict(str(place if name is None else name), item[verdict], first_of(item, REASONS), key)
        )
    return found


def _is_nameless(items: Sequence[Any]) -> bool:
    """Whether some item has no name: beside a verdict on the whole answer, such a list may be its evidence."""
    return any(first_of(i, _NAMES) is None for i in items if isinstance(i, dict))


def _is_plain(value: Any) -> bool:
    return value not in (None, "") and not isinstance(value, (list, dict))


def _is_label(key: str, value: Any) -> bool:
    """Whether a value is a label: true or false, a number or a word with a level, and its key is no count or id."""
    if is_measured(key) or is_certainty(key) or key.lower() in _NOTED or key in _OF_WHOLE:
        return False
    if not isinstance(value, str) or is_number(value):
        return isinstance(value, (bool, int, float, str))
    known = is_verdict(value) or (len(value) > 1 and any(n is not None for n in levels_of([value]).values()))
    return known and may_hold_labels(key)
