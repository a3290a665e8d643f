"""Many questions to one or several endpoints: concurrent, paced, repeated where that helps, and cancellable.

Workers only ask. The calling thread alone collects what they bring back, so that a cancelled run ends at once: what
a worker is still waiting for is dropped, and what was answered is kept. An endpoint that is given up is asked nothing
more, and what it was asked already is waited for.
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
MOST_UNANSWERED = 4  # times ``give_up_after``: questions about whatever, where none was ever answered
WINDOW = 60.0  # seconds over which rate limits usually count, and the longest that we wait of ourselves
NO_COMPLETION = "the reply is not a chat completion"
T = TypeVar("T")


@dataclass(frozen=True)
class Patience:
    """How an endpoint is asked.

    attempts: requests for one question before it counts as failed, those not counted that a rate limit refuses within
    a minute of the first. backoff: seconds before the second, then doubled, up to a minute.
    concurrency: requests at a time. requests_per_minute: at most; None without limit.
    give_up_after: failures in a row, with none answered between, after which the endpoint is given up. Several about
    one subject count once, unless the endpoint itself fails, or MOST_UNANSWERED times as many were all that it got.
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
    """What came of one question.

    found: the answer as it was read, or None; reason: why there is none. fatal: whether all others would fail too.
    down: whether the endpoint failed, whatever it was asked.
    answer_tokens: in and out, of the request that was answered; tokens: of all its requests.
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
    """What a run took: requests sent, tokens in and out as the endpoint counts them, and their cost (NaN unknown)."""

    requests: int
    prompt_tokens: float
    completion_tokens: float
    cost: float

    def record(self) -> dict[str, float | None]:
        """Plain values, by the names of the fields; None unknown."""
        return {name: None if math.isnan(value) else value for name, value in vars(self).items()}


class Line(Generic[T]):
    """One endpoint, asked once or several times: its pace, its failures in a row and what it took go on.

    read(key, text): the answer in the text of a message; raises ValueError with the reason where there is none.
    subject(key): what a question is about; one subject may be one that nobody can answer about.
    stopped: why the rest of its questions was given up, or empty. usage: what it took so far.
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
        """Counts, and the cost where both prices are known."""
        return Usage(self._requests, *self._tokens, self.endpoint.cost(*self._tokens))

    def open(self, questions: Mapping[str, Question]) -> dict[Future[Reply[T]], Line[T]]:
        """Hand these questions to workers of its own."""
        self._questions, self._halt = questions, threading.Event()
        self._client = self.endpoint.client()
        self._pool = ThreadPoolExecutor(self.patience.concurrency, thread_name_prefix="endpoint")
        return {self._pool.submit(self._ask, key): self for key in questions}

    def close(self) -> None:
        """Let nobody ask any more; does not wait for those who do."""
        self._halt.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._client.close()

    def spend(self, reply: Reply[T]) -> None:
        """Enter what one reply took."""
        self._requests += reply.requests
        self._tokens = self._tokens[0] + reply.tokens[0], self._tokens[1] + reply.tokens[1]

    def count(self, reply: Reply[T]) -> None:
        """Enter one reply, and stop where the rest is hopeless."""
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
        """Ask nothing more; the first reason stands."""
        self.stopped = self.stopped or reason
        self._halt.set()

    def _ask(self, key: str) -> Reply[T]:
        """Ask one question, again and again where that can help."""
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
        """Seconds before the next of so many requests."""
        return min(self.patience.backoff * 2.0 ** min(requests - 1, 30), WINDOW)

    def _heed(self, refused: Refusal, reply: Reply[T]) -> None:
        reply.reason, reply.fatal, reply.down = refused.reason, refused.fatal, refused.retry
        if refused.wait is not None:
            self._pace.hold(refused.wait)
        if refused.fatal:  # at once: who collects may be late, and the next question costs
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
    """Takes what workers brought back since the last call; called from the calling thread alone."""

    def __call__(self, replies: list[tuple[Line[T], Reply[T]]]) -> None:
        """Keep them."""


def ask_all(
    work: Sequence[tuple[Line[T], Mapping[str, Question]]], collect: Collect[T], watch: Watch = UNWATCHED
) -> None:
    """Ask every question of every line, all lines at once, until done, cancelled or given up."""
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
    """The replies, each with its line, of the futures that are done and sent at least one request."""
    done = [future for future in futures if future.done() and not future.cancelled()]
    return [(owner[future], future.result()) for future in done if future.result().requests]
