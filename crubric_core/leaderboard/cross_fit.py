"""Cross-fitting: no system is placed by rubrics that were fitted on its own labels (docs/method.md §10).

A rubric's parameters fitted on 15 labels overfit these labels: for 15 identical systems such a fit, taken at face
value, separates four pairs of five. Each fold of systems is therefore placed by a fit of all the others, linked to the
pooled scale. The fits depend on neither the gate nor the bank: they are made once for each dataset. Systems whose
labels repeat each other's are in one fold: otherwise the fit would contain a held-out system's labels through its copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Self

import numpy as np

from ..irt.abilities import Abilities, estimate_abilities
from ..irt.cells import (
    LARGE,
    ScoredItems,
    SoftplusTerms,
    UnitScores,
    label_scores,
    scored_items,
    softplus_terms,
    unit_scores,
)
from ..irt.fit import IrtFit
from ..irt.linking import mean_sigma
from ..irt.models import ItemParameters
from ..irt.prefixes import nodes_for, posterior_means
from ..irt.refit import as_fit, refit
from ..labels.repeated_systems import distinct_systems
from ..types import BoolArray, FloatArray, IntArray, Progress, silent
from ..workers import current_workers, run_tasks, run_threads

FEW_SYSTEMS = 6  # with fewer, the others are too few to calibrate a rubric
LEAVE_ONE_OUT = 40  # most systems for which each is a fold of its own
FOLDS = 10  # number of folds with more systems than that


def too_few_to_cross_fit(n_systems: int) -> bool:
    """Whether claims must use the score only, because a fold would be fitted on fewer than five systems."""
    return n_systems < FEW_SYSTEMS


def assign_folds(theta: FloatArray, distinct: IntArray | None = None) -> IntArray:
    """(M,) fold of each system: one fold each up to 40 systems, else one of 10 balanced over ``theta`` (M,).

    From the highest ability down, folds are assigned forwards and backwards in turn, so that their means are similar.
    distinct: (M,) a number for each system, equal for systems that repeat each other (``distinct_systems``), which
    share a fold and count once; None: all are different.
    """
    if distinct is not None and len(np.unique(distinct)) < len(theta):
        number, count = np.unique(distinct, return_inverse=True, return_counts=True)[1:]
        return assign_folds(np.bincount(number, np.nan_to_num(theta)) / count)[number]
    size = len(theta)
    if size <= LEAVE_ONE_OUT:
        return np.arange(size)
    place = np.arange(size)
    forwards, backwards = place % FOLDS, FOLDS - 1 - place % FOLDS
    folds = np.empty(size, dtype=np.int64)
    folds[np.argsort(-theta, kind="stable")] = np.where(place // FOLDS % 2 == 0, forwards, backwards)
    return folds


@dataclass(frozen=True)
class FoldFits:
    """The fitted part of a cross-fit. fold, items, converged: as in CrossFit."""

    fold: IntArray
    items: tuple[ItemParameters, ...]
    converged: BoolArray


@dataclass(frozen=True)
class CrossFit:
    """Item parameters of each of F folds, fitted without the fold's systems, on the pooled fit's scale.

    y: (M, J) the labels. pooled: the fit of all systems. fold: (M,) each system's fold, 0 … F - 1.
    items: F sets of parameters of all J rubrics; NaN where a rubric is constant among all systems, or unknown in
        the fold (no label among the others, or a flat prior and no two labels there).
    converged: (F,) whether each fit's gradient vanished.
    """

    y: FloatArray
    pooled: IrtFit
    fold: IntArray
    items: tuple[ItemParameters, ...]
    converged: BoolArray

    @classmethod
    def of(cls, y: FloatArray, pooled: IrtFit, fits: FoldFits) -> Self:
        """Build the cross-fit from these labels, the pooled fit and the fits of the folds."""
        return cls(y, pooled, fits.fold, fits.items, fits.converged)

    @property
    def n_folds(self) -> int:
        """The number of folds F."""
        return len(self.items)

    @property
    def is_large(self) -> bool:
        """Whether sharing the work of the folds, or of the sets of rubrics, among threads saves time."""
        return self.y.size >= LARGE

    def members(self, fold: int) -> IntArray:
        """Indices of the systems in this fold, which its parameters place."""
        return np.flatnonzero(self.fold == fold)

    def fold_fit(self, fold: int) -> IrtFit:
        """The pooled fit with the fold's parameters, from which banks for systems "as if new" are chosen."""
        return as_fit(self.pooled, self.items[fold])

    def others(self, fold: int) -> Abilities:
        """Abilities, on all rubrics, of the systems outside this fold, at its parameters; computed once."""
        if fold not in self._others:
            self._others[fold] = estimate_abilities(self.fold_fit(fold), self.y[self.fold != fold])
        return self._others[fold]

    @cached_property
    def _others(self) -> dict[int, Abilities]:
        return {}

    def abilities(self, rubrics: BoolArray) -> FloatArray:
        """(M,) EAP of each system at its fold's parameters on ``rubrics``: a mask (J,), or one each fold (F, J).

        NaN for a system without a label on a rubric with parameters.
        """
        use = np.broadcast_to(rubrics, (self.n_folds, self.y.shape[1]))
        terms, table = self._terms
        chosen = terms.of(use)
        loglik, slope = terms.at_nodes(chosen, self.y, self.fold, self._nodes, table), terms.slope[chosen]
        sharpest = np.bincount(terms.set[chosen], slope**2).max(initial=0.0)
        least_sd, steepest = float(1 / np.sqrt(1 + sharpest / 4)), float(slope.max(initial=0.0))
        on_grid = self.pooled.quadrature == "grid"
        means = posterior_means(loglik, self._nodes, least_sd, steepest, on_grid=on_grid)
        return np.where(self.labelled(use), means, np.nan)

    def placed_by(self, use: BoolArray) -> Iterator[tuple[IntArray, IntArray, FloatArray, ItemParameters]]:
        """For each fold: its systems (m,), its rubrics of ``use`` (F, J) with parameters (n,), labels, items.

        The systems and rubrics are indices. The labels are (m, n), the items are the parameters of the n rubrics.
        """
        for fold, items in enumerate(self.items):
            members, mine = self.members(fold), np.flatnonzero(self._informed[fold] & use[fold])
            yield members, mine, self.y[np.ix_(members, mine)], items.of(mine)

    def unit_scores(self, use: BoolArray, theta: FloatArray, units: IntArray) -> UnitScores:
        """Sums by unit (J,) of the label scores on ``use`` (F, J) at ``theta`` (M,), NaN without a label."""
        use, levels = use & self._informed, self.pooled.levels
        return unit_scores(self._scored, self.fold, self.y, use, levels, theta, units)

    @cached_property
    def _scored(self) -> ScoredItems:
        return scored_items(self.items)

    @cached_property
    def _informed(self) -> BoolArray:
        """(F, J) rubrics with parameters in each fold."""
        return np.stack([np.isfinite(items.a) for items in self.items])

    def labelled(self, use: BoolArray) -> BoolArray:
        """(M,) whether a system has a label on a rubric of ``use`` (F, J) that has parameters in its fold."""
        informed = self._informed & use
        return np.asarray((self._known & informed[self.fold]).any(axis=1))

    @cached_property
    def _known(self) -> BoolArray:
        """(M, J) labels that are known."""
        return ~np.isnan(self.y)

    def shared(self, units: IntArray, make: Callable[[], FloatArray]) -> FloatArray:
        """The result of ``make`` for these ``units`` (J,) of all rubrics; it is called once and its result kept."""
        key = units.tobytes()
        if key not in self._shared:
            self._shared[key] = make()
        return self._shared[key]

    @cached_property
    def _shared(self) -> dict[bytes, FloatArray]:
        return {}

    @cached_property
    def pooled_contributions(self) -> FloatArray:
        """(M, J) contribution of each label to its system's ability in the pooled fit: score / information."""
        theta = self.pooled.theta
        score, info = label_scores(self.pooled.items, self.y, theta)
        return np.asarray(score / (1 + info.sum(axis=1, keepdims=True)))

    @cached_property
    def _nodes(self) -> FloatArray:
        """(G,) abilities at which log-likelihoods are computed."""
        return nodes_for(self.pooled, max(float(np.nanmax(items.a, initial=0.0)) for items in self.items))

    @cached_property
    def _terms(self) -> tuple[SoftplusTerms, FloatArray]:
        """The terms of all folds and their softplus (T, G) at the nodes, kept so that a new gate only adds them up."""
        terms = softplus_terms(self.items)
        return terms, terms.softplus(self._nodes)


