"""Prompts with their criteria in a list, and verdicts in a list next to it: CL-bench, CFBench, FollowBench, IFEval.

A criterion is named by its id, else by its position, which is the same wherever its prompt is graded.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from typing import Any

from ...columns.label_names import RATERS
from ...columns.query_names import NAMES_OF_QUERIES
from ...columns.specs import plain_name, synonyms_of
from ...word_lists import word_list, word_set
from ...words import is_verdict
from ..records import as_text, unpacked
from .base import (
    MalformedError,
    NativeFormat,
    Record,
    Row,
    Setting,
    answer,
    conversation,
    first_called,
    is_list_of,
    label,
    named,
    points,
    query,
    rubric,
    system_in,
    words,
)

_CRITERIA = word_list(
    "rubrics rubric rubric_texts rubric_items checklist checklists scoring_questions criteria requirements "
    "constraints sub_prompts ingredients other_properties instruction_id_list"
)
_VERDICTS = word_list("requirement_status grades point_judges verdicts judgments judgements judgment")
_JUDGED = ("judge", "judge_result", "judgement_result", "evaluation", "evaluations", "result", "results")
_TEXTS = word_list(
    "criterion criterion_text rubric_criteria rubric_item criteria description question requirement text rubric "
    "content title"
)
_PROMPTS = (
    *("messages", "prompt", "question", "instruction", "query", "input", "prompt_0", "initial_prompt"),
    "conversation_history",
)
_IDS = word_list(
    "task_id question_id prompt_id sample_id case_id main_id example_id task session_id qid id idx index"
)
_NAMES = ("id", "rubric_id", "criterion_id")
_ANSWERS = ("model_output", "response", "output")
_DOMAINS = ("context_category", "domain", "field", "category")
_RATERS = (name for name in RATERS if not name.endswith("email") and not name.startswith("your_"))
_JUDGES = ("judge", "judge_model", "grader_model", "evaluator", *synonyms_of("labels", "judge"), *_RATERS)
# fields of a record, or of a criterion, that grade an answer: a record with one is no mere list of criteria
_GRADED = word_set(
    "score scores grade verdict rating ratings label labels met criteria_met present passed satisfied "
    "eval evaluation results judge_result annotations_met"
)

_IMPORTANCE = word_set("weight weights points importance priority priorities")
_GRADED_LAST = word_set("met present passed satisfied verdict grade")  # last words of such fields: claude_met


def _first(record: Record, keys: tuple[str, ...]) -> Any:
    return next((record[k] for k in keys if record.get(k) not in (None, "", [])), None)


def _text_of(item: Any) -> str | None:
    """The text of a criterion, after its title if it has both (``title: text``); None if it has no text."""
    if isinstance(item, list):  # a wording with its importance and its kind
        item = item[0] if item else None
    if not isinstance(item, dict):
        return item if isinstance(item, str) and item.strip() else None
    text, title = _first(item, _TEXTS), item.get("title")
    both = isinstance(title, str) and isinstance(text, str) and title not in text
    return f"{title}: {text}" if both else words(text)


def _holders(record: Record) -> Iterator[Record]:
    """The objects that may have the criteria: the record, its reward_model (verl), metric_config, prompt_metadata."""
    yield record
    for key in ("reward_model", "metric_config", "prompt_metadata"):
        inner = unpacked(record.get(key))
        if isinstance(inner, dict):
            yield inner
            yield from (config for config in [inner.get("config")] if isinstance(config, dict))


def _criteria(record: Record) -> list[Any]:
    """The first list named like criteria (``rubrics``) in which all have a text; [] without one."""
    for holder in _holders(record):
        for key in _CRITERIA:
            found = unpacked(holder.get(key))
            if isinstance(found, list) and found and all(_text_of(item) for item in found):
                return found
    return []


def _judged(record: Record) -> Record:
    """The record together with the fields of its judge's object (``judge: {judge_model, point_judges}``)."""
    inner = [unpacked(record.get(key)) for key in _JUDGED]
    return ChainMap(record, *(found for found in inner if isinstance(found, dict)))  # type: ignore[arg-type]


