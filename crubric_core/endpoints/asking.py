"""Send many questions to one or several endpoints: concurrently, at a limited rate, with retries, and cancellable.

Worker threads only send requests. The calling thread alone collects the replies, so that a cancelled run ends at once:
requests that are still waiting are dropped, and received answers are kept. An endpoint that is given up gets no further
questions, but the replies to those already sent are awaited.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import openai

from ..errors import SettingsError
from .endpoint import Endpoint, Question, Refusal, Tokens, refusal
from .pace import Pace
from .watch import UNWATCHED, Watch

logger = logging.getLogger(__name__)
TICK = 0.1
MOST_UNANSWERED = 4  # times ``give_up_after``: failed questions on any subject, if none was ever answered
WINDOW = 60.0  # seconds over which rate limits usually count, and the longest wait of our own choice
NO_COMPLETION = "the reply is not a chat completion"
T = TypeVar("T")


@dataclass(frozen=True)
class Patience:
    """Retries and limits of the requests to an endpoint.

    attempts: requests for one question before it counts as failed; requests that a rate limit refuses within a minute
    of the first such refusal do not count. backoff: seconds before the second request, then doubled, up to a minute.
    concurrency: requests at a time. requests_per_minute: at most; None for no limit.
    give_up_after: failed questions, with none answered in between, after which the endpoint is given up. Failures on
    one subject count once, unless the endpoint itself fails. An endpoint that has answered no question at all is also
    given up after MOST_UNANSWERED times as many failures, whatever the subjects.
    """

    attempts: int = 5
    backoff: float = 1.0
    concurrency: int = 4
    requests_per_minute: float | None = None
    give_up_after: int = 5

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise SettingsError(f"concurrency = {self.concurrency} sends no request: give 1 or more.")
        if self.requests_per_minute is not None and not 0 < self.requests_per_minute < math.inf:
            raise SettingsError(
                f"requests per minute = {self.requests_per_minute:g} is not a rate: give a number above 0, or none "
                "for no limit."
            )


@dataclass
class Reply(Generic[T]):
    """The result of one question.

    key: the question's. found: the parsed answer, or None. reason: why there is no answer. fatal: whether all other
    questions would fail too. down: whether the endpoint itself failed, whatever the question. requests: number sent.
    answer_tokens: (in, out) of the request that was answered. tokens: (in, out) of all requests for the question.
    """

    key: str
    found: T | None = None
    reason: str = ""
    fatal: bool = False
    down: bool = False
    requests: int = 0
    answer_tokens: Tokens = (0, 0)
    tokens: Tokens = (0, 0)


@dataclass(frozen=True)
class Usage:
    """The usage of a run: requests sent, tokens in and out as the endpoint counts them, their cost (NaN unknown)."""

    requests: int
    prompt_tokens: float
    completion_tokens: float
    cost: float

    def record(self) -> dict[str, float | None]:
        """Name of the field → value; None if unknown."""
        return {name: None if math.isnan(value) else value for name, value in vars(self).items()}


class Line(Generic[T]):
    """One endpoint, for one or several runs; its pace, successive failures and usage carry over between runs.

    read(key, text): parses the answer from the text of a message; raises ValueError with the reason if there is none.
    subject(key): the subject of a question; some subjects may be impossible to answer about.
    stopped: why the remaining questions were given up, or "". usage: the total so far.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        patience: Patience,
        read: Callable[[str, str], T],
        subject: Callable[[str], Hashable] = str,
    ) -> None:
        self.endpoint, self.patience = endpoint, patience
        self.stopped = ""
        self._read, self._subject = read, subject
        self._failed: set[Hashable] = set()
        self._unanswered = 0.0  # questions, as long as none was answered
        self._requests = 0
        self._tokens: Tokens = (0, 0)
        self._pace, self._halt = Pace(patience.requests_per_minute), threading.Event()

    @property
    def usage(self) -> Usage:
        """The usage so far; its cost is NaN unless both prices are known."""
        return Usage(self._requests, *self._tokens, self.endpoint.cost(*self._tokens))

    def open(self, questions: Mapping[str, Question]) -> dict[Future[Reply[T]], Line[T]]:
        """Submit these questions (key → question) to worker threads of this line; future → line."""
        self._questions, self._halt = questions, threading.Event()
        self._client = self.endpoint.client()
        self._pool = ThreadPoolExecutor(self.patience.concurrency, thread_name_prefix="endpoint")
        return {self._pool.submit(self._ask, key): self for key in questions}

    def close(self) -> None:
        """Stop the workers and close the client, without waiting for running requests."""
        self._halt.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._client.close()

    def spend(self, reply: Reply[T]) -> None:
        """Add the usage of one reply to the total."""
        self._requests += reply.requests
        self._tokens = self._tokens[0] + reply.tokens[0], self._tokens[1] + reply.tokens[1]

    def count(self, reply: Reply[T]) -> None:
        """Add one reply to the usage and the failures, and give up the endpoint if they are too many."""
        self.spend(reply)
        if reply.found is not None:
            self._failed.clear()
            self._unanswered = -math.inf
            return
        self._failed.add((reply.key,) if reply.down else self._subject(reply.key))
        self._unanswered += 1
        most = self.patience.give_up_after
        if reply.fatal or len(self._failed) >= most or self._unanswered >= MOST_UNANSWERED * most:
            self.stop(reply.reason)

    def stop(self, reason: str) -> None:
        """Send no further questions; if it is called again, the first reason is kept."""
        self.stopped = self.stopped or reason
        self._halt.set()

    def _ask(self, key: str) -> Reply[T]:
        """Ask one question, with retries for errors that may be temporary."""
        reply: Reply[T] = Reply(key)
        attempts, limited_since = 0, math.inf
        while reply.found is None and attempts < self.patience.attempts:
            if reply.requests and self._halt.wait(self._delay(reply.requests)):
                break
            if not self._pace.wait(self._halt):
                break
            reply.requests += 1
            attempts += 1
            try:
                self._ask_once(reply)
            except openai.OpenAIError as error:
                refused = refusal(error)
                self._heed(refused, reply)
                if not refused.retry:
                    break
                if refused.limited:
                    limited_since = min(limited_since, time.monotonic())
                    attempts -= time.monotonic() < limited_since + WINDOW
            except Exception as error:
                if self._halt.is_set():  # a client that was closed under a request
                    break
                logger.exception("A request failed")
                reply.down = True
                reply.reason = f"the request failed ({type(error).__name__}); the details are in the log"
        return reply

    def _delay(self, requests: int) -> float:
        """Seconds to wait before the next request, after so many requests for the question."""
        return min(self.patience.backoff * 2.0 ** min(requests - 1, 30), WINDOW)

    def _heed(self, refused: Refusal, reply: Reply[T]) -> None:
        reply.reason, reply.fatal, reply.down = refused.reason, refused.fatal, refused.retry
        if refused.wait is not None:
            self._pace.hold(refused.wait)
        if refused.fatal:  # at once: the collecting thread may be late, and the next question costs
            self._halt.set()

    def _ask_once(self, reply: Reply[T]) -> None:
        content, tokens = self.endpoint.complete(self._client, self._questions[reply.key])
        reply.tokens = reply.tokens[0] + tokens[0], reply.tokens[1] + tokens[1]
        reply.down = False
        if content is None:
            reply.reason = NO_COMPLETION
            return
        try:
            reply.found, reply.answer_tokens = self._read(reply.key, content), tokens
        except ValueError as error:
            reply.reason = str(error)


