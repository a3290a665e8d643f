"""Two calibrations on one scale: known transformations come back, and the loss is the one of Stocking and Lord."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crubric_core.errors import PlacementError
from crubric_core.irt.fit import fit_irt
from crubric_core.irt.linking import ScaleLink
from crubric_core.irt.models import ItemParameters
from crubric_core.placement.linking import curve_distance, expected_scores, link
from crubric_core.priors import Priors
from tests.oracles import naive_curve_distance

A, B = 1.3, -0.4


def rubrics(seed=0, n=12, model="2PL"):
    rng = np.random.default_rng(seed)
    steps = np.sort(rng.normal(0, 1.2, (n, 3)), axis=1) if model == "GRM" else None
    if steps is not None:
        steps[0, 2] = np.nan
    b = rng.normal(0, 1.2, n) if steps is None else np.nanmean(steps, axis=1)
    c = rng.uniform(0.05, 0.3, n) if model == "3PL" else np.zeros(n)
    return ItemParameters(np.exp(rng.normal(0, 0.4, n)), b, c, steps)


def on_another_scale(items):
    """As a fit has them whose theta is (theta_old - B) / A."""
    return ScaleLink(1 / A, -B / A).items(items)


@pytest.mark.parametrize("method", ["stocking-lord", "mean-sigma"])
@pytest.mark.parametrize("model", ["2PL", "3PL", "GRM"])
def test_a_known_transformation_comes_back(model, method):
    old = rubrics(model=model)
    new = on_another_scale(old)
    found = link(new, old, method)
    assert (found.slope, found.intercept) == pytest.approx((A, B), abs=1e-5)
    assert found.rubrics == 12
    back, at = found.items(new), np.linspace(-3, 3, 7)
    np.testing.assert_allclose(expected_scores(back, at), expected_scores(old, at), atol=1e-5)


def test_stocking_lord_is_the_least_of_a_grid():
    old, rng = rubrics(1), np.random.default_rng(2)
    new = on_another_scale(old)
    new = replace(new, a=new.a * np.exp(rng.normal(0, 0.2, 12)), b=new.b + rng.normal(0, 0.3, 12))
    found = link(new, old)
    least = naive_curve_distance(new, old, found.slope, found.intercept)
    assert curve_distance(new, old, found.slope, found.intercept) == pytest.approx(least, rel=1e-9)
    for slope in np.linspace(found.slope - 0.2, found.slope + 0.2, 9):
        for shift in np.linspace(found.intercept - 0.2, found.intercept + 0.2, 9):
            assert naive_curve_distance(new, old, slope, shift) >= least - 1e-10
    assert abs(found.slope - link(new, old, "mean-sigma").slope) > 1e-4


def test_rubrics_that_one_fit_lacks_do_not_count():
    old = rubrics()
    new = on_another_scale(old)
    a = new.a.copy()
    a[:3] = np.nan
    found = link(replace(new, a=a, b=np.where(np.isnan(a), 99.0, new.b)), old)
    assert found.rubrics == 9
    assert (found.slope, found.intercept) == pytest.approx((A, B), abs=1e-5)


def test_too_little_to_link_by_is_refused():
    with pytest.raises(PlacementError, match="3 rubrics or more"):
        link(rubrics(n=2), rubrics(n=2))
    same = replace(rubrics(), b=np.zeros(12))
    with pytest.raises(PlacementError, match="equally difficult"):
        link(same, same)


def test_two_fits_to_unlike_systems_are_linked_to_one_scale():
    """Group two is .5 more able and .7 times as spread: a fit standardises it, the link undoes that.

    The priors are wide here: the default ones pull discriminations to 1 in either fit, and so the slope to 1.
    """
    rng, n, wide = np.random.default_rng(4), 1000, Priors(log_a_sd=3.0, b_sd=10.0)
    old = ItemParameters(np.exp(rng.normal(0, 0.3, 40)), rng.normal(0, 1, 40), np.zeros(40), None)
    first, second = rng.normal(0, 1, n), rng.normal(0.5, 0.7, n)
    fits = [items_of(fit_irt(draw(old, theta, rng), "2PL", priors=wide)) for theta in (first, second)]
    slope, intercept = second.std() / first.std(), (second.mean() - first.mean()) / first.std()
    for method in ("stocking-lord", "mean-sigma"):
        found = link(fits[1], fits[0], method)
        assert (found.slope, found.intercept) == pytest.approx((slope, intercept), abs=0.06)


def draw(items, theta, rng):
    """Labels of systems of these abilities, by the 2PL."""
    return (rng.random((len(theta), len(items.a))) < expected_scores(items, theta)).astype(float)


def items_of(fit):
    return ItemParameters(fit.a, fit.b, fit.c, fit.thresholds)
