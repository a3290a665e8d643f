"""Agreement of raters beyond chance: Cohen's and Fleiss' kappa, Krippendorff's alpha, with intervals.

Every coefficient here is a function of one L×L table that is a sum over units: for two raters the confusion table, for
a panel the table of coincidences (Krippendorff 2011), to which a unit with n labels adds each ordered pair of its
labels with weight 1 / (n - 1). So the table without some units is the whole table minus their tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ..errors import SettingsError, require_choice
from ..intervals import FEWEST_CLUSTERS, coefficient_interval, effective_clusters, ratio, share_interval
from ..types import FloatArray, IntArray
from .patterns import UNKNOWN, Patterns, find_patterns

Metric = Literal["nominal", "ordinal", "interval"]
Coefficient = Literal["percent", "cohen", "fleiss", "alpha_nominal", "alpha_ordinal", "alpha_interval"]


@dataclass(frozen=True)
class Agreement:
    """One coefficient of a panel.

    value: at most 1; 0 is chance agreement (for ``percent``, 0..1); NaN where undefined.
    low, high: interval for further units, or groups of them, like these; NaN if ``value`` is NaN, or with fewer than
    FEWEST_CLUSTERS groups.
    n_units: number of units that count: those with two labels or more; for ``fleiss`` and ``cohen``, with a full panel.
    """

    coefficient: Coefficient
    value: float
    low: float
    high: float
    n_units: int


def cohen_kappa(first: FloatArray, second: FloatArray) -> FloatArray:
    """Cohen's kappa 1 - (1 - p_o) / (1 - p_e) of two raters along the first axis; (U, ...) → (...), at most 1.

    Units that one of the two has not labelled are skipped. NaN if both always give the same single level.
    """
    known = ~(np.isnan(first) | np.isnan(second))
    levels = np.unique(np.concatenate([first[known], second[known]]))
    table = np.einsum("u...l,u...m->...lm", _one_hot(first, known, levels), _one_hot(second, known, levels))
    return _cohen(table, levels)


def kappa_of_counts(counts: FloatArray) -> FloatArray:
    """Cohen's kappa (p_o - p_e) / (1 - p_e) of 2 × 2 counts (…, 4) → (…), at most 1.

    counts: units with label 1 from both, from the first only, from the second only, from neither. NaN without counts,
    and if both always give the same single label (p_e = 1).
    """
    n = counts.sum(axis=-1)
    pp, pf, fp, ff = np.moveaxis(counts, -1, 0)
    expected = (pp + pf) * (pp + fp) + (fp + ff) * (pf + ff)  # n² p_e
    return ratio(n * (pp + ff) - expected, n**2 - expected)


def agreement(
    labels: FloatArray,
    coefficient: Coefficient,
    confidence: float = 0.95,
    groups: IntArray | None = None,
) -> Agreement:
    """A coefficient of ``labels`` (U, K) with its interval over units; ``cohen`` takes two raters.

    groups: (U,) cluster of each unit, 0..G-1, such as its query; units of a cluster may depend on each other. By
    default every unit is a cluster of its own. The interval is that of a share, (1 + coefficient) / 2 except for
    ``percent`` (``intervals.share_interval``): percentiles of a bootstrap are too narrow with few queries and near 1.
    Raises SettingsError for an unknown coefficient, or ``cohen`` with other than two raters.
    """
    require_choice("coefficient", coefficient, get_args(Coefficient))
    if coefficient == "cohen" and labels.shape[1] != 2:
        raise SettingsError(
            f"Cohen's kappa compares 2 raters, not {labels.shape[1]}: use fleiss or alpha_nominal for a panel."
        )
    patterns, tables, levels = _tables(labels, coefficient)
    total = np.tensordot(patterns.count, tables, axes=1)
    value = float(_FORMULAS[coefficient](total, levels))
    per_group = patterns.group_counts(np.arange(len(labels)) if groups is None else groups)
    by_group = (per_group @ tables.reshape(len(tables), -1)).reshape(-1, *total.shape)
    usable = tables.any(axis=(1, 2))
    given = (patterns.values[usable] != UNKNOWN).sum(axis=1)
    counts = patterns.count[usable]
    low, high = _interval(
        coefficient, value, by_group, levels, confidence, counts @ (given * (given - 1) / 2)
    )
    return Agreement(coefficient=coefficient, value=value, low=low, high=high, n_units=int(counts.sum()))


def cohen_of_groups(tables: FloatArray, confidence: float = 0.95) -> Agreement:
    """Cohen's kappa of two raters from the confusion tables (G, L, L) of G groups, with its interval over groups."""
    levels, total = np.arange(tables.shape[1], dtype=np.float64), tables.sum(axis=0)
    value = float(_cohen(total, levels))
    low, high = _interval("cohen", value, tables, levels, confidence, total.sum())
    return Agreement("cohen", value, low, high, int(total.sum()))


