"""The conclusions of docs/experiments.md are those of its numbers."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crubric_core import Settings
from crubric_core.experiments import EXPERIMENTS, run_experiment
from crubric_core.text import numeral
from docs.experiments import CLAIMS, SIZES, cell, conclusions, head, headlines

FAST = Settings(tau_c=0.5, budget=8, replicates=20)
NAMES = ("demo", "wildbench", "hellobench")


@given(st.floats(-1, 1), st.one_of(st.just(float("nan")), st.floats(0, 1)))
def test_a_difference_is_bold_where_its_interval_excludes_0(value, half):
    said = cell((value, value - half, value + half))
    assert (said == "—") == np.isnan(half)
    assert said.startswith("**") == (value - half > 0 or value + half < 0)


@pytest.fixture(scope="module")
def results(workspace):
    ds = workspace.dataset("gold")
    sizes = {"crossfit": {"splits": 3}, "new_systems": {"repeats": 1}, "perturbation": {"seeds": 3}}
    names = {claim.experiment for claim in CLAIMS}
    return {
        name: run_experiment(name, ds, FAST, **sizes.get(name, {})) for name in EXPERIMENTS if name in names
    }


def test_every_claim_has_the_numbers_of_its_experiment(results):
    text = conclusions({"gold": results})
    crossfit = results["crossfit"].frame().set_index("strategy")
    ahead = results["new_systems"].tables["ahead"].set_index(["selector", "measure"])
    expected = {
        "Pairs minus random rubrics, on held-out rubrics": crossfit.loc["random", "delta"],
        "Pairs minus the paper's greedy, on held-out": crossfit.loc["greedy", "delta"],
        "Greedy minus plain information": crossfit.loc["plain", "greedy_delta"],
        "Pairs minus random rubrics, on systems": ahead.loc[("random", "tau"), "difference"],
        "Pairs minus fluid-benchmarking": ahead.loc[("fluid", "tau"), "difference"],
        "κ behind the strictest gate": results["sweep"].frame()["unread"].iloc[-1],
    }
    for what, value in expected.items():
        assert re.search(rf"^\| {re.escape(what)}[^|]*\| (\*\*)?{numeral(value, '.3f')} \[", text, re.M), what


def test_a_change_that_nothing_shows_is_unknown(results):
    untyped = replace(results["perturbation"], tables={"flips": results["perturbation"].frame().iloc[:0]})
    said = conclusions({"gold": {**results, "perturbation": untyped}})
    line = next(line for line in said.splitlines() if line.startswith("| The gap with 30%"))
    assert line.endswith("| — |")


def test_headlines_are_those_of_the_results_and_sizes_are_stated(results):
    text = headlines({"gold": results}).replace("\\", "")
    for name, result in results.items():
        assert EXPERIMENTS[name].headline(result) in text
    stated = " ".join(head(SIZES, NAMES).split())
    for name, given_sizes in SIZES.items():
        for key, value in given_sizes.items():
            assert f"{key} = {value}" in stated
            assert key in EXPERIMENTS[name].parameters
