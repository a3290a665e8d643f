"""The experiments in words: the first line of each, and its numbers as the tables show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...environment import recorded, typed
from ...experiments.held_out_systems import NAMES as SELECTORS
from ...experiments.results import num, records, span
from ...experiments.titles import column_title
from ...figures.experiments import KINDS, STRATEGIES
from ...settings import Priors, Settings
from ..text import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from ...environment import recorded, typed
from ...experiments.results import ExperimentResult

_LEFT_OUT = ("system", "judge", "domain")


def headline(result: ExperimentResult) -> str:
    """What was found, short enough for a first line."""
    return _HEADLINES[result.name](result)


def _crossfit(result: ExperimentResult) -> str:
    row = records(result.frame(), "strategy")["random"]
    if np.isnan(row["delta"]):
        return "Greedy banks cannot be compared with random ones here."
    how = _compared(
        row["delta_low"], row["delta_high"], "better than", "worse than", "no better or worse than"
    )
    return (
        f"On held-out rubrics, greedy banks rank the systems {how} random ones: "
        f"ΔAUC {num(row['delta'])} {span(row['delta_low'], row['delta_high'])}."
    )


def _new_systems(result: ExperimentResult) -> str:
    ahead = result.tables["ahead"]
    row = records(ahead[ahead["selector"] == "random"], "measure")["tau"]
    if np.isnan(row["difference"]):
        return "Banks cannot be compared on new systems here."
    how = _compared(row["low"], row["high"], "better than", "worse than", "no better or worse than")
    return (
        f"Systems that they have not seen, banks of pairs rank {how} random ones: "
        f"Δτ {num(row['difference'])} {span(row['low'], row['high'])}."
    )


def _sweep(result: ExperimentResult) -> str:
    first, *_, last = result.frame().to_dict("records")
    if np.isnan(first["kappa"]) or np.isnan(last["kappa"]):
        return "There is too little data to compare: κ is unknown."
    how = _compared(last["delta_low"], last["delta_high"], "rises", "falls", "is not shown to change")
    return (
        f"Agreement with {result.options['against']} {how}: κ {num(first['kappa'])} over all rubrics, "
        f"{num(last['kappa'])} over the {last['share']:.0%} that pass τ_c = {last['tau_c']:.2f}."
    )


def _perturbation(result: ExperimentResult) -> str:
    last = result.frame().to_dict("records")[-1]
    if not np.isfinite(last["low"]):
        return "No query has a task type: there is nothing to flip."
    how = _compared(last["low"], last["high"], "widens", "narrows", "is not shown to change")
    return (
        f"With {last['flip']:.0%} of the task types flipped the gap {how}: "
        f"{num(last['degradation'], 2)} points {span(last['low'], last['high'], 2)}."
    )


def _ablation(result: ExperimentResult) -> str:
    rows = records(result.frame(), "configuration")
    whole, everything = rows["B4"], rows["B0"]
    return (
        f"With {int(whole['rubrics']):,} of {count(int(everything['rubrics']), 'rubric')} the whole pipeline ranks "
        f"the systems with ρ = {num(whole['rho_b0'])} to plain pass or fail on all."
    )


def _attrition(result: ExperimentResult) -> str:
    table = result.frame()
    if table.empty:
        return "No cell has a label of every judge: the curve is unknown."
    last = table.iloc[-1]
    return (
        f"Perfect agreement about {count(int(last['m']), 'system')} would leave {last['consistency']:.0%} of the "
        f"rubrics; {last['joint']:.0%} also separate systems."
    )


def _stability(result: ExperimentResult) -> str:
    rows = records(result.frame(), "kind")
    parts = [
        f"ρ ≥ {num(rows[kind]['rho_least'])} without any one {kind}"
        for kind in _LEFT_OUT
        if kind in rows and np.isfinite(rows[kind]["rho_least"])
    ]
    if not parts:
        return "There is too little data to remove anything."
    return f"The ranking keeps {', '.join(parts)}."


_HEADLINES = {
    "crossfit": _crossfit,
    "new_systems": _new_systems,
    "sweep": _sweep,
    "perturbation": _perturbation,
    "ablation": _ablation,
    "attrition": _attrition,
    "stability": _stability,
}


def _compared(low: float, high: float, above: str, below: str, neither: str) -> str:
    """What an interval of a difference allows to say."""
    return above if low > 0 else below if high < 0 else neither


def shown(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """A result's table with words where the number alone would be misread."""
    if "smallest_bank" in table:
        reached = table["smallest_bank"].map(lambda size: "not reached" if np.isnan(size) else f"{size:.0f}")
        names = table["strategy"].map({name: words for name, (words, _) in STRATEGIES.items()})
        table = table.assign(smallest_bank=reached, strategy=names)
    if "selector" in table:
        table = table.assign(selector=table["selector"].map(SELECTORS))
    if "measure" in table:
        table = table.assign(measure=table["measure"].map(column_title))
    if "p" in table:
        table = table.assign(p=table["p"].map(lambda p: "< 0.001" if p < 0.001 else num(p)))
    if "kind" in table:
        table = table.assign(kind=table["kind"].replace(KINDS))
    if name == "thresholds":
        table = table.assign(
            tau_c=table["tau_c"].map(lambda tau: "no gate" if np.isnan(tau) else f"{tau:.2f}")
        )
    return table


def command(name: str, workspace: str, dataset: str, settings: Settings) -> str:
    """The command that gives the same result."""
    return typed(*_spelled(["experiment", name], workspace, dataset, settings, name))


def report_command(names: Sequence[str], workspace: str, dataset: str, settings: Settings) -> str:
    """The command that gives the same report."""
    return recorded(*_spelled(["report", "--experiments", *names], workspace, dataset, settings, "report"))


def _spelled(what: Sequence[str], workspace: str, dataset: str, settings: Settings, out: str) -> list[str]:
    words = [*what, "--workspace", workspace, "--dataset", dataset]
    preset, overrides = settings.explicit()
    words += [] if preset == "robust" else ["--preset", preset]
    for name, value in overrides.items():
        option = name.replace("_", "-")
        words += (
            [f"--{'' if value else 'no-'}{option}"]
            if isinstance(value, bool)
            else [f"--{option}", "none" if value is None else str(value)]
        )
    for option, value in (("--log-a-sd", settings.priors.log_a_sd), ("--b-sd", settings.priors.b_sd)):
        words += [] if value == getattr(Priors(), option[2:].replace("-", "_")) else [option, str(value or 0)]
    words += [] if settings.priors.c_beta else ["--no-c-prior"]
    return [*words, "--out", out]
