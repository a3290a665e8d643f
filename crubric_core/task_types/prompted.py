"""The typer that asks a language model: concurrent, paced, cached, resumable and cancellable.

Workers only ask. The calling thread alone counts, caches and reports, so that a cancelled run ends at once: what
a worker is still waiting for is dropped, and what was answered is kept.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

import numpy as np
import openai

from ..types import FloatArray
from .answers import Answer, AnswerCache, MemoryCache
from .classifier import UNWATCHED, Watch
from .endpoint import Endpoint, refusal
from .pace import Pace
from .prompting import prompt_key
from .types import TASK_TYPES

TICK = 0.1


@dataclass(frozen=True)
class Usage:
    """What a run took: requests sent, tokens in and out as the endpoint counts them, and their cost (NaN unknown)."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost: float


@dataclass(frozen=True)
class ClassifierRun:
    """What came of N queries; whatever is unanswered can be asked again by the same call.

    probabilities: (N, 4); NaN rows where blank or unanswered. answered, cached: queries with an answer, and how many
    of these were known before. failures: (query's position, reason). cancelled: by the caller.
    stopped: why the run gave up on the rest, or empty.
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
    """Types queries by a language model.

    attempts: requests for one query before it counts as failed. backoff: seconds before the second, then doubled.
    concurrency: requests at a time. requests_per_minute: at most; None without limit.
    give_up_after: failed queries in a row, with none answered between, after which the run stops.
    """

    endpoint: Endpoint
    cache: AnswerCache = field(default_factory=MemoryCache)
    attempts: int = 5
    backoff: float = 1.0
    concurrency: int = 4
    requests_per_minute: float | None = None
    give_up_after: int = 5

    @property
    def name(self) -> str:
        """What its types are marked with."""
        return f"prompted:{self.endpoint.model}"

    def probabilities(self, texts: Sequence[str | None], watch: Watch = UNWATCHED) -> FloatArray:
        """(N, 4) of ``run``."""
        return self.run(texts, watch).probabilities

    def run(self, texts: Sequence[str | None], watch: Watch = UNWATCHED) -> ClassifierRun:
        """Ask for every text that the cache does not know, equal texts once, until done, cancelled or hopeless."""
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
        open_ = {key: text for key, text in wanted.items() if key not in known}
        if open_:
            self._ask_all(open_, tally, watch)
        return ClassifierRun(
            probabilities=tally.probabilities,
            answered=tally.answered,
            cached=cached,
            failures=tuple(sorted(tally.failures)),
            usage=tally.usage(self.endpoint),
            cancelled=watch.stopped and not tally.complete,
            stopped=tally.stopped,
        )

    def _ask_all(self, texts: dict[str, str], tally: _Tally, watch: Watch) -> None:
        pace, halt = Pace(self.requests_per_minute), threading.Event()
        pool = ThreadPoolExecutor(self.concurrency, thread_name_prefix="typer")
        client = self.endpoint.client()
        try:
            pending = {pool.submit(self._ask, client, key, text, pace, halt) for key, text in texts.items()}
            while pending and not watch.stopped and not tally.stopped:
                done, pending = wait(pending, timeout=TICK, return_when=FIRST_COMPLETED)
                self._collect(done, tally)
        finally:
            halt.set()
            pool.shutdown(wait=False, cancel_futures=True)
            client.close()

    def _collect(self, done: set[Future[_Reply]], tally: _Tally) -> None:
        replies = [future.result() for future in done]
        answers = {reply.key: reply.answer for reply in replies if reply.answer is not None}
        if answers:
            self.cache.write(answers)
        tally.count(replies, self.give_up_after)

    def _ask(self, client: openai.OpenAI, key: str, text: str, pace: Pace, halt: threading.Event) -> _Reply:
        """Ask for one query, again and again where that can help."""
        reply = _Reply(key)
        for attempt in range(self.attempts):
            if attempt and halt.wait(self.backoff * 2 ** (attempt - 1)):
                break
            if not pace.wait(halt):
                break
            reply.requests += 1
            try:
                reply.answer, reply.reason, tokens = self.endpoint.ask(client, text)
                reply.add(tokens)
            except openai.OpenAIError as error:
                found = refusal(error)
                reply.reason, reply.fatal = found.reason, found.fatal
                if found.wait is not None:
                    pace.hold(found.wait)
                if not found.retry:
                    break
            if reply.answer is not None:
                break
        return reply


@dataclass
class _Reply:
    """What a worker brings back."""

    key: str
    answer: Answer | None = None
    reason: str = ""
    fatal: bool = False
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, tokens: tuple[int, int]) -> None:
        self.prompt_tokens += tokens[0]
        self.completion_tokens += tokens[1]


class _Tally:
    """What is known so far; belongs to the calling thread."""

    def __init__(self, places: dict[str, list[int]], n_texts: int, watch: Watch) -> None:
        self.probabilities = np.full((n_texts, len(TASK_TYPES)), np.nan)
        self.failures: list[tuple[int, str]] = []
        self.answered, self.stopped = 0, ""
        self._places, self._watch = places, watch
        self._total = sum(map(len, places.values()))
        self._requests = self._prompt_tokens = self._completion_tokens = self._in_a_row = 0

    @property
    def complete(self) -> bool:
        """Whether every text that is not blank has its answer or its failure."""
        return self.answered + len(self.failures) == self._total

    def take(self, found: Mapping[str, tuple[float, ...]]) -> None:
        """Enter probabilities by key, and say how far the run is."""
        for key, shares in found.items():
            self.probabilities[self._places[key]] = shares
            self.answered += len(self._places[key])
        if self._total:
            done = self.answered + len(self.failures)
            failed = f", {len(self.failures):,} failed" if self.failures else ""
            self._watch.report(
                done / self._total, f"Classified {self.answered:,} of {self._total:,} queries{failed}"
            )

    def count(self, replies: list[_Reply], give_up_after: int) -> None:
        """Enter what workers brought back, and stop the run where the rest is hopeless."""
        for reply in replies:
            self._requests += reply.requests
            self._prompt_tokens += reply.prompt_tokens
            self._completion_tokens += reply.completion_tokens
            if reply.answer is not None:
                self._in_a_row = 0
                continue
            self._in_a_row += 1
            self.failures += [(n, reply.reason) for n in self._places[reply.key]]
            if reply.fatal or self._in_a_row >= give_up_after:
                self.stopped = self.stopped or f"The classifier stopped: {reply.reason}."
        self.take({r.key: r.answer.probabilities for r in replies if r.answer is not None})

    def usage(self, endpoint: Endpoint) -> Usage:
        """Counts, and the cost where both prices are known."""
        cost = float("nan")
        if endpoint.input_price is not None and endpoint.output_price is not None:
            cost = (
                self._prompt_tokens * endpoint.input_price + self._completion_tokens * endpoint.output_price
            )
        return Usage(self._requests, self._prompt_tokens, self._completion_tokens, cost / 1e6)


PromptedTyper = PromptedClassifier  # its name in version 0.1
