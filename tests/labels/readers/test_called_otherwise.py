"""Criteria whose names stand for draws or descriptions elsewhere are criteria where their cells say so."""

from __future__ import annotations

import pytest

from crubric_core.labels.readers.bundle import plan_ingest
from tests.labels.readers.test_layouts import table

MODELS, RATERS, TEXTS = ("gpt-4o", "claude-3-opus"), ("r1", "r2"), range(6)


def level(*at):
    return 1 + sum((place + 1) * (2 * number + 1) for place, number in enumerate(at)) % 5


def rated(keys, criteria):
    """A row for each text, model and rater, with a level of each criterion."""
    rows = [
        [f"t{t}", m, r, *(level(t, i, j, at) for at in range(len(criteria)))]
        for t in TEXTS
        for i, m in enumerate(MODELS)
        for j, r in enumerate(RATERS)
    ]
    return table([*keys, *criteria], rows)


def rubrics(ws):
    return set(ws.dataset("d").rubrics["criterion"])


@pytest.mark.parametrize("name", ["Repetition", "attempt", "Trial", "draw"])
def test_what_is_called_like_a_draw_is_a_criterion_where_rows_do_not_repeat_without_it(ws, name):
    report = ws.ingest(rated(["dialog_id", "model", "annotator"], ["Fluency", name]), "d")
    assert rubrics(ws) == {"Fluency", name}
    assert any(f"{name!r} is read as labels" in note and '{"run": ' in note for note in report.notes)


@pytest.mark.parametrize("key", ["dialog_id", "query_id", "conversation_id"])
@pytest.mark.parametrize("name", ["Repetition", "attempt", "trial", "draw"])
def test_it_is_the_draw_where_rows_repeat(key, name):
    rows = [
        [f"q{q}", m, n, level(q, i, n, 1), level(q, i, n, 2)]
        for q in TEXTS
        for i, m in enumerate(MODELS)
        for n in (1, 2, 3)
    ]
    (found,) = plan_ingest(table([key, "model", name, "Fluency", "Wit"], rows)).files
    assert (found.mapping["run"], found.mapping["rubric"]) == (name, ("Fluency", "Wit"))


@pytest.mark.parametrize(
    "criteria",
    [["Content", "Organization", "Style"], ["Content", "Organization"], ["Importance", "Topic", "Direction"]],
)
def test_traits_called_like_descriptions_are_criteria_where_numbers_differ_within_a_query(ws, criteria):
    report = ws.ingest(rated(["prompt_id", "model", "rater"], criteria), "d")
    assert rubrics(ws) == set(criteria)
    assert any("are read as labels, because they hold numbers" in note for note in report.notes)


def test_a_number_of_each_query_or_system_describes_it(ws):
    rows = [
        [f"q{q}", m, level(q, i), level(i, q), q % 3, i + 1, q % 2]
        for q in TEXTS
        for i, m in enumerate(MODELS)
    ]
    columns = ["query_id", "model", "clarity", "tone", "importance", "organization", "topic"]
    ws.ingest(table(columns, rows), "d")
    assert rubrics(ws) == {"clarity", "tone"}
