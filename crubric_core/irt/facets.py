"""The many-facet model: judges on the scale of the systems, beside the rubrics (docs/method.md §15).

    P(y_ijk = 1) = sigma(a_j (theta_i - b_j) - lambda_k),    sum_k lambda_k = 0

lambda_k is the severity of judge k in logits. Ordered labels have the graded model's thresholds in place of b_j; the
2PL is the graded model of two levels. The likelihood of all parameters together would take severities also from rubrics
that no two judges of a system share, by what slopes fitted on few systems say: it errs twice as much as it tells. So
severities are those at which each judge's labels are as far above those of the other judges of the same cells as
expected, and rubrics and abilities have the largest likelihood given these.

Linacre, J. M. (1989), Many-Facet Rasch Measurement; here with slopes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from scipy.linalg import helmert
from scipy.optimize import minimize_scalar
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, stdtrit

from ..arguments import as_numbers, require_a
from ..errors import FitError, require_choice
from ..settings import Priors, Quadrature
from ..types import BoolArray, FloatArray, IntArray
from .fit import DEFAULT_PRIORS, RELATIVE_GRADIENT, TOLERANCE, begin, check_labels, constant_rubrics, over_all
from .graded import Graded
from .kernel import NodeSums, SoftplusSum
from .models import ItemParameters
from .objective import MarginalPosterior
from .optimise import maximise

FacetModel = Literal["2PL", "GRM"]
MAX_EVALUATIONS = 500
SEVERITY_SD = 5.0  # logits; only lest a judge who never fails anything be infinitely lenient
SETTLED = 1e-4  # logits between two rounds
MOST_ROUNDS = 50
SPREADS = 1e-3, 10.0  # logits, between which the judges' spread is sought


@dataclass(frozen=True)
class FacetFit:
    """A many-facet model of M systems, J rubrics and K judges (docs/method.md §15).

    Attributes
    ----------
    model : {"2PL", "GRM"}
        The response model of the rubrics.
    quadrature : {"adaptive", "grid"}
        How abilities were integrated out.
    priors : Priors
        Of the rubrics' parameters.
    items : ItemParameters
        Of the rubrics before a judge of severity 0, (J,) each: a, b, of the GRM thresholds; NaN where constant.
    severity : float array (K,)
        How much lower the logit of a pass is before each judge than before the mean judge; they sum to 0.
    theta : float array (M,)
        Abilities (EAP), in units of their prior N(0, 1).
    theta_sd : float array (M,)
        Their posterior standard deviations, > 0, all else taken as known.
    loglik : float
        Marginal log-likelihood at the estimate.
    logpost : float
        Log posterior at the estimate: ``loglik`` plus the log priors of the rubrics' parameters.
    converged : bool
        Whether the gradient vanished and the severities settled.
    constant : bool array (J,)
        Rubrics without two different labels; they took no part.
    levels : int array (J,)
        Number of levels of each rubric, ≥ 2.

    """

    model: FacetModel
    quadrature: Quadrature
    priors: Priors
    items: ItemParameters
    severity: FloatArray
    theta: FloatArray
    theta_sd: FloatArray
    loglik: float
    logpost: float
    converged: bool
    constant: BoolArray
    levels: IntArray


@dataclass(frozen=True)
class Severities:
    """Severities of K judges, logits, of mean 0.

    value: (K,). contributions: (n, K) what each of n units of evidence adds to its error, 0 without common cells.
    n_units: units that link the judges (``weakest_link``). covariance: (K, K) of the errors. spread: the likeliest sd
    of the judges. shrunken: (K,) what is expected with that spread.
    """

    value: FloatArray
    contributions: FloatArray
    n_units: int
    covariance: FloatArray
    spread: float
    shrunken: FloatArray

    def interval(self, confidence: float) -> tuple[FloatArray, FloatArray]:
        """(K,) low and high of each severity alone, by Student's t of the units less 1."""
        half = stdtrit(self.n_units - 1, (1 + confidence) / 2) * np.sqrt(np.diag(self.covariance))
        return self.value - half, self.value + half

    def differences(self, confidence: float) -> tuple[FloatArray, FloatArray]:
        """(K, K) row less column, and half the width of its interval; all hold together (Bonferroni)."""
        own, size = np.diag(self.covariance), len(self.value)
        variance = np.maximum(own[:, None] + own - 2 * self.covariance, 0.0)
        tail = (1 - confidence) / max(size * (size - 1), 1)
        multiple = -stdtrit(self.n_units - 1, tail)
        return np.subtract.outer(self.value, self.value), multiple * np.sqrt(variance)


