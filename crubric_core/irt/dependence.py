"""Local dependence: Yen's Q3 over all pairs of rubrics, without ever holding a rubrics × rubrics matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ..types import BoolArray, FloatArray, IntArray
from .diagnostics import standardised

BLOCK = 256  # rubrics against all later ones at one time
PRACTICAL = 0.2  # distance from the mean Q3 that matters (Christensen, Makransky & Horton, 2017)
EDGES = np.linspace(-1.0, 1.0, 81)
LEVEL = 0.05  # bound on the chance that any pair is flagged when no rubrics depend


@dataclass(frozen=True)
class LocalDependence:
    """Yen's Q3 of all pairs of rubrics with at least four common systems.

    pairs: the most extreme ones, worst first: first, second (rubric indices), q3, systems, same_query, flagged.
    n_pairs, n_flagged, mean: over all pairs. critical: distance from the mean at which a complete pair is flagged.
    within_query: share of the flagged pairs whose rubrics belong to one query; NaN if none is flagged.
    counts: (80,) histogram of Q3 over the ``edges`` (81,) from -1 to 1.
    """

    pairs: pd.DataFrame
    n_pairs: int
    n_flagged: int
    mean: float
    critical: float
    within_query: float
    counts: IntArray
    edges: FloatArray


@dataclass(frozen=True)
class _Pairs:
    first: IntArray
    second: IntArray
    q3: FloatArray
    systems: IntArray


_NO_PAIRS = pd.DataFrame(
    {
        "first": np.empty(0, dtype=np.int64),
        "second": np.empty(0, dtype=np.int64),
        "q3": np.empty(0),
        "systems": np.empty(0, dtype=np.int64),
        "same_query": np.empty(0, dtype=np.bool_),
        "flagged": np.empty(0, dtype=np.bool_),
    }
)


def local_dependence(residual: FloatArray, query_index: IntArray, *, keep: int = 200) -> LocalDependence:
    """Correlate the residuals (M, J) of every two rubrics over the systems (Yen, 1984).

    A pair is flagged when it lies more than 0.2 from the mean Q3 and Fisher's z of that distance exceeds the normal
    quantile at LEVEL shared among all pairs (Bonferroni). With few systems a rubric has few possible patterns of labels
    and equal patterns are common: compare ``n_flagged`` with that of a table simulated from the model. query_index:
    (J,) query of each rubric. keep: most pairs that the result lists.
    """
    counts = np.zeros(len(EDGES) - 1, dtype=np.int64)
    n_pairs, total = 0, 0.0
    for block in _blocks(residual):
        counts += np.histogram(block.q3, EDGES)[0]
        n_pairs, total = n_pairs + len(block.q3), total + float(block.q3.sum())
    mean = total / n_pairs if n_pairs else float("nan")
    bound = -float(ndtri(LEVEL / max(n_pairs, 1) / 2))
    frames, n_flagged, n_within = [], 0, 0
    for block in _blocks(residual):
        flagged = _flagged(block, mean, bound)
        same = query_index[block.first] == query_index[block.second]
        n_flagged, n_within = n_flagged + int(flagged.sum()), n_within + int((flagged & same).sum())
        frames.append(_extreme(block, mean, flagged, same, keep))
    pairs = pd.concat([_NO_PAIRS, *frames], ignore_index=True) if n_pairs else _NO_PAIRS
    worst = (pairs["q3"] - mean).abs().sort_values(ascending=False, kind="stable").index[:keep]
    critical = max(PRACTICAL, float(np.tanh(bound / np.sqrt(max(len(residual) - 3, 1)))))
    within = n_within / n_flagged if n_flagged else float("nan")
    pairs = pairs.loc[worst].reset_index(drop=True)
    return LocalDependence(pairs, n_pairs, n_flagged, mean, critical, within, counts, EDGES)


def q3_among(residual: FloatArray, rubrics: IntArray) -> FloatArray:
    """(n, n) Q3 among a few ``rubrics`` (indices) of the residuals (M, J); NaN on the diagonal and where undefined."""
    chosen = residual[:, rubrics]
    known = ~np.isnan(chosen)
    values = np.where(known, chosen, 0.0)
    q3, systems = _pairwise(values, known, values, known)
    np.fill_diagonal(q3, np.nan)
    return np.where(systems > 3, np.clip(q3, -1.0, 1.0), np.nan)


def worst_rubrics(found: LocalDependence, most: int = 24) -> IntArray:
    """Rubrics of the most extreme pairs, worst first, at most ``most`` of them."""
    flat = found.pairs[["first", "second"]].to_numpy(dtype=np.int64).ravel()
    _, place = np.unique(flat, return_index=True)
    return flat[np.sort(place)[:most]]


def _flagged(block: _Pairs, mean: float, bound: float) -> BoolArray:
    distance = np.abs(block.q3 - mean)
    z = np.arctanh(np.minimum(distance, 1 - 1e-12)) * np.sqrt(np.maximum(block.systems - 3, 0))
    return (distance > PRACTICAL) & (z > bound)


def _extreme(block: _Pairs, mean: float, flagged: BoolArray, same: BoolArray, keep: int) -> pd.DataFrame:
    distance = np.abs(block.q3 - mean)
    top = np.argpartition(-distance, keep)[:keep] if len(distance) > keep else np.arange(len(distance))
    top.sort()
    return pd.DataFrame(
        {
            "first": block.first[top],
            "second": block.second[top],
            "q3": block.q3[top],
            "systems": block.systems[top],
            "same_query": same[top],
            "flagged": flagged[top],
        }
    )


def _blocks(residual: FloatArray) -> Iterator[_Pairs]:
    """All pairs of rubrics, each pair once, with their correlation over the systems that both have."""
    standard, varies = standardised(residual)
    columns = np.flatnonzero(varies)
    known = ~np.isnan(residual[:, columns])
    complete = bool(known.all())
    values = standard[:, columns] if complete else np.where(known, residual[:, columns], 0.0)
    for start in range(0, len(columns) - 1, BLOCK):
        stop = min(start + BLOCK, len(columns))
        left, right = slice(start, stop), slice(start, len(columns))
        if complete:
            q3 = values[:, left].T @ values[:, right]
            systems = np.full(q3.shape, len(residual))
        else:
            q3, systems = _pairwise(values[:, left], known[:, left], values[:, right], known[:, right])
        i, j = np.nonzero(
            (np.arange(q3.shape[1]) > np.arange(len(q3))[:, None]) & (systems > 3) & ~np.isnan(q3)
        )
        yield _Pairs(columns[start + i], columns[start + j], np.clip(q3[i, j], -1.0, 1.0), systems[i, j])


def _pairwise(
    x: FloatArray, known_x: BoolArray, y: FloatArray, known_y: BoolArray
) -> tuple[FloatArray, IntArray]:
    """Pearson correlations over the rows known in both columns, by matrix products; NaN where a column does not vary.

    Also the number of common rows of each pair.
    """
    kx, ky = known_x.astype(float), known_y.astype(float)
    n = np.maximum(kx.T @ ky, 1.0)
    sum_x, sum_y = x.T @ ky, kx.T @ y
    covariance = x.T @ y - sum_x * sum_y / n
    variance = ((x * x).T @ ky - sum_x**2 / n) * (kx.T @ (y * y) - sum_y**2 / n)
    defined = variance > 1e-18
    q3 = np.where(defined, covariance / np.sqrt(np.where(defined, variance, 1.0)), np.nan)
    return q3, (kx.T @ ky).astype(np.int64)
