"""Exports of tools in which people annotate: whoever gave a label is its judge, and no label is lost."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import pytest

from crubric_core.errors import IngestError
from crubric_core.labels import Workspace
from crubric_core.labels.readers.bundle import plan_ingest

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


def of_argilla(model, q):
    responses = [{"value": stars(model, q, p), "user_id": p} for p in PEOPLE]
    return {
        "id": f"{model}-{q}",
        "fields": {"prompt": f"Ask {q}", "response": f"{model} says {q}"},
        "metadata": {"model": model, "prompt_id": f"p{q}"},
        "suggestions": {"rating": {"value": stars(model, q), "score": 0.9, "agent": "gpt-4.1"}},
        "responses": {"rating": responses},
        "vectors": {},
        "_server_id": "x",
    }


def of_argilla_flat(model, q):
    return {
        "id": f"{model}-{q}",
        "response": f"{model} says {q}",
        "model": model,
        "prompt_id": f"p{q}",
        "rating.responses": [stars(model, q, p) for p in PEOPLE],
        "rating.responses.users": list(PEOPLE),
        "rating.responses.status": ["submitted"] * 3,
        "rating.suggestion": stars(model, q),
        "rating.suggestion.agent": "gpt-4.1",
        "rating.suggestion.score": 0.9,
    }


def of_argilla_first(model, q):
    answers = [{"value": stars(model, q, p), "user_id": p, "status": "submitted"} for p in PEOPLE]
    return {
        "prompt_id": f"p{q}",
        "rating": answers,
        "rating-suggestion": stars(model, q),
        "rating-suggestion-metadata": {"agent": "gpt-4.1", "score": 0.9, "type": "model"},
        "external_id": f"{model}-{q}",
        "metadata": json.dumps({"model": model}),
    }


def of_argilla_api(model, q):
    answers = [
        {"user_id": p, "status": "submitted", "values": {"rating": {"value": stars(model, q, p)}}}
        for p in PEOPLE
    ]
    suggestion = {"question_name": "rating", "value": stars(model, q), "agent": "gpt-4.1"}
    return {**of_argilla(model, q), "responses": answers, "suggestions": [suggestion]}


def of_argilla_hub(model, q):
    """As a data set on the Hub has lists of objects."""
    record = of_argilla_first(model, q)
    return {**record, "rating": {k: [a[k] for a in record["rating"]] for k in record["rating"][0]}}


@pytest.mark.parametrize(
    "of",
    [of_argilla, of_argilla_flat, of_argilla_first, of_argilla_api, of_argilla_hub],
    ids=lambda f: f.__name__,
)
def test_argilla_s_users_and_suggestions_are_judges_of_each_question(read, of):
    records = [of(model, q) for model in MODELS for q in range(3)]
    dataset, report = read(lines(*records))
    suggested = {(m, f"p{q}", f"p{q}#rating", "gpt-4.1", stars(m, q)) for m in MODELS for q in range(3)}
    assert labels_of(dataset) == rated("rating") | suggested
    assert report.rejected == 0


def test_argilla_questions_with_other_users_each_keep_theirs(read):
    record = of_argilla_flat("gpt-4o", 0)
    record |= {"tone.responses": [2], "tone.responses.users": ["bob"], "tone.responses.status": ["submitted"]}
    dataset, _ = read(lines(record))
    assert ("gpt-4o", "p0", "p0#tone", "bob", 2) in labels_of(dataset)
    assert len(labels_of(dataset)) == 5


def test_argilla_s_discarded_responses_are_unknown_and_long_texts_are_reasons(read):
    record = of_argilla_flat("gpt-4o", 0)
    why = "because it names the dose and the source of each of its claims"
    record |= {"why.responses": [why], "why.responses.users": ["bob"], "why.responses.status": ["submitted"]}
    record["rating.responses.status"][0] = "discarded"
    dataset, report = read(lines(record))
    given = {judge: level for _, _, _, judge, level in labels_of(dataset)}
    assert (given["ann"], report.rejected) == (None, 0)
    assert given["bob"] == stars("gpt-4o", 0, "bob")


def test_argilla_records_that_name_no_model_are_asked_about(ws):
    records = [{**of_argilla("gpt-4o", q), "metadata": {}} for q in range(3)]
    with pytest.raises(IngestError, match="does not say which system"):
        ws.ingest(json.dumps(records).encode(), "d", name="records.json")


def test_argilla_lists_of_different_lengths_are_rejected(read):
    wrong = {**of_argilla_flat("gpt-4o", 0), "rating.responses.users": ["ann"]}
    dataset, report = read(lines(of_argilla_flat("gpt-4o", 1), wrong))
    assert {q for _, q, _, _, _ in labels_of(dataset)} == {"p1"}
    assert "not have as many 'rating.responses'" in report.rejects["reason"].item()


def label_studio_min():
    """Two annotators' ratings and choices, as Label Studio exports them to JSON-MIN."""
    return [
        {
            "id": i,
            "model": f"gpt-{i % 3}",
            "prompt": f"What is {i // 3}?",
            "response": f"Answer number {i} in full",
            "quality": [{"rating": 1 + (i + a) % 5}],
            "clear": "yes" if i * a % 2 else "no",
            "annotator": a,
            "annotation_id": 100 * a + i,
            "created_at": "2024-01-01T00:00:00Z",
            "lead_time": 12.5 + i,
        }
        for i in range(30)
        for a in (1, 2)
    ]


