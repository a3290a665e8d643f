"""The prompted typer against a server that does everything a server can do."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import numpy as np
import pytest

from crubric_core import Workspace
from crubric_core.endpoints.pace import Pace
from crubric_core.errors import SettingsError
from crubric_core.labels.store.classifier_cache import ClassifierCache
from crubric_core.task_types.answers import Answer, MemoryCache
from crubric_core.task_types.classifier import Watch
from crubric_core.task_types.endpoint import ClassifierEndpoint
from crubric_core.task_types.prompted import PromptedClassifier
from crubric_core.task_types.prompting import prompt_key, read_answer, user_message
from crubric_core.task_types.types import TASK_TYPES

QUERIES = [f"query {n}" for n in range(12)]


@pytest.fixture
def typer(server):
    endpoint = ClassifierEndpoint(server.url, "some-model", "secret-key", timeout=5)
    return PromptedClassifier(endpoint, backoff=0.01)


def answered(run):
    return ~np.isnan(run.probabilities).any(axis=1)


def test_every_query_is_asked_once_and_gets_its_probabilities(server, typer):
    run = typer.run(QUERIES)
    np.testing.assert_allclose(run.probabilities, np.tile([0.1, 0.7, 0.1, 0.1], (12, 1)))
    assert sorted(r["query"] for r in server.requests) == sorted(QUERIES)
    assert (run.answered, run.cached, run.failures, run.stopped, run.cancelled) == (12, 0, (), "", False)
    assert (run.usage.requests, run.usage.prompt_tokens, run.usage.completion_tokens) == (12, 1200, 240)


def test_the_request_asks_for_structured_output_with_the_key_of_the_endpoint(server, typer):
    typer.run(QUERIES[:1])
    (request,) = server.requests
    assert request["path"] == "/v1/chat/completions"
    assert request["key"] == "Bearer secret-key"
    assert request["body"]["model"] == "some-model"
    schema = request["body"]["response_format"]["json_schema"]["schema"]
    assert set(schema["required"]) == set(TASK_TYPES)


def test_a_server_without_schemas_can_be_asked_for_plain_json(server, typer):
    PromptedClassifier(replace(typer.endpoint, response_format="json_object")).run(QUERIES[:1])
    assert server.requests[0]["body"]["response_format"] == {"type": "json_object"}


def test_blank_queries_cost_nothing_and_stay_unknown(server, typer):
    run = typer.run(["", None, "  ", "query"])
    assert answered(run).tolist() == [False, False, False, True]
    assert len(server.requests) == 1
    assert typer.run([]).probabilities.shape == (0, 4)


def test_equal_queries_are_asked_once(server, typer):
    run = typer.run(["same", "same", "other"])
    assert answered(run).all()
    assert run.answered == 3
    assert len(server.requests) == 2


def test_a_known_answer_is_never_asked_again(server, typer):
    typer.run(QUERIES[:5])
    run = typer.run(QUERIES[:7])
    assert (run.answered, run.cached, run.usage.requests) == (7, 5, 2)
    assert len(server.requests) == 7


def test_another_model_is_another_question(server, typer):
    typer.run(QUERIES[:1])
    replace(typer, endpoint=replace(typer.endpoint, model="another")).run(QUERIES[:1])
    assert len(server.requests) == 2


def test_slow_answers_come_in_as_many_at_a_time_as_allowed(server, typer):
    server.behave = lambda query, visit: {"delay": 0.1}
    run = replace(typer, concurrency=3).run(QUERIES)
    assert answered(run).all()
    assert server.busiest == 3


def test_a_time_out_is_tried_again(server, typer):
    server.behave = lambda query, visit: {"delay": 9.0} if visit == 0 and query == "query 3" else {}
    run = replace(typer, endpoint=replace(typer.endpoint, timeout=3.0)).run(QUERIES)
    assert answered(run).all()
    assert run.usage.requests == 13


@pytest.mark.parametrize("status", [500, 503, 408])
def test_a_server_in_trouble_is_tried_again(server, typer, status):
    server.behave = lambda query, visit: {"status": status} if visit < 2 else {}
    run = typer.run(QUERIES)
    assert answered(run).all()
    assert run.usage.requests == 36


def test_too_many_requests_make_everybody_wait_as_long_as_the_server_says(server, typer):
    server.behave = lambda query, visit: (
        {"status": 429, "headers": {"Retry-After": "0.4"}} if (query, visit) == ("query 0", 0) else {}
    )
    run = replace(typer, concurrency=1).run(QUERIES[:3])
    assert answered(run).all()
    assert server.times[1] - server.times[0] >= 0.39


def test_a_rate_limit_without_a_date_that_can_be_read_backs_off_by_itself(server, typer):
    server.behave = lambda query, visit: (
        {"status": 429, "headers": {"Retry-After": "Wed, 21 Oct"}} if visit == 0 else {}
    )
    assert answered(typer.run(QUERIES[:3])).all()


@pytest.mark.parametrize(
    "content",
    [
        "no JSON at all",
        '{"evidence_reasoning": 0.5',
        "[0.1, 0.2]",
        '{"evidence_reasoning": "high"}',
        "{}",
        "",
    ],
)
def test_broken_answers_are_asked_again_and_then_reported(server, typer, content):
    server.behave = lambda query, visit: {"content": content} if query == "query 1" else {}
    run = typer.run(QUERIES[:4])
    assert answered(run).tolist() == [True, False, True, True]
    ((position, reason),) = run.failures
    assert position == 1
    assert reason.startswith("the answer")
    assert run.usage.requests == 3 + typer.attempts
    assert run.usage.prompt_tokens == 100 * run.usage.requests, "broken answers are paid for too"


@pytest.mark.parametrize("raw", ["<html>gateway</html>", "{}", '{"choices": []}'])
def test_a_reply_that_is_no_chat_completion_fails_that_query_alone(server, typer, raw):
    server.behave = lambda query, visit: {"raw": raw} if query == "query 1" else {}
    run = typer.run(QUERIES[:3])
    assert answered(run).tolist() == [True, False, True]


def test_a_hung_up_connection_is_tried_again(server, typer):
    server.behave = lambda query, visit: {"drop": True} if visit == 0 else {}
    assert answered(typer.run(QUERIES)).all()


def test_no_server_at_all_stops_the_run_with_a_reason_and_loses_nothing(server, typer):
    nowhere = replace(typer, endpoint=replace(typer.endpoint, base_url="http://127.0.0.1:9/v1"), attempts=2)
    run = nowhere.run(QUERIES)
    assert not answered(run).any()
    assert "cannot be reached" in run.stopped
    assert len(run.failures) < len(QUERIES), "it gives up long before the last query"
    assert answered(typer.run(QUERIES)).all()


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ({"status": 401}, "refuses the key"),
        ({"status": 404}, "no such model"),
        ({"status": 429, "code": "insufficient_quota"}, "quota"),
    ],
)
def test_what_no_repetition_can_heal_stops_the_run_at_once(server, typer, behaviour, reason):
    server.behave = lambda query, visit: behaviour
    run = replace(typer, concurrency=1).run(QUERIES)
    assert reason in run.stopped
    assert "secret-key" not in run.stopped
    assert len(server.requests) <= 2


def test_a_stopped_run_resumes_where_it_stood(server, typer):
    server.behave = lambda query, visit: {} if len(server.requests) <= 6 else {"status": 401}
    first = replace(typer, concurrency=1).run(QUERIES)
    assert answered(first).sum() == 6
    server.behave = lambda query, visit: {}
    before = len(server.requests)
    second = typer.run(QUERIES)
    assert answered(second).all()
    assert second.cached == 6
    asked = {
        request["query"] for request in server.requests[before:]
    }  # a busy machine may ask one of them twice
    assert asked == {query for query, known in zip(QUERIES, answered(first), strict=True) if not known}


def test_a_cancelled_run_ends_at_once_keeps_its_answers_and_resumes(server, typer):
    cancel = threading.Event()
    server.behave = lambda query, visit: {"delay": 30.0} if query in QUERIES[4:] else {}
    stop_after_four = Watch(lambda share, what: cancel.set() if share >= 4 / 12 else None, cancel)
    run = replace(typer, concurrency=2).run(QUERIES, stop_after_four)
    assert run.cancelled
    assert answered(run).tolist() == [True] * 4 + [False] * 8
    server.behave = lambda query, visit: {}
    assert answered(typer.run(QUERIES)).all()


class Clock:
    """Time that passes when somebody waits, and the event that is waited on."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds
        return False

    def is_set(self):
        return False


