"""Severities of judges, from the cells that several of them labelled (docs/method.md §15).

The severities are those at which each judge's labels exceed those of the other judges of the same cells exactly as much
as expected, given the systems' abilities and the rubrics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import helmert
from scipy.optimize import minimize_scalar
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, stdtrit

from ..types import FloatArray, IntArray
from .fit import IrtFit

SEVERITY_SD = 5.0  # logits; keeps the severity of a judge who never fails anything finite
SPREADS = 1e-3, 10.0  # logits: bounds of the search for the judges' spread


@dataclass(frozen=True)
class Severities:
    """Severities of K judges, logits, of mean 0.

    value: (K,). contributions: (n, K) contribution of each of n units to the error of ``value``, 0 for a unit without
    common cells. n_units: number of units that link the judges (``weakest_link``). covariance: (K, K) of the errors.
    spread: the likeliest sd of the judges. shrunken: (K,) expected severities given that spread.
    """

    value: FloatArray
    contributions: FloatArray
    n_units: int
    covariance: FloatArray
    spread: float
    shrunken: FloatArray

    def interval(self, confidence: float) -> tuple[FloatArray, FloatArray]:
        """(K,) ends of each severity's own interval, by Student's t with n_units - 1 degrees of freedom."""
        half = stdtrit(self.n_units - 1, (1 + confidence) / 2) * np.sqrt(np.diag(self.covariance))
        return self.value - half, self.value + half

    def differences(self, confidence: float) -> tuple[FloatArray, FloatArray]:
        """(K, K) row's severity minus column's, and half the width of its interval; simultaneous (Bonferroni)."""
        own, size = np.diag(self.covariance), len(self.value)
        variance = np.maximum(own[:, None] + own - 2 * self.covariance, 0.0)
        tail = (1 - confidence) / max(size * (size - 1), 1)
        multiple = -stdtrit(self.n_units - 1, tail)
        return np.subtract.outer(self.value, self.value), multiple * np.sqrt(variance)


@dataclass(frozen=True)
class SharedCells:
    """The C cells that several judges labelled.

    z: (C, L - 1) logits of passing each threshold before a judge of severity 0; NaN beyond the rubric's own thresholds.
    top: (C,) its highest level. label: (C, K), 0 where unknown. known: (C, K) 1 where there is a label, else 0. rubric:
    (C,).
    """

    z: FloatArray
    top: FloatArray
    label: FloatArray
    known: FloatArray
    rubric: IntArray

    @classmethod
    def of(cls, fit: IrtFit, panel: FloatArray) -> Self:
        """The shared cells of a panel (M, J, K), at the abilities and rubrics of ``fit``, without constant rubrics."""
        i, j = np.nonzero((~np.isnan(panel)).sum(axis=2) * ~fit.constant > 1)
        label, items = panel[i, j], fit.items.of(j)
        z = np.asarray(items.a[:, None] * (fit.theta[i, None] - items.edges), dtype=np.float64)
        top = np.asarray(fit.levels[j] - 1.0, dtype=np.float64)
        return cls(z, top, np.nan_to_num(label), (~np.isnan(label)).astype(float), j)

    def excess(self, severity: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(C, K) label minus its expectation, as a share of the scale, and its derivative in the severity."""
        expected, slope = np.zeros(self.label.shape), np.zeros(self.label.shape)
        for z in self.z.T:
            passed = expit(np.where(np.isnan(z), -np.inf, z)[:, None] - severity)
            expected += passed
            slope += passed * (1 - passed)
        scale = self.known / self.top[:, None]
        return (self.label - expected) * scale, slope * scale

    def _within(self, values: FloatArray) -> FloatArray:
        """``values`` (C, K) minus their mean over the judges of the same cell."""
        return values - self.known * (values.sum(axis=1) / self.known.sum(axis=1))[:, None]

    def _steepness(self, slope: FloatArray) -> FloatArray:
        """(K, K) derivatives in the severities of the summed excesses within cells."""
        share = self.known / self.known.sum(axis=1, keepdims=True)
        return np.asarray(np.diag(slope.sum(axis=0)) - share.T @ slope)

    def nearer(self, severity: FloatArray) -> FloatArray:
        """(K,) severities after one Newton step to where each judge's excess within cells is 0, up to a weak prior.

        The step does not change the expected sum of the labels, so that the rubrics need not become harder with it.
        """
        excess, slope = self.excess(severity)
        weak = (np.eye(len(severity)) - 1 / len(severity)) / SEVERITY_SD**2
        # The excesses sum to 0, so one direction is free: the last row fixes the common move of all judges.
        bend = np.vstack([self._steepness(slope) + weak, slope.sum(axis=0)])
        pull = np.append(self._within(excess).sum(axis=0) - weak @ severity, 0.0)
        return severity - np.clip(np.linalg.lstsq(bend, pull, rcond=None)[0], -1.0, 1.0)

    def _errors(self, severity: FloatArray, unit: IntArray) -> tuple[FloatArray, FloatArray]:
        """(n, K) contributions of the n units to the error, and the least covariance (K, K).

        unit: (J,) of each rubric.
        """
        contrasts = helmert(len(severity))
        excess, slope = self.excess(severity)
        within = self._within(excess)
        sums = np.zeros((int(unit.max()) + 1, len(severity)))
        np.add.at(sums, unit[self.rubric], within)
        inverse = contrasts.T @ np.linalg.pinv(contrasts @ self._steepness(slope) @ contrasts.T) @ contrasts
        share = self.known / self.known.sum(axis=1, keepdims=True)
        tied = np.diag(self.known.sum(axis=0)) - share.T @ self.known
        variance = ((within**2).sum() + 1) / (tied.trace() + 1)
        return -sums @ inverse.T, variance * inverse @ tied @ inverse.T

    def severities(self, severity: FloatArray, unit: IntArray, n_units: int) -> Severities:
        """Severities (K,) with their errors. unit: (J,) of each rubric, 0 to n - 1. n_units: those that link judges.

        The errors are computed from the units with shared cells. They are at least those of independent labels that
        vary within cells as observed, with one further label as far from its expectation as possible.
        """
        contributions, least = self._errors(severity, unit)
        shown = contributions.T @ contributions * n_units / max(n_units - 1, 1)
        covariance = shown if np.trace(shown) > np.trace(least) else least
        spread, shrunken = shrink(severity, covariance)
        return Severities(severity, contributions, n_units, covariance, spread, shrunken)


