"""Scenarios are kept with their dataset: saved, listed, renamed, deleted, copied with it and gone with it."""

from __future__ import annotations

import os
import stat

import pytest

from crubric_core.composition import Composition
from crubric_core.errors import DatasetError, WorkspaceError
from crubric_core.labels import Workspace
from crubric_core.labels.store.scenarios import (
    LONGEST,
    Scenario,
    delete_scenario,
    find_scenario,
    list_scenarios,
    rename_scenario,
    save_scenario,
)
from crubric_core.priors import Priors
from crubric_core.scoring_rules import ScoringRules
from crubric_core.settings import Settings

LABELS = b"system,query,rubric,judge,label\na,q,r,j,1\nb,q,r,j,0\n"
SETTINGS = (
    Settings(),
    Settings.preset("paper"),
    Settings(tau_c=0.123456789, budget=7, model="GRM", basis="bank", priors=Priors.flat()),
    Settings(composition=Composition(pins=("r1",), exclusions=("r2",), cost_budget=4.0)),
    Settings(gate="agreement", agreement="pairwise", tau_c=0.6, rules=ScoringRules(actionability=2.0)),
)


@pytest.fixture
def study(ws):
    ws.ingest(LABELS, "d")
    return ws


def names(ws, dataset="d"):
    return [scenario.name for scenario in list_scenarios(ws, dataset)]


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_scenario_comes_back_with_the_very_settings_and_filters(study, settings):
    filters = {"search": ("50% “tax”",), "domain": ("law", "tax")}
    save_scenario(study, "d", Scenario("  strict   gate ", settings, "bank", filters))
    found = find_scenario(study, "d", "strict gate")
    assert (found.settings, found.page, found.filters) == (settings, "bank", filters)
    assert found.saved_at is not None


def test_a_name_is_taken_once_and_replaced_only_when_asked(study):
    save_scenario(study, "d", Scenario("a", Settings()))
    with pytest.raises(DatasetError, match="There is a scenario 'a' already"):
        save_scenario(study, "d", Scenario("a", Settings(budget=9)))
    assert find_scenario(study, "d", "a").settings == Settings()
    save_scenario(study, "d", Scenario("a", Settings(budget=9)), replace=True)
    assert [s.settings.budget for s in list_scenarios(study, "d")] == [9]


def test_a_second_click_saves_nothing_and_is_refused_nothing(study):
    """A double click said that the name which it had just saved was taken."""
    for _ in range(2):
        save_scenario(study, "d", Scenario("a", Settings(budget=9), "bank", {"search": ("x",)}))
    with pytest.raises(DatasetError, match="There is a scenario 'a' already"):
        save_scenario(study, "d", Scenario("a", Settings(budget=9), "bank", {"search": ("y",)}))
    assert names(study) == ["a"]


@pytest.mark.parametrize("name", ["", "  ", "x" * (LONGEST + 1)])
def test_a_blank_or_endless_name_is_refused(study, name):
    with pytest.raises(DatasetError, match="The name of the scenario"):
        save_scenario(study, "d", Scenario(name, Settings()))
    assert names(study) == []


def test_scenarios_are_renamed_and_deleted_by_name(study):
    for name in ("a", "b"):
        save_scenario(study, "d", Scenario(name, Settings()))
    with pytest.raises(DatasetError, match="There is a scenario 'b' already"):
        rename_scenario(study, "d", "a", "b")
    rename_scenario(study, "d", "a", "c")
    assert names(study) == ["b", "c"]
    delete_scenario(study, "d", "b")
    assert names(study) == ["c"]
    for refused in (
        lambda: delete_scenario(study, "d", "b"),
        lambda: rename_scenario(study, "d", "b", "x"),
        lambda: find_scenario(study, "d", "b"),
    ):
        with pytest.raises(DatasetError, match="There is no scenario 'b': there are 'c'"):
            refused()


def test_a_copy_of_the_dataset_has_them_too_and_a_deleted_dataset_has_none(study):
    save_scenario(study, "d", Scenario("a", Settings(budget=3)))
    study.duplicate("d", "copy")
    delete_scenario(study, "copy", "a")
    assert (names(study), names(study, "copy")) == (["a"], [])
    study.delete("d")
    study.ingest(LABELS, "d")
    assert names(study) == []


def test_settings_of_another_version_are_listed_with_the_reason_and_not_used(study):
    save_scenario(study, "d", Scenario("a", Settings()))
    with study.writing() as cursor:
        cursor.execute(
            """UPDATE scenarios SET settings = '{"preset": "next", "settings": {}, "priors": {}}'"""
        )
    (found,) = list_scenarios(study, "d")
    assert found.settings is None
    assert "another version of this program" in found.fault
    with pytest.raises(DatasetError, match="cannot be used"):
        find_scenario(study, "d", "a")
    with pytest.raises(DatasetError, match="has no settings"):
        save_scenario(study, "d", found)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes every file")
def test_a_read_only_workspace_lists_them_and_says_why_it_saves_none(tmp_path):
    path = tmp_path / "w.duckdb"
    with Workspace(path) as ws:
        ws.ingest(LABELS, "d")
        save_scenario(ws, "d", Scenario("a", Settings()))
    path.chmod(stat.S_IRUSR)
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with Workspace(path) as ws:
            assert names(ws) == ["a"]
            with pytest.raises(WorkspaceError, match="can be looked at and not changed"):
                save_scenario(ws, "d", Scenario("b", Settings()))
    finally:
        tmp_path.chmod(stat.S_IRWXU)
