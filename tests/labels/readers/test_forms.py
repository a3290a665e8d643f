"""Responses to forms, one row a respondent: whose columns are grids of queries, systems and criteria."""

from __future__ import annotations

import json
from itertools import product

import pytest

from crubric_core.errors import IngestError
from tests.labels.readers.test_layouts import cells, label, table

PEOPLE = ("ann@x.org", "bob@x.org", "cy@x.org")
QUERIES, CRITERIA = ("Q1", "Q2", "Q3"), ("Accuracy", "Tone")
BLIND, NAMED = ("Response A", "Response B"), ("gpt-4o", "claude-3")


def responses(who, keys, columns, beside=()):
    """Each person's labels of each row's keys and each column."""
    rows = [
        [f"2024/01/0{i + 1} 10:00:00", person, *key, *(label(person, *key, c) for c in columns)]
        for i, person in enumerate(PEOPLE)
        for key in keys
    ]
    return table(["Timestamp", who, *beside, *columns], rows)


def given(columns, keys=((),), people=PEOPLE):
    """The labels by cell: of each person, and each row's keys, one a column, whose (system, query, criterion) it is.

    What a column does not name, None, is the row's key.
    """
    found = {}
    for person, key, (column, cell) in product(people, keys, columns.items()):
        left = iter(key)
        system, query, criterion = (part if part is not None else next(left) for part in cell)
        found[system, query, f"{query}#{criterion}", person] = label(person, *key, column)
    return found


@pytest.mark.parametrize("who", ["Email Address", "Your name"])
@pytest.mark.parametrize("systems", [BLIND, NAMED])
@pytest.mark.parametrize("name", ["{q} {s} [{c}]", "{q}: {s} [{c}]", "{q}. {s} [{c}]", "{q} - {s} ({c})"])
def test_grids_of_queries_systems_and_criteria_are_read_by_their_names(ws, who, systems, name):
    columns = {name.format(q=q, s=s, c=c): (s, q, c) for q, s, c in product(QUERIES, systems, CRITERIA)}
    report = ws.ingest(responses(who, [()], columns), "d", name="Form Responses 1.csv")
    assert cells(ws) == given(columns)
    told = " ".join(report.notes)
    assert "its columns name queries (Q1, Q2 and Q3)" in told
    assert ("one stands for different systems in different queries" in told) == (systems == BLIND)


@pytest.mark.parametrize("systems", [BLIND, NAMED])
def test_systems_in_each_query_are_never_taken_for_more_systems(ws, systems):
    columns = [f"{c} [{q} {s}]" for q, s, c in product(QUERIES, systems, CRITERIA)]
    with pytest.raises(IngestError, match="no column for system"):
        ws.ingest(responses("Your name", [()], columns), "d")


@pytest.mark.parametrize("name", ["{s} [{c}]", "{c} [{s}]"])
@pytest.mark.parametrize("systems", [BLIND, NAMED])
def test_one_query_a_response_has_a_grid_of_systems_and_criteria(ws, name, systems):
    columns = {name.format(s=s, c=c): (s, None, c) for s, c in product(systems, CRITERIA)}
    keys = [(q,) for q in QUERIES]
    ws.ingest(responses("Your name", keys, columns, ["Question"]), "d")
    assert cells(ws) == given(columns, keys)


def test_the_rows_of_one_grid_are_criteria_without_its_question(ws):
    columns = {f"Rate the answer [{c}]": (None, None, c) for c in CRITERIA}
    keys = list(product(NAMED, QUERIES))
    report = ws.ingest(responses("Email Address", keys, columns, ["Model", "Question"]), "d")
    assert cells(ws) == given(columns, keys)
    assert not [note for note in report.notes if "are judges of one rubric" in note]


def test_queries_without_systems_are_refused_with_the_mapping_that_reads_them(ws):
    columns = {f"{q} [{c}]": ("mine", q, c) for q, c in product(QUERIES, CRITERIA)}
    content = responses("Email Address", [()], columns)
    with pytest.raises(IngestError, match="has no column for system") as told:
        ws.ingest(content, "d")
    shown = str(told.value)
    mapping = json.loads(shown[shown.index("{") : shown.rindex("}") + 1])
    ws.ingest(content, "d", mapping={**mapping, "system": "=mine"})
    assert cells(ws) == given(columns)


@pytest.mark.parametrize("anonymous", [True, False])
def test_the_responses_of_microsoft_forms_are_known_by_email_or_by_number(ws, anonymous):
    columns = {f"{s}: {c}": (s, c) for s, c in product(BLIND, CRITERIA)}
    rows = [
        [
            i,
            "1/1/24 10:00",
            "1/1/24 10:05",
            "anonymous" if anonymous else f"{i}@x.org",
            "",
            *(label(i, c) for c in columns),
        ]
        for i in range(4)
    ]
    ws.ingest(table(["ID", "Start time", "Completion time", "Email", "Name", *columns], rows), "d")
    assert cells(ws) == {
        (s, "all", c, str(i) if anonymous else f"{i}@x.org"): label(i, column)
        for i in range(4)
        for column, (s, c) in columns.items()
    }


@pytest.mark.parametrize("judges", [None, "rater"])
def test_queries_times_systems_beside_criteria_are_both(ws, judges):
    """Each system of each query had been a system of its own."""
    columns = {f"{q} {s}": (s, q, None) for q, s in product(QUERIES, NAMED)}
    who = PEOPLE if judges else ("judge",)
    rows = [
        [*([person] if judges else []), c, *(label(person, c, k) for k in columns)]
        for person in who
        for c in CRITERIA
    ]
    ws.ingest(table([*([judges] if judges else []), "criterion", *columns], rows), "d")
    assert cells(ws) == given(columns, [(c,) for c in CRITERIA], who)


def test_in_whichever_order_a_mapping_names_query_and_system(ws):
    columns = {f"{q} {s} [{c}]": (s, q, c) for q, s, c in product(QUERIES, NAMED, CRITERIA)}
    said = {"system": "~ {system}×{rubric}", "query": "~ {query}×{rubric}"}
    ws.ingest(
        responses("Your name", [()], columns),
        "d",
        mapping={**said, "rubric": list(columns), "judge": "Your name"},
    )
    assert cells(ws) == given(columns)


def test_queries_times_judges_are_both_and_not_told_as_queries(ws):
    columns = {f"{q}_{j}": (q, j) for q, j in product(QUERIES, ("ann", "bob"))}
    rows = [[s, c, *(label(s, c, k) for k in columns)] for s in NAMED for c in CRITERIA]
    report = ws.ingest(table(["model", "rubric", *columns], rows), "d")
    assert cells(ws) == {
        (s, q, f"{q}#{c}", j): label(s, c, k)
        for s in NAMED
        for c in CRITERIA
        for k, (q, j) in columns.items()
    }
    assert not [note for note in report.notes if "are queries" in note]


def test_beside_a_column_of_systems_responses_are_no_judges(ws):
    columns = [f"{s} [{c}]" for s, c in product(BLIND, CRITERIA)]
    rows = [[s, q, *(label(s, q, k) for k in columns)] for s in NAMED for q in QUERIES]
    ws.ingest(table(["model", "question", *columns], rows), "d")
    assert ws.dataset("d").judges == ("judge",)
    assert set(ws.dataset("d").systems) == set(NAMED)
