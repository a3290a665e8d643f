from __future__ import annotations

import numpy as np
import pytest

from crubric_core.bank.peers import (
    anchor_points,
    best_of_random,
    features_of_labels,
    fluid_orders,
    gp_irt_weight,
    p_irt,
)
from crubric_core.errors import AssemblyError
from crubric_core.irt.abilities import log_probabilities
from crubric_core.irt.fit import fit_irt
from crubric_core.irt.information import item_information
from tests.bank.test_item_posterior import table

RNG = np.random.default_rng


def test_anchor_points_of_clear_clusters_are_one_of_each_with_its_share():
    centres = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    kind = np.repeat([0, 1, 2], [10, 30, 60])
    features = centres[kind] + RNG(0).normal(0, 0.1, (100, 2))
    found = anchor_points(features, np.arange(100), 3, RNG(1))
    assert sorted(kind[found.rubrics]) == [0, 1, 2]
    assert dict(zip(kind[found.rubrics].tolist(), found.weights, strict=True)) == pytest.approx(
        {0: 0.1, 1: 0.3, 2: 0.6}
    )


def test_an_anchor_point_is_the_candidate_nearest_to_its_centre():
    features = np.array([[0.0], [1.0], [2.2], [50.0], [51.0]])
    found = anchor_points(features, np.array([0, 1, 2]), 1, RNG(0))
    assert found.rubrics.tolist() == [1]
    assert found.weights.tolist() == [1]


def test_fewer_different_rubrics_than_asked_for_give_fewer_anchor_points():
    features = np.repeat([[0.0], [1.0]], 10, axis=0)
    found = anchor_points(features, np.arange(20), 5, RNG(0))
    assert len(found.rubrics) == 2
    assert found.weights.sum() == pytest.approx(1)


def test_weighted_anchor_points_give_the_pools_score_where_clusters_are_copies():
    y, _, _ = table(9, 6)
    copies = np.repeat(np.arange(6), [1, 5, 10, 20, 3, 8])
    found = anchor_points(features_of_labels(y[:, copies]), np.arange(47), 6, RNG(0))
    np.testing.assert_allclose(found.score(y[:, copies]), y[:, copies].mean(axis=1))


def test_features_fill_an_unknown_label_with_its_rubrics_mean():
    shares = np.array([[1.0, np.nan], [0.0, np.nan], [np.nan, np.nan]])
    assert features_of_labels(shares).tolist() == [[1.0, 0.0, 0.5], [0.0, 0.0, 0.0]]


def test_best_of_random_is_the_subset_of_least_leave_one_out_error():
    y, _, _ = table(8, 12)
    found = best_of_random(y, np.arange(12), 3, RNG(0), subsets=40)
    keys = RNG(0).random((40, 12))
    errors, lines = [], []
    for key in keys:
        chosen, target = np.sort(np.argpartition(key, 2)[:3]), y.mean(axis=1)
        left_out = []
        for i in range(8):
            rest = np.delete(np.arange(8), i)
            line = np.polyfit(y[rest][:, chosen].mean(axis=1), target[rest], 1)
            left_out.append(target[i] - np.polyval(line, y[i, chosen].mean()))
        errors.append(np.sqrt(np.mean(np.square(left_out))))
        lines.append(chosen)
    assert found.rubrics.tolist() == lines[int(np.argmin(errors))].tolist()
    line = np.polyfit(y[:, found.rubrics].mean(axis=1), y.mean(axis=1), 1)
    np.testing.assert_allclose(found.score(y), np.polyval(line, y[:, found.rubrics].mean(axis=1)))


def test_best_of_random_needs_systems_to_test_on_and_survives_subsets_without_spread():
    y = np.ones((4, 6))
    assert best_of_random(y, np.arange(6), 2, RNG(0), subsets=5).score(y).tolist() == [1, 1, 1, 1]
    with pytest.raises(AssemblyError, match="needs 3 systems"):
        best_of_random(y[:2], np.arange(6), 2, RNG(0))


def test_best_of_random_passes_over_subsets_on_which_a_system_has_no_label():
    y, _, _ = table(8, 12)
    y[0, :9] = np.nan
    found = best_of_random(y, np.arange(12), 3, RNG(0), subsets=60)
    assert (found.rubrics >= 9).any()


def test_fluid_asks_the_most_informative_rubric_at_the_ability_so_far():
    y, _, _ = table(40, 60)
    fit, nodes = fit_irt(y), np.linspace(-4, 4, 161)
    log_chances = log_probabilities(fit, np.arange(60), nodes)
    info = item_information(fit, nodes)
    (order,) = fluid_orders(y[:1], log_chances, info, nodes, 10)
    posterior = -0.5 * nodes**2
    for step, rubric in enumerate(order):
        left = np.setdiff1d(np.arange(60), order[:step])
        theta = nodes[posterior.argmax()]
        assert rubric == left[item_information(fit, np.array([theta]))[0, left].argmax()]
        posterior = posterior + log_chances[int(y[0, rubric]), rubric]


def test_fluid_never_asks_for_a_label_that_is_not_there():
    y, _, _ = table(30, 20)
    fit, nodes = fit_irt(y), np.linspace(-4, 4, 81)
    new = np.where(np.arange(20) < 8, y[0], np.nan)[None]
    (order,) = fluid_orders(
        new, log_probabilities(fit, np.arange(20), nodes), item_information(fit, nodes), nodes, 20
    )
    assert sorted(order) == [j for j in range(8) if not fit.constant[j]]


def test_p_irt_takes_labels_where_there_are_any_and_the_model_elsewhere():
    expected = np.array([[0.9, 0.9, 0.2, 0.4]])
    assert p_irt(np.array([1.0]), expected, np.array([0, 1])) == pytest.approx(0.5 * 1 + 0.5 * 0.3)
    assert p_irt(np.array([0.7]), expected, np.arange(4)) == pytest.approx(0.7)


def test_gp_irt_trusts_the_labels_more_the_more_there_are_and_the_worse_the_model_is():
    few, many, poor = gp_irt_weight(0.03, 0.2, 10), gp_irt_weight(0.03, 0.2, 100), gp_irt_weight(0.3, 0.2, 10)
    assert 0 < few < min(many, poor)
    assert many == pytest.approx(0.03**2 / (0.03**2 + 0.2 / 400))
    assert gp_irt_weight(0.0, 0.0, 10) == 0
