"""One reply of whatever shape is a text with its tokens, or none; it is never the end of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import openai
import pytest

from crubric_core.endpoints import endpoint
from crubric_core.endpoints.endpoint import Endpoint, Question, refusal
from tests.task_types.conftest import FakeEndpoint

USAGE = {"prompt_tokens": 100, "completion_tokens": 20}
Complete = Callable[..., tuple[str | None, tuple[float, float]]]


@pytest.fixture
def server() -> Iterator[FakeEndpoint]:
    fake = FakeEndpoint()
    yield fake
    fake.stop()


@pytest.fixture
def complete(server: FakeEndpoint) -> Complete:
    """``complete(content, **others)`` asks once and is sent a completion of that content."""

    def complete(content: Any = "yes", **others: Any) -> tuple[str | None, tuple[float, float]]:
        choices = [{"index": 0, "message": {"role": "assistant", "content": content}}]
        server.behave = lambda query, visit: {
            "raw": json.dumps({"id": "x", "choices": choices, "usage": USAGE} | others)
        }
        model = Endpoint(server.url, "some-model", "secret-key", timeout=5)
        with model.client() as client:
            return model.complete(client, Question("", "a question", {}))

    return complete


def test_the_text_parts_of_a_list_are_the_text(complete: Complete) -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    parts = [thought, {"type": "text", "text": "y"}, {"type": "text", "text": "es"}]
    assert complete(parts) == ("yes", (100, 20))


@pytest.mark.parametrize("content", [{"met": True}, ["yes"], [{"text": "yes"}], [{"type": "text"}], 5, True])
def test_a_message_of_another_kind_is_no_text(complete: Complete, content: object) -> None:
    assert complete(content) == (None, (100, 20))


@pytest.mark.parametrize("choices", [{"a": 1}, "abc", [], [None], None, 5])
def test_choices_of_another_kind_are_no_completion(complete: Complete, choices: object) -> None:
    assert complete(choices=choices) == (None, (100, 20))


def test_a_message_without_text_is_empty(complete: Complete) -> None:
    assert complete(None)[0] == ""


@pytest.mark.parametrize("usage", ["many", [1], {"prompt_tokens": "12"}, {"total_tokens": 5}, None, 3])
def test_tokens_that_are_not_counted_are_unknown_and_the_text_is_read(
    complete: Complete, usage: object
) -> None:
    text, tokens = complete(usage=usage)
    assert text == "yes"
    assert np.isnan(tokens).all()


def test_what_is_no_completion_takes_no_tokens(complete: Complete) -> None:
    assert complete(choices=[], usage=None) == (None, (0, 0))


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("2.5", 2.5),
        ("3600", 3600),
        ("-1", 0),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 90),
        ("Thu, 01 Jan 1970 00:00:05 GMT", 0),
        ("1e300", 86_400),
        ("nan", None),
        ("soon", None),
        ("Wed, 21 Oct 2015 07:28:00 +99999999999999999", None),
        (None, None),
    ],
)
def test_the_wait_is_as_long_as_the_server_says(
    said: str | None, seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At most a day; dates are read ten seconds after the beginning of time."""
    monkeypatch.setattr(endpoint, "time", SimpleNamespace(time=lambda: 10.0))
    request = httpx.Request("POST", "http://host/v1")
    response = httpx.Response(429, headers={} if said is None else {"Retry-After": said}, request=request)
    assert refusal(openai.RateLimitError("no", response=response, body=None)).wait == seconds


def test_the_organisation_of_the_environment_is_told_to_no_server(
    complete: Complete, server: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-mine")
    complete()
    (request,) = server.requests
    assert not {"openai-organization", "openai-project"} & set(request["headers"])
