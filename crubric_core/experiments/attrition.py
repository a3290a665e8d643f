"""How many rubrics the unanimity rule keeps as the number of systems grows (docs/method.md §4)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..judges.attrition import BetaMixtureFit, HomogeneousFit, RetentionCurve, attrition_of
from ..labels.store.dataset import Dataset
from ..settings import Settings
from ..text import count
from ..types import Cancel, FloatArray, Progress
from .declaration import Chart, Experiment, ResultColumn, ResultTable, hidden, number
from .inputs import read_inputs
from .results import ExperimentResult, ExperimentWatch, num


def attrition(
    ds: Dataset, settings: Settings, *, progress: Progress | None = None, cancel: Cancel | None = None
) -> ExperimentResult:
    """The exact share of rubrics kept by the number of systems, and two models of it.

    Tables: ``curve`` (m, consistency, homogeneous, beta, rho_m, distinguishability, joint, rubrics), ``models``.
    """
    watch = ExperimentWatch(progress, cancel)
    watch.step(0.0, "Counting unanimous panels")
    inputs = read_inputs(ds, settings)
    panel = ds.panel("binary")
    models = attrition_of(panel)
    curve, homogeneous, mixture = models.curve, models.homogeneous, models.mixture
    watch.step(1.0, "Done")
    tables = {"curve": curve_table(curve, homogeneous, mixture), "models": model_table(homogeneous, mixture)}
    limits = []
    if 0 < len(curve.m) < len(inputs.reduction.systems):
        limits.append(
            f"Only cells with a label of every judge count: the curve ends at {len(curve.m)} of "
            f"{len(inputs.reduction.systems)} systems, the most for which at least half of the rubrics have such "
            "cells. If judges skip cells of which they are unsure, the curve is too high."
        )
    if panel.shape[2] > 1 and len(curve.m):
        limits.append(
            "Both models extrapolate from these systems; new ones may be harder or easier to judge."
        )
    return inputs.result(
        "attrition",
        {"judges": panel.shape[2]},
        tables,
        _found(curve, homogeneous, mixture, panel.shape[2]),
        tuple(limits),
    )


def curve_table(curve: RetentionCurve, homogeneous: HomogeneousFit, mixture: BetaMixtureFit) -> pd.DataFrame:
    """One row for each number of systems m; rho_m = consistency^(1/m)."""
    return pd.DataFrame(
        {
            "m": curve.m,
            "consistency": curve.consistency,
            "homogeneous": homogeneous.retention(curve.m),
            "beta": mixture.retention(curve.m),
            "rho_m": curve.consistency ** (1 / curve.m),
            "distinguishability": _without_rounding(curve.distinguishability),
            "joint": _without_rounding(curve.joint),
            "rubrics": curve.n_rubrics,
        }
    )


def _without_rounding(shares: FloatArray) -> FloatArray:
    """The shares, with rounding errors of 0 set to 0."""
    return np.where(np.abs(shares) < 1e-12, 0.0, shares)


def model_table(homogeneous: HomogeneousFit, mixture: BetaMixtureFit) -> pd.DataFrame:
    """One row for each model: rho, epsilon, r_squared, rmse of R(m) = rho^m; a, b, rmse of the Beta mixture."""
    return pd.DataFrame(
        {
            "model": ["homogeneous", "beta"],
            "rho": [homogeneous.rho, np.nan],
            "epsilon": [homogeneous.epsilon, np.nan],
            "a": [np.nan, mixture.a],
            "b": [np.nan, mixture.b],
            "r_squared": [homogeneous.r_squared, np.nan],
            "rmse": [homogeneous.rmse, mixture.rmse],
        }
    )


def _found(curve: RetentionCurve, homogeneous: HomogeneousFit, mixture: BetaMixtureFit, n_judges: int) -> str:
    if not len(curve.m):
        return "No cell has a label of every judge, so the retention curve is unknown."
    last = curve.m[-1]
    if n_judges == 1:
        return (
            "One judge is always unanimous, so that nothing is lost to disagreement and no model of it can be fitted; "
            f"{num(curve.distinguishability[-1])} of the rubrics have both outcomes at {last} systems."
        )
    peak = int(np.nanargmax(curve.joint)) if np.isfinite(curve.joint).any() else 0
    and_last = f" and {num(curve.consistency[-1])} at {last}" if len(curve.m) > 1 else ""
    both = "with both outcomes asked for as well, none is kept"
    if curve.joint[peak] > 0:
        at_last = f" and {num(curve.joint[-1])} at {last}" if peak < len(curve.m) - 1 else ""
        both = (
            f"with both outcomes asked for as well, most are kept at {count(int(curve.m[peak]), 'system')} "
            f"({num(curve.joint[peak])}){at_last}"
        )
    better = "mixture of rubrics" if mixture.rmse < homogeneous.rmse else "single rate"
    compared = (
        f" The {better} fits better (RMSE {num(mixture.rmse)} for the Beta mixture, {num(homogeneous.rmse)} for ρ^m "
        f"with ρ = {num(homogeneous.rho)})."
        if np.isfinite([mixture.rmse, homogeneous.rmse]).all()
        else ""
    )
    return (
        f"Unanimity on all systems keeps {num(curve.consistency[0])} of the rubrics at "
        f"{count(int(curve.m[0]), 'system')}{and_last}; {both}.{compared}"
    )


def headline(result: ExperimentResult) -> str:
    """A sentence on the share of the rubrics that unanimity keeps with all systems."""
    table = result.frame()
    if table.empty:
        return "No cell has a label of every judge: the curve is unknown."
    last = table.iloc[-1]
    if result.options.get("judges") == 1:
        return f"One judge is always unanimous; {last['joint']:.0%} of the rubrics separate {int(last['m'])} systems."
    return (
        f"Perfect agreement about {count(int(last['m']), 'system')} would leave {last['consistency']:.0%} of the "
        f"rubrics; {last['joint']:.0%} also separate systems."
    )


EXPERIMENT = Experiment(
    name="attrition",
    title="Attrition of the unanimity rule",
    question=(
        "What would a rule of perfect agreement keep? Only rubrics on which all judges agree about every system, as "
        "the number of systems grows."
    ),
    run=attrition,
    tables={
        "curve": ResultTable(
            "By number of systems",
            {
                "m": number("systems", "localized"),
                "consistency": number("unanimous", "percent"),
                "homogeneous": number("one rate", "percent", "ρ^m"),
                "beta": number("Beta mixture", "percent"),
                "rho_m": hidden("ρ_m"),
                "distinguishability": number("both outcomes", "percent", "Some systems pass, some fail"),
                "joint": number("both at once", "percent"),
                "rubrics": number("of rubrics", "localized"),
            },
        ),
        "models": ResultTable(
            "Two models of the curve",
            {
                "model": ResultColumn("model", words={"homogeneous": "one rate", "beta": "Beta mixture"}),
                "rho": number("ρ"),
                "epsilon": number("ε"),
                "a": number("a"),
                "b": number("b"),
                "r_squared": number("R²"),
                "rmse": number("RMSE", "%.4f"),
            },
        ),
    },
    headline=headline,
    charts=(Chart("Rubrics kept as the number of systems grows", draw="attrition_curves"),),
    order=6,
)
