"""Fit an item response model by marginal maximum a posteriori: systems are persons, rubrics are items."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from ..arguments import as_numbers, require_a, require_count
from ..errors import ConvergenceError, FitError, require_choice
from ..settings import Model, Priors, Quadrature
from ..types import BoolArray, FloatArray, IntArray
from .graded import Graded
from .guessing import Guessing
from .logistic import Logistic
from .models import ItemModel, ItemParameters
from .objective import MarginalPosterior
from .optimise import maximise

DEFAULT_PRIORS = Priors()
TOLERANCE = 1e-15  # predicted gain relative to the log posterior; estimates then agree to six digits
RELATIVE_GRADIENT = 1e-5


@dataclass(frozen=True)
class IrtFit:
    """A fitted model of M systems and J rubrics (docs/method.md §6).

    Attributes
    ----------
    model : {"1PL", "2PL", "3PL", "GRM"}
        The response model.
    quadrature : {"adaptive", "grid"}
        How abilities were integrated out.
    priors : Priors
        Of the item parameters.
    a : float array (J,)
        Discrimination, > 0, per unit of θ; NaN for a constant rubric.
    b : float array (J,)
        Difficulty, in units of θ; of the GRM the mean of the thresholds.
    c : float array (J,)
        Lower asymptote, in [0, 1); 0 outside the 3PL.
    thresholds : float array (J, L-1) or None
        Of the GRM, never falling, NaN beyond a rubric's own levels; else None. Thresholds between which no label lies
        coincide; under a flat prior those beyond all labels are infinite.
    theta : float array (M,)
        Abilities (EAP), in units of their prior N(0, 1).
    theta_sd : float array (M,)
        Their posterior standard deviations, > 0, item parameters taken as known.
    loglik : float
        Marginal log-likelihood at the estimate.
    logpost : float
        Log posterior at the estimate: ``loglik`` plus the log priors of the item parameters.
    converged : bool
        Whether the gradient vanished.
    evaluations : int
        How often value and gradient were computed.
    constant : bool array (J,)
        Rubrics without two different labels; they took no part.
    n_parameters : int
        Free item parameters.
    levels : int array (J,)
        Number of levels of each rubric, ≥ 2.

    """

    model: Model
    quadrature: Quadrature
    priors: Priors
    a: FloatArray
    b: FloatArray
    c: FloatArray
    thresholds: FloatArray | None
    theta: FloatArray
    theta_sd: FloatArray
    loglik: float
    logpost: float
    converged: bool
    evaluations: int
    constant: BoolArray
    n_parameters: int
    levels: IntArray

    @property
    def items(self) -> ItemParameters:
        """The parameters of all J rubrics, NaN where constant."""
        return ItemParameters(self.a, self.b, self.c, self.thresholds)

    @property
    def n_systems(self) -> int:
        """The number of systems M."""
        return len(self.theta)


def fit_irt(
    y: FloatArray,
    model: Model = "2PL",
    quadrature: Quadrature = "adaptive",
    priors: Priors = DEFAULT_PRIORS,
    *,
    levels: IntArray | None = None,
    start: ItemParameters | None = None,
    max_evaluations: int = 500,
    strict: bool = False,
) -> IrtFit:
    """Fit an item response model by penalised marginal maximum likelihood.

    Parameters
    ----------
    y : float array (M, J)
        Labels of M systems on J rubrics: 0 or 1, for the GRM levels 0..L-1; NaN is unknown.
    model : {"1PL", "2PL", "3PL", "GRM"}
        The response model.
    quadrature : {"adaptive", "grid"}
        ``adaptive`` is exact to 1e-6 of the log posterior; ``grid`` is the paper's 41 nodes on [-4, 4].
    priors : Priors
        Penalties on log a, b and c; ``Priors.flat()`` for plain marginal maximum likelihood.
    levels : int array (J,), optional
        Number of levels of each rubric (GRM); by default that of the highest label in the table. What
        a level without labels gets is said of ``IrtFit.thresholds``.
    start : ItemParameters, optional
        Parameters of all J rubrics to begin with, such as those of a fit of more systems; by default the model's own
        start.
    max_evaluations : int
        Most evaluations of value and gradient, ≥ 1.
    strict : bool
        Raise instead of returning an estimate with ``converged=False``.

    Returns
    -------
    IrtFit
        Item parameters, abilities and how the fit ended.

    Raises
    ------
    FitError
        The table holds nothing to fit, or labels that the model cannot have; or an argument is of the wrong kind.
    ConvergenceError
        ``strict``, and the gradient did not vanish; the estimate is in ``.fit``.

    Notes
    -----
    Maximises Σ_i log ∫ Π_j P(y_ij | θ) φ(θ) dθ + log priors over the known cells (docs/method.md §6). Rubrics without
    two different labels take no part. The penalty on slopes is on the scale of log a.

    References
    ----------
    Bock, R. D. & Aitkin, M. (1981), Psychometrika 46, 443-459. Mislevy, R. J. (1986), Psychometrika 51, 177-195.
    Samejima, F. (1969), Psychometrika Monograph 17.

    """
    require_choice("model", model, get_args(Model), FitError)
    require_choice("quadrature", quadrature, get_args(Quadrature), FitError)
    require_a("priors", priors, Priors, FitError)
    require_count("max_evaluations", max_evaluations, 1, FitError)
    y = as_numbers("The labels", y, FitError)
    n_levels = check_labels(y, model, levels)
    if start is not None:
        require_a("start", start, ItemParameters, FitError)
        if start.a.shape != y.shape[1:]:
            raise FitError(
                f"start has {start.a.size:,} rubrics and y has {y.shape[1]:,}: give the parameters of all."
            )
    constant = constant_rubrics(y)
    if constant.all():
        if len(y) == 1:
            raise FitError("There is only one system: add labels of others to compare it with.")
        if (np.isfinite(y).sum(axis=0) < 2).all():
            raise FitError(
                f"No rubric (of {y.shape[1]}) has labels of two systems, so that nothing compares the "
                f"{len(y)} systems: have several of them answer the same queries."
            )
        raise FitError(
            f"No rubric (of {y.shape[1]}) has two different labels, so that nothing separates "
            f"the {len(y)} systems: add systems or rubrics on which they differ."
        )
    active = np.ascontiguousarray(y[:, ~constant])
    bound = bind_model(active, model, priors, n_levels[~constant])
    fit = search(bound, model, quadrature, priors, n_levels, constant, start, max_evaluations)
    fit = with_items(
        fit, over_all(_same_for_copies(active, n_levels[~constant], fit.items.of(~constant)), constant)
    )
    if strict and not fit.converged:
        raise ConvergenceError(
            f"The {model} fit did not converge within {max_evaluations} evaluations: "
            "use a simpler model or tighter priors.",
            fit,
        )
    return fit


def search(
    bound: ItemModel,
    model: Model,
    quadrature: Quadrature,
    priors: Priors,
    levels: IntArray,
    constant: BoolArray,
    start: ItemParameters | None,
    max_evaluations: int,
) -> IrtFit:
    """Maximise the posterior of a model that is bound to the labels of the rubrics that are not ``constant`` (J,)."""
    objective = MarginalPosterior(bound, quadrature)
    first = begin(bound, None if start is None else start.of(~constant))
    best = maximise(objective, first, TOLERANCE, RELATIVE_GRADIENT, max_evaluations, objective.allows)
    items, posterior = over_all(bound.items(best.point), constant), best.evaluation.posterior
    return IrtFit(
        model,
        quadrature,
        priors,
        a=items.a,
        b=items.b,
        c=items.c,
        thresholds=items.thresholds if model == "GRM" else None,
        theta=posterior.mean,
        theta_sd=posterior.sd,
        loglik=best.evaluation.loglik,
        logpost=best.evaluation.value,
        converged=best.converged,
        evaluations=best.evaluations,
        constant=constant,
        n_parameters=bound.n_parameters,
        levels=levels,
    )


def with_items(fit: IrtFit, items: ItemParameters) -> IrtFit:
    """``fit`` with the parameters of its rubrics replaced by ``items``."""
    return replace(fit, a=items.a, b=items.b, c=items.c, thresholds=items.thresholds)


def begin(model: ItemModel, start: ItemParameters | None) -> FloatArray:
    """Starting point of the search: ``start`` where its values are finite, else the model's own start."""
    if start is None:
        return model.start()
    point = model.at(start)
    known = np.isfinite(point)
    return point if known.all() else np.where(known, point, model.start())


