"""Many questions to one or several endpoints: concurrent, paced, repeated where that helps, and cancellable.

Workers only ask. The calling thread alone collects what they bring back, so that a cancelled run ends at once: what
a worker is still waiting for is dropped, and what was answered is kept.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import openai

from .endpoint import Endpoint, Question, Refusal, refusal
from .pace import Pace
from .watch import UNWATCHED, Watch

logger = logging.getLogger(__name__)
TICK = 0.1
NO_COMPLETION = "the reply is not a chat completion"
T = TypeVar("T")


@dataclass(frozen=True)
class Patience:
    """How an endpoint is asked.

    attempts: requests for one question before it counts as failed. backoff: seconds before the second, then doubled.
    concurrency: requests at a time. requests_per_minute: at most; None without limit.
    give_up_after: failed questions in a row, with none answered between, after which the endpoint is given up.
    """

    attempts: int = 5
    backoff: float = 1.0
    concurrency: int = 4
    requests_per_minute: float | None = None
    give_up_after: int = 5


@dataclass
class Reply(Generic[T]):
    """What came of one question.

    found: the answer as it was read, or None; reason: why there is none. fatal: whether all others would fail too.
    answer_tokens: in and out, of the request that was answered; tokens: of all its requests.
    """

    key: str
    found: T | None = None
    reason: str = ""
    fatal: bool = False
    requests: int = 0
    answer_tokens: tuple[int, int] = (0, 0)
    tokens: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Usage:
    """What a run took: requests sent, tokens in and out as the endpoint counts them, and their cost (NaN unknown)."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost: float


class Line(Generic[T]):
    """One endpoint with its questions.

    read(key, text): the answer in the text of a message; raises ValueError with the reason where there is none.
    stopped: why the rest of its questions was given up, or empty. usage: what it took so far.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        patience: Patience,
        questions: Mapping[str, Question],
        read: Callable[[str, str], T],
    ) -> None:
        self.endpoint, self.patience, self.questions = endpoint, patience, questions
        self.stopped = ""
        self._read, self._in_a_row = read, 0
        self._requests, self._tokens = 0, (0, 0)
        self._halt, self._pace = threading.Event(), Pace(patience.requests_per_minute)

    @property
    def usage(self) -> Usage:
        """Counts, and the cost where both prices are known."""
        return Usage(self._requests, *self._tokens, self.endpoint.cost(*self._tokens))

    def open(self) -> dict[Future[Reply[T]], Line[T]]:
        """Hand all questions to workers of its own."""
        self._client = self.endpoint.client()
        self._pool = ThreadPoolExecutor(self.patience.concurrency, thread_name_prefix="endpoint")
        return {self._pool.submit(self._ask, key): self for key in self.questions}

    def close(self) -> None:
        """Let nobody ask any more; does not wait for those who do."""
        self._halt.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._client.close()

    def count(self, reply: Reply[T]) -> None:
        """Enter one reply, and stop where the rest is hopeless."""
        self._requests += reply.requests
        self._tokens = self._tokens[0] + reply.tokens[0], self._tokens[1] + reply.tokens[1]
        self._in_a_row = 0 if reply.found is not None else self._in_a_row + 1
        if reply.found is None and (reply.fatal or self._in_a_row >= self.patience.give_up_after):
            self.stopped = self.stopped or reply.reason
            self._halt.set()

    def _ask(self, key: str) -> Reply[T]:
        """Ask one question, again and again where that can help."""
        reply: Reply[T] = Reply(key)
        for attempt in range(self.patience.attempts):
            if attempt and self._halt.wait(self.patience.backoff * 2 ** (attempt - 1)):
                break
            if not self._pace.wait(self._halt):
                break
            reply.requests += 1
            try:
                self._ask_once(reply)
            except openai.OpenAIError as error:
                refused = refusal(error)
                self._heed(refused, reply)
                if not refused.retry:
                    break
            except Exception as error:
                if self._halt.is_set():  # a client that was closed under a request
                    break
                logger.exception("A request failed")
                reply.reason = f"the request failed ({type(error).__name__}); the details are in the log"
            if reply.found is not None:
                break
        return reply

    def _heed(self, refused: Refusal, reply: Reply[T]) -> None:
        reply.reason, reply.fatal = refused.reason, refused.fatal
        if refused.wait is not None:
            self._pace.hold(refused.wait)
        if refused.fatal:  # at once: who collects may be late, and the next question costs
            self._halt.set()

    def _ask_once(self, reply: Reply[T]) -> None:
        content, tokens = self.endpoint.complete(self._client, self.questions[reply.key])
        reply.tokens = reply.tokens[0] + tokens[0], reply.tokens[1] + tokens[1]
        if content is None:
            reply.reason = NO_COMPLETION
            return
        try:
            reply.found, reply.answer_tokens = self._read(reply.key, content), tokens
        except ValueError as error:
            reply.reason = str(error)


class Collect(Protocol[T]):
    """Takes what workers brought back since the last call; called from the calling thread alone."""

    def __call__(self, replies: list[tuple[Line[T], Reply[T]]]) -> None:
        """Keep them."""


def ask_all(lines: Sequence[Line[T]], collect: Collect[T], watch: Watch = UNWATCHED) -> None:
    """Ask every question of every line, all lines at once, until done, cancelled or given up."""
    owner: dict[Future[Reply[T]], Line[T]] = {}
    opened = []
    try:
        for line in lines:
            owner |= line.open()
            opened.append(line)
        pending = set(owner)
        while pending and not watch.stopped:
            done, pending = wait(pending, timeout=TICK, return_when=FIRST_COMPLETED)
            _collect(done, owner, collect)
            pending = {future for future in pending if not owner[future].stopped}
    finally:
        for line in opened:
            line.close()
    late = {future for future in pending if future.done() and not future.cancelled()}
    _collect({future for future in late if future.result().found is not None}, owner, collect)


def _collect(
    done: set[Future[Reply[T]]], owner: Mapping[Future[Reply[T]], Line[T]], collect: Collect[T]
) -> None:
    found = [(owner[future], future.result()) for future in done]
    replies = [(line, reply) for line, reply in found if reply.requests]
    for line, reply in replies:
        line.count(reply)
    if replies:
        collect(replies)
