"""Columns that are people times criteria: told, and read so where the user says which part names the judge."""

from __future__ import annotations

import json
import re

import pytest

from tests.labels.readers.test_layouts import MODELS, label, table

ANN, CLEAR = ("Ann", "Bob"), ("Clarity", "Accuracy")


def rated(order):
    columns = [" ".join((c, j)[::order]) for c in CLEAR for j in ANN]
    rows = [[m, f"q{q}", *(label(m, q, c, j) for c in CLEAR for j in ANN)] for m in MODELS for q in range(2)]
    return table(["model", "question_id", *columns], rows)


@pytest.mark.parametrize("order", [1, -1])
def test_people_times_criteria_are_told_with_the_mapping_that_reads_them(ws, order):
    report = ws.ingest(rated(order), "d", name="x.csv")
    (told,) = (n for n in report.notes if "times each of" in n)
    assert "are read as 4 rubrics" in told
    mappings = [json.loads(m) for m in re.findall(r"\{\"rubric\".*?\"\}", told)]
    back = mappings[0] if order == 1 else mappings[1]  # the last part, or the first, names the judge
    ws.ingest(rated(order), "e", name="x.csv", mapping=back)
    found = ws.dataset("e").labels()
    assert {
        tuple(r) for r in found[["system", "query", "rubric", "judge", "label"]].itertuples(index=False)
    } == {
        (m, f"q{q}", f"q{q}#{c}", j, label(m, q, c, j))
        for m in MODELS
        for q in range(2)
        for c in CLEAR
        for j in ANN
    }


def test_criteria_that_are_no_product_are_not_told_of(ws):
    rows = [[m, "q", label(m), label(m, 1), label(m, 2)] for m in MODELS]
    report = ws.ingest(table(["model", "question_id", "text clarity", "text tone", "code tone"], rows), "d")
    assert not [n for n in report.notes if "times each of" in n]