def shrink(value: FloatArray, covariance: FloatArray) -> tuple[float, FloatArray]:
    """The likeliest sd of the judges around their mean, and the expected values (K,) given that sd."""
    contrasts = helmert(len(value))
    errors, axes = np.linalg.eigh(contrasts @ covariance @ contrasts.T)
    errors, along = np.maximum(errors, 0.0), contrasts @ value @ axes

    def loss(log_sd: float) -> float:
        total = np.exp(2 * log_sd) + errors
        return float((np.log(total) + along**2 / total).sum())

    low, high = np.log(SPREADS)
    spread = float(np.exp(minimize_scalar(loss, bounds=(float(low), float(high)), method="bounded").x))
    return spread, (axes @ (along * spread**2 / (spread**2 + errors))) @ contrasts


def common_queries(panel: FloatArray, unit: IntArray) -> IntArray:
    """(K, K) number of units in which two judges both labelled some cell of a panel (M, J, K). unit: (J,) from 0."""
    known = ~np.isnan(panel)
    found = np.zeros((panel.shape[2],) * 2, dtype=np.int64)
    for each in range(int(unit.max(initial=-1)) + 1):
        cells = known[:, unit == each].reshape(-1, panel.shape[2]).astype(np.float64)
        found += cells.T @ cells > 0
    return found


def weakest_link(common: IntArray) -> int:
    """The largest n such that pairs with at least n common units link all judges in one chain; 0 if no pairs do.

    common: (K, K) of ``common_queries``.
    """
    for least in np.unique(common[common > 0])[::-1]:
        if connected_components(common >= least, directed=False)[0] == 1:
            return int(least)
    return 0
