"""Whose labels a system's are, and where judges met, against loops over the same labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crubric_core.judges.guessing import tables_with_others
from crubric_core.labels import Workspace
from crubric_core.labels.store.judge_sums import MOST_BLOCKS, WHOLE, JudgeMeetings, JudgeShares, units_of
from tests import oracles
from tests.tiers import examples

KEYS = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 1), st.integers(0, 3))
ROWS = st.lists(st.tuples(KEYS, st.integers(1, 5)), min_size=2, max_size=60, unique_by=lambda row: row[0])


def frame(rows):
    keys, labels = zip(*rows, strict=True)
    table = pd.DataFrame(keys, columns=["system", "query", "rubric", "judge"]).assign(label=labels)
    table["rubric"] = table["query"].astype(str) + "." + table["rubric"].astype(str)
    return table.astype({name: str for name in table.columns if name != "label"})


def dataset(ws, table, name="d"):
    ws.ingest(table.to_csv(index=False).encode(), name)
    return ws.dataset(name)


@given(rows=ROWS, response=st.sampled_from(["binary", "ordered"]))
@settings(max_examples=examples(30))
def test_sums_are_those_of_the_cells_one_by_one(rows, response):
    with Workspace() as ws:
        ds = dataset(ws, frame(rows))
        panel, unit, levels = (
            ds.panel(response),
            units_of(ds.rubrics["query"]),
            ds.rubrics["levels"].to_numpy(),
        )
        shares, meetings = ds.judge_shares(response), ds.judge_meetings(response)
    levels_read = levels if response == "ordered" else np.full_like(levels, 2)
    share, error = oracles.naive_judge_shares(panel, unit)
    at_hand = JudgeShares.of_panel(panel, unit), JudgeMeetings.of_panel(panel, unit, levels_read)
    for found in (shares, at_hand[0]):
        np.testing.assert_allclose(found.share, share, atol=1e-12)
        np.testing.assert_allclose(found.error, error, atol=1e-7)
    tops = levels - 1 if response == "ordered" else np.ones(len(levels))
    tied, excess, squares = np.zeros_like(meetings.tied), np.zeros_like(meetings.excess), 0.0
    for i, j in np.ndindex(panel.shape[:2]):
        known = np.flatnonzero(~np.isnan(panel[i, j]))
        if len(known) > 1:
            tied[unit[j]][np.ix_(known, known)] += np.eye(len(known)) - 1 / len(known)
            above = (panel[i, j, known] - panel[i, j, known].mean()) / tops[j]
            excess[unit[j], known] += above
            squares += (above**2).sum()
    blocks = len(tied)
    assert not at_hand[1].tied[blocks:].any()
    assert not at_hand[1].excess[blocks:].any()
    for found in (meetings, at_hand[1]):
        np.testing.assert_allclose(found.tied[:blocks], tied, atol=1e-12)
        np.testing.assert_allclose(found.excess[:blocks], excess, atol=1e-12)
        assert found.squares == pytest.approx(squares)


def test_a_system_whose_labels_are_all_blank_hides_no_unequal_panels():
    rows = [
        ((s, q, r, s % 2), "" if s == 3 else 1 + q % 2) for s in range(4) for q in range(4) for r in (0, 1)
    ]
    with Workspace() as ws:
        found = dataset(ws, frame(rows)).judge_shares()
    assert np.isnan(found.share).tolist() == [[False] * 2] * 3 + [[True] * 2]
    assert found.beyond_chance.any(axis=1).tolist() == [False, True, False, False]
    counted = JudgeShares.of_counts(np.array([[8.0, 0.0], [0.0, 8.0], [8.0, 0.0], [0.0, 0.0]]), 4)
    assert np.array_equal(counted.beyond_chance, found.beyond_chance)
    assert not JudgeShares.of_counts(np.zeros((2, 2)), 4).beyond_chance.any()


def test_rows_of_panels_of_any_size_sum_to_nothing():
    rows = [((0, q, 0, f"{k:02}"), 1 + (q + k) % 2) for q in (0, 1) for k in range(17 + q)]
    with Workspace() as ws:
        tied = dataset(ws, frame(rows)).judge_meetings().tied
    assert np.abs(tied.sum(axis=2)).max() < 1e-12
    assert np.diagonal(tied[0])[:17] == pytest.approx(16 / 17, rel=1e-4)


def test_a_judge_who_denies_what_is_bad_is_lenient():
    """Labels of negative polarity count reversed: the same sums as of the positive rubrics that say the same."""
    rng = np.random.default_rng(2)
    good = frame([((s, q, r, k), int(rng.integers(0, 2))) for s, q, r, k in np.ndindex(4, 6, 2, 3)])
    negative = good["rubric"].str.endswith(".1")
    bad = good.assign(label=np.where(negative, 1 - good["label"], good["label"]))
    polarity = bad.assign(polarity=np.where(negative, -1, 1))
    with Workspace() as ws:
        found = [dataset(ws, table, name).judge_meetings() for name, table in (("g", good), ("b", polarity))]
        other = dataset(ws, bad, "other").judge_meetings()
    np.testing.assert_allclose(found[0].excess, found[1].excess, atol=1e-12)
    assert np.abs(found[0].excess - other.excess).max() > 0.5


@given(rows=ROWS)
@settings(max_examples=examples(30))
def test_labels_and_the_others_majorities_are_counted_as_in_the_panel(rows: list[Any]) -> None:
    with Workspace() as ws:
        ds = dataset(ws, frame(rows))
        panel, unit, found = ds.panel(), units_of(ds.rubrics["query"]), ds.tables_with_others()
    every = tables_with_others(panel, unit)
    assert np.array_equal(found, every[:, : found.shape[1]])
    assert found.sum() == every.sum()


def test_repeated_draws_of_a_judge_are_one_label():
    rows = [("m", "q", "r", "a", 0, 1), ("m", "q", "r", "a", 1, 1), ("m", "q", "r", "b", 0, 0)]
    table = pd.DataFrame(rows, columns=["system", "query", "rubric", "judge", "run", "label"])
    with Workspace() as ws:
        assert dataset(ws, table).judge_shares().share.tolist() == [[0.5, 0.5]]


def test_many_queries_are_left_out_several_at_a_time():
    table = frame([((s, q, 0, k), 1 + (s + q + k) % 2) for s in (0, 1) for q in range(250) for k in (0, 1)])
    with Workspace() as ws:
        meetings = dataset(ws, table).judge_meetings()
    assert len(meetings.tied) == MOST_BLOCKS
    assert meetings.tied.sum(axis=0).tolist() == [[250, -250], [-250, 250]]


def test_whole_shares_of_usual_panels_are_exact():
    assert all(WHOLE % n == 0 for n in range(1, 17))


def test_of_labels_counted_elsewhere_only_numbers_of_labels_are_known():
    found = JudgeShares.of_counts(np.array([[30.0, 10.0], [20.0, 20.0]]), 25)
    assert found.share.tolist() == [[0.75, 0.25], [0.5, 0.5]]
    assert found.error == pytest.approx(np.sqrt([[0.1875, 0.1875], [0.25, 0.25]]) / 5)
    assert not JudgeMeetings.unknown(2).tied.any()