def test_requests_keep_their_distance_and_a_pause_holds_for_all():
    clock = Clock()
    pace, asked = Pace(600, clock), []
    for number in range(5):
        assert pace.wait(clock)
        asked.append(clock.now)
        if number == 2:
            pace.hold(3.0)
    np.testing.assert_allclose(np.diff(asked), [0.1, 0.1, 3.0, 0.1])


def test_a_run_with_a_pace_answers_everything(server, typer):
    assert answered(replace(typer, requests_per_minute=6000).run(QUERIES[:4])).all()


def test_progress_grows_to_one_and_counts_failures(server, typer):
    server.behave = lambda query, visit: {"status": 400} if query == "query 1" else {}
    told = []
    typer.run(QUERIES[:4], Watch(progress=lambda share, what: told.append((share, what))))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert told[-1] == (1.0, "Classified 3 of 4 queries, 1 failed")


def test_the_cost_is_known_where_the_prices_are(server, typer):
    assert np.isnan(typer.run(QUERIES[:1]).usage.cost)
    priced = replace(typer, endpoint=replace(typer.endpoint, input_price=2.0, output_price=10.0))
    assert priced.run(QUERIES[1:3]).usage.cost == pytest.approx((200 * 2 + 40 * 10) / 1e6)


def test_answers_survive_in_the_workspace(server, typer, tmp_path):
    path = tmp_path / "study.duckdb"
    with Workspace(path) as ws:
        stored = replace(typer, cache=ClassifierCache(ws))
        first = stored.run(QUERIES)
    with Workspace(path) as ws:
        again = replace(typer, cache=ClassifierCache(ws)).run(QUERIES)
        with ws.reading() as cursor:
            kept = cursor.execute("SELECT * EXCLUDE answered_at FROM typer_answers").fetchall()
    np.testing.assert_array_equal(first.probabilities, again.probabilities)
    assert again.usage.requests == 0
    assert len(kept) == 12
    assert not any("query" in str(row) for row in kept), "hashes alone, no text"


