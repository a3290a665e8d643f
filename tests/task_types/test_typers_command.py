"""Task types from the command line: what is typed, by whom, and what stays as it is."""

from __future__ import annotations

import json

import pytest

from crubric_core import Workspace
from crubric_core.__main__ import main
from crubric_core.labels.store.query_types import save_edited

QUERIES = (
    "query,text,task_type\nq1,Write a poem about vans,\nq2,Should we lease or buy?,decision\nq3,Why?,\nq4,,\n"
)


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "w.duckdb"
    with Workspace(path) as ws:
        rows = "".join(f"s,q{n},r{n},j,1\n" for n in range(1, 5))
        ws.ingest(("system,query,rubric,judge,label\n" + rows).encode(), dataset="d")
        ws.ingest(QUERIES.encode(), dataset="d", kind="queries")
        save_edited(ws, "d", {"q3": "evidence_reasoning"})
    return path


def run(store, capsys, *options):
    assert main(["types", "--workspace", str(store), "--dataset", "d", *options]) == 0
    return json.loads(capsys.readouterr().out)


def sources(store):
    with Workspace(store) as ws:
        return ws.dataset("d").queries.set_index("query")["type_source"].to_dict()


def test_the_lexicon_types_what_nobody_has_typed(store, capsys):
    assert run(store, capsys) == {"typer": "offline", "asked": 2, "typed": 1, "outside_domain": 0}
    assert sources(store) == {"q1": "offline", "q2": None, "q3": "edited", "q4": None}


def test_types_of_the_file_are_replaced_when_asked_and_a_persons_never(store, capsys):
    assert run(store, capsys, "--replace-given") == {
        "typer": "offline",
        "asked": 3,
        "typed": 2,
        "outside_domain": 0,
    }
    assert sources(store) == {"q1": "offline", "q2": "offline", "q3": "edited", "q4": None}


def test_a_language_model_types_them_and_says_what_it_took(store, capsys, server, monkeypatch):
    monkeypatch.setenv("CRUBRIC_TYPER_BASE_URL", server.url)
    monkeypatch.setenv("CRUBRIC_TYPER_MODEL", "tiny")
    monkeypatch.setenv("CRUBRIC_TYPER_FORMAT", "json_object")
    monkeypatch.setenv("CRUBRIC_TYPER_INPUT_PRICE", "2")
    monkeypatch.setenv("CRUBRIC_TYPER_OUTPUT_PRICE", "10")
    told = run(store, capsys, "--typer", "prompted", "--concurrency", "1", "--requests-per-minute", "6000")
    assert (told["typer"], told["typed"], told["failed"], told["stopped"]) == ("prompted:tiny", 1, 0, "")
    assert (told["requests"], told["prompt_tokens"], told["completion_tokens"]) == (1, 100, 20)
    assert told["cost"] == pytest.approx((200 + 200) / 1e6)
    assert server.requests[0]["body"]["response_format"] == {"type": "json_object"}
    assert sources(store)["q1"] == "prompted:tiny"


def test_a_refusing_endpoint_is_told_and_loses_nothing(store, capsys, server, monkeypatch):
    monkeypatch.setenv("CRUBRIC_TYPER_BASE_URL", server.url)
    monkeypatch.setenv("CRUBRIC_TYPER_MODEL", "tiny")
    server.behave = lambda query, visit: {"status": 401}
    told = run(store, capsys, "--typer", "prompted")
    assert (told["typed"], told["cost"]) == (0, None)
    assert "refuses the key" in told["stopped"]
    assert sources(store)["q1"] is None


def test_without_an_endpoint_the_command_says_what_to_set(store, capsys, monkeypatch):
    monkeypatch.delenv("CRUBRIC_TYPER_BASE_URL", raising=False)
    assert main(["types", "--workspace", str(store), "--dataset", "d", "--typer", "prompted"]) == 2
    assert "CRUBRIC_TYPER_BASE_URL" in capsys.readouterr().err


def test_queries_without_texts_cannot_be_typed_which_is_said(tmp_path, capsys):
    with Workspace(tmp_path / "w.duckdb") as ws:
        ws.ingest(b"system,query,rubric,judge,label\ns,q1,r,j,1\n", dataset="d")
    assert main(["types", "--workspace", str(tmp_path / "w.duckdb"), "--dataset", "d"]) == 2
    assert "None of the 1 queries of 'd' to be typed has a text" in capsys.readouterr().err