class _JudgeSums:
    """The terms of K judges, each moved by a severity (K,); a ``TermSum``. masks: (K, T, M)."""

    def __init__(self, masks: FloatArray, severity: FloatArray) -> None:
        self._severity, self._sums = severity, [SoftplusSum(mask, mask.shape[1]) for mask in masks]

    def forward(self, a: FloatArray, d: FloatArray, nodes: FloatArray) -> FloatArray:
        parts = (sums.forward(a, d - at, nodes) for at, sums in zip(self._severity, self._sums, strict=True))
        return np.asarray(sum(parts))

    def backward(self, weights: FloatArray, nodes: FloatArray) -> NodeSums:
        parts = [vars(sums.backward(weights, nodes)) for sums in self._sums]
        return NodeSums(**{name: np.sum([part[name] for part in parts], axis=0) for name in parts[0]})


class ManyFacet(Graded):
    """The graded model of a panel (M, J, K) of judges with these severities (K,). See ItemModel."""

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
            "No chain of cells that two judges labelled links all judges, so that nothing tells how severe they are."
        )
    severity, start = np.zeros(panel.shape[2]), None
    for _ in range(MOST_ROUNDS):
        fit = fit_with_severity(panel, severity, model, quadrature, priors, levels=levels, start=start)
        found = _Cells.of(fit, panel).nearer(severity)
        mean = float(found.mean())
        moved, severity = float(np.abs(found - mean - severity).max()), found - mean
        if moved < SETTLED:
            return fit
        start = harder(fit.items, np.full(panel.shape[1], mean))
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
    """``fit_many_facet`` with known severities (K,), logits.

    start: parameters of all rubrics to begin with. taken: (J,) rubrics that take part also if all their labels are the
    same here, unless the prior is flat.
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
    objective = MarginalPosterior(bound, quadrature)
    first = begin(bound, None if start is None else with_thresholds(start).of(~constant))
    best = maximise(objective, first, TOLERANCE, RELATIVE_GRADIENT, MAX_EVALUATIONS, objective.allows)
    items, posterior = over_all(bound.items(best.point), constant), best.evaluation.posterior
    return FacetFit(
        model=model,
        quadrature=quadrature,
        priors=priors,
        items=items if model == "GRM" else replace(items, thresholds=None),
        severity=severity,
        theta=posterior.mean,
        theta_sd=posterior.sd,
        loglik=best.evaluation.loglik,
        logpost=best.evaluation.value,
        converged=best.converged,
        constant=constant,
        levels=n_levels,
    )


def severities(fit: FacetFit, panel: FloatArray, unit: IntArray) -> Severities:
    """How sure the severities of a fit to ``panel`` (M, J, K) are. unit: (J,) of each rubric, from 0 to n - 1.

    Their errors are those of the units with common cells, and no less than those of independent labels that vary within
    cells as found, with one more label as far off as can be.
    """
    cells = _Cells.of(fit, panel)
    contributions, least = cells.errors(fit.severity, unit)
    n = weakest_link(common_queries(panel[:, ~fit.constant], unit[~fit.constant]))
    shown = contributions.T @ contributions * n / max(n - 1, 1)
    covariance = shown if np.trace(shown) > np.trace(least) else least
    spread, shrunken = shrink(fit.severity, covariance)
    return Severities(fit.severity, contributions, n, covariance, spread, shrunken)


def shrink(value: FloatArray, covariance: FloatArray) -> tuple[float, FloatArray]:
    """The likeliest sd of judges around their mean, and what is expected of each (K,) with that sd."""
    contrasts = helmert(len(value))
    errors, axes = np.linalg.eigh(contrasts @ covariance @ contrasts.T)
    errors, along = np.maximum(errors, 0.0), contrasts @ value @ axes

    def loss(log_sd: float) -> float:
        total = np.exp(2 * log_sd) + errors
        return float((np.log(total) + along**2 / total).sum())

    low, high = np.log(SPREADS)
    spread = float(np.exp(minimize_scalar(loss, bounds=(float(low), float(high)), method="bounded").x))
    return spread, (axes @ (along * spread**2 / (spread**2 + errors))) @ contrasts


def common_queries(panel: FloatArray, unit: IntArray) -> IntArray:
    """(K, K) units, (J,) from 0, on which two judges both labelled some cell of a panel (M, J, K)."""
    known = ~np.isnan(panel)
    found = np.zeros((panel.shape[2],) * 2, dtype=np.int64)
    for each in range(int(unit.max(initial=-1)) + 1):
        cells = known[:, unit == each].reshape(-1, panel.shape[2]).astype(np.float64)
        found += cells.T @ cells > 0
    return found


def weakest_link(common: IntArray) -> int:
    """The most units that each pair has of a chain of pairs that links all judges; 0 where none does. (K, K)."""
    for least in np.unique(common[common > 0])[::-1]:
        if connected_components(common >= least, directed=False)[0] == 1:
            return int(least)
    return 0


def harder(items: ItemParameters, logits: FloatArray) -> ItemParameters:
    """The rubrics before a judge who is more severe by ``logits`` (J,)."""
    by = logits / items.a
    thresholds = None if items.thresholds is None else items.thresholds + by[:, None]
    return replace(items, b=items.b + by, thresholds=thresholds)


def with_thresholds(items: ItemParameters) -> ItemParameters:
    """Parameters as the graded model has them: of the 2PL, b is the one threshold."""
    return items if items.thresholds is not None else replace(items, thresholds=items.b[:, None])


@dataclass(frozen=True)
class _Cells:
    """The C cells that several judges labelled.

    z: (C, L - 1) logits of passing each threshold before a judge of severity 0; NaN beyond a rubric's own. top: (C,)
    its highest level. label, known: (C, K). rubric: (C,).
    """

    z: FloatArray
    top: FloatArray
    label: FloatArray
    known: FloatArray
    rubric: IntArray

    @classmethod
    def of(cls, fit: FacetFit, panel: FloatArray) -> _Cells:
        i, j = np.nonzero((~np.isnan(panel)).sum(axis=2) * ~fit.constant > 1)
        label, items = panel[i, j], with_thresholds(fit.items).of(j)
        thresholds = np.empty((0, 0)) if items.thresholds is None else items.thresholds
        z = np.asarray(items.a[:, None] * (fit.theta[i, None] - thresholds), dtype=np.float64)
        top = np.asarray(fit.levels[j] - 1.0, dtype=np.float64)
        return cls(z, top, np.nan_to_num(label), (~np.isnan(label)).astype(float), j)

    def excess(self, severity: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(C, K) by how much labels exceed what is expected, shares of the scale, and how that rises with severity."""
        expected, slope = np.zeros(self.label.shape), np.zeros(self.label.shape)
        for z in self.z.T:
            passed = expit(np.where(np.isnan(z), -np.inf, z)[:, None] - severity)
            expected += passed
            slope += passed * (1 - passed)
        scale = self.known / self.top[:, None]
        return (self.label - expected) * scale, slope * scale

    def _within(self, values: FloatArray) -> FloatArray:
        """Less the mean over the judges of the same cell."""
        return values - self.known * (values.sum(axis=1) / self.known.sum(axis=1))[:, None]

    def _steepness(self, slope: FloatArray) -> FloatArray:
        """(K, K) derivatives of the excesses within cells, summed, in the severities."""
        share = self.known / self.known.sum(axis=1, keepdims=True)
        return np.asarray(np.diag(slope.sum(axis=0)) - share.T @ slope)

    def nearer(self, severity: FloatArray) -> FloatArray:
        """(K,) one step to where no judge's labels exceed those of the other judges of its cells more than expected.

        The step changes the labels' expected sum by nothing, so that the rubrics need not become harder with it.
        """
        excess, slope = self.excess(severity)
        weak = (np.eye(len(severity)) - 1 / len(severity)) / SEVERITY_SD**2
        # The excesses sum to 0, and so one direction is free: the last row says how far all judges move.
        bend = np.vstack([self._steepness(slope) + weak, slope.sum(axis=0)])
        pull = np.append(self._within(excess).sum(axis=0) - weak @ severity, 0.0)
        return severity - np.clip(np.linalg.lstsq(bend, pull, rcond=None)[0], -1.0, 1.0)

    def errors(self, severity: FloatArray, unit: IntArray) -> tuple[FloatArray, FloatArray]:
        """(n, K) contributions of the units (J,), and the least covariance (K, K)."""
        contrasts = helmert(len(severity))
        excess, slope = self.excess(severity)
        within = self._within(excess)
        sums = np.zeros((int(unit.max()) + 1, len(severity)))
        np.add.at(sums, unit[self.rubric], within)
        inverse = contrasts.T @ np.linalg.pinv(contrasts @ self._steepness(slope) @ contrasts.T) @ contrasts
        share = self.known / self.known.sum(axis=1, keepdims=True)
        tied = np.diag(self.known.sum(axis=0)) - share.T @ self.known
        variance = ((within**2).sum() + 1) / (tied.trace() + 1)
        return -sums @ inverse.T, variance * inverse @ tied @ inverse.T


def _rows(panel: FloatArray) -> FloatArray:
    """(K M, J) the panel judge after judge."""
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
