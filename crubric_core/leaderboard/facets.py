"""Cross-fitted abilities with judges on their scale (docs/method.md §15).

Given the severities, a rubric before one judge is an item of its own, whose parameters are shared by all judges of the
rubric. A panel of K judges is a table of pairs of rubric and judge, and abilities, their errors and all claims are
those of such a table (``cross_fit``, ``influence``). Only the error of the estimated severities is added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from ..intervals import known_mean
from ..irt.cells import label_scores
from ..irt.facets import FacetFit, FacetModel, fit_with_severity
from ..irt.fit import IrtFit
from ..irt.linking import mean_sigma
from ..irt.models import ItemParameters
from ..irt.refit import as_fit
from ..irt.severities import Severities, SharedCells, common_queries, weakest_link
from ..labels.repeated_systems import distinct_systems
from ..types import BoolArray, FloatArray, IntArray, Progress, silent
from ..workers import run_tasks
from .cross_fit import CrossFit, assign_folds
from .influence import Influence, ability_influence

TAIL = 0.975  # probability at which Student's deviates are compared


@dataclass(frozen=True)
class FacetBoard:
    """severities: of the judges. influence: of the cross-fitted abilities, with the errors of the severities.

    moved: (M, K) first-order rise of each ability with the severity of each judge. converged: whether every fit did.
    """

    severities: Severities
    influence: Influence
    moved: FloatArray
    converged: bool


def many_facet_board(
    panel: FloatArray, fit: FacetFit, unit: IntArray, progress: Progress | None = None
) -> FacetBoard:
    """Abilities of M systems from labels ``panel`` (M, J, K), each placed by rubrics that were fitted without it.

    fit: ``fit_many_facet`` of the panel. unit: (J,) the query of each rubric, from 0; at least two must link the
    judges. All folds use the same, shrunken severities. Their errors are those of the unshrunken severities, which
    include what shrinking leaves out.
    """
    report_progress = progress or silent
    found = severities_of(panel, fit, unit)
    given = _given(panel, fit.rubrics, found.shrunken)
    rubrics, judges = np.nonzero((~np.isnan(panel)).any(axis=0) & ~given.constant[:, None])
    fold = assign_folds(given.theta, distinct_systems(known_mean(panel, axis=2)))
    count = int(fold.max()) + 1

    def before(position: int) -> None:
        report_progress(position / count, f"Fitting without fold {position + 1} of {count}")

    def of_pairs(items: ItemParameters) -> ItemParameters:
        return items.of(rubrics).harder(found.shrunken[judges])

    fitted = list(run_tasks(_fit_without, range(count), (panel, given, found.shrunken, fold), before))
    pooled = replace(as_fit(given, of_pairs(given.items)), levels=given.levels[rubrics])
    labels = np.ascontiguousarray(
        panel[:, rubrics, judges]
    )  # the memory layout for which loops were compiled
    cross = CrossFit(
        labels,
        pooled,
        fold,
        tuple(of_pairs(items) for items, _ in fitted),
        np.array([converged for _, converged in fitted]),
    )
    influence = ability_influence(cross, np.ones(len(rubrics), dtype=bool), unit[rubrics])
    # The units of an influence are those with labels here; severities have contributions of all.
    moved = _by_severity(cross, influence.estimate, judges)
    owed = found.contributions[np.unique(unit[rubrics])] @ moved.T
    # Claims use Student's t with the abilities' number of queries; fewer may link the judges.
    owed *= stdtrit(found.n_units - 1, TAIL) / stdtrit(len(owed) - 1, TAIL)
    return FacetBoard(
        found,
        replace(influence, psi=influence.psi + owed),
        moved,
        fit.converged and given.converged and bool(cross.converged.all()),
    )


def severities_of(panel: FloatArray, fit: FacetFit, unit: IntArray) -> Severities:
    """The severities of a fit to ``panel`` (M, J, K) and their errors. unit: (J,) the query of each rubric, from 0."""
    used = ~fit.rubrics.constant
    n_units = weakest_link(common_queries(panel[:, used], unit[used]))
    return SharedCells.of(fit.rubrics, panel).severities(fit.severity, unit, n_units)


def _given(panel: FloatArray, like: IrtFit, severity: FloatArray, taken: BoolArray | None = None) -> IrtFit:
    """Fit the model of ``like`` to labels (M', J, K) with given severities (K,), starting from its parameters.

    taken: as for ``fit_with_severity``.
    """
    model: FacetModel = "GRM" if like.model == "GRM" else "2PL"
    return fit_with_severity(
        panel,
        severity,
        model,
        like.quadrature,
        like.priors,
        levels=like.levels,
        start=like.items,
        taken=taken,
    ).rubrics


def _fit_without(
    panel: FloatArray, given: IrtFit, severity: FloatArray, fold: IntArray, left_out: int
) -> tuple[ItemParameters, bool]:
    """Parameters of all rubrics from the systems of the other folds, on the pooled scale; whether the fit converged."""
    others = fold != left_out
    found = _given(panel[others], given, severity, ~given.constant)
    return mean_sigma(found.theta, given.theta[others]).items(found.items), found.converged


def _by_severity(cross: CrossFit, theta: FloatArray, judge: IntArray) -> FloatArray:
    """(M, K) first-order rise of ability with severity: sum of I / a over the judge's labels, over 1 + sum of I.

    The second sum is over all labels of the system.
    """
    moved, information = np.zeros((len(theta), int(judge.max()) + 1)), np.ones(len(theta))
    for members, chosen, y, items in cross.placed_by(np.ones((cross.n_folds, len(judge)), dtype=bool)):
        _, info = label_scores(items, y, np.nan_to_num(theta[members]))
        information[members] += info.sum(axis=1)
        for k in range(moved.shape[1]):
            its = judge[chosen] == k
            moved[members, k] += (info[:, its] / items.a[its]).sum(axis=1)
    return np.asarray(moved / information[:, None])
