"""Asking that is cancelled at any moment ends in silence; any other fault is the reason of one question alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import httpx
import openai
import pytest

from crubric_core.endpoints import asking
from crubric_core.endpoints.asking import Line, Patience, Reply, ask_all
from crubric_core.endpoints.endpoint import Question
from crubric_core.endpoints.watch import Watch
from crubric_core.errors import SettingsError

QUESTIONS = {key: Question("", key, {}) for key in ("answered", "interrupted")}


@dataclass
class OfAClosedClient:
    """Answers one question; lets the other reach the client as soon as it is closed."""

    sending: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)

    def close(self) -> None:
        self.closed.set()
        for thread in threading.enumerate():
            if thread.name.startswith("endpoint"):
                thread.join(10)

    def client(self) -> Any:
        return SimpleNamespace(close=self.close)

    def complete(self, client: object, question: Question) -> tuple[str, tuple[int, int]]:
        if question.user == "interrupted":
            self.sending.set()
            self.closed.wait(10)
            raise RuntimeError("Cannot send a request, as the client has been closed.")
        self.sending.wait(10)
        return "yes", (1, 1)

    def cost(self, tokens_in: float, tokens_out: float) -> float:
        return 0.0


def asked(endpoint: Any, watch: Watch, cancel: threading.Event) -> list[Reply[str]]:
    """What came back before the first answer cancelled the rest."""
    found: list[Reply[str]] = []

    def collect(replies: list[tuple[Line[str], Reply[str]]]) -> None:
        found.extend(reply for _, reply in replies)
        cancel.set()

    ask_all([(Line(endpoint, Patience(backoff=0.01), lambda _, text: text), QUESTIONS)], collect, watch)
    return found


def test_a_request_that_meets_a_closed_client_is_dropped() -> None:
    cancel = threading.Event()
    found = asked(OfAClosedClient(), Watch(cancel=cancel), cancel)
    assert [(reply.key, reply.found) for reply in found] == [("answered", "yes")]


def test_the_same_error_of_an_open_client_is_the_reason_of_its_question(
    caplog: pytest.LogCaptureFixture,
) -> None:
    endpoint = OfAClosedClient()
    endpoint.closed.set()
    found = {reply.key: reply for reply in asked(endpoint, Watch(), threading.Event())}
    assert found["answered"].found == "yes"
    assert "RuntimeError" in found["interrupted"].reason
    assert "has been closed" in caplog.text


@dataclass
class Scripted:
    """Says what ``say`` returns for a question, or raises it."""

    say: Callable[[str], str | Exception]
    asked: list[str] = field(default_factory=list)

    def client(self) -> Any:
        return SimpleNamespace(close=lambda: None)

    def complete(self, client: object, question: Question) -> tuple[str, tuple[int, int]]:
        self.asked.append(question.user)
        said = self.say(question.user)
        if isinstance(said, Exception):
            raise said
        return said, (1, 1)

    def cost(self, tokens_in: float, tokens_out: float) -> float:
        return 0.0


def status(code: int, **headers: str) -> openai.APIStatusError:
    """What the client raises on that status."""
    response = httpx.Response(code, headers=headers, request=httpx.Request("POST", "http://host/v1"))
    kind = {401: openai.AuthenticationError, 429: openai.RateLimitError}.get(code, openai.APIStatusError)
    return kind("no", response=response, body=None)


def a_yes(_: str, text: str) -> str:
    """The answer where it is yes."""
    if text != "yes":
        raise ValueError("the answer is no yes")
    return text


def line(endpoint: Any, subject: Callable[[str], str] = str, **patience: Any) -> Line[str]:
    return Line(endpoint, Patience(**{"backoff": 0, "concurrency": 1} | patience), a_yes, subject)


def ask(line: Line[str], *keys: str) -> list[Reply[str]]:
    found: list[Reply[str]] = []
    questions = {key: Question("", key, {}) for key in keys}
    ask_all([(line, questions)], lambda replies: found.extend(reply for _, reply in replies))
    return found


def test_what_is_asked_already_when_an_endpoint_is_given_up_is_waited_for_and_kept() -> None:
    under_way, given_up = threading.Event(), threading.Event()

    def say(user: str) -> str | Exception:
        if user == "paid":
            under_way.set()
            assert given_up.wait(10)
            return "yes"
        under_way.wait(10)
        return status(401)

    asking = line(Scripted(say), concurrency=2)
    found: list[Reply[str]] = []

    def collect(replies: list[tuple[Line[str], Reply[str]]]) -> None:
        found.extend(reply for _, reply in replies)
        given_up.set()

    ask_all([(asking, {key: Question("", key, {}) for key in ("paid", "refused", "later")})], collect)
    assert "refuses the key" in asking.stopped
    assert {reply.key: reply.found for reply in found} == {"refused": None, "paid": "yes"}
    assert (asking.usage.requests, asking.usage.prompt_tokens) == (2, 1)


@pytest.mark.parametrize("said", ["no", status(400), status(413), status(422)], ids=str)
def test_an_endpoint_is_not_given_up_for_one_subject(said: str | Exception) -> None:
    endpoint = Scripted(lambda user: "yes" if user.startswith("b") else said)
    asking = line(endpoint, lambda key: key[0])
    found = ask(asking, *(f"a{n}" for n in range(9)), "b")
    assert [reply.key for reply in found if reply.found] == ["b"]
    assert asking.stopped == ""


@pytest.mark.parametrize(("subjects", "stops"), [("abcd", False), ("abcde", True)])
def test_an_endpoint_is_given_up_after_five_subjects_in_a_row(subjects: str, stops: bool) -> None:
    asking = line(Scripted(lambda user: "no"), lambda key: key[0])
    ask(asking, *(f"{letter}{n}" for letter in subjects for n in range(2)))
    assert bool(asking.stopped) == stops


@pytest.mark.parametrize(("questions", "stops"), [(19, False), (20, True)])
def test_an_endpoint_that_never_answers_is_given_up_though_all_is_about_one_subject(
    questions: int, stops: bool
) -> None:
    asking = line(Scripted(lambda user: "no"), lambda key: key[0])
    ask(asking, *(f"a{n}" for n in range(questions)))
    assert bool(asking.stopped) == stops


@pytest.mark.parametrize(("questions", "stops"), [(4, False), (5, True)])
def test_an_endpoint_in_trouble_is_given_up_whatever_it_is_asked_about(questions: int, stops: bool) -> None:
    asking = line(Scripted(lambda user: status(503)), lambda key: "one subject")
    ask(asking, *(f"a{n}" for n in range(questions)))
    assert bool(asking.stopped) == stops


def test_failures_in_a_row_and_what_was_spent_go_on_from_one_asking_to_the_next() -> None:
    asking = line(Scripted(lambda user: "no"), attempts=1)
    ask(asking, "a", "b", "c")
    assert asking.stopped == ""
    ask(asking, "d", "e")
    assert asking.stopped
    assert asking.usage.requests == 5


def early(times: int) -> Scripted:
    """An endpoint whose rate limit refuses that many requests before it says yes."""
    endpoint = Scripted(lambda user: status(429) if len(endpoint.asked) <= times else "yes")
    return endpoint


def test_requests_that_a_rate_limit_refuses_within_a_minute_are_no_attempts() -> None:
    (reply,) = ask(line(early(9)), "a")
    assert (reply.found, reply.requests) == ("yes", 10)


def test_after_a_minute_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "WINDOW", 0.0)
    (reply,) = ask(line(early(9)), "a")
    assert (reply.found, reply.requests) == (None, 5)
    assert "rate limit" in reply.reason


@pytest.mark.parametrize(
    "options",
    [{"concurrency": 0}, {"concurrency": -1}, {"requests_per_minute": 0.0}, {"requests_per_minute": -1.0}],
)
def test_a_pace_at_which_nobody_is_asked_is_refused(options: Any) -> None:
    with pytest.raises(SettingsError, match=r"concurrency|requests per minute"):
        Patience(**options)
