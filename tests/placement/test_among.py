"""A new system is compared with the others at their full-pool, cross-fitted abilities (docs/method.md §13)."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from crubric_core import Settings, Workspace, run_pipeline
from crubric_core.analysis.reference import reference_systems
from crubric_core.demo import simulate
from crubric_core.errors import PlacementError
from crubric_core.experiments.hold_out import hold_out
from crubric_core.irt.abilities import estimate_abilities
from crubric_core.leaderboard.places import tiers_by_first, tiers_by_neighbour
from crubric_core.leaderboard.reference import Reference
from crubric_core.placement.bank_file import bank_bytes, read_bank_bytes
from crubric_core.placement.bank_scale import bank_scale_of
from crubric_core.placement.new_labels import labels_on_bank
from crubric_core.placement.outlook import Forecast
from crubric_core.placement.place import place_systems
from crubric_core.placement.recalibrate import recalibrate

SYSTEMS = 9


@pytest.fixture(scope="module")
def study():
    made = simulate(seed=2, systems=SYSTEMS, queries=24, pool=(8, 12))
    with Workspace() as workspace:
        for kind in ("queries", "rubrics", "labels"):
            workspace.ingest(getattr(made, kind).to_csv(index=False).encode(), "small", kind)
        yield workspace.dataset("small")


@pytest.fixture(scope="module")
def result(study):
    return run_pipeline(study, Settings(budget=60))


def placed_again(result):
    """Every system of the analysis, given its own labels on the bank as if it were new."""
    y = result.reduction.y[:, np.sort(result.chosen)]
    labels = labels_on_bank(result.reduction.systems, y, result.judges)
    return place_systems(bank_scale_of(result), labels)


def test_its_own_labels_give_a_system_its_own_ability_on_the_bank(result):
    own = estimate_abilities(result.calibration.fit, result.reduction.y, result.chosen).theta
    found = placed_again(result)
    np.testing.assert_allclose([p.theta for p in found.placements], own, atol=1e-6)
    for placement, row in zip(found.placements, result.reduction.y, strict=True):
        assert placement.answered == np.isfinite(row[result.chosen]).sum()


@pytest.mark.parametrize(("label", "side"), [(1.0, 1), (0.0, -1)])
def test_who_passes_or_fails_everything_is_separated_on_the_closed_side_alone(result, label, side):
    rubrics = result.reduction.y[0, np.sort(result.chosen)]
    labels = labels_on_bank(("new",), np.full((1, len(rubrics)), label), result.judges)
    (found,) = place_systems(bank_scale_of(result), labels).placements
    apart = found.standing.separated[-1, :-1]
    assert apart.any()
    assert (side * (found.abilities[-1] - found.abilities[:-1])[apart] > 0).all()
    beyond = replace(bank_scale_of(result), reference=shifted(bank_scale_of(result).reference, side * 9.0))
    (found,) = place_systems(beyond, labels).placements
    assert not found.standing.separated[-1].any(), "its interval reaches all of these"


def shifted(reference, by):
    """The same reference systems, all so much better."""
    return replace(reference, theta=reference.theta + by, low=reference.low + by, high=reference.high + by)


def test_the_others_keep_their_place_on_the_whole_pool(result):
    reference = reference_systems(result)
    for placement in placed_again(result).placements:
        np.testing.assert_array_equal(placement.abilities[:-1], reference.theta)
        np.testing.assert_array_equal(placement.standing.separated[:-1, :-1], reference.separated)


def test_tiers_are_those_of_the_banks_rule(result):
    bank_scale, rubrics = bank_scale_of(result), result.reduction.y[:, np.sort(result.chosen)]
    labels = labels_on_bank(result.reduction.systems, rubrics, result.judges)
    adjacent = replace(bank_scale, settings=replace(bank_scale.settings, tier_rule="adjacent"))
    for scale, by_rule in ((bank_scale, tiers_by_first), (adjacent, tiers_by_neighbour)):
        forecast = Forecast(scale).tiers(rubrics)
        for placement, tier in zip(place_systems(scale, labels).placements, forecast, strict=True):
            standing = placement.standing
            expected = by_rule(placement.abilities, standing.separated)
            np.testing.assert_array_equal(standing.tier, expected)
            assert tier == expected[-1]
    one, other = (place_systems(scale, labels).placements for scale in (bank_scale, adjacent))
    assert any((a.standing.tier != b.standing.tier).any() for a, b in zip(one, other, strict=True))


def draw(rng, theta, a, b, shift):
    """Pass or fail of systems on rubrics, each query with an effect of its own on each system."""
    effect = rng.normal(0, 0.5, (len(theta), shift.max() + 1))[:, shift]
    return (rng.random(effect.shape) < 1 / (1 + np.exp(-a * (theta[:, None] - b) - effect))).astype(float)


def test_a_fresh_copy_of_a_ranked_system_is_rarely_separated_from_its_twin():
    """Compared with in-sample bank abilities, 71 to 81% of such copies are."""
    apart = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        theta, query = rng.normal(0, 1, 12), np.arange(300) // 10
        a, b = np.exp(rng.normal(0, 0.4, 300)), rng.normal(0, 1.2, 300)
        old, copies = draw(rng, theta, a, b, query), draw(rng, theta, a, b, query)
        rows = [f"s{i:02},q{query[j]:02},r{j:03},judge,{old[i, j]:.0f}" for i, j in np.ndindex(old.shape)]
        with Workspace() as workspace:
            table = "\n".join(["system,query,rubric,judge,label", *rows])
            workspace.ingest(table.encode(), "t", "labels", format="csv")
            made = run_pipeline(workspace.dataset("t"), Settings(budget=60))
        rows = np.sort(made.chosen)
        twins = labels_on_bank(tuple(f"copy {i}" for i in range(12)), copies[:, rows], ("judge",))
        found = place_systems(bank_scale_of(made), twins).placements
        apart += [p.standing.separated[-1, i] for i, p in enumerate(found)]
    assert np.mean(apart) <= 0.07


def test_a_system_held_out_finds_the_rank_that_all_rubrics_give_it(study, result):
    board = result.leaderboard.set_index("system")["rank"]
    held = []
    for system in result.reduction.systems:
        standing = place_systems(*hold_out(study, Settings(budget=60), system)).placements[0].standing
        held.append(standing.rank_low[-1] <= board[system] <= standing.rank_high[-1])
    assert np.mean(held) >= 8 / 9


def test_rank_and_tier_agree_with_the_separated_pairs(result):
    for placement in placed_again(result).placements:
        standing, theta = placement.standing, placement.abilities
        apart = standing.separated[-1]
        assert standing.rank_low[-1] == 1 + (apart & (theta > theta[-1])).sum()
        assert standing.rank_high[-1] == SYSTEMS + 1 - (apart & (theta < theta[-1])).sum()
        first = min(np.flatnonzero(standing.tier == standing.tier[-1]), key=lambda i: -theta[i])
        assert not standing.separated[first, -1]


def test_a_system_that_passes_everything_has_an_open_interval(result):
    perfect = labels_on_bank(("perfect",), np.ones((1, len(result.chosen))), result.judges)
    standing = place_systems(bank_scale_of(result), perfect).placements[0].standing
    assert standing.theta_high[-1] == np.inf
    assert np.isfinite(standing.theta_low[-1])


def test_the_reference_comes_back_from_json_as_it_was(result):
    reference = reference_systems(result)
    back = Reference.from_record(json.loads(json.dumps(reference.record())))
    for name in ("theta", "psi", "floor", "units", "saturated", "low", "high", "separated"):
        np.testing.assert_array_equal(getattr(back, name), getattr(reference, name))
    assert back.queries == reference.queries


def test_the_references_queries_are_those_of_its_contributions(result):
    reference = reference_systems(result)
    assert reference.psi.shape == (len(reference.queries), SYSTEMS)


def test_the_papers_in_sample_bank_has_no_such_reference(study):
    paper = run_pipeline(study, Settings.preset("paper", budget=30, replicates=20))
    assert reference_systems(paper) is None


@pytest.fixture(scope="module")
def two_groups():
    """The bank of systems that were asked even queries, or odd ones."""
    made = simulate(seed=2, systems=SYSTEMS, queries=24, pool=(8, 12))
    even = made.labels["query"].isin(sorted(made.queries["query"])[::2])
    first = made.labels["system"].isin(sorted(made.labels["system"].unique())[:5])
    with Workspace() as workspace:
        for kind, table in (
            ("queries", made.queries),
            ("rubrics", made.rubrics),
            ("labels", made.labels[even == first]),
        ):
            workspace.ingest(table.to_csv(index=False).encode(), "groups", kind)
        return bank_scale_of(run_pipeline(workspace.dataset("groups"), Settings(budget=60)))


def placed_on(bank_scale, *rows):
    names = tuple(f"new {n}" for n in range(len(rows)))
    return place_systems(bank_scale, labels_on_bank(names, np.stack(rows), bank_scale.judges))


def test_a_new_system_is_ranked_among_those_that_share_its_queries(two_groups):
    one, other = two_groups.y[0], two_groups.y[-1]
    found = placed_on(two_groups, one, other)
    for placement, group in zip(found.placements, (np.arange(5), np.arange(5, SYSTEMS)), strict=True):
        ranked = np.flatnonzero(np.isfinite(placement.standing.rank))
        np.testing.assert_array_equal(ranked, [*group, SYSTEMS])
        assert sorted(placement.standing.rank[ranked]) == list(range(1, len(group) + 2))
        assert placement.standing.rank_high[-1] <= len(group) + 1
    reference, rubrics = two_groups.reference, two_groups.rubrics.set_index("id")
    for table, members in zip(found.next_best, (slice(0, 5), slice(5, None)), strict=True):
        theirs = np.array(reference.queries)[(reference.psi[:, members] != 0).any(axis=1)]
        assert set(rubrics.loc[table["id"], "query"]) <= set(theirs)
    assert any("form 2 groups that share too few queries for a common scale" in note for note in found.notes)


def test_a_new_system_that_answers_for_both_groups_is_compared_with_none(two_groups):
    both = np.where(np.isnan(two_groups.y[0]), two_groups.y[-1], two_groups.y[0])
    found = placed_on(two_groups, both)
    assert np.isfinite(found.placements[0].theta)
    assert np.isnan(found.placements[0].standing.rank).all()
    assert not found.placements[0].standing.separated[-1].any()
    assert any(note.endswith("it is compared with no system.") for note in found.notes)


def test_groups_stay_in_a_banks_file_and_in_its_recalibration(two_groups):
    back = read_bank_bytes(bank_bytes(two_groups), "bank.json")
    np.testing.assert_array_equal(back.reference.group, two_groups.reference.group)
    np.testing.assert_array_equal(back.reference.without(0).group, two_groups.reference.group[1:])
    both = np.where(np.isnan(back.y[0]), back.y[-1], back.y[0])
    new = labels_on_bank(("copy", "both"), np.stack([back.y[-1], both]), back.judges)
    joined = recalibrate(back, new).bank_scale.reference.group
    assert joined[-2] == joined[-3]
    assert joined[-1] not in joined[:-1]


def test_no_tier_is_settled_among_systems_without_a_common_scale(two_groups):
    with pytest.raises(PlacementError, match="too few queries for a common scale"):
        Forecast(two_groups)


def test_a_held_out_system_is_as_unusual_as_the_others_would_be_by_parameters_fitted_without_them(study):
    """By those of a fit that has read their labels every one of the others looks usual, and most new ones do not."""
    told = 0
    for system in study.systems:
        bank_scale, labels = hold_out(study, Settings(budget=60), system)
        assert bank_scale.person_fit.shape == (SYSTEMS - 1,)
        told += any("follows the scale less" in note for note in place_systems(bank_scale, labels).notes)
    assert told <= 2


@pytest.mark.parametrize(("share", "noted"), [(1.0, True), (0.95, True), (0.0, False)])
def test_a_version_of_a_banks_system_is_noted_for_what_the_bank_knows_of_it(result, share, noted):
    """Of equal systems, one in seven such versions was separated from some system (docs/placement.md)."""
    bank_scale, rng = bank_scale_of(result), np.random.default_rng(3)
    at = int(np.argmin(np.abs(np.nanmean(bank_scale.y, axis=1) - 0.5)))
    old, name = bank_scale.y[at], bank_scale.systems[at]
    y = np.where(rng.random(old.shape) < share, old, 1 - old if noted else rng.integers(0, 2, len(old)))
    notes = place_systems(bank_scale, labels_on_bank(("version 2",), y[None], result.judges)).notes
    said = f"{(y == old).sum()} of {np.isfinite(old + y).sum()} labels of version 2 are those of {name}"
    assert any(said in note for note in notes) == noted
    again = place_systems(bank_scale, labels_on_bank((name,), y[None], result.judges)).notes
    same = (
        f"those of the bank's own {name}"
        if noted
        else f"{name} is the name of one of the bank's systems, too"
    )
    assert any(same in note for note in again)
