"""Drift between a calibration and later labels: of the rubrics' difficulty, and of a judge between two versions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri

from ..bank.item_spread import Spread
from ..intervals import effective_clusters, exact_binomial_interval, jackknife_half_width
from ..irt.abilities import ability_posterior, log_probabilities
from ..irt.cells import label_scores
from ..irt.fit import IrtFit
from ..irt.models import ItemParameters
from ..judges.agreement import cohen_kappa
from ..leaderboard.separation import holm_rejects
from ..types import BoolArray, FloatArray, IntArray

Statistic = Callable[[FloatArray, FloatArray], float]
DRAWS = 200  # of abilities and parameters
STEPS = 100  # of scoring, at most
LEVEL = 0.05  # bound on the probability that any rubric without drift is flagged


@dataclass(frozen=True)
class RubricDrift:
    """Drift of J rubrics, estimated from the labels of N new systems.

    labels: (J,) number of new systems with a label. shift: (J,) rise of the difficulty, in units of theta (see
    ``_likeliest_shift``). z: (J,) robust. p_value: (J,). flagged: (J,) by Holm. Without labels: NaN and not flagged.
    """

    labels: IntArray
    shift: FloatArray
    z: FloatArray
    p_value: FloatArray
    flagged: BoolArray


def rubric_drift(fit: IrtFit, spread: Spread, y: FloatArray, seed: int) -> RubricDrift:
    """Test whether the new systems' labels ``y`` (N, J) are those expected from the calibration, given their abilities.

    A rubric's score, the sum of its labels, has an exact distribution given abilities and parameters; averaged over
    draws of both from their posteriors it gives a two-sided p-value, valid also for one system. Its normal deviate,
    minus the median of all rubrics and in units of their robust spread (0.7413 times the interquartile range, at least
    1), is the robust z of Huynh & Meyer (2010, Practical Assessment, Research & Evaluation 15(2)). Holm's procedure
    (1979) bounds the probability of any false flag by LEVEL.
    """
    rng = np.random.default_rng([seed, 9])
    theta = _abilities(fit, y, rng)
    n_labels = (np.isfinite(y) & ~fit.constant).sum(axis=0)
    tested = np.flatnonzero(n_labels)
    z = np.full(y.shape[1], np.nan)
    for j in tested.tolist():
        z[j] = _deviate(fit, spread, j, y[:, j], theta, rng)
    shift = np.where(n_labels, _likeliest_shift(fit.items, y, theta.mean(axis=1)), np.nan)
    if len(tested):
        low, middle, high = np.quantile(z[tested], [0.25, 0.5, 0.75])
        z = (z - middle) / max(1.0, 0.7413 * (high - low))
    p_value = 2 * ndtr(-np.abs(z))
    flagged = np.zeros(len(z), dtype=bool)
    flagged[tested] = holm_rejects(p_value[tested], LEVEL)
    return RubricDrift(n_labels, shift, z, p_value, flagged)


def _likeliest_shift(items: ItemParameters, y: FloatArray, theta: FloatArray) -> FloatArray:
    """(J,) posterior mode of each difficulty's shift given labels and abilities, by Fisher scoring, with prior N(0, 1).

    Without the prior it would be infinite if all labels are the lowest, which is common with one label.
    """
    shift = np.zeros(y.shape[1])
    for _ in range(STEPS):
        thresholds = None if items.thresholds is None else items.thresholds + shift[:, None]
        score, information = label_scores(replace(items, b=items.b + shift, thresholds=thresholds), y, theta)
        step = np.clip(-(score.sum(axis=0) + shift) / (information.sum(axis=0) + 1), -1.0, 1.0)
        shift += step
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
    return shift


def _abilities(fit: IrtFit, y: FloatArray, rng: np.random.Generator) -> FloatArray:
    """(N, DRAWS) abilities drawn from each system's posterior."""
    posterior = ability_posterior(fit, y)
    draws = rng.random((len(y), DRAWS))
    upto = np.cumsum(posterior.density, axis=1) - posterior.density / 2
    return np.array([np.interp(u, c, posterior.theta) for u, c in zip(draws, upto, strict=True)])


