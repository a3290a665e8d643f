"""A system without any usable label has no ability, and no part in what is chosen by abilities."""

from __future__ import annotations

import numpy as np
import pandas as pd

from crubric_core.analysis.calibration import calibrate
from crubric_core.demo import simulate
from crubric_core.labels import Workspace
from crubric_core.settings import Settings


def test_a_system_whose_judges_contradict_each_other_everywhere_changes_no_information_and_no_pair():
    labels = simulate(seed=1, systems=8, queries=6, pool=(6, 9)).labels
    split = labels[labels["system"] == labels["system"].iloc[0]].assign(system="split")
    two = sorted(labels["judge"].unique())[:2]
    split = (
        split[split["judge"].isin(two)]
        .groupby(["query", "rubric"])
        .filter(lambda cell: set(two) <= set(cell["judge"]))
        .assign(label=lambda t: (t["judge"] == two[0]).astype(int))
    )
    found = []
    for table in (labels, pd.concat([labels, split])):
        with Workspace() as ws:
            ws.ingest(table.to_csv(index=False).encode(), "d")
            found.append(calibrate(ws.dataset("d").reduce(), Settings()))
    alone, beside = found
    assert np.isnan(beside.y).all(axis=1).sum() == 1
    np.testing.assert_allclose(beside.nu, alone.nu, rtol=1e-6)
    np.testing.assert_allclose(beside.distances.weights, alone.distances.weights)
    np.testing.assert_allclose(beside.distances.rows, alone.distances.rows, rtol=1e-4, atol=1e-6)
