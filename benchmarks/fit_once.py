"""Fit one table with one package in its own process: `fit_once.py METHOD TABLE.npy REPEATS OUT.npz`.

It runs in the environment of the package that it measures, so it imports no other package. Seconds are those of the fit
and the abilities alone; memory is the peak of the process, less what it held before the first fit.
"""

from __future__ import annotations

import resource
import sys
import time
import warnings
from collections.abc import Callable
from typing import Literal

import numpy as np

Fitted = tuple[np.ndarray, np.ndarray, np.ndarray, int]  # a, b, theta, evaluations


def fit_ours(y: np.ndarray, quadrature: Literal["adaptive", "grid"] = "adaptive") -> Fitted:
    from crubric_core.irt.fit import fit_irt

    fit = fit_irt(y, "2PL", quadrature)
    return fit.a, fit.b, fit.theta, fit.evaluations


def fit_mirt(y: np.ndarray, prior: bool) -> Fitted:
    from mirt import fit_mirt, fscores

    labels = np.where(np.isnan(y), -1, y).astype(int)
    priors = None
    if prior:
        from mirt.estimation.priors import LogNormalPrior, NormalPrior

        # A log-normal with mean sd² on the log scale has our penalty: its Jacobian moves the mode of log a back to 0.
        priors = {"discrimination": LogNormalPrior(0.25, 0.5), "difficulty": NormalPrior(0.0, 2.0)}
    fitted = fit_mirt(labels, model="2PL", compute_standard_errors=False, priors=priors)
    parameters = fitted.model.parameters
    theta = np.asarray(fscores(fitted, labels, method="EAP").theta).ravel()
    return parameters["discrimination"].ravel(), parameters["difficulty"].ravel(), theta, fitted.n_iterations


def fit_girth(y: np.ndarray) -> Fitted:
    import girth

    labels = girth.tag_missing_data(np.where(np.isnan(y), -9, y).astype(int).T, [0, 1])
    found = girth.twopl_mml(labels)
    a, b = np.asarray(found["Discrimination"]), np.asarray(found["Difficulty"])
    return a, b, np.asarray(girth.ability_eap(labels, b, a)), 0


def fit_numpy_em(y: np.ndarray, nodes: int = 41, sweeps: int = 200) -> Fitted:
    """A simple and fast baseline: EM on a fixed grid with one Fisher-scoring step a sweep; complete tables only."""
    theta = np.linspace(-4, 4, nodes)
    log_weights = -0.5 * theta**2 - np.log(np.exp(-0.5 * theta**2).sum())
    share = (y.sum(axis=0) + 0.5) / (len(y) + 1)
    log_a, b = np.zeros(y.shape[1]), -1.3 * np.log(share / (1 - share))
    for sweep in range(1, sweeps + 1):  # noqa: B007 - it is returned
        a = np.exp(log_a)
        z = a[:, None] * (theta - b[:, None])
        p = 1 / (1 + np.exp(-z))
        log_joint = y @ z + np.log1p(-p).sum(axis=0) + log_weights
        posterior = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
        posterior /= posterior.sum(axis=1, keepdims=True)
        n = posterior.sum(axis=0)
        residual, weight = y.T @ posterior - n * p, n * p * (1 - p)
        g_a, g_b = (residual * z).sum(axis=1) - log_a / 0.25, -a * residual.sum(axis=1) - b / 4
        h_aa, h_bb = (weight * z * z).sum(axis=1) + 4, a * a * weight.sum(axis=1) + 0.25
        h_ab = -a * (weight * z).sum(axis=1)
        det = h_aa * h_bb - h_ab**2
        step_a, step_b = (h_bb * g_a - h_ab * g_b) / det, (h_aa * g_b - h_ab * g_a) / det
        log_a, b = log_a + np.clip(step_a, -1, 1), b + np.clip(step_b, -1, 1)
        if max(np.abs(step_a).max(), np.abs(step_b).max()) < 1e-4:
            break
    return np.exp(log_a), b, posterior @ theta, sweep


METHODS: dict[str, Callable[[np.ndarray], Fitted]] = {
    "ours": fit_ours,
    "ours, 41-node grid": lambda y: fit_ours(y, "grid"),
    "mirt, same priors": lambda y: fit_mirt(y, True),
    "mirt, no priors (its fastest)": lambda y: fit_mirt(y, False),
    "girth": fit_girth,
    "41-node numpy EM": fit_numpy_em,
}


def main(method: str, table: str, repeats: str, out: str) -> None:
    y = np.load(table)
    fit = METHODS[method]
    warnings.simplefilter("ignore")  # warnings of the other packages
    fit(y[:, : min(60, y.shape[1])])  # imports, compilation
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = []
    for _ in range(int(repeats)):
        start = time.perf_counter()
        a, b, theta, count = fit(y)
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    np.savez(out, a=a, b=b, theta=theta, count=count, seconds=seconds, mib=(peak - before) / 1024)


if __name__ == "__main__":
    main(*sys.argv[1:])
