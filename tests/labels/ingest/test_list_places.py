"""Lists of labels without names: their places are read as judges, and may be criteria."""

from __future__ import annotations

import json

import numpy as np
import pytest

from crubric_core.labels import Workspace


def records(length, systems="ab", queries=8):
    """JSONL of a list of ``length(query, system)`` labels for each answer."""
    rng = np.random.default_rng(0)
    rows = (
        {"prompt_id": f"p{q}", "model": s, "scores": rng.integers(0, 2, length(q, i)).tolist()}
        for q in range(queries)
        for i, s in enumerate(systems)
    )
    return "\n".join(map(json.dumps, rows)).encode()


def told(source, **how):
    with Workspace() as ws:
        report = ws.ingest(source, "d", format="jsonl", **how)
        dataset = ws.dataset("d")
        return (
            report,
            [f.sentence for f in report.checks if f.code == "places"],
            dataset.judges,
            dataset.rubrics,
        )


def test_one_length_for_each_query_is_told_as_that_of_criteria():
    source = records(lambda q, _: 1 + q % 4)
    _, (sentence,), judges, _ = told(source)
    assert judges == ("0", "1", "2", "3")
    assert sentence.endswith('new dataset with the mapping {"rubric": "scores[].#"}.')
    report, again, judges, rubrics = told(source, mapping={"rubric": "scores[].#"})
    assert again == []
    assert judges == ("judge",)
    assert len(rubrics) == sum(1 + q % 4 for q in range(8))
    (note,) = (n for n in report.notes if "within its records" in n)
    assert "the rubric at scores[].#" in note
    assert "the judge" not in note


@pytest.mark.parametrize(
    ("length", "systems"),
    [
        (lambda q, i: 3, "ab"),  # a panel of three
        (lambda q, i: 2 + (q + i) % 3, "ab"),  # as many people as came
        (lambda q, i: 1 + q % 4, "a"),  # of one system nothing tells
    ],
)
def test_other_lengths_are_those_of_judges(length, systems):
    assert told(records(length, systems))[1] == []


def test_the_report_says_what_places_became_and_shows_the_mapping_of_draws():
    source = records(lambda q, i: 3)
    report, _, judges, _ = told(source)
    said = "each place in scores[] is read as a judge (if they are repeated draws, give the mapping"
    assert judges == ("0", "1", "2")
    assert any(f'{said} {{"run": "scores[].#"}}).' in note for note in report.notes)
    report, _, judges, _ = told(source, mapping={"run": "scores[].#"})
    assert judges == ("judge",)
    assert any(note.endswith("each place in scores[] is read as a run.") for note in report.notes)
