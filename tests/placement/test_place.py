"""From a folder that build wrote and a file of labels to a place: what is read, what is refused, what is said."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

from benchmarks.placement import simulated
from crubric_core import Settings, Workspace, fit_irt, run_pipeline
from crubric_core.__main__ import main
from crubric_core.analysis.export import write_result
from crubric_core.errors import PlacementError
from crubric_core.files import json_bytes, read_csv
from crubric_core.irt.abilities import estimate_abilities
from crubric_core.placement.bank_file import read_bank, write_bank
from crubric_core.placement.bank_scale import bank_scale_of
from crubric_core.placement.new_labels import labels_on_bank, read_new_labels
from crubric_core.placement.place import place_systems
from tests.experiments import conftest as study
from tests.tiers import at_most

HOSTILE = {"s0": "=cmd()", "s1": "'=cmd()", "s2": "NA", "s3": "12"}
RUBRICS = {"r00": "=SUM(A1)", "r01": "'-1", "r02": "007", "r03": "nan"}

PAPER = partial(Settings.preset, "paper", quadrature="adaptive", replicates=10)


# For what does not depend on the model: one of them, all in the thorough tier.
any_model = pytest.mark.parametrize("built", ["2PL", "GRM", "3PL"][: at_most(1, 3)], indirect=True)


def labels_of(scale=1):
    labels, _ = study.small_study(seed=2, systems=9, scale=scale)
    return labels.replace({"system": HOSTILE, "rubric": RUBRICS})


@pytest.fixture(scope="module", params=["2PL", "3PL", "GRM"])
def built(request, tmp_path_factory):
    """(result, folder, labels) of a study with every kind of name."""
    settings = Settings.preset(
        "paper", model=request.param, quadrature="adaptive", tau_c=0.3, budget=14, replicates=40, seed=3
    )
    labels, folder = labels_of(3 if request.param == "GRM" else 1), tmp_path_factory.mktemp("bank")
    with Workspace() as workspace:
        study.ingest(workspace, "study", labels)
        result = run_pipeline(workspace.dataset("study"), settings)
        write_bank(bank_scale_of(result, workspace.dataset("study").panel(settings.response)), folder)
    write_result(result, folder)
    return result, folder, labels


def placed(folder, labels, **options):
    bank_scale = read_bank(folder)
    return place_systems(
        bank_scale, read_new_labels(bank_scale, labels.to_csv(index=False).encode(), **options)
    )


def test_the_files_hold_all_that_the_analysis_knew(built):
    result, folder, _ = built
    here, there = bank_scale_of(result), read_bank(folder)
    for name in ("a", "b", "thresholds", "levels", "constant"):
        expected = getattr(here.fit, name)
        if expected is None:
            assert getattr(there.fit, name) is None
        else:
            np.testing.assert_array_equal(getattr(there.fit, name), expected)
    for name in ("y", "bank", "weights"):
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name))
    assert (there.systems, there.judges) == (here.systems, here.judges)
    assert there.rubrics["rubric"].tolist() == here.rubrics["rubric"].tolist()


def test_the_others_stand_as_on_the_leaderboard(built):
    result, folder, labels = built
    found = placed(folder, labels[labels["system"] == "s5"].assign(system="mine"))
    board = result.leaderboard.set_index("system").loc[list(result.reduction.systems)]
    standing = found.placements[0].standing
    np.testing.assert_allclose(found.placements[0].abilities[:-1], board["theta"], atol=1e-6)
    np.testing.assert_allclose(standing.theta_low[:-1], board["theta_low"], atol=1e-6)
    np.testing.assert_allclose(standing.theta_high[:-1], board["theta_high"], atol=1e-6)


def test_the_same_labels_give_the_same_ability_as_in_the_analysis(built):
    result, folder, labels = built
    found = placed(folder, labels.assign(system=labels["system"] + " again"))
    board = result.leaderboard.set_index("system")
    for system, row in found.table.set_index("system").iterrows():
        twin = board.loc[system.removesuffix(" again")]
        assert row["theta"] == pytest.approx(twin["theta"], abs=1e-6)
        assert row["theta_low"] == pytest.approx(twin["theta_low"], abs=1e-6)
    y, bank = result.reduction.y, result.chosen
    alone = estimate_abilities(result.calibration.fit, y, bank).theta
    np.testing.assert_allclose(found.table["theta"], alone, atol=1e-6)


def test_a_bank_of_all_rubrics_gives_the_fits_own_abilities():
    labels = labels_of()
    with Workspace() as workspace:
        study.ingest(workspace, "study", labels)
        result = run_pipeline(
            workspace.dataset("study"),
            PAPER(tau_c=0.0, budget=1000),
        )
        found = place_systems(
            bank_scale_of(result), read_new_labels(bank_scale_of(result), labels.to_csv(index=False).encode())
        )
    np.testing.assert_allclose(found.table["theta"], fit_irt(result.reduction.y).theta, atol=1e-7)


@any_model
def test_what_to_judge_next_are_the_banks_rubrics_without_a_label(built):
    result, folder, labels = built
    bank = result.bank["rubric"].tolist()
    mine = labels[labels["system"] == "s5"].assign(system="mine")
    some = placed(folder, mine[mine["rubric"].isin(bank[:6])])
    assert set(some.next_best[0]["rubric"]) == set(bank[6:])
    assert some.next_best[0]["expected_information"].is_monotonic_decreasing
    done = placed(folder, mine[mine["rubric"].isin(bank)])
    assert done.next_best[0].empty


@any_model
def test_labels_outside_the_bank_are_listed_each_with_its_reason(built):
    result, folder, labels = built
    mine = labels[labels["system"] == "s5"].assign(system="mine")
    odd = pd.DataFrame([("mine", "q99", "unheard of", "j0", 1)], columns=mine.columns)
    found = placed(folder, pd.concat([mine, odd]))
    on_bank = mine["rubric"].isin(set(result.bank["rubric"]))
    assert len(found.unused) == (~on_bank).sum() + 1
    assert set(found.unused["reason"]) == {"no rubric of this bank"}
    assert "unheard of" in set(found.unused["rubric"])
    assert any(f"{len(found.unused)} labels are not used" in note for note in found.notes)


@any_model
def test_a_label_on_the_bank_that_cannot_be_used_stops_the_placement(built):
    result, folder, labels = built
    mine = labels[labels["system"] == "s5"].assign(system="mine")
    odd = pd.DataFrame([("mine", "q00", result.bank["rubric"][0], "j9", 77)], columns=mine.columns)
    both = pd.concat([mine, odd])
    with pytest.raises(PlacementError, match=r"77 lies outside the scale.*--allow-unused"):
        placed(folder, both)
    assert any("1 row of the file cannot be used" in n for n in placed(folder, both, allow_unused=True).notes)


@any_model
def test_labels_outside_the_bank_may_be_on_another_scale(built):
    result, folder, labels = built
    mine = labels[labels["system"] == "s5"].assign(system="mine")
    graded = mine[~mine["rubric"].isin(result.bank["rubric"])].assign(label=9)
    found = placed(folder, pd.concat([mine[mine["rubric"].isin(result.bank["rubric"])], graded]))
    assert len(found.unused) == len(graded)
    assert set(found.unused["reason"]) == {"no rubric of this bank"}
    np.testing.assert_array_equal(found.table["theta"], placed(folder, mine).table["theta"])


@any_model
@pytest.mark.parametrize(
    ("judges", "expected"),
    [
        ({"j0": "new judge", "j1": "another"}, "Judged by another and new judge, not by the bank's panel"),
        ({}, "Only 2 of the bank's 3 judges"),
    ],
)
def test_another_panel_is_said(built, judges, expected):
    _, folder, labels = built
    mine = labels[(labels["system"] == "s5") & (labels["judge"] != "j2")].assign(system="mine")
    assert any(expected in note for note in placed(folder, mine.replace({"judge": judges})).notes)


@any_model
def test_of_a_panel_that_is_partly_the_banks_both_who_is_new_and_who_is_missing_is_said(built):
    _, folder, labels = built
    mine = labels[labels["system"] == "s5"].assign(system="mine")
    said = [
        f"Judged also by jx, not of the bank's panel (j0, j1 and j2){but}: "
        for but in (", and not by j2", "")
    ]
    for table, start in (
        (mine.replace({"judge": {"j2": "jx"}}), said[0]),
        (pd.concat([mine, mine[mine["judge"] == "j2"].assign(judge="jx")]), said[1]),
    ):
        assert any(note.startswith(start) for note in placed(folder, table).notes)


def test_beyond_the_banks_systems_is_said_to_be_extrapolated(built):
    _, folder, labels = built
    best = labels[labels["system"] == "s5"].assign(system="mine", label=labels["label"].max())
    assert any("passes every rubric" in note for note in placed(folder, best).notes)


@any_model
def test_where_systems_are_compared_on_the_bank_alone_nothing_is_said_of_other_rubrics(built):
    _, folder, labels = built
    assert np.isnan(read_bank(folder).transfer)
    assert not any("beyond sampling" in note for note in placed(folder, labels).notes)


def test_labels_that_do_not_touch_the_bank_are_refused(built):
    _, folder, labels = built
    elsewhere = labels[labels["system"] == "s5"].assign(rubric=lambda t: "x" + t["rubric"])
    with pytest.raises(
        PlacementError,
        match=r"No label is on any of the 14 rubrics of the bank [0-9a-f]{12} .*: name rubrics as bank\.csv",
    ):
        placed(folder, elsewhere)


def test_a_bank_of_one_rubric_is_not_said_to_have_several():
    labels = labels_of()
    with Workspace() as workspace:
        study.ingest(workspace, "study", labels)
        one = bank_scale_of(run_pipeline(workspace.dataset("study"), PAPER(tau_c=0.0, budget=1)))
    elsewhere = labels.assign(rubric=lambda t: "x" + t["rubric"]).to_csv(index=False).encode()
    with pytest.raises(PlacementError, match=r"^No label is on the only rubric of the bank [0-9a-f]{12} "):
        read_new_labels(one, elsewhere)


def test_labels_off_the_scale_alone_are_refused_with_the_scale(built):
    _, folder, labels = built
    with pytest.raises(
        PlacementError, match=r"No label of the file is on the bank .* 77 lies outside the scale"
    ):
        placed(folder, labels[labels["system"] == "s5"].assign(label=77))


def test_tables_come_back_as_they_were(built):
    result, folder, _ = built
    for name in ("items", "bank"):
        table = read_csv(folder / f"{name}.csv")
        expected = getattr(result, name)
        assert table["rubric"].tolist() == expected["rubric"].tolist()
        for column in expected.select_dtypes("number"):
            np.testing.assert_array_equal(table[column], expected[column].to_numpy(dtype=float))


@any_model
def test_the_command_gives_the_same_bytes_every_time(built, tmp_path, capsys):
    result, folder, labels = built
    labels[labels["system"] == "s5"].assign(system="mine").to_csv(tmp_path / "mine.csv", index=False)
    said = []
    for out in ("a", "b"):
        code = main(
            [
                "place",
                "--bank",
                str(folder),
                "--labels",
                str(tmp_path / "mine.csv"),
                "--out",
                str(tmp_path / out),
            ]
        )
        assert code == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    for name in ("placement.json", "placement.csv", "next_best.csv", "unused.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    found = json.loads(said[0])["systems"][0]
    assert found["system"] == "mine"
    assert set(found["p_ahead_of"]) == set(result.reduction.systems)
    assert len(found["p_rank_at_most"]) == len(result.reduction.systems) + 1


def test_a_name_that_queries_share_is_told_apart_by_its_query():
    labels, _ = study.small_study(seed=2, systems=9)
    labels["rubric"] = "criterion " + (labels["rubric"].str[1:].astype(int) % study.PER_QUERY).astype(str)
    with Workspace() as workspace:
        study.ingest(workspace, "study", labels)
        result = run_pipeline(
            workspace.dataset("study"),
            PAPER(tau_c=0.3, budget=14),
        )
    bank_scale = bank_scale_of(result)
    mine = labels[labels["system"] == "s5"].assign(system="mine")
    found = place_systems(bank_scale, read_new_labels(bank_scale, mine.to_csv(index=False).encode()))
    theta = result.leaderboard.set_index("system").loc["s5", "theta"]
    assert found.table["theta"].tolist() == pytest.approx([theta])


def test_a_small_bank_draws_new_systems_to_the_middle_as_the_page_says():
    theta, abilities, labels, bank_scale = simulated(0.7, 0, twins=False)
    names = tuple(f"new {i}" for i in range(len(labels)))
    placed = place_systems(bank_scale, labels_on_bank(names, labels, bank_scale.judges)).table["theta"]
    slope, old = (
        np.polyfit(true, found, 1)[0]
        for true, found in ((abilities, placed), (theta, bank_scale.reference.theta))
    )
    assert 0.5 * old < slope < 0.95 * old


def test_the_posterior_and_the_standard_error_of_a_placement_are_two_things():
    _, _, labels, bank_scale = simulated(0.7, 0, twins=False)
    names = tuple(f"new {i}" for i in range(len(labels)))
    found = place_systems(bank_scale, labels_on_bank(names, labels, bank_scale.judges)).table
    posterior = estimate_abilities(bank_scale.fit, labels, bank_scale.bank)
    np.testing.assert_allclose(found["theta_sd"], posterior.sd)
    width = found["posterior_high"] - found["posterior_low"]
    np.testing.assert_allclose(width, 2 * 1.96 * posterior.sd, rtol=0.05)
    assert (found["theta_se"] >= 0.95 * found["theta_sd"]).all()
    assert (found["theta_high"] - found["theta_low"] > width).all()


@pytest.mark.parametrize(
    ("systems", "queries", "why"),
    [(9, 1, "only a bootstrap of the bank's rubrics"), (5, study.QUERIES, "was made from 5 systems")],
)
def test_where_the_notes_deny_rank_and_tier_they_are_unknown(systems, queries, why):
    """The JSON had a rank, a tier and the probability of places beside the note that these are no claims."""
    labels, _ = study.small_study(seed=2, systems=systems)
    if queries == 1:
        labels["query"] = "q00"
    with Workspace() as workspace:
        study.ingest(workspace, "study", labels)
        dataset = workspace.dataset("study")
        result = run_pipeline(dataset, Settings(tau_c=0.3, budget=14, replicates=40))
        bank_scale = bank_scale_of(result, dataset.panel())
    mine = labels[labels["system"] == "s1"].assign(system="mine")
    found = place_systems(bank_scale, read_new_labels(bank_scale, mine.to_csv(index=False).encode()))
    assert sum("Rank and tier are unknown" in note and why in note for note in found.notes) == 1
    assert not any("too few for a rank" in note for note in found.notes)
    (row,) = json.loads(json_bytes(found.record(bank_scale)))["systems"]
    unknown = ("rank", "rank_low", "rank_high", "tier", "tiers")
    assert [row[name] for name in unknown] == [None] * 5
    assert {*row["p_ahead_of"].values(), *row["p_rank_at_most"]} == {None}
    assert None not in (row["theta"], row["theta_se"])
