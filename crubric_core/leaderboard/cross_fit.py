"""Cross-fitting: no system is placed by rubrics that were fitted on its own labels (docs/method.md §10).

A rubric's parameters fitted on 15 labels lean towards these very labels: of 15 identical systems such a fit, taken at
its word, separates four pairs of five. Each fold of systems is therefore placed by a fit of all the others, linked to
the pooled scale. The fits depend on neither the gate nor the bank: they are made once a dataset.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..irt.cells import Signs, SoftplusTerms, label_scores, softplus_terms
from ..irt.fit import IrtFit
from ..irt.linking import mean_sigma
from ..irt.models import ItemParameters
from ..irt.prefixes import nodes_for, posterior_means
from ..irt.refit import as_fit, refit
from ..types import BoolArray, FloatArray, IntArray, Progress
from ..workers import run_tasks

FEW_SYSTEMS = 6  # with fewer, the others are too few to calibrate a rubric
LEAVE_ONE_OUT = 40  # most systems for which each is a fold of its own
FOLDS = 10  # above that


def too_few_to_cross_fit(n_systems: int) -> bool:
    """Whether claims rest on the score alone, because a fold would be fitted on fewer than five systems."""
    return n_systems < FEW_SYSTEMS


def assign_folds(theta: FloatArray) -> IntArray:
    """(M,) fold of each system: its own up to 40 systems, else one of 10 balanced over ``theta`` (M,).

    From the top, the folds are dealt out forwards and backwards in turn, so that their means agree.
    """
    size = len(theta)
    if size <= LEAVE_ONE_OUT:
        return np.arange(size)
    place = np.arange(size)
    forwards, backwards = place % FOLDS, FOLDS - 1 - place % FOLDS
    folds = np.empty(size, dtype=np.int64)
    folds[np.argsort(-theta, kind="stable")] = np.where(place // FOLDS % 2 == 0, forwards, backwards)
    return folds


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

    @property
    def n_folds(self) -> int:
        """F."""
        return len(self.items)

    def members(self, fold: int) -> IntArray:
        """The systems that this fold's parameters place."""
        return np.flatnonzero(self.fold == fold)

    def fold_fit(self, fold: int) -> IrtFit:
        """The pooled fit with the fold's parameters: what chooses a bank for systems "as if new"."""
        return as_fit(self.pooled, self.items[fold])

    def abilities(self, rubrics: BoolArray) -> FloatArray:
        """(M,) EAP of each system at its fold's parameters on ``rubrics``: a mask (J,) for all, or (F, J), one a fold.

        NaN for a system without a label on a rubric with parameters.
        """
        use = np.broadcast_to(rubrics, (self.n_folds, self.y.shape[1]))
        nodes, tables = self._tables
        loglik = np.zeros((len(self.y), len(nodes)))
        sharpest, steepest = 0.0, 0.0
        for fold, (terms, table, shares) in enumerate(tables):
            chosen = np.flatnonzero(use[fold][terms.rubric])
            loglik[self.members(fold)] = terms.at_nodes(shares, nodes, table, chosen)
            slopes = terms.slope[chosen]
            sharpest = max(sharpest, float(slopes @ slopes))
            steepest = max(steepest, float(slopes.max(initial=0.0)))
        on_grid = self.pooled.quadrature == "grid"
        means = posterior_means(loglik, nodes, 1 / np.sqrt(1 + sharpest / 4), steepest, on_grid=on_grid)
        return np.where(self.labelled(use), means, np.nan)

    def labelled(self, use: BoolArray) -> BoolArray:
        """(M,) whether a system has a label on a rubric of ``use`` (F, J) that has parameters in its fold."""
        known = ~np.isnan(self.y)
        informed = np.stack([np.isfinite(items.a) for items in self.items]) & use
        return np.array([(known[i] & informed[f]).any() for i, f in enumerate(self.fold)])

    @cached_property
    def pooled_contributions(self) -> FloatArray:
        """(M, J) what each label contributes to its system's ability in the pooled fit: score / information."""
        theta = self.pooled.theta
        score, info = label_scores(self.pooled.items, self.y, theta)
        return np.asarray(score / (1 + info.sum(axis=1, keepdims=True)))

    @cached_property
    def _tables(
        self,
    ) -> tuple[FloatArray, list[tuple[SoftplusTerms, FloatArray, tuple[Signs, Signs]]]]:
        """Nodes (G,), and each fold's terms with their softplus (T, G) there and the shares of its systems' labels.

        A move of the gate then adds them up.
        """
        steepest = max(float(np.nanmax(items.a, initial=0.0)) for items in self.items)
        nodes = nodes_for(self.pooled, steepest)
        terms = [softplus_terms(items) for items in self.items]
        labels = [self.y[self.members(fold)] for fold in range(self.n_folds)]
        return nodes, [
            (each, each.softplus(nodes), each.shares(y)) for each, y in zip(terms, labels, strict=True)
        ]


def cross_fit(y: FloatArray, pooled: IrtFit, *, progress: Progress | None = None) -> CrossFit:
    """Fit each fold of systems of ``y`` (M, J) without them and link it to ``pooled`` by mean and sigma of the others.

    Model, priors, quadrature and levels are the pooled fit's. Independent of gate, budget and seed.
    Any M ≥ 2 works, but see ``too_few_to_cross_fit``.
    """
    report_progress = progress or (lambda share, what: None)
    fold = assign_folds(pooled.theta)
    count = int(fold.max()) + 1
    found = list(
        run_tasks(
            _fit_without,
            range(count),
            (y, pooled, fold),
            before=lambda f: report_progress(f / count, f"Fitting without fold {f + 1} of {count}"),
        )
    )
    report_progress(1.0, "Fitted every fold")
    converged = np.array([whether for _, whether in found])
    return CrossFit(y, pooled, fold, tuple(items for items, _ in found), converged)


def _fit_without(y: FloatArray, pooled: IrtFit, fold: IntArray, left_out: int) -> tuple[ItemParameters, bool]:
    """Parameters of all rubrics from the systems of the other folds, on the pooled scale; whether they converged."""
    others = fold != left_out
    found = refit(pooled, y[others])
    return mean_sigma(found.theta, pooled.theta[others]).items(found.items), found.converged
