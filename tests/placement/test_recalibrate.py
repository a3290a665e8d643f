"""New systems join a bank's calibration: on its scale, with its past, and what moved has its reasons."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from crubric_core import Settings, Workspace, run_pipeline
from crubric_core.__main__ import main
from crubric_core.demo import simulate
from crubric_core.errors import PlacementError
from crubric_core.irt.abilities import estimate_abilities
from crubric_core.placement import among
from crubric_core.placement.bank_file import bank_bytes, bank_digest, read_bank, read_bank_bytes
from crubric_core.placement.bank_scale import bank_scale_of
from crubric_core.placement.judge_versions import judge_drift_on_bank
from crubric_core.placement.new_labels import labels_on_bank
from crubric_core.placement.panel import panel_record
from crubric_core.placement.place import place_systems
from crubric_core.placement.recalibrate import recalibrate, score_change
from crubric_core.placement.recalibration_words import recalibration_sentences

NEW = 5


@pytest.fixture(scope="module")
def bank_scale():
    made = simulate(seed=2, systems=12, queries=24, pool=(8, 12))
    with Workspace() as workspace:
        for kind in ("queries", "rubrics", "labels"):
            workspace.ingest(getattr(made, kind).to_csv(index=False).encode(), "small", kind)
        return bank_scale_of(run_pipeline(workspace.dataset("small"), Settings(budget=40)))


@pytest.fixture(scope="module")
def new(bank_scale):
    """Systems that follow the bank's parameters."""
    rng, fit = np.random.default_rng(4), bank_scale.fit
    theta = np.linspace(-1.5, 1.5, NEW)
    y = (rng.random((NEW, len(fit.a))) < 1 / (1 + np.exp(-fit.a * (theta[:, None] - fit.b)))).astype(float)
    return labels_on_bank(tuple(f"new {i}" for i in range(NEW)), y, ("j",))


@pytest.fixture(scope="module")
def found(bank_scale, new):
    return recalibrate(bank_scale, new)


def test_the_scale_stays_and_the_new_systems_are_on_it(bank_scale, new, found):
    assert found.bank_scale.bank_id == bank_scale.bank_id
    assert found.bank_scale.systems == (*bank_scale.systems, *new.systems)
    before = estimate_abilities(bank_scale.fit, found.bank_scale.y, bank_scale.bank).theta
    after = estimate_abilities(found.bank_scale.fit, found.bank_scale.y, bank_scale.bank).theta
    assert abs((after - before).mean()) < 0.15
    assert np.polyfit(before, after, 1)[0] == pytest.approx(1, abs=0.15)
    np.testing.assert_allclose(found.moved["theta_before"], before)
    np.testing.assert_allclose(found.moved["theta_after"], after)


def test_the_reference_keeps_the_old_and_has_the_new_as_the_bank_of_before_places_them(
    bank_scale, new, found
):
    old, joined = bank_scale.reference, found.bank_scale.reference
    np.testing.assert_array_equal(joined.theta[:12], old.theta)
    np.testing.assert_array_equal(joined.separated[:12, :12], old.separated)
    placed = place_systems(bank_scale, new).placements
    np.testing.assert_allclose(joined.theta[12:], [p.theta for p in placed])
    n = joined.units[12:]
    variance = (joined.psi[:, 12:] ** 2).sum(axis=0) * n / (n - 1)
    sd = np.array([p.theta_se for p in placed])
    assert (variance <= sd**2 + 1e-9).all()
    assert (sd**2 <= variance + joined.floor[12:]).all()


def test_a_twin_of_a_joined_system_is_not_separated_from_it(new, found):
    twins = labels_on_bank(tuple(f"{name} again" for name in new.systems), new.y, ("j",))
    for place, placement in enumerate(place_systems(found.bank_scale, twins).placements):
        assert not placement.standing.separated[-1, 12 + place]


def test_what_moves_an_ability_adds_up_to_its_move(bank_scale, found):
    y = found.bank_scale.y
    change = score_change(bank_scale.fit, found.bank_scale.fit, y, found.moved["theta_before"].to_numpy())
    moves = found.moved["theta_after"] - found.moved["theta_before"]
    np.testing.assert_allclose(change.sum(axis=1), moves, atol=0.08)
    assert np.corrcoef(change.sum(axis=1), moves)[0, 1] > 0.95


