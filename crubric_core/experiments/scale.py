"""Size and yield of an analysis: rubrics from raw to bank, judge calls, pass rates, separated pairs, graded labels.

These are tables of the paper (tab:e1-scale, tab:e1-main-summary) and of docs/method.md §11.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..analysis.fitted import with_rules
from ..analysis.stages import Analysis
from ..intervals import known_mean
from ..irt.fit import fit_irt
from ..judges.consensus import baseline_mask, majority, median_low
from ..labels.store.dataset import Dataset
from ..ranks import TIE_DIGITS, rank_correlation
from ..settings import Basis, Settings
from ..text import count
from ..types import BoolArray, Cancel, FloatArray, Progress
from .declaration import Chart, Experiment, ResultColumn, ResultTable, number
from .inputs import Inputs, gold_labels, read_inputs
from .results import ExperimentResult, ExperimentWatch, num, records

BASES: tuple[Basis, ...] = ("all", "bank")


def scale(
    ds: Dataset, settings: Settings, *, progress: Progress | None = None, cancel: Cancel | None = None
) -> ExperimentResult:
    """Count rubrics, labels and separated pairs of an analysis.

    Tables: ``funnel`` (rubrics at each step), ``calls`` (labels that a new system costs), ``separation`` (pairs of
    systems separated, by basis), ``rates`` (share of passes of each judge and of people), ``graded`` (GRM on the
    levels compared with 2PL on pass or fail).
    """
    watch = ExperimentWatch(progress, cancel)
    watch.step(0.0, "Analysing")
    inputs = read_inputs(ds, settings)
    analyses = {
        basis: Analysis(
            dataset=ds, fingerprint=ds.fingerprint, settings=replace(with_rules(ds, settings), basis=basis)
        )
        for basis in BASES
    }
    main = analyses["all"]
    candidates = main.feasible & ~main.calibration().fit.constant
    bank = min(len(main.order().order), settings.budget)
    watch.step(0.4, "Comparing the systems")
    separation = separation_table(analyses)
    watch.step(0.8, "Graded labels")
    tables = {
        "funnel": funnel_table(inputs, candidates, bank),
        "calls": call_table(
            inputs.reduction.y.shape[1], int(candidates.sum()), bank, inputs.reduction.labels_per_cell
        ),
        "separation": separation,
        "rates": rate_table(ds.panel("binary"), ds.judges, gold_labels(ds, inputs.reduction)),
        "graded": graded_table(inputs),
    }
    watch.step(1.0, "Done")
    return inputs.result("scale", {}, tables, _found(tables), _limits(tables))


def funnel_table(inputs: Inputs, candidates: BoolArray, bank: int) -> pd.DataFrame:
    """One row a step from all rubrics of the dataset to the bank: step, rubrics, share.

    candidates: (J,) rubrics that pass the gate and vary. bank: size of the bank.
    """
    reduction = inputs.reduction
    rows = [
        ("in the dataset", reduction.y.shape[1]),
        ("with a consensus label", int((~np.isnan(reduction.y)).any(axis=0).sum())),
        ("with two judges on a cell", int((reduction.n_total > 0).sum())),
        ("pass the gate", int(inputs.feasible.sum())),
        ("candidates: pass, and the systems differ", int(candidates.sum())),
        ("in the bank", bank),
        ("baseline: unanimous, and the systems differ", int(baseline_mask(reduction).sum())),
    ]
    table = pd.DataFrame(rows, columns=["step", "rubrics"])
    return table.assign(share=table["rubrics"] / max(reduction.y.shape[1], 1))


def call_table(rubrics: int, candidates: int, bank: int, labels: int) -> pd.DataFrame:
    """Judge calls for a new system: what, rubrics, calls (``labels`` on each rubric), saved (share of all)."""
    rows = [("all rubrics", rubrics), ("candidates", candidates), ("the bank", bank)]
    table = pd.DataFrame(rows, columns=["what", "rubrics"])
    return table.assign(calls=labels * table["rubrics"], saved=1 - table["rubrics"] / max(rubrics, 1))


def separation_table(analyses: dict[Basis, Analysis]) -> pd.DataFrame:
    """One row a basis: basis, systems (ranked), pairs, separated, share, tiers."""
    rows = []
    for basis, analysis in analyses.items():
        ranking = analysis.ranking()
        pairs, separated = len(ranking.comparisons), int(ranking.comparisons["separated"].sum())
        tiers = ranking.table["tier"].dropna()
        rows.append(
            (
                basis,
                len(tiers),
                pairs,
                separated,
                separated / pairs if pairs else np.nan,
                int(tiers.nunique()),
            )
        )
    return pd.DataFrame(rows, columns=["basis", "systems", "pairs", "separated", "share", "tiers"])


def rate_table(panel: FloatArray, judges: tuple[str, ...], gold: FloatArray | None) -> pd.DataFrame:
    """One row a judge: judge, labels, rate (share of passes), cells, rate_there, human_rate.

    cells: cells with a label of the judge and of people. rate_there, human_rate: shares of passes on these cells.
    panel: (M, J, K) 0/1 labels, NaN unknown. gold: (M, J) human labels; None if there are none.
    """
    rows = []
    for k, judge in enumerate(judges):
        labels = panel[:, :, k]
        both = ~np.isnan(labels) & (~np.isnan(gold) if gold is not None else False)
        rate, there, human = (
            float(known_mean(values))
            for values in (labels.ravel(), labels[both], (labels if gold is None else gold)[both])
        )
        rows.append((judge, int((~np.isnan(labels)).sum()), rate, int(both.sum()), there, human))
    return pd.DataFrame(rows, columns=["judge", "labels", "rate", "cells", "rate_there", "human_rate"])


def graded_table(inputs: Inputs) -> pd.DataFrame:
    """Compare the GRM on levels with the 2PL on pass or fail; no row if no rubric is graded.

    Columns: rubrics (number of graded rubrics), rho (rank correlation of the abilities), reversed_pairs (share of the
    pairs of systems), rank_change (the largest).
    """
    columns = ["rubrics", "rho", "reversed_pairs", "rank_change"]
    levels = inputs.reduction.rubrics["levels"].to_numpy(dtype=np.int64, copy=True)
    if (levels <= 2).all():
        return pd.DataFrame(columns=columns, dtype=float)
    settings, ds = inputs.settings, inputs.dataset
    ordered = median_low(ds.panel("ordered"))
    passes = majority(ds.panel("binary"), settings.tie)
    fits = (
        fit_irt(ordered, "GRM", settings.quadrature, settings.priors, levels=levels),
        fit_irt(passes, "2PL", settings.quadrature, settings.priors),
    )
    graded, plain = (np.round(fit.theta, TIE_DIGITS) for fit in fits)
    upper = np.triu_indices(len(plain), 1)
    turned = np.sign(graded[:, None] - graded)[upper] * np.sign(plain[:, None] - plain)[upper] < 0
    moved = np.abs(_ranks(graded) - _ranks(plain)).max()
    row = (int((levels > 2).sum()), float(rank_correlation(graded, plain)), float(turned.mean()), int(moved))
    return pd.DataFrame([row], columns=columns)


def _ranks(values: FloatArray) -> FloatArray:
    return np.asarray(pd.Series(-values).rank(method="min"))


def _found(tables: dict[str, pd.DataFrame]) -> str:
    funnel, calls = records(tables["funnel"], "step"), records(tables["calls"], "what")
    whole, candidates = funnel["in the dataset"], funnel["candidates: pass, and the systems differ"]
    rows = records(tables["separation"], "basis")
    off = _gate_is_off(funnel)
    text = (
        f"Of {count(int(whole['rubrics']), 'rubric')} {candidates['rubrics']:,} {'' if off else 'pass the gate and '}"
        f"vary between systems; a bank of {calls['the bank']['rubrics']:,} saves {_share(calls['the bank']['saved'])} "
        f"of the judge calls of a new system. All {'such' if off else 'passing'} rubrics separate "
        f"{_share(rows['all']['share'])} of the pairs of systems, a bank as if new {_share(rows['bank']['share'])}."
    )
    if len(tables["graded"]):
        row = tables["graded"].iloc[0]
        text += (
            f" The GRM on the levels and the 2PL on pass or fail rank the systems with ρ = {num(row['rho'])}; "
            f"{_share(row['reversed_pairs'])} of the pairs are reversed."
        )
    return text


def _gate_is_off(funnel: dict[str, dict[str, Any]]) -> bool:
    """Whether agreement is unknown, so that no rubric could fail the gate."""
    return not funnel["with two judges on a cell"]["rubrics"]


def _share(value: float) -> str:
    """A share as text: "0%" and "100%" are exact."""
    if np.isnan(value):
        return "an unknown share"
    return "under 1%" if 0 < value < 0.01 else "over 99%" if 0.99 < value < 1 else f"{value:.0%}"


def _limits(tables: dict[str, pd.DataFrame]) -> tuple[str, ...]:
    limits = ["Judge calls are labels: what a label costs in tokens is not known here."]
    if not tables["rates"]["cells"].sum():
        limits.append("Without human labels the judges' pass rates have nothing to be compared with.")
    return tuple(limits)


def headline(result: ExperimentResult) -> str:
    """A sentence on the size of the bank, and on the pairs separated on all rubrics and on the bank."""
    funnel = records(result.frame(), "step")
    rows = records(result.tables["separation"], "basis")
    # By position: stored results of version 0.2 have another name for the step.
    whole = int(result.frame()["rubrics"].iloc[0])
    return (
        f"The bank has {funnel['in the bank']['rubrics']:,} of {count(whole, 'rubric')}; all "
        f"{'rubrics that differ' if _gate_is_off(funnel) else 'passing rubrics'} "
        f"separate {_share(rows['all']['share'])} of the pairs of systems, the bank as if new "
        f"{_share(rows['bank']['share'])}."
    )


EXPERIMENT = Experiment(
    name="scale",
    title="Scale and yield",
    question="How many rubrics, labels and judge calls does the analysis need, and how many pairs of systems does it "
    "separate?",
    run=scale,
    tables={
        "funnel": ResultTable(
            "Rubrics from raw to bank",
            {
                "step": ResultColumn("step"),
                "rubrics": number("rubrics", "localized"),
                "share": number("share", "percent"),
            },
            caption="The last row is the consensus-derived baseline, for comparison; not a step of this analysis.",
        ),
        "calls": ResultTable(
            "Judge calls for a new system",
            {
                "what": ResultColumn("judged on"),
                "rubrics": number("rubrics", "localized"),
                "calls": number("labels", "localized", "On each rubric as many as a cell has on average"),
                "saved": number("saved", "percent"),
            },
        ),
        "separation": ResultTable(
            "Pairs of systems separated",
            {
                "basis": ResultColumn(
                    "basis", words={"all": "all passing rubrics", "bank": "bank, as if new"}
                ),
                "systems": number("systems", "localized"),
                "pairs": number("pairs", "localized"),
                "separated": number("separated", "localized"),
                "share": number("share", "percent"),
                "tiers": number("tiers", "localized"),
            },
        ),
        "rates": ResultTable(
            "Share of passes, judges and people",
            {
                "judge": ResultColumn("judge"),
                "labels": number("labels", "localized"),
                "rate": number("passes", "percent"),
                "cells": number("cells with a human label", "localized"),
                "rate_there": number("passes there", "percent"),
                "human_rate": number("people's passes there", "percent"),
            },
        ),
        "graded": ResultTable(
            "Levels (GRM) compared with pass or fail (2PL)",
            {
                "rubrics": number("graded rubrics", "localized"),
                "rho": number("ρ", about="Spearman's rank correlation of the abilities"),
                "reversed_pairs": number("pairs reversed", "percent"),
                "rank_change": number("largest change of rank", "localized"),
            },
        ),
    },
    headline=headline,
    charts=(Chart("Rubrics from raw to bank", rows="step", y=("rubrics",), x_title="rubrics"),),
    order=12,
)
