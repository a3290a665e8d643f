"""Read Inspect evaluation logs: JSON logs, and ``.eval`` archives without the inspect library (tested: 0.3.285).

Epochs are runs. The judges are the voters of a panel, else the grading model that the score, the scorer's options or
the log's model roles name.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .....errors import IngestError
from ..archive import entry_names, read_entries
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
    named,
    query,
    rubric,
)

_GRADES = {"C": 1, "I": 0, "P": 0.5, "N": 0}  # correct, incorrect, partial, no answer


def read_archive(path: Path, name: str) -> Iterator[tuple[int, Any]]:
    """Yield one record for each sample: the log's header with only this sample, so that little memory is needed."""
    entries = entry_names(path, name)
    if "header.json" not in entries:
        raise IngestError(
            f"{name} is an Inspect log that was not finished (no header.json): export it again."
        )
    ((_, start),) = read_entries(path, name, ["header.json"])
    header = _parsed(start, name, "header.json")
    samples = sorted(e for e in entries if e.startswith("samples/") and e.endswith(".json"))
    if not samples:
        raise IngestError(f"{name} is an Inspect log without samples: nothing was scored.")
    for number, (entry, content) in enumerate(read_entries(path, name, samples), 1):
        yield number, {**header, "samples": [_parsed(content, name, entry)]}


def _parsed(content: bytes, name: str, entry: str) -> Any:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise IngestError(f"{entry} in {name} is not valid JSON: export the log again.") from error
    if not isinstance(found, dict):
        raise IngestError(f"{entry} in {name} is not an object: export the log again.")
    return found


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    spec = record.get("eval")
    if not isinstance(spec, dict):
        raise MalformedError("is not an Inspect log, which has an object eval: name the format of the file")
    system = setting.system(spec.get("model"))
    samples = record.get("samples")
    if not isinstance(samples, list) or not samples:
        raise MalformedError("is an Inspect log without samples: read it with them, not the header alone")
    graders = _graders(spec)
    scored = False
    for item in samples:
        sample = mapped(item, "a sample")
        own = named(sample, "id")
        name = own if _of_bank(sample) else setting.query(own, f"{spec.get('task')}/{own}")
        for row in _sample(sample, name, system, (graders, _repeats(spec)), setting):
            scored = scored or row[0] == "labels"
            yield row
    if not scored:
        raise MalformedError(
            "has no scores: score the log first (inspect score), or read one that was scored"
        )


def _repeats(spec: Record) -> bool:
    """Whether every sample was run several times."""
    config = spec.get("config")
    epochs = config.get("epochs") if isinstance(config, dict) else None
    return isinstance(epochs, int) and epochs > 1


def _graders(spec: Record) -> dict[str, Any]:
    """Scorer → its grading model, from the log's header; "" → the model role of a grader, if there is one."""
    found = {}
    scorers = spec.get("scorers")
    for scorer in scorers if isinstance(scorers, list) else ():
        options = scorer.get("options") if isinstance(scorer, dict) else None
        model = options.get("model") if isinstance(options, dict) else None
        model = model.get("model") if isinstance(model, dict) else model
        if isinstance(model, str) and model:
            found[str(scorer.get("name"))] = model
    roles = spec.get("model_roles")
    grader = roles.get("grader") if isinstance(roles, dict) else None
    if isinstance(grader, dict) and grader.get("model"):
        found.setdefault("", grader["model"])
    return found


def _sample(
    sample: Record, name: str, system: str, whole: tuple[dict[str, Any], bool], setting: Setting
) -> Iterator[Row]:
    epoch = sample.get("epoch", 1)
    run = None if epoch in (1, None) and not whole[1] else epoch
    yield query(name, sample.get("input"))
    if epoch in (1, None):
        yield from answer(system, name, _completion(sample))
    scores = sample.get("scores") or ({"score": sample["score"]} if has(sample.get("score"), "value") else {})
    for scorer, score in mapped(scores, "scores").items():
        found = mapped(score, "a score")
        if isinstance(_details(found).get(_BANK), dict):
            yield from _by_id(system, name, found, run, setting)
            continue
        for judge, value, reason in _verdicts(scorer, found, whole[0], setting):
            for criterion, cell in _cells(scorer, value):
                yield rubric(name, criterion, dimension=scorer)
                yield label(system, name, criterion, judge, _value(cell), run=run, reason=reason)