def cross_fit(y: FloatArray, pooled: IrtFit) -> CrossFit:
    """Fit each fold of the systems of ``y`` (M, J) without its members, and link the fit to ``pooled``.

    The link is by mean and sigma of the other systems. Model, priors, quadrature and levels are the pooled fit's.
    Independent of gate, budget and seed. Any M ≥ 2 works, but see ``too_few_to_cross_fit``.
    """
    return CrossFit.of(y, pooled, fold_fits(y, pooled))


def fold_fits(
    y: FloatArray, pooled: IrtFit, *, fold: IntArray | None = None, progress: Progress | None = None
) -> FoldFits:
    """The slow part of ``cross_fit``. y: (M, J). fold: (M,) by default those of ``assign_folds``."""
    report_progress = progress or silent
    if fold is None:
        fold = assign_folds(pooled.theta, distinct_systems(y))
    count = int(fold.max()) + 1

    def before(position: int) -> None:
        report_progress(position / count, f"Fitting without fold {position + 1} of {count}")

    if current_workers().here and y.size >= LARGE:
        found = run_threads(partial(_fit_without, y, pooled, fold), range(count), before)
    else:
        found = list(run_tasks(_fit_without, range(count), (y, pooled, fold), before))
    report_progress(1.0, "Fitted every fold")
    return FoldFits(fold, tuple(items for items, _ in found), np.array([whether for _, whether in found]))


def _fit_without(y: FloatArray, pooled: IrtFit, fold: IntArray, left_out: int) -> tuple[ItemParameters, bool]:
    """Parameters of all rubrics from the systems of the other folds, on the pooled scale; whether the fit converged."""
    others = fold != left_out
    found = refit(pooled, y[others])
    return mean_sigma(found.theta, pooled.theta[others]).items(found.items), found.converged