def test_the_file_carries_the_past(bank_scale, new, found):
    again = read_bank_bytes(bank_bytes(found.bank_scale), "again")
    (entry,) = again.history
    assert entry["parent_digest"] == bank_digest(bank_scale)
    assert json.loads(bank_bytes(bank_scale))["digest"] == entry["parent_digest"]
    assert entry["systems_added"] == list(new.systems)
    others = labels_on_bank(tuple(f"more {i}" for i in range(NEW)), new.y, ("j",))
    assert [e["systems_added"][0] for e in recalibrate(again, others).bank_scale.history] == [
        "new 0",
        "more 0",
    ]


def test_a_bank_without_a_past_has_the_bytes_that_it_had(bank_scale):
    assert b'"history"' not in bank_bytes(bank_scale)


def test_a_name_that_is_taken_is_refused(bank_scale, new):
    with pytest.raises(PlacementError, match="already"):
        recalibrate(bank_scale, replace(new, systems=(*new.systems[1:], bank_scale.systems[0])))


def test_a_bank_of_few_systems_is_refused_for_their_number_and_not_for_the_preset(bank_scale, new):
    few = replace(bank_scale, systems=bank_scale.systems[:4], y=bank_scale.y[:4], reference=None)
    with pytest.raises(
        PlacementError, match="needs a bank of 6 systems or more: this one was made from 4 systems"
    ):
        recalibrate(few, new)


def test_a_judge_that_turned_strict_shifts_and_moves_tiers(bank_scale, new):
    both = panel_record(("v1", "v2"), np.stack([bank_scale.y, bank_scale.y], axis=2), bank_scale.fit.levels)
    bank_scale = replace(bank_scale, panel=both)
    rng = np.random.default_rng(0)
    strict = np.where((new.y == 1) & (rng.random(new.y.shape) < 0.6), 0.0, new.y)
    labels = replace(new, judges=("v1", "v2"), panel=np.stack([new.y, strict], axis=2))
    drift, systems = judge_drift_on_bank(bank_scale, labels, "v1", "v2")
    assert drift.drifted
    assert drift.shift[2] < 0
    assert drift.flips[0] == (strict != new.y).mean()
    assert (systems["theta_new"] < systems["theta_old"]).all()
    assert systems["moved"].tolist() == (systems["tier_old"] != systems["tier_new"]).tolist()
    assert systems["moved"].any()
    assert systems["beyond_chance"].sum() >= 3
    third = (new.y == 1) & (np.cumsum(new.y == 1, axis=1) % 3 == 1)
    mild = np.stack([new.y, np.where(third, 0.0, new.y)], axis=2)
    assert (
        judge_drift_on_bank(bank_scale, replace(labels, panel=mild), "v1", "v2")[1]["beyond_chance"].sum()
        >= 3
    )
    same, still = judge_drift_on_bank(bank_scale, labels, "v1", "v1")
    assert (same.flips[0], same.drifted, still["moved"].any()) == (0.0, False, False)
    assert not still["beyond_chance"].any()
    sure = replace(bank_scale, settings=replace(bank_scale.settings, confidence=0.99))
    wider = judge_drift_on_bank(sure, labels, "v1", "v2")[0]
    assert (drift.confidence, wider.confidence) == (0.95, 0.99)
    assert wider.shift[1] < drift.shift[1] < drift.shift[2] < wider.shift[2]


def test_two_versions_that_labelled_nothing_in_common_are_told_so(bank_scale, new):
    halves = np.stack([new.y, new.y], axis=2)
    half = new.y.shape[1] // 2
    halves[:, :half, 0], halves[:, half:, 1] = np.nan, np.nan
    with pytest.raises(PlacementError, match="v1 and v2 have no cell of the bank in common"):
        judge_drift_on_bank(bank_scale, replace(new, judges=("v1", "v2"), panel=halves), "v1", "v2")


