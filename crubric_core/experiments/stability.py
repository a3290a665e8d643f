"""How much the bank and the tiers depend on one system, one judge, one domain, and on B and tau_c.

Each variant repeats the whole analysis: consensus, gate, fit, bank, tiers. The results are compared over the systems
that both analyses rank.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ..analysis.calibration import calibrate, fit_folds
from ..analysis.fitted import gate
from ..analysis.ranking import rank_systems
from ..analysis.result import Calibration
from ..analysis.selection import (
    masks,
    order_candidates,
    orders_without_folds,
    placing_rubrics,
    ranked_by_score,
)
from ..declarations import Parameter
from ..errors import CrubricError
from ..judges.gate import decide_gate
from ..judges.unequal_panels import UnequalPanels
from ..labels.store.dataset import Dataset
from ..labels.store.reduction import Reduction
from ..ranks import rank_correlation
from ..settings import LOWEST_TAU, Basis, Settings
from ..text import count
from ..types import BoolArray, Cancel, FloatArray, Progress
from ..workers import run_tasks
from .declaration import RHO, Chart, Experiment, ResultColumn, ResultTable, hidden, number
from .inputs import Inputs, panels_of_part, read_inputs, reduce_panel
from .results import ExperimentResult, ExperimentWatch, num, records

BUDGETS = (0.25, 0.5, 2.0)  # multiples of the settings' B
SHIFTS = (-0.1, -0.05, 0.05, 0.1)  # added to the settings' tau_c

_MEASURES = ("bank_size", "jaccard", "kept", "rho", "reversed_pairs", "tier_changes", "tiers")
_WITHOUT = {
    "system": "a system is removed",
    "judge": "a judge is removed",
    "domain": "a domain is removed",
    "budget": "B changes",
    "tau_c": "τ_c changes",
}


@dataclass(frozen=True)
class Variant:
    """An analysis with one change.

    kind: system, judge, domain, budget or tau_c. what: the name that is removed, or the new value. reduction, panels,
    settings: of the changed analysis.
    """

    kind: str
    what: str
    reduction: Reduction
    panels: UnequalPanels | None
    settings: Settings


@dataclass(frozen=True)
class AnalysisOutcome:
    """The outcome of one analysis.

    bank: names of the rubrics, in order. estimate, tier, theta: system → value, for ranked systems only. estimate: what
    the board ranks by: the ability, or the score if there are few systems. theta: the ability. apart: separated pairs
    (ahead, behind).
    """

    bank: tuple[str, ...]
    estimate: dict[str, float]
    tier: dict[str, float]
    apart: frozenset[tuple[str, str]] = frozenset()
    theta: dict[str, float] = field(default_factory=dict)


def stability(
    ds: Dataset,
    settings: Settings,
    *,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    kinds: Sequence[str] = tuple(_WITHOUT),
) -> ExperimentResult:
    """The analysis without each system, judge or domain, and with other B and tau_c, compared with the full analysis.

    kinds: kinds of changes to try. Tables: ``kinds`` (one row a kind of change: worst and mean), ``variants`` (one row
    a change).
    """
    watch = ExperimentWatch(progress, cancel)
    watch.step(0.0, "The full analysis")
    inputs = read_inputs(ds, settings)
    settings = inputs.settings
    calibration, panel = calibrate(inputs.reduction, settings), ds.panel(settings.response)
    full = analyse(
        inputs, inputs.reduction, panels_of_part(inputs.reduction, panel, settings), settings, calibration
    )
    changed = [v for v in variants(inputs, panel, ds.judges) if v.kind in kinds]
    compared = run_tasks(
        _compare,
        changed,
        (inputs.for_tasks(), calibration, full),
        before=lambda n: watch.step((n + 1) / (len(changed) + 1), f"{changed[n].kind}: {changed[n].what}"),
    )
    rows = [{"kind": v.kind, "what": v.what, **row} for v, row in zip(changed, compared, strict=True)]
    table = pd.DataFrame(rows, columns=["kind", "what", *_MEASURES, "note"])
    by_kind = kind_table(table)
    watch.step(1.0, "Done")
    return inputs.result(
        "stability",
        {"kinds": list(kinds), "budgets": list(BUDGETS), "tau_c_shifts": list(SHIFTS)},
        {"kinds": by_kind, "variants": table},
        _found(by_kind, full, settings.basis),
        _limits(inputs, table, kinds),
    )


def variants(inputs: Inputs, panel: FloatArray, judges: tuple[str, ...]) -> Iterator[Variant]:
    """Yield all changes: each system, each judge and each domain left out, then other budgets and thresholds."""
    reduction, settings = inputs.reduction, inputs.settings
    domain = inputs.queries["domain"].to_numpy(dtype=object)[inputs.query_index]
    domains = sorted({str(d) for d in domain if d is not None})
    axes = (
        ("system", reduction.systems, np.array(reduction.systems), 0, 3),
        ("judge", judges, np.array(judges), 2, 1),
        ("domain", domains, domain, 1, 1),
    )
    for kind, names, names_along, axis, fewest in axes:
        for name in names if len(names) > fewest else ():
            kept = [np.arange(size) for size in panel.shape]
            kept[axis] = np.flatnonzero(names_along != name)
            part = reduce_panel(inputs, panel, *kept)
            yield Variant(kind, name, part, panels_of_part(part, panel[np.ix_(*kept)], settings), settings)
    panels = panels_of_part(reduction, panel, settings)
    for share in BUDGETS:
        budget = max(1, round(share * settings.budget))
        yield Variant("budget", str(budget), reduction, panels, replace(settings, budget=budget))
    for shift in SHIFTS if not inputs.gate_off else ():
        tau = round(decide_gate(reduction, settings).threshold + shift, 6)
        if LOWEST_TAU[settings.gate] <= tau <= 1:
            yield Variant("tau_c", f"{tau:g}", reduction, panels, replace(settings, tau_c=tau))


def analyse(
    inputs: Inputs,
    reduction: Reduction,
    panels: UnequalPanels | None,
    settings: Settings,
    calibration: Calibration | None = None,
) -> AnalysisOutcome:
    """Run the analysis of a reduction: gate, fit (unless ``calibration`` is given), bank, ranking and tiers.

    panels: unequal panels of the reduction's systems; None: they are equal.
    """
    feasible: BoolArray = gate(reduction, settings)["feasible"].to_numpy()
    fitted = calibration or calibrate(reduction, settings)
    order = order_candidates(reduction, fitted, feasible, settings, budget=settings.budget).order
    cross = fit_folds(reduction, fitted, settings)
    use = placing_rubrics(reduction, fitted, feasible, settings)
    if settings.basis == "bank" and not ranked_by_score(reduction, settings):
        orders = orders_without_folds(reduction, fitted, cross, feasible, settings, budget=settings.budget)
        use = masks(orders, settings.budget, len(feasible))
    ranking = rank_systems(inputs.queries, reduction, fitted, cross, use, settings, panels)
    standing, ranked = ranking.standing, ranking.table[ranking.table["rank"].notna()]
    estimate = dict(zip(reduction.systems, standing.estimate.tolist(), strict=True))
    apart = ranking.comparisons[ranking.comparisons["separated"]]
    return AnalysisOutcome(
        bank=tuple(reduction.rubrics["rubric"].to_numpy()[order]),
        estimate={system: estimate[system] for system in ranked["system"]},
        tier=dict(zip(ranked["system"], ranked["tier"].astype(float), strict=True)),
        apart=frozenset(zip(apart["system"], apart["other"], strict=True)),
        theta=dict(zip(ranked["system"], ranked["theta"].astype(float), strict=True)),
    )


def _compare(
    inputs: Inputs, calibration: Calibration, full: AnalysisOutcome, variant: Variant
) -> dict[str, object]:
    same_labels = variant.kind in ("budget", "tau_c")
    try:
        outcome = analyse(
            inputs, variant.reduction, variant.panels, variant.settings, calibration if same_labels else None
        )
    except CrubricError as error:
        return {**dict.fromkeys(_MEASURES, float("nan")), "note": str(error)}
    return {**compare_outcomes(full, outcome), "note": ""}


def compare_outcomes(full: AnalysisOutcome, other: AnalysisOutcome) -> dict[str, float]:
    """Compare another analysis with the full one.

    bank_size: size of the other bank. jaccard: shared rubrics over the union. kept: share of the smaller bank that is
    in the larger. rho: Spearman's of what the boards rank by. reversed_pairs: share of the pairs of systems whose order
    is reversed. tier_changes: share of the pairs that are in one tier in exactly one of the two. tiers: number of tiers
    of the other.
    """
    shared = set(full.bank) & set(other.bank)
    systems = sorted(set(full.estimate) & set(other.estimate))
    pairs = list(combinations(systems, 2))
    turned = [
        (full.estimate[i] - full.estimate[j]) * (other.estimate[i] - other.estimate[j]) < 0 for i, j in pairs
    ]
    moved = [(full.tier[i] == full.tier[j]) != (other.tier[i] == other.tier[j]) for i, j in pairs]
    here, there = (np.array([o.estimate[s] for s in systems], dtype=float) for o in (full, other))
    return {
        "bank_size": float(len(other.bank)),
        "jaccard": len(shared) / len(set(full.bank) | set(other.bank)),
        "kept": len(shared) / min(len(full.bank), len(other.bank)),
        "rho": float(rank_correlation(there, here)),
        "reversed_pairs": float(np.mean(turned)) if pairs else float("nan"),
        "tier_changes": float(np.mean(moved)) if pairs else float("nan"),
        "tiers": float(len(set(other.tier.values()))),
    }


def kind_table(variants: pd.DataFrame) -> pd.DataFrame:
    """One row a kind of change: numbers of changes analysed and tried, means, and the worst values.

    worst: the change with the lowest rho; "" if none could be analysed.
    """
    rows = []
    for kind, group in variants.groupby("kind", sort=False):
        ran = group.dropna(subset=["rho"]).sort_values("rho", kind="stable")
        rows.append(
            {
                "kind": str(kind),
                "variants": len(ran),
                "tried": len(group),
                "kept": float(group["kept"].mean()),
                "kept_least": float(group["kept"].min()),
                "rho": float(group["rho"].mean()),
                "rho_least": float(group["rho"].min()),
                "reversed_pairs_most": float(group["reversed_pairs"].max()),
                "tier_changes": float(group["tier_changes"].mean()),
                "tier_changes_most": float(group["tier_changes"].max()),
                "worst": str(ran["what"].iloc[0]) if len(ran) else "",
            }
        )
    return pd.DataFrame(rows)


def _found(kinds: pd.DataFrame, full: AnalysisOutcome, basis: Basis) -> str:
    parts = [
        f"where {_WITHOUT[str(row['kind'])]}{_but(row)}, {row['kept']:.0%} of the bank "
        + (
            "remain"
            if row["kind"] == "budget" and basis == "all"
            else f"and ρ ≥ {num(row['rho_least'])} remain"
        )
        for row in kinds.to_dict("records")
        if row["variants"]
    ]
    bank, tiers = count(len(full.bank), "rubric"), count(len(set(full.tier.values())), "tier")
    rest = "; ".join(parts) or "no change of it could be analysed"
    return f"The full analysis has a bank of {bank} and {tiers}; {rest}."


def _but(row: Mapping[Hashable, Any]) -> str:
    """A clause in brackets: how many changes of a kind could be analysed; "" if all could."""
    ran, tried = row["variants"], row["tried"]
    return f" ({ran:,} of {tried:,} such changes could be analysed)" if ran < tried else ""


def _any_one(kind: str, row: Mapping[str, Any]) -> str:
    """The parts whose removal a bound covers, in words: "any one judge", "any one of the 3 judges that …"."""
    ran = int(row["variants"])
    if ran == row["tried"]:
        return f"any one {kind}"
    return f"{f'any one of the {ran:,} {kind}s' if ran > 1 else f'the one {kind}'} that could be removed"


def _limits(inputs: Inputs, table: pd.DataFrame, asked: Sequence[str]) -> tuple[str, ...]:
    limits = [
        "Removing one shows how much depends on one part of this dataset, not on systems, judges and domains "
        "that are not in it."
    ]
    limits += inputs.unlinked()
    kinds = set(table["kind"])
    if "budget" in kinds and inputs.settings.basis == "all":
        limits.append(
            "Systems are ranked on all rubrics that pass, so B changes no rank: its ρ is 1 by construction."
        )
    missing = [name for name in _PARTS if name in asked and name not in kinds]
    if missing:
        limits.append(f"No {' and no '.join(missing)} could be removed: there are too few.")
    if failed := int(table["rho"].isna().sum()):
        notes = "its note says" if failed == 1 else "their notes say"
        limits.append(f"{count(failed, 'variant')} could not be analysed; {notes} why.")
    if inputs.reduction.n_judges == 2:
        limits.append("Without one of two judges the gate is off: those variants show its whole effect.")
    return tuple(limits)


_PARTS = {
    "system": "there are at most three systems",
    "judge": "there is one judge",
    "domain": "there is at most one domain",
}  # what can be left out, and why nothing of it is
KINDS = {"budget": "B", "tau_c": "τ_c"}  # kinds of changes that are shown as a symbol


def headline(result: ExperimentResult) -> str:
    """A sentence: the lowest rank correlation without a system, judge or domain, or why it is unknown."""
    rows = records(result.frame(), "kind")
    parts = [
        f"ρ ≥ {num(rows[kind]['rho_least'])} without {_any_one(kind, rows[kind])}"
        for kind in _PARTS
        if kind in rows and np.isfinite(rows[kind]["rho_least"])
    ]
    if parts:
        return f"The ranking keeps {', '.join(parts)}."
    if tried := [kind for kind in _PARTS if kind in rows]:
        return f"Without one {' or one '.join(tried)} no ranking could be compared: there is too little data."
    asked = result.options.get("kinds", _PARTS)
    why = [reason for kind, reason in _PARTS.items() if kind in asked]
    return f"Nothing was left out: {', '.join(why) or 'this was not asked for'}."


EXPERIMENT = Experiment(
    name="stability",
    title="Stability",
    question=(
        "How much depends on one system, judge or domain, on B and on τ_c? Each is removed or changed in turn, and the "
        "whole analysis is repeated."
    ),
    run=stability,
    parameters={"kinds": Parameter("what is changed: systems, judges, domains, B, τ_c", choices=_WITHOUT)},
    tables={
        "kinds": ResultTable(
            "By kind of change",
            {
                "kind": ResultColumn("change", words=KINDS),
                "variants": number("variants", "localized"),
                "tried": hidden("variants tried", "localized"),
                "kept": number("bank kept", "percent", "Mean share of the smaller bank in the larger"),
                "kept_least": number("at least", "percent"),
                "rho": RHO,
                "rho_least": number("at least"),
                "reversed_pairs_most": hidden("most pairs reversed", "percent"),
                "tier_changes": number(
                    "tier changes", "percent", "Mean share of pairs tied in one of the two"
                ),
                "tier_changes_most": number("at most", "percent"),
                "worst": ResultColumn("lowest ρ"),
            },
        ),
        "variants": ResultTable(
            "Each change",
            {
                "kind": ResultColumn("change", words=KINDS),
                "what": ResultColumn("what"),
                "bank_size": number("bank", "%.0f"),
                "jaccard": hidden("Jaccard index"),
                "kept": number("bank kept", "percent"),
                "rho": RHO,
                "reversed_pairs": number("pairs reversed", "percent"),
                "tier_changes": number("tier changes", "percent"),
                "tiers": number("tiers", "%.0f"),
                "note": ResultColumn("note"),
            },
        ),
    },
    headline=headline,
    charts=(Chart("Stability under each change", draw="stability_dots"),),
    order=7,
)
