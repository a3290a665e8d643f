"""A new system on an existing bank: the labels on its rubrics alone, at fixed item parameters (docs/method.md §13).

Nothing is fitted, so that a placement costs no more than judging one system on one bank. It takes the item parameters
for known, as every placement on an existing scale does.
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

FINE = 2001  # points at which a posterior's distribution function is read


@dataclass(frozen=True)
class Placement:
    """Where one new system stands among M others that were labelled on the same bank.

    theta, theta_se: EAP ability and its standard error, by the method of the standing. theta_sd, low, high: sd and
    equal-tailed interval of the posterior, item parameters known. NaN without any label. answered: rubrics of the bank
    with a label.
    abilities: (M + 1,) EAP of the others from the same rubrics and, last, of the new one.
    standing: of all M + 1 in that order, by the bootstrap; the new one has no rank where a replicate leaves it without
        a label.
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
    """Each of the new systems (N, J) among the others (M, J), one at a time, by their labels on ``rubrics``.

    weights: (R, J) how much each rubric counts in each replicate, as the leaderboard draws them: differences are
    paired within a replicate, so that intervals, tiers and ranks follow its very rules.
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
    """Equal-tailed interval (low, high), (N,) each, of each ability given the labels ``y`` (N, J) on ``rubrics``."""
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
    """(N, J) what a label on each rubric would add about each system: information averaged over its posterior.

    The posterior is that of the labels ``y`` (N, J) on ``rubrics``; without any of them it is the prior.
    """
    posterior = ability_posterior(fit, y, rubrics)
    expected = posterior.node_weights @ item_information(fit, posterior.nodes)
    return np.maximum(expected, 0.0)  # interpolation may leave -1e-9 where there is none


def next_best(expected: FloatArray, candidates: IntArray, n: int) -> IntArray:
    """The ``n`` candidates (indices) of largest expected information (J,), best first; ties to the lowest index."""
    order = np.argsort(-expected[candidates], kind="stable")
    chosen: IntArray = candidates[order][:n]
    return chosen
