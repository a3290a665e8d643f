"""Integration over ability."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_expit
from scipy.stats import norm

from crubric_core.irt.quadrature import (
    AdaptiveQuadrature,
    DomainTooNarrowError,
    chebyshev_order,
    interpolation_matrix,
)


def test_interpolation_reproduces_polynomials_and_hits_nodes_exactly():
    nodes = AdaptiveQuadrature(-2.0, 3.0, 12).nodes
    theta = np.concatenate([np.linspace(-2, 3, 37), nodes])[None, :]
    values = interpolation_matrix(nodes, theta)[0] @ (nodes**7 - 2 * nodes**3 + 1)
    np.testing.assert_allclose(values, theta[0] ** 7 - 2 * theta[0] ** 3 + 1, atol=1e-9)


def test_the_order_is_enough_for_the_steepest_item():
    for steepest in (0.5, 2.0, 6.0):
        rule = AdaptiveQuadrature(-4, 4, chebyshev_order(steepest, -4, 4))
        theta = np.linspace(-4, 4, 999)
        error = interpolation_matrix(rule.nodes, theta[None])[0] @ log_expit(steepest * rule.nodes)
        assert np.abs(error - log_expit(steepest * theta)).max() < 1e-5


@pytest.mark.parametrize("sd", [0.3, 0.05, 0.002])
def test_a_gaussian_likelihood_gives_the_conjugate_posterior(sd):
    rule = AdaptiveQuadrature(-5.5, 5.5, 64)
    observed = np.array([-1.3, 0.0, 0.8])
    posterior = rule.posterior(-0.5 * ((rule.nodes - observed[:, None]) / sd) ** 2)
    precision = 1 + sd**-2
    np.testing.assert_allclose(posterior.mean, observed * sd**-2 / precision, atol=1e-9)
    np.testing.assert_allclose(posterior.sd, precision**-0.5, rtol=1e-7)
    marginal = norm.logpdf(observed, 0, np.sqrt(1 + sd**2)) + np.log(sd * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(posterior.loglik, marginal, atol=1e-9)


def test_node_weights_integrate_smooth_functions_against_the_posterior():
    rule = AdaptiveQuadrature(-5.5, 5.5, 64)
    posterior = rule.posterior(-0.5 * ((rule.nodes - 0.4) / 0.1) ** 2 * np.ones((2, 1)))
    np.testing.assert_allclose(posterior.node_weights @ rule.nodes, posterior.mean, atol=1e-10)
    second = posterior.sd**2 + posterior.mean**2
    np.testing.assert_allclose(posterior.node_weights @ rule.nodes**2, second, atol=1e-9)


def test_a_posterior_at_the_edge_asks_for_more_room():
    rule = AdaptiveQuadrature(-2, 2, 32)
    with pytest.raises(DomainTooNarrowError) as caught:
        rule.posterior(3 * rule.nodes[None, :])
    assert caught.value.high > 2
