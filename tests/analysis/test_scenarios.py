"""Two scenarios compared: every figure and sentence agrees with the analyses that it speaks of."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from crubric_core.analysis.fitted import with_rules
from crubric_core.analysis.pipeline import run_pipeline
from crubric_core.analysis.scenarios import change_sentences, compare, figures_table, outcome_of
from crubric_core.analysis.stage import Memory
from crubric_core.analysis.stages import Analysis
from crubric_core.demo import simulate
from crubric_core.labels import Workspace
from crubric_core.settings import Settings


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    made, folder = simulate(seed=1, systems=8, queries=12, pool=(10, 16)), tmp_path_factory.mktemp("d")
    with Workspace() as ws:
        for kind in ("labels", "rubrics", "queries"):
            getattr(made, kind).to_csv(folder / f"{kind}.csv", index=False)
            ws.ingest(folder / f"{kind}.csv", "d", kind)
        yield ws.dataset("d")


@pytest.fixture(scope="module")
def outcome(data):
    store, fingerprint = Memory(), data.fingerprint

    def make(name, settings):
        asked = with_rules(data, settings)
        return outcome_of(name, Analysis(dataset=data, fingerprint=fingerprint, settings=asked, store=store))

    return make


WIDE, NARROW = Settings(budget=60, basis="bank"), Settings(budget=12, basis="bank")


@pytest.fixture(scope="module")
def change(outcome):
    return compare(outcome("wide", WIDE), outcome("narrow", NARROW))


def test_an_outcome_is_what_the_pipeline_gives(data, change):
    for settings, found in ((WIDE, change.first), (NARROW, change.second)):
        result = run_pipeline(data, settings)
        assert found.bank.tolist() == result.chosen.tolist()
        assert found.passing == int(result.gating.feasible.sum())
        assert found.separated == int(result.comparisons["separated"].sum())
        board = result.leaderboard.set_index("system")
        for row in found.places.itertuples():
            assert row.rank == board.loc[row.system, "rank"]
            assert row.tier == board.loc[row.system, "tier"]


def test_banks_differ_by_what_enters_and_leaves(change):
    first, second = set(change.first.bank.tolist()), set(change.second.bank.tolist())
    assert set(change.entering.tolist()) == second - first
    assert set(change.leaving.tolist()) == first - second


def test_the_sentences_count_what_the_tables_show(change):
    bank, *places = change_sentences(change)
    numbers = [int(n) for n in re.findall(r"\d+", bank)]
    assert numbers == [len(change.leaving), len(change.first.bank), len(change.entering)]
    moved = sum(row.tier_first != row.tier_second for row in change.places.itertuples())
    assert places[0].startswith(f"{moved} of 8 systems" if moved else "No system changes its tier")


def test_a_tier_less_is_told_as_what_renumbers_those_below(change):
    def with_tiers(first, second):
        places = change.places.assign(tier_first=np.array(first, float), tier_second=np.array(second, float))
        return " ".join(change_sentences(replace(change, places=places)))

    said = with_tiers([1, 2, 3, 3, 3, 3, 3, 3], [1, 1, 2, 2, 2, 2, 2, 2])
    assert "7 of 8 systems change their tier" in said
    assert (
        "There are 2 tiers instead of 3: where tiers merge or split, those below get another number" in said
    )
    assert "instead of" not in with_tiers([1, 1, 1, 1, 2, 2, 2, 2], [1, 1, 1, 2, 2, 2, 2, 2])


def test_a_scenario_beside_itself_changes_nothing(outcome):
    same = outcome("a", WIDE)
    change = compare(same, same)
    assert change_sentences(change) == (
        "Both banks hold the same 60 rubrics.",
        "No system changes its tier or its rank.",
    )


def test_the_figures_name_the_settings_that_differ_and_no_others(change):
    table = figures_table(change.first, change.second).set_index("figure")
    assert table.loc["Bank size B"].tolist() == ["60", "12"]
    assert table.loc["Rubrics in the bank"].tolist() == ["60", "12"]
    assert "Response model" not in table.index
    kept = change.second.worth.kept.estimate
    assert table.loc["Held out: separated pairs kept by the bank", "second"].startswith(f"{kept:.0%}")


def test_where_nothing_passes_the_outcome_says_so_and_claims_no_place(outcome):
    none = outcome("none", Settings(gate="kappa", tau_c=1.0))
    assert len(none.bank) == 0
    assert none.refused
    assert np.isnan(none.places["rank"]).all()
    sentences = change_sentences(compare(outcome("wide", WIDE), none))
    assert sentences[0] == "“none” has no bank."
    assert sentences[1] == f"No places can be compared: “none”: {none.refused}"


def ranks_of(change, first, second):
    ranked = {"rank_first": np.array(first, float), "rank_second": np.array(second, float)}
    tiers = {name.replace("rank", "tier"): ranks * 0 + 1 for name, ranks in ranked.items()}
    return replace(change, places=change.places.assign(**ranked, **tiers))


def test_a_system_ranked_in_one_scenario_only_is_named(change):
    """“No system changes its tier or its rank.” was said of systems that had one of the two only."""
    lost = ranks_of(change, [1, 2, 3, 4, 5, 6, 7, np.nan], [np.nan, 2, 3, 4, 5, 6, 7, np.nan])
    name = lost.places["system"][0]
    assert change_sentences(lost)[1:] == (
        "No system changes its tier or its rank.",
        f"1 system is ranked in “wide” and not in “narrow”: {name}.",
    )
    assert lost.moved["system"].to_list() == [name]
    won = ranks_of(change, [1, 2, 3, 4, 5, np.nan, np.nan, np.nan], [2, 1, 3, 4, 5, 6, 7, np.nan])
    names = won.places["system"]
    assert change_sentences(won)[1:] == (
        "No system changes its tier; 2 of 5 change their rank.",
        f"2 systems are ranked in “narrow” and not in “wide”: {names[5]} and {names[6]}.",
    )
    assert won.moved["system"].to_list() == [*names[:2], *names[5:7]]


def test_scenarios_without_a_common_ranked_system_do_not_say_that_none_changes(change):
    apart = ranks_of(change, [1, 2, 3, 4, *4 * [np.nan]], [*4 * [np.nan], 1, 2, 3, 4])
    assert change_sentences(apart)[1] == "No system is ranked in both."


def test_two_scenarios_without_a_bank_are_both_named(outcome):
    one, two = (outcome(name, Settings(gate="kappa", tau_c=1.0)) for name in ("one", "two"))
    assert change_sentences(compare(one, two))[0] == "“one” and “two” have no bank."
