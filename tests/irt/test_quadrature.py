"""Integration over ability."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_expit
from scipy.stats import norm

from crubric_core.irt.quadrature import AdaptiveQuadrature, Posterior, RuleTooSmallError, interpolation_matrix


def test_interpolation_reproduces_polynomials_and_hits_nodes_exactly():
    nodes = AdaptiveQuadrature(-2.0, 3.0, 12).nodes
    theta = np.concatenate([np.linspace(-2, 3, 37), nodes])
    values = interpolation_matrix(nodes, theta) @ (nodes**7 - 2 * nodes**3 + 1)
    np.testing.assert_allclose(values, theta**7 - 2 * theta**3 + 1, atol=1e-9)


def test_the_order_is_enough_for_the_steepest_item():
    for steepest in (0.5, 2.0, 6.0):
        rule = AdaptiveQuadrature(-4, 4).fit_for(steepest)
        theta = np.linspace(-4, 4, 999)
        values = interpolation_matrix(rule.nodes, theta) @ log_expit(steepest * rule.nodes)
        assert np.abs(values - log_expit(steepest * theta)).max() < 1e-5


def integrate(rule: AdaptiveQuadrature, loglik) -> Posterior:
    """Refine the rule as the fit does, until it takes ``loglik`` (a function of theta)."""
    while True:
        try:
            return rule.posterior(loglik(rule.nodes))
        except RuleTooSmallError as error:
            rule = error.better


@pytest.mark.parametrize("sd", [0.3, 0.05, 0.002])
def test_a_gaussian_likelihood_gives_the_conjugate_posterior(sd):
    observed = np.array([-1.3, 0.0, 0.8])
    posterior = integrate(AdaptiveQuadrature(), lambda theta: -0.5 * ((theta - observed[:, None]) / sd) ** 2)
    precision = 1 + sd**-2
    np.testing.assert_allclose(posterior.mean, observed * sd**-2 / precision, atol=1e-9)
    np.testing.assert_allclose(posterior.sd, precision**-0.5, rtol=1e-7)
    marginal = norm.logpdf(observed, 0, np.sqrt(1 + sd**2)) + np.log(sd * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(posterior.loglik, marginal, atol=1e-9)


def test_node_weights_integrate_smooth_functions_against_the_posterior():
    posterior = integrate(
        AdaptiveQuadrature(), lambda theta: -0.5 * ((theta - 0.4) / 0.1) ** 2 * np.ones((2, 1))
    )
    nodes, weights = posterior.nodes, posterior.node_weights
    np.testing.assert_allclose(weights @ nodes, posterior.mean, atol=1e-10)
    np.testing.assert_allclose(weights @ nodes**2, posterior.sd**2 + posterior.mean**2, atol=1e-9)


def test_a_posterior_at_the_edge_asks_for_more_room():
    rule = AdaptiveQuadrature(-2, 2)
    with pytest.raises(RuleTooSmallError) as caught:
        rule.posterior(3 * rule.nodes[None, :])
    assert caught.value.better.high > 2
