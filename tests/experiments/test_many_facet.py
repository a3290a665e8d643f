"""The board with judges on the scale: what it says, and where it cannot be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.unequal_panels import simulate
from crubric_core import Settings, Workspace
from crubric_core.experiments.many_facet import (
    EXPERIMENT,
    headline,
    many_facet,
)
from crubric_core.intervals import FEWEST_CLUSTERS


def result_of(table: pd.DataFrame, settings: Settings | None = None):
    with Workspace() as ws:
        ws.ingest(table.to_csv(index=False).encode(), "d")
        return many_facet(ws.dataset("d"), settings or Settings())


@pytest.fixture(scope="module")
def two_judges_each():
    return result_of(simulate("two judges of each system", 0.5, 3)[0])


def test_sentences_state_the_numbers_of_the_tables(two_judges_each):
    systems, judges, pairs = (two_judges_each.tables[name] for name in ("systems", "judges", "pairs"))
    assert (
        f"With judges on the scale {len(pairs)} of 66 pairs of systems are separated" in two_judges_each.found
    )
    both = int((pairs["board"] == "same").sum())
    assert f"; {both} are in both, and 0 the other way round." in two_judges_each.found
    rivals = two_judges_each.tables["judge_pairs"]
    apart, first = rivals[rivals["low"] > 0], rivals.iloc[0]
    assert f"{len(apart)} of 15 pairs of judges differ in severity at 95%" in two_judges_each.found
    shares = [f"{1 / (1 + np.exp(first[end])):.0%}" for end in ("difference", "high", "low")]
    said = f"{first['severe']} passes {shares[0]} [{shares[1]}, {shares[2]}]"
    assert said in two_judges_each.found
    assert said in headline(two_judges_each)
    assert first["difference"] == judges["severity"].max() - judges["severity"].min()
    assert systems["rank"].is_monotonic_increasing
    assert judges["severity"].is_monotonic_increasing
    assert ((judges["low"] < judges["severity"]) & (judges["severity"] < judges["high"])).all()
    assert two_judges_each.options["converged"]


def test_more_pairs_are_separated_than_by_labels_of_different_judges_and_none_the_other_way(two_judges_each):
    pairs = two_judges_each.tables["pairs"]
    assert pairs["board"].iloc[0] == "none"
    assert not (pairs["board"] == "opposite").any()
    assert (pairs["low"] > 0).all()


def test_the_severities_of_the_simulated_judges_are_found(two_judges_each):
    """Labels are wrong on a tenth of the cells, which takes from the logits: the order remains."""
    rng = np.random.default_rng([21, 3])
    rng.normal(size=12)
    lenient = dict(zip([f"j{k}" for k in range(6)], rng.normal(size=6), strict=True))
    judges = two_judges_each.tables["judges"]
    assert np.corrcoef(judges["judge"].map(lenient), -judges["severity"])[0, 1] > 0.95


def test_of_identical_systems_no_pair_is_listed():
    found = result_of(simulate("two judges of each system", 0.0, 1)[0])
    assert found.tables["pairs"].empty
    assert (
        "With judges on the scale 0 of 66 pairs of systems are separated at 95%, and 0 by the consensus. "
        in found.found
    )
    assert headline(found).startswith("With judges on the scale 0 pairs of systems are separated; where j")


def test_judges_who_are_alike_are_not_called_different():
    table = simulate("all judges label all", 0.5, 0)[0]
    table = table[table["judge"].isin(["j0", "j1"])]
    flip = (
        np.random.default_rng(0).random(len(table) // 2) < 0.5
    )  # each cell's two labels change places, or not
    wide = table.pivot_table(index=["system", "query", "rubric"], columns="judge", values="label")
    wide.loc[flip, ["j0", "j1"]] = wide.loc[flip, ["j1", "j0"]].to_numpy()
    found = result_of(wide.reset_index().melt(["system", "query", "rubric"], value_name="label"))
    assert "No two judges are shown to differ in severity at 95%." in found.found
    assert headline(found).endswith("no two judges are shown to differ in severity.")


def test_a_judge_who_guesses_is_named():
    table = simulate("all judges label all", 0.5, 0)[0]
    table = table[table["judge"].isin(["j0", "j1", "j2"])]
    assert not any("j1" in limit for limit in result_of(table).limits)
    guesses = np.random.default_rng(0).integers(0, 2, len(table))
    table = table.assign(label=table["label"].where(table["judge"] != "j1", guesses))
    assert any(limit.startswith("j1") or "j1 " in limit for limit in result_of(table).limits)


def test_rubrics_that_the_gate_drops_take_part():
    """It keeps those on which judges agree by chance, who then look equally severe."""
    table = simulate("two judges of each system", 0.5, 3)[0]
    varying = table[table.groupby("rubric")["label"].transform("nunique") > 1]
    for tau_c in (0.0, 0.6):
        judges = result_of(table, Settings(tau_c=tau_c)).tables["judges"]
        assert judges["labels"].sum() == len(varying)


def test_judges_whom_too_few_queries_link_are_named():
    table, _ = simulate("two camps of three judges", 0.5, 0)
    found = result_of(table)
    assert found.found.startswith("There is no board with judges on the scale. Too few common cells")
    assert f"on {FEWEST_CLUSTERS} queries or more" in found.found
    assert found.tables.keys() == EXPERIMENT.tables.keys()
    assert all(
        table.empty and set(table) == set(EXPERIMENT.tables[name].columns)
        for name, table in found.tables.items()
    )
    assert "no board" in headline(found)


@pytest.mark.parametrize(
    ("keep", "said"),
    [
        (lambda t: t["judge"] == "j0", "There is one judge"),
        (lambda t: t["system"] < "s05", "Abilities need 6 systems or more; there are 5"),
    ],
)
def test_where_there_is_no_such_board_the_reason_is_said(keep, said):
    table, _ = simulate("all judges label all", 0.5, 0)
    assert said in result_of(table[keep(table)]).found


def test_where_judges_labelled_different_systems_more_pairs_of_wildbench_are_separated(real_data):
    """Six of its systems were labelled by one judge alone, who is more lenient than the other two (docs/judges.md)."""
    folder = real_data / "wildbench"
    with Workspace() as ws:
        ws.ingest((folder / "labels.csv").read_bytes(), "d")
        found = many_facet(ws.dataset("d"), Settings())
    assert (
        "87 of 105 pairs of systems are separated at 95%, and 71 by the consensus; 71 are in both"
        in found.found
    )
    assert found.tables["judges"]["judge"].iloc[0].startswith("gpt-4-turbo")
