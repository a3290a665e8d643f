"""Read autorubric results (tested: 1.6.1): MET, UNMET, CANNOT_ASSESS for each criterion, by one judge or a panel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .base import (
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
    points,
    query,
    rubric,
)


def _reports(record: Record) -> Any:
    """The list of the criteria's reports, at any of the places where records have it."""
    inner = record.get("report", record)
    if isinstance(inner, dict):
        inner = inner.get("criterion_reports", inner.get("report"))
    return inner


def _is_report(found: Any) -> bool:
    return is_list_of(found) and (
        has(found[0], "verdict") or has(found[0], "votes") or has(found[0], "final_verdict")
    )


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    name = named(record, "item_idx", "item_id", "id", "prompt_id", "query") if _names(record) else "item"
    system, whole = setting.system_of(record, "system"), setting.judge_of(record)
    item = record.get("item")
    yield query(
        name, item.get("prompt", item.get("description")) if isinstance(item, dict) else record.get("prompt")
    )
    if isinstance(item, dict):
        yield from answer(system, name, item.get("submission"))
    for position, report in enumerate(_reports(record)):
        found = mapped(report, "a criterion report")
        inner = found.get("criterion")
        criterion = inner if isinstance(inner, dict) else found
        title = str(criterion.get("name") or position)
        weight, polarity = points(criterion.get("weight"))
        options = criterion.get("options")
        scale = (0, len(options) - 1) if isinstance(options, list) and len(options) > 1 else (0, 1)
        text = criterion.get("requirement", inner if isinstance(inner, str) else None)
        yield rubric(name, title, text, scale=scale, weight=weight, polarity=polarity)
        for judge, verdict, reason in _verdicts(found, setting, whole):
            yield label(system, name, title, judge, verdict, reason=reason)


def _names(record: Record) -> bool:
    return any(record.get(k) is not None for k in ("item_idx", "item_id", "id", "prompt_id", "query"))


def _verdicts(report: Record, setting: Setting, whole: str) -> Iterator[tuple[str, Any, Any]]:
    votes = report.get("votes") or report.get("multi_choice_votes")
    if isinstance(votes, list) and votes:
        for vote in votes:
            found = mapped(vote, "a vote")
            if found.get("superseded"):
                continue  # an escalation asked another judge in its place
            yield setting.judge(found.get("judge_id") or whole), _verdict(found), _reason(found)
        return
    yield setting.judge(report.get("judge_id") or whole), _verdict(report), _reason(report)


def _reason(found: Record) -> Any:
    return found.get("reason", found.get("final_reason"))


def _verdict(found: Record) -> Any:
    """The word of the verdict, or the index of the chosen option; None for an abstention or an error of the judge."""
    choice = found.get("multi_choice_verdict")
    chosen = choice if isinstance(choice, dict) else found
    if found.get("error") or chosen.get("na"):
        return None
    return found.get("verdict") or chosen.get("selected_index", found.get("final_verdict"))


FORMATS = (
    NativeFormat(
        "autorubric",
        "autorubric results",
        "records with a report of criteria that carry verdict or votes",
        lambda r: _is_report(_reports(r)),
        _rows,
    ),
)
