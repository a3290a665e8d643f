"""A tier is settled when the rest of the bank would hardly change it; how often that is wrong, by simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crubric_core import Settings, Workspace, run_pipeline
from crubric_core.demo import simulate
from crubric_core.errors import PlacementError, SettingsError
from crubric_core.irt.abilities import ability_posterior, log_probabilities
from crubric_core.judging import settling
from crubric_core.judging.settling import settle, settle_one
from crubric_core.placement import among, outlook
from crubric_core.placement.bank_scale import bank_scale_of
from crubric_core.placement.new_labels import labels_on_bank
from crubric_core.placement.outlook import Forecast, Outlook, query_effect
from crubric_core.placement.place import place_systems

NOTHING = np.zeros(0, dtype=np.int64)


@pytest.fixture(scope="module")
def bank_scale():
    made = simulate(seed=2, systems=9, queries=24, pool=(8, 12))
    with Workspace() as workspace:
        for kind in ("queries", "rubrics", "labels"):
            workspace.ingest(getattr(made, kind).to_csv(index=False).encode(), "small", kind)
        return bank_scale_of(run_pipeline(workspace.dataset("small"), Settings(budget=40)))


@pytest.fixture(scope="module")
def forecast(bank_scale):
    return Forecast(bank_scale)


def drawn(bank_scale, theta, effect, rng):
    """Labels (B,) of one system as the model has them, with an effect of each query."""
    unit, n = bank_scale.query_units
    ability = theta + rng.normal(0, effect, n)[unit]
    chance = np.exp(np.diagonal(log_probabilities(bank_scale.fit, bank_scale.bank, ability)[1]))
    return (rng.random(len(chance)) < chance).astype(float)


def test_the_tier_so_far_is_that_of_place(bank_scale, forecast):
    placed = place_systems(bank_scale, labels_on_bank(bank_scale.systems, bank_scale.y, bank_scale.judges))
    expected = [int(found.standing.tier[-1]) for found in placed.placements]
    assert [forecast.outlook(y, NOTHING).tier for y in bank_scale.y] == expected
    assert len(set(expected)) > 2


def test_one_missing_label_leaves_the_tier_of_either_answer_with_its_probability(bank_scale):
    forecast = Forecast(bank_scale, effect=0.0)
    for rubric in (0, 21):
        y = bank_scale.y[3].copy()
        y[rubric] = np.nan
        found = ability_posterior(bank_scale.fit, y[None], bank_scale.bank)
        passes = np.exp(log_probabilities(bank_scale.fit, np.array([rubric]), found.nodes))[1, 0]
        chance = float((found.node_weights @ passes)[0])
        ends = [forecast.tiers(np.where(np.isnan(y), level, y)[None])[0] for level in (0.0, 1.0)]
        expected = dict.fromkeys(ends, 0.0)
        for tier, share in zip(ends, (1 - chance, chance), strict=True):
            expected[tier] += share
        shares = forecast.outlook(y, np.array([rubric])).shares
        for tier, share in expected.items():
            assert shares.get(tier, 0.0) == pytest.approx(share, abs=4 * np.sqrt(0.25 / outlook.DRAWS))


def test_nothing_missing_is_certain_and_no_label_is_nothing(bank_scale, forecast):
    whole = forecast.outlook(bank_scale.y[0], bank_scale.bank)
    assert (whole.probability, whole.open, whole.settled(0.99)) == (1.0, 0, True)
    none = forecast.outlook(np.full(len(bank_scale.bank), np.nan), bank_scale.bank)
    assert (none.tier, none.probability, none.settled(0.5)) == (0, 0.0, False)


def test_a_share_at_the_level_is_not_enough_while_it_is_drawn():
    assert not Outlook(2, 10, {2: 0.95, 3: 0.05}).settled(0.95)
    assert Outlook(2, 10, {2: 0.97, 3: 0.03}).settled(0.95)
    assert not Outlook(2, 10, {1: 0.97, 2: 0.03}).settled(0.95)


def test_the_same_labels_give_the_same_outlook(bank_scale, forecast, monkeypatch):
    monkeypatch.setattr(outlook, "DRAWS", 40)
    y = np.where(np.arange(len(bank_scale.bank)) < 12, bank_scale.y[4], np.nan)
    assert forecast.outlook(y, bank_scale.bank) == Forecast(bank_scale).outlook(y, bank_scale.bank)


def test_effects_of_queries_are_found_where_there_are_some(bank_scale):
    rng = np.random.default_rng(1)
    for effect, low, high in ((0.0, 0.0, 0.35), (0.8, 0.5, 1.0)):
        y = np.array([drawn(bank_scale, theta, effect, rng) for theta in rng.normal(0, 1, 100)])
        assert low <= query_effect(replace(bank_scale, y=y)) <= high


def test_a_settled_tier_is_changed_by_the_rest_for_at_most_the_stated_share(bank_scale, monkeypatch):
    """Looked at after every batch, with effects of queries; fewer draws than usual, for time."""
    monkeypatch.setattr(among, "DRAWS", 300)
    monkeypatch.setattr(among, "ITEM_DRAWS", 20)
    monkeypatch.setattr(outlook, "DRAWS", 100)
    monkeypatch.setattr(settling, "BATCH", 10)
    rng, forecast = np.random.default_rng(3), Forecast(bank_scale, effect=0.5)
    rows = [
        settle_one(bank_scale, forecast, drawn(bank_scale, t, 0.5, rng), 0.8) for t in rng.normal(0, 1, 50)
    ]
    early = [row for row in rows if row[2]]
    wrong = sum(tier != final for *_, tier, final in early)
    assert len(early) >= 15
    assert wrong <= 0.2 * len(early) + 2 * np.sqrt(0.16 * len(early))
    assert all(asked < available for asked, available, *_ in early)


def test_what_makes_no_sense_is_refused(bank_scale):
    with pytest.raises(SettingsError, match="not a probability"):
        settle(bank_scale, 1.0)
    with pytest.raises(PlacementError, match="no tier can be settled"):
        Forecast(replace(bank_scale, reference=None))
