"""Output of evaluations of Amazon Bedrock and SageMaker: metrics by code or a judge model, or by human workers.

A record is one prompt with the answers of one model, or of the two that workers compare. In a RAG evaluation, it is a
conversation whose turns have scores. Records have no id, so the prompt is the query's name: the same prompt in files of
several models is one query.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .base import (
    MalformedError,
    NativeFormat,
    Record,
    Row,
    Setting,
    answer,
    has,
    is_list_of,
    label,
    mapped,
    name_of_text,
    named,
    query,
    rubric,
    words,
)

_BUILTIN = "Builtin."
_RATED = ("individualLikertScale", "thumbsUpDown")
_BAD = frozenset(
    ("harmfulness", "stereotyping", "refusal", "toxicity", "robustness")
)  # the lowest is the best


def _text(given: Any) -> str | None:
    """A text: the value itself, its field ``text``, or the text parts of its ``content``; None if empty."""
    if has(given, "content") and is_list_of(given["content"], "text"):
        return words("\n\n".join(str(part["text"]) for part in given["content"] if has(part, "text")))
    return words(given.get("text", given) if isinstance(given, dict) else given)


def _asked(record: Record) -> tuple[str, Row]:
    """(the query's name, its row) by the prompt in ``inputRecord``; MalformedError without a prompt."""
    given = mapped(record.get("inputRecord"), "an inputRecord")
    prompt = _text(given.get("prompt"))
    if prompt is None:
        raise MalformedError("has no prompt in its inputRecord, which tells queries apart")
    name = name_of_text(prompt)
    return name, query(name, prompt, given.get("category"))


def _responses(record: Record) -> list[Record]:
    """The models' answers: beside ``inputRecord``, or within it if the user supplied them."""
    given = mapped(record["inputRecord"], "an inputRecord")
    found = record.get("modelResponses") or given.get("modelResponses") or given.get("responses") or []
    return [r for r in found if isinstance(r, dict)]


def _text_of(response: Record) -> str | None:
    return _text(response.get("response") or response.get("text"))


def _metric(name: str, criterion: str, text: Any = None, *, judged: bool = False) -> Row:
    """The rubric row of a metric.

    If it is built in and judged by a model, its scale is 0 to 1, whatever words the model chooses from.
    """
    builtin = criterion.startswith(_BUILTIN)
    bad = criterion.removeprefix(_BUILTIN).lower() in _BAD
    scale = (0, 1) if builtin and judged else (None, None)
    return rubric(name, criterion, text, scale=scale, polarity=-1 if bad else None)


def _scored(record: Record, setting: Setting) -> Iterator[Row]:
    name, asked = _asked(record)
    yield asked
    responses = _responses(record)
    if len(responses) > 1:
        raise MalformedError(
            "has answers of several models beside one list of scores: it is not known which model they are of"
        )
    system = setting.system(responses[0].get("modelIdentifier") if responses else None)
    for response in responses:
        yield from answer(system, name, _text_of(response))
    yield from _labels(record["automatedEvaluationResult"]["scores"], system, name, setting)


def _labels(scores: list[Any], system: str, name: str, setting: Setting) -> Iterator[Row]:
    """Each metric and its result, as a label of the evaluator model; without one, of the default judge.

    Several evaluators of one result are one judge, "a + b": a label for each would make them agree on every cell.
    """
    for score in scores:
        criterion = named(mapped(score, "a score"), "metricName")
        graders = score.get("evaluatorDetails") or []
        yield _metric(name, criterion, judged=bool(graders))
        models, reasons = (
            [str(g[key]) for g in graders if g.get(key)] for key in ("modelIdentifier", "explanation")
        )
        judge = setting.judge(" + ".join(models) or None)
        yield label(system, name, criterion, judge, score.get("result"), reason="\n\n".join(reasons) or None)


def _conversed(record: Record, setting: Setting) -> Iterator[Row]:
    """The rows of a conversation: each turn is a separate query, named after the first prompt (``…/turn 2``)."""
    first, said = "", []
    turns = record["conversationTurns"]
    for number, turn in enumerate(turns, 1):
        prompt, asked = _asked(turn)
        first = first or prompt
        name = prompt if len(turns) == 1 else f"{first}/turn {number}"
        said.append(asked[1][1])
        yield query(name, "\n\n".join(map(str, said)))
        output = mapped(turn.get("output") or {}, "an output")
        source = [output[key] for key in ("knowledgeBaseIdentifier", "modelIdentifier") if output.get(key)]
        system = setting.system("/".join(map(str, source)) or None)
        yield from answer(system, name, _text(output.get("text")))
        yield from _labels(turn["results"], system, name, setting)


def _rated(record: Record, setting: Setting) -> Iterator[Row]:
    name, asked = _asked(record)
    yield asked
    found = record["humanEvaluationResult"]
    systems = found.get("modelResponseIdMap") or {}
    for response in _responses(record):
        yield from answer(setting.system(response.get("modelIdentifier")), name, _text_of(response))
    texts = {m.get("metricName"): m.get("description") for m in _metrics(found)}
    compared = set()
    for person in found["humanAnswers"]:
        results = mapped(
            mapped(person["answerContent"], "an answerContent")["evaluationResults"], "evaluationResults"
        )
        compared |= {kind for kind, items in results.items() if kind not in _RATED and items}
        for item in (item for kind in _RATED for item in results.get(kind) or ()):
            criterion = named(item, "metricName")
            system = setting.system(systems.get(str(item.get("modelResponseId", "0"))))
            yield _metric(name, criterion, texts.get(criterion))
            yield label(system, name, criterion, setting.judge(person.get("workerId")), item.get("result"))
    if compared:
        raise MalformedError(
            f"compares answers ({', '.join(sorted(compared))}): a comparison is no label of one answer, and is left out"
        )


def _metrics(found: Record) -> list[Record]:
    """The metrics that the workers were asked for, with their descriptions."""
    content = found.get("inputContent")
    given = content.get("evaluationMetrics") if isinstance(content, dict) else None
    return [m for m in given or () if isinstance(m, dict)]


def _is_scored(record: Record) -> bool:
    found = record.get("automatedEvaluationResult")
    return (
        has(record, "inputRecord")
        and isinstance(found, dict)
        and is_list_of(found.get("scores"), "metricName")
    )


def _is_conversed(record: Record) -> bool:
    turns: Any = record.get("conversationTurns")
    return is_list_of(turns, "inputRecord", "results") and is_list_of(turns[0]["results"], "metricName")


def _is_rated(record: Record) -> bool:
    found = record.get("humanEvaluationResult")
    return (
        has(record, "inputRecord")
        and isinstance(found, dict)
        and is_list_of(found.get("humanAnswers"), "answerContent")
    )


FORMATS = (
    NativeFormat(
        "bedrock",
        "output of a model evaluation of Amazon Bedrock",
        "records with automatedEvaluationResult and inputRecord; each evaluator model is a judge",
        _is_scored,
        _scored,
    ),
    NativeFormat(
        "bedrock-rag",
        "output of a RAG evaluation of Amazon Bedrock",
        "records with conversationTurns that have results; the system is the knowledge base and its model",
        _is_conversed,
        _conversed,
    ),
    NativeFormat(
        "bedrock-human",
        "output of a human evaluation of Amazon Bedrock",
        "records with humanEvaluationResult and inputRecord; each worker is a judge",
        _is_rated,
        _rated,
    ),
)
