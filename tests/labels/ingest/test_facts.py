"""Reasons of labels, answers of systems, and what is known of the systems."""

from __future__ import annotations

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels import Workspace
from crubric_core.labels.readers.policies import Policies

LABELS = b"system,query,rubric,judge,label,explanation\na,q,r,j,1,It cites\na,q,r,k,0,\nb,q,r,j,0,No source\n"
ANSWERS = b'model,prompt_id,response\na,q,"One, two"\nb,q,Three\n'
SYSTEMS = (
    b"model,Organization,release_date,cost,License,Context (k)\na,Acme,2025-01-01,1.5,MIT,128\nb,Beta,,2,,\n"
)


def test_a_reason_stays_with_its_label(ws):
    ws.ingest(LABELS, "d")
    assert ws.dataset("d").labels()["reason"].tolist() == ["It cites", None, "No source"]


def test_reasons_that_come_later_are_found(ws):
    ws.ingest(b"system,query,rubric,judge,label\na,q,r,j,1\na,q,r,k,0\nb,q,r,j,0\n", "d")
    before = ws.dataset("d").fingerprint
    ws.ingest(LABELS, "d")
    assert ws.dataset("d").labels()["reason"].tolist() == ["It cites", None, "No source"]
    with Workspace() as other:
        other.ingest(LABELS, "d")
        assert other.dataset("d").fingerprint == ws.dataset("d").fingerprint != before
    ws.undo("d")
    assert ws.dataset("d").fingerprint == before


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_reasons_for_one_label_the_same_counts_in_any_order(ws, order):
    rows = (b"a,r,1,so it is\n", b"a,r,1,as seen\n")
    ws.ingest(b"system,rubric,label,reason\n" + rows[order[0]] + rows[order[1]], "d")
    assert ws.dataset("d").labels()["reason"].tolist() == ["as seen"]


def test_answers_are_stored_and_shown(ws):
    ws.ingest(LABELS, "d")
    report = ws.ingest(ANSWERS, "d", "answers")
    assert report.changes.sentence == "adds 2 answers"
    assert ws.dataset("d").answers().values.tolist() == [["a", "q", "One, two"], ["b", "q", "Three"]]


def test_one_system_one_query_and_one_rubric_are_had_alone(ws):
    ws.ingest(LABELS, "d")
    ws.ingest(ANSWERS, "d", "answers")
    ds = ws.dataset("d")
    assert ds.answers("a", "q")["text"].tolist() == ["One, two"]
    assert ds.answers(query="elsewhere").empty
    assert ds.labels(system="a", rubric="r")["reason"].tolist() == ["It cites", None]
    assert ds.labels(system="b", query="q").values.tolist() == [["b", "q", "r", "j", 0, "No source"]]
    assert ds.labels(query="elsewhere").empty


def test_another_answer_to_the_same_query_is_a_conflict_unless_it_may_replace(ws):
    ws.ingest(ANSWERS, "d", "answers")
    before = ws.dataset("d").fingerprint
    with pytest.raises(IngestError, match="another text for the same system and query"):
        ws.ingest(b"system,query,text\na,q,Other\n", "d", "answers")
    ws.ingest(b"system,query,text\na,q,Other\n", "d", "answers", on_conflict="last")
    assert ws.dataset("d").answers()["text"].tolist() == ["Other", "Three"]
    ws.undo("d")
    assert ws.dataset("d").answers()["text"].tolist() == ["One, two", "Three"]
    assert ws.dataset("d").fingerprint == before


def test_two_answers_in_one_file_are_both_rejected(ws):
    report = ws.ingest(b"system,query,text\na,q,One\na,q,Two\nb,q,Three\n", "d", "answers")
    assert report.rejects["reason"].tolist() == [
        "conflicts with row 3, which gives another text for the same system and query",
        "conflicts with row 2, which gives another text for the same system and query",
    ]


