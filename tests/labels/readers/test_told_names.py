"""Files named after what their records hold: a query's name is no judge's and no system's."""

from __future__ import annotations

import json
from itertools import product

import pytest

from crubric_core.labels.readers.bundle import plan_ingest

SYSTEMS, QUERIES = ("north", "south"), ("q1", "q2", "q3")


def folder_of(tmp_path, name, record):
    """A file of each system and query; name and record as functions of both."""
    for system, query in product(SYSTEMS, QUERIES):
        path = tmp_path / "study" / f"{name(system, query)}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record(system, query) | {"scores": {"clear": len(query), "short": 3}}))
    return tmp_path / "study"


def read(ws, folder):
    ws.ingest(folder, "d")
    found = ws.dataset("d")
    return found.systems, tuple(found.queries["query"]), found.judges


@pytest.mark.parametrize(
    "name",
    ["{0}__{1}", "{1}__{0}", "{0}_{1}", "{1}-{0}", "{0}/{1}", "{1}/{0}"],
)
def test_the_query_within_the_records_leaves_the_system_of_the_name(ws, tmp_path, name):
    folder = folder_of(tmp_path, name.format, lambda _, query: {"query": query})
    assert read(ws, folder) == (SYSTEMS, QUERIES, ("judge",))


@pytest.mark.parametrize("name", ["{0}__{1}", "{1}__{0}"])
def test_records_that_say_both_need_no_name(ws, tmp_path, name):
    folder = folder_of(tmp_path, name.format, lambda system, query: {"model": system, "query": query})
    assert read(ws, folder) == (SYSTEMS, QUERIES, ("judge",))


def test_a_plan_that_is_looked_at_again_finds_no_other_judges(tmp_path):
    folder = folder_of(tmp_path, "{0}__{1}".format, lambda system, query: {"model": system, "query": query})
    once = plan_ingest(folder)
    assert plan_ingest(folder, like=once).files == once.files


def test_more_parts_than_a_panel_has_judges_are_none_unless_they_name_models(tmp_path):
    for kind, parts in (
        ("item", [f"item {i}" for i in range(21)]),
        ("model", [f"gpt-{i}" for i in range(21)]),
    ):
        for part in parts:
            path = tmp_path / kind / f"north__{part}.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps({"query": f"What of {part}?", "scores": {"clear": 1, "short": 2}}))
    assert plan_ingest(tmp_path / "item").pattern == "{system}__*.json"
    assert plan_ingest(tmp_path / "model").pattern == "{system}__{judge}.json"


def test_names_that_no_separator_splits_in_one_way_are_asked_about(tmp_path):
    folder = folder_of(tmp_path, "gpt_{0}_{1}_a".format, lambda _, query: {"query": f"{query}_a"})
    plan = plan_ingest(folder)
    assert plan.pattern is None
    assert "no column for system" in str(plan.files[0].problem)


def test_two_parts_that_the_records_do_not_hold_are_system_and_judge(ws, tmp_path):
    for system, judge in product(SYSTEMS, ("x", "y")):
        (tmp_path / f"{system}__{judge}.csv").write_text("query,rubric,label\nq1,r,1\nq2,r,0\n")
    assert read(ws, tmp_path) == (SYSTEMS, ("q1", "q2"), ("x", "y"))