def _of_bank(sample: Record) -> bool:
    """Whether a sample is of a rubric bank's task, so that its scores have labels by rubric id."""
    scores = sample.get("scores")
    found = scores.values() if isinstance(scores, dict) else ()
    return any(isinstance(s, dict) and isinstance(_details(s).get(_BANK), dict) for s in found)


_BANK = "crubric"  # metadata key for labels by rubric id, in the task that a bank exports


def _by_id(system: str, name: str, score: Record, run: Any, setting: Setting) -> Iterator[Row]:
    """The labels on the rubrics of a bank, from ``metadata.crubric`` = {id: {label, explanation}}."""
    details = _details(score)
    judge = setting.judge(_grader(details))
    for rubric_id, cell in details[_BANK].items():
        found = mapped(cell, "a label of the bank")
        yield rubric(name, str(rubric_id))
        yield label(
            system, name, str(rubric_id), judge, found.get("label"), run=run, reason=found.get("explanation")
        )


def _completion(sample: Record) -> Any:
    output = sample.get("output")
    if not isinstance(output, dict):
        return None
    if output.get("completion"):
        return output["completion"]
    choices = output.get("choices")
    message = choices[0]["message"] if isinstance(choices, list) and is_list_of(choices, "message") else None
    return message.get("content") if isinstance(message, dict) else None


def _cells(scorer: str, value: Any) -> list[tuple[str, Any]]:
    """[(criterion, value)] of a score: one pair, or one for each key or position if the value is an object or list."""
    if isinstance(value, dict):
        return [(f"{scorer}/{part}", v) for part, v in value.items()]
    if isinstance(value, list):
        return [(f"{scorer}/{part}", v) for part, v in enumerate(value)]
    return [(scorer, value)]


def _details(score: Record) -> Record:
    found = score.get("metadata")
    return found if isinstance(found, dict) else {}


def _verdicts(
    scorer: str, score: Record, graders: dict[str, Any], setting: Setting
) -> Iterator[tuple[str, Any, Any]]:
    """Yield (judge, value, reason) for each vote of a panel, or for the score itself."""
    details = _details(score)
    votes = _votes(details)
    if votes:
        for position, (who, vote) in enumerate(votes, 1):
            judge = str(who or f"judge{position}")
            reason = vote.get("explanation", vote.get("reason")) if isinstance(vote, dict) else None
            yield judge, _vote(vote), reason
        return
    judge = setting.judge(_grader(details) or graders.get(scorer) or graders.get(""))
    yield judge, score.get("value"), score.get("explanation")


def _votes(details: Record) -> list[tuple[Any, Any]]:
    """[(judge or None, vote)] of ``metadata.panel.votes``, given as a list or by judge; [] if there is no panel."""
    panel = details.get("panel")
    votes = panel.get("votes") if isinstance(panel, dict) else None
    if isinstance(votes, dict):
        return list(votes.items())
    if not isinstance(votes, list):
        return []
    return [(next((v[k] for k in _WHO if v.get(k)), None) if isinstance(v, dict) else None, v) for v in votes]


_WHO = ("model", "judge", "grader", "grader_model", "judge_id", "name")


def _vote(vote: Any) -> Any:
    if not isinstance(vote, dict):
        return vote
    return next((vote[k] for k in ("value", "vote", "verdict", "grade", "score", "label") if k in vote), None)


def _grader(details: Record) -> Any:
    """The grading model: by name, else the author of the last message in the grading conversation; or None."""
    for key in ("grader_model", "grader", "judge", "judge_model"):
        if isinstance(details.get(key), str) and details[key]:
            return details[key]
    messages = details.get("grading")
    for message in reversed(messages) if isinstance(messages, list) else ():
        if isinstance(message, dict) and message.get("model"):
            return message["model"]
    return None


def _value(cell: Any) -> Any:
    """A score with C, P, I and N as 1, 0.5, 0 and 0, and NaN as None; other values unchanged."""
    if isinstance(cell, float) and math.isnan(cell):
        return None
    return _GRADES.get(cell, cell) if isinstance(cell, str) else cell


FORMATS = (
    NativeFormat(
        "inspect",
        "Inspect evaluation log",
        "an object with eval and samples, or an .eval archive with header.json",
        lambda r: (
            has(r, "eval")
            and has(r["eval"], "model", "task")
            and ("samples" in r or "results" in r or "status" in r)
        ),
        _rows,
        apart="~ {task}/{query}",
    ),
)