def _verdicts(record: Record) -> list[Any] | None:
    """The list of verdicts, by its name (``grades``), else the only list of a yes or no for each criterion; or None."""
    known = _judged(record)
    named_so = [found for key in _VERDICTS if isinstance(found := unpacked(known.get(key)), list)]
    if named_so:
        return None if any(isinstance(v, (dict, list)) for v in named_so[0]) else named_so[0]
    said = [found for key in _JUDGED if isinstance(found := unpacked(record.get(key)), list)]
    unnamed = _yes_or_no(record) + [found for found in said if _are_0_or_1(found)]
    return unnamed[0] if len(unnamed) == 1 else None


def _are_0_or_1(found: list[Any]) -> bool:
    """Whether all values are the numbers 0 and 1, which are a yes or no only in a field that is named after judging."""
    return bool(found) and all(type(v) is int and v in (0, 1) for v in found)


def _yes_or_no(record: Record) -> list[list[Any]]:
    """The lists of a yes or no for each criterion, under any name: beside the criteria, or a word in each of them."""
    criteria = _criteria(record)
    lists = [v for v in map(unpacked, _fields(_judged(record)).values()) if isinstance(v, list)]
    beside = [v for v in lists if len(v) == len(criteria) > 0]
    return [found for found in beside if _are_verdicts(found, bool)] + [
        found for key, found in _columns(criteria).items() if key not in _GRADED and _are_verdicts(found)
    ]


def _columns(items: list[Any]) -> dict[str, list[Any]]:
    """Key → its values in the items, for keys of the first that may be verdicts; {} if not all items are objects."""
    first = items[0] if items and all(isinstance(item, dict) for item in items) else {}
    fields = [_fields(item) for item in items] if first else []
    return {key: [item.get(key) for item in fields] for key in first if key not in (*_TEXTS, *_NAMES)}


def _fields(record: Record) -> dict[str, Any]:
    """The fields of a record, which are only looked at and not marked as read."""
    parts = record.maps if isinstance(record, ChainMap) else [record]
    return {key: value for part in reversed(parts) for key, value in dict(part).items()}


def _mark_as_read(record: Record, criteria: list[Any], verdicts: list[Any]) -> None:
    """Mark the field that holds the verdicts as read: it was found by its values."""
    for holder in (record, _judged(record)):
        for key in [key for key, value in _fields(holder).items() if unpacked(value) == verdicts]:
            holder.get(key)
    for key in [key for key, found in _columns(criteria).items() if found == verdicts]:
        _ = [item.get(key) for item in criteria]


def _are_verdicts(found: list[Any], *types: type) -> bool:
    """Whether each known value is a word for yes or no, or has one of the types; at least one must be known."""
    known = [v for v in found if v not in (None, "")]
    return bool(known) and all(isinstance(v, types) or (isinstance(v, str) and is_verdict(v)) for v in known)


def _is_graded(record: Record) -> bool:
    verdicts, criteria = _verdicts(record), _criteria(record)
    return verdicts is not None and bool(criteria) and len(verdicts) in (0, len(criteria))


def _is_bare(record: Record) -> bool:
    """Whether a record has a prompt and criteria, and no field that may be a grade."""
    criteria = _criteria(record)
    return bool(criteria) and _prompt(record) is not None and not _may_be_graded(record, criteria)


def _may_be_graded(record: Record, criteria: list[Any]) -> bool:
    """Whether a field may grade an answer: by its name (``score``), or as a verdict or score for each criterion."""
    lists = [value for value in record.values() if isinstance(value, list) and value is not criteria]
    inner = [value for value in map(unpacked, record.values()) if isinstance(value, dict)]
    items = (item for items in (criteria, *lists) for item in items if isinstance(item, dict))
    holders = [record, *inner, *items]
    answered = system_in(record) or _first(record, _ANSWERS)
    beside = (column for items in lists if len(items) == len(criteria) for column in _columns(items).values())
    return (
        any(not _GRADED.isdisjoint(holder) for holder in holders)
        or any(holder.get(key) for key in _VERDICTS for holder in (record, *inner))
        or any(isinstance(unpacked(record.get(key)), (list, dict)) for key in _JUDGED)
        or bool(_yes_or_no(record))
        or any(_are_verdicts(column, bool) for column in beside)
        or any(plain_name(key).rpartition("_")[2] in _GRADED_LAST for key in _columns(criteria))
        or (answered and any(_may_judge(key, unpacked(v), len(criteria)) for key, v in record.items()))
        or any(
            _are_scores(key, value, record)
            for key, value in record.items()
            if len(criteria) == _length(value)
        )
    )


