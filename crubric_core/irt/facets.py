"""The many-facet model: judges on the scale of the systems, beside the rubrics (docs/method.md §15).

    P(y_ijk = 1) = sigma(a_j (theta_i - b_j) - lambda_k),    sum_k lambda_k = 0

lambda_k is the severity of judge k in logits. Ordered labels have the graded model's thresholds in place of b_j; the
2PL is the graded model of two levels. The joint likelihood of all parameters would also infer severities from rubrics
on which no two judges of a system overlap, through slopes that few systems determine: this adds twice as much error as
information. So severities are estimated from the cells that judges share (``severities``), and rubrics and abilities
maximise the likelihood given these.

Linacre, J. M. (1989), Many-Facet Rasch Measurement; here with slopes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from ..arguments import as_numbers, require_a
from ..errors import FitError, require_choice
from ..settings import Priors, Quadrature
from ..types import BoolArray, FloatArray, IntArray
from .fit import DEFAULT_PRIORS, IrtFit, check_labels, constant_rubrics, search
from .graded import Graded
from .kernel import NodeSums, SoftplusSum
from .models import ItemParameters
from .severities import SharedCells, common_queries, weakest_link

FacetModel = Literal["2PL", "GRM"]
MAX_EVALUATIONS = 500
SETTLED = 1e-4  # logits: largest change between two rounds at which the search ends
MOST_ROUNDS = 50


@dataclass(frozen=True)
class FacetFit:
    """A many-facet model of M systems, J rubrics and K judges (docs/method.md §15).

    Attributes
    ----------
    rubrics : IrtFit
        Abilities of the systems, and the rubrics before a judge of severity 0.
    severity : float array (K,)
        How much lower the logit of a pass is before each judge than before the mean judge; they sum to 0.
    converged : bool
        Whether the gradient vanished and the severities settled.

    """

    rubrics: IrtFit
    severity: FloatArray
    converged: bool


class _JudgeSums:
    """Sums of the terms of K judges, each intercept lowered by the judge's severity (K,); a ``TermSum``.

    masks: (K, T, M).
    """

    def __init__(self, masks: FloatArray, severity: FloatArray) -> None:
        self._severity, self._sums = severity, [SoftplusSum(mask, mask.shape[1]) for mask in masks]

    def forward(self, a: FloatArray, d: FloatArray, nodes: FloatArray) -> FloatArray:
        parts = (sums.forward(a, d - at, nodes) for at, sums in zip(self._severity, self._sums, strict=True))
        return np.asarray(sum(parts))

    def backward(self, weights: FloatArray, nodes: FloatArray) -> NodeSums:
        parts = [vars(sums.backward(weights, nodes)) for sums in self._sums]
        return NodeSums(**{name: np.sum([part[name] for part in parts], axis=0) for name in parts[0]})


class ManyFacet(Graded):
    """The graded model of a panel (M, J, K), given the severities (K,) of its judges. See ItemModel."""

    def __init__(self, panel: FloatArray, priors: Priors, levels: IntArray, severity: FloatArray) -> None:
        super().__init__(_rows(panel), priors, levels)
        shape = -1, panel.shape[2], len(panel)
        masks, passed = (each.reshape(shape).swapaxes(0, 1) for each in (self._mask, self._passed))
        self._sum = _JudgeSums(np.ascontiguousarray(masks), severity)
        self._passed = np.ascontiguousarray(passed.sum(axis=0))
        self._owed = severity @ passed.sum(axis=1)

    def forward(self, x: FloatArray, nodes: FloatArray) -> tuple[FloatArray, float]:
        """See ItemModel."""
        loglik, constant = super().forward(x, nodes)
        return loglik - self._owed[:, None], constant


def fit_many_facet(
    panel: FloatArray,
    model: FacetModel = "2PL",
    quadrature: Quadrature = "adaptive",
    priors: Priors = DEFAULT_PRIORS,
    *,
    levels: IntArray | None = None,
) -> FacetFit:
    """Fit the many-facet model: abilities of systems, parameters of rubrics and severities of judges.

    Parameters
    ----------
    panel : float array (M, J, K)
        Labels of K judges of M systems on J rubrics: 0 or 1, for the GRM levels 0..L-1; NaN is unknown.
    model : {"2PL", "GRM"}
        The response model of the rubrics.
    quadrature : {"adaptive", "grid"}
        How abilities are integrated out, as in ``fit_irt``.
    priors : Priors
        Of the rubrics' parameters. Severities have a weak one of sd 5 logits.
    levels : int array (J,), optional
        Number of levels of each rubric (GRM), as in ``fit_irt``.

    Returns
    -------
    FacetFit
        Rubrics, severities and abilities; rubrics all labels of which are the same take no part.

    Raises
    ------
    FitError
        There is nothing to fit, a label that the model cannot have, or judges whom no chain of common cells links.

    Notes
    -----
    Severities are those at which each judge's labels exceed those of the other judges of the same cells as much as
    expected; given these, rubrics and abilities are those of ``fit_irt``. Both in turn (docs/method.md §15).

    References
    ----------
    Linacre, J. M. (1989), Many-Facet Rasch Measurement; here with slopes.

    """
    panel = _checked(panel, model, quadrature, priors)
    varying = panel[:, ~constant_rubrics(_rows(panel))]
    if varying.size and not weakest_link(common_queries(varying, np.zeros(varying.shape[1], dtype=np.int64))):
        raise FitError(
            "No chain of cells that two judges labelled links all judges, so their severities are unknown."
        )
    severity, start = np.zeros(panel.shape[2]), None
    for _ in range(MOST_ROUNDS):
        fit = fit_with_severity(panel, severity, model, quadrature, priors, levels=levels, start=start)
        found = SharedCells.of(fit.rubrics, panel).nearer(severity)
        found -= found.mean()
        moved, severity, start = float(np.abs(found - severity).max()), found, fit.rubrics.items
        if moved < SETTLED:
            return fit
    return replace(fit, converged=False)


def fit_with_severity(
    panel: FloatArray,
    severity: FloatArray,
    model: FacetModel = "2PL",
    quadrature: Quadrature = "adaptive",
    priors: Priors = DEFAULT_PRIORS,
    *,
    levels: IntArray | None = None,
    start: ItemParameters | None = None,
    taken: BoolArray | None = None,
) -> FacetFit:
    """``fit_many_facet`` with known severities (K,), in logits.

    start: parameters of all rubrics from which the search begins. taken: (J,) the rubrics to fit, also those whose
    labels are all the same here; ignored under a flat prior of the difficulties.
    """
    panel = _checked(panel, model, quadrature, priors)
    n_levels, constant = check_labels(_rows(panel), model, levels), constant_rubrics(_rows(panel))
    if taken is not None and priors.b_sd is not None:
        constant = ~taken
    if constant.all():
        raise FitError(
            f"No rubric (of {panel.shape[1]}) has two different labels: add systems on which they differ."
        )
    bound = ManyFacet(panel[:, ~constant], priors, n_levels[~constant], severity)
    fit = search(bound, model, quadrature, priors, n_levels, constant, start, MAX_EVALUATIONS)
    return FacetFit(fit, severity, fit.converged)


def _rows(panel: FloatArray) -> FloatArray:
    """(K M, J) the panel (M, J, K) with the tables of its judges stacked."""
    return panel.transpose(2, 0, 1).reshape(-1, panel.shape[1])


def _checked(panel: FloatArray, model: FacetModel, quadrature: Quadrature, priors: Priors) -> FloatArray:
    require_choice("model", model, get_args(FacetModel), FitError)
    require_choice("quadrature", quadrature, get_args(Quadrature), FitError)
    require_a("priors", priors, Priors, FitError)
    panel = as_numbers("The labels", panel, FitError)
    if panel.ndim != 3:
        raise FitError(
            f"The labels must be a panel of systems × rubrics × judges, not of shape {panel.shape}."
        )
    return panel
