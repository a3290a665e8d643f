"""Does the response model hold? Models compared, residual spectrum, Yen's Q3, item fit (docs/method.md §12)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import bdtrc

from ..analysis.calibration import calibrate
from ..analysis.result import Calibration
from ..declarations import Parameter
from ..irt.comparison import ALPHA, Comparison, compare_models
from ..irt.dependence import LocalDependence, local_dependence, q3_among, worst_rubrics
from ..irt.diagnostics import Spectrum, residual_spectrum, residuals
from ..irt.fit import IrtFit, fit_irt
from ..irt.item_fit import REPLICATES, ItemFit, bootstrap_item_fit, simulate_labels
from ..labels.store.dataset import Dataset
from ..labels.store.reduction import Reduction
from ..leaderboard.simultaneous import threshold
from ..settings import Model, Settings
from ..text import count, verb
from ..types import Cancel, FloatArray, IntArray, Progress
from .declaration import Chart, Experiment, ResultColumn, ResultTable, number
from .inputs import read_inputs
from .results import ExperimentResult, ExperimentWatch, records

BINARY_MODELS: tuple[Model, ...] = ("1PL", "2PL", "3PL")
EIGENVALUES = 15
LISTED = 50
DRAWN = 19  # simulated tables: another one exceeds the largest of them with probability 1/20
MOST_LABELS = 2**22  # up to so many labels, DRAWN tables are fitted within a minute or two
CHANCE = 0.05
RATIO = "first over second eigenvalue"


@dataclass(frozen=True)
class Dependence:
    """Local dependence of the rubrics, compared with tables simulated from the model.

    found: Q3 of all pairs. chance: number of flagged pairs in one simulated table. ratio: first over second eigenvalue
    of its residual correlations. line: value that this ratio does not exceed in 95% of simulated tables; NaN if only
    one was simulated. rubrics: (n,) indices of the worst rubrics. among: (n, n) Q3 among them.
    """

    found: LocalDependence
    chance: int
    ratio: float
    line: float
    rubrics: IntArray
    among: FloatArray


def compared_models(reduction: Reduction, settings: Settings) -> Comparison:
    """Compare the binary models on the same labels; with the GRM in the settings, only the GRM is fitted."""
    models: tuple[Model, ...] = ("GRM",) if settings.model == "GRM" else BINARY_MODELS
    return compare_models(
        reduction.y,
        models,
        settings.quadrature,
        settings.priors,
        seed=settings.seed,
        levels=reduction.levels,
    )


def spectrum_of(fit: IrtFit, y: FloatArray) -> Spectrum:
    """Eigenvalues of the residual correlations of labels (M, J)."""
    return residual_spectrum(residuals(fit, y))


def dependence_of(
    fit: IrtFit, y: FloatArray, query_index: IntArray, seed: int, progress: Progress | None = None
) -> Dependence:
    """Q3 of all pairs of rubrics in labels (M, J), compared with DRAWN tables simulated from the model and refitted.

    Only one table is simulated if there are more than MOST_LABELS labels.
    """
    rng, chance, ratios = np.random.default_rng([seed, 8]), 0, []
    count_of_tables = DRAWN if y.size <= MOST_LABELS else 1
    for at in range(count_of_tables):
        if progress is not None:
            progress(at / count_of_tables, f"Table {at + 1} of {count_of_tables} drawn from the model")
        alone = _of_the_model(fit, y, rng)
        ratios.append(residual_spectrum(alone).ratio)
        if at == 0:
            chance = local_dependence(alone, query_index, keep=1).n_flagged
    line = threshold(np.nan_to_num(ratios, nan=np.inf), 1 - CHANCE) if count_of_tables > 1 else float("nan")
    residual = residuals(fit, y)
    pairs = local_dependence(residual, query_index)
    worst = worst_rubrics(pairs)
    return Dependence(pairs, chance, ratios[0], line, worst, q3_among(residual, worst))


def _of_the_model(fit: IrtFit, y: FloatArray, rng: np.random.Generator) -> FloatArray:
    """(M, J) residuals of a table simulated from the model, after a new fit to it."""
    drawn = simulate_labels(fit, y, rng)
    return residuals(fit_irt(drawn, fit.model, fit.quadrature, fit.priors, levels=fit.levels), drawn)


def model_check(
    ds: Dataset,
    settings: Settings,
    *,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    replicates: int = REPLICATES,
) -> ExperimentResult:
    """Compare response models, and check the fitted one.

    Tables: ``models`` (one row a model), ``checks`` (one row a check: value, and value under the model), ``spectrum``,
    ``pairs`` (Q3 farthest from the mean first), ``items`` (one row a rubric, smallest p first).
    """
    watch = ExperimentWatch(progress, cancel)
    watch.step(0.0, "Fitting the model")
    inputs = read_inputs(ds, settings)
    reduction, fitted = inputs.reduction, calibrate(inputs.reduction, settings)
    fit = fitted.fit
    watch.step(0.1, "Comparing models on held-out labels")
    comparison = compared_models(reduction, settings)
    watch.step(0.4, "Correlating residuals")
    spectrum = spectrum_of(fit, reduction.y)
    dependence = dependence_of(
        fit,
        reduction.y,
        inputs.query_index,
        settings.seed,
        lambda share, what: watch.step(0.4 + share / 10, what),
    )
    watch.step(0.5, "Item fit")
    items = bootstrap_item_fit(
        fit,
        reduction.y,
        replicates,
        settings.seed,
        lambda share, what: watch.step(0.5 + share / 2, what),
    )
    watch.step(1.0, "Done")
    names = reduction.rubrics["rubric"].to_numpy(dtype=object)
    tables = {
        "models": comparison.table,
        "checks": check_table(spectrum, dependence, items),
        "spectrum": spectrum_table(spectrum),
        "pairs": pair_table(dependence.found, names),
        "items": item_fit_table(reduction, fitted, items),
    }
    tested = int(np.isfinite(items.p).sum())
    options = {"replicates": replicates, "model": fit.model, "held_out_best": comparison.held_out}
    return inputs.result(
        "model_check",
        options,
        tables,
        _found(comparison, tables["checks"], tested),
        _limits(reduction, comparison, np.isfinite(dependence.line)),
    )


def check_table(spectrum: Spectrum, dependence: Dependence, items: ItemFit) -> pd.DataFrame:
    """One row a check: check, value, expected (in a simulated table), line (95% of these have at most); NaN unknown."""
    pairs, unknown = dependence.found, np.nan
    rows = [
        (RATIO, spectrum.ratio, dependence.ratio, dependence.line),
        ("pairs flagged by Q3", float(pairs.n_flagged), float(dependence.chance), unknown),
        ("pairs in all", float(pairs.n_pairs), unknown, unknown),
        ("flagged pairs within one query", pairs.within_query, unknown, unknown),
        ("rubrics that misfit", items.misfit, CHANCE, unknown),
    ]
    return pd.DataFrame(rows, columns=["check", "value", "expected", "line"])


def spectrum_table(spectrum: Spectrum) -> pd.DataFrame:
    """The EIGENVALUES largest eigenvalues: component (from 1), eigenvalue."""
    values = spectrum.eigenvalues[:EIGENVALUES]
    return pd.DataFrame({"component": np.arange(1, len(values) + 1), "eigenvalue": values})


def pair_table(found: LocalDependence, names: FloatArray) -> pd.DataFrame:
    """The LISTED most extreme pairs, worst first: first, second (names), q3, systems, same_query, flagged."""
    pairs = found.pairs.head(LISTED).reset_index(drop=True)
    named = {side: names[pairs[side].to_numpy(dtype=np.int64)] for side in ("first", "second")}
    return pairs.assign(**named)[["first", "second", "q3", "systems", "same_query", "flagged"]]


def item_fit_table(reduction: Reduction, fitted: Calibration, items: ItemFit) -> pd.DataFrame:
    """Item fit of the rubrics that have parameters, smallest p first: rubric, query, outfit, p, a, b."""
    table = reduction.rubrics[["rubric", "query"]].assign(
        outfit=items.outfit, p=items.p, a=fitted.fit.a, b=fitted.fit.b
    )
    return table[table["outfit"].notna()].sort_values("p", kind="stable", ignore_index=True)


def _found(comparison: Comparison, checks: pd.DataFrame, tested: int) -> str:
    values = records(checks, "check")
    flagged, misfit = values["pairs flagged by Q3"], values["rubrics that misfit"]
    pairs = int(values["pairs in all"]["value"])
    dependent = (
        f"{flagged['value']:,.0f} of {count(pairs, 'pair')} of rubrics are flagged by Q3, where a table simulated from "
        f"the model has {flagged['expected']:,.0f}"
        if pairs
        else "No two rubrics were labelled on enough systems to be compared"
    )
    return (
        f"{comparison.sentence} {_abilities(values[RATIO])}{dependent}; {_share(misfit['value'])} of the rubrics "
        f"misfit at p < {CHANCE:g}, where chance gives at most {CHANCE:.0%}{_by_chance(misfit['value'], tested)}."
    )


def _abilities(row: dict[str, float]) -> str:
    """A sentence on whether the eigenvalues show a second ability; "" if too few tables were simulated."""
    ratio, line = row["value"], row["line"]
    if not (np.isfinite(ratio) and np.isfinite(line)):
        return ""
    shown = "more than one ability" if ratio > line else "no second ability"
    return (
        f"The residuals show {shown}: their first eigenvalue is {ratio:.2f} times the second, and {1 - CHANCE:.0%} of "
        f"tables simulated from the model have at most {line:.2f}. "
    )


def _by_chance(misfit: float, tested: int) -> str:
    """A clause if the share of misfitting rubrics is above CHANCE but may be due to chance; else "".

    misfit: share of the rubrics. tested: number of rubrics tested.
    """
    found = round(misfit * tested) if misfit > CHANCE else 0
    if not found or bdtrc(found - 1, tested, CHANCE) < CHANCE:
        return ""
    return f" on average, and {found} of {tested} {verb(found, 'are')} no more than chance may give"


def _share(value: float) -> str:
    return "an unknown share" if np.isnan(value) else f"{value:.1%}"


def _limits(reduction: Reduction, comparison: Comparison, line_known: bool) -> tuple[str, ...]:
    limits = [
        "AIC and BIC are those of the penalised fit; the conclusion rests on the prediction of held-out labels.",
        f"Q3 {'is' if line_known else 'and eigenvalues are'} compared with one simulated table: only a large excess "
        "shows that rubrics depend on each other. Eigenvalues cannot show abilities that are closely related.",
    ]
    if not comparison.table["converged"].all():
        limits.append("A model did not converge: read its row as provisional.")
    limits.extend(comparison.notes)
    if (size := len(reduction.systems)) < 30:
        limits.append(
            f"With {size} systems a rubric's fit rests on {size} labels: only gross misfit is found."
        )
    return tuple(limits)


def headline(result: ExperimentResult) -> str:
    """Sentences: which model predicts held-out labels best, and how many rubrics misfit."""
    misfit = records(result.tables["checks"], "check")["rubrics that misfit"]["value"]
    more = _by_chance(misfit, int(result.tables["items"]["p"].notna().sum()))
    best, used = result.options["held_out_best"], result.options["model"]
    how = f"The {best} predicts held-out labels best, {_ahead(result.tables['models'], best, used)}"
    if used == "GRM":
        how = "The GRM is the only model of ordered labels here"
    elif result.tables["models"]["held_out"].isna().all():
        how = "There are too few labels to hold any of them out: the models cannot be compared"
    return f"{how}. {_share(misfit).capitalize()} of the rubrics misfit; chance gives at most {CHANCE:.0%}{more}."


def _ahead(models: pd.DataFrame, best: str, used: str) -> str:
    """A clause: whether the best model is significantly better than the one in use, or, if it is that, than others."""
    p = dict(zip(models["model"], models["held_out_p"], strict=True))
    if best != used:
        how = "significantly better" if p.get(used, np.nan) <= ALPHA else "but not significantly better"
        return f"{how} than the {used} in use"
    level = [model for model in p if model != used and not p[model] <= ALPHA]
    behind = f"; it is not significantly better than the {' and the '.join(level)}" if level else ""
    return f"and is the model in use{behind}"


EXPERIMENT = Experiment(
    name="model_check",
    title="Model check",
    question="Which response model do the labels support, is one ability enough, and does each rubric follow it?",
    run=model_check,
    parameters={"replicates": Parameter("tables drawn from the model, for the item fit", low=1, whole=True)},
    tables={
        "models": ResultTable(
            "Models compared on the same labels",
            {
                "model": ResultColumn("model"),
                "parameters": number("parameters", "localized"),
                "loglik": number("log-likelihood", "%.1f"),
                "aic": number("AIC", "%.1f", "Smaller is better"),
                "bic": number("BIC", "%.1f", "As AIC, with a higher price for each parameter"),
                "kappa": number("gain per parameter", about="AIC asks for more than 1"),
                "kappa_bic": number("threshold of BIC", "%.2f"),
                "held_out": number(
                    "held-out labels", "%.4f", "Mean log-probability of labels held out of the fit"
                ),
                "held_out_se": number(
                    "± SE", "%.2g", "Of the difference to the best, clustered by system and rubric"
                ),
                "held_out_p": ResultColumn(
                    "p", "p", "Of the difference to the best, adjusted for all pairs of models"
                ),
                "converged": ResultColumn("converged", "check"),
            },
        ),
        "checks": ResultTable(
            "What the residuals say",
            {
                "check": ResultColumn("check"),
                "value": number("value", "mixed"),
                "expected": number("in one simulated table", "mixed"),
                "line": number("in 95% of them at most", "mixed"),
            },
        ),
        "spectrum": ResultTable(
            "Eigenvalues of the residual correlations",
            {"component": number("component", "localized"), "eigenvalue": number("eigenvalue")},
            caption="A first eigenvalue over the second clearly above that of the model indicates a second ability.",
            on_page=False,
        ),
        "pairs": ResultTable(
            "Pairs of rubrics whose Q3 is farthest from the mean",
            {
                "first": ResultColumn("rubric"),
                "second": ResultColumn("other rubric"),
                "q3": number("Q3", "%.2f"),
                "systems": number("systems", "localized"),
                "same_query": ResultColumn("same query", "check"),
                "flagged": ResultColumn("flagged", "check"),
            },
        ),
        "items": ResultTable(
            "Item fit, smallest p first",
            {
                "rubric": ResultColumn("rubric"),
                "query": ResultColumn("query"),
                "outfit": number(
                    "outfit", "%.2f", "Mean squared standardised residual, near 1 under the model"
                ),
                "p": number("p"),
                "a": number("discrimination a", "%.2f"),
                "b": number("difficulty b", "%.2f"),
            },
        ),
    },
    headline=headline,
    charts=(
        Chart(
            "One ability? Eigenvalues of the residual correlations",
            table="spectrum",
            x="component",
            y=("eigenvalue",),
            x_title="component",
            y_title="eigenvalue",
        ),
        Chart(
            "Outfit of each rubric by difficulty",
            table="items",
            x="b",
            y=("outfit",),
            x_title="difficulty b",
            y_title="outfit mean square",
            marks=True,
        ),
    ),
    order=9,
)