def _may_judge(key: str, value: Any, number: int) -> bool:
    """Whether a list or object has a yes or no, 0 or 1, or a list of these, for each criterion, and is no weights."""
    if plain_name(key).rpartition("_")[2] in _IMPORTANCE:
        return False
    items = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(items, list) or len(items) != number:
        return False
    plain = [v for item in items for v in (item if isinstance(item, list) else [item])]
    return _are_verdicts(plain, bool) or _are_0_or_1(plain)


def _are_scores(key: str, found: list[Any], record: Record) -> bool:
    """Whether a list beside the criteria is named like scores, and is of an answer.

    Without a system or an answer in the record, numbers other than 0 and 1 may be the highest possible scores.
    """
    named = plain_name(key).rpartition("_")[2] in (
        "score",
        "scores",
        "rating",
        "ratings",
        "labels",
        "grades",
        "verdicts",
    )
    known = [v for v in found if v is not None]
    if not named or not known or not all(isinstance(v, (int, float)) for v in known):
        return False
    return bool(system_in(record) or _first(record, _ANSWERS) or set(known) <= {0, 1})


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else -1


def _prompt(record: Record) -> str | None:
    """The text of the prompt; if its turns are separate fields (``prompt_0``, ``response_0``), all of them; or None."""
    turns = [record.get(f"{who}_{n}") for n in range(10) for who in ("prompt", "response")]
    if "prompt_0" in record:
        return "\n\n".join(t for t in turns if isinstance(t, str) and t.strip()) or None
    found = _first(record, _PROMPTS)
    messages = unpacked(found)
    return conversation(messages if is_list_of(messages, "role", "content") else found)


def _about(record: Record) -> tuple[Record, ...]:
    """The record and, if it has one, its object ``metadata`` or ``extra_info``."""
    inner = record.get("metadata", record.get("extra_info"))
    return (record, inner) if isinstance(inner, dict) else (record,)


def _query_of(record: Record) -> str:
    if (
        isinstance(record.get("level"), (int, str)) and "example_id" in record
    ):  # FollowBench: an instruction a level
        parts = (record.get("category"), record["example_id"], record["level"])
        return "/".join(as_text(part) for part in parts if part not in (None, ""))
    for known in _about(record):
        if any(known.get(key) is not None for key in _IDS):
            return named(known, *_IDS)
    return (_prompt(record) or "").strip() or as_text(
        first_called(record, NAMES_OF_QUERIES) or named(record, *_IDS)
    )


def _name_of(item: Any, position: int) -> str:
    given = _first(item, _NAMES) if isinstance(item, dict) else None
    return str(position) if given is None else str(given)


def _weight_of(item: Any, given: Any) -> Any:
    """The weight of a criterion: of its weight class (PRBench), else its ``points`` or ``weight``, else ``given``."""
    if not isinstance(item, dict):
        return given
    notes = item.get("annotations")
    if isinstance(notes, dict) and isinstance(notes.get("weight_class"), str):
        return notes.get(notes["weight_class"].replace(" ", "_") + "_weight")
    own = _first(item, ("points", "weight"))
    return given if own is None else own


def _dimension_of(item: Any, given: Any) -> Any:
    if not isinstance(item, dict):
        return given
    notes = item.get("annotations")
    if isinstance(notes, dict):
        return next((v for k, v in notes.items() if k.endswith("criteria_category") and v), given)
    return item.get("axis", item.get("category", given))


