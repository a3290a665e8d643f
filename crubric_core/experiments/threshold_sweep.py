"""L1: do the rubrics that pass a stricter gate get labels that agree better? (docs/method.md §11)

Agreement is Cohen's kappa, pooled over the cells of the rubrics kept: the panel's majority against the majority of the
human annotators, or, without human labels, each judge against the majority of the others, averaged over the judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from ..judges.agreement import kappa_of_counts
from ..judges.consensus import majority
from ..judges.measurability import gate_is_off
from ..labels.store.dataset import Dataset
from ..settings import Settings
from ..types import BoolArray, Cancel, FloatArray, IntArray, Progress
from .declaration import HIGH, LOW, P_VALUE, Chart, Experiment, ResultColumn, ResultTable, hidden, number
from .inputs import Inputs, gold_labels, read_inputs
from .results import ExperimentResult, Watch, compared, num, span
from .statistics import confusion, draw_interval, known_mean, query_draws, sum_by_query

THRESHOLDS = (0.50, 0.60, 0.65, 0.70, 0.80)
HUMAN, OTHERS = "human gold", "the other judges"


@dataclass(frozen=True)
class Comparison:
    """What kappa is taken of. against: HUMAN or OTHERS. counts: (P, J, 4) agreement counts of each pair of raters."""

    against: str
    counts: FloatArray

    def kappa(self, kept: BoolArray) -> float:
        """Mean over the pairs of kappa pooled over the kept rubrics (J,)."""
        return float(known_mean(kappa_of_counts(self.counts[:, kept].sum(axis=1))))

    def by_rubric(self) -> FloatArray:
        """(J,) mean over the pairs of each rubric's own kappa; NaN where it never varies."""
        return known_mean(kappa_of_counts(self.counts))

    def draws(self, kept: BoolArray, query_index: IntArray, weights: IntArray) -> FloatArray:
        """(R,) kappa of the kept rubrics where weights (R, N) says how often each query is drawn."""
        pairs = [weights @ sum_by_query(counts, query_index, kept) for counts in self.counts]
        return known_mean(kappa_of_counts(np.stack(pairs)))


def sweep(
    ds: Dataset,
    settings: Settings,
    *,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    thresholds: Sequence[float] = THRESHOLDS,
) -> ExperimentResult:
    """Kept rubrics and kappa at each threshold of measurability.

    Tables: ``thresholds`` (the first row is unfiltered, tau_c NaN), ``quartiles`` of measurability, ``correlation``
    of measurability with each rubric's own kappa.
    """
    watch = Watch(progress, cancel)
    watch.step(0.0, "Comparing the judges")
    inputs = read_inputs(ds, settings)
    comparison = compare(ds.panel("binary"), gold_labels(ds, inputs.reduction))
    q = inputs.measurability["q_mean"].to_numpy()
    measured = inputs.reduction.n_total > 0
    watch.step(0.5, "Sweeping the threshold")
    tables = {
        "thresholds": threshold_table(comparison, q, inputs, sorted(thresholds)),
        "quartiles": quartile_table(q[measured], comparison.by_rubric()[measured]),
        "correlation": correlation_table(q[measured], comparison.by_rubric()[measured]),
    }
    watch.step(1.0, "Done")
    options = {"thresholds": [float(t) for t in sorted(thresholds)], "against": comparison.against}
    return inputs.result(
        "sweep", options, tables, _found(tables, inputs, comparison), _limits(inputs, comparison)
    )


def compare(panel: FloatArray, gold: FloatArray | None) -> Comparison:
    """Majority against human gold (M, J), or each judge of the panel (M, J, K) against the majority of the others."""
    if gold is not None:
        return Comparison(HUMAN, confusion(majority(panel), gold)[None])
    judges = range(panel.shape[2])
    pairs = [confusion(panel[:, :, k], majority(np.delete(panel, k, axis=2))) for k in judges]
    return Comparison(OTHERS, np.stack(pairs))


def threshold_table(
    comparison: Comparison, q: FloatArray, inputs: Inputs, thresholds: Sequence[float]
) -> pd.DataFrame:
    """tau_c, kept, total, share, kappa with interval, delta to unfiltered with interval (queries drawn whole)."""
    gate_off = gate_is_off(inputs.reduction)
    settings, everything = inputs.settings, np.ones(len(q), dtype=bool)
    weights = query_draws(inputs.query_index, settings.replicates, np.random.default_rng([settings.seed, 20]))
    base = comparison.kappa(everything)
    base_draws = comparison.draws(everything, inputs.query_index, weights)
    rows = []
    for tau in (np.nan, *thresholds):
        kept = everything if np.isnan(tau) or gate_off else q >= tau
        draws = comparison.draws(kept, inputs.query_index, weights)
        kappa = comparison.kappa(kept)
        low, high = draw_interval(draws, settings.confidence)
        delta_low, delta_high = draw_interval(draws - base_draws, settings.confidence)
        rows.append(
            (tau, int(kept.sum()), len(q), kept.mean(), kappa, low, high, kappa - base, delta_low, delta_high)
        )
    columns = [
        "tau_c",
        "kept",
        "total",
        "share",
        "kappa",
        "kappa_low",
        "kappa_high",
        "delta",
        "delta_low",
        "delta_high",
    ]
    return pd.DataFrame(rows, columns=columns)


