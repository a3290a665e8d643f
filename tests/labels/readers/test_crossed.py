"""Columns that are people times criteria: told, and read so where the user says which part names the judge."""

from __future__ import annotations

import json
import re
from itertools import product

import pytest

from tests.labels.readers.test_layouts import MODELS, label, table

ANN, CLEAR = ("Ann", "Bob"), ("Clarity", "Accuracy")


def rated(order):
    columns = [" ".join((c, j)[::order]) for c in CLEAR for j in ANN]
    rows = [[m, f"q{q}", *(label(m, q, c, j) for c in CLEAR for j in ANN)] for m in MODELS for q in range(2)]
    return table(["model", "question_id", *columns], rows)


def given(judges):
    """The labels that each of the judges gave, by criterion."""
    keys = product(MODELS, range(2), CLEAR, judges)
    return {(m, f"q{q}", f"q{q}#{c}", j, label(m, q, c, j)) for m, q, c, j in keys}


def read(dataset):
    found = dataset.labels()[["system", "query", "rubric", "judge", "label"]]
    return {tuple(row) for row in found.itertuples(index=False)}


@pytest.mark.parametrize("order", [1, -1])
def test_people_times_criteria_are_told_with_the_mapping_that_reads_them(ws, order):
    report = ws.ingest(rated(order), "d", name="x.csv")
    (told,) = (n for n in report.notes if "times each of" in n)
    assert "are read as 4 rubrics" in told
    mappings = [json.loads(m) for m in re.findall(r"\{\"rubric\".*?\"\}", told)]
    back = mappings[0] if order == 1 else mappings[1]  # the last part, or the first, names the judge
    ws.ingest(rated(order), "e", name="x.csv", mapping=back)
    assert read(ws.dataset("e")) == given(ANN)


def test_criteria_that_are_no_product_are_not_told_of(ws):
    rows = [[m, "q", label(m), label(m, 1), label(m, 2)] for m in MODELS]
    report = ws.ingest(table(["model", "question_id", "text clarity", "text tone", "code tone"], rows), "d")
    assert not [n for n in report.notes if "times each of" in n]


@pytest.mark.parametrize("name", ["{criterion}_{judge}", "{criterion} ({judge})", "{judge}: {criterion}"])
@pytest.mark.parametrize("judges", [("judge1", "judge2"), ("gpt-4o", "claude")])
def test_the_judge_may_stand_before_or_after_the_criterion(ws, name, judges):
    """``clarity_judge1, cites_judge1`` were four judges of one rubric; ``tone_gpt4`` had criteria for judges."""
    columns = [name.format(criterion=c, judge=j) for c in CLEAR for j in judges]
    rows = [
        [m, f"q{q}", *(label(m, q, c, j) for c in CLEAR for j in judges)] for m in MODELS for q in range(2)
    ]
    report = ws.ingest(table(["model", "question_id", *columns], rows), "d", name="x.csv")
    assert read(ws.dataset("d")) == given(judges)
    assert any(f"judges ({', '.join(judges)}) times criteria" in n for n in report.notes)


def test_versions_of_a_judge_are_judges_and_no_criteria(ws):
    columns = ["grader 1", "grader 2", "judge 1", "judge 2"]
    rows = [[m, f"q{q}", *(label(m, q, j) for j in columns)] for m in MODELS for q in range(2)]
    ws.ingest(table(["model", "question_id", *columns], rows), "d")
    assert ws.dataset("d").judges == tuple(columns)
