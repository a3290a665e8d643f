"""A block of queries is analysed as if nothing else were there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from crubric_core import Settings, Workspace, run_pipeline
from crubric_core.errors import DatasetError
from crubric_core.experiments import run_experiment
from crubric_core.experiments.blocks import EXPERIMENT, by_block, headline
from crubric_core.experiments.held_out_systems import held_out_systems
from crubric_core.experiments.parts import BlockSnapshot, blocks, find_block
from tests.experiments.conftest import ingest, query_table, rubric_table, small_study

FAST = Settings(tau_c=0.5, budget=8, replicates=20)


def only(frame, queries):
    return frame[frame["query"].isin(queries)]


@pytest.fixture(scope="module")
def law(workspace):
    """The part of one domain, and a dataset into which nothing but that domain was read."""
    ds = workspace.dataset("gold")
    block = find_block(ds.queries, FAST.tau_t, "domain", "law")
    with Workspace() as ws:
        ingest(ws, "law", only(rubric_table(), block.queries), "rubrics")
        ingest(ws, "law", only(query_table(), block.queries), "queries")
        ingest(ws, "law", only(small_study()[0], block.queries))
        ingest(ws, "law", only(ds.gold(), block.queries), "gold")
        ingest(ws, "law", ds.reference_ranking().drop(columns="rank"), "reference")
        yield BlockSnapshot(ds, FAST, block), ws.dataset("law")


def test_a_part_has_the_labels_agreement_and_people_of_its_queries_alone(law):
    part, alone = law
    here, there = (ds.reduce(FAST.response, FAST.tie, FAST.agreement_tolerance) for ds in law)
    for name in ("y", "levels", "n_agree", "n_total", "max_panel", "unanimous", "split"):
        np.testing.assert_array_equal(getattr(here, name), getattr(there, name), err_msg=name)
    for name, values in vars(here.pairs).items():
        np.testing.assert_allclose(values, getattr(there.pairs, name), err_msg=name)
    assert (here.systems, here.n_judges, here.n_labels) == (there.systems, there.n_judges, there.n_labels)
    np.testing.assert_array_equal(part.panel(), alone.panel())
    assert part.queries["query"].tolist() == alone.queries["query"].tolist()
    assert len(part.gold()) == len(alone.gold())


@pytest.mark.parametrize("name", ["sweep", "perturbation", "ablation"])
def test_an_experiment_on_a_part_is_that_of_a_dataset_that_holds_nothing_else(law, name):
    here, there = (run_experiment(name, ds, FAST) for ds in law)
    for key, table in here.tables.items():
        pd.testing.assert_frame_equal(table, there.tables[key])
    assert here.fingerprint != there.fingerprint


def test_the_analysis_runs_on_a_part(law):
    here, there = (run_pipeline(ds, FAST) for ds in law)
    pd.testing.assert_frame_equal(here.leaderboard, there.leaderboard)


def test_blocks_are_the_domains_then_the_task_types_that_are_sure(workspace):
    queries = workspace.dataset("gold").queries
    found = [(block.kind, block.name, len(block.queries)) for block in blocks(queries, 0.5)]
    assert found[:2] == [("domain", "health", 6), ("domain", "law", 6)]
    assert {kind for kind, *_ in found[2:]} == {"task type"}
    assert sum(n for kind, _, n in found if kind == "task type") == queries["task_type"].notna().sum()


def test_a_block_that_is_not_there_is_refused_with_the_names_of_all(workspace):
    with pytest.raises(DatasetError, match="health, law"):
        find_block(workspace.dataset("gold").queries, 0.5, "domain", "finance")
    with pytest.raises(DatasetError, match="none has a domain"):
        find_block(workspace.dataset("one judge").queries, 0.5, "domain", "law")


def test_each_block_has_the_figures_of_its_own_experiments_and_the_headline_counts_them(workspace):
    ds = workspace.dataset("gold")
    result = by_block(ds, FAST, repeats=1, splits=2)
    table = result.frame().set_index("block")
    part = BlockSnapshot(ds, FAST, find_block(ds.queries, FAST.tau_t, "domain", "law"))
    together = replace(FAST, confidence=1 - 0.05 / len(list(blocks(ds.queries, FAST.tau_t))))
    alone = held_out_systems(part, together, repeats=1, selectors=("pairs", "greedy", "random"))
    ahead = alone.tables["ahead"].query("selector == 'random' and measure == 'tau'").iloc[0]
    assert table.loc["law", "pairs"] == alone.frame().set_index("selector").loc["pairs", "tau"]
    row = table.loc["law", ["to_random", "to_random_low", "to_random_high"]]
    assert tuple(row) == tuple(ahead[["difference", "low", "high"]]), (
        "intervals that hold in all blocks at once"
    )
    assert set(table.index) | set(result.tables["skipped"]["block"]) == {
        block.name for block in blocks(ds.queries, FAST.tau_t)
    }
    known = table.dropna(subset=["to_random_low"])
    better, worse = (known["to_random_low"] > 0).sum(), (known["to_random_high"] < 0).sum()
    said = headline(result)
    assert f"{len(known)} blocks" in said
    assert f"in {better}, worse in {worse}" in said
    assert f"from them in {len(known) - better - worse}." in said


def test_without_a_block_the_sentence_says_so_and_counts_none(workspace):
    result = by_block(workspace.dataset("one judge"), FAST, repeats=1, splits=2)
    assert result.found == headline(result) == "No domain or task type has enough data to hold systems out."
    assert result.limits == ()


def test_cells_on_which_judges_are_divided_are_those_of_the_part(law):
    part, _ = law
    reduction = part.reduce(FAST.response, FAST.tie, FAST.agreement_tolerance)
    assert reduction.split.size
    assert np.isnan(reduction.y[tuple(reduction.split)]).all()
    assert (~np.isnan(part.panel()[tuple(reduction.split)])).any(axis=-1).all()


def test_task_types_are_shown_in_words_and_domains_as_they_are_written():
    table = pd.DataFrame({"kind": ["task type", "domain"], "block": ["evidence_reasoning", "law_of_torts"]})
    shown = EXPERIMENT.tables["held_out"].shown(table)
    assert shown["block"].tolist() == ["evidence reasoning", "law_of_torts"]
