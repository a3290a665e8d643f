"""Wrong arguments that a new user might pass raise an error with one sentence and a remedy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crubric_core import (
    Settings,
    Workspace,
    fit_irt,
    greedy_bank,
    item_information,
    measurability_posterior,
    run_pipeline,
)
from crubric_core.errors import CrubricError, FitError
from crubric_core.judges.dawid_skene import dawid_skene

Y = np.array([[1.0, 0, 1, 0], [0, 1, 1, 0], [1, 1, 0, 1], [0, 0, 1, 1]])
INFO, WEIGHTS = np.ones((3, 4)), np.full(3, 1 / 3)

WRONG = {
    "words for labels": lambda: fit_irt(np.array([["yes", "no"], ["no", "yes"]])),
    "complex labels": lambda: fit_irt(Y.astype(complex)),
    "nothing": lambda: fit_irt(None),
    "a model that is none": lambda: fit_irt(Y, "4PL"),
    "a quadrature that is none": lambda: fit_irt(Y, quadrature="simpson"),
    "a number for priors": lambda: fit_irt(Y, priors=3),
    "no evaluation": lambda: fit_irt(Y, max_evaluations=0),
    "a word to begin with": lambda: fit_irt(Y, start="x"),
    "parameters of other rubrics": lambda: fit_irt(Y, start=fit_irt(Y[:, :2]).items),
    "no iteration": lambda: dawid_skene(Y, 2, max_iterations=0),
    "negative weights": lambda: greedy_bank(INFO, -WEIGHTS, 2),
    "numbers for the feasible": lambda: greedy_bank(INFO, WEIGHTS, 2, np.arange(4)),
    "levels of other rubrics": lambda: fit_irt(Y, "GRM", levels=np.full(3, 2)),
    "information of no fit": lambda: item_information(None, 0.0),
    "abilities in words": lambda: item_information(fit_irt(Y), "high"),
    "a table of abilities": lambda: item_information(fit_irt(Y), np.zeros((2, 2))),
    "half a rubric": lambda: greedy_bank(INFO, WEIGHTS, 2.5),
    "less than none": lambda: greedy_bank(INFO, WEIGHTS, -1),
    "a word for the budget": lambda: greedy_bank(INFO, WEIGHTS, "2"),
    "True for the budget": lambda: greedy_bank(INFO, WEIGHTS, True),
    "no information": lambda: greedy_bank(None, None, 1),
    "words for counts": lambda: measurability_posterior(["a"], [2]),
    "counts of other rubrics": lambda: measurability_posterior([1, 2], [5]),
    "endless counts": lambda: measurability_posterior([1], [np.inf]),
    "no priors": lambda: Settings(priors=None),
    "a name for a dataset": lambda: run_pipeline("mine"),
    "a number for a workspace": lambda: Workspace(3),
    "no workspace": lambda: Workspace(None),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument_is_told_in_one_sentence_with_a_remedy(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CrubricError) as told:
        WRONG[name]()
    assert ": " in str(told.value)
    assert str(told.value).endswith(".")
    assert not list(tmp_path.iterdir())


def test_what_is_no_file_is_told_before_anything_is_stored():
    frame = pd.DataFrame({"system": ["a"], "rubric": ["r"], "judge": ["k"], "label": [1]})
    with Workspace() as ws:
        for source in (None, {"system": ["a"]}, 3):
            with pytest.raises(
                CrubricError, match="give a path, bytes, an open binary file, or a data frame"
            ):
                ws.ingest(source, "d")
        with pytest.raises(CrubricError, match="no mapping"):
            ws.ingest(b"system,rubric,judge,label\na,r,k,1", "d", mapping="system")
        with pytest.raises(CrubricError, match="no name"):
            ws.ingest(b"system,rubric,judge,label\na,r,k,1", None)
        ws.ingest(frame, "d")
        with pytest.raises(CrubricError, match="fit must be an IrtFit, not NoneType"):
            item_information(None, 0.0)
        with pytest.raises(CrubricError, match="must be a Settings, not dict"):
            run_pipeline(ws.dataset("d"), {"tau_c": 0.8})


def test_lists_tables_and_whole_numbers_are_taken_as_they_are():
    fit = fit_irt(Y.tolist())
    for same in (Y.astype(int), Y.astype(bool), Y.astype(object), pd.DataFrame(Y)):
        np.testing.assert_array_equal(fit_irt(same).theta, fit.theta)
    assert item_information(fit, 0.0).shape == (1, 4)
    order, _ = greedy_bank(INFO.tolist(), WEIGHTS.tolist(), np.int64(2))
    assert order.tolist() == [0, 1]


@pytest.mark.parametrize(("label", "said"), [("", "labels of two systems"), ("1", "different labels")])
def test_a_table_without_two_different_labels_is_no_fit(label, said):
    rows = [f"s{i},q,r{j},k,{label}" for i in range(4) for j in range(3)]
    rows = rows if label else ["s0,q,r0,k,1", *rows[1:]]
    with Workspace() as ws:
        ws.ingest("\n".join(["system,query,rubric,judge,label", *rows]).encode(), "d")
        with pytest.raises(FitError, match=said):
            run_pipeline(ws.dataset("d"))
