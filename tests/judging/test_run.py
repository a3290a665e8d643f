"""Judging against a server that does everything a server can do: no label is lost, none is invented, and it resumes."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from crubric_core.endpoints.endpoint import Endpoint
from crubric_core.endpoints.watch import Watch
from crubric_core.errors import CrubricError, ExportError, IngestError, PlacementError
from crubric_core.judging.answers_file import read_system_answers
from crubric_core.judging.calls import estimate, plan_calls
from crubric_core.judging.judges_file import Judge
from crubric_core.judging.labels_file import LabelsFile
from crubric_core.judging.run import run_calls
from crubric_core.placement.judged_labels import FIELDS
from crubric_core.placement.new_labels import read_new_labels
from tests.faults import no_room
from tests.judging.conftest import PATIENCE, answer_lines, parts, reply, verdict


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def by_text(message, visit):
    """A judge whose verdict depends on what it was shown, so that mixed-up answers would be seen."""
    n = sum(map(ord, dict(parts(message))["criterion"]))
    return reply(message, met=n % 2 == 0)


def truth(bank_scale):
    """Each rubric's token with the label that ``by_text`` gives."""
    return {
        f"{row.id}@{bank_scale.bank_id}": row.scale_max if sum(map(ord, row.text)) % 2 == 0 else row.scale_min
        for row in bank_scale.rubrics.itertuples()
    }


@pytest.fixture
def judged(bank_scale, answers, judge, server, tmp_path):
    """``judged(**options)`` plans and runs against one file."""
    server.behave = by_text
    path = tmp_path / "labels.jsonl"

    def go(judges=(judge,), patience=PATIENCE, watch=None, **options):
        calls = plan_calls(bank_scale, answers, judges, **options)
        with LabelsFile(path, bank_scale.bank_id) as file:
            return run_calls(calls, file, patience, watch or Watch())

    go.path = path
    return go


def test_every_rubric_gets_the_label_that_the_judge_gave(judged, bank_scale, server):
    run = judged()
    assert (run.complete, run.labels, run.failures) == (True, 15, ())
    found = rows(judged.path)
    assert all(tuple(row) == FIELDS for row in found)
    assert {row["rubric"]: row["label"] for row in found} == truth(bank_scale)
    assert {(row["system"], row["judge"], row["run"], row["reason"]) for row in found} == {
        ("mine", "strict", 1, "because")
    }
    assert sum(row["tokens_in"] for row in found) == run.usage["strict"].prompt_tokens == 1500


def test_the_file_comes_back_through_place_as_it_is(judged, bank_scale):
    judged()
    new = read_new_labels(bank_scale, judged.path)
    assert (new.systems, new.judges) == (("mine",), ("strict",))
    assert new.given.tolist() == [15]
    assert not len(new.unused)
    want = truth(bank_scale)
    met = np.array(
        [want[f"{r.id}@{bank_scale.bank_id}"] > r.scale_min for r in bank_scale.rubrics.itertuples()]
    )
    positive = bank_scale.rubrics["polarity"].to_numpy() > 0
    np.testing.assert_array_equal(new.y[0], np.where(positive, met, ~met).astype(float))


def test_what_cannot_be_assessed_is_a_line_without_a_label_and_counts_as_unknown(judged, bank_scale, server):
    first = bank_scale.rubrics["text"].iloc[0]
    server.behave = lambda m, v: reply(m, met=True, unknown=dict(parts(m))["criterion"] == first)
    run = judged()
    assert run.unknown == 1
    assert [row["label"] for row in rows(judged.path)].count(None) == 1
    assert read_new_labels(bank_scale, judged.path).given.tolist() == [14]
    server.requests.clear()
    assert judged().known == 15
    assert not server.requests, "an answer without a verdict is an answer"


@pytest.mark.parametrize("per", ["criterion", "query"])
@pytest.mark.parametrize("runs", [1, 2])
def test_the_calls_of_the_plan_are_the_calls_made(judged, bank_scale, answers, judge, server, per, runs):
    server.behave = lambda message, visit: reply(message, met=True)
    other = replace(judge, name="lenient")
    planned = estimate(plan_calls(bank_scale, answers, [judge, other], runs, per))
    run = judged([judge, other], runs=runs, per=per)
    assert len(server.requests) == planned.calls == run.calls
    assert len(rows(judged.path)) == planned.labels == 15 * 2 * runs
    found = pd.DataFrame(rows(judged.path))
    assert not found.duplicated(["rubric", "system", "judge", "run"]).any()
    assert read_new_labels(bank_scale, judged.path).given.tolist() == [15]


