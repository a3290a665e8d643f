"""What a page computes of a study is kept by the settings that it reads, and by no fewer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pandas as pd
import pytest

from crubric_core import Workspace, ui
from crubric_core.analysis.fitted import with_rules
from crubric_core.analysis.stage import EVERY, STAGES, Memory
from crubric_core.analysis.stages import Analysis
from crubric_core.experiments.results import ExperimentResult
from crubric_core.labels.store.dataset import Dataset
from crubric_core.settings import Settings
from crubric_core.ui.loaders import Study
from tests.analysis.test_stages import OTHER, PLAIN, figures

for module in walk_packages(ui.__path__, f"{ui.__name__}."):
    if not module.name.endswith("main"):  # these start the dashboard
        import_module(module.name)
OF_PAGES = sorted(
    name
    for name, stage in STAGES.items()
    if not hasattr(Analysis, name) and not set(EVERY) <= set(stage.reads)
)
EVERY_OTHER = OTHER | {"model": "1PL", "tie": "fail", "consensus": "dawid_skene", "agreement_tolerance": 1}
ASKED: dict[str, tuple[Any, ...]] = {
    "_rubric_panel": (0, "binary"),
    "repeated": ("binary",),
    "labels_and_answers": ("r0", "q0"),
}


@pytest.fixture(scope="module")
def dataset() -> Iterator[Dataset]:
    """Seven systems under three judges, of whom one labels everything twice, and texts of the rubrics."""
    rng = np.random.default_rng(2)
    keys = [
        (s, r, j, run) for s in range(7) for r in range(30) for j in range(3) for run in range(1 + (j == 2))
    ]
    labels = pd.DataFrame(
        {
            "system": [f"s{s}" for s, *_ in keys],
            "query": [f"q{r // 3}" for _, r, *_ in keys],
            "rubric": [f"r{r}" for _, r, *_ in keys],
            "judge": [f"j{j}" for _, _, j, _ in keys],
            "run": [run for *_, run in keys],
            "label": [int(rng.random() < 1 / (1 + np.exp(r / 10 - s / 2))) for s, r, *_ in keys],
        }
    )
    rubrics = labels[["query", "rubric"]].drop_duplicates().assign(text="Names the city and the year.")
    with Workspace() as workspace:
        workspace.ingest(labels.to_csv(index=False).encode(), "small")
        workspace.ingest(rubrics.to_csv(index=False).encode(), "small", kind="rubrics")
        yield workspace.dataset("small")


def result(dataset: Dataset, settings: Settings, stage: str) -> list[Any]:
    study = Study(
        dataset=dataset, fingerprint=dataset.fingerprint, settings=settings, store=Memory(), progress=None
    )
    module, name = STAGES[stage].where.rsplit(".", 1)
    found = getattr(import_module(module), name)(study, *ASKED.get(stage, ()))
    return figures(found.frame() if isinstance(found, ExperimentResult) else found)


@pytest.mark.parametrize("stage", OF_PAGES)
def test_a_setting_that_a_page_does_not_declare_changes_nothing_of_it(dataset: Dataset, stage: str) -> None:
    plain = with_rules(dataset, PLAIN)
    assert set(EVERY_OTHER) == set(EVERY)
    others = {name: value for name, value in EVERY_OTHER.items() if name not in STAGES[stage].reads}
    found = result(dataset, plain, stage)
    assert found, "figures to compare"
    for one, other in zip(found, result(dataset, replace(plain, **others), stage), strict=True):
        assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
