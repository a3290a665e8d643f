"""Do nominal 95% intervals hold the truth? Simulated tables, abilities on the scale of the estimates.

    python -m benchmarks.coverage [--tables 60]

First table: intervals of each system: EAP ± 1.96 posterior sd, the same with the items integrated out, and that of
the paper's 41 nodes; on tables drawn from the model as it is stated, and on tables whose rubrics are more alike than
the priors say. The truth is mapped to the estimates' origin and unit by weighted least squares: the data do not
identify them.
Second table: bootstrap intervals of the differences between systems on 200 rubrics drawn at random from 104 queries
(about two a query), plain as in the paper beside rescaled. "wrong" is the share of pairs declared apart in the wrong
order.
"""

from __future__ import annotations

import argparse
from typing import Literal

import numpy as np
from scipy.special import expit

from crubric_core.irt.abilities import estimate_abilities, resample_abilities
from crubric_core.irt.fit import IrtFit, fit_irt
from crubric_core.irt.uncertainty import ability_standard_errors
from crubric_core.leaderboard.bootstrap import draw_weights

SIZES = ((15, 100), (15, 624), (15, 4052), (50, 500), (200, 500))
SPREADS = {"as the priors": (0.5, 2.0), "narrower": (0.4, 1.2)}  # sd of log a and of b
QUERIES, BANK, REPLICATES = 104, 200, 300


def simulate(
    n_systems: int, n_rubrics: int, seed: int, spread: str = "narrower"
) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng([9, seed])
    slopes, difficulties = SPREADS[spread]
    theta, a = rng.normal(size=n_systems), np.exp(rng.normal(0, slopes, n_rubrics))
    y = rng.random((n_systems, n_rubrics)) < expit(
        a * (theta[:, None] - rng.normal(0, difficulties, n_rubrics))
    )
    return y.astype(float), theta, rng


def on_scale(theta: np.ndarray, fit: IrtFit) -> np.ndarray:
    """The true abilities (M,) mapped to the scale of the estimates by weighted least squares."""
    design = np.stack([np.ones_like(theta), theta], axis=1)
    weight = 1 / fit.theta_sd[:, None] ** 2
    return design @ np.linalg.solve(design.T @ (weight * design), design.T @ (weight[:, 0] * fit.theta))


def posterior_coverage(n_systems: int, n_rubrics: int, tables: int, spread: str) -> np.ndarray:
    """(3,) coverage of intervals by the posterior sd, with the items integrated out, and by the sd of the 41 nodes."""
    shares = []
    for seed in range(tables):
        y, theta, _ = simulate(n_systems, n_rubrics, seed, spread)
        fit, grid = fit_irt(y), fit_irt(y, quadrature="grid")
        miss = np.abs(fit.theta - on_scale(theta, fit))
        miss_grid = np.abs(grid.theta - on_scale(theta, grid))
        wide = ability_standard_errors(fit, y)
        margins = ((miss, fit.theta_sd), (miss, wide), (miss_grid, grid.theta_sd))
        shares.append([(error <= 1.96 * sd).mean() for error, sd in margins])
    return np.mean(shares, axis=0)


def bootstrap_coverage(kind: Literal["rescaled", "plain"], tables: int) -> tuple[float, float, float]:
    """Coverage of the differences, share of pairs declared apart, and share declared apart in the wrong order."""
    found = []
    pairs = np.triu_indices(15, 1)
    for seed in range(tables):
        y, theta, rng = simulate(15, 4052, seed)
        fit = fit_irt(y)
        chosen = rng.choice(np.flatnonzero(~fit.constant), BANK, replace=False)
        weights = np.zeros((REPLICATES, y.shape[1]))
        weights[:, chosen] = draw_weights(rng.integers(0, QUERIES, BANK), REPLICATES, rng, kind)
        draws, truth = resample_abilities(fit, y, weights), on_scale(theta, fit)
        difference = (draws[:, :, None] - draws[:, None, :])[:, *pairs]
        low, high = np.quantile(difference, [0.025, 0.975], axis=0)
        true = (truth[:, None] - truth)[pairs]
        apart = (low > 0) | (high < 0)
        estimate = estimate_abilities(fit, y, chosen).theta
        wrong = apart & (np.sign((estimate[:, None] - estimate)[pairs]) != np.sign(true))
        found.append((((low <= true) & (true <= high)).mean(), apart.mean(), wrong.mean()))
    return tuple(np.mean(found, axis=0))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=60, help="simulated tables a figure")
    tables = parser.parse_args().tables
    print("| rubrics drawn | systems × rubrics | posterior sd | items integrated out | 41-node grid |")
    print("|" + " --- |" * 5)
    for spread in SPREADS:
        for size in SIZES:
            shares = posterior_coverage(*size, tables, spread)
            cells = " | ".join(f"{share:.1%}" for share in shares)
            print(f"| {spread} | {size[0]} × {size[1]:,} | {cells} |", flush=True)
    print("\n| bootstrap | covered | declared apart | wrong |\n| --- | --- | --- | --- |")
    kinds: tuple[Literal["rescaled"], Literal["plain"]] = ("rescaled", "plain")
    for kind in kinds:
        covered, apart, wrong = bootstrap_coverage(kind, tables)
        print(f"| {kind} | {covered:.1%} | {apart:.1%} | {wrong:.2%} |", flush=True)


if __name__ == "__main__":
    main()
