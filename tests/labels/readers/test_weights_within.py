"""Weights beside the labels within records: negative ones say that meeting the rubric is bad."""

from __future__ import annotations

import json

import pytest

from tests.labels.readers.test_layouts import table

SYSTEMS = ("harmful", "careful")
WEIGHTS = {"helps": 3, "does harm": -8}


def met(system, criterion):
    return (system == "harmful") == (criterion == "does harm")


def in_list(system):
    return [{"criterion": c, "weight": w, "verdict": met(system, c)} for c, w in WEIGHTS.items()]


def in_object(system):
    return {c: {"points": w, "verdict": met(system, c)} for c, w in WEIGHTS.items()}


def of_judges(system):
    votes = {c: [{"judge": j, "verdict": met(system, c)} for j in "ab"] for c in WEIGHTS}
    return [{"criterion": c, "weight": w, "judgments": votes[c]} for c, w in WEIGHTS.items()]


def by_polarity(system):
    signs = {c: 1 if w > 0 else -1 for c, w in WEIGHTS.items()}
    return [{"criterion": c, "polarity": s, "verdict": met(system, c)} for c, s in signs.items()]


@pytest.mark.parametrize("results", [in_list, in_object, of_judges, by_polarity])
def test_a_negative_weight_within_records_makes_a_rubric_bad_to_meet(ws, results):
    """The weights were named among what is not used, and the system that does harm came first."""
    records = [
        {"model": s, "question_id": f"q{q}", "rubric_results": results(s)} for s in SYSTEMS for q in range(3)
    ]
    report = ws.ingest(json.dumps(records).encode(), "d", name="x.json")
    assert any("negative polarity" in n for n in report.notes)
    assert not any(n.startswith("Not used") for n in report.notes)
    found = ws.dataset("d").rubrics
    signs = dict(zip(found["rubric"].str.rpartition("#")[2], found["polarity"], strict=True))
    assert signs == {"helps": 1, "does harm": -1}


def test_weights_that_contradict_each_other_are_told_where_some_are_negative(ws):
    rows = [[s, "q", "bad", w, "met"] for s, w in zip(SYSTEMS, (-8, -3), strict=True)]
    report = ws.ingest(
        table(["model", "question_id", "criterion", "points", "verdict"], rows), "d", name="x.csv"
    )
    assert any("'points' holds negative numbers" in n and "--polarity" in n for n in report.notes)