def _interval(
    coefficient: Coefficient,
    value: float,
    by_group: FloatArray,
    levels: FloatArray,
    confidence: float,
    pairs: float,
) -> tuple[float, float]:
    """(low, high) of a coefficient from the tables (G, L, L) of its groups; NaN with too few groups.

    pairs: number of pairs of labels of one unit. If there is no disagreement each group is one trial, or less where
    labels are so uniform that chance disagreement is rare. If one level is rare, raters who agree only by chance seldom
    both give it to one unit, and then all groups look alike: the upper end is therefore at least that of
    ``_score_end``.
    """
    size = by_group.sum(axis=(1, 2))
    by_group, size = by_group[size > 0], size[size > 0]
    clusters = effective_clusters(size)
    if np.isnan(value) or len(size) < FEWEST_CLUSTERS:
        return float("nan"), float("nan")
    total = by_group.sum(axis=0)
    left = _FORMULAS[coefficient](np.maximum(total - by_group, 0), levels)
    if coefficient == "percent":
        return share_interval(value, left, clusters, confidence, clusters=clusters)
    chance = 1 - total.sum(axis=0) @ total.sum(axis=1) / total.sum() ** 2
    trials = clusters * min(2 * float(chance), 1.0)
    low, high = coefficient_interval(value, left, trials, confidence, clusters)
    return low, max(high, _score_end(value, float(chance), pairs, confidence))


def _score_end(value: float, chance: float, pairs: float, confidence: float) -> float:
    """Upper end of the score interval of kappa from ``pairs`` pairs of labels, with the variance at each true value.

    The variance is that of two raters with the same shares of labels (Bloch and Kraemer 1989). chance: their
    disagreement by chance. -1 if even kappa 0 is outside the interval around ``value``.
    """
    reach = float(ndtri((1 + confidence) / 2)) ** 2 / pairs

    def beyond(kappa: float) -> bool:
        variance = (1 - kappa) * ((1 - kappa) * (1 - 2 * kappa) + kappa * (2 - kappa) / chance)
        return (kappa - value) ** 2 > reach * variance

    low, high = max(value, 0.0), 1.0
    if chance <= 0 or beyond(low):
        return -1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(middle) else (middle, high)
    return low


def _tables(labels: FloatArray, coefficient: Coefficient) -> tuple[Patterns, FloatArray, FloatArray]:
    """Patterns of ``labels``, the (P, L, L) contributions of one unit of each to the table, and the L level values."""
    levels = np.unique(labels[~np.isnan(labels)])
    places = np.where(np.isnan(labels), np.nan, np.searchsorted(levels, labels))
    patterns = find_patterns(places)
    given = (patterns.values[..., None] == np.arange(len(levels))).astype(np.float64)
    if coefficient == "cohen":
        return patterns, np.einsum("pl,pm->plm", given[:, 0], given[:, 1]), levels
    tables = coincidences(given.sum(axis=1))
    if coefficient == "fleiss":
        tables[(patterns.values == UNKNOWN).any(axis=1)] = 0
    elif coefficient == "percent":
        per_unit = np.maximum(tables.sum(axis=(1, 2), keepdims=True), 1)
        tables = tables / per_unit
    return patterns, tables, levels


def coincidences(counts: FloatArray) -> FloatArray:
    """(P, L, L) pairs of labels in a unit, n_c (n_k - [c = k]) / (n - 1), from counts (P, L); 0 where n < 2."""
    n = counts.sum(axis=1)
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])
    return pairs * (n >= 2)[:, None, None] / np.maximum(n - 1, 1)[:, None, None]


def _one_hot(labels: FloatArray, known: NDArray[np.bool_], levels: FloatArray) -> FloatArray:
    return ((labels[..., None] == levels) & known[..., None]).astype(np.float64)


def _cohen(table: FloatArray, levels: FloatArray) -> FloatArray:
    """Cohen's kappa (...) of confusion counts (..., L, L)."""
    total, weights = table.sum(axis=(-2, -1)), 1 - np.eye(len(levels))
    expected = np.einsum("...l,...m,lm->...", table.sum(axis=-1), table.sum(axis=-2), weights)
    return 1 - ratio(np.einsum("...lm,lm->...", table, weights) * total, expected)


def _percent(table: FloatArray, levels: FloatArray) -> FloatArray:
    return ratio(np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-2, -1)))


def _fleiss(table: FloatArray, levels: FloatArray) -> FloatArray:
    """Fleiss' kappa; its P̄ and margins are those of the coincidences, as every unit has K labels."""
    n = table.sum(axis=(-2, -1))
    different = n - np.trace(table, axis1=-2, axis2=-1)
    return 1 - ratio(different * n, n**2 - (table.sum(axis=-1) ** 2).sum(axis=-1))


def _alpha(metric: Metric) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """The function of Krippendorff's α = 1 - (n - 1) Σ o_ck δ²_ck / Σ n_c n_k δ²_ck for a metric."""

    def alpha(table: FloatArray, levels: FloatArray) -> FloatArray:
        margin = table.sum(axis=-1)
        distance = _squared_distance(metric, margin, levels)
        observed = (table * distance).sum(axis=(-2, -1))
        expected = (margin[..., :, None] * margin[..., None, :] * distance).sum(axis=(-2, -1))
        return 1 - ratio((margin.sum(axis=-1) - 1) * observed, expected)

    return alpha


def _squared_distance(metric: Metric, margin: FloatArray, levels: FloatArray) -> FloatArray:
    """(..., L, L) δ² between levels; the ordinal δ² depends on how often each level is used, margin (..., L)."""
    if metric == "nominal":
        return 1 - np.eye(len(levels))
    if metric == "interval":
        return np.subtract.outer(levels, levels) ** 2
    middle = np.cumsum(margin, axis=-1) - margin / 2
    return np.asarray((middle[..., :, None] - middle[..., None, :]) ** 2)


_FORMULAS: dict[Coefficient, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "percent": _percent,
    "cohen": _cohen,
    "fleiss": _fleiss,
    "alpha_nominal": _alpha("nominal"),
    "alpha_ordinal": _alpha("ordinal"),
    "alpha_interval": _alpha("interval"),
}