def _deviate(
    fit: IrtFit, spread: Spread, j: int, labels: FloatArray, theta: FloatArray, rng: np.random.Generator
) -> float:
    """Normal deviate of the p-value of one rubric's score, positive if it is passed less than expected."""
    known = np.isfinite(labels)
    top = int(fit.levels[j]) - 1
    r, (first, second) = spread.correlation[j], rng.standard_normal((2, DRAWS))
    shift = np.nan_to_num(spread.b[j] * (r * first + np.sqrt(1 - r**2) * second))
    stretch = np.exp(np.nan_to_num(spread.log_a[j] * first))
    total = np.zeros((DRAWS, int(known.sum()) * top + 1))
    total[:, 0] = 1.0
    for row in np.flatnonzero(known).tolist():
        chance = _level_chances(fit, j, theta[row], shift, stretch)[:, : top + 1]
        grown = np.zeros_like(total)
        for step in range(top + 1):
            grown[:, step:] += total[:, : total.shape[1] - step] * chance[:, step : step + 1]
        total = grown
    share, got = total.mean(axis=0), int(labels[known].sum())
    below, above = float(share[: got + 1].sum()), float(share[got:].sum())
    p = min(1.0, 2 * min(below, above))
    return -float(ndtri(max(p, 1e-300) / 2)) * (1 if below < above else -1)


def _level_chances(
    fit: IrtFit, j: int, theta: FloatArray, shift: FloatArray, stretch: FloatArray
) -> FloatArray:
    """(DRAWS, L) probability of each level, each draw with its own ability and parameters.

    Only a (theta - b) matters, so that the parameters' draws are expressed as changed abilities.
    """
    at = fit.b[j] + stretch * (theta - shift - fit.b[j])
    return np.asarray(np.exp(log_probabilities(fit, np.array([j]), at)[:, 0].T))


@dataclass(frozen=True)
class JudgeDrift:
    """Two versions of a judge on the same cells.

    cells, queries: their numbers. flips: share of the cells with another label. kappa: Cohen's. shift: mean of new -
    old. The last three are (value, low, high), with intervals over queries at ``confidence``; NaN if undefined or with
    fewer than two queries.
    """

    cells: int
    queries: int
    flips: tuple[float, float, float]
    kappa: tuple[float, float, float]
    shift: tuple[float, float, float]
    confidence: float

    @property
    def drifted(self) -> bool:
        """Whether the new version is stricter or more lenient: the interval of ``shift`` excludes 0."""
        return self.shift[1] > 0 or self.shift[2] < 0


def judge_drift(old: FloatArray, new: FloatArray, query: IntArray, confidence: float) -> JudgeDrift:
    """Compare two labels (C,) of each cell; query: (C,) of each. Cells that either version lacks are left out.

    Intervals: the delete-one jackknife over queries, with Student's t at their effective number. With few flips the
    jackknife shows too little spread, so no interval is narrower than for independent cells: that of the flip rate is
    at least the exact binomial one, that of kappa at least the one that follows from it, that of the shift at least
    that with one more flip up and one more down. Ends are cut to the possible range.
    """
    known = np.isfinite(old) & np.isfinite(new)
    old, new, query = old[known], new[known], query[known]
    names, sizes = np.unique(query, return_counts=True)
    n, clusters = len(old), effective_clusters(sizes.astype(np.float64))

    def jackknife(statistic: Statistic) -> tuple[float, float]:
        value = statistic(old, new) if n else float("nan")
        several = names if len(names) > 1 else ()  # with one query there is no interval
        left = np.array([statistic(old[query != name], new[query != name]) for name in several])
        return value, float(jackknife_half_width(left, confidence, clusters=clusters))

    rate, half = jackknife(lambda a, b: float((a != b).mean()))
    least, most = exact_binomial_interval(rate * n, n, confidence)
    low, high = np.minimum(rate - half, least), np.maximum(rate + half, most)
    kappa, width = jackknife(lambda a, b: float(cohen_kappa(a, b)))
    chance = _chance_of_a_flip(old, new)
    shift, half = jackknife(lambda a, b: float((b - a).mean()))
    error = np.sqrt(((new - old) ** 2).sum() + 2) / max(n, 1)
    half = float(np.maximum(half, ndtri((1 + confidence) / 2) * error))
    furthest = float(np.ptp(np.concatenate([old, new]))) if n else np.inf
    return JudgeDrift(
        cells=n,
        queries=len(names),
        flips=(rate, float(np.maximum(low, 0.0)), float(np.minimum(high, 1.0))),
        kappa=(
            kappa,
            float(np.maximum(np.minimum(kappa - width, 1 - high / chance), -1.0)),
            float(np.minimum(np.maximum(kappa + width, 1 - low / chance), 1.0)),
        ),
        shift=(shift, max(shift - half, -furthest), min(shift + half, furthest)),
        confidence=confidence,
    )


def _chance_of_a_flip(old: FloatArray, new: FloatArray) -> float:
    """Expected share of flips if both versions give their labels at random; NaN if it is 0."""
    levels = np.unique(np.concatenate([old, new]))[:, None]
    same = float((old == levels).mean(axis=1) @ (new == levels).mean(axis=1)) if len(levels) else 1.0
    return 1 - same if same < 1 else float("nan")
