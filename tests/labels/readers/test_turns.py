"""Turns of conversations: each turn of each conversation is a query, and several columns can name one together."""

from __future__ import annotations

import json

import pytest

from crubric_core.errors import IngestError
from tests.labels.readers.test_layouts import JUDGES, MODELS, cells, label, lines, table
from tests.tiers import crossed

TALKS, TURNS, CRITERIA = ("c0", "c1"), (1, 2, 3), ("clear", "kind")
KEYS = [(t, n, m, c, j) for t in TALKS for n in TURNS for m in MODELS for c in CRITERIA for j in JUDGES]
CELLS = {(m, f"{t}/{n}", f"{t}/{n}#{c}", j): label(m, t, n, c, j) for t, n, m, c, j in KEYS}


def rows():
    return [[t, n, m, c, j, label(m, t, n, c, j)] for t, n, m, c, j in KEYS]


def heads(conversation="conversation_id", turn="turn"):
    return [conversation, turn, "model", "criterion", "judge", "label"]


@pytest.mark.parametrize(
    ("turn", "conversation"),
    crossed(
        ["turn", "Turn #", "turn_index"],
        ["conversation_id", "dialogue_id", "session_id", "question_id", "prompt"],
    ),
)
def test_each_turn_of_a_conversation_is_a_query(ws, conversation, turn):
    report = ws.ingest(table(heads(conversation, turn), rows()), "d", name="x.csv")
    assert cells(ws) == CELLS
    assert any(f"the query is {conversation} + {turn}, because rows" in note for note in report.notes)
    assert not any("Not used" in note for note in report.notes)


def test_the_same_as_records(ws):
    ws.ingest(lines(dict(zip(heads(), row, strict=True)) for row in rows()), "d", name="x.jsonl")
    assert cells(ws) == CELLS


def test_criteria_in_columns_are_labelled_by_turn(ws):
    wide = [[t, n, m, *(label(m, t, n, c) for c in CRITERIA)] for t in TALKS for n in TURNS for m in MODELS]
    ws.ingest(table(["conversation_id", "turn", "model", *CRITERIA], wide), "d")
    assert cells(ws) == {
        (m, f"{t}/{n}", f"{t}/{n}#{c}", "judge"): label(m, t, n, c)
        for m in MODELS
        for t in TALKS
        for n in TURNS
        for c in CRITERIA
    }


def test_a_turn_that_every_row_has_only_once_is_not_used(ws):
    only = [row for row in rows() if row[1] == 1]
    ws.ingest(table(heads("prompt_id"), only), "d")
    assert set(ws.dataset("d").queries["query"]) == set(TALKS)


def test_turns_that_do_not_tell_rows_apart_are_left(ws):
    twice = table(heads("prompt_id"), [*rows(), *([*row[:5], 1 - row[5]] for row in rows())])
    with pytest.raises(IngestError, match="would be lost"):
        ws.ingest(twice, "d")


def test_a_conversation_with_a_row_of_no_turn_is_not_split(ws):
    with pytest.raises(IngestError, match="conflicts with row"):
        ws.ingest(table(heads("prompt_id"), [*rows(), ["c0", "", *rows()[0][2:]]]), "d")


def test_turns_without_a_rubric_are_shown_a_mapping_that_reads_each(ws):
    own = [[t, n, m, j, label(m, t, n, j)] for t in TALKS for n in TURNS for m in MODELS for j in JUDGES]
    content = table(["conversation_id", "turn", "model", "judge", "score"], own)
    with pytest.raises(IngestError, match=r'"query": "conversation_id \+ turn"') as told:
        ws.ingest(content, "d", name="x.csv")
    mapping = json.loads(str(told.value).partition("would read it: ")[2].removesuffix("."))
    ws.ingest(content, "d", name="x.csv", mapping=mapping)
    assert cells(ws) == {(m, f"{t}/{n}", f"{t}/{n}#score", j): value for t, n, m, j, value in own}


def test_several_columns_are_joined_by_a_rule_and_blanks_are_no_name(ws):
    content = b"part,no,model,criterion,label\na,1,m,clear,1\na,2,m,clear,0\n,2,m,clear,1\n"
    ws.ingest(content, "d", mapping={"query": "part + no"})
    found = ws.dataset("d").labels()[["query", "label"]].fillna("").values.tolist()
    assert [row for row in found if row[0]] == [["a/1", 1], ["a/2", 0]]


def test_a_joined_column_that_is_not_there_is_told(ws):
    with pytest.raises(IngestError, match=r"takes query from the column 'place', which x\.csv does not have"):
        ws.ingest(table(heads(), rows()), "d", name="x.csv", mapping={"query": "turn + place"})


def test_a_column_with_a_plus_in_its_name_is_itself(ws):
    ws.ingest(
        table(["a + b", "model", "criterion", "label"], [["q", "m", "clear", 1]]),
        "d",
        mapping={"query": "a + b"},
    )
    assert cells(ws) == {("m", "q", "clear", "judge"): 1}
