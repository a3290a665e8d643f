"""Anchors correct the posteriors: judges who share errors mislead Dawid–Skene, and anchors show it.

Dawid–Skene takes judges as independent. Two who copy each other's errors then count as two witnesses, and a few fixed
anchors among thousands of cells do not outweigh them. But every pattern of labels (which judge gave which label) has
one posterior, and its anchored cells show how often it is right. So the posterior of a pattern becomes

    (κ · Dawid–Skene's + anchors of each level) / (κ + anchors),

a Dirichlet prior centred on Dawid–Skene's answer. κ is the value under which the anchors are likeliest: large if they
support Dawid–Skene, small if they do not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from ..types import FloatArray, IntArray
from .patterns import UNKNOWN, find_patterns

STRENGTHS = np.geomspace(0.5, 1e6, 64)
"""Values of κ that are tried, in anchors."""
LEAST = 1e-6


@dataclass(frozen=True)
class Recalibrated:
    """posterior: (U, L), NaN where unknown.

    strength: κ, the number of anchors to which Dawid–Skene's answer is equivalent.
    """

    posterior: FloatArray
    strength: float


def recalibrate_posterior(labels: FloatArray, posterior: FloatArray, anchors: FloatArray) -> Recalibrated:
    """Posteriors (U, L) of labels (U, K), corrected by the anchors (U,) of units with the same labels; NaN: no anchor.

    Anchored units keep their anchor. Units without labels are unchanged, and so are all units if no labelled unit has
    an anchor.
    """
    patterns = find_patterns(labels)
    labelled = (patterns.values != UNKNOWN).any(axis=1)
    anchored = ~np.isnan(anchors)
    n_levels = posterior.shape[1]
    counts = _counts(patterns.index[anchored], anchors[anchored].astype(np.int64), len(labelled), n_levels)
    counts[~labelled] = 0
    free = ~anchored & labelled[patterns.index]
    if not counts.any() or not free.any():
        return Recalibrated(posterior.copy(), np.inf)
    centre = np.full(counts.shape, 1 / n_levels)
    centre[patterns.index[free]] = posterior[free]
    centre = np.maximum(centre, LEAST)
    centre /= centre.sum(axis=1, keepdims=True)
    strength = float(STRENGTHS[np.argmax([_evidence(counts, centre, kappa) for kappa in STRENGTHS])])
    mixed = (strength * centre + counts) / (strength + counts.sum(axis=1, keepdims=True))
    return Recalibrated(np.where(free[:, None], mixed[patterns.index], posterior), strength)


def _counts(pattern: IntArray, level: IntArray, n_patterns: int, n_levels: int) -> FloatArray:
    """(P, L) anchors of each level among the units of each pattern."""
    found = np.bincount(pattern * n_levels + level, minlength=n_patterns * n_levels)
    return found.reshape(n_patterns, n_levels).astype(np.float64)


def _evidence(counts: FloatArray, centre: FloatArray, kappa: float) -> float:
    """Log-likelihood of the anchors under Dirichlet–multinomials with means ``centre`` (P, L) and strength κ."""
    n = counts.sum(axis=1)
    per_level = gammaln(kappa * centre + counts) - gammaln(kappa * centre)
    return float((gammaln(kappa) - gammaln(kappa + n)).sum() + per_level.sum())
