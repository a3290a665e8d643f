"""E2: does a small bank rank the systems as held-out rubrics do? (docs/method.md §11)

The usable (non-constant) rubrics are split into halves. On half A the model is fitted and each strategy orders its
candidates; a bank is a prefix of that order, and a system's ability is its EAP on this prefix with the parameters of
half A. The reference is the ability from a separate fit of half B. Spearman's rho between the two is computed at
log-spaced budgets; AUC is its mean over them. Splits share their rubrics: the intervals are for other rubrics and the
same systems (Nadeau and Bengio 2003), not for other splits of these rubrics.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..declarations import Parameter
from ..labels.store.dataset import Dataset
from ..settings import Settings, Strategy
from ..types import Cancel, FloatArray, Progress
from .declaration import HIGH, LOW, Chart, Experiment, ResultColumn, ResultTable, hidden, number
from .inputs import Inputs, read_inputs
from .results import ExperimentResult, ExperimentWatch, compared, num, records, span
from .splits import STRATEGIES, Splits, split_rubrics
from .statistics import mean_interval

NOT_REACHED = "not reached"
HALF = 1.0  # size of the held-out half divided by that of the other half


def crossfit(
    ds: Dataset,
    settings: Settings,
    *,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    splits: int = 20,
    draws: int = 3,
    n_budgets: int = 12,
) -> ExperimentResult:
    """Cross-fitted rank correlation of banks by the strategies pairs, greedy, plain, hard random and random.

    splits: number of half-splits. draws: random banks of each split. n_budgets: number of bank sizes.
    Tables: ``summary`` (one row a strategy), ``curves`` (rho against the budget), ``splits`` (AUC of each split).
    """
    inputs = read_inputs(ds, settings)
    fitted = split_rubrics(
        inputs.reduction,
        inputs.feasible,
        settings,
        splits,
        draws,
        n_budgets,
        ExperimentWatch(progress, cancel),
    )
    curves = curve_table(fitted, settings.confidence)
    tables = {
        "summary": summary_table(fitted, curves, settings.confidence),
        "curves": curves,
        "splits": split_table(fitted),
    }
    options = {
        "splits": splits,
        "draws": draws,
        "budgets": fitted.budgets.tolist(),
        "target": fitted.target,
    }
    return inputs.result(
        "crossfit", options, tables, _found(tables["summary"], fitted), _limits(inputs, fitted)
    )


def summary_table(fitted: Splits, curves: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """One row a strategy, in the layout of tab:e2-crossfit.

    auc, auc_low, auc_high: mean over the splits with its t interval. candidates: mean number of candidates. delta …:
    AUC of pairs minus that of this strategy, paired by split. greedy_delta …: the same for the paper's greedy.
    smallest_bank …: NaN if the target is not reached.
    """
    rows = []
    for strategy in STRATEGIES:
        auc, low, high, n = _mean_correlation(fitted.auc(strategy), confidence)
        delta, greedy = (_ahead(fitted, first, strategy, confidence) for first in ("pairs", "greedy"))
        smallest = fitted.smallest[strategy]
        least, most = smallest_interval(curves[curves["strategy"] == strategy], fitted.target)
        rows.append(
            {
                "strategy": strategy,
                "auc": auc,
                "auc_low": low,
                "auc_high": high,
                "splits": n,
                "candidates": float(np.mean([len(s.orders[strategy][0]) for s in fitted.splits])),
                "delta": delta[0],
                "delta_low": delta[1],
                "delta_high": delta[2],
                "delta_splits": delta[3],
                "greedy_delta": greedy[0],
                "greedy_delta_low": greedy[1],
                "greedy_delta_high": greedy[2],
                "smallest_bank": np.nan if smallest is None else float(smallest),
                "smallest_low": least,
                "smallest_high": most,
                "target": fitted.target,
            }
        )
    return pd.DataFrame(rows)


def smallest_interval(curve: pd.DataFrame, target: float) -> tuple[float, float]:
    """Least and largest size that the smallest bank may have with other rubrics; NaN: not reached at the sizes tried.

    The least is 1 + the last budget before the first whose interval of rho reaches the target. The largest is the first
    budget whose whole interval reaches it. curve: budget, rho, low and high of one strategy.
    """
    budgets = curve["budget"].to_numpy(dtype=float)
    may = np.flatnonzero(curve["rho"].notna() & ~(curve["high"] < target))
    must = np.flatnonzero(curve["low"] >= target)
    least = np.concatenate([[0.0], budgets])[may[0]] + 1 if may.size else np.nan
    return float(least), float(budgets[must[0]]) if must.size else np.nan


def _over_splits(values: FloatArray, confidence: float) -> tuple[float, float, float, int]:
    """(mean, low, high, n) of the known ``values`` of the splits, with a t interval.

    The interval is NaN if all splits are equal, since they do not show how much other rubrics would differ.
    """
    mean, low, high, n = mean_interval(values, confidence, held_out=HALF)
    return (mean, low, high, n) if high > low else (mean, np.nan, np.nan, n)


def _mean_correlation(values: FloatArray, confidence: float) -> tuple[float, float, float, int]:
    """(mean, low, high, n) of the known correlations of the splits, with a t interval cut to [-1, 1]."""
    mean, low, high, n = _over_splits(values, confidence)
    return mean, max(low, -1.0), min(high, 1.0), n


def _ahead(
    fitted: Splits, first: Strategy, strategy: Strategy, confidence: float
) -> tuple[float, float, float, int]:
    """AUC of ``first`` minus that of ``strategy``: mean, t interval and number of splits with both; NaN to itself."""
    difference = fitted.auc(first) - fitted.auc(strategy)
    known = difference if strategy != first else np.full_like(difference, np.nan)
    return _over_splits(known, confidence)


def curve_table(fitted: Splits, confidence: float) -> pd.DataFrame:
    """One row for each strategy and budget: strategy, budget, rho (mean over the splits), low, high (t interval)."""
    rows = []
    for strategy in STRATEGIES:
        by_split = fitted.rho[strategy].mean(axis=1)
        for budget, values in zip(fitted.budgets.tolist(), by_split.T, strict=True):
            mean, low, high, _ = _mean_correlation(values, confidence)
            rows.append((strategy, budget, mean, low, high))
    return pd.DataFrame(rows, columns=["strategy", "budget", "rho", "low", "high"])


def split_table(fitted: Splits) -> pd.DataFrame:
    """One row a split: its number from 1, and the AUC of each strategy."""
    table = pd.DataFrame({"split": np.arange(1, len(fitted.splits) + 1)})
    return table.assign(**{str(strategy): fitted.auc(strategy) for strategy in STRATEGIES})


_OTHERS = {
    "greedy": "the paper's greedy",
    "plain": "plain information",
    "hard_random": "random rubrics of the hard set",
    "random": "random rubrics",
}


def _found(summary: pd.DataFrame, fitted: Splits) -> str:
    """Sentences on the AUC of pairs, compared with each other strategy, and on the smallest banks."""
    table = records(summary, "strategy")
    parts = []
    for strategy, name in _OTHERS.items():
        row = table[strategy]
        if np.isnan(row["delta"]):
            parts.append(f"cannot be compared with {name}, because no split has both")
            continue
        how = compared(row["delta_low"], row["delta_high"], "ahead of", "behind", "not separated from")
        parts.append(f"{how} {name} (ΔAUC {num(row['delta'])} {span(row['delta_low'], row['delta_high'])})")
    banks = [f"{_reached(row)} ({NAMES[strategy]})" for strategy, row in table.items()]
    if summary["smallest_bank"].isna().all():
        banks = [f"{NOT_REACHED} by any strategy"]
    return (
        f"The AUC of banks of pairs is {num(table['pairs']['auc'])}: it is {'; '.join(parts)}. "
        f"Smallest bank with ρ ≥ {fitted.target:.4g}: {', '.join(banks)}."
    )


def _reached(row: dict[Any, Any]) -> str:
    """The smallest bank of a strategy with its interval, as text."""
    sizes = [row[f"smallest_{each}"] for each in ("bank", "low", "high")]
    bank, low, high = (NOT_REACHED if np.isnan(size) else f"{size:.0f}" for size in sizes)
    return bank if low == NOT_REACHED else f"{bank} [{low}, {high}]"


def _limits(inputs: Inputs, fitted: Splits) -> tuple[str, ...]:
    n_systems = len(inputs.reduction.systems)
    limits = [
        f"All {len(fitted.splits)} splits share the same {n_systems} systems: the intervals are for other rubrics, not "
        f'for other systems. That of a smallest bank ends with "{NOT_REACHED}" where other rubrics may have no bank '
        "that reaches the target.",
        "A bank is chosen by labels of the very systems that it ranks. That alone can put it ahead of random rubrics, "
        "even if all rubrics are alike. What a bank is worth for other systems is shown by holding systems out.",
    ]
    limits += inputs.unlinked()
    if n_systems <= 8:
        limits.append(f"With {n_systems} systems ρ can take only few values, and one swap changes it a lot.")
    greedy = np.mean([len(split.orders["greedy"][0]) for split in fitted.splits])
    if greedy < 0.9 * fitted.budgets[-1]:
        limits.append(
            f"The gate leaves pairs, greedy and plain {greedy:.0f} of a half's {fitted.budgets[-1]} rubrics on "
            "average: at larger budgets they stop there, while random goes on."
        )
    if short := sum(not split.converged for split in fitted.splits):
        limits.append(f"In {short} of {len(fitted.splits)} splits a fit did not converge.")
    return tuple(limits)


NAMES = {
    "greedy": "greedy",
    "pairs": "pairs",
    "plain": "plain information",
    "hard_random": "random in the hard set",
    "random": "random",
}


def headline(result: ExperimentResult) -> str:
    """A sentence comparing banks of pairs with random banks."""
    row = records(result.frame(), "strategy")["random"]
    if np.isnan(row["delta"]):
        return "Banks of pairs cannot be compared with random ones here."
    verbs = (
        "rank them better",
        "rank them worse",
        "are not shown to rank them better or worse",
    )
    how = compared(row["delta_low"], row["delta_high"], *verbs)
    return (
        f"On held-out rubrics of the same systems, banks of pairs {how} than random ones: "
        f"ΔAUC {num(row['delta'])} {span(row['delta_low'], row['delta_high'])}."
    )


EXPERIMENT = Experiment(
    name="crossfit",
    title="Cross-fit (E2)",
    question=(
        "Does a small bank rank the systems as held-out rubrics do? The rubrics are repeatedly split into halves: one "
        "half gives the bank, the other half the ranking that it should reproduce."
    ),
    run=crossfit,
    parameters={
        "splits": Parameter("half-splits of the rubrics", low=1, whole=True),
        "draws": Parameter("random banks of each split", low=1, whole=True),
        "n_budgets": Parameter("bank sizes, log-spaced", low=1, whole=True),
    },
    tables={
        "summary": ResultTable(
            "AUC, and the difference of pairs to it in the same splits",
            {
                "strategy": ResultColumn("chosen by", words=NAMES),
                "auc": number("AUC", about="Mean of ρ over the budgets, then over the splits"),
                "auc_low": LOW,
                "auc_high": HIGH,
                "splits": hidden("splits", "localized"),
                "delta": number("ΔAUC", about="AUC of pairs minus that of this row, paired by split"),
                "delta_low": LOW,
                "delta_high": HIGH,
                "delta_splits": hidden("splits compared", "localized"),
                "greedy_delta": number(
                    "greedy's ΔAUC", about="AUC of the paper's greedy minus that of this row, paired by split"
                ),
                "greedy_delta_low": LOW,
                "greedy_delta_high": HIGH,
                "smallest_bank": ResultColumn(
                    "smallest bank at the target", "localized", unknown=NOT_REACHED
                ),
                "smallest_low": ResultColumn("from", "localized", unknown=NOT_REACHED),
                "smallest_high": ResultColumn("to", "localized", unknown=NOT_REACHED),
                "candidates": number("candidates", "%.0f", "Rubrics to choose from, mean over the splits"),
                "target": hidden("target"),
            },
        ),
        "curves": ResultTable(
            "ρ at each budget",
            {
                "strategy": ResultColumn("chosen by", words=NAMES),
                "budget": number("B", "localized"),
                "rho": number("ρ"),
                "low": LOW,
                "high": HIGH,
            },
            on_page=False,
        ),
        "splits": ResultTable(
            "AUC of each split",
            {"split": number("split", "localized"), **{name: number(words) for name, words in NAMES.items()}},
        ),
    },
    headline=headline,
    charts=(
        Chart("How well a bank of B rubrics ranks the systems", draw="crossfit_curves"),
        Chart("Difference of pairs to the others, by split", draw="crossfit_deltas"),
    ),
    order=1,
)
