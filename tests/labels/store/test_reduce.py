"""Consensus, agreement and panels against plain loops over the same labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crubric_core.errors import DatasetError
from crubric_core.judges.consensus import majority, median_low
from crubric_core.labels import Workspace
from tests import oracles
from tests.tiers import examples

REAL = ["dialsummeval", "wildbench", "hellobench"]


def compare(ds, labels, scale_max=None, tolerances=(0, 1), texts=None):
    """Every number of every reduction equals the oracle's."""
    known = oracles.label_levels(labels, scale_max=scale_max, texts=texts)
    systems = sorted(labels["system"].unique())
    rubrics = list(ds.rubrics["rubric"])
    assert sorted(rubrics) == sorted(labels["rubric"].unique())
    assert list(ds.systems) == systems
    cases = [("binary", tie, 0) for tie in ("unknown", "fail", "pass")]
    cases += [("ordered", "unknown", tolerance) for tolerance in tolerances]
    for response, tie, tolerance in cases:
        found = ds.reduce(response, tie=tie, agreement_tolerance=tolerance)
        cells = oracles.reduce_cells(known, response, tie, tolerance)
        agree, total, most = oracles.agreement_counts(cells, rubrics)
        np.testing.assert_array_equal(found.y, oracles.consensus_matrix(cells, systems, rubrics))
        np.testing.assert_array_equal(found.n_agree, agree)
        np.testing.assert_array_equal(found.n_total, total)
        np.testing.assert_array_equal(found.max_panel, most)
        np.testing.assert_array_equal(found.unanimous, agree == total)
        assert found.n_labels == len(known)
        assert found.n_judges == labels["judge"].nunique()
        assert found.rubrics["rubric"].tolist() == rubrics


@pytest.mark.real
@pytest.mark.parametrize("name", REAL)
def test_real_tables_reduce_as_brute_force_says(real_data, name):
    folder = real_data / name
    labels = pd.read_csv(
        folder / "labels.csv", dtype={"system": str, "query": str, "rubric": str, "judge": str}
    )
    labels["label"] = pd.to_numeric(labels["label"])
    rubrics = pd.read_csv(folder / "rubrics.csv", dtype={"rubric": str})
    with Workspace() as ws:
        ws.ingest(folder / "labels.csv", name)
        compare(ws.dataset(name), labels, tolerances=(1,))
        ws.ingest(folder / "rubrics.csv", name, "rubrics")
        compare(
            ws.dataset(name),
            labels,
            dict(zip(rubrics["rubric"], rubrics["scale_max"], strict=True)),
            tolerances=(0,),
            texts=dict(zip(rubrics["rubric"], rubrics["text"], strict=True)) if "text" in rubrics else None,
        )


LABELS = st.lists(
    st.tuples(
        st.integers(0, 4), st.integers(0, 4), st.integers(0, 4), st.sampled_from([1, 2, 3, 4, 5, None])
    ),
    min_size=1,
    max_size=80,
    unique_by=lambda row: row[:3],
)


@given(rows=LABELS, top=st.sampled_from([None, 5, 7]))
@settings(max_examples=examples(40))
def test_small_tables_reduce_as_brute_force_says(rows, top):
    frame = pd.DataFrame(rows, columns=["system", "rubric", "judge", "label"]).assign(query="q")
    for column, letter in (("system", "s"), ("rubric", "r"), ("judge", "j")):
        frame[column] = letter + frame[column].astype(str)
    frame["label"] = frame["label"].astype("Int64")
    if frame["label"].nunique() < 2:
        return  # a scale of one level is widened, which test_scale covers
    with Workspace() as ws:
        ws.ingest(frame.to_csv(index=False).encode(), "d")
        scale_max = None
        if top:
            scale_max = dict.fromkeys(frame["rubric"].unique(), top)
            given_scale = pd.DataFrame({"rubric": list(scale_max), "query": "q", "scale_max": top})
            ws.ingest(given_scale.to_csv(index=False).encode(), "d", "rubrics")
        labels = frame.assign(label=frame["label"].astype(float))
        compare(ws.dataset("d"), labels, scale_max)


