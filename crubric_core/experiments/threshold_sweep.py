"""L1: do labels agree better on the rubrics that pass a stricter gate? (docs/method.md §11)

Agreement is Cohen's kappa, pooled over the cells of the rubrics kept: the panel's majority against the majority of the
human annotators, or, without human labels, each judge against the majority of the others, averaged over the judges.
Whether the gate raises it is tested on systems whose labels the gate has not read.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..declarations import Parameter
from ..intervals import FEWEST_CLUSTERS, known_mean
from ..judges.gate import agreement_rates, gate_is_off
from ..labels.store.dataset import Dataset
from ..settings import Settings
from ..text import count, verb
from ..types import Cancel, FloatArray, Progress
from .declaration import HIGH, LOW, Chart, Experiment, ResultColumn, ResultTable, hidden, number
from .inputs import Inputs, gold_labels, read_inputs
from .kappa import OTHERS, KappaComparison, compare, unread_changes
from .results import ExperimentResult, ExperimentWatch, compared, num, span

THRESHOLDS = (0.50, 0.60, 0.65, 0.70, 0.80)


def sweep(
    ds: Dataset,
    settings: Settings,
    *,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    thresholds: Sequence[float] = THRESHOLDS,
    splits: int = 5,
) -> ExperimentResult:
    """Number of rubrics kept and kappa at each threshold of measurability.

    splits: divisions of the systems into those that the gate reads and others. Tables: ``thresholds`` (the first row
    has no gate, tau_c NaN), ``quartiles`` of measurability, ``correlation`` of measurability with the rubrics' own
    kappas.
    """
    watch = ExperimentWatch(progress, cancel)
    watch.step(0.0, "Comparing the judges")
    inputs = read_inputs(ds, settings)
    gold = gold_labels(ds, inputs.reduction)
    comparison = compare(ds.panel("binary"), gold)
    q = inputs.measurability["q_mean"].to_numpy()
    measured = inputs.reduction.n_total > 0
    watch.step(0.5, "Sweeping the threshold")
    tables = {
        "thresholds": threshold_table(comparison, q, inputs, sorted(thresholds), gold, splits),
        "quartiles": quartile_table(q[measured], comparison.by_rubric()[measured]),
        "correlation": correlation_table(q[measured], comparison.by_rubric()[measured]),
    }
    last = tables["thresholds"].iloc[-1]
    strictest = q >= last["tau_c"]
    few = int(strictest.sum()) if len(np.unique(inputs.query_index[strictest])) < FEWEST_CLUSTERS else 0
    watch.step(1.0, "Done")
    options = {"thresholds": [float(t) for t in sorted(thresholds)], "against": comparison.against}
    return inputs.result(
        "sweep", options, tables, _found(tables, inputs, comparison), _limits(inputs, comparison, splits, few)
    )


def threshold_table(
    comparison: KappaComparison,
    q: FloatArray,
    inputs: Inputs,
    thresholds: Sequence[float],
    gold: FloatArray | None,
    splits: int,
) -> pd.DataFrame:
    """One row a threshold, the first without a gate: tau_c, kept, total, share, kappa, delta, unread.

    kappa, delta and unread have intervals for queries like these, NaN if the rubrics kept are of fewer than
    FEWEST_CLUSTERS queries. delta: kappa minus that of all rubrics. unread: this difference on systems that the gate
    has not read. q: (J,) measurability. gold: (M, J) human labels, or None.
    """
    gate_off = gate_is_off(inputs.reduction)
    settings, everything = inputs.settings, np.ones(len(q), dtype=bool)
    base = comparison.pooled(everything, inputs.query_index)
    unknown = [(np.nan, np.nan, np.nan)]
    off = gate_off or np.isnan(base.values[0])
    unread = unknown * len(thresholds) if off else unread_changes(inputs, gold, thresholds, splits)
    rows = []
    for tau, of_others in zip((np.nan, *thresholds), [*unknown, *unread], strict=True):
        kept = everything if np.isnan(tau) or gate_off else q >= tau
        kappa = comparison.pooled(kept, inputs.query_index)
        low, high = kappa.interval(settings.confidence)
        change = kappa.change(base, settings.confidence)
        if len(np.unique(inputs.query_index[kept])) < FEWEST_CLUSTERS:
            low = high = np.nan
            change = (change[0], np.nan, np.nan)
            of_others = (of_others[0], np.nan, np.nan)
        value = float(kappa.values[0])
        rows.append((tau, int(kept.sum()), len(q), kept.mean(), value, low, high, *change, *of_others))
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
        "unread",
        "unread_low",
        "unread_high",
    ]
    return pd.DataFrame(rows, columns=columns)


def quartile_table(q: FloatArray, kappa: FloatArray) -> pd.DataFrame:
    """One row for each quartile of measurability q (J,), with the mean of the rubrics' own kappas (J,).

    Rubrics with equal q are in the same quartile.
    """
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
    """One row: Pearson's r of measurability and the rubrics' own kappas, (J,) each, and the number with both.

    There is no p-value: where judges happen to differ they are also more often wrong, so r is above 0 even if all
    rubrics are equally clear, also against human labels (docs/method.md §11).
    """
    known = np.isfinite(q) & np.isfinite(kappa)
    r = float("nan")
    if known.sum() >= 3 and np.ptp(q[known]) > 0 and np.ptp(kappa[known]) > 0:
        r = float(np.corrcoef(q[known], kappa[known])[0, 1])
    return pd.DataFrame({"r": [r], "rubrics": [int(known.sum())]})


def _found(tables: dict[str, pd.DataFrame], inputs: Inputs, comparison: KappaComparison) -> str:
    table = tables["thresholds"].to_dict("records")
    base, last = table[0], table[-1]
    if np.isnan(base["kappa"]):
        return "There is one judge and no human label: there is nothing to compare, so κ is unknown."
    against = f"Cohen's κ against {comparison.against} is {num(base['kappa'])} over all {int(base['total'])} rubrics"
    if inputs.gate_off:
        return f"{against}; the gate is off, so that no threshold changes it."
    if np.isnan(last["kappa"]):
        kept = count(int(last["kept"]), "rubric")
        end = f"it is undefined on the {kept} kept" if last["kept"] else "no rubric is kept"
        return f"{against}; at τ_c = {last['tau_c']:g} {end}."
    rises = bool((np.diff([row["kappa"] for row in table if np.isfinite(row["kappa"])]) >= 0).all())
    shown = compared(
        last["unread_low"], last["unread_high"], "a rise", "a fall", "no change that can be shown"
    )
    return (
        f"{against} and {num(last['kappa'])} over the {int(last['kept'])} kept at τ_c = {last['tau_c']:g} (difference "
        f"{num(last['delta'])} "
        f"{span(last['delta_low'], last['delta_high'])}{'' if rises else '; it does not rise at every step'}). On "
        f"systems that the gate has not read there is {shown} ({num(last['unread'])} "
        f"{span(last['unread_low'], last['unread_high'])}). Pearson r of measurability with a rubric's own κ: "
        f"{num(tables['correlation']['r'].iloc[0])}."
    )


def _limits(inputs: Inputs, comparison: KappaComparison, splits: int, few: int) -> tuple[str, ...]:
    limits = []
    if not inputs.gate_off:
        prior = agreement_rates(inputs.reduction, inputs.settings).prior
        law = f"Beta({prior.alpha:.3g}, {prior.beta:.3g}), {'estimated' if prior.estimated else 'as given'}"
        limits.append(
            f"Thresholds apply to the agreement rate under the prior {law}: a gate by kappa, or by another prior, "
            "keeps other rubrics at the same number."
        )
        unread = "; the difference on systems that the gate has not read is free of that" if splits else ""
        limits.append(
            f"Gate and κ read the same labels, which raises κ by construction{unread}. A rubric's own κ and its "
            "measurability correlate by construction, too, so their correlation has no p."
        )
    if comparison.against == OTHERS and not inputs.gate_off:
        limits.append(
            "Agreement of the judges shows consistency; that the labels are right needs human gold."
        )
    if few and not inputs.gate_off:
        limits.append(
            f"At the strictest threshold {count(few, 'rubric')} of fewer than {FEWEST_CLUSTERS} queries "
            f"{verb(few, 'are')} kept: the result on other queries is unknown, and so is the interval."
        )
    if inputs.reduction.n_judges == 2:
        limits.append(
            "With two judges unanimity is pairwise agreement itself: it adds no independent evidence."
        )
    if (queries := len(inputs.queries)) < 20:
        limits.append(f"The intervals rest on only {count(queries, 'query')}.")
    return tuple(limits)


def headline(result: ExperimentResult) -> str:
    """Sentences on kappa over all rubrics and over those that pass the strictest gate."""
    first, *_, last = result.frame().to_dict("records")
    if np.isnan(first["kappa"]):
        return "There is too little data to compare: κ is unknown."
    if np.isnan(last["kappa"]):
        kept = (
            f"on the {count(int(last['kept']), 'rubric')} that pass"
            if last["kept"]
            else "as no rubric passes"
        )
        return (
            f"Agreement with {result.options['against']}: κ is {num(first['kappa'])} over all rubrics. At τ_c = "
            f"{last['tau_c']:.2f} it is unknown, {kept}."
        )
    low, high = last.get("unread_low", np.nan), last.get("unread_high", np.nan)
    how = compared(low, high, "rises", "falls", "is not shown to change")
    return (
        f"Agreement with {result.options['against']} {how} on systems that the gate has not read: Δκ "
        f"{num(last.get('unread', np.nan))} {span(low, high)} at τ_c = {last['tau_c']:.2f}. On the same labels κ is "
        f"{num(first['kappa'])} over all rubrics, {num(last['kappa'])} over the {last['share']:.0%} that pass."
    )


EXPERIMENT = Experiment(
    name="sweep",
    title="Threshold sweep (L1)",
    question="Do labels agree better on rubrics that pass a stricter gate, and how many rubrics does it cost?",
    run=sweep,
    parameters={
        "thresholds": Parameter("thresholds of measurability", low=-1, high=1),
        "splits": Parameter(
            "divisions of the systems into those that the gate reads and others", low=1, whole=True
        ),
    },
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
                "unread": number("Δκ, not read", about="On systems whose labels the gate has not read"),
                "unread_low": LOW,
                "unread_high": HIGH,
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
            {"r": number("Pearson's r"), "rubrics": number("rubrics", "localized")},
        ),
    },
    headline=headline,
    charts=(
        Chart("Agreement of the rubrics kept at each threshold", draw="sweep_kappa"),
        Chart("What the agreement costs in rubrics", draw="sweep_coverage"),
    ),
    order=3,
)
