"""Labels on a bank's rubrics are read as a study reads them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from crubric_core import Workspace
from crubric_core.errors import PlacementError
from crubric_core.placement.new_levels import levels_on_bank
from tests.placement.test_exports import small_bank
from tests.tiers import crossed

SYSTEMS = ("n0", "n1", "n2", "without labels")


def of_response(bank, response, tie="unknown"):
    model = "GRM" if response == "ordered" else "2PL"
    return replace(bank, settings=replace(bank.settings, model=model, tie=tie))


def labels_on(bank, runs, seed=0):
    """(labels, row): two in three of all labels that three judges could give, on the scales of the rubrics."""
    rng = np.random.default_rng(seed)
    table = bank.rubrics
    rows = [
        (system, judge, run, j, int(rng.integers(table["scale_min"][j], table["scale_max"][j] + 1)))
        for system in SYSTEMS[:3]
        for judge in ("k2", "k1", "k10")
        for run in runs
        for j in range(len(table))
        if rng.random() < 2 / 3
    ]
    found = pd.DataFrame(rows, columns=["system", "judge", "run", "row", "label"])
    return found.drop(columns="row").assign(rubric="r"), found["row"].to_numpy()


def by_a_study(bank, labels, row):
    """(y, panel, judges) by ingesting the labels under the ids of the bank and reducing them."""
    ids, settings = bank.rubrics["id"].to_numpy(dtype=object), bank.settings
    described = bank.rubrics[["scale_min", "scale_max", "pass_mark", "polarity"]].assign(rubric=ids)
    with Workspace() as ws:
        ws.ingest(described.to_csv(index=False).encode(), "d", "rubrics")
        ws.ingest(labels.assign(rubric=ids[row]).to_csv(index=False).encode(), "d")
        ds = ws.dataset("d")
        reduction = ds.reduce(settings.response, settings.tie, settings.agreement_tolerance)
        panel, judges = ds.panel(settings.response), ds.judges
    at = pd.Index(SYSTEMS).get_indexer(pd.Index(reduction.systems))
    column = pd.Index(reduction.rubrics["rubric"]).get_indexer(pd.Index(ids))
    y, whole = np.full((len(SYSTEMS), len(ids)), np.nan), np.full((len(SYSTEMS), len(ids), 3), np.nan)
    y[at], whole[at] = reduction.y[:, column], panel[:, column]
    return y, whole, judges


@pytest.mark.parametrize(
    ("reduced", "runs"),
    crossed(
        [("binary", "unknown"), ("binary", "pass"), ("ordered", "unknown")],
        [("1", "2", "3"), ("",), ("1", "2")],
    ),
)
def test_they_are_what_a_study_of_them_comes_to(reduced, runs):
    response, tie = reduced
    bank = of_response(small_bank(graded=True), response, tie)
    labels, row = labels_on(bank, runs)
    given = labels.drop(columns="run") if runs == ("",) else labels
    found, expected = levels_on_bank(bank, given, row, SYSTEMS), by_a_study(bank, given, row)
    for ours, theirs in zip(found[:2], expected[:2], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert found[2] == tuple(expected[2]) == ("k1", "k10", "k2")


def test_equal_labels_of_one_key_are_one_and_others_are_refused():
    bank = small_bank()
    labels = pd.DataFrame({"system": "n0", "judge": "k", "rubric": "kind", "label": [1.0, 1.0, 0.0]})
    row = np.array([5, 5, 5])
    y, panel, _ = levels_on_bank(bank, labels[:2], row[:2], SYSTEMS)
    assert y[0, 5] == 1.0
    assert np.isfinite(panel).sum() == 1
    with pytest.raises(
        PlacementError, match=r"3 labels contradict others on the same rubric of the bank .*'kind'"
    ):
        levels_on_bank(bank, labels, row, SYSTEMS)
