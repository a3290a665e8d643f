"""A panel's agreement and each judge's leniency, compared with those of the calibration (docs/method.md §13).

The scale of a bank is that of the judges who calibrated it. If new labels come from stricter judges, or from judges who
agree less, an ability is off by an amount that no interval shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import stdtr

from ..intervals import known_mean, ratio
from ..types import BoolArray, FloatArray, IntArray

FEWEST = 5  # queries below which no difference is tested


@dataclass(frozen=True)
class PairAgreement:
    """Agreement of each of P pairs of judges, in the order of ``combinations``, on B rubrics.

    equal, pairs: (B, P) numbers of cells on which both have the same label, and of cells that both labelled. sd: (P,)
    of the systems' mean agreements; NaN with fewer than two systems.
    """

    equal: IntArray
    pairs: IntArray
    sd: FloatArray


@dataclass(frozen=True)
class PanelRecord:
    """How K judges labelled B rubrics.

    agreement: (B,) share of pairs of labels on a cell that are equal; NaN without a pair. leniency: (B, K) mean over
    the systems of a judge's label minus the mean of the others' on the same cell, as a share of the scale. systems: M.
    agreement_sd, leniency_sd: sd of the systems' own means, the latter (K,); NaN if unknown, or with fewer than two
    systems. by_pair: agreement of each pair of judges. expected: (B,) agreement expected on further systems, for
    rubrics that were selected for agreement (``expected_agreement``). The last two are None in older files.
    """

    judges: tuple[str, ...]
    agreement: FloatArray
    leniency: FloatArray
    systems: int
    agreement_sd: float
    leniency_sd: FloatArray
    by_pair: PairAgreement | None = None
    expected: FloatArray | None = None


@dataclass(frozen=True)
class Drift:
    """A difference from the calibration: its mean over n queries and its p-value (t, queries as units)."""

    difference: float
    p_value: float
    n: int


def panel_record(judges: tuple[str, ...], panel: FloatArray, levels: IntArray) -> PanelRecord:
    """The record of labels (M, B, K) as the model reads them. levels: (B,) of each rubric."""
    (same, both), off = _agreement(panel), _leniency(panel, levels)
    equal, pairs = same.sum(axis=2), both.sum(axis=2)
    by_pair = np.where(both, same, np.nan)
    return PanelRecord(
        judges,
        ratio(equal.sum(axis=0), pairs.sum(axis=0)),
        known_mean(off, axis=0),
        len(panel),
        float(_spread(ratio(equal, pairs))),
        _spread(off),
        PairAgreement(same.sum(axis=0), both.sum(axis=0), _spread(by_pair)),
    )


def expected_agreement(panel: FloatArray) -> FloatArray:
    """(J,) agreement that labels (M, J, K) of further systems would show on each rubric: shrunken to the mean.

    Rubrics that are selected for their agreement have some of it by chance. The best linear prediction, with the
    variance of a rubric's agreement over systems as its error.
    """
    equal, pairs = np.zeros((2, *panel.shape[:2]), dtype=np.int64)
    for judges in combinations(range(panel.shape[2]), 2):
        same, both = _agreement(panel[:, :, judges])
        equal, pairs = equal + same[:, :, 0], pairs + both[:, :, 0]
    found, of_cell = ratio(equal.sum(axis=0), pairs.sum(axis=0)), ratio(equal, pairs)
    n = np.isfinite(of_cell).sum(axis=0)
    squares = np.nansum((of_cell - known_mean(of_cell, axis=0)) ** 2, axis=0)
    known = np.isfinite(found) & (n > 1)
    if known.sum() < 2:
        return found
    error = float(ratio(squares, n * (n - 1))[known].mean())
    mean, variance = float(found[known].mean()), float(found[known].var(ddof=1))
    return mean + (1 - min(error / variance, 1.0) if variance > 0 else 0.0) * (found - mean)


def common_agreement(new: PanelRecord, old: PanelRecord) -> tuple[FloatArray, FloatArray, float] | None:
    """Agreement (B,) on the new and on the old labels, of the pairs of judges common to both; the old systems' sd.

    Old pairs get the weights of the new ones, so that differences are not due to judges who label fewer systems. None
    without a common pair, or if an older file has only the total over all pairs and some of these are missing.
    """
    place = {frozenset(pair): at for at, pair in enumerate(combinations(old.judges, 2))}
    common = [
        (at, place[frozenset(pair)])
        for at, pair in enumerate(combinations(new.judges, 2))
        if frozenset(pair) in place
    ]
    if not common or new.by_pair is None or (old.by_pair is None and len(common) < len(place)):
        return None
    mine, theirs = np.array(common).T
    equal, pairs = new.by_pair.equal[:, mine], new.by_pair.pairs[:, mine]
    if old.by_pair is None:
        return ratio(equal.sum(axis=1), pairs.sum(axis=1)), old.agreement, old.agreement_sd
    share = ratio(old.by_pair.equal, old.by_pair.pairs)[:, theirs]
    known = np.isfinite(share)
    total = np.where(known, pairs, 0).sum(axis=1)
    before = np.where(known, share * pairs, 0.0).sum(axis=1)
    # The mean of some of the pairs varies no more than they do on average.
    sd = old.agreement_sd if len(common) == len(place) else float(old.by_pair.sd[theirs].mean())
    return ratio(np.where(known, equal, 0).sum(axis=1), total), ratio(before, total), sd


def _spread(values: FloatArray) -> FloatArray:
    """Standard deviation over the systems of their mean values (M, B, …), each value minus its rubric's mean."""
    means = known_mean(values - known_mean(values, axis=0), axis=1)
    n = np.isfinite(means).sum(axis=0)
    squares = np.nansum((means - known_mean(means, axis=0)) ** 2, axis=0)
    return np.asarray(np.sqrt(ratio(squares, n - 1)))


