"""Potato's annotations: each annotator is a judge, each question a rubric, and what is chosen its label."""

from __future__ import annotations

import io
import json
import re
import zipfile

import pytest

from crubric_core.errors import IngestError

from .conftest import labels_of, lines

PEOPLE, MODELS, QUERIES = ("ann@x.org", "bob@x.org"), ("gpt-4o", "claude-3"), ("p0", "p1", "p2")
ID = {"id": "={system}:{query}"}


def stars(*key) -> int:
    return 1 + sum(map(ord, "".join(key))) % 5


def item(m, q, annotations):
    beside = {"span_annotations": [], "behavioral_data": {"time_string": "Time spent: 5s"}}
    return {"id": f"{m}:{q}", "displayed_text": f"{m} on {q}", "label_annotations": annotations, **beside}


def export(annotations, **others) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for person in PEOPLE:
            records = [item(m, q, annotations(stars(m, q, person))) for m in MODELS for q in QUERIES]
            archive.writestr(f"{person}/annotated_instances.jsonl", lines(*records))
            for name, content in others.items():
                archive.writestr(f"{person}/{name}.json", json.dumps(content))
    return buffer.getvalue()


def rated(question):
    return {(m, q, f"{q}#{question}", p, stars(m, q, p)) for m in MODELS for q in QUERIES for p in PEOPLE}


@pytest.mark.parametrize(
    "annotation",
    [
        lambda n: {f"scale_{n}": str(n)},
        lambda n: {str(n): True},
        lambda n: {str(k): k == n for k in range(1, 6)},
        lambda n: {"text_box": str(n)},
        lambda n: {"slider": n},
    ],
)
def test_a_point_of_a_scale_is_its_number(read, annotation):
    dataset, report = read(export(lambda n: {"clear": annotation(n)}), "export.zip", mapping=ID)
    assert labels_of(dataset) == rated("clear")
    assert report.rejected == 0


@pytest.mark.parametrize("nought", [0, 0.0, "0"])
def test_a_number_that_is_written_is_a_label_where_it_is_0_too(read, nought):
    content = export(lambda n: {"clear": {"slider": nought if n > 3 else n}})
    dataset, _ = read(content, "export.zip", mapping=ID)
    labels = [row[4] for row in labels_of(dataset)]
    assert len(labels) == 12
    assert 0 in labels


@pytest.mark.parametrize("value", [True, "true", "1", "kept"])
def test_a_choice_is_read_by_its_name_whatever_value_its_button_has(read, value):
    content = export(lambda n: {"clear": {("no", "yes")[n > 2]: value}})
    dataset, _ = read(content, "export.zip", mapping=ID)
    assert labels_of(dataset) == {(*row[:4], int(row[4] > 2)) for row in rated("clear")}


def test_texts_that_were_written_are_no_labels(read):
    content = export(lambda n: {"clear": {str(n): True}, "why": {"text_box": "it is short, and so on"}})
    dataset, report = read(content, "export.zip", mapping=ID)
    assert labels_of(dataset) == rated("clear")
    assert report.rejected == 0


def test_several_choices_of_a_question_are_no_label(ws):
    content = export(lambda n: {"tone": dict.fromkeys(("warm", "dry")[: 1 + n % 2], True)})
    with pytest.raises(IngestError, match="hold several choices"):
        ws.ingest(content, "d", name="export.zip", mapping=ID)


def test_an_annotators_other_files_belong_to_the_annotations(read):
    content = export(lambda n: {"clear": {str(n): True}}, user_state={"user_id": "a", "label": "x"})
    dataset, _ = read(content, "export.zip", mapping=ID)
    assert labels_of(dataset) == rated("clear")


def test_without_a_system_the_sentence_shows_how_to_say_where_it_stands(ws):
    with pytest.raises(
        IngestError, match=re.escape("has the id 'gpt-4o:p0', and it is not known which part is its system")
    ):
        ws.ingest(export(lambda n: {"clear": {str(n): True}}), "d", name="export.zip")
    one = lines(item("a", "p0", {"clear": {"4": True}}))
    ws.ingest(one, "d", name="annotated_instances.jsonl", mapping={"system": "=gpt-4o"})
    assert labels_of(ws.dataset("d")) == {("gpt-4o", "a:p0", "a:p0#clear", "judge", 4)}
