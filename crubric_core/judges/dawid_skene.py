"""Dawid–Skene (1979): each judge's label probabilities given the true level, and the true levels, by exact EM.

Units with the same labels (and anchor) have the same posterior, so that the E-step runs over distinct patterns: three
binary judges have at most 27 patterns, however many units there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ..arguments import require_count
from ..errors import SettingsError
from ..types import FloatArray, IntArray
from .patterns import UNKNOWN, find_patterns

FLOOR = 1e-10
"""Least probability of a label given a truth, so that one slip never excludes a level for good."""


@dataclass(frozen=True)
class DawidSkene:
    """Fit to U units, K judges, L levels.

    posterior: (U, L) Pr(level | labels); NaN where a unit has neither label nor anchor.
    prior: (L,) share of each level. confusion: (K, L, L) Pr(judge k gives the column's level | the truth is the row's);
    NaN rows for a judge without labels. loglik: of the labels, the anchors' levels being known. iterations: EM steps.
    converged: whether the last step gained less than the tolerance.
    """

    posterior: FloatArray
    prior: FloatArray
    confusion: FloatArray
    loglik: float
    iterations: int
    converged: bool

    def level(self) -> FloatArray:
        """(U,) the likeliest level, the lower of equally likely ones; NaN where unknown."""
        unknown = np.isnan(self.posterior[:, 0])
        return np.where(unknown, np.nan, np.where(unknown[:, None], 0, self.posterior).argmax(axis=1))


def dawid_skene(
    labels: FloatArray,
    n_levels: int,
    anchors: FloatArray | None = None,
    *,
    tolerance: float = 1e-10,
    max_iterations: int = 10_000,
) -> DawidSkene:
    """Fit the labels (U, K) of levels 0..L-1, NaN unknown, starting from the shares of the judges' votes.

    anchors: (U,) the true level where it is known, NaN elsewhere; their posterior stays fixed.
    EM stops when the log-likelihood gains less than ``tolerance`` per unit; no step can lose. Raises SettingsError if a
    label or anchor is not such a level.
    """
    _check(labels, n_levels, anchors)
    require_count("max_iterations", max_iterations, 1, SettingsError)
    known = np.full(len(labels), np.nan) if anchors is None else anchors
    patterns = find_patterns(np.column_stack([labels, known]))
    values = patterns.values
    informed = (values != UNKNOWN).any(axis=1)
    state = fit_patterns(
        values[informed], patterns.count[informed][None], n_levels, tolerance=tolerance, limit=max_iterations
    )
    posterior = np.full((len(values), n_levels), np.nan)
    posterior[informed] = state.posterior[0]
    return DawidSkene(
        posterior=posterior[patterns.index],
        prior=state.prior[0],
        confusion=state.confusion[0],
        loglik=float(state.loglik[0]),
        iterations=state.iterations,
        converged=state.converged,
    )


@dataclass(frozen=True)
class PatternFit:
    """R fits at once to the same P patterns with different counts.

    posterior (R, P, L), prior (R, L), confusion (R, K, L, L), loglik (R,).
    """

    posterior: FloatArray
    prior: FloatArray
    confusion: FloatArray
    loglik: FloatArray
    iterations: int
    converged: bool


def fit_patterns(
    values: IntArray,
    counts: FloatArray | IntArray,
    n_levels: int,
    *,
    tolerance: float,
    limit: int,
    start: FloatArray | None = None,
) -> PatternFit:
    """EM over patterns (P, K + 1), the last column the anchor, with counts (R, P).

    ``start`` (P, L) is the initial posterior; without it, the shares of votes. All R fits go on until the last has
    converged.
    """
    given = (values[:, :-1, None] == np.arange(n_levels)).astype(np.float64)
    anchor = _anchor_term(values[:, -1], n_levels)
    weight = np.asarray(counts, dtype=np.float64)
    units = np.maximum(weight.sum(axis=1), 1)
    posterior = _clamp(_shares(given) if start is None else start, anchor)[None]
    before = np.full(len(weight), -np.inf)
    for step in range(1, limit + 1):  # noqa: B007 - the last step is reported
        prior, said = _maximise(posterior * weight[:, :, None], given)
        norm, posterior = _expect(prior, said, given, anchor)
        loglik = (weight * norm).sum(axis=1)
        converged = bool(np.all(loglik - before <= tolerance * units))
        if converged:
            break
        before = loglik
    return PatternFit(posterior, prior, _rows(said, np.nan), loglik, step, converged)


def _maximise(mass: FloatArray, given: FloatArray) -> tuple[FloatArray, FloatArray]:
    """M-step: from posterior mass (R, P, L), shares of levels (R, L) and mass of label l at truth t (R, K, L, L)."""
    n_rows, n_judges, n_levels = given.shape
    said = given.reshape(n_rows, n_judges * n_levels).T @ mass
    prior = mass.sum(axis=1)
    prior = prior / np.maximum(prior.sum(axis=1, keepdims=True), FLOOR)
    return prior, said.reshape(len(mass), n_judges, n_levels, n_levels).transpose(0, 1, 3, 2)


def _expect(
    prior: FloatArray, said: FloatArray, given: FloatArray, anchor: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """E-step: log-likelihood (R, P) of a unit of each pattern, and the posterior (R, P, L) of its level."""
    n_rows, n_judges, n_levels = given.shape
    log_said = np.log(np.maximum(_rows(said, 1 / n_levels), FLOOR)).transpose(0, 1, 3, 2)
    flat = given.reshape(n_rows, n_judges * n_levels)
    log_joint = flat @ log_said.reshape(len(said), n_judges * n_levels, n_levels)
    log_joint = log_joint + np.log(np.maximum(prior, FLOOR))[:, None] + anchor
    norm = logsumexp(log_joint, axis=2)
    return norm, np.exp(log_joint - norm[:, :, None])


def _rows(said: FloatArray, empty: float) -> FloatArray:
    """Each row divided by its sum; ``empty`` if the sum is 0."""
    total = said.sum(axis=-1, keepdims=True)
    return np.where(total > 0, said / np.where(total > 0, total, 1), empty)


def _shares(given: FloatArray) -> FloatArray:
    """(P, K, L) → (P, L) shares of the votes; equal shares without a vote."""
    votes = given.sum(axis=1)
    votes = np.where(votes.any(axis=1, keepdims=True), votes, 1.0)
    return votes / votes.sum(axis=1, keepdims=True)


def _anchor_term(anchors: IntArray, n_levels: int) -> FloatArray:
    """(P, L): 0 where the level is possible, -inf where the anchor (P,) excludes it."""
    excluded = (anchors[:, None] != UNKNOWN) & (anchors[:, None] != np.arange(n_levels))
    return np.where(excluded, -np.inf, 0.0)


def _clamp(posterior: FloatArray, anchor: FloatArray) -> FloatArray:
    anchored = np.isneginf(anchor).any(axis=1, keepdims=True)
    return np.where(anchored, np.exp(anchor), posterior)


def _check(labels: FloatArray, n_levels: int, anchors: FloatArray | None) -> None:
    if n_levels < 2:
        raise SettingsError(f"n_levels = {n_levels!r} is out of range: expected at least 2.")
    for name, values in (("labels", labels), ("anchors", anchors)):
        known = np.empty(0) if values is None else values[~np.isnan(values)]
        invalid = known[(known < 0) | (known >= n_levels) | (known != np.floor(known))]
        if len(invalid):
            raise SettingsError(
                f"{name} hold {invalid[0]:g}: expected whole levels from 0 to {n_levels - 1}, or NaN."
            )