def test_tiers_move_by_chance_and_abilities_beyond_it_hardly_ever(bank_scale, monkeypatch):
    """Two versions that err alike and independently: any of five systems, in 40 tables."""
    monkeypatch.setattr(among, "ITEM_DRAWS", 2)
    fit, rng = bank_scale.fit, np.random.default_rng(8)
    moved, beyond = 0, 0
    for _ in range(40):
        truth = rng.random((5, len(fit.a))) < 1 / (1 + np.exp(-fit.a * (rng.normal(0, 1, (5, 1)) - fit.b)))
        panel = np.stack([truth ^ (rng.random(truth.shape) < 0.1) for _ in range(2)], axis=2).astype(float)
        labels = labels_on_bank(tuple("abcde"), panel[:, :, 0], ("v1", "v2"), panel)
        systems = judge_drift_on_bank(bank_scale, labels, "v1", "v2")[1]
        moved, beyond = moved + systems["moved"].any(), beyond + systems["beyond_chance"].any()
    assert moved > 15
    assert beyond <= 40 * (0.05 + 2 * np.sqrt(0.05 * 0.95 / 40))


def test_the_commands_write_a_bank_and_tell_its_history(bank_scale, new, tmp_path, capsys):
    (tmp_path / "bank.json").write_bytes(bank_bytes(bank_scale))
    rows = ["system,query,rubric,judge,label"]
    for system, row in zip(new.systems, new.y, strict=True):
        for n, label in enumerate(row):
            rubric = bank_scale.rubrics.iloc[n]
            rows += [
                f"{system},{rubric['query']},{rubric['id']},{judge},{label:.0f}" for judge in ("v1", "v2")
            ]
    labels = tmp_path / "labels.csv"
    labels.write_text("\n".join(rows))
    words = ["--bank", str(tmp_path / "bank.json"), "--labels", str(labels)]
    assert main(["recalibrate", *words, "--out", str(tmp_path / "out")]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["systems_added"] == list(new.systems)
    assert said["link"]["rubrics"] + len(said["drifted"]) == 40
    assert said["digest"] == bank_digest(read_bank(tmp_path / "out"))
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"bank.json", "moved.csv", "drift.csv"}
    assert main(["bank-history", str(tmp_path / "out")]) == 0
    first, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["change"], last["digest"]) == ("recalibrated", said["digest"])
    assert main(["judge-drift", *words, "--judges", "v1", "v2"]) == 0
    assert json.loads(capsys.readouterr().out)["flip_rate"]["value"] == 0
    assert main(["judge-drift", *words, "--judges", "v1", "v9"]) == 2
    assert main(["judge-drift", *words, "--judges", "v1", "v1"]) == 2


def test_the_sentences_say_what_the_tables_say(found):
    who, drifted = recalibration_sentences(found)
    assert who.startswith(f"{NEW} systems join the 12 of the calibration; ")
    assert all(
        (str(s) in who) == bool(m) for s, m in found.moved[["system", "moved"]].itertuples(index=False)
    )
    assert ("none is shown" in drifted) == (not found.drift_table["drifted"].any())
    assert f"by {found.link.rubrics} rubrics" in drifted


def test_the_rubrics_named_for_a_system_move_it_the_way_it_went(found):
    shifts = (found.moved["theta_after"] - found.moved["theta_before"]).tolist()
    named = [re.findall(r"\(([+-]\d\.\d\d)\)", text) for text in found.moved["because"]]
    assert any(named)
    for shift, changes in zip(shifts, named, strict=True):
        assert all(float(change) * shift > 0 for change in changes)


def test_who_moves_changes_tier_or_drifts_is_named(found):
    moved = found.moved.copy()
    moved["moved"] = [True] + [False] * 16
    moved["tier_before"], moved["tier_after"] = pd.NA, pd.NA
    moved.loc[13, ["tier_before", "tier_after"]] = [2, 1]
    flags = np.zeros(len(found.drift.flagged), dtype=bool)
    flags[3] = True
    drift = replace(
        found.drift, flagged=flags, shift=np.where(flags, 0.8, 0.0), labels=np.full(len(flags), 5)
    )
    who, drifted = recalibration_sentences(replace(found, moved=moved, drift=drift))
    assert f"; {moved['system'][0]} moves by more than one standard error." in who
    assert f"{moved['system'][13]} changes from tier 2 to tier 1." in who
    name = found.bank_scale.rubrics["rubric"].iloc[3]
    assert drifted.startswith(
        f"1 of {len(flags)} rubrics with new labels has drifted and takes no part in the link: "
    )
    assert f"{name} (harder)" in drifted
