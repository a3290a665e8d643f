"""Cross-fitted abilities with judges on their scale (docs/method.md §15).

Given the severities, a rubric before one judge is a rubric of its own, whose parameters all its judges share. A panel
of K judges is a table of pairs of rubric and judge, and abilities, their errors and all claims are those of such a
table (``cross_fit``, ``influence``); only that severities are estimated is added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from ..irt.cells import label_scores
from ..irt.facets import FacetFit, Severities, fit_with_severity, harder, severities
from ..irt.fit import IrtFit
from ..irt.linking import mean_sigma
from ..irt.models import ItemParameters
from ..types import FloatArray, IntArray, Progress, silent
from ..workers import run_tasks
from .cross_fit import CrossFit, assign_folds
from .influence import Influence, ability_influence

TAIL = 0.975  # at which Student's deviates are compared


@dataclass(frozen=True)
class FacetBoard:
    """severities: of the judges. influence: of the cross-fitted abilities, the errors of the severities included.

    moved: (M, K) to first order, how far each ability rises with the severity of each judge. converged: every fit.
    """

    severities: Severities
    influence: Influence
    moved: FloatArray
    converged: bool


def many_facet_board(
    panel: FloatArray, fit: FacetFit, unit: IntArray, progress: Progress | None = None
) -> FacetBoard:
    """Abilities of M systems on labels ``panel`` (M, J, K), each by rubrics that were fitted without it.

    fit: ``fit_many_facet`` of the panel. unit: (J,) the query of each rubric, from 0; two or more link the judges.
    The severities are the shrunken ones, for all folds alike; their errors are taken unshrunken, which holds what
    shrinking leaves out.
    """
    report_progress = progress or silent
    found = severities(fit, panel, unit)
    given = fit_with_severity(
        panel, found.shrunken, fit.model, fit.quadrature, fit.priors, levels=fit.levels, start=fit.items
    )
    rubrics, judges = np.nonzero((~np.isnan(panel)).any(axis=0) & ~given.constant[:, None])
    fold = assign_folds(given.theta)
    count = int(fold.max()) + 1

    def before(position: int) -> None:
        report_progress(position / count, f"Fitting without fold {position + 1} of {count}")

    fitted = list(run_tasks(_fit_without, range(count), (panel, given, fold), before))
    cross = CrossFit(
        panel[:, rubrics, judges],
        _of_pairs(given, rubrics, judges),
        fold,
        tuple(items_of_pairs(items, found.shrunken, rubrics, judges) for items, _ in fitted),
        np.array([converged for _, converged in fitted]),
    )
    influence = ability_influence(cross, np.ones(len(rubrics), dtype=bool), unit[rubrics])
    # The units of an influence are those with labels here; severities have contributions of all.
    moved = _by_severity(cross, influence.estimate, judges)
    owed = found.contributions[np.unique(unit[rubrics])] @ moved.T
    # Claims take Student's t of the abilities' queries; fewer may link the judges.
    owed *= stdtrit(found.n_units - 1, TAIL) / stdtrit(len(owed) - 1, TAIL)
    return FacetBoard(
        found,
        replace(influence, psi=influence.psi + owed),
        moved,
        fit.converged and given.converged and bool(cross.converged.all()),
    )


def items_of_pairs(
    items: ItemParameters, severity: FloatArray, rubrics: IntArray, judges: IntArray
) -> ItemParameters:
    """Pairs of a rubric and a judge, (P,) each: difficulties are higher by severity / a."""
    return harder(items.of(rubrics), severity[judges])


def _of_pairs(fit: FacetFit, rubrics: IntArray, judges: IntArray) -> IrtFit:
    """The fit as one of pairs of rubric and judge."""
    items = items_of_pairs(fit.items, fit.severity, rubrics, judges)
    return IrtFit(
        model=fit.model,
        quadrature=fit.quadrature,
        priors=fit.priors,
        a=items.a,
        b=items.b,
        c=items.c,
        thresholds=items.thresholds,
        theta=fit.theta,
        theta_sd=fit.theta_sd,
        loglik=fit.loglik,
        logpost=fit.logpost,
        converged=fit.converged,
        evaluations=0,
        constant=np.zeros(len(items.a), dtype=bool),
        n_parameters=0,
        levels=fit.levels[rubrics],
    )


def _fit_without(
    panel: FloatArray, given: FacetFit, fold: IntArray, left_out: int
) -> tuple[ItemParameters, bool]:
    """Parameters of all rubrics from the systems of the other folds, on the pooled scale; whether they converged."""
    others = fold != left_out
    found = fit_with_severity(
        panel[others],
        given.severity,
        given.model,
        given.quadrature,
        given.priors,
        levels=given.levels,
        start=given.items,
        taken=~given.constant,
    )
    return mean_sigma(found.theta, given.theta[others]).items(found.items), found.converged


def _by_severity(cross: CrossFit, theta: FloatArray, judge: IntArray) -> FloatArray:
    """(M, K) sum over the judge's labels of I / a, over 1 + the sum of I over all labels."""
    moved, information = np.zeros((len(theta), int(judge.max()) + 1)), np.ones(len(theta))
    for members, chosen, y, items in cross.placed_by(np.ones((cross.n_folds, len(judge)), dtype=bool)):
        _, info = label_scores(items, y, np.nan_to_num(theta[members]))
        information[members] += info.sum(axis=1)
        for k in range(moved.shape[1]):
            its = judge[chosen] == k
            moved[members, k] += (info[:, its] / items.a[its]).sum(axis=1)
    return np.asarray(moved / information[:, None])
