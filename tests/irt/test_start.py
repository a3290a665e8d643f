"""A fit that begins at the parameters of another one."""

from __future__ import annotations

import numpy as np
import pytest

from crubric_core.irt.fit import fit_irt
from tests.irt.conftest import simulate

MODELS = ("1PL", "2PL", "3PL", "GRM")


def table(model):
    levels = 4 if model == "GRM" else 2
    return simulate(15, 120, seed=5, missing=0.05, levels=levels).y, np.full(120, levels)


@pytest.mark.parametrize("model", MODELS)
def test_a_fit_of_some_rubrics_ends_where_it_ends_from_anywhere_in_no_more_steps(model):
    y, levels = table(model)
    some = np.arange(0, 120, 2)
    whole = fit_irt(y, model, levels=levels)
    warm = fit_irt(y[:, some], model, levels=levels[some], start=whole.items.of(some))
    cold = fit_irt(y[:, some], model, levels=levels[some])
    assert warm.converged
    assert warm.evaluations <= cold.evaluations
    for name in ("a", "b", "c", "theta"):
        np.testing.assert_allclose(getattr(warm, name), getattr(cold, name), atol=2e-5)


@pytest.mark.parametrize("model", MODELS)
def test_a_fit_that_begins_at_its_own_end_is_there(model):
    y, levels = table(model)
    fit = fit_irt(y, model, levels=levels)
    again = fit_irt(y, model, levels=levels, start=fit.items)
    assert again.converged
    assert again.evaluations < fit.evaluations
    assert again.logpost == pytest.approx(fit.logpost, rel=1e-11)


def test_a_rubric_that_was_constant_begins_where_it_would_have():
    y, _ = table("2PL")
    few = y[:, :20].copy()
    few[:, 3] = 1.0
    found = fit_irt(y[:, :20], start=fit_irt(few).items)
    np.testing.assert_allclose(found.a, fit_irt(y[:, :20]).a, atol=1e-5)
