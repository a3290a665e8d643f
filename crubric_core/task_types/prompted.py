"""The classifier that asks a language model: concurrent, paced, cached, resumable and cancellable."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..endpoints.asking import Line, Patience, Reply, Usage, ask_all
from ..endpoints.endpoint import Tokens
from ..endpoints.watch import UNWATCHED, Watch
from ..types import FloatArray
from .answers import Answer, AnswerCache, MemoryCache
from .endpoint import ClassifierEndpoint
from .prompting import prompt_key, question, read_answer
from .types import TASK_TYPES


@dataclass(frozen=True)
class ClassifierRun:
    """The result of classifying N queries; unanswered ones are asked again if the call is repeated.

    probabilities: (N, 4); NaN rows for blank or unanswered queries. answered: number of queries with an answer. cached:
    how many of these were in the cache before. failures: (position of the query, reason). usage: requests and tokens.
    cancelled: whether the caller stopped the run. stopped: why the run gave up on the rest, or "".
    """

    probabilities: FloatArray
    answered: int
    cached: int
    failures: tuple[tuple[int, str], ...]
    usage: Usage
    cancelled: bool
    stopped: str


@dataclass(frozen=True)
class PromptedClassifier:
    """A classifier that asks a language model.

    attempts, backoff, concurrency, requests_per_minute, give_up_after: see ``Patience``, which raises SettingsError if
    a value is not allowed.
    """

    endpoint: ClassifierEndpoint
    cache: AnswerCache = field(default_factory=MemoryCache)
    attempts: int = 5
    backoff: float = 1.0
    concurrency: int = 4
    requests_per_minute: float | None = None
    give_up_after: int = 5

    def __post_init__(self) -> None:
        self._patience()

    @property
    def name(self) -> str:
        """The name that is stored with its results: ``prompted:<model>``."""
        return f"prompted:{self.endpoint.model}"

    def probabilities(self, texts: Sequence[str | None], watch: Watch = UNWATCHED) -> FloatArray:
        """(N, 4) probabilities of ``run``."""
        return self.run(texts, watch).probabilities

    def run(self, texts: Sequence[str | None], watch: Watch = UNWATCHED) -> ClassifierRun:
        """Ask about each text that is not in the cache, equal texts once, until all are answered or the run stops.

        It stops if ``watch`` cancels it, or after too many failures.
        """
        places: dict[str, list[int]] = {}
        wanted: dict[str, str] = {}
        for n, text in enumerate(texts):
            if isinstance(text, str) and text.strip():
                key = prompt_key(self.endpoint.model, text)
                places.setdefault(key, []).append(n)
                wanted[key] = text
        known = self.cache.read(list(wanted))
        tally = _Tally(places, len(texts), watch)
        tally.take(known)
        cached = tally.answered
        line = Line(self.endpoint, self._patience(), lambda _, content: read_answer(content))
        questions = {key: question(text) for key, text in wanted.items() if key not in known}
        if questions:
            ask_all(
                [(line, questions)],
                lambda replies: self._collect([reply for _, reply in replies], tally),
                watch,
            )
        return ClassifierRun(
            probabilities=tally.probabilities,
            answered=tally.answered,
            cached=cached,
            failures=tuple(sorted(tally.failures)),
            usage=line.usage,
            cancelled=watch.stopped and not tally.complete,
            stopped=f"The classifier stopped: {line.stopped}." if line.stopped else "",
        )

    def _patience(self) -> Patience:
        return Patience(
            self.attempts, self.backoff, self.concurrency, self.requests_per_minute, self.give_up_after
        )

    def _collect(self, replies: list[Reply[tuple[float, ...]]], tally: _Tally) -> None:
        answers = {
            reply.key: Answer(self.endpoint.model, reply.found, *_counted(reply.answer_tokens))
            for reply in replies
            if reply.found is not None
        }
        if answers:
            self.cache.write(answers)
        tally.count(replies)


def _counted(tokens: Tokens) -> tuple[int, int]:
    """Tokens in and out as whole numbers; 0 if unknown (NaN), since the cache cannot store an unknown number."""
    tokens_in, tokens_out = (0 if math.isnan(n) else int(n) for n in tokens)
    return tokens_in, tokens_out


class _Tally:
    """The results so far; only the calling thread uses it."""

    def __init__(self, places: dict[str, list[int]], n_texts: int, watch: Watch) -> None:
        self.probabilities = np.full((n_texts, len(TASK_TYPES)), np.nan)
        self.failures: list[tuple[int, str]] = []
        self.answered = 0
        self._places, self._watch = places, watch
        self._total = sum(map(len, places.values()))

    @property
    def complete(self) -> bool:
        """Whether each text that is not blank has an answer or a failure."""
        return self.answered + len(self.failures) == self._total

    def take(self, found: Mapping[str, tuple[float, ...]]) -> None:
        """Store probabilities by key, and report the progress."""
        for key, shares in found.items():
            self.probabilities[self._places[key]] = shares
            self.answered += len(self._places[key])
        if self._total:
            done = self.answered + len(self.failures)
            failed = f", {len(self.failures):,} failed" if self.failures else ""
            self._watch.report(
                done / self._total, f"Classified {self.answered:,} of {self._total:,} queries{failed}"
            )

    def count(self, replies: list[Reply[tuple[float, ...]]]) -> None:
        """Store the replies of the workers: probabilities or failures."""
        for reply in replies:
            if reply.found is None:
                self.failures += [(n, reply.reason) for n in self._places[reply.key]]
        self.take({reply.key: reply.found for reply in replies if reply.found is not None})


PromptedTyper = PromptedClassifier  # its name in version 0.1
