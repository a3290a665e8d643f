"""Large files of strangers' formats are read by a process of its own, with the same result, or one sentence."""

from __future__ import annotations

import json

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers import apart
from crubric_core.labels.readers.bundle import plan_ingest, preview_file

RECORDS = [
    {"model": m, "question_id": f"q{q}", "judge": "j", "scores": {"cites": (q + len(m)) % 2, "clear": q % 2}}
    for m in ("gpt-4o", "claude-3")
    for q in range(4)
]
NESTED = "".join(json.dumps(r) + "\n" for r in RECORDS).encode()
NATIVE = json.dumps(
    {
        "results": [
            {"provider": "a", "testIdx": t, "gradingResult": {"pass": t > 0, "componentResults": []}}
            for t in range(3)
        ]
    }
).encode()


@pytest.fixture
def counted(monkeypatch):
    """Everything is large; the functions that went apart."""
    calls = []

    def run(names, function, *arguments):
        calls.append(function.__name__)
        return real(names, function, *arguments)

    real = apart.apart
    monkeypatch.setattr(apart, "SMALL", 0)
    for module in ("bundle", "paths"):
        monkeypatch.setattr(f"crubric_core.labels.readers.{module}.apart", run)
    monkeypatch.setattr("crubric_core.labels.ingest.staging.apart", run)
    return calls


@pytest.mark.parametrize(
    ("content", "functions"), [(NESTED, ["_plan_here", "_unfold"]), (NATIVE, ["_plan_here", "_written"])]
)
def test_what_is_read_apart_is_what_would_be_read_here(ws, counted, monkeypatch, content, functions):
    ws.ingest(content, "apart")
    assert counted == functions
    monkeypatch.setattr(apart, "SMALL", 1 << 30)
    ws.ingest(content, "here")
    assert counted == functions
    assert ws.dataset("apart").fingerprint == ws.dataset("here").fingerprint
    assert ws.dataset("apart").counts()["labels"] > 0


def test_a_sentence_comes_back_as_it_is(ws, counted):
    with pytest.raises(IngestError, match="has no column for rubric"):
        ws.ingest(b'{"system": "a", "label": 1}\n', "d", name="x.json")
    assert counted == ["_plan_here"]
    assert preview_file([("x.json", NESTED)]).columns


def test_a_file_that_takes_too_much_is_one_sentence_and_the_process_that_asked_lives(counted, monkeypatch):
    monkeypatch.setattr(apart.sys, "executable", "/bin/false")
    with pytest.raises(IngestError, match=r"Reading x\.json takes more than .* split the file"):
        plan_ingest([("x.json", NESTED)])


def test_tables_and_small_files_are_read_here(ws, monkeypatch, table):
    monkeypatch.setattr("crubric_core.labels.readers.bundle.apart", None)
    ws.ingest(table("a q r j 1"), "d")
    ws.ingest(NESTED, "nested")
