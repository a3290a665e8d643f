"""Views of the Measurability page on rules: the effect of thresholds, and the cost of unanimity as systems join."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from ...figures import measurability as figures
from ...judges.consensus import baseline_mask
from ...text import count, listed, verb
from .. import loaders, table_widgets, widgets
from ..settings_bar import keep_from
from ..tables import bounded
from ..text import UNKNOWN, ends, numeral, plain, rounded
from . import judges

if TYPE_CHECKING:
    import pandas as pd

    from ...judges.attrition import Attrition
    from ...labels.store.reduction import Reduction
    from ...types import IntArray
    from ..page import StudyPage

SPLIT = "splits of the rubrics listed"
MOST_SYSTEMS = 10_000  # most systems to which the curve is projected
LEAST = 0.0005  # smallest share that is shown as a number
_number = st.column_config.NumberColumn
SWEEP = {
    "tau_c": _number("τ_c", format="%.2f"),
    "kept": _number("kept", format="localized"),
    "share": _number("share", format="percent"),
    **bounded("kappa", "κ"),
    **bounded("delta", "minus that of all"),
}
BESIDE = {
    "rubric": "rubric",
    "why": "why it is dropped",
    "q_mean": _number("measurability", format="%.3f"),
    "nu": _number("information ν", format="%.3f"),
    "query": "query",
}


def compared_with_rules(reduction: Reduction, kept: int) -> None:
    """Show how many rubrics the gate keeps, and how many the rules of perfect agreement keep."""
    for rule, number in (
        ("Kept here", kept),
        ("All judges agree on every system", int(reduction.unanimous.sum())),
        ("They agree, and some systems pass, some fail", int(baseline_mask(reduction).sum())),
    ):
        share = rounded(number / len(reduction.unanimous))
        st.metric(rule, f"{number:,}", delta=share, delta_color="off", delta_arrow="off")
    if said := vacuous_sentence(reduction.n_total):
        st.caption(said)


def vacuous_sentence(n_total: IntArray) -> str:
    """A sentence on rubrics without instances, which are unanimous only for lack of labels; "" if there are none.

    n_total: (J,) numbers of instances.
    """
    if not (vacuous := int((n_total == 0).sum())):
        return ""
    return (
        f"{count(vacuous, 'rubric')} {verb(vacuous, 'have')} no cell with labels of two judges: unanimity "
        "counts them as agreed, because no two judges could differ."
    )


def coverage(study: StudyPage) -> None:
    """Show the agreement of the rubrics that each threshold keeps, against the share that it keeps."""
    found, gate = judges.swept(study), study.gating()
    table, quartiles = found.tables["thresholds"], found.tables["quartiles"]
    own = gate.statistic == "agreement" and not gate.off
    chosen = table[np.isclose(table["tau_c"], gate.threshold)].iloc[0] if own else strictest(table)
    tau_c, against, base = float(chosen["tau_c"]), str(found.options["against"]), table.iloc[0]
    name = "τ_c =" if own else "An agreement rate of"
    study.answer(
        f"{name} {tau_c:.2f} keeps {rounded(chosen['share'])} of the rubrics. κ against {against} is "
        f"{_kappa(base['kappa'])} over all and {_kappa(chosen['kappa'])} over these{_difference(chosen)}, on the same "
        "labels that chose them. The threshold sweep on the Experiments page checks whether agreement is also higher "
        "on other labels."
    )
    if not own:
        st.caption(
            "The gate in use is another one (rubric κ). This view shows what a gate by agreement rate would do."
        )
    left, right = st.columns([3, 2], gap="large")
    with left:
        widgets.show(
            figures.kappa_against_coverage(table, tau_c, against),
            "Kappa by the share of rubrics that each threshold keeps",
            "Agreement against coverage",
            "Click a point to move τ_c there." if own else "",
            (lambda mark: _move(float(table["tau_c"].iloc[mark.number]))) if own else None,
        )
    with right:
        widgets.show(
            figures.kappa_by_quartile(quartiles), "Kappa by quartile of measurability", "By quartile"
        )
        r, n = found.tables["correlation"].iloc[0]
        known = f"r = {numeral(r)}" if np.isfinite(r) else "unknown, because too few vary"
        st.caption(
            f"Correlation of measurability with a rubric's own κ: {known} ({count(int(n), 'rubric')})."
        )
    for limit in found.limits:
        st.caption(plain(limit))
    table_widgets.table(table, SWEEP)
    table_widgets.download("Download threshold_sweep.csv", table, "threshold_sweep.csv")


def _move(tau_c: float) -> None:
    """Move the threshold to that of the clicked point; the first point, for all rubrics, has none (NaN)."""
    if np.isfinite(tau_c):
        keep_from(tau_c)


def strictest(thresholds: pd.DataFrame) -> pd.Series[Any]:
    """The row of the highest threshold with a known κ of the kept rubrics, else of the lowest threshold.

    thresholds: the table of the threshold sweep.
    """
    given = thresholds[thresholds["tau_c"].notna()]
    return given[given["kappa"].notna() | (np.arange(len(given)) == 0)].iloc[-1]


def _difference(chosen: pd.Series[Any]) -> str:
    """κ of the kept rubrics minus κ of all rubrics, with its interval, as text in brackets; "" if unknown."""
    delta, low, high = (float(chosen[name]) for name in ("delta", "delta_low", "delta_high"))
    return (
        f" (difference {numeral(delta, '+z.2f')} {ends(low, high, '+z.2f')})"
        if np.isfinite([delta, low, high]).all()
        else ""
    )


def _kappa(value: float) -> str:
    return numeral(value) if np.isfinite(value) else "unknown"


def growth(study: StudyPage) -> None:
    """Show the attrition under unanimity, and its projection to more systems."""
    found = judges.attrition(study)
    curve, last = found.curve, len(found.curve.m)
    if not last:
        study.answer("No system has a label of every judge on any rubric, so the curve is unknown.")
        return
    start = min(max(40, 2 * len(loaders.facts(study).systems)), MOST_SYSTEMS)
    aim = int(
        st.number_input(
            "Systems to project to", 2, MOST_SYSTEMS, start, width=220, key="systems", bind="query-params"
        )
    )
    further = np.arange(1, max(aim, last) + 1)
    models = {
        "one error rate for all": found.homogeneous.retention(further),
        "rubrics differ (Beta)": found.mixture.retention(further),
    }
    study.answer(growth_sentence(found, aim))
    widgets.show(
        figures.retention(
            {"all judges agree": curve.consistency, "… and both outcomes occur": curve.joint},
            curve.m,
            {name: share for name, share in models.items() if np.isfinite(share).all()},
            further,
        ),
        "Share of rubrics kept by unanimity as the leaderboard grows, with two models",
        "As leaderboards grow",
    )
    one, both = f"with {aim}, one rate", f"with {aim}, rates differ"
    rates = {
        "ρ, one rate": _share(found.homogeneous.rho),
        "judge's error, one rate": _share(found.homogeneous.epsilon),
        one: _share(found.homogeneous.retention(aim)),
        both: _share(found.mixture.retention(aim)),
    }
    helps = {
        "ρ, one rate": "Share of the rubrics that remain with each further system, if all have one rate",
        "judge's error, one rate": "Probability that a judge errs on a label, which gives ρ",
        one: f"Share of the rubrics kept with {aim} systems, if all have one rate",
        both: f"Share of the rubrics kept with {aim} systems, where rubrics differ",
    }
    widgets.figures_row(rates, helps)
    st.caption(
        f"{fit_note(found)}The curve ends where fewer than half of the rubrics have that many systems labelled by "
        "every judge; if judges skip cells of which they are unsure, it is too high. The gate of this page asks for a "
        "degree of agreement, not for unanimity on every system, so it does not lose rubrics as systems join."
    )


def growth_sentence(found: Attrition, aim: int) -> str:
    """A sentence on the share of rubrics that unanimity keeps: observed, and projected to ``aim`` systems if more."""
    curve, last = found.curve, len(found.curve.m)
    shown = [f"{rounded(curve.consistency[0])} of the rubrics with 1 system"]
    if last > 1:
        shown.append(f"{rounded(curve.consistency[-1])} with {last:,}")
    beyond = float(
        np.minimum(found.projection(aim), curve.consistency[-1])
    )  # no more than with fewer systems
    if aim > last and beyond > 0:
        shown.append(f"{'about ' if beyond >= LEAST else ''}{_share(beyond)} with {aim:,}")
    return f"Where every judge labelled every system, unanimity on all of them keeps {listed(shown)}."


def fit_note(found: Attrition) -> str:
    """Sentences on the error of each model of the curve, or on why a model is missing."""
    one, beta = found.homogeneous.rmse, found.mixture.rmse
    if not np.isfinite(one):
        return "Neither model could be fitted. "
    if np.isfinite(beta):
        mixture = f"Beta({found.mixture.a:.2f}, {found.mixture.b:.2f})"
        apart = f"{beta:.3f} where the rubrics' rates follow {mixture}"
        return f"Root mean square error: {one:.3f} with one rate, {apart}. "
    if len(found.curve.m) == 1:
        return "One system does not show how the share falls with more: one rate for all is an assumption. "
    if found.one_rate:
        reason = "the rubrics differ too little, and the projection takes one rate"
    else:
        reason = "each rubric is always or never unanimous, and one rate falls too fast"
    return f"Root mean square error: {one:.3f} with one rate. No Beta mixture fits: {reason}. "


def _share(value: Any) -> str:
    if 0 < value < LEAST:
        return "less than 0.1%"
    return f"{float(value):.1%}" if np.isfinite(value) else UNKNOWN


def baseline(study: StudyPage) -> None:
    """Compare the gate with the rule of unanimity on every system and varying labels."""
    table = judges.compared_with_baseline(study)
    here, strict = table["here"], table["baseline"]
    lost, extra = table[here & ~strict], table[strict & ~here]
    information = lost["nu"].sum() / max(table.loc[here, "nu"].sum(), np.finfo(np.float64).tiny)
    total = count(len(table), "rubric")
    study.answer(
        f"Unanimity on every system, with both outcomes, keeps {int(strict.sum()):,} of {total}; the gate keeps "
        f"{int(here.sum()):,} that vary.",
        f"Unanimity drops {len(lost):,} of these, with {rounded(information)} of their information.",
    )
    widgets.figures_row(
        {
            "both keep": f"{int((here & strict).sum()):,}",
            "the gate alone": f"{len(lost):,}",
            "unanimity alone": f"{len(extra):,}",
            "neither": f"{int((~here & ~strict).sum()):,}",
        }
    )
    vacuous = vacuous_sentence(table["n_total"].to_numpy())
    st.caption(
        f"Unanimity: all judges agree on every system, and some systems pass, some fail. {vacuous}".rstrip()
    )
    if lost.empty:
        return
    left, right = st.columns([2, 3], gap="large")
    with left:
        widgets.show(
            figures.dropped_for_few_splits(lost["split"].to_numpy()),
            "Rubrics that unanimity drops by the number of systems that split the judges",
            "One system that splits the judges is enough to drop a rubric",
            "Click a bar to list its rubrics.",
            lambda bar: st.session_state.update({SPLIT: int(bar.x)}),
        )
        single = int((lost["split"] == 1).sum())
        st.caption(
            f"{f'{single:,}' if single else 'None'} of these {'are' if single > 1 else 'is'} dropped because the "
            "judges differ on a single system."
        )
    with right:
        st.markdown("**What unanimity drops that the gate keeps**")
        shown = lost.sort_values("nu", ascending=False)
        if (split := st.session_state.get(SPLIT)) is not None and (shown["split"] == split).any():
            shown = shown[shown["split"] == split]
            st.button(
                f"Only rubrics with {count(split, 'split')}: list all again",
                on_click=lambda: st.session_state.pop(SPLIT),
            )
        table_widgets.table(shown, BESIDE, rows=8)
        table_widgets.download("Download beside_unanimity.csv", table, "beside_unanimity.csv")
