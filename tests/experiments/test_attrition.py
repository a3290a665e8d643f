"""What is said of unanimity follows from the curve."""

from __future__ import annotations

import numpy as np

from crubric_core import Settings
from crubric_core.experiments.attrition import EXPERIMENT, _found, attrition
from crubric_core.judges.attrition import BetaMixtureFit, attrition_of
from tests.experiments.conftest import small_study


def test_one_judge_is_not_said_to_agree(workspace):
    found = attrition(workspace.dataset("one judge"), Settings())
    said = EXPERIMENT.headline(found)
    assert said.startswith("One judge is always unanimous")
    assert f"{found.frame()['joint'].iloc[-1]:.0%} of the rubrics" in said
    assert EXPERIMENT.headline(attrition(workspace.dataset("small"), Settings())).startswith(
        "Perfect agreement"
    )


def test_a_model_that_could_not_be_fitted_is_compared_with_none():
    frame = small_study()[0].pivot_table(index="system", columns=["rubric", "judge"], values="label")
    panel = frame.to_numpy().reshape(len(frame), -1, 3)
    models = attrition_of(panel)
    assert "fits better" in _found(models.curve, models.homogeneous, models.mixture, 3)
    unknown = BetaMixtureFit(a=np.nan, b=np.nan, rmse=np.nan)
    assert "fits better" not in _found(models.curve, models.homogeneous, unknown, 3)
