"""Every system, placed again on its own labels from bank.json alone, returns to its own theta."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crubric_core import Settings, Workspace, run_pipeline
from crubric_core.irt.abilities import estimate_abilities
from crubric_core.placement.bank_file import bank_bytes, read_bank_bytes
from crubric_core.placement.bank_scale import bank_scale_of
from crubric_core.placement.new_labels import read_new_labels
from crubric_core.placement.place import place_systems
from tests.tiers import at_most

REAL = ("dialsummeval", "eulegal_prbench", "hellobench", "wildbench")


def awkward(kind, seed=5):
    """Labels and rubrics of 7 systems: shared # names, negative points, scales 0..1, 1..5, 0..3 with pass marks."""
    rng = np.random.default_rng(seed)
    rows, described = [], []
    ability = rng.normal(0, 1.2, 7)
    for q in range(12):
        for name in ("tone", "q1#a", "a", "#", "7"):
            low, high = (0, 1) if kind == "binary" else [(0, 1), (1, 5), (0, 3)][rng.integers(3)]
            points = float(rng.choice([-5, -2, 3, 8]))
            query = f"q{q}"
            described.append((query, name, low, high, points, int(rng.integers(low + 1, high + 1))))
            b = rng.normal(0, 1)
            for s, theta in enumerate(ability):
                for judge in ("j1", "j2", "j3"):
                    share = 1 / (1 + np.exp(-1.3 * (theta - b) * np.sign(points)))
                    label = low + rng.binomial(high - low, share)
                    if rng.random() > 0.05:
                        rows.append((f"s{s}", query, name, judge, label))
    labels = pd.DataFrame(rows, columns=["system", "query", "rubric", "judge", "label"])
    names = ["query", "rubric", "scale_min", "scale_max", "weight", "pass_mark"]
    return labels, pd.DataFrame(described, columns=names)


def analysed(tables, settings):
    """(bank, own theta of each system on it, labels as they were given)."""
    with Workspace() as workspace:
        for kind, table in tables.items():
            workspace.ingest(table, "study", kind)
        dataset = workspace.dataset("study")
        result = run_pipeline(dataset, settings)
        content = bank_bytes(bank_scale_of(result, dataset.panel(settings.response)))
        own = estimate_abilities(result.calibration.fit, result.reduction.y, result.chosen).theta
        known = np.isfinite(result.reduction.y[:, result.chosen]).sum(axis=1)
        names = result.reduction.systems
    return read_bank_bytes(content, "bank.json"), dict(zip(names, zip(own, known, strict=True), strict=True))


def assert_at_home(found, own):
    for system, placed in zip(found.systems, found.placements, strict=True):
        theta, known = own[system]
        assert placed.theta == pytest.approx(theta, abs=1e-6), system
        assert placed.answered == known


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("binary", Settings(budget=20)),
        ("graded", Settings(budget=20)),
        ("graded", Settings(budget=20, model="GRM")),
        ("graded", Settings(budget=20, model="1PL", tie="fail")),
    ],
)
def test_every_system_comes_home_whatever_the_names_signs_and_scales(kind, settings):
    labels, rubrics = awkward(kind)
    tables = {"rubrics": rubrics.to_csv(index=False).encode(), "labels": labels.to_csv(index=False).encode()}
    bank, own = analysed(tables, settings)
    for seed in range(at_most(1, 2)):
        mixed = labels.sample(frac=1, random_state=seed)
        found = place_systems(bank, read_new_labels(bank, mixed.to_csv(index=False).encode()))
        assert_at_home(found, own)
    alone = labels[labels["system"] == "s3"]
    assert_at_home(place_systems(bank, read_new_labels(bank, alone.to_csv(index=False).encode())), own)


def test_a_file_of_the_banks_rubrics_alone_by_id_gives_the_same():
    labels, rubrics = awkward("graded")
    tables = {"rubrics": rubrics.to_csv(index=False).encode(), "labels": labels.to_csv(index=False).encode()}
    bank, own = analysed(tables, Settings(budget=20))
    shown = bank.rubrics.assign(
        rubric=[
            n.removeprefix(f"{q}#")
            for n, q in zip(bank.rubrics["rubric"], bank.rubrics["query"], strict=True)
        ]
    )
    named = labels.merge(shown[["query", "rubric", "id"]], on=["query", "rubric"])
    by_id = named[["system", "id", "judge", "label"]].rename(columns={"id": "rubric"})
    found = read_new_labels(bank, by_id.to_csv(index=False).encode())
    assert not len(found.unused[found.unused["reason"] != "its judges are tied: there is no majority"])
    assert_at_home(place_systems(bank, found), own)


@pytest.mark.real
@pytest.mark.parametrize("name", at_most(REAL[:2], REAL))
def test_every_system_of_a_real_table_comes_home(real_data, name):
    folder = real_data / name
    kinds = [kind for kind in ("queries", "rubrics", "labels") if (folder / f"{kind}.csv").exists()]
    bank, own = analysed({kind: folder / f"{kind}.csv" for kind in kinds}, Settings(budget=60))
    labels = pd.read_csv(folder / "labels.csv", dtype=str).sample(frac=1, random_state=0)
    found = read_new_labels(bank, labels.to_csv(index=False).encode())
    assert len(found.systems) == len(own)
    assert_at_home(place_systems(bank, found), own)