def _at(record: Record, key: str, position: int) -> Any:
    """The item at a position of the list ``key`` of a record; None if there is no such item."""
    found = record.get(key)
    return found[position] if isinstance(found, list) and position < len(found) else None


def _described(record: Record) -> Iterator[Row]:
    name, domains = _query_of(record), (_first(known, _DOMAINS) for known in _about(record))
    yield query(name, _prompt(record), next((words(d) for d in domains if d), None))
    for position, item in enumerate(_criteria(record)):
        weight, polarity = points(_weight_of(item, _at(record, "weights", position)))
        dimension = words(_dimension_of(item, _at(record, "categories", position)))
        text = _text_of(item)
        yield rubric(
            name, _name_of(item, position), text, weight=weight, polarity=polarity, dimension=dimension
        )


def _bare_rows(record: Record, _setting: Setting) -> Iterator[Row]:
    return _described(record)


def _graded_rows(record: Record, setting: Setting) -> Iterator[Row]:
    criteria, verdicts, known = _criteria(record), _verdicts(record) or [], _judged(record)
    lists = [key for key, value in _fields(known).items() if isinstance(unpacked(value), list)]
    if any(unpacked(known[key]) != verdicts for key in lists if plain_name(key) in _JUDGES):
        raise MalformedError(
            "names several judges beside one list of verdicts: give each judge a record of its own"
        )
    yield from _described(record)
    if len(verdicts) != len(criteria):
        why = None if verdicts else words(record.get("grading_rationale"))
        told = f" ({why[:100]})" if why else ""
        raise MalformedError(f"has {len(verdicts)} verdicts for {len(criteria)} criteria{told}")
    name, system = _query_of(record), setting.system_of(record)
    _mark_as_read(record, criteria, verdicts)
    judge = setting.judge(first_called(known, [key for key in _JUDGES if key not in lists]))
    run = record.get("run", record.get("trial"))
    yield from answer(system, name, _first(record, _ANSWERS))
    for position, (item, verdict) in enumerate(zip(criteria, verdicts, strict=True)):
        own = item.get("reason") if isinstance(item, dict) else None
        reason = own or _at(known, "point_explanations", position)
        yield label(system, name, _name_of(item, position), judge, verdict, run=run, reason=reason)


def _of_models(record: Record, setting: Setting) -> Iterator[Row]:
    """The rows of PRBench's results, whose ``outputs`` map each model to its graded tasks."""
    config = record.get("config")
    known = config if isinstance(config, dict) else {}
    judge, run = known.get("judge_model_name"), known.get("trial_number")
    for system, tasks in record["outputs"].items():
        for name, found in tasks.items():
            asked, _, reply = str(found.get("convo", "")).rpartition("\nassistant: ")
            whole = {"task_id": name, "prompt": asked, "model_output": reply, "judge": judge, "run": run}
            # A ChainMap, so that the fields that are read are known.
            yield from _graded_rows(ChainMap({**whole, "model": system}, found), setting)


def _is_of_models(record: Record) -> bool:
    outputs = record.get("outputs")
    if not isinstance(outputs, dict) or not all(isinstance(tasks, dict) for tasks in outputs.values()):
        return False
    tasks: list[Any] = [task for tasks in outputs.values() for task in tasks.values()]
    return bool(tasks) and isinstance(tasks[0], Mapping) and _is_graded(tasks[0])


FORMATS = (
    NativeFormat(
        "prbench",
        "PRBench results",
        "an object of outputs, by model and task, with grades and rubric_texts",
        _is_of_models,
        _of_models,
    ),
    NativeFormat(
        "checklist-verdicts",
        "criteria with a verdict each",
        "records with a list of criteria (rubrics, checklist …) and one of verdicts (requirement_status, grades …), "
        "or a yes or no in each",
        _is_graded,
        _graded_rows,
    ),
    NativeFormat(
        "checklists",
        "prompts with a list of criteria",
        "records with a prompt and a list of criteria (rubrics, checklist …) and no grade",
        _is_bare,
        _bare_rows,
    ),
)