def as_csv(records):
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(records[0]))
    writer.writeheader()
    writer.writerows({k: json.dumps(v) if isinstance(v, list) else v for k, v in r.items()} for r in records)
    return text.getvalue()


@pytest.mark.parametrize(("name", "write"), [("project.csv", as_csv), ("project-min.json", json.dumps)])
def test_a_rating_in_a_cell_of_label_studio_is_its_number_beside_words(name, write):
    source = name, write(label_studio_min()).encode()
    with Workspace() as ws:
        report = ws.ingest_plan(plan_ingest(source), "d", source)
        labels = ws.dataset("d").labels().assign(criterion=lambda t: t["rubric"].str.split("#").str[1])
    assert report.rejected == 0
    assert labels.groupby("criterion").size().to_dict() == {"clear": 60, "quality": 60}
    one = labels[(labels["query"] == "What is 1?") & (labels["system"] == "gpt-0") & (labels["judge"] == "2")]
    assert dict(zip(one["criterion"], one["label"], strict=True)) == {"clear": 0, "quality": 1}


def label_studio_tasks(annotated):
    """Tasks of which the first nobody has annotated yet: annotated of ten."""
    rating = {"from_name": "quality", "type": "rating", "value": {"rating": 4}}
    return [
        {
            "id": i,
            "data": {"model": f"gpt-{i % 2}", "prompt": f"What is {i // 2}?"},
            "annotations": [{"completed_by": 7, "result": [rating]}] if i >= 10 - annotated else [],
        }
        for i in range(10)
    ]


def test_tasks_that_nobody_has_annotated_may_come_first():
    source = "project.json", json.dumps(label_studio_tasks(annotated=6)).encode()
    (file,) = plan_ingest(source).files
    assert file.format == "label-studio"
    with Workspace() as ws:
        report = ws.ingest_plan(plan_ingest(source), "d", source)
        assert (len(ws.dataset("d").labels()), report.rejected) == (6, 0)


def test_a_few_records_of_a_layout_do_not_make_a_file_one_of_it():
    (file,) = plan_ingest(("log.json", json.dumps(label_studio_tasks(annotated=3)).encode())).files
    assert file.format != "label-studio"


def of_label_studio(person: str) -> bytes:
    """One person's export of tasks that do not name the system; everybody is user 1 of an instance of their own."""
    tasks = [
        {
            "id": q,
            "data": {"prompt_id": f"p{q}", "summary": "s"},
            "annotations": [
                {
                    "completed_by": 1,
                    "result": [
                        {"from_name": "tone", "value": {"rating": stars(q, person)}, "type": "rating"}
                    ],
                }
            ],
        }
        for q in range(4)
    ]
    return json.dumps(tasks).encode()


def test_exports_named_after_people_are_no_systems(ws):
    archive = zipped({f"{p}.json": of_label_studio(p) for p in PEOPLE})
    with pytest.raises(IngestError, match="does not say which system it is about"):
        ws.ingest(archive, "d", name="export.zip")


def test_exports_of_people_who_are_all_user_1_are_told_apart_by_the_files_names(ws):
    archive = zipped({f"{p}.json": of_label_studio(p) for p in PEOPLE})
    with pytest.raises(IngestError, match=r"name the judge in the file names \(--pattern"):
        ws.ingest_plan(plan_ingest(archive, mapping={"system": "=m"}), "d", archive)
    plan = plan_ingest(archive, mapping={"system": "=m"}, pattern="{judge}.json")
    assert ws.ingest_plan(plan, "d", archive).rejected == 0
    assert set(ws.dataset("d").labels()["judge"]) == set(PEOPLE)