def trouble(kind):
    """Every third call meets it once or twice."""

    def behave(message, visit):
        if visit < 2 and sum(map(ord, message)) % 3 == 0:
            return kind
        return by_text(message, visit)

    return behave


@pytest.mark.parametrize(
    "kind",
    [
        {"delay": 0.05, "status": 503},
        {"status": 429, "headers": {"Retry-After": "0.02"}},
        {"content": '{"explanation": "it meets'},
        {"content": ""},
        {"content": '{"explanation": "x", "met": "maybe"}'},
        {"raw": "<html>gateway</html>"},
        {"content": {"met": True}},
        {"raw": '{"choices": {"a": 1}, "usage": "many"}'},
        {"drop": True},
    ],
    ids=[
        *("slow and 503", "429", "broken JSON", "nothing", "no verdict", "no completion"),
        *("no text", "odd choices", "hang-up"),
    ],
)
def test_trouble_that_passes_changes_no_label(judged, bank_scale, server, kind):
    server.behave = trouble(kind)
    run = judged()
    assert run.complete
    assert {row["rubric"]: row["label"] for row in rows(judged.path)} == truth(bank_scale)


@pytest.mark.parametrize("content", ["", "no JSON", '{"met": 1}', '{"met": tr'])
def test_a_judge_that_never_answers_gets_no_line_and_can_be_asked_again(judged, bank_scale, server, content):
    text = bank_scale.rubrics["text"].iloc[3]
    server.behave = lambda m, v: (
        {"content": content} if dict(parts(m))["criterion"] == text else by_text(m, v)
    )
    run = judged()
    (failure,) = run.failures
    assert failure[0].rubrics[0].text == text
    assert failure[1].startswith("the answer")
    assert len(rows(judged.path)) == 14
    server.behave = by_text
    server.requests.clear()
    again = judged()
    assert (again.known, again.answered, len(server.requests)) == (14, 1, 1)
    assert {row["rubric"]: row["label"] for row in rows(judged.path)} == truth(bank_scale)


def test_a_query_that_is_answered_in_part_counts_as_not_answered(judged, server):
    server.behave = lambda m, v: {
        "content": '{"c1": {"explanation": "", "cannot_assess": false, "met": true}}'
    }
    run = judged(per="query")
    many = [call for call, _ in run.failures if len(call.rubrics) > 1]
    assert many
    assert run.labels == sum(len(row) > 0 for row in rows(judged.path))
    assert not {r.token for call in many for r in call.rubrics} & {row["rubric"] for row in rows(judged.path)}


