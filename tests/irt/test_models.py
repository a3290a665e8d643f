"""Each model's gradient is that of its value."""

from __future__ import annotations

import numpy as np
import pytest

from crubric_core.irt.fit import RELATIVE_GRADIENT, TOLERANCE, bind_model, constant_rubrics
from crubric_core.irt.objective import MarginalPosterior, axis_curvature
from crubric_core.irt.optimise import maximise
from crubric_core.settings import Priors
from tests.irt.conftest import simulate


@pytest.mark.parametrize("quadrature", ["adaptive", "grid"])
@pytest.mark.parametrize("priors", [Priors(), Priors.flat()])
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("model", ["1PL", "2PL", "3PL", "GRM"])
def test_gradient_equals_finite_differences(model, missing, priors, quadrature):
    y = simulate(12, 8, seed=11, missing=missing, levels=5 if model == "GRM" else 2).y
    y[0], y[1] = 1.0, 0.0
    bound = bind_model(y, model, priors, np.full(8, 6 if model == "GRM" else 2))
    objective = MarginalPosterior(bound, quadrature)
    rng = np.random.default_rng(0)
    x = bound.start() + 0.1 * rng.normal(size=bound.start().size)
    gradient = objective(x).gradient
    for k, unit in enumerate(np.eye(len(x))):
        difference = (objective(x + 1e-5 * unit).value - objective(x - 1e-5 * unit).value) / 2e-5
        assert gradient[k] == pytest.approx(difference, abs=2e-6)


@pytest.mark.parametrize("model", ["1PL", "2PL", "3PL", "GRM"])
def test_the_preconditioner_is_positive_definite(model):
    y = simulate(12, 8, seed=12, missing=0.2, levels=5 if model == "GRM" else 2).y
    y[0], y[1] = 1.0, 0.0
    bound = bind_model(y, model, Priors(), np.full(8, 5 if model == "GRM" else 2))
    here = MarginalPosterior(bound, "adaptive")(bound.start())
    for seed in range(20):
        v = np.random.default_rng(seed).normal(size=here.gradient.size)
        assert v @ here.precondition(v) > 0


@pytest.mark.parametrize("model", ["1PL", "2PL", "3PL", "GRM"])
def test_at_the_optimum_the_axes_bend_as_the_preconditioner_says(model):
    y = simulate(20, 40, seed=13, missing=0.1, levels=4 if model == "GRM" else 2).y
    y = y[:, ~constant_rubrics(y)]
    bound = bind_model(y, model, Priors(), np.full(y.shape[1], 4 if model == "GRM" else 2))
    objective = MarginalPosterior(bound, "adaptive")
    best = maximise(objective, bound.start(), TOLERANCE, RELATIVE_GRADIENT, 200)
    (axes, second), step = bound.axes(best.point), 1e-4
    bend = [
        (objective(best.point - step * axis).gradient - objective(best.point + step * axis).gradient)
        / (2 * step)
        for axis in axes
    ]
    found = np.stack(bend) @ axes.T
    said = axis_curvature(best.evaluation.posterior) + objective.prior_curvature(best.point, axes, second)
    np.testing.assert_allclose(found, said, rtol=2e-3, atol=2e-3 * np.abs(said).max())
