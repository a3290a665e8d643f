from __future__ import annotations

import numpy as np
import pytest

from crubric_core import fit_irt
from crubric_core.irt.abilities import estimate_abilities
from crubric_core.irt.prefixes import PrefixAbilities


def table(top, seed=0, systems=9, rubrics=120):
    rng = np.random.default_rng(seed)
    ability = rng.normal(0, 1.2, systems)[:, None] + rng.normal(0, 1, rubrics)
    y = np.clip(np.round((ability + rng.normal(0, 1, ability.shape) + 1.5) / 3 * (top - 1)), 0, top - 1)
    y[rng.random(y.shape) < 0.1] = np.nan
    y[:, 7] = 0  # a constant rubric
    return y


@pytest.mark.parametrize(("model", "top"), [("1PL", 2), ("2PL", 2), ("3PL", 2), ("GRM", 4)])
def test_every_prefix_gives_the_abilities_of_its_rubrics_alone(model, top):
    y = table(top)
    fit = fit_irt(y, model)
    orders = [np.random.default_rng(k).permutation(120)[: 120 - 60 * k] for k in range(2)]
    sizes = [1, 3, 20, 119]
    found = PrefixAbilities(fit, y)(orders, sizes)
    for order, by_size in zip(orders, found, strict=True):
        for size, theta in zip(sizes, by_size, strict=True):
            alone = estimate_abilities(fit, y, order[:size]).theta
            np.testing.assert_allclose(theta, np.where(np.isnan(alone), 0, alone), atol=1e-6)


def test_the_papers_grid_gives_the_abilities_of_the_grid():
    y = table(2)
    fit = fit_irt(y, quadrature="grid")
    found = PrefixAbilities(fit, y)([np.arange(60)], [2, 50])
    np.testing.assert_allclose(found[0, 1], estimate_abilities(fit, y, np.arange(50)).theta, atol=1e-12)


def test_an_order_without_rubrics_leaves_everybody_at_the_prior():
    y = table(2)
    found = PrefixAbilities(fit_irt(y), y)([np.array([], dtype=int)], [1, 5])
    np.testing.assert_allclose(found, 0, atol=1e-12)