@given(rows=LABELS)
@settings(max_examples=examples(20))
def test_the_array_kernels_are_the_twins_of_the_sql(rows):
    text = "\n".join(f"s{s},r{r},j{k},{'' if v is None else v}" for s, r, k, v in rows)
    with Workspace() as ws:
        ws.ingest(f"system,rubric,judge,label\n{text}\n".encode(), "d")
        ds = ws.dataset("d")
        for tie in ("unknown", "fail", "pass"):
            np.testing.assert_array_equal(ds.reduce(tie=tie).y, majority(ds.panel(), tie))
        np.testing.assert_array_equal(ds.reduce("ordered").y, median_low(ds.panel("ordered")))
        assert np.sum(~np.isnan(ds.panel())) == ds.reduce().n_labels == ds.counts()["labels"]


def test_an_even_split_is_unknown_unless_told_otherwise(ws, table):
    ws.ingest(table("a q r j 1", "a q r k 0", "b q r j 1"), "d")
    ds = ws.dataset("d")
    assert [ds.reduce(tie=tie).y[0, 0] for tie in ("fail", "pass")] == [0, 1]
    assert np.isnan(ds.reduce().y[0, 0])


def test_levels_three_and_five_of_five_agree_for_a_binary_model_alone(ws, table):
    ws.ingest(table("a q r j 3", "a q r k 5", "b q r j 1", "b q r k 1"), "d")
    assert ws.dataset("d").reduce("binary").n_agree.tolist() == [2]
    assert ws.dataset("d").reduce("ordered").n_agree.tolist() == [1]
    assert ws.dataset("d").reduce("ordered", agreement_tolerance=2).n_agree.tolist() == [2]


def test_a_tolerance_says_nothing_of_pass_and_fail(ws, table):
    ws.ingest(table("a q r j 1", "a q r k 0"), "d")
    assert ws.dataset("d").reduce("binary", agreement_tolerance=1).n_agree.tolist() == [0]


def test_one_label_is_no_instance(ws, table):
    ws.ingest(table("a q r j 1", "a q r k NA", "b q r j 1", "b q r k 1"), "d")
    found = ws.dataset("d").reduce()
    assert (found.n_agree.tolist(), found.n_total.tolist(), found.max_panel.tolist()) == ([1], [1], [2])


def test_a_rubric_without_labels_stands_there_unmeasured(ws, table):
    ws.ingest(table("a q r j 1"), "d")
    ws.ingest(table("r q", "new q", header="rubric query"), "d", "rubrics")
    found = ws.dataset("d").reduce()
    assert found.rubrics["rubric"].tolist() == ["new", "r"]
    assert np.isnan(found.y[0, 0])
    assert found.max_panel.tolist() == [0, 1]


def test_counts_say_what_is_there_and_what_is_missing(ws, table):
    ws.ingest(table("a q r j 1", "a q r k 0", "b q r j 1", "b q s j NA"), "d")
    counts = ws.dataset("d").counts()
    assert counts == {
        "systems": 2, "queries": 1, "rubrics": 2, "judges": 2, "labels": 3, "blank": 1, "cells": 2, "instances": 1,
        "cells_full_panel": 1, "missing_share": 1 - 3 / 8,
    }  # fmt: skip


def test_a_dataset_without_labels_cannot_be_reduced(ws, table):
    ws.ingest(table("r q", header="rubric query"), "d", "rubrics")
    with pytest.raises(DatasetError, match="has no labels yet"):
        ws.dataset("d").reduce()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"response": "graded"}, "response"),
        ({"tie": "coin"}, "tie"),
        ({"agreement_tolerance": -1}, "tolerance"),
    ],
)
def test_a_wrong_request_is_refused(ws, table, options, expected):
    ws.ingest(table("a q r j 1"), "d")
    with pytest.raises(DatasetError, match=expected):
        ws.dataset("d").reduce(**options)


@pytest.mark.parametrize(
    ("judges", "kept", "said"),
    [
        (1, 1, "one label each"),
        (3, 3, "one label of every judge"),
        (3, 2, "2 labels each, the rounded mean of a cell (3 judges)"),
        (4, 1, "1 label each, the rounded mean of a cell (4 judges)"),
    ],
)
def test_labels_of_a_cell_are_their_rounded_mean_and_not_all_judges(ws, judges, kept, said):
    """One label that is missing changes nothing."""
    rows = [
        f"s{i},q{j},r{j},j{k},{(i + j) % 2}"
        for i in range(4)
        for j in range(8)
        for k in range(judges)
        if (k - i - j) % judges < kept
    ]
    ws.ingest("\n".join(["system,query,rubric,judge,label", *rows[1:]]).encode(), "d")
    found = ws.dataset("d").reduce()
    assert (found.labels_per_cell, found.labels_of_each) == (kept, said)
