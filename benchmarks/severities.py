"""Are judges' severities better taken from common cells, or from the likelihood of all parameters together?

    python -m benchmarks.severities [--tables 20]

12 systems N(0, .5²), 60 queries of five rubrics (log a ~ N(0, .4²), b ~ N(0, 1.2²)) and six judges of severities
N(0, 1), all from the many-facet model; who labelled what is the design. Error: root mean square, logits. Inside: share
of the intervals of 95% with the truth; of the likelihood, normal with the curvature of its profile.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.linalg import helmert
from scipy.optimize import minimize
from scipy.special import expit

from benchmarks.unequal_panels import JUDGES, PER_QUERY, QUERIES, SYSTEMS, labelled
from crubric_core.irt.facets import fit_many_facet, fit_with_severity
from crubric_core.leaderboard.facets import severities_of

DESIGNS = (
    "all judges label all",
    "half of the judges came late",
    "two camps, all judges on a tenth",
    "two judges of each system",
)
STEP = 0.05  # logits, of the profile's second differences


def simulate(design: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A panel (M, J, K) and the severities (K,) of judges with labels, of mean 0."""
    rng, size = np.random.default_rng([22, seed]), QUERIES * PER_QUERY
    theta, severity = 0.5 * rng.normal(size=SYSTEMS), rng.normal(size=JUDGES)
    a, b = np.exp(rng.normal(0, 0.4, size)), rng.normal(0, 1.2, size)
    logits = (a * (theta[:, None] - b))[:, :, None] - severity
    panel = np.where(labelled(design, rng), (rng.random(logits.shape) < expit(logits)).astype(float), np.nan)
    known = ~np.isnan(panel).all(axis=(0, 1))
    return panel[:, :, known], severity[known] - severity[known].mean()


def of_likelihood(panel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Severities (K,) that maximise the log posterior of all parameters, and their standard errors (K,)."""
    contrasts, start = helmert(panel.shape[2]), None

    def loss(along: np.ndarray) -> float:
        nonlocal start
        fit = fit_with_severity(panel, along @ contrasts, start=start)
        start = fit.rubrics.items
        return -fit.rubrics.logpost

    best = minimize(loss, np.zeros(len(contrasts)), method="BFGS", options={"gtol": 0.05}).x
    bend = np.empty((len(best),) * 2)
    steps = STEP * np.eye(len(best))
    for i, one in enumerate(steps):
        for k, other in enumerate(steps[: i + 1]):
            four = [
                loss(best + one + other),
                loss(best + one - other),
                loss(best - one + other),
                loss(best - one - other),
            ]
            bend[i, k] = bend[k, i] = (four[0] - four[1] - four[2] + four[3]) / (4 * STEP**2)
    covariance = contrasts.T @ np.linalg.inv(bend) @ contrasts
    return best @ contrasts, np.sqrt(np.diag(covariance))


def of_design(design: str, tables: int) -> str:
    """The row of one design: error and coverage by common cells, and by the likelihood."""
    errors: dict[str, list[float]] = {"cells": [], "likelihood": []}
    inside: dict[str, list[bool]] = {"cells": [], "likelihood": []}
    for seed in range(tables):
        panel, severity = simulate(design, seed)
        fit = fit_many_facet(panel)
        low, high = severities_of(panel, fit, np.repeat(np.arange(QUERIES), PER_QUERY)).interval(0.95)
        errors["cells"].extend(fit.severity - severity)
        inside["cells"].extend((low <= severity) & (severity <= high))
        value, error = of_likelihood(panel)
        errors["likelihood"].extend(value - severity)
        inside["likelihood"].extend(np.abs(value - severity) <= 1.96 * error)
    cells = [
        f"{np.sqrt(np.mean(np.square(errors[rule]))):.3f} | {np.mean(inside[rule]):.2f}" for rule in errors
    ]
    return f"| {design} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tables", type=int, default=20)
    given = parser.parse_args()
    print("| who labelled | error, common cells | inside | error, likelihood of all | inside |")
    print("| --- | --- | --- | --- | --- |")
    for design in DESIGNS:
        print(of_design(design, given.tables), flush=True)


if __name__ == "__main__":
    main()
