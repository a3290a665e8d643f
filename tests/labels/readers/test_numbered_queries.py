"""Numbers of queries beside columns of criteria: what each system has once is no label."""

from __future__ import annotations

import pytest

from crubric_core.errors import IngestError
from tests.labels.readers.test_layouts import MODELS, cells, label, table

CRITERIA = ("Clarity", "Tone")
NUMBERS = ("1", "2", "3", "4", "5")


def rated(name, judges=("",)):
    rows = [
        [m, q, *filter(None, [j]), *(label(m, q, c, j) for c in CRITERIA)]
        for m in MODELS
        for q in NUMBERS
        for j in judges
    ]
    return table(["Model", name, *(["Rater"] if judges[0] else []), *CRITERIA], rows)


@pytest.mark.parametrize("name", ["Problem", "Scenario", "Document", "Assignment"])
@pytest.mark.parametrize("judges", [("",), ("ann", "bob")])
def test_a_number_that_each_system_has_once_is_the_query(ws, name, judges):
    ws.ingest(rated(name, judges), "d", name="x.csv")
    assert cells(ws) == {
        (m, q, f"{q}#{c}", j or "judge"): label(m, q, c, j)
        for m in MODELS
        for q in NUMBERS
        for c in CRITERIA
        for j in judges
    }


def test_one_that_no_name_tells_is_asked_about_and_read_by_the_mapping_shown(ws):
    with pytest.raises(IngestError, match=r'perhaps \'Patient\' \(\{"query": "Patient"\}'):
        ws.ingest(rated("Patient"), "d", name="x.csv")
    ws.ingest(rated("Patient"), "d", name="x.csv", mapping={"query": "Patient"})
    assert len(cells(ws)) == len(MODELS) * len(NUMBERS) * len(CRITERIA)


def test_beside_a_query_the_same_numbers_are_labels(ws):
    rows = [[m, f"p{q}", int(q), label(m, q)] for m in MODELS for q in NUMBERS]
    rows[0][2], rows[1][2] = rows[1][2], rows[0][2]
    ws.ingest(table(["Model", "Prompt", "Depth", "Tone"], rows), "d", name="x.csv")
    assert {cell[2].split("#")[1] for cell in cells(ws)} == {"Depth", "Tone"}
