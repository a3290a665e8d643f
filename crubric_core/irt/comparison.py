"""Which response model the labels support: criteria at the fit, and prediction of held-out labels (paper eq:kappa)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.special import stdtr

from ..intervals import ratio
from ..settings import Model, Priors, Quadrature
from ..types import FloatArray, IntArray
from ..workers import run_tasks
from .abilities import ability_posterior, log_probabilities
from .fit import DEFAULT_PRIORS, IrtFit, constant_rubrics, fit_irt

FOLDS = 5
ALPHA = 0.05
FEW = 30  # systems; with fewer, a model's priors decide how well it predicts (docs/method.md §6)


@dataclass(frozen=True)
class Comparison:
    """Models compared on the same labels.

    table: one row a model, simplest first: parameters, loglik (marginal, at the fit), aic, bic, kappa and kappa_bic
        (gain in log-likelihood per parameter over the row above, and the gain that BIC requires), held_out (mean
        predictive log-likelihood per held-out cell), held_out_se (standard error of its difference from the best,
        clustered by system and rubric), held_out_p (two-sided, t with systems - 1 degrees of freedom, times the number
        of pairs of models; both NaN for the best), converged.
    aic, bic, held_out: the model that each criterion chooses; aic and bic are those of the penalised fit.
    sentence: which model predicts best, whether the others are significantly worse, and what AIC and BIC choose.
    notes: one sentence for each model whose log-likelihood is below that of a model that it contains. One more if there
    are few systems and a richer model predicts best: this does not show that it is true.
    """

    table: pd.DataFrame
    aic: Model
    bic: Model
    held_out: Model
    sentence: str
    notes: tuple[str, ...] = ()


def compare_models(
    y: FloatArray,
    models: Sequence[Model] = ("1PL", "2PL", "3PL"),
    quadrature: Quadrature = "adaptive",
    priors: Priors = DEFAULT_PRIORS,
    *,
    seed: int = 0,
    levels: IntArray | None = None,
) -> Comparison:
    """Fit each of ``models`` to ``y`` (M, J) and, for prediction, to ``y`` without each of five folds of its cells.

    N_obs of the BIC is the number of known cells.
    """
    n_cells = int((~np.isnan(y)).sum())
    folds = cell_folds(y, FOLDS, np.random.default_rng([seed, 5]))
    rows, predictions = [], []
    for model in models:
        fit = fit_irt(y, model, quadrature, priors, levels=levels)
        predictions.append(held_out_loglik(y, folds, model, quadrature, priors, levels=levels))
        rows.append((model, fit.n_parameters, fit.loglik, fit.converged))
    table = pd.DataFrame(rows, columns=["model", "parameters", "loglik", "converged"])
    table["aic"] = 2 * table["parameters"] - 2 * table["loglik"]
    table["bic"] = np.log(n_cells) * table["parameters"] - 2 * table["loglik"]
    table["kappa"] = table["loglik"].diff() / table["parameters"].diff()
    table["kappa_bic"] = np.where(table["kappa"].isna(), np.nan, 0.5 * np.log(n_cells))
    compared = np.isfinite(np.stack(predictions)).all(axis=0)
    scored, (system, rubric) = np.stack(predictions)[:, compared], np.nonzero(compared)
    table["held_out"] = scored.mean(axis=1) if scored.size else np.nan
    best = int(np.argmax(table["held_out"].to_numpy())) if scored.size else 0
    table["held_out_se"], table["held_out_p"] = behind_the_best(scored, best, system, rubric)
    table.loc[best, ["held_out_se", "held_out_p"]] = np.nan  # the best has no difference from itself
    aic, bic = (models[int(np.argmin(table[name].to_numpy()))] for name in ("aic", "bic"))
    sentence = _sentence(table, best, aic, bic, len(y))
    notes = (*nesting_notes(table), *prior_note(models[best], best, len(y)))
    return Comparison(table, aic, bic, models[best], sentence, notes)


def prior_note(model: Model, best: int, n_systems: int) -> tuple[str, ...]:
    """With few systems, a note that a richer model does not hold just because it predicts best.

    best: position of ``model`` in the table. Empty if ``model`` is the simplest or there are FEW systems or more.
    """
    if not best or n_systems >= FEW:
        return ()
    return (
        f"The {model} predicts best, but this does not show that the labels follow it: the priors of a richer model "
        f"keep its predictions away from the extremes, which helps where a rubric has only {n_systems} labels.",
    )


def nesting_notes(table: pd.DataFrame) -> tuple[str, ...]:
    """A note for each model whose log-likelihood is below that of the simpler model above it, because of priors."""
    rows = list(zip(table["model"], table["loglik"], strict=True))
    return tuple(
        f"The {model} contains the {simpler}, yet its log-likelihood is {before - loglik:,.1f} lower: both models are "
        f"fitted with priors, and the further parameters of the {model} stay near their priors if the labels do not "
        "need them."
        for (simpler, before), (model, loglik) in pairwise(rows)
        if loglik < before
    )


def behind_the_best(
    scored: FloatArray, best: int, system: IntArray, rubric: IntArray
) -> tuple[FloatArray, FloatArray]:
    """(R,) standard error of each model's difference from the best, and its p-value. scored: (R, N) of N cells.

    system, rubric: (N,) of the cells. The best is chosen by the same scores, so that any pair of the models may be the
    one that is tested: Bonferroni.
    """
    behind, models = scored[best] - scored, len(scored)
    error = clustered_standard_errors(behind, system, rubric)
    t = ratio(behind.sum(axis=1) / max(behind.shape[1], 1), error)
    p = 2 * stdtr(max(len(np.unique(system)) - 1, 1), -t)
    return error, np.minimum(models * (models - 1) / 2 * p, 1.0)


def clustered_standard_errors(values: FloatArray, *clusters: IntArray) -> FloatArray:
    """(R,) standard errors of the means of the rows of ``values`` (R, N), with entries that depend within clusters.

    One cluster variable (N,): sqrt(G / (G - 1) sum_g (sum_{n in g} (x_n - mean))²) / N (Liang and Zeger 1986). Two, of
    which a pair of clusters shares at most one entry: the sum of both variances minus that of independent entries, and
    at least the larger of the two (Cameron, Gelbach and Miller 2011). NaN with fewer than two clusters.
    """
    variances = np.array([_clustered_variance(values, cluster) for cluster in clusters])
    if len(clusters) == 1:
        return np.asarray(np.sqrt(variances[0]))
    alone = _clustered_variance(values, np.arange(values.shape[1]))
    return np.asarray(np.sqrt(np.maximum(variances.sum(axis=0) - alone, variances.max(axis=0))))


def _clustered_variance(values: FloatArray, cluster: IntArray) -> FloatArray:
    names, place = np.unique(cluster, return_inverse=True)
    if len(names) < 2:
        return np.full(len(values), np.nan)
    centred = values - values.mean(axis=1, keepdims=True)
    sums = np.stack([np.bincount(place, row, len(names)) for row in centred])
    return np.asarray(len(names) / (len(names) - 1) * (sums**2).sum(axis=1) / values.shape[1] ** 2)


def _sentence(table: pd.DataFrame, best: int, aic: Model, bic: Model, n_systems: int) -> str:
    models = table["model"].tolist()
    if len(models) == 1:
        return f"Only the {models[0]} was fitted: there is nothing to compare it with."
    if table["held_out"].isna().all():
        return "There are too few labels to hold any of them out: the models cannot be compared."
    worse = [m for m, p in zip(models, table["held_out_p"], strict=True) if p <= ALPHA]
    level = [m for m in models if m not in (*worse, models[best])]
    said = [f"The {models[best]} predicts held-out labels best"]
    if worse:
        said.append(f"significantly better than the {' and the '.join(worse)}")
    if level:
        said.append(f"not significantly better than the {' and the '.join(level)}")
    choice = f"AIC and BIC choose the {aic}" if aic == bic else f"AIC chooses the {aic} and BIC the {bic}"
    return f"{', '.join(said)} (5%, {n_systems} systems). {choice}; both are those of the penalised fit."


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
    """(M, J) predictive log-probability of each cell, from a fit without the cell's fold.

    NaN where the cell is unknown, or its rubric does not vary without the fold: then no model has parameters for it.
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
