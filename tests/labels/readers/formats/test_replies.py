"""Judges' replies in JSON in the cells of a table: as their endpoints gave them, plain, fenced or among words."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

from crubric_core.errors import IngestError
from tests.tiers import crossed

from .conftest import labels_of

MODELS, QUERIES, JUDGES = ("gpt-4o", "claude-3"), ("p0", "p1", "p2"), ("gpt4", "claude")
HEAD = ("model", "prompt_id", "criterion")
WRITTEN = {
    "plain": "{}",
    "fenced": "```json\n{}\n```",
    "fenced without a language": "```\n{}\n```\n",
}


def score(*key) -> int:
    return sum(map(ord, "".join(key))) % 2


def reply(*key, written="{}") -> str:
    return written.replace("{}", json.dumps({"score": score(*key), "reason": f"as {key[-1]} says, so"}))


def table(heads, cells) -> bytes:
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow([*HEAD, *heads])
    rows.writerows([m, q, c, *cells(m, q, c)] for m in MODELS for q in QUERIES for c in "xy")
    return text.getvalue().encode()


@pytest.mark.parametrize(
    ("column", "written"),
    crossed(
        ["judgement", "label", "verdict", "score", "judge_response"],
        [*WRITTEN.values(), "I say {} at last."],
    ),
)
def test_a_reply_in_the_place_of_a_label_is_read(read, column, written):
    content = table(["judge", column], lambda *key: ["o3", reply(*key, written=written)])
    dataset, report = read(content, "x.csv")
    assert labels_of(dataset) == {
        (m, q, f"{q}#{c}", "o3", score(m, q, c)) for m in MODELS for q in QUERIES for c in "xy"
    }
    assert set(dataset.labels()["reason"]) == {"as x says, so", "as y says, so"}
    assert report.rejected == 0


def test_a_score_beside_a_reply_is_the_label(read):
    dataset, _ = read(table(["score", "response"], lambda *key: ["1", reply(*key)]), "x.csv")
    assert {row[4] for row in labels_of(dataset)} == {1}


@pytest.mark.parametrize("written", WRITTEN.values())
def test_replies_of_several_judges_are_read_with_the_mapping_that_is_shown(ws, written):
    content = table(JUDGES, lambda *key: [reply(*key, j, written=written) for j in JUDGES])
    with pytest.raises(IngestError, match="seems to hold labels within its records") as told:
        ws.ingest(content, "d", name="x.csv")
    mapping = json.loads(re.search(r"\{.*\}", str(told.value))[0])
    report = ws.ingest(content, "d", name="x.csv", mapping=mapping)
    assert labels_of(ws.dataset("d")) == {
        (m, q, f"{q}#{c}", j, score(m, q, c, j))
        for m in MODELS
        for q in QUERIES
        for c in "xy"
        for j in JUDGES
    }
    assert not any("Not used" in note for note in report.notes)


MARKED = [
    "<reasoning>so {}</reasoning><Score> {} </Score>",
    "Rating: [[{}]]",
    "Well done in 3 ways.\nFinal score: **{}** of 5",
]


@pytest.mark.parametrize("written", MARKED)
def test_texts_with_a_marked_label_are_refused_with_the_mapping_that_finds_it(ws, written):
    content = table(
        ["judge", "judge_output"], lambda *key: ["o3", written.replace("{}", str(1 + score(*key)))]
    )
    with pytest.raises(IngestError, match="'judge_output' seem to hold a label") as told:
        ws.ingest(content, "d", name="x.csv")
    ws.ingest(content, "d", name="x.csv", mapping=json.loads(re.search(r"\{.*\}", str(told.value))[0]))
    assert labels_of(ws.dataset("d")) == {
        (m, q, f"{q}#{c}", "o3", 1 + score(m, q, c)) for m in MODELS for q in QUERIES for c in "xy"
    }


@pytest.mark.parametrize("written", ["Nothing is said of {}", "Score: what a {}", "[[see {}]]"])
def test_texts_without_a_marked_label_are_not_said_to_hold_one(ws, written):
    content = table(["judge", "judge_output"], lambda *key: ["o3", written.replace("{}", key[-1])])
    with pytest.raises(IngestError) as told:
        ws.ingest(content, "d", name="x.csv")
    assert "seem to hold a label" not in str(told.value)


def test_columns_of_labels_are_shown_before_texts_with_a_marked_one(ws):
    content = table(
        ["Strict Sue", "lenient_Lee", "remark"],
        lambda *key: [score(*key), 1 - score(*key), f"Score: {score(*key)}"],
    )
    with pytest.raises(IngestError, match="look like labels"):
        ws.ingest(content.replace(b"model", b"Machine"), "d", name="x.csv")
