"""Exports of tools in which people annotate: whoever gave a label is its judge, and no label is lost."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from crubric_core.errors import IngestError

from .conftest import labels_of, lines

MODELS, PEOPLE = ("gpt-4o", "claude-3-opus"), ("ann", "bob", "carol")


def stars(*key) -> int:
    """Some rating of a cell, the same in every run of the tests."""
    return 1 + sum(map(ord, "".join(map(str, key)))) % 5


def zipped(files) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def of_doccano(person, **fields) -> bytes:
    return lines(
        *(
            {"id": 10 * m + q, "text": f"{model} says {q}", "model": model, "prompt_id": f"p{q}"}
            | {"label": [str(stars(model, q, person))], "Comments": []}
            | fields
            for m, model in enumerate(MODELS)
            for q in range(3)
        )
    )


def rated(rubric, people=PEOPLE):
    return {
        (model, f"p{q}", f"p{q}#{rubric}", person, stars(model, q, person))
        for model in MODELS
        for q in range(3)
        for person in people
    }


def test_each_file_of_a_doccano_export_is_an_annotator(read):
    dataset, report = read(zipped({f"{p}.jsonl": of_doccano(p) for p in PEOPLE}), "export.zip")
    assert labels_of(dataset) == rated("label")
    assert report.rejected == 0


def test_texts_that_a_doccano_annotator_left_out_have_no_label(read):
    files = {"ann.jsonl": of_doccano("ann"), "bob.jsonl": of_doccano("bob", label=[])}
    dataset, _ = read(zipped(files), "export.zip")
    assert labels_of(dataset) == rated("label", ["ann"])


def test_a_doccano_project_with_shared_labels_names_nobody(read):
    dataset, _ = read(of_doccano("ann"), "all.jsonl")
    assert {judge for _, _, _, judge, _ in labels_of(dataset)} == {"judge"}


def test_doccano_labels_without_a_system_are_asked_about_and_no_annotator_becomes_one(ws):
    bare = [{"id": q, "text": "t", "label": [str(stars(q))], "Comments": []} for q in range(3)]
    content = zipped({"ann.jsonl": lines(*bare), "bob.jsonl": lines(*bare)})
    with pytest.raises(IngestError, match="does not say which system"):
        ws.ingest(content, "d", name="export.zip")
    ws.ingest(content, "d", name="export.zip", mapping={"system": "=gpt-4o"})
    assert set(ws.dataset("d").labels()["judge"]) == {"ann", "bob"}


def test_several_doccano_labels_of_a_text_are_rejected_with_their_names(read):
    two = {"id": 9, "text": "t", "model": "gpt-4o", "prompt_id": "p9", "label": ["1", "2"], "Comments": []}
    dataset, report = read(of_doccano("ann") + b"\n" + json.dumps(two).encode(), "ann.jsonl")
    assert labels_of(dataset) == rated("label", ["ann"])
    assert "several labels (1, 2)" in report.rejects["reason"].item()