def test_an_answer_whose_tokens_are_unknown_is_kept_like_any_other(server, typer, tmp_path):
    choices = [{"message": {"role": "assistant", "content": json.dumps(dict.fromkeys(TASK_TYPES, 1))}}]
    server.behave = lambda query, visit: {"raw": json.dumps({"choices": choices})}
    with Workspace(tmp_path / "study.duckdb") as ws:
        stored = replace(typer, cache=ClassifierCache(ws))
        assert np.isnan(stored.run(QUERIES[:1]).usage.prompt_tokens)
        assert stored.run(QUERIES[:1]).cached == 1


def test_the_later_answer_stands_in_the_workspace():
    with Workspace() as ws:
        cache = ClassifierCache(ws)
        assert cache.read(["k"]) == {}
        for share in (0.25, 0.5):
            cache.write({"k": Answer("m", (share, 1 - share, 0.0, 0.0), 1, 1)})
        assert cache.read(["k", "unknown"]) == {"k": (0.5, 0.5, 0.0, 0.0)}


def test_answers_are_read_out_of_what_stands_around_them_and_made_to_sum_to_one():
    content = "Here:\n```json\n" + json.dumps(dict.fromkeys(TASK_TYPES, 2)) + "\n```"
    assert read_answer(content) == (0.25,) * 4


@pytest.mark.parametrize(
    "values", [[-1, 1, 1, 1], [0, 0, 0, 0], [True, 0, 0, 0], [float("nan"), 1, 1, 1], [None, 1, 1, 1]]
)
def test_numbers_that_are_no_probabilities_are_refused(values):
    with pytest.raises(ValueError, match="the answer"):
        read_answer(json.dumps(dict(zip(TASK_TYPES, values, strict=True))))


def test_a_long_query_is_sent_without_its_middle_and_keyed_by_what_is_sent():
    text = "a" * 5000 + "b" * 5000 + "c" * 5000
    assert "b" not in user_message(text)
    assert prompt_key("m", text) == prompt_key("m", "a" * 5000 + "d" * 5000 + "c" * 5000)
    assert prompt_key("m", text) != prompt_key("n", text)


def test_the_endpoint_is_read_from_the_environment_and_secrets_go_first(monkeypatch):
    monkeypatch.delenv("CRUBRIC_TYPER_BASE_URL", raising=False)
    assert ClassifierEndpoint.from_environment() is None
    monkeypatch.setenv("CRUBRIC_TYPER_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("CRUBRIC_TYPER_MODEL", "m")
    monkeypatch.setenv("CRUBRIC_TYPER_KEY", "hush")
    monkeypatch.setenv("CRUBRIC_TYPER_INPUT_PRICE", "0.5")
    found = ClassifierEndpoint.from_environment({"CRUBRIC_TYPER_MODEL": "from secrets"})
    assert (found.model, found.api_key, found.input_price, found.output_price) == (
        "from secrets",
        "hush",
        0.5,
        None,
    )
    assert "hush" not in repr(found)


@pytest.mark.parametrize(
    ("name", "value"),
    [("BASE_URL", "ftp://host"), ("MODEL", " "), ("INPUT_PRICE", "cheap"), ("FORMAT", "xml")],
)
def test_a_wrong_endpoint_gets_a_sentence(name, value):
    settings = {
        "CRUBRIC_TYPER_BASE_URL": "http://host/v1",
        "CRUBRIC_TYPER_MODEL": "m",
        f"CRUBRIC_TYPER_{name}": value,
    }
    with pytest.raises(SettingsError, match=r"(?i)typer|classifier"):
        ClassifierEndpoint.from_environment(settings)


def test_a_memory_cache_knows_what_it_was_told():
    cache = MemoryCache()
    cache.write({"k": Answer("m", (1.0, 0.0, 0.0, 0.0), 1, 1)})
    assert cache.read(["k", "x"]) == {"k": (1.0, 0.0, 0.0, 0.0)}
