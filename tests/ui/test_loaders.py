"""No stage reads a setting that its cache key leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crubric_core import Priors, Settings, Workspace
from crubric_core.analysis import pipeline
from crubric_core.demo import simulate
from crubric_core.labels.store.dataset import Dataset
from crubric_core.scoring_rules import Assignment, ScoringRules
from crubric_core.ui.loaders import UNREAD, Study

OTHER: dict[str, Any] = {
    "tau_c": 0.55,
    "budget": 7,
    "quadrature": "grid",
    "priors": Priors(log_a_sd=0.3),
    "strategy": "random",
    "gate": "agreement",
    "agreement": "pairwise",
    "prior": "fixed",
    "basis": "bank",
    "population": "rubrics",
    "cross_fitted": False,
    "simultaneous": False,
    "alpha": 4.0,
    "beta": 4.0,
    "tau_t": 0.9,
    "rules": ScoringRules(critical=-1.0, assign=(Assignment("severity", "rubric", "*", "critical"),)),
    "clip": False,
    "bootstrap": "plain",
    "replicates": 20,
    "confidence": 0.8,
    "tier_rule": "adjacent",
    "holm": True,
    "seed": 5,
}
PLAIN = Settings(replicates=30)


@pytest.fixture(scope="module")
def dataset() -> Iterator[Dataset]:
    made = simulate(seed=3, systems=6, queries=6, pool=(6, 9))
    with Workspace() as workspace:
        for kind in ("labels", "rubrics", "queries"):
            text = getattr(made, kind).to_csv(index=False)
            workspace.ingest(text.encode(), dataset="small", kind=kind)
        yield workspace.dataset("small")


def outcome(stage: str, ds: Dataset, settings: Settings) -> list[np.ndarray]:
    """All figures of one stage; the stages before it run on settings of their own."""
    reduction = pipeline.reduce_labels(ds, settings if stage == "labels" else PLAIN)
    if stage == "labels":
        return [reduction.y, reduction.n_agree, reduction.n_total]
    if stage == "gate":
        return [
            pipeline.gate(reduction, settings)[["q_mean", "q_low", "p_above_tau", "feasible"]].to_numpy(float)
        ]
    fitted = pipeline.calibrate(reduction, settings if stage == "fit" else PLAIN)
    if stage == "fit":
        return [fitted.fit.a, fitted.fit.b, fitted.fit.theta, fitted.info, fitted.nu]
    if stage == "order":
        feasible = np.ones(len(fitted.fit.a), dtype=bool)
        return [pipeline.order_candidates(reduction, fitted, feasible, settings, "random").order]
    rubrics = np.flatnonzero(~fitted.fit.constant)
    table = pipeline.rank_systems(ds.queries, reduction, fitted, rubrics, settings).table
    return [table.drop(columns="system").to_numpy(float)]


@pytest.mark.parametrize(("stage", "name"), [(s, n) for s, names in UNREAD.items() for n in sorted(names)])
def test_a_setting_outside_the_key_changes_nothing(dataset: Dataset, stage: str, name: str) -> None:
    before = outcome(stage, dataset, PLAIN)
    after = outcome(stage, dataset, replace(PLAIN, **{name: OTHER[name]}))
    for one, other in zip(before, after, strict=True):
        assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


@pytest.mark.parametrize("stage", sorted(UNREAD))
def test_every_other_setting_is_part_of_the_key(stage: str) -> None:
    study = Study(None, "print", PLAIN)  # type: ignore[arg-type]
    for name, value in OTHER.items():
        changed = Study(None, "print", replace(PLAIN, **{name: value}))  # type: ignore[arg-type]
        assert (changed.key(stage) == study.key(stage)) == (name in UNREAD[stage])


def test_another_content_of_the_dataset_has_another_key() -> None:
    one, other = (Study(None, fingerprint, PLAIN) for fingerprint in ("one", "other"))  # type: ignore[arg-type]
    assert one.key("rank") != other.key("rank")
