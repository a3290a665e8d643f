"""What the experiments page says and shows of each experiment: its question, its first line, its tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from ...figures.experiments import STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Mapping


_number = st.column_config.NumberColumn
_check = st.column_config.CheckboxColumn
_three = _number(format="%.3f")


def _named(label: str, form: str = "%.3f", help: str | None = None) -> Any:  # noqa: A002 - Streamlit's name
    return _number(label, format=form, help=help)


_LOW, _HIGH = _named("from"), _named("to")
_RHO = _named("ρ", help="Spearman's rank correlation")


@dataclass(frozen=True)
class View:
    """How one experiment is shown. tables: name in the result → (title, columns), the main one first."""

    question: str
    figure: str
    tables: Mapping[str, tuple[str, Mapping[str, Any]]]


VIEWS: dict[str, View] = {
    "crossfit": View(
        "Does a small bank rank the systems as held-out rubrics do? The rubrics are split into halves, 20 "
        "times: one half gives the bank, the other the ranking to be found.",
        "How well a bank of B rubrics ranks the systems",
        {
            "summary": (
                "AUC, and the difference to greedy in the same splits",
                {
                    "strategy": "chosen by",
                    "auc": _named("AUC", help="Mean of ρ over the budgets, then over the splits"),
                    "auc_low": _LOW,
                    "auc_high": _HIGH,
                    "delta": _named("ΔAUC", help="AUC of greedy minus that of this row, paired by split"),
                    "delta_low": _LOW,
                    "delta_high": _HIGH,
                    "smallest_bank": "smallest bank at the target",
                    "candidates": _named(
                        "candidates", "%.0f", "Rubrics to choose from, mean over the splits"
                    ),
                },
            ),
            "splits": (
                "AUC of each split",
                {"split": "split", **{name: _named(words) for name, (words, _) in STRATEGIES.items()}},
            ),
        },
    ),
    "new_systems": View(
        "Does a bank place systems that took no part in its choice? A quarter of the systems is held out at a time; "
        "each is placed on banks chosen without it, and compared with its ability on the whole pool.",
        "How well a bank of B rubrics places systems that it has not seen",
        {
            "new_systems": (
                "New systems on banks chosen without them",
                {
                    "selector": "chosen by",
                    "new_pairs": _named("new pairs", "percent", "Pairs of new systems in the pool's order"),
                    "new_old": _named(
                        "new and old", "percent", "New systems in order with old ones on the whole pool"
                    ),
                    "tau": _named("τ", help="Kendall's tau of all systems as new ones"),
                    "tau_low": _LOW,
                    "tau_high": _HIGH,
                    "human": _named("τ to humans"),
                    "score_error": _named("error of the score", help="Of the predicted mean over the pool"),
                },
            ),
            "ahead": (
                "How far pairs are ahead of each other selector",
                {
                    "selector": "selector",
                    "measure": "measure",
                    "difference": _named("difference", help="Pairs less the other, the same systems"),
                    "low": _LOW,
                    "high": _HIGH,
                },
            ),
        },
    ),
    "sweep": View(
        "Do labels agree better on rubrics that pass a stricter gate, and how many rubrics does it cost?",
        "Agreement of the rubrics kept at each threshold",
        {
            "thresholds": (
                "κ against coverage",
                {
                    "tau_c": "τ_c",
                    "kept": _named("kept", "localized"),
                    "share": _named("share", "percent"),
                    "kappa": _named("κ", help="Cohen's kappa, pooled over the cells of the rubrics kept"),
                    "kappa_low": _LOW,
                    "kappa_high": _HIGH,
                    "delta": _named("Δκ", help="Minus kappa over all rubrics"),
                    "delta_low": _LOW,
                    "delta_high": _HIGH,
                },
            ),
            "quartiles": (
                "By quartile of measurability",
                {
                    "quartile": "quartile",
                    "rubrics": _named("rubrics", "localized"),
                    "q_mean": _named("measurability"),
                    "with_kappa": _named(
                        "with a κ", "localized", "Rubrics whose labels vary: others have no κ"
                    ),
                    "kappa": _named("mean κ"),
                },
            ),
            "correlation": (
                "Measurability with a rubric's own κ",
                {"r": _named("Pearson's r"), "p": "p", "rubrics": _named("rubrics", "localized")},
            ),
        },
    ),
    "perturbation": View(
        "Do the task types matter? A share of them is flipped at random, and the gap between the best and the worst "
        "system is measured again.",
        "Effect of flipped task types on the gap",
        {
            "flips": (
                "Flipped task types",
                {
                    "flip": _named("flipped", "percent"),
                    "mean_score": _named("mean score"),
                    "gap": _named("gap", "%.2f", "Best minus worst system, in points of 100"),
                    "degradation": _named("change", "%.2f"),
                    "low": _named("from", "%.2f"),
                    "high": _named("to", "%.2f"),
                    "rho": _RHO,
                    "seeds": "draws",
                },
            ),
            "scorers": (
                "Adaptive and binary scores",
                {
                    "scorer": "scores",
                    "mean_score": _named("mean"),
                    "gap": _named("gap", "%.2f"),
                    "sd": _named("spread"),
                    "iqr": _named("IQR"),
                },
            ),
            "agreement": (
                "Agreement of the two rankings",
                {"domain": "domain", "queries": "queries", "systems": "systems", "rho": _RHO, "p": "p"},
            ),
            "external": (
                "Compared with the human ranking",
                {"scorer": "scores", "systems": "systems", "rho": _RHO, "p": "p"},
            ),
        },
    ),
    "ablation": View(
        "What does each part add? Pass or fail only (B0), with task types (B1), with a bank (B2), with the gate (B3), "
        "with all of it (B4).",
        "Gap between the best and the worst system",
        {
            "configurations": (
                "Five configurations on the same labels",
                {
                    "configuration": "",
                    "task": _check("types"),
                    "irt": _check("bank"),
                    "bayes": _check("gate"),
                    "rubrics": _named("rubrics", "localized"),
                    "gap": _named("gap", "%.1f", "Best minus worst system, in points of 100"),
                    "gap_low": _named("from", "%.1f"),
                    "gap_high": _named("to", "%.1f"),
                    "sd": _named("spread"),
                    "iqr": _named("IQR"),
                    "rho_b0": _named("ρ to B0"),
                    "rho_reference": _named("ρ to humans"),
                    "kappa": _named("κ"),
                },
            ),
            "scores": (
                "Score of each system",
                {"system": "system", **dict.fromkeys(("B0", "B1", "B2", "B3", "B4"), _three)},
            ),
        },
    ),
    "attrition": View(
        "What would a rule of perfect agreement keep? Only rubrics on which all judges agree about every system, as "
        "the number of systems grows.",
        "Rubrics kept as the number of systems grows",
        {
            "curve": (
                "By number of systems",
                {
                    "m": "systems",
                    "consistency": _named("unanimous", "percent"),
                    "homogeneous": _named("one rate", "percent", "ρ^m"),
                    "beta": _named("Beta mixture", "percent"),
                    "distinguishability": _named("both outcomes", "percent", "Some systems pass, some fail"),
                    "joint": _named("both at once", "percent"),
                    "rubrics": _named("of rubrics", "localized"),
                },
            ),
            "models": (
                "Two models of the curve",
                {
                    "model": "model",
                    "rmse": _named("RMSE", "%.4f"),
                    **dict.fromkeys(("rho", "epsilon", "a", "b", "r_squared"), _three),
                },
            ),
        },
    ),
    "stability": View(
        "How much depends on one system, judge or domain, on B and on τ_c? Each is removed or changed in turn, and "
        "the whole analysis is repeated.",
        "Stability under each change",
        {
            "kinds": (
                "By kind of change",
                {
                    "kind": "change",
                    "variants": "variants",
                    "kept": _named("bank kept", "percent", "Mean share of the smaller bank in the larger"),
                    "kept_least": _named("at least", "percent"),
                    "rho": _RHO,
                    "rho_least": _named("at least"),
                    "tier_changes": _named(
                        "tier changes", "percent", "Mean share of pairs tied in one of the two"
                    ),
                    "tier_changes_most": _named("at most", "percent"),
                    "worst": "lowest ρ",
                },
            ),
            "variants": (
                "Each change",
                {
                    "kind": "change",
                    "what": "what",
                    "bank_size": _named("bank", "%.0f"),
                    "kept": _named("bank kept", "percent"),
                    "rho": _RHO,
                    "reversed_pairs": _named("pairs reversed", "percent"),
                    "tier_changes": _named("tier changes", "percent"),
                    "tiers": _named("tiers", "%.0f"),
                    "note": "note",
                },
            ),
        },
    ),
}
