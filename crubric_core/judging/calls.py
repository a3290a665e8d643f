"""The calls for a bank, its answers and judges, and their estimated cost."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ..endpoints.endpoint import Question
from ..errors import PlacementError, SettingsError
from ..placement.bank_scale import BankScale
from ..placement.formats.base import Asked, asked
from ..text import count
from .answers_file import SystemAnswers, has_text
from .judges_file import Judge
from .prompting import make_question, prompt_hash

Per = Literal["criterion", "query"]
CHARACTERS_PER_TOKEN = 4
TOKENS_PER_VERDICT = 80


@dataclass(frozen=True)
class Call:
    """One request to one judge: about one system's answer to one query, by one or several rubrics."""

    judge: Judge
    run: int
    system: str
    query: str
    rubrics: tuple[Asked, ...]
    question: Question
    prompt_hash: str

    @property
    def key(self) -> str:
        """A text that identifies the call among all calls."""
        return json.dumps(
            [self.judge.name, self.run, self.system, *(rubric.token for rubric in self.rubrics)]
        )


def plan_calls(
    bank_scale: BankScale,
    answers: SystemAnswers,
    judges: Sequence[Judge],
    runs: int = 1,
    per: Per = "criterion",
) -> list[Call]:
    """All calls, system by system in the order of the bank.

    per: one rubric a call, or all rubrics of a query. Raises SettingsError for fewer runs than 1 or an unknown ``per``,
    PlacementError if a rubric of the bank has no text.
    """
    if runs < 1:
        raise SettingsError(f"runs = {runs} is no number of runs: give 1 or more.")
    if per not in get_args(Per):
        raise SettingsError(f"per = {per!r} is unknown: use {' or '.join(get_args(Per))}.")
    _require_texts(bank_scale)
    calls = []
    queries = list(asked(bank_scale))
    for system in answers.systems:
        for query, request, rubrics in queries:
            text = answers.texts.get((system, query))
            if text is None:
                continue
            groups = [tuple(rubrics)] if per == "query" else [(rubric,) for rubric in rubrics]
            for group in groups:
                question = make_question(request, text, group)
                calls += [
                    Call(
                        judge,
                        run,
                        system,
                        query,
                        group,
                        question,
                        prompt_hash(judge.endpoint.model, question),
                    )
                    for judge in judges
                    for run in range(1, runs + 1)
                ]
    return calls


def _require_texts(bank_scale: BankScale) -> None:
    nameless = bank_scale.rubrics[~has_text(bank_scale.rubrics)]
    if len(nameless):
        row = nameless.iloc[0]
        raise PlacementError(
            f"{count(len(nameless), 'rubric')} of the bank {bank_scale.bank_id} without a text (first: "
            f"{row['rubric']!r} of query {row['query']!r}), which a judge needs: ingest a table of rubrics with the "
            "columns query, rubric and text into the study, and build the bank again."
        )


@dataclass(frozen=True)
class CostEstimate:
    """Expected cost of calls: exact numbers of calls and labels; estimated tokens and cost, which is NaN if unknown."""

    calls: int
    labels: int
    tokens_in: int
    tokens_out: int
    cost: float

    def scaled(self, share: float) -> CostEstimate:
        """The estimate for ``share`` times as many rubrics, with as many rubrics in each call as before."""
        calls, labels, tokens_in, tokens_out = (
            round(n * share) for n in (self.calls, self.labels, self.tokens_in, self.tokens_out)
        )
        return CostEstimate(calls, labels, tokens_in, tokens_out, self.cost * share)

    def record(self) -> dict[str, object]:
        """The estimate as plain values; cost None if unknown."""
        cost = None if math.isnan(self.cost) else round(self.cost, 6)
        return {
            "calls": self.calls,
            "labels": self.labels,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost": cost,
        }


def estimate(calls: Iterable[Call]) -> CostEstimate:
    """Estimate the cost of these calls without repeats: four characters a token, 80 tokens a verdict."""
    rows = [(call, *_tokens(call)) for call in calls]
    return CostEstimate(
        calls=len(rows),
        labels=sum(len(call.rubrics) for call, _, _ in rows),
        tokens_in=sum(given for _, given, _ in rows),
        tokens_out=sum(said for _, _, said in rows),
        cost=float(np.sum([call.judge.endpoint.cost(given, said) for call, given, said in rows])),
    )


def _tokens(call: Call) -> tuple[int, int]:
    question = call.question
    length = len(question.system) + len(question.user)
    if call.judge.endpoint.response_format == "json_schema":
        length += len(json.dumps(question.schema))
    return -(-length // CHARACTERS_PER_TOKEN), TOKENS_PER_VERDICT * len(call.rubrics)
