"""What every screen says of a fit."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from crubric_core import Settings, Workspace
from crubric_core.analysis.board import limits
from crubric_core.analysis.pipeline import result_of
from crubric_core.analysis.stages import Analysis
from crubric_core.analysis.warnings import fit_warnings, ranking_warnings
from crubric_core.composition import Composition
from crubric_core.demo import simulate
from crubric_core.intervals import percentile_interval


def said(item_rest, chance):
    """The sentence on negative item–rest correlations of a fit without any other fault."""
    fit = SimpleNamespace(
        model="2PL", converged=True, quadrature="adaptive", constant=np.zeros(3, dtype=bool)
    )
    calibration = SimpleNamespace(
        y=np.zeros((2, 3)), fit=fit, item_rest=np.array(item_rest), item_rest_chance=np.array(chance)
    )
    return fit_warnings(calibration, np.ones(3, dtype=bool), Settings(budget=1))


def test_negative_correlations_are_told_beside_what_chance_gives():
    assert said([0.2, -0.1, -0.8], [0.9, 0.4, 0.01]) == (
        "2 rubrics have a negative item–rest correlation. Half of the rubrics unrelated to ability have one by "
        "chance; here 1 is further below 0 than 99 in 100 of those.",
    )
    assert said([0.2, -0.1, 0.8], [0.7, 0.4, 0.9]) == (), "none but what chance gives is no warning"
    assert said([0.2, 0.0, 0.8], [0.7, 0.5, 0.9]) == ()


@pytest.fixture(scope="module")
def dataset():
    with Workspace() as workspace:
        labels = simulate(seed=1, systems=8, queries=6, pool=(8, 10)).labels
        workspace.ingest(labels.to_csv(index=False).encode(), "small", format="csv")
        yield workspace.dataset("small")


@pytest.mark.parametrize("strategy", ["pairs", "greedy", "plain", "random", "hard_random"])
def test_a_bank_is_said_to_be_smaller_than_asked_only_where_its_strategy_has_no_more_to_choose(
    dataset, strategy
):
    rubrics = len(dataset.reduce().rubrics)
    study = Analysis.of(dataset, Settings(tau_c=0.8, strategy=strategy, budget=rubrics - 1))
    bank, said = study.bank(), " ".join(result_of(study).warnings)
    assert f"smaller than B = {rubrics - 1}: {len(bank)} rubrics can be chosen." in said
    assert sorted(bank) == np.flatnonzero(study.candidates).tolist()
    for enough in (len(bank), rubrics, 1000):  # as many as there are, or more, asks for all, as on the pages
        study = Analysis.of(dataset, Settings(tau_c=0.8, strategy=strategy, budget=enough))
        assert "smaller than B" not in " ".join(result_of(study).warnings)


def test_graded_labels_that_all_pass_are_told_as_such_with_what_tells_them_apart():
    rows = [
        f"s{i},q{q},q{q}-r{r},{3 + (i + q) % 3 if r else 1 + (i + q) % 5}"
        for i in range(6)
        for q in range(4)
        for r in (0, 1)
    ]
    with Workspace() as workspace:
        table = "\n".join(["system,query,rubric,label", *rows])
        scales = "rubric,query,scale_min,scale_max\n" + "\n".join(
            f"q{q}-r{r},q{q},1,5" for q in range(4) for r in (0, 1)
        )
        workspace.ingest(table.encode(), "graded", format="csv")
        workspace.ingest(scales.encode(), "graded", format="csv", kind="rubrics")
        said = " ".join(result_of(Analysis.of(workspace.dataset("graded"), Settings())).warnings)
        ordered = " ".join(
            result_of(Analysis.of(workspace.dataset("graded"), Settings(model="GRM"))).warnings
        )
    assert "On 4 of 8 rubrics all systems pass, or all fail, which gives no information." in said
    assert "another mark, or the model GRM, tells them apart" in said
    assert "which gives no information" not in ordered


def test_rubrics_that_may_not_be_chosen_are_not_counted(dataset):
    study = Analysis.of(dataset, Settings(budget=1000))
    never = Composition(exclusions=(study.ids()[study.bank()[0]],))
    fewer = Analysis.of(dataset, Settings(budget=1000, composition=never))
    assert fewer.candidates.sum() == study.candidates.sum() - 1 == len(fewer.bank())


def test_a_score_is_said_not_to_be_a_pass_rate_and_points_do_not_count_as_said():
    rng = np.random.default_rng(3)
    passes = rng.random((6, 12)) < np.linspace(0.2, 0.9, 6)[:, None]
    passes[:, 0] = True
    rows = [f"s{i},q{j // 3},q{j // 3}-{j},{int(passes[i, j])}" for i in range(6) for j in range(12)]
    points = [f"q{j // 3}-{j},q{j // 3},{1 + 9 * (j % 2)}" for j in range(12)]
    scores = []
    with Workspace() as workspace:
        for name in ("plain", "points"):
            workspace.ingest("\n".join(["system,query,rubric,label", *rows]).encode(), name, format="csv")
        workspace.ingest(
            "\n".join(["rubric,query,weight", *points]).encode(), "points", format="csv", kind="rubrics"
        )
        for name in ("plain", "points"):
            study = Analysis.of(workspace.dataset(name), Settings())
            scores.append(study.ranking().table.set_index("system")["score"].sort_index())
            said = " ".join(limits(study.board()))
    assert scores[0].equals(scores[1])
    assert np.abs(scores[0] - passes.mean(axis=1)).max() > 0.05
    assert "The score S is not the share of rubrics passed" in said
    assert "their points in the source do not count" in said


def ranked(method):
    """A ranking none of whose systems is saturated."""
    return SimpleNamespace(method=method, ability=SimpleNamespace(saturated=np.zeros(6)))


@pytest.mark.parametrize(
    ("replicates", "confidence"), [(2, 0.95), (20, 0.95), (99, 0.95), (299, 0.99), (4, 0.8)]
)
def test_of_few_replicates_it_is_told_how_often_their_intervals_hold_their_value(replicates, confidence):
    (said,) = ranking_warnings(ranked("bootstrap"), Settings(replicates=replicates, confidence=confidence))
    told = float(re.search(r"in about (\d+)% of cases", said)[1]) / 100
    rng = np.random.default_rng(0)
    low, high = percentile_interval(rng.normal(size=(replicates, 20_000)), confidence)
    held = (stats.norm.cdf(high) - stats.norm.cdf(low)).mean()
    assert told == pytest.approx(held, abs=0.03)
    assert told < confidence


def test_of_enough_replicates_and_of_intervals_by_query_nothing_is_told():
    assert ranking_warnings(ranked("bootstrap"), Settings(replicates=100)) == ()
    assert ranking_warnings(ranked("bootstrap"), Settings(replicates=300, confidence=0.99)) == ()
    assert ranking_warnings(ranked("units"), Settings(replicates=2)) == ()


def test_a_result_tells_that_its_replicates_are_few(dataset):
    found = result_of(Analysis.of(dataset, Settings(population="rubrics", replicates=10)))
    assert any(warning.startswith("10 bootstrap replicates are too few") for warning in found.warnings)
