"""Read SQuALITY's human evaluation: passages with questions, and for each question the reviews of systems' summaries.

A question is named by its position within the passage. Ranks compare the summaries with each other, so they are no
labels of a single one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .base import NativeFormat, Record, Row, Setting, answer, has, is_list_of, label, listed, mapped, named

_RATING = "-rating"


def _fits(record: Record) -> bool:
    questions: Any = record.get("questions")
    systems = questions[0].values() if has(record, "passage-id") and is_list_of(questions) else ()
    return bool(systems) and all(
        has(s, "response") and is_list_of(s.get("reviews"), "worker_id") for s in systems
    )


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    passage = named(record, "passage-id")
    for place, question in enumerate(listed(record, "questions")):
        name = f"{passage}/{place}"
        for system, own in mapped(question, "a question").items():
            yield from answer(system, name, mapped(own, "a system").get("response"))
            for review in listed(own, "reviews"):
                judge = setting.judge(review.get("worker_id"))
                for field in (key for key in review if key.endswith(_RATING)):
                    yield label(system, name, field.removesuffix(_RATING), judge, review[field])


FORMATS = (
    NativeFormat(
        "squality",
        "the human evaluation of SQuALITY",
        "records with passage-id, and questions that are objects of systems with reviews; ranks are no labels",
        _fits,
        _rows,
    ),
)
