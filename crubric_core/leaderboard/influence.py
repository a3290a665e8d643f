"""Estimates of the systems and the contribution of each query to them (docs/method.md §10).

A system may do well or badly on whole queries, so rubrics of one query are not independent evidence: the query is the
unit. An estimate is to first order a sum of independent contributions psi of the units, so that one matrix (units ×
systems) determines the variance of every estimate and of every difference. If claims are to hold for further domains,
the queries of a domain are one unit together: their contributions are summed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from ..irt.cells import label_scores
from ..judges.unequal_panels import Allowance, UnequalPanels
from ..types import BoolArray, FloatArray, IntArray
from .cross_fit import CrossFit
from .different_units import ROUNDING, beside_units, by_unit, differing_units
from .linked import linked_groups

Unit = Literal["query", "rubric", "domain"]
# least equivalent number of equal units, as a share of all units, with which units count as similar
ALIKE = 0.75
SHORT = 0.05  # of a unit: by how much the equivalent number may fall short of a whole number


@dataclass(frozen=True)
class Domains:
    """Which queries form one unit of evidence together.

    of: (N,) unit of each query, 0 … n - 1. named: (n,) True if the unit is a domain; False if it is a query without
    one.
    """

    of: IntArray
    named: BoolArray

    def sums(
        self, psi: FloatArray, weight: FloatArray | BoolArray, queries: IntArray
    ) -> tuple[FloatArray, IntArray, bool, int]:
        """Sum the contributions (n', M) of ``queries`` (n',) by unit.

        Returns the scaled sums of the units with a label, in their order; numbers of equal units and whether units are
        very unequal, both of ``as_equal``; and the number of these units that are no domain. weight: (n', M) weight of
        each query in the system's estimate; for an ability, its number of labels; 0 without a label. The memory order
        of psi is kept, so that results stay bit-equal if each query is a unit.
        """
        used = weight.any(axis=1)
        units, place = np.unique(self.of[queries[used]], return_inverse=True)
        sums = np.zeros_like(psi, shape=(len(units), psi.shape[1]))
        size = np.zeros(sums.shape)
        np.add.at(sums, place, psi[used])
        np.add.at(size, place, weight[used])
        scale, n, unequal = as_equal(size)
        return sums * scale, n, unequal, int((~self.named[units]).sum())


def as_equal(size: FloatArray) -> tuple[FloatArray, IntArray, bool]:
    """Scale factors (n, M) for unequal units, (M,) numbers of equal units, whether units are very unequal.

    size: (n, M), for a score the weight, for an ability the number of labels. A unit with the share w of a system's
    estimate pulls the mean towards itself and shows 1 - 2 w + sum w² of its variance, or 1 - 1 / n if all are equal:
    after scaling, n / (n - 1) times the squares is the whole variance. A system's units are equivalent to n = 1 / sum
    w² equal ones (Kish 1965), rounded down unless within SHORT of the next number: 16 and 15 labels are two units.
    """
    total, squares = size.sum(axis=0), (size**2).sum(axis=0)
    n = np.floor(np.divide(total**2, squares, out=np.zeros(total.shape), where=squares > 0) + SHORT)
    shown = n * (total**2 - 2 * total * size + squares)
    where = (size > 0) & (shown > 0)
    scale = np.sqrt(np.divide((n - 1) * total**2, shown, out=np.ones(shown.shape), where=where))
    share = n / np.maximum((size > 0).sum(axis=0), 1)
    return scale, n.astype(np.int64), bool(np.median(share) < ALIKE) if len(share) else False


def bessel_correction(units: IntArray) -> FloatArray:
    """Factor n / (n - 1) for each number of units, any shape; 0 for one unit, which shows no variance."""
    return np.divide(units, units - 1, out=np.zeros(units.shape), where=units > 1)


@dataclass(frozen=True)
class Influence:
    """M estimates and their contributions from n units.

    estimate: (M,) abilities in units of N(0, 1), or scores; NaN for a system without evidence.
    psi: (n, M) contribution of each unit, scaled by ``as_equal`` if units are unequal; 0 where the system has no label,
        except for scores on different queries (``beside_units``).
    n_units: (M,) units with a label of the system; if they are unequal, the equivalent number of equal units.
    unit: "query", "rubric" or "domain".
    floor: (M,) least variance of the estimate: the posterior variance; for scores 0, unless saturated.
    within_variance: (M,) variance if other rubrics were drawn from these same queries; NaN where that is not defined.
    saturated: (M,) 1 if every label is the highest, -1 if every label is the lowest, else 0.
    group: (M,) systems of different groups share too few queries, or rubrics if there is only one query, to be compared
        (``linked.linked_groups``); None: one group.
    allowance: for unequal panels; None: all systems have the same judges, up to chance.
    lone: number of units that are queries without a domain, where the others are domains.
    limits: two of (M,), the lowest and highest possible score of each; None: no limits.
    differing: (M, M) units that two systems have in common and on which their scores differ, up to MANY, plus the units
        by which other systems link them; None: all units.
    pair_units: (M, M) units on which a difference rests, if systems were scored on different ones; None: all units.
    unequal: whether the units of the median system are equivalent to fewer equal units than ALIKE times their number.
    """

    estimate: FloatArray
    psi: FloatArray
    n_units: IntArray
    unit: Unit
    floor: FloatArray
    within_variance: FloatArray
    saturated: IntArray
    group: IntArray | None = None
    allowance: Allowance | None = None
    lone: int = 0
    limits: tuple[FloatArray, FloatArray] | None = None
    differing: IntArray | None = None
    unequal: bool = False
    pair_units: IntArray | None = None

    @property
    def ranked(self) -> BoolArray:
        """(M,) systems with an estimate."""
        return np.isfinite(self.estimate)


def ability_influence(
    cross: CrossFit,
    rubrics: BoolArray,
    query_index: IntArray,
    panels: UnequalPanels | None = None,
    domains: Domains | None = None,
) -> Influence:
    """Cross-fitted abilities and their psi on ``rubrics``: a mask (J,), or one for each fold (F, J).

    psi_iq = (G_iq - mean_q G_iq) / H_i minus what the link returns (``_link_contributions``). G_iq sums d log P(y_ij) /
    d theta over the labels of system i on query q, H_i is the information of its labels plus that of the prior, 1. A
    query of many labels has more weight (``as_equal``): systems do well or badly on all of it, and few such queries are
    few units. query_index: (J,) whole numbers from 0. With one query its rubrics are the units. panels: if systems were
    labelled by different judges. domains: the units, instead of the queries; which systems are linked, and the variance
    within queries, are still by query.
    """
    use = np.broadcast_to(rubrics, (cross.n_folds, cross.y.shape[1]))
    theta = cross.abilities(use)
    units, unit = _units(query_index, use.any(axis=0) & ~cross.pooled.constant)
    sums, squares, labels, information, saturated = cross.unit_scores(use, theta, units)
    information, labelled, lone = 1 + information, labels > 0, 0
    alone = _centred(sums / information, labelled)
    psi = _centred(sums / information - _link_contributions(cross, query_index, units, unit), labelled)
    within = np.full(len(theta), np.nan)
    if (
        unit == "query"
    ):  # the link removes the same share of the variance of a query's rubrics as of the query
        taken = np.divide(
            (psi**2).sum(axis=0), total := (alone**2).sum(axis=0), where=total > 0, out=total * 0
        )
        within = taken * _within_variance(sums, squares, labels) / information**2
    group = linked_groups(labelled)
    if domains is not None and unit == "query":
        psi, n_units, unequal, lone = domains.sums(psi, labels, np.unique(query_index[units >= 0]))
        unit = "domain"
    else:
        scale, n_units, unequal = as_equal(labels)
        psi = psi * scale
    return Influence(
        estimate=theta,
        psi=psi,
        n_units=n_units,
        unit=unit,
        floor=1 / information,
        within_variance=within,
        saturated=saturated,
        group=group,
        allowance=None if panels is None else panels.allowance(_slopes(cross, use, theta)),
        lone=lone,
        unequal=unequal,
    )


def _slopes(cross: CrossFit, use: BoolArray, theta: FloatArray) -> FloatArray:
    """(M,) first-order change of each ability if all its labels rise from the lowest level to the highest."""
    rises, information = np.zeros(len(theta)), np.ones(len(theta))
    for members, chosen, y, items in cross.placed_by(use):
        at, known = np.nan_to_num(theta[members]), np.isfinite(y)
        top = np.broadcast_to(cross.pooled.levels[chosen] - 1.0, y.shape)
        high, info = label_scores(items, np.where(known, top, np.nan), at)
        low, _ = label_scores(items, np.where(known, 0.0, np.nan), at)
        rises[members] += (high - low).sum(axis=1)
        information[members] += info.sum(axis=1)
    return np.asarray(rises / information)


def score_influence(
    scores: FloatArray,
    omega: FloatArray,
    *,
    unit: Unit = "query",
    low: float | FloatArray = 0.0,
    high: float | FloatArray = 1.0,
    domains: Domains | None = None,
) -> Influence:
    """Weighted mean scores S_i and psi_iq = omega_q (s_iq - S_i), omega summing to 1 over the system's known units.

    Systems that were scored on different units are compared as if on all of them, and each pair by the units on which
    its difference rests: see ``beside_units``.
    scores: (M, n) of each query, NaN unknown; omega: (n,) weights ≥ 0. With one query, pass its rubrics' scores and
    weights and unit="rubric". low, high: the lowest and highest possible score of a unit, one number or (n,). A system
    that reaches one of them on all n units shows no variance: its floor is that of Beta(n + 1, 1) on its range.
    domains: the units, instead of the queries. Systems that are linked by too few of the given units are in different
    groups.
    """
    known = np.isfinite(scores) & (omega > 0)
    values = np.where(known, scores, 0.0)
    weight = known * omega
    total = weight.sum(axis=1, keepdims=True)
    share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    mean = np.divide(
        (weight * values).sum(axis=1), total[:, 0], out=np.zeros(len(total)), where=total[:, 0] > 0
    )
    ends = [np.broadcast_to(np.asarray(end, dtype=np.float64), scores.shape[1]) for end in (low, high)]
    full = np.where(known, scores >= ends[1] - ROUNDING, True).all(axis=1)
    empty = np.where(known, scores <= ends[0] + ROUNDING, True).all(axis=1)
    ranked, lone = known.any(axis=1), 0
    psi = (share * (values - mean[:, None])).T
    counted, resting = weight.any(axis=0), None
    of = domains.of if domains is not None and unit == "query" else np.arange(len(omega))
    if not known[ranked][:, counted].all():
        mean, psi[counted], resting = beside_units(scores[:, counted], omega[counted], of[counted])
        share = np.broadcast_to(counted * omega / omega[counted].sum(), share.shape)
    limits = _limits(share, ends)
    if limits is not None:
        mean = np.clip(mean, *limits)
    width = np.inf if limits is None else limits[1] - limits[0]
    order = np.argsort(of, kind="stable")
    differing = differing_units(np.ascontiguousarray(np.where(known, scores, np.nan)[:, order]), of[order])
    if domains is not None and unit == "query":
        psi, n_units, unequal, lone = domains.sums(psi, weight.T, np.arange(len(psi)))
        unit = "domain"
    else:
        scale, n_units, unequal = as_equal(weight.T)
        psi = psi * scale
    if resting is not None:  # a difference through other systems is not one on a common unit
        resting = np.minimum(resting, np.minimum.outer(n_units, n_units))
        has = by_unit(known, of).astype(float)  # counts stay exact; NumPy uses BLAS for floats only
        differing = differing + np.maximum(resting - (has @ has.T).astype(np.int64), 0)
    saturated = np.where(ranked, full.astype(np.int64) - empty, 0)
    least = width**2 * (n_units + 1) / ((n_units + 2.0) ** 2 * (n_units + 3))
    return Influence(
        estimate=np.where(ranked, mean, np.nan),
        psi=psi,
        n_units=n_units,
        unit=unit,
        floor=np.where(saturated != 0, least, 0.0),
        within_variance=np.full(len(scores), np.nan),
        saturated=saturated,
        group=linked_groups(known.T),
        lone=lone,
        limits=limits,
        differing=differing,
        unequal=unequal,
        pair_units=resting,
    )


def _limits(share: FloatArray, ends: list[FloatArray]) -> tuple[FloatArray, FloatArray] | None:
    """The lowest and highest possible mean score of each system, (M,) both; None if a unit's scores are unbounded."""
    if not all(np.isfinite(end).all() for end in ends):
        return None
    low, high = (np.clip(share @ end, end.min(), end.max()) if end.size else share @ end for end in ends)
    return low, high


def _link_contributions(cross: CrossFit, query_index: IntArray, units: IntArray, unit: Unit) -> FloatArray:
    """(n, M) what the link returns to each system for each unit: the sum over its fold of psi_pooled / N.

    Parameters fitted without system i are an average over the N others, and overstate a label of i relative to them: by
    M / (M - 1) with one system held out. The link returns this, since the mean of the N others in the pooled fit moves
    away from i. Without this term differences of identical systems look 15% more variable than they are at M = 15.
    """
    if unit == "query":  # all rubrics of a query count, so that all sets of rubrics share the result
        found = cross.shared(query_index, lambda: _returned(cross, query_index))
        return np.asarray(found[np.unique(query_index[units >= 0])])
    return _returned(cross, units)


def _returned(cross: CrossFit, units: IntArray) -> FloatArray:
    """(n, M) ``_link_contributions`` for units (J,) numbered from 0; rubrics with unit -1 are left out."""
    used, count = np.flatnonzero(units >= 0), int(units.max(initial=-1)) + 1
    of_unit = csr_array((np.ones(len(used)), (units[used], used)), shape=(count, len(units)))
    sums = np.asarray(of_unit @ cross.pooled_contributions.T)
    moved = np.empty(sums.shape)
    for fold in range(cross.n_folds):
        members = cross.members(fold)
        others = len(cross.y) - len(members)  # 0 if the pooled fit itself is the only fold: no link
        moved[:, members] = sums[:, members].sum(axis=1, keepdims=True) / others if others else 0.0
    return moved


def _units(query_index: IntArray, informative: BoolArray) -> tuple[IntArray, Unit]:
    """(J,) unit of each rubric, from 0; -1 if the unit has no informative rubric. And what a unit is."""
    found = np.zeros(query_index.max(initial=-1) + 1, dtype=bool)
    found[query_index[informative]] = True
    if found.sum() == 1:
        return np.where(informative, np.cumsum(informative) - 1, -1), "rubric"
    return np.where(found, np.cumsum(found) - 1, -1)[query_index], "query"


def _centred(sums: FloatArray, known: BoolArray) -> FloatArray:
    """Each column minus its mean over its known units; 0 where unknown."""
    mean = (sums * known).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, sums - mean, 0.0)


def _within_variance(sums: FloatArray, squares: FloatArray, labels: FloatArray) -> FloatArray:
    """(M,) sum over queries of n / (n - 1) sum_j (g_j - mean)²; all queries with one label form one stratum together.

    This is the variance of the rescaled bootstrap of rubrics within queries (``bootstrap``), in closed form.
    """
    several, single = labels > 1, labels == 1
    spread = squares - sums**2 / np.maximum(labels, 1)
    total = (several * spread * labels / np.maximum(labels - 1, 1)).sum(axis=0)
    lone = single.sum(axis=0)
    rest = (single * squares).sum(axis=0) - (single * sums).sum(axis=0) ** 2 / np.maximum(lone, 1)
    collapsed: FloatArray = total + np.where(lone > 1, rest * lone / np.maximum(lone - 1, 1), 0.0)
    return np.maximum(collapsed, 0.0)
