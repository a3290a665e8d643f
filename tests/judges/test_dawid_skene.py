"""Dawid–Skene against a label-by-label EM, and what anchors and gaps do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crubric_core import Settings, Workspace
from crubric_core.analysis.fitted import posterior_warnings, reduce_labels
from crubric_core.errors import SettingsError
from crubric_core.judges.anchors import gold_levels
from crubric_core.judges.dawid_skene import dawid_skene
from crubric_core.judges.posterior import posterior_labels
from tests import oracles


def noisy(seed, units=80, judges=3, levels=3, missing=0.15):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, levels, units)
    wrong = rng.integers(0, levels, (units, judges))
    labels = np.where(rng.random((units, judges)) < 0.75, truth[:, None], wrong).astype(float)
    labels[rng.random(labels.shape) < missing] = np.nan
    return truth.astype(float), labels


@pytest.mark.parametrize("levels", [2, 3, 5])
@pytest.mark.parametrize("anchored", [False, True])
def test_every_step_is_that_of_the_textbook(levels, anchored):
    truth, labels = noisy(levels, levels=levels)
    labels = labels[~np.isnan(labels).all(axis=1)]
    anchors = np.where(np.arange(len(labels)) % 4 == 0, truth[: len(labels)], np.nan) if anchored else None
    fit = dawid_skene(labels, levels, anchors, tolerance=-np.inf, max_iterations=25)
    posterior, _ = oracles.naive_dawid_skene(labels, levels, 25, anchors)
    np.testing.assert_allclose(fit.posterior, posterior, atol=1e-9)
    assert fit.iterations == 25
    assert not fit.converged


def test_each_step_gains_likelihood_until_it_converges():
    _, labels = noisy(7)
    gains = [dawid_skene(labels, 3, tolerance=-np.inf, max_iterations=n).loglik for n in range(1, 30)]
    assert (np.diff(gains) > -1e-9).all()
    done = dawid_skene(labels, 3)
    assert done.converged
    assert done.loglik >= gains[-1]


def test_the_truth_is_recovered_better_than_by_the_majority_when_one_judge_is_careless():
    rng = np.random.default_rng(0)
    truth, votes = oracles.simulate_judges(4000, [0.95, 0.6, 0.6], [0.95, 0.6, 0.6], 0.5, rng)
    fit = dawid_skene(votes, 2)
    majority = (votes.mean(axis=1) > 0.5).astype(float)
    assert (fit.level() == truth).mean() > (majority == truth).mean() + 0.1
    np.testing.assert_allclose(fit.confusion[:, 1, 1], [0.95, 0.6, 0.6], atol=0.05)


def test_anchors_stay_put_and_teach_the_others():
    """Two of three judges call everything below level 2 a 0: only anchors can tell what level 1 looks like."""
    truth, labels = noisy(3, units=600, levels=3, missing=0)
    labels[:, :2] = np.where(labels[:, :2] == 1, 0, labels[:, :2])
    anchors = np.where(np.arange(600) < 60, truth, np.nan)
    plain, anchored = dawid_skene(labels, 3), dawid_skene(labels, 3, anchors)
    np.testing.assert_array_equal(anchored.level()[:60], truth[:60])
    rest = slice(60, None)
    assert (anchored.level()[rest] == truth[rest]).mean() > (plain.level()[rest] == truth[rest]).mean()


def test_a_unit_without_a_label_stays_unknown_and_counts_for_nothing():
    _, labels = noisy(4, missing=0)
    gaps = np.vstack([labels, np.full((50, 3), np.nan)])
    full, padded = dawid_skene(labels, 3), dawid_skene(gaps, 3)
    np.testing.assert_allclose(padded.prior, full.prior, atol=1e-12)
    assert np.isnan(padded.posterior[-50:]).all()
    assert np.isnan(padded.level()[-50:]).all()


def test_a_judge_without_labels_has_no_confusion_matrix():
    _, labels = noisy(5, missing=0)
    fit = dawid_skene(np.column_stack([labels, np.full(len(labels), np.nan)]), 3)
    assert np.isnan(fit.confusion[3]).all()
    np.testing.assert_allclose(fit.posterior, dawid_skene(labels, 3).posterior, atol=1e-12)


def test_one_judge_alone_is_taken_at_his_word():
    labels = np.array([[0.0], [1.0], [1.0], [np.nan]])
    np.testing.assert_array_equal(dawid_skene(labels, 2).level(), labels[:, 0])


@pytest.mark.parametrize("wrong", [-1.0, 3.0, 0.5])
def test_a_label_off_the_scale_is_refused(wrong):
    with pytest.raises(SettingsError, match="labels hold"):
        dawid_skene(np.array([[wrong]]), 3)
    with pytest.raises(SettingsError, match="n_levels"):
        dawid_skene(np.array([[0.0]]), 1)


def test_rubrics_with_different_scales_are_fitted_apart():
    _, three = noisy(6, units=40, missing=0)
    panel = np.stack([three.reshape(20, 2, 3), (three > 1).astype(float).reshape(20, 2, 3)], axis=1)
    panel = panel.reshape(20, 4, 3)
    found = posterior_labels(panel, np.array([3, 3, 2, 2]))
    assert set(found.fits) == {2, 3}
    alone = dawid_skene(panel[:, 2:].reshape(-1, 3), 2)
    np.testing.assert_array_equal(found.y[:, 2:].reshape(-1), alone.level())
    assert (found.probability >= 1 / 3).all()


def test_equally_likely_is_a_tie_and_follows_the_rule_for_ties():
    panel = np.array([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]])
    levels = np.array([2, 2])
    assert np.isnan(posterior_labels(panel, levels).y).all()
    assert (posterior_labels(panel, levels, tie="fail").y == 0).all()
    assert (posterior_labels(panel, levels, tie="pass").y == 1).all()


@pytest.fixture
def careless(ws):
    """Three judges, two of them near coins, with gold on every fifth rubric, on the scale 1..2."""
    return beside_one_who_is_right(ws, others=0.6)


def beside_one_who_is_right(ws, others):
    rng = np.random.default_rng(2)
    truth, votes = oracles.simulate_judges(10 * 60, [0.97, others, others], [0.97, others, others], 0.5, rng)
    names = pd.MultiIndex.from_product([[f"s{i}" for i in range(10)], [f"r{j:02d}" for j in range(60)]])
    cells = pd.DataFrame(
        {"system": names.get_level_values(0), "rubric": names.get_level_values(1), "query": "q"}
    )
    labels = pd.concat([cells.assign(judge=f"j{k}", label=votes[:, k].astype(int) + 1) for k in range(3)])
    gold = cells.assign(annotator="a", label=truth.astype(int) + 1)[cells["rubric"].str.endswith(("0", "5"))]
    ws.ingest(labels.to_csv(index=False).encode(), dataset="d", format="csv")
    ws.ingest(gold.to_csv(index=False).encode(), dataset="d", kind="gold", format="csv")
    return ws.dataset("d"), truth.reshape(10, 60)


@pytest.fixture
def ws():
    with Workspace() as workspace:
        yield workspace


@pytest.mark.parametrize("model", ["2PL", "GRM"])
def test_the_consensus_can_be_the_posterior_label_with_gold_clamped(careless, model):
    ds, truth = careless
    majority = reduce_labels(ds, Settings(model=model))
    posterior = reduce_labels(ds, Settings(model=model, consensus="dawid_skene"))
    gold = gold_levels(ds.gold(), majority)
    anchored = ~np.isnan(gold)
    assert anchored.sum() == 10 * 12
    np.testing.assert_array_equal(posterior.y[anchored], gold[anchored])
    free = ~anchored
    assert (posterior.y[free] == truth[free]).mean() > (majority.y[free] == truth[free]).mean() + 0.1
    np.testing.assert_array_equal(posterior.n_agree, majority.n_agree)


def test_labels_that_follow_from_one_of_many_rates_are_said_to(ws, monkeypatch):
    ds, _ = beside_one_who_is_right(ws, others=0.5)
    settings = Settings(consensus="dawid_skene")
    reduction = reduce_labels(ds, settings)
    said = "Dawid–Skene labels: fewer than 3 judges are shown to tell passes from fails"
    assert not any(note.startswith(said) for note in posterior_warnings(ds, reduction, settings))
    no_gold = ds.gold().iloc[:0]
    monkeypatch.setattr(ds, "gold", lambda: no_gold)
    assert posterior_warnings(ds, reduction, settings)[0].startswith(said)
    assert posterior_warnings(ds, reduction, Settings()) == ()


def test_gold_of_unknown_systems_and_off_the_scale_is_left_out(careless):
    ds, _ = careless
    reduction = ds.reduce()
    gold = pd.DataFrame(
        {
            "system": ["s0", "s0", "nobody", "s1", "s1", "s2"],
            "query": "q",
            "rubric": ["r00", "r00", "r00", "r01", "r01", "r02"],
            "annotator": ["a", "b", "a", "a", "b", "a"],
            "label": [1, 1, 2, 1, 2, 7],
        }
    )
    found = gold_levels(gold, reduction)
    assert found[0, 0] == 0
    assert np.isnan(found).sum() == found.size - 1, "a tie, a stranger and a 7 of 2 tell nothing"
    assert np.isnan(gold_levels(gold[:0], reduction)).all()


def test_a_consensus_of_another_kind_is_refused():
    with pytest.raises(SettingsError, match="consensus = 'average'"):
        Settings(consensus="average")


@pytest.mark.real
def test_a_real_table_of_five_levels_gives_the_textbooks_posteriors(real_data, ws):
    ws.ingest(real_data / "dialsummeval" / "labels.csv", dataset="d")
    labels = ws.dataset("d").panel("ordered").reshape(-1, 3)[::7]
    fit = dawid_skene(labels, 5, tolerance=-np.inf, max_iterations=15)
    np.testing.assert_allclose(fit.posterior, oracles.naive_dawid_skene(labels, 5, 15)[0], atol=1e-6)