def quartile_table(q: FloatArray, kappa: FloatArray) -> pd.DataFrame:
    """Quartiles of measurability (J,) with the mean of the rubrics' own kappas; equal q stay together."""
    if not len(q):
        return pd.DataFrame(columns=["quartile", "rubrics", "q_mean", "with_kappa", "kappa"], dtype=float)
    quartile = np.searchsorted(np.quantile(q, [0.25, 0.5, 0.75]), q, side="left")
    rows = []
    for quarter in range(4):
        of_it = quartile == quarter
        known = np.isfinite(kappa[of_it])
        rows.append(
            (
                quarter + 1,
                int(of_it.sum()),
                float(known_mean(q[of_it])),
                int(known.sum()),
                float(known_mean(kappa[of_it])),
            )
        )
    return pd.DataFrame(rows, columns=["quartile", "rubrics", "q_mean", "with_kappa", "kappa"])


def correlation_table(q: FloatArray, kappa: FloatArray) -> pd.DataFrame:
    """One row: Pearson r of measurability with the rubrics' own kappas, its p, and the rubrics that have both."""
    known = np.isfinite(q) & np.isfinite(kappa)
    r = p = float("nan")
    if known.sum() >= 3 and np.ptp(q[known]) > 0 and np.ptp(kappa[known]) > 0:
        r, p = (float(value) for value in stats.pearsonr(q[known], kappa[known]))
    return pd.DataFrame({"r": [r], "p": [p], "rubrics": [int(known.sum())]})


def _found(tables: dict[str, pd.DataFrame], inputs: Inputs, comparison: Comparison) -> str:
    table = tables["thresholds"].to_dict("records")
    base, last = table[0], table[-1]
    if np.isnan(base["kappa"]):
        return "There is one judge and no human label: there is nothing to compare, so κ is unknown."
    against = f"Cohen's κ against {comparison.against} is {num(base['kappa'])} over all {int(base['total'])} rubrics"
    if inputs.gate_off:
        return f"{against}; the gate is off, so that no threshold changes it."
    if np.isnan(last["kappa"]):
        return (
            f"{against}; at τ_c = {last['tau_c']:g} the {int(last['kept'])} rubrics kept leave it undefined."
        )
    rises = bool((np.diff([row["kappa"] for row in table if np.isfinite(row["kappa"])]) >= 0).all())
    shown = compared(last["delta_low"], last["delta_high"], "a rise", "a fall", "no change that is shown")
    return (
        f"{against} and {num(last['kappa'])} over the {int(last['kept'])} kept at τ_c = {last['tau_c']:g}: {shown} "
        f"(difference {num(last['delta'])} {span(last['delta_low'], last['delta_high'])}"
        f"{'' if rises else '; it does not rise at every step'}). Pearson r of measurability with a rubric's own "
        f"κ: {num(tables['correlation']['r'].iloc[0])}."
    )


def _limits(inputs: Inputs, comparison: Comparison) -> tuple[str, ...]:
    limits = []
    if comparison.against == OTHERS and not inputs.gate_off:
        limits.append(
            "Filter and κ read the same judges: dropping rubrics on which they disagree raises their κ by "
            "construction. It shows consistency; that the labels are right needs human gold."
        )
    if inputs.reduction.n_judges == 2:
        limits.append(
            "With two judges unanimity is pairwise agreement itself: it adds no independent evidence."
        )
    if (queries := len(inputs.queries)) < 20:
        limits.append(f"The intervals draw only {queries} queries.")
    return tuple(limits)


def headline(result: ExperimentResult) -> str:
    """Kappa over all rubrics and behind the strictest gate."""
    first, *_, last = result.frame().to_dict("records")
    if np.isnan(first["kappa"]) or np.isnan(last["kappa"]):
        return "There is too little data to compare: κ is unknown."
    how = compared(last["delta_low"], last["delta_high"], "rises", "falls", "is not shown to change")
    return (
        f"Agreement with {result.options['against']} {how}: κ {num(first['kappa'])} over all rubrics, "
        f"{num(last['kappa'])} over the {last['share']:.0%} that pass τ_c = {last['tau_c']:.2f}."
    )


EXPERIMENT = Experiment(
    name="sweep",
    title="Threshold sweep (L1)",
    question="Do labels agree better on rubrics that pass a stricter gate, and how many rubrics does it cost?",
    run=sweep,
    parameters={"thresholds": "thresholds of measurability"},
    tables={
        "thresholds": ResultTable(
            "κ against coverage",
            {
                "tau_c": ResultColumn("τ_c", "%.2f", unknown="no gate"),
                "kept": number("kept", "localized"),
                "total": hidden("of", "localized"),
                "share": number("share", "percent"),
                "kappa": number("κ", about="Cohen's kappa, pooled over the cells of the rubrics kept"),
                "kappa_low": LOW,
                "kappa_high": HIGH,
                "delta": number("Δκ", about="Minus kappa over all rubrics"),
                "delta_low": LOW,
                "delta_high": HIGH,
            },
        ),
        "quartiles": ResultTable(
            "By quartile of measurability",
            {
                "quartile": number("quartile", "localized"),
                "rubrics": number("rubrics", "localized"),
                "q_mean": number("measurability"),
                "with_kappa": number("with a κ", "localized", "Rubrics whose labels vary: others have no κ"),
                "kappa": number("mean κ"),
            },
        ),
        "correlation": ResultTable(
            "Measurability with a rubric's own κ",
            {"r": number("Pearson's r"), "p": P_VALUE, "rubrics": number("rubrics", "localized")},
        ),
    },
    headline=headline,
    charts=(
        Chart("Agreement of the rubrics kept at each threshold", draw="sweep_kappa"),
        Chart("What the agreement costs in rubrics", draw="sweep_coverage"),
    ),
    order=3,
)
