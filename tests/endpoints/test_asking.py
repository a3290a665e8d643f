"""Asking that is cancelled at any moment ends in silence; any other fault is the reason of one question alone."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from crubric_core.endpoints.asking import Line, Patience, Reply, ask_all
from crubric_core.endpoints.endpoint import Question
from crubric_core.endpoints.watch import Watch

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

    ask_all([Line(endpoint, Patience(backoff=0.01), QUESTIONS, lambda _, text: text)], collect, watch)
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
