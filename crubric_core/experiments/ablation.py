"""The effect of each part: five configurations on the same labels (docs/method.md §11, tab:ablation-summary).

B0: pass or fail on all rubrics. B1: B0 with task types. B2: B1 on a bank chosen without the gate, weighted by nu.
B3: B1 on the rubrics that pass the gate. B4: task types, gate and bank together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..analysis.calibration import calibrate
from ..analysis.result import Calibration
from ..analysis.selection import order_candidates
from ..intervals import known_mean
from ..labels.store.dataset import Dataset
from ..ranks import rank_correlation
from ..settings import Settings
from ..task_types.types import types_of_queries
from ..text import count
from ..types import BoolArray, Cancel, FloatArray, IntArray, Progress
from .declaration import Chart, Experiment, ResultColumn, ResultTable, hidden, number
from .inputs import Inputs, gold_labels, read_inputs, reference_scores
from .kappa import OTHERS, KappaComparison, compare
from .results import ExperimentResult, ExperimentWatch, num, records, span
from .scoring import gap, gap_interval, omega, score
from .statistics import interquartile_range, query_draws


@dataclass(frozen=True)
class Configuration:
    """A configuration of the ablation.

    task: whether task types are used. irt: whether the rubrics are a bank, weighted by nu. bayes: whether they pass the
    gate. rubrics: their indices.
    """

    name: str
    task: bool
    irt: bool
    bayes: bool
    rubrics: IntArray


def ablation(
    ds: Dataset, settings: Settings, *, progress: Progress | None = None, cancel: Cancel | None = None
) -> ExperimentResult:
    """Run B0 to B4 on the same labels.

    Tables: ``configurations`` (rubrics and labels used, gap with interval, spread, kappa, rank correlations) and
    ``scores`` (one row a system).
    """
    watch = ExperimentWatch(progress, cancel)
    watch.step(0.0, "Fitting the model")
    inputs = read_inputs(ds, settings)
    calibration = calibrate(inputs.reduction, settings)
    watch.step(0.5, "Scoring the five configurations")
    configurations = configure(inputs, calibration)
    comparison = compare(ds.panel("binary"), gold_labels(ds, inputs.reduction))
    reference = reference_scores(ds, inputs.reduction.systems)
    rows, scores = configuration_rows(inputs, calibration, configurations, comparison, reference)
    table = pd.DataFrame(rows)
    by_system = pd.DataFrame({"system": inputs.reduction.systems, **scores})
    watch.step(1.0, "Done")
    return inputs.result(
        "ablation",
        {"kappa_against": comparison.against},
        {"configurations": table, "scores": by_system},
        _found(table),
        _limits(inputs, table, comparison),
    )


def configure(inputs: Inputs, calibration: Calibration) -> list[Configuration]:
    """The five configurations; their banks are chosen by the strategy and the budget of the settings."""
    everything = np.arange(inputs.reduction.y.shape[1])
    feasible = inputs.feasible

    def bank(candidates: BoolArray) -> IntArray:
        order = order_candidates(inputs.reduction, calibration, candidates, inputs.settings)
        return order.order[: inputs.settings.budget]

    return [
        Configuration("B0", False, False, False, everything),
        Configuration("B1", True, False, False, everything),
        Configuration("B2", True, True, False, bank(np.ones(len(everything), dtype=bool))),
        Configuration("B3", True, False, True, np.flatnonzero(feasible)),
        Configuration("B4", True, True, True, bank(feasible)),
    ]


def configuration_rows(
    inputs: Inputs,
    calibration: Calibration,
    configurations: list[Configuration],
    comparison: KappaComparison,
    reference: FloatArray,
) -> tuple[list[dict[str, object]], dict[str, FloatArray]]:
    """The row of measures of each configuration, and a mapping from its name to its scores (M,)."""
    types = types_of_queries(inputs.queries, inputs.settings.tau_t).task_type
    settings = inputs.settings
    draws = query_draws(inputs.query_index, settings.replicates, np.random.default_rng([settings.seed, 40]))
    rows: list[dict[str, object]] = []
    scores: dict[str, FloatArray] = {}
    for c in configurations:
        found = score(inputs, types if c.task else None, c.rubrics, calibration.nu if c.irt else None)
        scores[c.name] = found.score
        low, high = gap_interval(found.by_query, omega(inputs.queries), draws, settings.confidence)
        kept = np.zeros(len(inputs.feasible), dtype=bool)
        kept[c.rubrics] = True
        rows.append(
            {
                "configuration": c.name,
                "task": c.task,
                "irt": c.irt,
                "bayes": c.bayes,
                "rubrics": len(c.rubrics),
                "cells": int((~np.isnan(inputs.reduction.y[:, c.rubrics])).sum()),
                "mean_score": float(known_mean(found.score)),
                "gap": gap(found.by_query, omega(inputs.queries)),
                "gap_low": low,
                "gap_high": high,
                "sd": float(np.std(found.score[np.isfinite(found.score)], ddof=1)),
                "iqr": interquartile_range(found.score),
                "rho_b0": float(rank_correlation(found.score, scores["B0"])),
                "rho_reference": float(rank_correlation(found.score, reference)),
                "kappa": comparison.kappa(kept),
            }
        )
    return rows, scores


def _found(table: pd.DataFrame) -> str:
    rows = records(table, "configuration")
    gaps = ", ".join(
        f"{name} {num(row['gap'], 1)} {span(row['gap_low'], row['gap_high'], 1)}"
        for name, row in rows.items()
    )
    plain, gated, whole = rows["B0"], rows["B3"], rows["B4"]
    kappa = (
        "κ is unknown, because there is one judge and no human gold"
        if np.isnan(plain["kappa"])
        else f"κ is {num(plain['kappa'])} over all rubrics, {num(gated['kappa'])} after the gate (B3) and "
        f"{num(whole['kappa'])} in the bank (B4)"
    )
    return (
        f"Top–bottom gap in points: {gaps}. The whole pipeline (B4) uses {whole['rubrics']} of {plain['rubrics']} "
        f"rubrics, and its score {_correlates(whole['rho_b0'], 'B0')}; {kappa}."
    )


def _correlates(rho: float, other: str) -> str:
    if np.isnan(rho):
        return f"ranks too few systems for a correlation with {other}"
    return f"has the rank correlation ρ = {num(rho)} with {other}"


def _limits(inputs: Inputs, table: pd.DataFrame, comparison: KappaComparison) -> tuple[str, ...]:
    rows = records(table, "configuration")
    limits = [
        "A bank chosen for its information separates the systems of these labels more than new labels would: a wider "
        "gap in B2 and B4 is no evidence by itself; the cross-fit is."
    ]
    limits += inputs.unlinked()
    if inputs.gate_off:
        limits.append("The gate is off: B3 equals B1, and B4 equals B2.")
    else:
        limits.append(
            "B1 and B3 score the same queries: whether their intervals overlap is no test of what the gate changes."
        )
    if comparison.against == OTHERS and np.isfinite(rows["B0"]["kappa"]):
        limits.append("Without human gold κ compares judges with one another.")
    if not inputs.gate_off and np.isfinite(rows["B0"]["kappa"]):
        limits.append(
            "The gate reads the same labels as κ, so κ is higher after it (B3, B4) by construction, also against "
            "human gold. The threshold sweep shows the difference on systems that the gate has not read."
        )
    return tuple(limits)


def headline(result: ExperimentResult) -> str:
    """A sentence comparing the score of the whole pipeline with plain scores."""
    rows = records(result.frame(), "configuration")
    whole, everything = rows["B4"], rows["B0"]
    return (
        f"With {int(whole['rubrics']):,} of {count(int(everything['rubrics']), 'rubric')} the score of the whole "
        f"pipeline {_correlates(whole['rho_b0'], 'plain pass or fail on all')}."
    )


EXPERIMENT = Experiment(
    name="ablation",
    title="Ablation (B0–B4)",
    question=(
        "What does each part add? Pass or fail only (B0), with task types (B1), with a bank (B2), with the gate (B3), "
        "with all of it (B4)."
    ),
    run=ablation,
    tables={
        "configurations": ResultTable(
            "Five configurations on the same labels",
            {
                "configuration": ResultColumn("configuration"),
                "task": ResultColumn("types", "check"),
                "irt": ResultColumn("bank", "check"),
                "bayes": ResultColumn("gate", "check"),
                "rubrics": number("rubrics", "localized"),
                "cells": hidden("cells", "localized"),
                "mean_score": hidden("mean score"),
                "gap": number("gap", "%.1f", "Best minus worst system, in points of 100"),
                "gap_low": number("from", "%.1f"),
                "gap_high": number("to", "%.1f"),
                "sd": number("spread"),
                "iqr": number("IQR"),
                "rho_b0": number("ρ with B0"),
                "rho_reference": number("ρ with humans"),
                "kappa": number("κ"),
            },
        ),
        "scores": ResultTable(
            "Score of each system",
            {
                "system": ResultColumn("system"),
                **{name: number(name) for name in ("B0", "B1", "B2", "B3", "B4")},
            },
        ),
    },
    headline=headline,
    charts=(
        Chart(
            "Gap between the best and the worst system",
            x="configuration",
            y=("gap",),
            low="gap_low",
            high="gap_high",
            y_title="top–bottom gap (points)",
            marks=True,
        ),
    ),
    order=5,
)
