"""E2 with systems held out: does a bank place systems that took no part in its choice? (docs/method.md §11)

The systems are split into folds repeatedly. Each fold's systems are treated as new: the model is fitted and the banks
are chosen without them, on the scale of the pooled fit. A new system's ability on a bank is compared with the abilities
on the whole pool, each from a fit without the system itself. Copies of a system count once, since a system is not new
if its copy took part.

- new pairs: two new systems, both on the bank;
- new and old: a new system on the bank, an old one on the whole pool;
- tau: Kendall's tau of all systems as new ones with the pool;
- human: Kendall's tau with the human ranking, if there is one;
- score error: mean absolute error of the predicted share of the mark over the pool.

All but the last are shares of pairs, so that the jackknife over systems leaves the pairs of one system out of the sums.
The interval of a share is exact for the jackknife's effective number of pairs; that of a difference of shares combines
the two (crubric_core/intervals.py); that of the score error is the jackknife's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

import numpy as np

from ..analysis.fitted import gate
from ..declarations import Parameter
from ..errors import DatasetError
from ..intervals import known_mean
from ..irt.abilities import estimate_abilities
from ..irt.fit import IrtFit, constant_rubrics, fit_irt
from ..irt.linking import mean_sigma
from ..irt.prefixes import PrefixAbilities
from ..irt.refit import as_fit, refit
from ..judges.gate import gate_is_off
from ..judges.measurability import measurability_posterior
from ..labels.checks.consistency import COPY_LABELS, COPY_RARER
from ..labels.store.dataset import Dataset
from ..leaderboard.cross_fit import FEW_SYSTEMS
from ..settings import Settings
from ..types import BoolArray, Cancel, FloatArray, IntArray, Progress
from ..workers import run_tasks
from .concordance import Concordance, Repeat, total
from .declaration import Chart, Experiment
from .held_out_tables import TABLES, ahead_table, budget_table, found_sentence, headline, summary_table
from .inputs import Inputs, read_inputs, reduce_panel, reference_scores
from .results import ExperimentResult, ExperimentWatch
from .selectors import SELECTORS, Training
from .splits import log_budgets

LARGEST = 200
PAPER_TAU = 0.8


def held_out_systems(
    ds: Dataset,
    settings: Settings,
    *,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    repeats: int = 3,
    folds: int = 4,
    draws: int = 3,
    n_budgets: int = 6,
    selectors: Sequence[str] = tuple(SELECTORS),
) -> ExperimentResult:
    """Place held-out systems on banks of each selector.

    repeats: divisions of the systems into ``folds``. draws: random banks of each fold. n_budgets: bank sizes.
    Tables: ``new_systems`` (one row a selector: each measure, and its difference to random), ``ahead`` (pairs minus
    each other selector), ``budgets`` (by bank size).
    """
    whole = read_inputs(ds, settings)
    inputs, panel = each_once(whole, ds.panel(whole.settings.response))
    watch = ExperimentWatch(progress, cancel)
    folds = min(folds, len(inputs.reduction.systems) // 2)
    budgets, found = hold_out_folds(inputs, panel, watch, repeats, folds, draws, n_budgets, selectors)
    table = summary_table(found, settings.confidence)
    options = {"repeats": repeats, "folds": folds, "draws": draws, "budgets": budgets.tolist()}
    ahead = ahead_table(found, settings.confidence)
    tables = {"new_systems": table, "ahead": ahead, "budgets": budget_table(found, budgets)}
    watch.step(1.0, "Done")
    copies = len(whole.reduction.systems) - len(inputs.reduction.systems)
    limits = _limits(inputs, copies)
    return whole.result("new_systems", options, tables, found_sentence(ahead, table), limits)


def each_once(inputs: Inputs, panel: FloatArray) -> tuple[Inputs, FloatArray]:
    """The inputs and labels (M, J, K) without the systems that are copies of an earlier one.

    Systems with equal labels are copies if the labels are many and vary (COPY_LABELS, COPY_RARER, as in the
    data-quality issues); otherwise they may be different systems that pass nearly everything.
    """
    kept: dict[bytes, int] = {}
    for i, labels in enumerate(panel):
        counts = np.unique(labels[~np.isnan(labels)], return_counts=True)[1]
        tells = counts.sum() >= COPY_LABELS and counts.sum() - counts.max() >= COPY_RARER
        content = np.nan_to_num(labels, nan=-1).tobytes() if tells else str(i).encode()
        kept.setdefault(sha256(content).digest(), i)
    systems = np.array(list(kept.values()))
    if len(systems) == len(panel):
        return inputs, panel
    reduction = reduce_panel(inputs, panel, systems, *(np.arange(size) for size in panel.shape[1:]))
    table = gate(reduction, inputs.settings)
    return replace(inputs, reduction=reduction, measurability=table), panel[systems]


def hold_out_folds(
    inputs: Inputs,
    panel: FloatArray,
    watch: ExperimentWatch,
    repeats: int,
    folds: int,
    draws: int,
    n_budgets: int,
    selectors: Sequence[str],
) -> tuple[IntArray, dict[str, Concordance]]:
    """The budgets, and the concordance of each selector. panel: (M, J, K) labels of the inputs' systems.

    Raises DatasetError if there are too few systems or rubrics that vary.
    """
    reduction, settings = inputs.reduction, inputs.settings
    size = len(reduction.systems)
    usable = int((~constant_rubrics(reduction.y)).sum())
    if size < FEW_SYSTEMS or usable < 4:
        raise DatasetError(
            f"Holding systems out needs {FEW_SYSTEMS} systems, copies counted once, and 4 rubrics on which they "
            f"differ: this dataset has {size} and {usable}."
        )
    budgets = log_budgets(min(usable // 2, LARGEST), n_budgets)
    pooled = fit_irt(
        reduction.y, settings.model, settings.quadrature, settings.priors, levels=reduction.levels
    )
    human = reference_scores(inputs.dataset, reduction.systems)
    found = list(
        run_tasks(
            _one_repeat,
            range(repeats),
            (
                inputs.for_tasks(),
                panel,
                pooled,
                human,
                budgets,
                (repeats, folds, draws),
                tuple(selectors),
                watch,
            ),
            before=lambda repeat: watch.step(repeat / repeats, f"Repeat {repeat + 1} of {repeats}"),
        )
    )
    return budgets, {name: total([one[name] for one in found]) for name in selectors}


def _one_repeat(
    inputs: Inputs,
    panel: FloatArray,
    pooled: IrtFit,
    human: FloatArray,
    budgets: IntArray,
    sizes: tuple[int, int, int],
    selectors: Sequence[str],
    watch: ExperimentWatch,
    repeat: int,
) -> dict[str, Concordance]:
    """Place all folds of one repeat, with its own random generator. sizes: (repeats, folds, draws)."""
    repeats, folds, draws = sizes
    size = len(inputs.reduction.systems)
    rng = np.random.default_rng([inputs.settings.seed, 12, repeat])
    fold = rng.permutation(np.arange(size) % folds)
    placed, count = Repeat(size, len(budgets)), int(fold.max()) + 1
    for f in range(count):
        watch.step((repeat + f / count) / repeats, f"Repeat {repeat + 1} of {repeats}, fold {f + 1}")
        _place_fold(inputs, panel, pooled, fold == f, budgets, draws, selectors, rng, placed)
    return {name: placed.concordance(name, fold, human, inputs.groups[0]) for name in selectors}


def _place_fold(
    inputs: Inputs,
    panel: FloatArray,
    pooled: IrtFit,
    new: BoolArray,
    budgets: IntArray,
    draws: int,
    selectors: Sequence[str],
    rng: np.random.Generator,
    placed: Repeat,
) -> None:
    """Fit and choose banks without the ``new`` systems (M,), and store their placings in ``placed``.

    Does nothing if the other systems differ on no rubric.
    """
    if constant_rubrics(inputs.reduction.y[~new]).all():
        return
    training = train(inputs, panel, pooled, ~new)
    y = inputs.reduction.y[new]
    shares = y / (inputs.reduction.levels - 1)
    pool = training.pool
    placed.score[new] = known_mean(shares[:, pool], axis=1)
    theta = PrefixAbilities(training.fit, y)([pool], [len(pool)])[0, 0]
    placed.reference[new] = np.where(np.isnan(placed.score[new]), np.nan, theta)
    for name in selectors:
        for draw in range(draws if name == "random" else 1):
            found = SELECTORS[name](training, y, shares, budgets, rng)
            placed.put(name, draw, new, found.theta, found.score)


def train(inputs: Inputs, panel: FloatArray, pooled: IrtFit, old: BoolArray) -> Training:
    """The model fitted to the ``old`` systems (M,) on the pooled scale, and the gates from their labels.

    The pool are the rubrics that vary among the old systems. Rubrics that vary only because of the new systems would be
    chosen by the new labels.
    """
    whole = inputs.reduction
    y = whole.y[old]
    found, varying = refit(pooled, y), ~constant_rubrics(y)
    items = mean_sigma(found.theta, pooled.theta[old]).items(found.items)
    fit = as_fit(pooled, replace(items, a=np.where(varying, items.a, np.nan)))
    abilities = estimate_abilities(fit, y)
    everything = [np.arange(size) for size in panel.shape[1:]]
    reduction = reduce_panel(inputs, panel, np.flatnonzero(old), *everything)
    agreement = measurability_posterior(reduction.n_agree, reduction.n_total).mean
    return Training(
        y=y,
        shares=y / (whole.levels - 1),
        fit=fit,
        theta=abilities.theta,
        theta_sd=abilities.sd,
        query_index=inputs.query_index,
        passing=gate(reduction, inputs.settings)["feasible"].to_numpy(),
        passing_paper=(agreement >= PAPER_TAU) | gate_is_off(reduction),
    )


def _limits(inputs: Inputs, copies: int) -> tuple[str, ...]:
    """Sentences on the limits of the result. copies: systems left out because an earlier one has the same labels."""
    size = len(inputs.reduction.systems)
    limits = ["The intervals are over systems: they tell what other systems like these would show."]
    if copies:
        limits.append(
            "Systems with the same labels on many rubrics count once, because they are not new to each other: "
            f"{copies:,} of {size + copies:,} left out."
        )
    limits += inputs.unlinked("pairs of two groups are not counted")
    if size <= 10:
        limits.append(f"With {size} systems a single one changes every figure a lot.")
    return tuple(limits)


EXPERIMENT = Experiment(
    name="new_systems",
    title="Systems held out (E2)",
    question=(
        "Does a bank place systems that took no part in its choice? A quarter of the systems is held out at a time; "
        "each is placed on banks chosen without it, and compared with its ability on the whole pool."
    ),
    run=held_out_systems,
    parameters={
        "repeats": Parameter("divisions of the systems into folds", low=1, whole=True),
        "folds": Parameter("folds of systems, at most half as many as systems", low=2, whole=True),
        "draws": Parameter("random banks of each fold", low=1, whole=True),
        "n_budgets": Parameter("bank sizes, log-spaced", low=1, whole=True),
    },
    tables=TABLES,
    headline=headline,
    charts=(
        Chart(
            "How well a bank of B rubrics places systems that it has not seen",
            table="budgets",
            x="budget",
            y=("tau",),
            series="selector",
            x_title="rubrics in the bank (B)",
            y_title="Kendall's τ with the whole pool",
            log=True,
        ),
        Chart(
            "How far pairs are ahead of each other selector",
            table="ahead",
            rows="selector",
            y=("difference",),
            low="low",
            high="high",
            where={"measure": "tau"},
            x_title="difference of τ",
            line=0.0,
        ),
    ),
    order=2,
)
