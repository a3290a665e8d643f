"""Systems listed twice: a copy in the fit tells it of the labels of the one that is held out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from benchmarks.claims_copies import of_copies, with_copies
from crubric_core import Settings, Workspace, fit_irt, run_pipeline
from crubric_core.labels.repeated_systems import distinct_systems, repeated_of
from crubric_core.leaderboard.cross_fit import assign_folds, cross_fit
from tests.irt.conftest import simulate
from tests.tiers import at_most


@pytest.mark.parametrize("repeated", [1.0, 0.9])
def test_systems_that_repeat_each_other_are_one(repeated):
    y, _ = with_copies((2, 1, 1, 2, 1, 1), repeated, 3)
    assert distinct_systems(y).tolist() == [0, 0, 1, 2, 3, 3, 4, 5]
    y[np.random.default_rng(0).random(y.shape) < 0.2] = np.nan
    assert distinct_systems(y).tolist() == [0, 0, 1, 2, 3, 3, 4, 5]


@pytest.mark.parametrize("seed", range(5))
def test_other_systems_are_different_however_alike_their_ability(seed):
    rng = np.random.default_rng(seed)
    b = rng.normal(0, 1.2, 200)
    for theta in (np.zeros(15), np.r_[3.0, 3.0, -np.ones(13)], rng.normal(size=40)):
        y = (rng.random((len(theta), 200)) < expit(theta[:, None] - b)).astype(float)
        assert distinct_systems(y).tolist() == list(range(len(y)))


@pytest.mark.parametrize("size", [7, 15, 40])
def test_rubrics_that_nearly_all_follow_the_ability_make_no_copies(size):
    """Neighbours then have nearly the same labels; by these alone forty systems were thirty."""
    rng = np.random.default_rng(size)
    a, b = 6 * np.exp(rng.normal(0, 0.4, 300)), rng.normal(0, 1.2, 300)
    y = (rng.random((size, 300)) < expit(a * (rng.normal(size=(size, 1)) - b))).astype(float)
    assert distinct_systems(y).tolist() == list(range(size))


@pytest.mark.parametrize("rubrics", [128, 400])
@pytest.mark.parametrize("seed", range(4))
def test_neighbours_of_sixty_on_sharp_graded_rubrics_are_no_copies(rubrics, seed):
    """Of 128 rubrics few are uncertain for either; on average seven of the sixty were taken for others."""
    rng = np.random.default_rng(seed)
    slope, ability = 6 * np.exp(rng.normal(0, 0.5, (rubrics, 1))), rng.normal(size=(60, 1, 1))
    steps = rng.normal(0, 1.2, (rubrics, 1)) + rng.normal(size=(rubrics, 4))
    y = (rng.random((60, rubrics, 1)) < expit(slope * (ability - steps))).sum(axis=2).astype(float)
    assert distinct_systems(y).tolist() == list(range(60))
    assert (repeated_of(y[:50], y[50:]) == -1).all()


def test_good_systems_are_no_copies_for_passing_nearly_all():
    y = np.ones((8, 300))
    y[:4, :9] = 0.0  # four of them fail the same nine
    y[4:] = np.random.default_rng(1).random((4, 300)) < 0.5
    assert distinct_systems(y).tolist() == list(range(8))


@pytest.mark.parametrize(
    "y", [np.zeros((0, 5)), np.zeros((5, 0)), np.full((3, 40), np.nan), np.ones((3, 40))]
)
def test_without_labels_that_vary_all_are_different(y):
    assert distinct_systems(y).tolist() == list(range(len(y)))


def test_graded_labels_tell_copies_too():
    y = np.random.default_rng(2).integers(0, 5, (7, 60)).astype(float)
    y[4] = y[1]
    assert distinct_systems(y).tolist() == [0, 1, 2, 3, 1, 4, 5]


@pytest.mark.parametrize(("rubrics", "systems"), [(29, 7), (40, 6)])
def test_on_few_rubrics_equal_labels_make_no_copy(rubrics, systems):
    y = np.random.default_rng(5).integers(0, 2, (7, rubrics)).astype(float)
    y[4] = y[1]
    assert len(set(distinct_systems(y).tolist())) == systems


@pytest.mark.parametrize("size", [12, 60])
def test_copies_are_of_one_fold(size):
    theta = np.random.default_rng(0).normal(size=size)
    distinct = np.arange(size) % (size - 3)
    fold = assign_folds(theta, distinct)
    assert sorted(set(fold.tolist())) == list(range(size - 3 if size < 40 else 10))
    assert (fold[-3:] == fold[:3]).all()
    np.testing.assert_array_equal(assign_folds(theta, np.arange(size)), assign_folds(theta))


def test_the_labels_of_a_copy_do_not_touch_the_parameters_that_place_it():
    y = simulate(8, 80, seed=4).y
    y[5] = y[3]
    pooled, changed = fit_irt(y), y.copy()
    changed[[3, 5]] = 1 - changed[[3, 5]]
    varies = ~pooled.constant & ~fit_irt(changed).constant
    first, second = (cross_fit(labels, pooled) for labels in (y, changed))
    assert first.fold[3] == first.fold[5]
    before, after = (cross.items[cross.fold[3]] for cross in (first, second))
    np.testing.assert_array_equal(before.a[varies], after.a[varies])


def test_equal_systems_that_are_listed_twice_are_rarely_separated():
    """Each row left out alone, one of four of these boards showed a difference."""
    tables = at_most(20, 100)
    alone, board = np.mean([of_copies((2,) * 6, 1.0, seed) for seed in range(tables)], axis=0)
    assert alone > 0.15
    assert board <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / tables)


def test_of_few_systems_listed_twice_the_claims_are_about_scores():
    y, query = with_copies((4, 4), 1.0, 0)
    rows = [
        (f"q{query[j]:02}", f"r{j:03}", f"s{i}", judge, int(y[i, j]))
        for i, j in np.ndindex(y.shape)
        for judge in "xy"
    ]
    table = pd.DataFrame(rows, columns=["query", "rubric", "system", "judge", "label"])
    with Workspace() as workspace:
        workspace.ingest(table.to_csv(index=False).encode(), "d", "labels")
        found = run_pipeline(workspace.dataset("d"), Settings())
    assert "Fewer than 6 systems, copies counted once: the claims are about scores" in " ".join(
        found.claims.basis
    )
    assert not found.comparisons["separated"].any()
