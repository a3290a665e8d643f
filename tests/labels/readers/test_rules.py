"""Rules of a mapping: columns split, labels found in replies, paths into nested JSON; response matrices."""

from __future__ import annotations

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels.readers.bundle import plan_ingest
from crubric_core.labels.readers.plan import Plan


def stored(ws):
    table = ws.dataset("d").labels()
    return table[["system", "query", "rubric", "label"]].values.tolist()


def test_one_column_gives_system_and_query(ws):
    rule = "id ~ {system}_{query}"
    ws.ingest(b"id,rubric,label\nV1_10,r,1\nV2_10,r,0\n", "d", mapping={"system": rule, "query": rule})
    assert stored(ws) == [["V1", "10", "r", 1], ["V2", "10", "r", 0]]


def test_a_label_is_found_in_a_reply_and_hits_are_told(ws):
    content = b'system,rubric,reply\na,r,"Well. Score: 4"\nb,r,Score: 2\nc,r,none\n'
    report = ws.ingest(content, "d", name="x.csv", mapping={"label": r"reply =~ Score:\s*(\d)"})
    assert [row[3] for row in stored(ws)][:2] == [4, 2]
    assert report.blank == 1
    assert any("matches 2 of the first 3 rows" in note for note in report.notes)


def test_a_label_is_found_in_the_json_of_a_reply(ws):
    content = b'system,rubric,reply\na,r,"So: {""v"": {""met"": true}}"\nb,r,"{""v"": {""met"": false}}"\n'
    ws.ingest(content, "d", mapping={"label": "reply -> v.met"})
    assert [row[3] for row in stored(ws)] == [1, 0]


def test_a_path_into_the_json_of_a_reply_counts_the_items_of_lists(ws):
    content = (
        b'system,rubric,reply\na,r,"{""v"": [{""met"": 0}, {""met"": 1}]}"\nb,r,"{""v"": [{""met"": 1}]}"\n'
    )
    report = ws.ingest(content, "d", mapping={"label": "reply -> v.1.met"})
    assert [row[3] for row in stored(ws)][:1] == [1]
    assert report.blank == 1


def test_a_reply_with_two_answers_to_a_rule_is_rejected_with_the_reason(ws):
    content = b'system,rubric,reply\na,r,"{""met"": 1}"\nb,r,"{""met"": 1} or {""met"": 0}"\n'
    report = ws.ingest(content, "d", mapping={"label": "reply -> met"})
    assert [row[0] for row in stored(ws)] == ["a"]
    assert report.rejects[["row", "column"]].to_numpy().tolist() == [[3, "reply"]]
    assert "two different verdicts" in report.rejects["reason"].iloc[0]


def test_paths_go_into_nested_records(ws):
    content = (
        b'{"model": "a", "q": "q1", "scores": [{"metric": "m1", "value": 1}, {"metric": "m2", "value": 0}]}\n'
        b'{"model": "b", "q": "q1", "scores": [{"metric": "m1", "value": 0}]}\n'
    )
    ws.ingest(content, "d", mapping={"query": "q", "rubric": "scores[].metric", "label": "scores[].value"})
    assert stored(ws) == [["a", "q1", "m1", 1], ["a", "q1", "m2", 0], ["b", "q1", "m1", 0]]


def test_items_of_lists_within_lists_stay_with_the_outer_item(ws):
    """Two tests of two and one metrics: an outer name is repeated over its own inner items."""
    content = (
        b'{"model": "a", "tests": [{"name": "t1", "metrics": [{"m": "x", "ok": true}, {"m": "y", "ok": false}]},'
        b' {"name": "t2", "metrics": [{"m": "x", "ok": false}]}]}\n'
    )
    mapping = {"query": "tests[].name", "rubric": "tests[].metrics[].m", "label": "tests[].metrics[].ok"}
    ws.ingest(content, "d", mapping=mapping)
    assert stored(ws) == [["a", "t1", "t1#x", 1], ["a", "t1", "y", 0], ["a", "t2", "t2#x", 0]]


def test_values_of_an_object_are_rows_and_their_keys_are_names(ws):
    content = b'{"a": {"q1": {"r": 1, "s": 0}}, "b": {"q1": {"r": 0}}}'
    mapping = {"system": "{}.#", "query": "{}{}.#", "rubric": "{}{}{}.#", "label": "{}{}{}"}
    ws.ingest(content, "d", mapping=mapping)
    assert stored(ws) == [["a", "q1", "r", 1], ["a", "q1", "s", 0], ["b", "q1", "r", 0]]


