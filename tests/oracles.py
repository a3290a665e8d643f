"""Slow, obvious implementations that the fast ones are compared with."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_expit, logsumexp

# --- item response theory -------------------------------------------------------------------------------------------

DENSE_NODES = np.linspace(-8.0, 8.0, 4001)


def level_probabilities(theta, a, b, c=0.0, thresholds=None):
    """(G, L) probability of each level of one rubric, straight from the definition."""
    if thresholds is None:
        passed = c + (1 - c) * expit(a * (theta - b))
        return np.stack([1 - passed, passed], axis=1)
    above = [np.ones_like(theta), *(expit(a * (theta - t)) for t in thresholds), np.zeros_like(theta)]
    return -np.diff(np.stack(above, axis=1), axis=1)


def dense_posterior(y, a, b, c=None, thresholds=None, nodes=DENSE_NODES):
    """Log marginal likelihood of each system (M,) and its posterior (M, G) on a dense grid, cell by cell."""
    log_joint = np.tile(-0.5 * nodes**2 - logsumexp(-0.5 * nodes**2), (len(y), 1))
    for j in range(y.shape[1]):
        steps = None if thresholds is None else thresholds[j]
        table = np.log(
            np.maximum(level_probabilities(nodes, a[j], b[j], 0.0 if c is None else c[j], steps), 1e-300)
        )
        for i in range(len(y)):
            if not np.isnan(y[i, j]):
                log_joint[i] += table[:, int(y[i, j])]
    loglik = logsumexp(log_joint, axis=1)
    return loglik, np.exp(log_joint - loglik[:, None])


def dense_log_posterior(
    y, a, b, c=None, thresholds=None, log_a_sd=0.5, b_sd=2.0, c_beta=(5.0, 17.0), common=False
):
    """METHOD §6 with every constant; ``common`` counts the one slope of the 1PL once."""
    from scipy.stats import norm

    value = dense_posterior(y, a, b, c, thresholds)[0].sum()
    value += norm.logpdf(np.log(a[:1] if common else a), 0, log_a_sd).sum()
    value += norm.logpdf(b if thresholds is None else thresholds, 0, b_sd).sum()
    if c is not None:
        value += ((c_beta[0] - 1) * np.log(c) + (c_beta[1] - 1) * np.log1p(-c)).sum()
    return value


def dense_2pl(x, y, log_a_sd=0.5, b_sd=2.0):
    """Log posterior of the 2PL and its analytic gradient at x = (log a, b), by matrix products on the dense grid."""
    log_a, b = np.split(x, 2)
    a, known, passed = np.exp(log_a), (~np.isnan(y)).astype(float), np.nan_to_num(y)
    z = a[:, None] * (DENSE_NODES - b[:, None])
    log_joint = passed @ log_expit(z) + (known - passed) @ log_expit(-z)
    log_joint += -0.5 * DENSE_NODES**2 - logsumexp(-0.5 * DENSE_NODES**2)
    loglik = logsumexp(log_joint, axis=1)
    posterior = np.exp(log_joint - loglik[:, None])
    residual = passed.T @ posterior - (known.T @ posterior) * expit(z)
    gradient = np.concatenate([(residual * z).sum(axis=1), -a * residual.sum(axis=1)])
    gradient -= np.concatenate([log_a / log_a_sd**2, b / b_sd**2])
    constants = len(b) * (np.log(log_a_sd) + np.log(b_sd) + np.log(2 * np.pi))
    prior = -0.5 * (log_a @ log_a / log_a_sd**2 + b @ b / b_sd**2) - constants
    return loglik.sum() + prior, gradient
