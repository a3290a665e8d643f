"""Leaving a judge out is the analysis of the labels without that judge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from crubric_core import Settings, Workspace, run_pipeline
from crubric_core.demo import simulate
from crubric_core.experiments.leave_one_judge_out import (
    JudgeInfluence,
    influence_sentence,
    leave_one_judge_out,
    pairs_changed,
)
from crubric_core.experiments.stability import AnalysisOutcome
from crubric_core.labels.store.dataset_rules import save_rules
from crubric_core.scoring_rules import Assignment, ScoringRules
from crubric_core.text import count

SETTINGS = Settings(budget=40, replicates=40, tau_c=0.6)


def analysed(labels, settings=SETTINGS):
    with Workspace() as ws:
        ws.ingest(labels.to_csv(index=False).encode(), "d", format="csv")
        return leave_one_judge_out(ws.dataset("d"), settings)


@pytest.fixture(scope="module")
def labels():
    return simulate(3, systems=7, queries=8, pool=(8, 12)).labels


def test_the_board_without_a_judge_is_that_of_the_others_labels(labels):
    found = analysed(labels)
    judges = sorted(labels["judge"].unique())
    assert found.judges["judge"].tolist() == judges
    with Workspace() as ws:
        rest = labels[labels["judge"] != judges[1]]
        ws.ingest(rest.to_csv(index=False).encode(), "d", format="csv")
        board = run_pipeline(ws.dataset("d"), SETTINGS).leaderboard.set_index("system")
    places = found.systems[found.systems["judge"] == judges[1]].set_index("system")
    np.testing.assert_allclose(places["theta_without"], board["theta"][places.index], atol=1e-9)
    np.testing.assert_array_equal(places["tier_without"], board["tier"][places.index])
    row = found.judges.set_index("judge").loc[judges[1]]
    assert row["moved"] == (places["rank"] != places["rank_without"]).sum()
    assert row["rho"] == pytest.approx(places["theta"].corr(places["theta_without"], method="spearman"))


def test_systems_are_scored_by_the_rules_of_the_dataset_with_and_without_each_judge():
    """Of fewer than six systems tiers rest on scores; those with all judges were scored by the paper's rules."""
    made = simulate(6, systems=5, queries=12, pool=(8, 12))
    rules = ScoringRules(assign=(Assignment("severity", "text", "*", "critical"),), critical=-50.0)
    with Workspace() as ws:
        for kind in ("labels", "rubrics", "queries"):
            ws.ingest(getattr(made, kind).to_csv(index=False).encode(), "d", kind)
        by_paper = leave_one_judge_out(ws.dataset("d"), SETTINGS).systems
        save_rules(ws, "d", rules)
        own = leave_one_judge_out(ws.dataset("d"), SETTINGS).systems
        said = leave_one_judge_out(ws.dataset("d"), replace(SETTINGS, rules=rules)).systems
    assert not by_paper.equals(own)
    pd.testing.assert_frame_equal(own, said)


def test_without_the_judge_who_tosses_coins_the_bank_changes_most(labels):
    one = labels[labels["judge"] == labels["judge"].iloc[0]]
    coins = one.assign(label=np.random.default_rng(0).integers(0, 2, len(one)), judge="coin")
    found = analysed(pd.concat([labels, coins]), replace(SETTINGS, tau_c=0.5)).judges.set_index("judge")
    assert found["kept"].idxmin() == "coin"


def test_without_the_only_judge_there_is_no_board_and_the_note_says_so(labels):
    found = analysed(labels[labels["judge"] == labels["judge"].iloc[0]])
    assert len(found.judges) == 1
    assert found.judges["note"].iloc[0]
    assert np.isnan(found.judges["rho"].iloc[0])
    assert len(found.systems) == 0


def test_pairs_are_counted_that_one_analysis_separates_or_both_in_opposite_order():
    def outcome(*apart):
        places = dict.fromkeys("wxyz", 0.0)
        return AnalysisOutcome((), places, places, frozenset(apart))

    full = outcome(("w", "x"), ("w", "y"), ("x", "y"), ("w", "z"))
    other = outcome(("w", "x"), ("y", "x"), ("y", "z"))
    assert pairs_changed(full, other) == {"lost": 2, "uncompared": 0, "gained": 1, "turned": 1}
    gone = AnalysisOutcome((), dict.fromkeys("xyz", 0.0), {}, frozenset())
    assert pairs_changed(full, gone) == {"lost": 1, "uncompared": 3, "gained": 0, "turned": 0}


def test_pairs_of_a_system_that_only_one_judge_ranks_are_told_beside_those_no_longer_separated():
    judges = pd.DataFrame(
        {"judge": ["a", "b"], "lost": [0, 0], "uncompared": [3, 0], "gained": [0, 0], "turned": [0, 0]}
    )
    assert influence_sentence(JudgeInfluence(judges, pd.DataFrame(), 4)).startswith(
        "Of the 4 pairs that all judges together separate, removing one judge leaves none not separated, at most 3 "
        "(without a) with a system that is not ranked, and none separated in the opposite order."
    )
    some = pd.concat([judges, pd.DataFrame({"judge": ["c"]})])
    assert "separate, removing one of the 2 that can be removed leaves none" in influence_sentence(
        JudgeInfluence(some, pd.DataFrame(), 4)
    )
    judges["uncompared"] = 0
    assert "not ranked" not in influence_sentence(JudgeInfluence(judges, pd.DataFrame(), 4))


def test_the_counts_are_those_of_the_boards(labels):
    settings = replace(SETTINGS, simultaneous=False)
    found = analysed(labels, settings)
    with Workspace() as ws:
        ws.ingest(labels.to_csv(index=False).encode(), "d", format="csv")
        compared = run_pipeline(ws.dataset("d"), settings).comparisons
    assert found.separated == compared["separated"].sum() > 0
    most = int(found.judges["lost"].max())
    said = influence_sentence(found)
    assert said.startswith(f"Of the {count(found.separated, 'pair')} that all judges together separate, ")
    assert (f"leaves at most {most} (without " in said) == (most > 0)
    assert ("none separated in the opposite order" in said) == (found.judges["turned"].max() == 0)


def test_where_nothing_is_separated_moves_are_said_to_be_chance():
    rng = np.random.default_rng(4)
    cells = [(s, q, f"{q}-{r}", k) for s in "abcdef" for q in "opqrstuv" for r in range(4) for k in "klm"]
    table = pd.DataFrame(cells, columns=["system", "query", "rubric", "judge"])
    found = analysed(table.assign(label=rng.integers(0, 2, len(table))), replace(SETTINGS, tau_c=None))
    assert found.separated == 0
    assert found.judges["moved"].max() > 0
    assert influence_sentence(found).startswith("With all judges no pair of systems is separated")


def test_nothing_is_said_where_no_judge_could_be_removed(labels):
    assert influence_sentence(analysed(labels[labels["judge"] == labels["judge"].iloc[0]])) == ""


def test_of_few_systems_the_ranks_are_those_of_the_board_by_score():
    labels = simulate(4, systems=5, queries=8, pool=(8, 12)).labels
    found = analysed(labels).systems
    places = found[found["judge"] == found["judge"].iloc[0]].set_index("system")
    with Workspace() as ws:
        ws.ingest(labels.to_csv(index=False).encode(), "d", format="csv")
        board = run_pipeline(ws.dataset("d"), SETTINGS).leaderboard.set_index("system")
    assert board["rank"][places.index].tolist() != board["theta"].rank(ascending=False)[places.index].tolist()
    np.testing.assert_array_equal(places["rank"], board["rank"][places.index].astype(float))
