"""Judges' replies in JSON in the cells of a table: as their endpoints gave them, plain, fenced or among words."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

from crubric_core.errors import IngestError
from tests.tiers import crossed

from .conftest import labels_of, lines

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


def batch(*replies, custom_id="north__q1") -> bytes:
    choices = [{"index": n, "message": {"content": json.dumps(r)}} for n, r in enumerate(replies)]
    response = {"status_code": 200, "body": {"model": "gpt-4.1", "choices": choices}}
    return json.dumps({"custom_id": custom_id, "response": response}).encode()


WHOSE = {"custom_id": "={system}__{query}"}
# what a reply holds → (the reply, the label of each criterion)
IN_A_REPLY = {
    "a list of criteria beside a verdict of the whole": (
        {"criteria": [{"id": "c1", "met": True}, {"id": "c2", "met": False}], "verdict": "pass"},
        {"c1": 1, "c2": 0},
    ),
    "criteria beside a score of the whole": (
        {"reasoning": "so", "clarity": 4, "tone": 3, "score": 2},
        {"clarity": 4, "tone": 3},
    ),
    "an object of criteria beside a verdict and a count": (
        {"scores": {"clarity": 4, "tone": 3}, "pass": True, "n_errors": 2},
        {"clarity": 4, "tone": 3},
    ),
    "criteria with a reason each within an object, beside that of the whole": (
        {"evaluation": {"clarity": {"score": 4, "reason": "so"}, "tone": {"score": 3}}, "overall": {"score": 1}},
        {"clarity": 4, "tone": 3},
    ),
    "numbers as text": ({"clarity": "4", "tone": "3", "safe": True}, {"clarity": 4, "tone": 3, "safe": 1}),
    "words, and what is counted": ({"clarity": "yes", "tone": "no", "count": 3, "total": 7}, {"clarity": 1, "tone": 0}),
    "how sure the judge is": ({"clarity": 4, "tone": 3, "confidence": 5}, {"clarity": 4, "tone": 3}),
    "two lists with the same ids": (
        {k: [{"id": n, "met": met} for n in (1, 2)] for k, met in (("facts", True), ("style", False))},
        {"facts.1": 1, "facts.2": 1, "style.1": 0, "style.2": 0},
    ),
    "criteria that are called like descriptions": (
        {"content": 4, "organization": 3},
        {"content": 4, "organization": 3},
    ),
    "a flag beside the only verdict": ({"score": 4, "needs_review": False, "reasoning": "so"}, {"score": 4}),
    "evidence beside the only verdict": ({"evidence": [{"quote": "so", "rating": 3}], "score": 4}, {"score": 4}),
    "an unknown verdict": (
        {"all": [{"metric": "clarity", "score": 4}, {"metric": "tone", "score": None}]},
        {"clarity": 4, "tone": None},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_A_REPLY)
def test_all_criteria_of_a_reply_in_a_batch_are_read(read, name):
    reply, wanted = IN_A_REPLY[name]
    dataset, report = read(batch(reply), mapping=WHOSE)
    assert labels_of(dataset) == {("north", "q1", f"q1#{c}", "gpt-4.1", v) for c, v in wanted.items()}
    left = {"verdict", "score", "pass", "overall", "needs_review"} & (set(reply) - set(wanted))
    assert all(any(f"'{key}' of a judge's reply is not used" in n for n in report.notes) for key in left)


def test_each_choice_of_a_reply_in_a_batch_is_a_run(read):
    dataset, _ = read(batch({"score": 2}, {"score": 3, "reason": "so"}, {"score": 2}), mapping=WHOSE)
    found = dataset.labels()
    assert list(zip(found["run"], found["label"], strict=True)) == [("0", 2), ("1", 3), ("2", 2)]
    assert found["reason"].dropna().tolist() == ["so"]


# why a reply is rejected → the reply
HALF_UNDERSTOOD = {
    "has a criterion without a verdict": {"criteria": [{"id": 1, "met": True}, {"id": 2, "note": "so"}]},
    "no names of criteria": {"scores": [4, 3], "safe": True},
    "has no verdict": {"reasoning": "so", "confidence": 3},
}


@pytest.mark.parametrize("why", HALF_UNDERSTOOD)
def test_a_reply_of_which_a_part_would_be_lost_is_rejected_with_the_reason(ws, why):
    whole = batch({"clarity": 1, "tone": 2}, custom_id="south__q1")
    report = ws.ingest(whole + b"\n" + batch(HALF_UNDERSTOOD[why]), "d", name="x.jsonl", mapping=WHOSE)
    assert (report.accepted, report.rejected) == (2, 1)
    assert why in ws.rejects("d")["reason"].item()


def test_a_request_about_one_rubric_has_one_verdict(ws):
    given = {"mapping": {"custom_id": "={system}__{query}__{rubric}"}, "name": "x.jsonl"}
    reply = {"verdict": "yes", "cited": False, "checked": False}
    ws.ingest(batch(reply, custom_id="north__q1__r1"), "d", **given)
    assert labels_of(ws.dataset("d")) == {("north", "q1", "q1#r1", "gpt-4.1", 1)}
    with pytest.raises(IngestError, match="'r1' alone, and its reply has several verdicts"):
        ws.ingest(batch({"clarity": 1, "tone": 2}, custom_id="north__q1__r1"), "e", **given)


THOUGHT = (
    '<think>The format is {"score": 1, "reason": "x"}. I would say 5.</think>{"score": 5, "reason": "fine"}'
)
CITING = 'As stated in source [1] the answer holds. {"score": 5, "reason": "fine"}'
EXAMPLE = 'Answer with {"score": 1, …}, or {"answer": {}}. {"score": 5, "reason": "fine"}'
TWICE = '{"score": 5, "reason": "first"} So: {"score": 5, "reason": "fine"}'
TORN = '{"score": 1, "reason": "draft"} On reflection: {"score": 5, "reason": "fine"}'


def with_last(text: str) -> bytes:
    """A table of replies whose last one is this text."""
    given = {(m, q, c): reply(c) for m in MODELS for q in QUERIES for c in "xy"}
    return table(["judge", "reply"], lambda *key: ["o3", (given | {("claude-3", "p2", "y"): text})[key]])


@pytest.mark.parametrize("mapping", [None, {"label": "reply -> score", "judge": "judge"}])
@pytest.mark.parametrize("text", [THOUGHT, CITING, EXAMPLE, TWICE])
def test_the_verdict_of_a_reply_is_read_whatever_else_stands_before_it(ws, text, mapping):
    report = ws.ingest(with_last(text), "d", name="x.csv", mapping=mapping)
    assert report.rejected == 0
    assert ("claude-3", "p2", "p2#y", "o3", 5) in labels_of(ws.dataset("d"))


@pytest.mark.parametrize("mapping", [None, {"label": "reply -> score", "judge": "judge"}])
def test_a_reply_of_two_verdicts_that_differ_is_rejected(ws, mapping):
    report = ws.ingest(with_last(TORN), "d", name="x.csv", mapping=mapping)
    assert (report.accepted, report.rejected) == (11, 1)
    ((reason,),) = report.rejects[["reason"]].to_numpy()
    assert "two different verdicts" in reason


def test_what_a_rejected_reply_is_about_is_not_said_to_be_unused(ws):
    """System, query and judge of all other replies were listed as not used."""
    report = ws.ingest(with_last(TORN), "d", name="x.csv")
    assert not any(note.startswith("Not used") for note in report.notes)


def test_a_batch_reply_of_two_verdicts_that_differ_is_rejected(ws):
    def result(query: str, text: str) -> str:
        choices = [{"index": 0, "message": {"content": text}}]
        return json.dumps(
            {"custom_id": f"{query}_lab/m", "response": {"body": {"model": "o3", "choices": choices}}}
        )

    replies = {"q1": '{"score": 1}', "q2": THOUGHT, "q3": TORN, "q4": CITING}
    content = "\n".join(result(query, text) for query, text in replies.items()).encode()
    report = ws.ingest(content, "d", name="x.jsonl")
    assert {row[1]: row[4] for row in labels_of(ws.dataset("d"))} == {"q1": 1, "q2": 5, "q4": 5}
    assert "two different verdicts" in report.rejects["reason"][0]


OF_ONE = {"custom_id": "={system}__{query}__{rubric}"}


def anthropic(custom_id: str, text: str) -> dict:
    message = {"type": "message", "model": "sonnet", "content": [{"type": "thinking", "thinking": "5"}]}
    message["content"].append({"type": "text", "text": text})
    return {"custom_id": custom_id, "result": {"type": "succeeded", "message": message}}


def responses(custom_id: str, text: str) -> dict:
    said = {"type": "message", "content": [{"type": "output_text", "text": text}]}
    body = {"model": "sonnet", "output": [{"type": "reasoning", "summary": []}, said]}
    return {"custom_id": custom_id, "response": {"status_code": 200, "body": body}, "error": None}


@pytest.mark.parametrize("sent", [anthropic, responses])
@pytest.mark.parametrize("text", ['{"score": 4}', "4", "4.\n", "Sure: ```json\n" + '{"score": 4}```'])
def test_batches_of_other_endpoints_are_read(read, sent, text):
    dataset, _ = read(lines(sent("north__q1__tone", text)), mapping=OF_ONE)
    assert labels_of(dataset) == {("north", "q1", "q1#tone", "sonnet", 4)}


def test_a_label_alone_is_read_where_the_request_names_its_rubric(read):
    said = [anthropic(f"north__q{n}__tone", word) for n, word in enumerate(("Yes", "no", "yes"))]
    assert [row[4] for row in sorted(labels_of(read(lines(*said), mapping=OF_ONE)[0]))] == [1, 0, 1]
    with pytest.raises(IngestError, match="has no verdict in its reply: expected one in JSON"):
        read(lines(anthropic("north__q1", "4")), mapping=WHOSE)


FAILED = {
    '"boom"': {"custom_id": "north__q1__tone", "response": None, "error": {"message": "boom"}},
    "too long": {
        "custom_id": "north__q1__tone",
        "response": {"status_code": 400, "body": {"error": {"message": "too long"}}},
    },
    "rate": {"custom_id": "north__q1__tone", "result": {"type": "errored", "error": {"type": "rate"}}},
    "expired": {"custom_id": "north__q1__tone", "result": {"type": "expired"}},
}


@pytest.mark.parametrize("why", FAILED)
def test_a_request_of_a_batch_that_failed_is_rejected_with_its_error(ws, why):
    sent = (anthropic if "result" in FAILED[why] else responses)("north__q2__tone", "4")
    ws.ingest(lines(FAILED[why], sent), "d", name="x.jsonl", mapping=OF_ONE)
    assert labels_of(ws.dataset("d")) == {("north", "q2", "q2#tone", "sonnet", 4)}
    reason = ws.rejects("d")["reason"].item()
    assert re.search(f"has no reply to its request: .*{why}", reason)


@pytest.mark.parametrize(
    ("made", "shown"),
    [("gpt-4o__q1__tone", "={query}__{system}__{rubric}"), ("a|b", "={query}|{system}"), ("r7", "={query}_{system}")],
)  # fmt: skip
def test_the_pattern_that_is_shown_has_the_parts_of_the_id(read, made, shown):
    with pytest.raises(IngestError, match=re.escape(f'{{"custom_id": "{shown}"}}')):
        read(lines(anthropic(made, '{"score": 4}')))


def test_an_id_that_the_pattern_does_not_match_is_the_query_and_told(read):
    sent = lines(anthropic("q1::tone", '{"score": 4}'), anthropic("q2-tone", '{"score": 4}'))
    dataset, report = read(sent, mapping={"custom_id": "={query}::{rubric}", "system": "=north"})
    assert {row[1] for row in labels_of(dataset)} == {"q1", "q2-tone"}
    assert sum("some custom_id do not match {query}::{rubric}" in note for note in report.notes) == 1


def test_a_pattern_that_can_split_an_id_otherwise_is_told(read):
    sent = lines(*(anthropic(f"gpt-4o-q{n}-r1", "4") for n in (1, 2)))
    _, report = read(sent, mapping={"custom_id": "={system}-{query}-{rubric}"})
    assert sum("can split some custom_id in several ways" in note for note in report.notes) == 1
    dataset, report = read(sent, mapping={"custom_id": "={system}-q{query}-r{rubric}"})
    assert {row[0] for row in labels_of(dataset)} >= {"gpt-4o"}
    assert not any("several ways" in note for note in report.notes)
