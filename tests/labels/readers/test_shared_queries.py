"""Files of one experiment each, with ids of their own, about the same queries."""

from __future__ import annotations

import json

import pytest

from tests.labels.readers.test_layouts import MODELS, cells, label

CRITERIA, INPUTS = ("factual", "relevant"), [f"What is {n}?" for n in range(5)]


def experiments(folder, span_of, text_of=lambda _, text: text):
    """An export of each model, as experiments are exported: a span and scores beside what was asked."""
    for model in MODELS:
        rows = [
            {"id": span_of(model, n), "input": text_of(model, text), "output": f"{model}: {n}",
             "scores": {c: label(model, text, c) for c in CRITERIA}, "metadata": {"model": model}}
            for n, text in enumerate(INPUTS)
        ]  # fmt: skip
        (folder / f"{model}.json").write_text(json.dumps(rows))
    return folder


def test_the_text_that_files_share_is_the_query_and_no_id_of_each(ws, tmp_path):
    """Each system had queries of its own, so that nothing compared them."""
    report = ws.ingest(experiments(tmp_path, lambda model, n: f"span-{model}-{n}"), "d")
    assert cells(ws) == {
        (m, q, f"{q}#{c}", "judge"): label(m, q, c) for m in MODELS for q in INPUTS for c in CRITERIA
    }
    assert any(
        "'input', because the files share its values; each has its own values of 'id'" in note
        for note in report.notes
    )


@pytest.mark.parametrize(
    ("span_of", "text_of"),
    [
        (lambda _, n: f"item-{n}", lambda _, text: text),  # the id is shared, too
        (lambda model, n: f"{model}-{n}", lambda model, text: f"{model}, {text}"),  # neither is
    ],
)
def test_the_id_stays_the_query_where_it_is_shared_or_the_text_is_not(ws, tmp_path, span_of, text_of):
    ws.ingest(experiments(tmp_path, span_of, text_of), "d")
    assert set(ws.dataset("d").queries["query"]) == {
        span_of(m, n) for m in MODELS for n in range(len(INPUTS))
    }


def test_the_text_is_not_taken_where_somebody_names_the_query(ws, tmp_path):
    folder = experiments(tmp_path, lambda model, n: f"{model}-{n}")
    ws.ingest(folder, "d", mapping={"query": "id"})
    assert len(ws.dataset("d").queries) == len(MODELS) * len(INPUTS)


def test_places_in_texts_of_their_own_are_no_queries_that_files_share(ws):
    """``segment`` 0 of one document and of another were one query."""
    files = []
    for doc in (1, 2):
        rows = [f"{n},{doc}-{n},{m},{label(doc, n, m)}" for n in range(4) for m in MODELS]
        files.append((f"doc{doc}.csv", "\n".join(["segment,sample_id,model,score", *rows]).encode()))
    ws.ingest(files, "d")
    assert set(ws.dataset("d").queries["query"]) == {f"{doc}-{n}" for doc in (1, 2) for n in range(4)}
