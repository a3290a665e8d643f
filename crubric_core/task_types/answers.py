"""Answers of the prompted classifier, and where they are kept so that no query is ever paid for twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Answer:
    """What the model said of one query: probabilities in the order of TASK_TYPES, and the tokens it took."""

    model: str
    probabilities: tuple[float, ...]
    prompt_tokens: int
    completion_tokens: int


class AnswerCache(Protocol):
    """Answers by the hash of their prompt."""

    def read(self, keys: Sequence[str]) -> Mapping[str, tuple[float, ...]]:
        """The probabilities of those keys that are known."""

    def write(self, answers: Mapping[str, Answer]) -> None:
        """Keep answers by their keys; called from one thread."""


class MemoryCache:
    """A cache that lives as long as the process."""

    def __init__(self) -> None:
        self._answers: dict[str, tuple[float, ...]] = {}

    def read(self, keys: Sequence[str]) -> Mapping[str, tuple[float, ...]]:
        """The probabilities of those keys that are known."""
        return {key: self._answers[key] for key in keys if key in self._answers}

    def write(self, answers: Mapping[str, Answer]) -> None:
        """Keep answers by their keys."""
        self._answers |= {key: answer.probabilities for key, answer in answers.items()}
