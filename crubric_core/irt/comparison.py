"""Which model do the labels support? Criteria at the fit, and prediction of held-out labels (paper eq:kappa)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..settings import Model, Priors, Quadrature
from ..types import FloatArray, IntArray
from ..workers import run_tasks
from .abilities import ability_posterior, log_probabilities
from .fit import DEFAULT_PRIORS, IrtFit, constant_rubrics, fit_irt

FOLDS = 5


@dataclass(frozen=True)
class Comparison:
    """Models compared on the same labels.

    table: one row a model, simplest first: parameters, loglik (marginal, at the fit), aic, bic, kappa and kappa_bic
        (gain in log-likelihood per parameter over the row above, and what BIC asks of it), held_out (mean predictive
        log-likelihood per left-out cell), held_out_se (of its difference to the best), converged.
    aic, bic, held_out: the model that each one chooses.
    sentence: what to do and why, in words.
    """

    table: pd.DataFrame
    aic: Model
    bic: Model
    held_out: Model
    sentence: str


def compare_models(
    y: FloatArray,
    models: Sequence[Model] = ("1PL", "2PL", "3PL"),
    quadrature: Quadrature = "adaptive",
    priors: Priors = DEFAULT_PRIORS,
    *,
    seed: int = 0,
    levels: IntArray | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> Comparison:
    """Fit each of ``models`` to ``y`` (M, J) and to its five folds; N_obs of the BIC is the number of known cells."""
    report_progress = progress or (lambda share, what: None)
    n_cells = int((~np.isnan(y)).sum())
    folds = cell_folds(y, FOLDS, np.random.default_rng([seed, 5]))
    rows, predictions = [], []
    for step, model in enumerate(models):
        report_progress(step / len(models), f"Comparing models: {model}")
        fit = fit_irt(y, model, quadrature, priors, levels=levels)
        predictions.append(held_out_loglik(y, folds, model, quadrature, priors, levels=levels))
        rows.append((model, fit.n_parameters, fit.loglik, fit.converged))
    report_progress(1.0, "Models compared")
    table = pd.DataFrame(rows, columns=["model", "parameters", "loglik", "converged"])
    table["aic"] = 2 * table["parameters"] - 2 * table["loglik"]
    table["bic"] = np.log(n_cells) * table["parameters"] - 2 * table["loglik"]
    table["kappa"] = table["loglik"].diff() / table["parameters"].diff()
    table["kappa_bic"] = np.where(table["kappa"].isna(), np.nan, 0.5 * np.log(n_cells))
    scored = np.stack(predictions)[:, np.isfinite(np.stack(predictions)).all(axis=0)]
    table["held_out"] = scored.mean(axis=1) if scored.size else np.nan
    best = int(np.argmax(table["held_out"].to_numpy())) if scored.size else 0
    table["held_out_se"] = (scored - scored[best]).std(axis=1) / np.sqrt(max(scored.shape[1], 1))
    aic, bic = (models[int(np.argmin(table[name].to_numpy()))] for name in ("aic", "bic"))
    return Comparison(table, aic, bic, models[best], _sentence(aic, bic, models[best], len(y)))


def _sentence(aic: Model, bic: Model, held_out: Model, n_systems: int) -> str:
    if aic == bic == "1PL":
        reason = f"item slopes are not identified with {n_systems} systems"
        return f"AIC and BIC both choose 1PL: {reason}. Held-out labels are predicted best by {held_out}."
    if aic == bic:
        agreement = "agree" if held_out == aic else f"are predicted best by {held_out}"
        return (
            f"AIC and BIC both choose {aic}: its extra parameters are supported. Held-out labels {agreement}."
        )
    return (
        f"AIC chooses {aic}, BIC {bic}: the evidence for item-specific parameters is weak with {n_systems} systems. "
        f"Held-out labels are predicted best by {held_out}."
    )


def cell_folds(y: FloatArray, folds: int, rng: np.random.Generator) -> IntArray:
    """(M, J) fold of each known cell, -1 where unknown; the cells of a rubric are dealt evenly over the folds."""
    known = ~np.isnan(y)
    keys = np.where(known, rng.random(y.shape), np.inf)
    place = keys.argsort(axis=0).argsort(axis=0)
    return np.where(known, (place + rng.integers(0, folds, y.shape[1])) % folds, -1)


def held_out_loglik(
    y: FloatArray,
    folds: IntArray,
    model: Model,
    quadrature: Quadrature = "adaptive",
    priors: Priors = DEFAULT_PRIORS,
    *,
    levels: IntArray | None = None,
) -> FloatArray:
    """(M, J) predictive log-probability of each cell from a fit without its fold.

    NaN where the cell is unknown or its rubric does not vary without the fold: no model has parameters for it then.
    """
    if levels is None and model == "GRM":
        levels = np.full(y.shape[1], int(np.nanmax(y)) + 1)
    out = np.full(y.shape, np.nan)
    shared = (y, folds, model, quadrature, priors, levels)
    for rows, columns, loglik in run_tasks(_fold_loglik, range(int(folds.max()) + 1), shared):
        out[rows, columns] = loglik
    return out


def _fold_loglik(
    y: FloatArray,
    folds: IntArray,
    model: Model,
    quadrature: Quadrature,
    priors: Priors,
    levels: IntArray | None,
    fold: int,
) -> tuple[IntArray, IntArray, FloatArray]:
    """Rows and columns (n,) of the fold's cells whose rubric varies without them, and their log-probability (n,)."""
    train = np.where(folds == fold, np.nan, y)
    if constant_rubrics(train).all():
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
    fit = fit_irt(train, model, quadrature, priors, levels=levels)
    rows, columns = np.nonzero((folds == fold) & ~fit.constant)
    probability = predictive_probabilities(fit, train)
    with np.errstate(divide="ignore"):  # a level that the training part rules out predicts -inf
        return rows, columns, np.log(probability[y[rows, columns].astype(np.int64), rows, columns])


def predictive_probabilities(fit: IrtFit, y: FloatArray) -> FloatArray:
    """(L, M, J) probability of each level for each system, averaged over its posterior given ``y``; NaN if constant."""
    posterior = ability_posterior(fit, y)
    active = np.flatnonzero(~fit.constant)
    table = np.exp(log_probabilities(fit, active, posterior.nodes))
    out = np.full((len(table), *y.shape), np.nan)
    for level, curves in enumerate(table):
        out[level][:, active] = np.clip(posterior.node_weights @ curves.T, 0.0, 1.0)
    return out
