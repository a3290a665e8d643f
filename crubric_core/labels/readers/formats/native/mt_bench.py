"""Read MT-Bench single judgments: one score from 1 to 10 per turn; the judge is its model with the prompt's name."""

from __future__ import annotations

from collections.abc import Iterator

from .base import NativeFormat, Record, Row, Setting, has, label, named, number, rubric


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    name, turn = named(record, "question_id"), f"turn {named(record, 'turn')}"
    model, prompt = record["judge"]
    # FastChat's prompts; other benchmarks in this layout have other scales.
    graded = "single" in str(prompt)
    yield rubric(name, turn, f"quality of {turn}", scale=(1, 10) if graded else (None, None))
    score = record.get("score")
    known = None if number(score) == -1 else score  # FastChat writes -1 where a reply holds no rating
    system, judge = setting.system_of(record), setting.judge(model)
    yield label(system, name, turn, judge, known, reason=record.get("judgment"))


FORMATS = (
    NativeFormat(
        "mt-bench",
        "MT-Bench single judgments",
        "records with question_id, turn, score, and a judge that is a list of a model and a prompt's name",
        lambda r: (
            has(r, "question_id", "turn", "score", "model")
            and isinstance(r.get("judge"), list)
            and len(r["judge"]) == 2
        ),
        _rows,
    ),
)
