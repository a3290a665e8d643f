"""Scenarios on the pages: saved from the side bar, opened with settings and filters, compared."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Literal

import pytest
from streamlit.testing.v1 import AppTest

from crubric_core.composition import Composition, Limit
from crubric_core.labels.store.database import Database
from crubric_core.labels.store.scenarios import Scenario, list_scenarios, save_scenario
from crubric_core.labels.store.workspace import Workspace
from crubric_core.scoring_rules import ScoringRules
from crubric_core.settings import Settings
from crubric_core.ui.loaders import PAGES
from crubric_core.ui.scenarios import AS_SHOWN
from crubric_core.ui.settings_address import read_settings
from tests.pages.conftest import HOSTILE, Open, size_box
from tests.pages.test_bank import some_ids


@pytest.fixture
def own(study: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(study, tmp_path / "own.duckdb"))


def keep(path: Path, **scenarios: Settings) -> None:
    with Workspace(path) as workspace:
        for name, settings in scenarios.items():
            save_scenario(workspace, "small", Scenario(name, settings, "bank", {"search": ("a",)}))


def said(app: AppTest) -> str:
    texts = [*app.header, *app.markdown, *app.caption, *app.success, *app.error]
    return re.sub(r"\\(.)", r"\1", " ".join(text.value for text in texts))


def test_settings_and_filters_of_a_page_are_saved_from_its_side_bar(open_page: Open, own: Path) -> None:
    app = open_page("bank", own, dataset="small", budget="17", search="the")
    app.text_input(key="scenario name").set_value(f"mine {HOSTILE}")
    next(b for b in app.button if b.label == "Save").click().run()
    assert not app.exception
    assert f"Saved as “mine {HOSTILE}”." in said(app)
    with Workspace(own) as workspace:
        (found,) = list_scenarios(workspace, "small")
    assert (found.settings, found.page) == (Settings(budget=17), "bank")
    assert found.filters == {"search": ("the",)}


def test_a_name_that_is_taken_names_the_box_that_replaces_its_scenario(open_page: Open, own: Path) -> None:
    """It named an option of the command line."""
    with Workspace(own) as workspace:
        save_scenario(workspace, "small", Scenario("taken", Settings(budget=17)))
    app = open_page("leaderboard", own)
    app.text_input(key="scenario name").set_value("taken")
    next(b for b in app.button if b.label == "Save").click().run()
    assert app.error[0].value.replace("\\", "").endswith("or replace it (“Replace one of this name”).")
    assert app.text_input(key="scenario name").value == "taken", "a refusal cleared it"
    app.checkbox(key="scenario replace").check()
    next(b for b in app.button if b.label == "Save").click().run()
    assert not app.error
    assert "Saved as “taken”." in said(app)
    assert (app.text_input(key="scenario name").value, app.checkbox(key="scenario replace").value) == (
        "",
        False,
    )


def test_filters_by_columns_of_facts_are_saved_too(open_page: Open, own: Path) -> None:
    with Workspace(own) as workspace:
        names = workspace.dataset("small").reduce().systems
        rows = [f"{name},{'closed' if number % 2 else 'open'}" for number, name in enumerate(names)]
        workspace.ingest("\n".join(["system,family", *rows]).encode(), "small", "systems", format="csv")
    app = open_page("leaderboard", own, dataset="small", **{"fact family": "closed"})
    app.text_input(key="scenario name").set_value("closed ones")
    next(b for b in app.button if b.label == "Save").click().run()
    with Workspace(own) as workspace:
        (found,) = list_scenarios(workspace, "small")
    assert found.filters == {"fact family": ("closed",)}


def test_settings_are_told_in_words_and_not_as_the_address_spells_them(open_page: Open, own: Path) -> None:
    keep(own, drawn=Settings(strategy="hard_random", consensus="dawid_skene", budget=9))
    app = open_page("scenarios", own, dataset="small", first="drawn", second=AS_SHOWN)
    (told,) = app.dataframe[0].value["settings"]
    assert "The bank is chosen by: hard random" in told
    assert "Consensus label: Dawid–Skene" in told
    assert "Bank size B: 9" in told
    tables = [table.value.to_csv() for table in app.dataframe]
    assert not any(code in " ".join([*tables, said(app)]) for code in ("hard_random", "dawid_skene"))
    offered = open_page("bank", own, dataset="small").selectbox(key="strategy")
    assert offered.options == ["pairs", "greedy", "plain", "hard random", "random"]


def test_a_threshold_given_alone_is_told_with_the_gate_that_it_is_of(open_page: Open, own: Path) -> None:
    keep(own, low=read_settings({"tau_c": "0.3"}), usual=Settings())
    low, usual = open_page("scenarios", own, dataset="small").dataframe[0].value["settings"]
    assert usual == "the defaults"
    assert "0.3" in low
    assert "agreement" in low.partition("0.3")[2], "the usual gate reads kappa"


def test_the_page_lists_and_compares_what_is_saved(open_page: Open, own: Path) -> None:
    keep(own, large=Settings(budget=40), small=Settings(budget=8))
    app = open_page("scenarios", own, dataset="small")
    assert not app.exception
    assert "small: 2 scenarios are saved." in said(app)
    assert app.dataframe[0].value["name"].tolist() == ["large", "small"]
    assert re.search(r"From “large” to “small”, \d+ of 40 rubrics leave the bank and \d+ enter", said(app))
    figures = app.table[0].value
    assert figures.loc["Bank size B"].tolist() == ["40", "8"]


@pytest.mark.parametrize("known", ["large", AS_SHOWN])
def test_a_scenario_of_the_address_that_is_gone_is_named_and_no_other_compared(
    open_page: Open, own: Path, known: str
) -> None:
    """A bookmark of a deleted scenario compared another one without a word."""
    keep(own, large=Settings(budget=40), small=Settings(budget=8))
    app = open_page("scenarios", own, dataset="small", first=known, second="gone")
    assert "second=gone" in app.warning[0].value.replace("\\", "")
    assert [app.selectbox(key=side).value for side in ("first", "second")] == [known, AS_SHOWN]
    assert ("Choose two different ones." in said(app)) is (known == AS_SHOWN)


def test_what_a_bookmark_leaves_out_is_what_the_pages_show(open_page: Open, own: Path) -> None:
    """It was a scenario of the list, another one as soon as one more was saved."""
    for names in (["b"], ["b", "c"], ["a", "b", "c"]):
        keep(own, **{name: Settings(budget=8) for name in names})
        app = open_page("scenarios", own, dataset="small", second="b")
        assert [app.selectbox(key=side).value for side in ("first", "second")] == [AS_SHOWN, "b"]


def test_a_scenario_named_as_the_choice_of_the_page_is_one_more_choice(open_page: Open, own: Path) -> None:
    keep(own, **{AS_SHOWN: Settings(budget=8)})
    app = open_page("scenarios", own, dataset="small", budget="40")
    assert app.selectbox(key="first").options == [f"{AS_SHOWN} (not saved)", AS_SHOWN]
    figures = app.table[0].value
    assert figures.loc["Bank size B"].tolist() == ["8", "40"]


def test_settings_are_compared_in_whole_words(open_page: Open, own: Path) -> None:
    """They were cut in their middle, as names of systems are, and on a phone the second column was out of sight."""
    keep(own, one=Settings(), two=Settings(gate="kappa", tau_c=0.3))
    app = open_page("scenarios", own, dataset="small")
    assert "the lowest quarter of the measured rubrics is dropped" in app.table[0].value.to_numpy()


def test_two_scenarios_whose_names_begin_alike_have_different_headings(open_page: Open, own: Path) -> None:
    keep(own, **{f"autumn round of the legal team, B = {b}": Settings(budget=b) for b in (40, 8)})
    app = open_page("scenarios", own, dataset="small")
    columns = json.loads(app.dataframe[1].proto.columns).values()
    for titles in ([c["label"] for c in columns if "label" in c], app.table[0].value.columns.tolist()):
        assert len(set(titles)) == len(titles)
        assert any("= 40" in title for title in titles)


@pytest.mark.parametrize("model", ["2PL", "1PL"])
def test_abilities_of_two_models_are_said_to_have_no_common_scale(
    open_page: Open, own: Path, model: Literal["1PL", "2PL"]
) -> None:
    keep(own, one=Settings(budget=40), two=Settings(budget=8, model=model))
    app = open_page("scenarios", own, dataset="small")
    assert "Ranks move with any change of settings" in said(app)
    assert ("have different scales of θ" in said(app)) is (model == "1PL")


def test_an_opened_scenario_brings_back_settings_page_and_filters(open_page: Open, own: Path) -> None:
    keep(own, small=Settings(budget=8))
    app = open_page("scenarios", own, dataset="small")
    next(b for b in app.button if (b.key or "").startswith("open scenario")).click().run()
    assert not app.exception
    assert app.title[0].value.startswith("Bank")
    assert size_box(app).value == 8
    assert app.text_input(key="search").value == "a"


def test_a_composed_bank_is_saved_compared_and_brought_back(open_page: Open, own: Path) -> None:
    composed = Composition(exclusions=some_ids(own)[:40])
    asked = {"composition": json.dumps(composed.as_dict(), separators=(",", ":")), "budget": "12"}
    app = open_page("bank", own, dataset="small", **asked)
    app.text_input(key="scenario name").set_value("composed")
    next(b for b in app.button if b.label == "Save").click().run()
    with Workspace(own) as workspace:
        (found,) = list_scenarios(workspace, "small")
    assert found.settings == Settings(budget=12, composition=composed)
    keep(own, plain=Settings(budget=12))
    app = open_page("scenarios", own, dataset="small")
    assert re.search(r"From “composed” to “plain”, [1-9]\d* of 12 rubrics leave the bank", said(app))
    next(b for b in app.button if (b.key or "").startswith("open scenario")).click().run()
    assert app.query_params["composition"] == asked["composition"]
    app = app.switch_page(str(PAGES / "scenarios.py")).run()
    app.selectbox(key="first").set_value(AS_SHOWN)
    app.selectbox(key="second").set_value("composed").run()
    assert "Both banks hold the same 12 rubrics." in said(app)


def test_the_rules_of_a_scenario_are_told_where_they_count_and_can_be_left(
    open_page: Open, own: Path
) -> None:
    """They scored this dataset, and every other one that was shown later, without a word."""
    keep(own, harsh=Settings(rules=ScoringRules(critical=-8.0)))
    app = open_page("scenarios", own, dataset="small")
    assert "scoring rules of its own" in " ".join(d.value.to_string() for d in app.dataframe)
    next(b for b in app.button if (b.key or "").startswith("open scenario")).click().run()
    told = "Scores are by the rules of a scenario"
    assert told in said(app)
    next(b for b in app.button if b.label == "Score by the dataset's rules").click().run()
    assert told not in said(app)


def test_an_opened_scenario_without_a_composed_bank_shows_none(open_page: Open, own: Path) -> None:
    keep(own, plain=Settings(budget=12))
    composed = Composition(limits=(Limit("query", None, 0, 1),))
    app = open_page("scenarios", own, dataset="small", composition=json.dumps(composed.as_dict()))
    next(b for b in app.button if (b.key or "").startswith("open scenario")).click().run()
    assert not app.exception
    assert "composition" not in app.query_params
    assert "composed by hand" not in said(app)


def test_a_workspace_that_cannot_be_written_says_why_nothing_is_saved(
    open_page: Open, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(own, small=Settings(budget=8))
    begin = Database.__init__

    def locked(self: Database, path: str | Path = ":memory:") -> None:
        begin(self, path)
        self.read_only = True

    monkeypatch.setattr(Database, "__init__", locked)
    app = open_page("scenarios", own, dataset="small")
    assert "This workspace is read-only" in said(app)
    assert [str(b.key).rpartition(" ")[0] for b in app.button if b.key] == ["open scenario"]
    app = open_page("bank", own, dataset="small")
    assert "This workspace is read-only" in said(app)
    assert not [b for b in app.button if b.label == "Save"]