class Collect(Protocol[T]):
    """A function that receives the replies since the last call; it is called in the calling thread only."""

    def __call__(self, replies: list[tuple[Line[T], Reply[T]]]) -> None:
        """Receive (line, reply) pairs."""


def ask_all(
    work: Sequence[tuple[Line[T], Mapping[str, Question]]], collect: Collect[T], watch: Watch = UNWATCHED
) -> None:
    """Ask all questions of all lines concurrently, until all are done, cancelled or given up.

    work: (line, key → question) pairs.
    """
    owner: dict[Future[Reply[T]], Line[T]] = {}
    try:
        for line, questions in work:
            owner |= line.open(questions)
        pending = set(owner)
        while pending and not watch.stopped:
            done, pending = wait(pending, timeout=TICK, return_when=FIRST_COMPLETED)
            replies = _replies(done, owner)
            for line, reply in replies:
                line.count(reply)
            if replies:
                collect(replies)
    finally:
        for line in set(owner.values()):
            line.close()
    late = _replies(pending, owner)
    for line, reply in late:
        line.spend(reply)
    if found := [(line, reply) for line, reply in late if reply.found is not None]:
        collect(found)


def _replies(
    futures: set[Future[Reply[T]]], owner: Mapping[Future[Reply[T]], Line[T]]
) -> list[tuple[Line[T], Reply[T]]]:
    """(line, reply) of the futures that are done and sent at least one request."""
    done = [future for future in futures if future.done() and not future.cancelled()]
    return [(owner[future], future.result()) for future in done if future.result().requests]
