"""Abilities of new systems from their labels on a bank's rubrics, at fixed item parameters (docs/method.md §13).

No parameters are fitted, so that a placement costs no more than judging one system on one bank. It takes the item
parameters as known, like every placement on an existing scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from ..irt.abilities import ability_posterior, estimate_abilities, resample_abilities, saturation
from ..irt.fit import IrtFit
from ..irt.information import item_information
from ..leaderboard.tiers import Standing, standings
from ..settings import TierRule
from ..types import FloatArray, IntArray

FINE = 2001  # points at which a posterior's distribution function is evaluated


@dataclass(frozen=True)
class Placement:
    """A new system placed among M others that were labelled on the same bank.

    theta, theta_se: EAP ability and its standard error, by the same method as the standing. theta_sd, low, high: sd and
    equal-tailed interval of the posterior, item parameters taken as known. NaN without any label. answered: number of
    the bank's rubrics with a label.
    abilities: (M + 1,) abilities of the others and, last, of the new system.
    standing: of all M + 1 in that order; the new system has no rank if it cannot be compared, in a bootstrap also if a
        replicate leaves it without a label.
    """

    theta: float
    theta_se: float
    theta_sd: float
    low: float
    high: float
    answered: int
    abilities: FloatArray
    standing: Standing


def place(
    fit: IrtFit,
    others: FloatArray,
    new: FloatArray,
    rubrics: IntArray,
    weights: FloatArray,
    *,
    confidence: float = 0.95,
    rule: TierRule = "adjacent",
    holm: bool = False,
) -> list[Placement]:
    """Place each of the new systems (N, J) alone among the others (M, J), by their labels on ``rubrics`` (indices).

    weights: (R, J) weight of each rubric in each bootstrap replicate, as for the leaderboard. Differences are paired
    within a replicate, so that intervals, tiers and ranks follow the leaderboard's rules.
    """
    size, labels = len(others), np.vstack([others, new])
    abilities = estimate_abilities(fit, labels, rubrics)
    draws = resample_abilities(fit, labels, weights)
    low, high = posterior_interval(fit, new, rubrics, confidence)
    answered = (~np.isnan(new[:, rubrics])).sum(axis=1)
    informative = rubrics[~fit.constant[rubrics]]
    saturated = saturation(labels[:, informative], fit.levels[informative])
    found = []
    for n in range(len(new)):
        among = np.append(np.arange(size), size + n)
        theta = abilities.theta[among]
        found.append(
            Placement(
                theta=float(theta[-1]),
                theta_se=float(draws[:, size + n].std(ddof=1)),
                theta_sd=float(abilities.sd[size + n]),
                low=float(low[n]),
                high=float(high[n]),
                answered=int(answered[n]),
                abilities=theta,
                standing=standings(
                    theta, draws[:, among], confidence, rule, holm, saturated=saturated[among]
                ),
            )
        )
    return found


def posterior_interval(
    fit: IrtFit, y: FloatArray, rubrics: IntArray, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """Equal-tailed posterior interval (low, high), (N,) each, of abilities given labels ``y`` (N, J) on ``rubrics``.

    NaN for a system without a label there.
    """
    posterior = ability_posterior(fit, y, rubrics)
    fine = np.linspace(posterior.theta[0], posterior.theta[-1], FINE)
    mass = CubicSpline(posterior.theta, posterior.density, axis=1).antiderivative()(fine)
    mass = np.maximum.accumulate(mass, axis=1) / mass[:, -1:]
    tails = (1 - confidence) / 2, (1 + confidence) / 2
    ends = np.array([np.interp(tails, row, fine) for row in mass]).reshape(-1, 2)
    ends[np.isnan(y[:, rubrics]).all(axis=1)] = np.nan
    low, high = ends.T
    return low, high


def expected_information(fit: IrtFit, y: FloatArray, rubrics: IntArray) -> FloatArray:
    """(N, J) expected information of a label on each rubric about each system, averaged over its posterior.

    The posterior is given the labels ``y`` (N, J) on ``rubrics``; without any of them it is the prior.
    """
    posterior = ability_posterior(fit, y, rubrics)
    expected = posterior.node_weights @ item_information(fit, posterior.nodes)
    return np.maximum(expected, 0.0)  # interpolation may leave -1e-9 where there is none


def next_best(expected: FloatArray, candidates: IntArray, n: int) -> IntArray:
    """The ``n`` candidates (indices) of largest expected information (J,), best first; ties to the lowest index."""
    order = np.argsort(-expected[candidates], kind="stable")
    chosen: IntArray = candidates[order][:n]
    return chosen
