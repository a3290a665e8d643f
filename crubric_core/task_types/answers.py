"""Answers of the prompted classifier, and a cache of them, so that no query is paid for twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Answer:
    """A model's answer for one query: probabilities in the order of TASK_TYPES, and the number of tokens used."""

    model: str
    probabilities: tuple[float, ...]
    prompt_tokens: int
    completion_tokens: int


class AnswerCache(Protocol):
    """A cache of answers, by the hash of their prompt (``prompt_key``)."""

    def read(self, keys: Sequence[str]) -> Mapping[str, tuple[float, ...]]:
        """The cached probabilities by key; keys that are not in the cache are left out."""

    def write(self, answers: Mapping[str, Answer]) -> None:
        """Store answers by their keys; always called from the same thread."""


class MemoryCache:
    """A cache in memory, which lasts as long as the object."""

    def __init__(self) -> None:
        self._answers: dict[str, tuple[float, ...]] = {}

    def read(self, keys: Sequence[str]) -> Mapping[str, tuple[float, ...]]:
        """The cached probabilities by key; keys that are not in the cache are left out."""
        return {key: self._answers[key] for key in keys if key in self._answers}

    def write(self, answers: Mapping[str, Answer]) -> None:
        """Store answers by their keys."""
        self._answers |= {key: answer.probabilities for key, answer in answers.items()}