def _same_for_copies(y: FloatArray, levels: IntArray, items: ItemParameters) -> ItemParameters:
    """Exactly equal parameters for rubrics with equal labels; rounding may leave them slightly different.

    Their information is then exactly equal, and ties go to the first rubric.
    """
    first, kind, _ = equal_rubrics(y, levels)
    source = first[kind]
    thresholds = None if items.thresholds is None else items.thresholds[source]
    return ItemParameters(items.a[source], items.b[source], items.c[source], thresholds)


def bind_model(y: FloatArray, model: Model, priors: Priors, levels: IntArray) -> ItemModel:
    """The model's likelihood over a table ``y`` (M, J) without constant rubrics."""
    if model == "GRM":
        return Graded(y, priors, levels)
    if model == "3PL":
        return Guessing(y, priors)
    return Logistic(y, priors, common_slope=model == "1PL")


def equal_rubrics(y: FloatArray, levels: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Group rubrics by equal labels and levels: (U,) first index of each group, (J,) groups, (U,) group sizes."""
    codes = np.empty((y.shape[1], len(y) + 1), dtype=np.int16)
    codes[:, :-1] = np.where(np.isnan(y), -1, y).T
    codes[:, -1] = levels
    kinds = codes.view(np.dtype((np.void, codes.dtype.itemsize * codes.shape[1]))).ravel()
    _, first, kind, copies = np.unique(kinds, return_index=True, return_inverse=True, return_counts=True)
    return first, kind, copies


def constant_rubrics(y: FloatArray) -> BoolArray:
    """(J,) whether all known labels of a rubric are the same, or it has none."""
    # fmin and fmax pass over NaN, without a copy of the table.
    low = np.fmin.reduce(y, axis=0, initial=np.inf)
    high = np.fmax.reduce(y, axis=0, initial=-np.inf)
    return np.asarray(low >= high)


def check_labels(y: FloatArray, model: Model, levels: IntArray | None) -> IntArray:
    """(J,) numbers of levels, after checking that the model allows every label. Raises FitError."""
    if y.ndim != 2:
        raise FitError(f"The labels must be a table of systems × rubrics, not an array of shape {y.shape}.")
    known = y[~np.isnan(y)]
    if known.size == 0:
        raise FitError("The table holds no label at all: every cell is unknown.")
    top = int(known.max()) + 1 if np.isfinite(known.max()) else 0
    given = np.full(y.shape[1], max(top, 2)) if levels is None else np.asarray(levels)
    if not ((given >= 2) & (given == np.floor(given))).all():
        raise FitError("levels must be whole numbers of at least 2: one for each rubric.")
    n_levels = given.astype(np.int64)
    if n_levels.shape != y.shape[1:]:
        raise FitError(
            f"levels of shape {n_levels.shape} do not fit {y.shape[1]} rubrics: give one number for each rubric."
        )
    if model != "GRM":
        n_levels = np.full(y.shape[1], 2)
    impossible = ~np.isnan(y) & ~((y >= 0) & (y < n_levels) & (y == np.floor(y)))
    if impossible.any():
        i, j = np.argwhere(impossible)[0]
        expected = "whole levels 0..L-1" if model == "GRM" else "0, 1 or unknown"
        raise FitError(
            f"Label {y[i, j]:g} of system {i}, rubric {j} does not fit {model}: expected {expected}."
        )
    return n_levels


def over_all(items: ItemParameters, constant: BoolArray) -> ItemParameters:
    """``items`` of the rubrics that are not ``constant``, spread over all J rubrics; NaN for the constant ones."""

    def spread(values: FloatArray) -> FloatArray:
        full = np.full((len(constant), *values.shape[1:]), np.nan)
        full[~constant] = values
        return full

    thresholds = None if items.thresholds is None else spread(items.thresholds)
    return ItemParameters(spread(items.a), spread(items.b), spread(items.c), thresholds)