def test_the_position_in_a_list_can_name_a_rubric(ws):
    content = b'{"model": "a", "prompt_id": "p", "grades": [{"met": true}, {"met": false}]}\n'
    ws.ingest(content, "d", mapping={"rubric": "grades[].#", "label": "grades[].met"})
    assert [row[2:] for row in stored(ws)] == [["0", 1], ["1", 0]]


def test_a_wide_table_may_lie_in_a_nested_object(ws):
    content = b'{"model": "a", "q": "q1", "out": {"cites": 1, "clear": 0, "tokens": 812}}\n'
    ws.ingest(content, "d", mapping={"query": "q", "rubric": ["out.cites", "out.clear"]})
    assert [row[2:] for row in stored(ws)] == [["out.cites", 1], ["out.clear", 0]]


def test_a_path_that_finds_nothing_is_refused_with_those_that_would(ws):
    content = b'{"model": "a", "scores": [{"metric": "m", "value": 1}]}\n'
    with pytest.raises(
        IngestError, match=r"'scores\[\].score' finds nothing .* scores\[\].metric, scores\[\].value"
    ):
        ws.ingest(content, "d", mapping={"rubric": "scores[].metric", "label": "scores[].score"})


def test_a_rule_survives_the_way_through_a_plan_as_json(ws, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("id,rubric,label\nV1_10,r,1\nV2_10,r,0\n")
    rule = "id ~ {system}_{query}"
    plan = Plan.from_json(plan_ingest(path, kind="labels", mapping={"system": rule, "query": rule}).to_json())
    assert plan.files[0].mapping["system"] == rule
    ws.ingest_plan(plan, "d", path)
    assert [row[:2] for row in stored(ws)] == [["V1", "10"], ["V2", "10"]]


@pytest.mark.parametrize(
    ("mapping", "sentence"),
    [
        ({"label": "nope ~ {label}"}, "takes label from the column 'nope', which x.csv does not have"),
        ({"judge": ["x", "y"]}, "names the column 'x', which x.csv does not have"),
        ({"label": "reply =~ ("}, "is no regular expression"),
        ({"label": "nope"}, "takes label from the column 'nope'"),
    ],
)
def test_a_mapping_that_cannot_be_followed_is_a_sentence(ws, mapping, sentence):
    with pytest.raises(IngestError, match=sentence):
        ws.ingest(b"system,rubric,reply\na,r,1\n", "d", name="x.csv", mapping=mapping)


def test_an_expression_that_would_backtrack_for_ever_comes_to_an_end(ws):
    content = b"system,rubric,reply\na,r," + b"a" * 5000 + b"\nb,r,ab\n"
    with pytest.raises(IngestError, match="No row"):
        ws.ingest(content, "d", mapping={"label": r"reply =~ ^(a+)+b?c?$"})


def test_a_matrix_whose_rows_are_named_like_models_has_systems_in_rows(ws):
    ws.ingest(b",i1,i2,i3,i4\ngpt-4,1,0,1,1\nclaude-3,1,1,0,0\n", "d")
    assert ws.dataset("d").systems == ("claude-3", "gpt-4")


def test_a_matrix_whose_columns_are_named_like_models_is_read_the_other_way_round(ws):
    ws.ingest(b"id,gpt-4,claude-3,llama-2\ni1,1,0,1\ni2,0,0,1\n", "d")
    assert ws.dataset("d").systems == ("claude-3", "gpt-4", "llama-2")


def test_a_matrix_that_does_not_say_which_way_it_lies_is_asked_about(ws):
    content = b"id,a,b,c\nx,1,0,1\ny,0,0,1\n"
    with pytest.raises(IngestError, match="does not say whether its rows or its columns are the systems"):
        ws.ingest(content, "d")
    ws.ingest(content, "d", mapping={"system": "id", "rubric": ["*"]})
    assert ws.dataset("d").systems == ("x", "y")
    ws.ingest(content, "turned", mapping={"rubric": "id", "system": ["*"]})
    assert ws.dataset("turned").systems == ("a", "b", "c")