def test_a_torn_last_line_is_cut_off_and_asked_again(judged, bank_scale, server):
    judged()
    whole = judged.path.read_bytes()
    judged.path.write_bytes(whole[:-40])
    server.requests.clear()
    again = judged()
    assert (again.known, again.answered, len(server.requests)) == (14, 1, 1)
    assert judged.path.read_bytes()[: len(whole) // 2] == whole[: len(whole) // 2]
    assert {row["rubric"]: row["label"] for row in rows(judged.path)} == truth(bank_scale)


def test_place_reads_the_whole_lines_of_a_torn_file_and_says_so(judged, bank_scale, tmp_path):
    judged()
    judged.path.write_bytes(judged.path.read_bytes()[:-40])
    for source in (judged.path, [judged.path]):
        new = read_new_labels(bank_scale, source)
        assert new.given.tolist() == [14]
        assert new.notes[0].startswith("The last line of labels.jsonl is incomplete")
    other = tmp_path / "other.jsonl"
    other.write_bytes(judged.path.read_bytes().replace(b'"tokens_out"', b'"tokens"'))
    with pytest.raises(IngestError):
        read_new_labels(bank_scale, other)


@pytest.mark.parametrize("cut", [1, 300, 1200])
def test_wherever_a_query_call_was_torn_it_resumes_without_repeats(judged, bank_scale, server, cut):
    server.behave = lambda message, visit: reply(message, met=True)
    judged(per="query")
    judged.path.write_bytes(judged.path.read_bytes()[:-cut])
    judged(per="query")
    found = [row["rubric"] for row in rows(judged.path)]
    assert len(found) == len(set(found)) == 15


def test_without_room_the_file_keeps_whole_lines_and_the_run_says_what_it_took(judged, bank_scale, judge):
    with no_room(1000):
        run = judged([judge, replace(judge, name="other")])
    assert all("cannot be written (File too large)" in why for why in run.stopped.values())
    assert list(run.stopped) == ["strict", "other"]
    kept = rows(judged.path)
    assert 0 < len(kept) == run.labels < run.usage["strict"].requests + run.usage["other"].requests
    assert judged().complete
    assert {row["rubric"]: row["label"] for row in rows(judged.path)} == truth(bank_scale)


def test_a_cancelled_run_keeps_what_was_answered_and_resumes(judged, bank_scale, server):
    cancel = threading.Event()
    server.behave = lambda m, v: {"delay": 30.0} if len(server.requests) > 4 else by_text(m, v)
    watch = Watch(lambda share, what: cancel.set() if share >= 4 / 15 else None, cancel)
    run = judged(watch=watch)
    assert (run.cancelled, run.answered, len(rows(judged.path))) == (True, 4, 4)
    server.behave = by_text
    assert judged().known == 4
    assert {row["rubric"]: row["label"] for row in rows(judged.path)} == truth(bank_scale)


def test_a_judge_that_refuses_the_key_stops_and_the_others_go_on(judged, judge, server):
    nowhere = Judge("away", Endpoint("http://127.0.0.1:9/v1", "m", "secret-key"))
    run = judged([judge, nowhere], patience=replace(PATIENCE, attempts=1))
    assert "cannot be reached" in run.stopped["away"]
    assert {row["judge"] for row in rows(judged.path)} == {"strict"}
    assert run.labels == 15
    assert not run.complete


def test_an_answer_that_nobody_can_judge_keeps_no_other_from_being_judged(
    bank_scale, judge, server, tmp_path
):
    lines = answer_lines(bank_scale, "long", text="TOO LONG") + answer_lines(bank_scale, "mine")
    query = bank_scale.rubrics["query"].value_counts().index[0]
    own = [line for line in lines.splitlines(keepends=True) if "mine" in str(line) or query in str(line)]
    answers = read_system_answers(bank_scale, b"".join(own))
    server.behave = lambda m, v: {"status": 400} if "TOO LONG" in m else by_text(m, v)
    with LabelsFile(tmp_path / "l.jsonl", bank_scale.bank_id) as file:
        run = run_calls(plan_calls(bank_scale, answers, [judge]), file, PATIENCE)
    assert not run.stopped
    assert {call.system for call, _ in run.failures} == {"long"}
    assert [row["system"] for row in rows(tmp_path / "l.jsonl")] == ["mine"] * 15


def test_labels_that_were_asked_otherwise_are_never_mixed(judged, bank_scale, judge, server):
    judged()
    before, asked = judged.path.read_bytes(), len(server.requests)
    with pytest.raises(PlacementError, match="start afresh in another file"):
        judged([replace(judge, endpoint=replace(judge.endpoint, model="another"))])
    assert (judged.path.read_bytes(), len(server.requests)) == (before, asked)


def test_a_file_of_something_else_or_of_another_bank_is_refused_and_left_alone(tmp_path, bank_scale, judged):
    other = tmp_path / "notes.txt"
    other.write_bytes(b"my notes\nend")
    with pytest.raises(ExportError, match="line 1, is no label"):
        LabelsFile(other, bank_scale.bank_id)
    assert other.read_bytes() == b"my notes\nend"
    judged()
    with pytest.raises(PlacementError, match=f"{bank_scale.bank_id}.* this is the bank 0123"):
        LabelsFile(judged.path, "0123456789ab")


def test_a_file_that_another_run_writes_is_left_alone(judged, bank_scale, server):
    """The other run may be in the middle of a line, which looks torn."""
    with LabelsFile(judged.path, bank_scale.bank_id):
        judged.path.write_bytes(b'{"half')
        with pytest.raises(ExportError, match="Another run writes"):
            judged()
        assert LabelsFile(judged.path, bank_scale.bank_id, write=False).repaired
        assert judged.path.read_bytes() == b'{"half'
    assert not server.requests
    assert judged().complete


def test_a_file_that_is_refused_is_free_for_others(tmp_path, bank_scale):
    path = tmp_path / "labels.jsonl"
    path.write_bytes(b"{}\n")
    for _ in range(2):
        with pytest.raises(ExportError, match="line 1"):
            LabelsFile(path, bank_scale.bank_id)


@pytest.mark.parametrize("name", [".", "missing/labels.jsonl", "folder"])
def test_a_file_of_labels_is_a_file_in_a_folder_that_exists(
    tmp_path: Path, bank_scale: Any, name: str
) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(ExportError, match="name one in a folder that exists"):
        LabelsFile(Path(name) if name == "." else tmp_path / name, bank_scale.bank_id)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder"]


def test_a_file_that_nobody_can_write_is_one_sentence(tmp_path, bank_scale):
    (tmp_path / "a file").touch()
    with pytest.raises(ExportError, match="no file that can be written"):
        LabelsFile(tmp_path / "a file" / "labels.jsonl", bank_scale.bank_id)


def test_a_dry_look_changes_no_file(judged, bank_scale, tmp_path):
    LabelsFile(tmp_path / "new.jsonl", bank_scale.bank_id, write=False)
    assert not (tmp_path / "new.jsonl").exists()


def test_the_cost_is_unknown_without_prices_and_adds_up_with_them(judged, judge):
    assert np.isnan(judged().usage["strict"].cost)
    priced = replace(
        judge, name="priced", endpoint=replace(judge.endpoint, input_price=2.0, output_price=10.0)
    )
    assert judged([priced]).usage["priced"].cost == pytest.approx(15 * (100 * 2 + 20 * 10) / 1e6)


def test_tokens_that_a_judge_does_not_count_are_unknown_and_so_is_the_cost(judged, judge, server):
    choices = [{"message": {"role": "assistant", "content": json.dumps(verdict(True))}}]
    server.behave = lambda m, v: {"raw": json.dumps({"choices": choices})}
    priced = replace(judge, endpoint=replace(judge.endpoint, input_price=2.0, output_price=10.0))
    run = judged([priced])
    assert run.usage["strict"].record() == {
        "requests": 15,
        "prompt_tokens": None,
        "completion_tokens": None,
        "cost": None,
    }
    assert {(row["tokens_in"], row["tokens_out"]) for row in rows(judged.path)} == {(None, None)}
    assert judged([priced]).known == 15


def test_queries_are_known_by_name_or_by_text_and_the_rest_is_told(bank_scale):
    query = bank_scale.queries.iloc[0]
    lines = [
        {"system": "a", "query": query["text"].upper(), "text": "yes"},
        {"system": "a", "query": "elsewhere", "text": "no"},
    ]
    found = read_system_answers(bank_scale, "".join(json.dumps(row) + "\n" for row in lines).encode())
    assert found.texts == {("a", query["query"]): "yes"}
    assert any("'elsewhere'" in note for note in found.notes)
    assert any("a has no answer to" in note for note in found.notes)
    with pytest.raises(CrubricError, match="None of the answers"):
        read_system_answers(bank_scale, json.dumps(lines[1]).encode())


def test_answers_without_a_text_are_told(bank_scale):
    query = bank_scale.rubrics["query"].iloc[0]
    silent = [{"system": name, "query": query, "text": text} for name, text in (("a", ""), ("b", " "))]
    lines = answer_lines(bank_scale, "mine")
    lines += lines.splitlines(keepends=True)[0]  # again, which is no other answer
    found = read_system_answers(
        bank_scale, lines + "".join(json.dumps(row) + "\n" for row in silent).encode()
    )
    assert found.systems == ("mine",)
    assert found.notes == ("2 answers have no text: not judged.",)


def test_two_answers_to_one_query_are_refused_without_a_choice_that_judge_does_not_have(bank_scale):
    query = bank_scale.rubrics["query"].iloc[0]
    lines = [{"system": "mine", "query": query, "text": text} for text in ("one", "another")]
    with pytest.raises(IngestError, match=r"conflicts with row .*: correct the file\.") as caught:
        read_system_answers(bank_scale, "".join(json.dumps(row) + "\n" for row in lines).encode())
    assert "on_conflict" not in str(caught.value)


def without_text(bank_scale, table, names):
    """The bank with that table's texts of these rows gone."""
    frame = getattr(bank_scale, table)
    key = {"queries": "query", "rubrics": "rubric"}[table]
    return replace(bank_scale, **{table: frame.assign(text=frame["text"].where(~frame[key].isin(names)))})


def test_rubrics_without_a_text_are_refused_with_what_to_do(bank_scale, answers, judge):
    first = bank_scale.rubrics["rubric"].iloc[0]
    with pytest.raises(
        PlacementError, match=rf"1 rubric .* without a text .*{first}.*ingest a table of rubrics"
    ):
        plan_calls(without_text(bank_scale, "rubrics", [first]), answers, [judge])


def test_queries_without_a_text_are_told(bank_scale):
    first = bank_scale.rubrics["query"].iloc[0]
    bank = without_text(bank_scale, "queries", [first])
    found = read_system_answers(bank, answer_lines(bank_scale, "mine"))
    (note,) = found.notes
    assert "1 query of the bank without a text" in note
    assert repr(first) in note


def test_answers_in_csv_and_parquet_are_the_same_answers(bank_scale, answers):
    table = pd.DataFrame([json.loads(line) for line in answer_lines(bank_scale, "mine").splitlines()])
    assert read_system_answers(bank_scale, table.to_csv(index=False).encode()).texts == answers.texts
    assert read_system_answers(bank_scale, table.to_parquet(index=False)).texts == answers.texts