def _agreement(panel: FloatArray) -> tuple[BoolArray, BoolArray]:
    """(M, B, P) whether the two judges of a pair have equal labels of a cell, and whether both have labelled it."""
    known = np.isfinite(panel)
    first, second = np.triu_indices(panel.shape[2], 1)
    both = known[:, :, first] & known[:, :, second]
    return both & (panel[:, :, first] == panel[:, :, second]), both


def _leniency(panel: FloatArray, levels: IntArray) -> FloatArray:
    """(M, B, K) each label minus the mean of the other judges' on its cell, as a share of the scale."""
    share = panel / (levels - 1)[None, :, None]
    known = np.isfinite(share)
    value = np.where(known, share, 0.0)
    others = known.sum(axis=2, keepdims=True) - known
    rest = ratio(value.sum(axis=2, keepdims=True) - value, others)
    return np.where(known, value - rest, np.nan)


def drift(
    new: FloatArray, old: FloatArray, unit: IntArray, beside: tuple[float, int, int] | None = None
) -> Drift | None:
    """The mean difference of two values (B,) over the rubrics that have both, tested with queries as units.

    unit: (B,) query of each rubric. beside: how much systems differ from each other: the standard deviation of a
    system's mean, the number of systems behind the new values, and that behind the old ones; None: both are of the same
    systems. With ``beside``, the difference is tested as one between different systems, with the degrees of freedom of
    the old ones at most. None if fewer than FEWEST queries have both, or if that standard deviation is unknown.
    """
    known = np.flatnonzero(np.isfinite(new) & np.isfinite(old))
    queries, at = np.unique(unit[known], return_inverse=True)
    n = len(queries)
    sd, these, those = beside or (0.0, 1, n)
    if n < FEWEST or not np.isfinite(sd):
        return None
    sums = np.bincount(at, new[known] - old[known])
    mean = float(sums.sum() / len(known))
    rest = sums - mean * np.bincount(at)
    variance = float((rest**2).sum()) * n / (n - 1) / len(known) ** 2 + sd**2 * (1 / these + 1 / those)
    p = 2 * float(stdtr(min(n, those) - 1, -abs(mean) / np.sqrt(variance))) if variance else float(mean == 0)
    # The p-value is at least that of the sign test, however little the differences vary.
    return Drift(mean, p if beside else max(p, 2.0 ** (1 - n)), n)