def test_what_the_dataset_has_already_is_not_added_again(ws):
    ws.ingest(ANSWERS, "d", "answers")
    report = ws.ingest(ANSWERS + b"c,q,Four\n", "d", "answers")
    assert report.changes.sentence == "adds 1 system and 1 answer; leaves 2 as they were"
    ws.ingest(SYSTEMS, "d", "systems")
    report = ws.ingest(SYSTEMS, "d", "systems")
    assert (report.changes.added, report.collapsed) == (0, 7)


@pytest.mark.parametrize(("policy", "text"), [("first", "One"), ("last", "Two")])
def test_another_answer_in_one_file_is_replaced_and_an_equal_one_collapsed(ws, policy, text):
    rows = b"model,prompt_id,response\na,q,One\na,q,One\na,q,Two\na,q,Two\nb,q,Three\n"
    report = ws.ingest(rows, "d", "answers", policies=Policies(on_conflict=policy))
    assert ws.dataset("d").answers()["text"].tolist() == [text, "Three"]
    assert (report.collapsed, report.replaced, dict(report.applied)) == (1, 2, {"on_conflict": 2})


def test_a_table_of_systems_keeps_every_column(ws):
    ws.ingest(LABELS, "d")
    ws.ingest(SYSTEMS, "d", "systems")
    found = ws.dataset("d").system_metadata()
    assert list(found) == ["system", "organisation", "date", "cost", "licence", "Context (k)"]
    assert found.values.tolist() == [
        ["a", "Acme", "2025-01-01", "1.5", "MIT", "128"],
        ["b", "Beta", None, "2", None, None],
    ]


def test_a_column_name_is_only_a_name(ws):
    ws.ingest(b'system,"x"" DROP TABLE labels; --"\na,1\n', "d", "systems")
    assert list(ws.dataset("d").system_metadata()) == ["system", 'x" DROP TABLE labels; --']


def test_everything_is_content_and_comes_back_from_an_export(ws):
    prints = []
    for kind, content in (("labels", LABELS), ("answers", ANSWERS), ("systems", SYSTEMS)):
        ws.ingest(content, "d", kind)
        prints.append(ws.dataset("d").fingerprint)
    assert len(set(prints)) == 3
    for kind, frame in ws.dataset("d").tables().items():
        ws.ingest(frame.to_csv(index=False).encode(), "again", kind)
    assert ws.dataset("again").fingerprint == prints[-1]
    ws.duplicate("d", "copy")
    assert ws.dataset("copy").answers().equals(ws.dataset("d").answers())
    for kept in (prints[1], prints[0]):
        ws.undo("d")
        assert ws.dataset("d").fingerprint == kept


def test_tables_of_answers_and_systems_are_recognised_among_several_files(ws, tmp_path):
    for name, content in (("labels", LABELS), ("answers", ANSWERS), ("models", SYSTEMS)):
        (tmp_path / f"{name}.csv").write_bytes(content)
    report = ws.ingest(tmp_path, "d")
    assert {part.kind for part in report.parts} == {"labels", "answers", "systems"}
    assert len(ws.dataset("d").answers()) == len(ws.dataset("d").system_metadata()) == 2


def test_a_row_whose_facts_are_all_rejected_is_one_row(ws):
    ws.ingest(LABELS, "d")
    rows = b"system,organisation,date,cost\na,X,2025,1\na,Y,2024,2\nb,Z,2023,3\n"
    report = ws.ingest(rows, "d", "systems")
    assert (report.accepted, report.rejected, len(report.rejects)) == (1, 2, 6)


def test_a_fact_called_like_the_column_of_the_systems_is_kept_beside_it(ws):
    ws.ingest(b"system,query,rubric,label\na,q,r,1\nb,q,r,0\n", "d")
    ws.ingest(b"model,system\na,linux\nb,mac\n", "d", "systems", mapping={"system": "model"})
    found = ws.dataset("d").system_metadata()
    assert found.set_index("system")["system (fact)"].to_dict() == {"a": "linux", "b": "mac"}
