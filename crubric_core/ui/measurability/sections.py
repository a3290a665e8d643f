"""The further views of the Measurability page; the view on judges is defined here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from ...experiments.leave_one_judge_out import influence_sentence
from ...figures import judges as figures
from ...figures.style import FEW_COLUMNS
from ...judges.guessing import guessing_note
from ...judges.rates import FEW_ANCHORS
from ...judges.shared_errors import effective_judges, independence_note, shared_errors_note
from ...judges.votes import votes_note
from .. import loaders, table_widgets, widgets
from ..leaderboard.view import open_profile
from ..tables import bounded
from ..text import UNKNOWN, count, ends, numeral, plain, rounded, short_name
from . import departures, judges, repeats, rewrite
from . import rules as judges_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...judges.rates import JudgeRates
    from ...judges.reliability import JudgeReliability
    from ..page import StudyPage

_number = st.column_config.NumberColumn
JUDGES: dict[str, Any] = {
    "judge": "judge",
    "labels": _number("labels", format="localized"),
    "positive_rate": _number("passes", format="percent", help="Share of its labels that are a pass"),
    "leniency": st.column_config.TextColumn("leniency", help="Pass rate minus that of the panel"),
    "kappa": st.column_config.TextColumn(
        "κ with majority", help="Cohen's κ with the majority of the other judges"
    ),
}
VOTES: dict[str, Any] = {
    "judge": "judge",
    "s_plus": st.column_config.TextColumn("s⁺ of votes", help="Probability that it votes for a valid rubric"),
    "s_minus": st.column_config.TextColumn(
        "s⁻ of votes", help="Probability that it votes against an invalid rubric"
    ),
    "weight": _number("weight of vote", format="%.2f", help="In log-odds; 0: no information"),
    "weight_share": _number("share of votes", format="percent", help="Share of all judges' weight"),
}
AGREEMENT = {
    "measure": "measure",
    "raters": "judges",
    **bounded("value", "value", "low", "high"),
    "n_units": _number("compared", format="localized", help="Systems × rubrics that count"),
}
VALIDITY = {
    "rubric": "rubric",
    "votes_for": _number("votes for", help="Judges who vote for the rubric"),
    "votes": _number("of", help="Judges with a vote"),
    "log_odds": _number(
        "log-odds",
        format="%.2f",
        help="Probability that the rubric is valid; each vote has its judge's weight",
    ),
    "p_valid": _number("Pr(valid)", format="percent"),
    "query": "query",
}
VOTED_FOR = VALIDITY | {
    "log_odds": _number("log-odds", format="%.2f", help="Each vote has its judge's weight"),
    "p_valid": _number(
        "Pr(voted for)", format="percent", help="Probability of the kind of rubrics that judges vote for"
    ),
}
INFLUENCE = {
    "judge": "without",
    "moved": _number("systems moved", help="Systems with another rank, by chance or not"),
    "lost": _number("pairs no longer separated", help="Of the pairs that all judges together separate"),
    "uncompared": _number(
        "pairs not compared",
        help="Of the same pairs, those with a system that is not ranked without the judge",
    ),
    "gained": _number("pairs newly separated", help="Pairs that all judges together do not separate"),
    "turned": _number("pairs turned", help="Separated with and without the judge, in opposite order"),
    "rho": _number("Spearman's ρ", format="%.3f", help="Between the abilities with and without the judge"),
    "kept": _number("same bank", format="percent", help="Share of the bank that is chosen again"),
    "tier_changes": _number(
        "pairs with another tier order", format="percent", help="Pairs whose tier order changes"
    ),
    "tiers": _number("tiers"),
    "note": "note",
}


POPULATION = (
    "The intervals are for other queries, answered by these systems. "
    "Other systems may be easier or harder to judge."
)
SYSTEM_CLICKED = "system clicked without each judge"
CLICK = "Click a mark to see below where its judge departs from the others."


def _judges(study: StudyPage) -> None:
    """Show the judges: their reliability and agreement, and what changes without each of them."""
    names, report = loaders.facts(study).judges, judges.report(study)
    found, agreed = report.reliability, report.agreement
    anchored, table = found.label_rates.source == "anchors", found.judges
    if len(names) == 2 and not anchored:
        study.answer(
            f"Two judges: κ = {numeral(agreed['value'].iloc[-1])}.",
            report.copies
            or report.opposed
            or "Where they differ, nothing shows which of them is wrong; a third judge or human labels would.",
        )
        st.caption(POPULATION)
        table_widgets.table(agreed, AGREEMENT)
        _leniency(study, table)
        departures.section(study, names)
    else:
        alpha = agreed.loc[agreed["measure"].str.startswith("Krippendorff"), "value"].iloc[0]
        shown = "unknown" if np.isnan(alpha) else f"= {numeral(alpha)}"
        study.answer(
            f"{count(len(names), 'judge')}, Krippendorff's α {shown}.",
            *filter(None, [report.copies, report.opposed or guessing_note(table)]),
            worst_sentence(table, found.label_rates),
        )
        st.caption(POPULATION)
        _rates(study, table, found.label_rates)
        _errors(study, agreed)
        departures.section(study, names)
        _validity(found)
    repeats.section(study)
    _influence(study)


def worst_sentence(table: pd.DataFrame, rates: JudgeRates) -> str:
    """A sentence on the judge who is shown to distinguish passes from fails worse than every other, if there is one.

    table: one row per judge. Passes and fails count equally, so if nearly all labels are passes, another judge may
    make more errors. Without human labels the likeliest labels replace the truth, and shared errors count as right.
    """
    if rates.source == "none":
        return (
            "How often each judge is right is unknown: without human labels, at least three judges must be shown to "
            f"tell passes from fails. {FEW_ANCHORS} human labels of passes and of fails would show it."
        )
    if rates.worst is None:
        return f"No judge is shown to tell {_classes_in_words(rates)} worse than every other."
    judge = table.iloc[rates.worst]
    of = "" if rates.source == "anchors" else "likely "
    return (
        f"{short_name(judge['judge'], 60)} tells {_classes_in_words(rates)} worst: right on "
        f"{rounded(judge['sensitivity'])} of {of}passes and {rounded(judge['specificity'])} of {of}fails."
    )


def _rates(study: StudyPage, table: pd.DataFrame, rates: JudgeRates) -> None:
    if rates.source == "none":
        _leniency(study, table)
    else:
        left, right = st.columns([3, 2], gap="large")
        with left:
            widgets.show(
                figures.judge_rates(table),
                "Sensitivity and specificity of each judge with intervals",
                "How often each judge is right",
                CLICK,
                departures.chooses(study, table["judge"]),
            )
            st.caption(
                (
                    "Measured against human labels."
                    if rates.source == "anchors"
                    else "Estimated without human labels (Dawid–Skene): errors that judges share count as right."
                )
                + " Each judge on the cells that it labelled: others may be easier or harder to judge."
            )
        with right:
            _leniency(study, table)
    _known(table, JUDGES, ("leniency", "kappa"))
    table_widgets.download("Download judges.csv", table, "judges.csv")


def _known(table: pd.DataFrame, columns: Mapping[str, Any], with_interval: Sequence[str]) -> None:
    """Show a table of judges, without columns that have no values."""
    shown = table.assign(**{name: _with_interval(table, name) for name in with_interval})
    table_widgets.table(shown, table_widgets.with_values(columns, table))


def _classes_in_words(rates: JudgeRates) -> str:
    """The words for what a judge must distinguish: "likely" without human labels, which alone show the truth."""
    return "passes from fails" if rates.source == "anchors" else "likely passes from likely fails"


def vote_note(table: pd.DataFrame, rates: JudgeRates) -> str:
    """A note if the judge who is worst at labels has the vote of most weight: why that is possible; else ""."""
    weight = table["weight"].to_numpy(dtype=np.float64)
    if rates.worst is None or np.isnan(weight).all() or rates.worst != np.nanargmax(weight):
        return ""
    name = short_name(table["judge"].iloc[np.nanargmax(weight)], 60)
    return (
        f"{name} tells {_classes_in_words(rates)} worst, yet its vote has the most weight. The first is about single "
        "labels; a vote is about a whole rubric (does the judge agree with the others on every system?). The weight "
        "counts only here, never for labels."
    )


def _leniency(study: StudyPage, table: pd.DataFrame) -> None:
    widgets.show(
        figures.leniency(table),
        "Leniency of each judge with intervals",
        "Leniency of the judges",
        CLICK if len(table) > 2 else "",
        departures.chooses(study, table["judge"]) if len(table) > 2 else None,
    )
    st.caption(
        "The intervals hold for all judges at once: one that excludes 0 shows a lenient or a strict judge."
    )


def _with_interval(table: pd.DataFrame, name: str) -> list[str]:
    bounds = table.reindex(columns=[name, f"{name}_low", f"{name}_high"]).to_numpy(dtype=np.float64)
    return [
        f"{numeral(v, 'z.3f')} {ends(low, high, 'z.3f')}" if np.isfinite(v) else UNKNOWN
        for v, low, high in bounds
    ]


def _errors(study: StudyPage, agreed: pd.DataFrame) -> None:
    """Show the correlations of the judges' errors, and the coefficients of agreement."""
    found, names = judges.report(study).reliability.correlation, loaders.facts(study).judges
    left, right = (
        st.columns([2, 3], gap="large") if len(names) <= FEW_COLUMNS else (st.container(), st.container())
    )
    with left:
        if found.reference == "none":
            st.markdown("**Are the judges' errors correlated?**")
            st.write("Unknown: estimating shared errors needs human labels or a fourth judge.")
        else:
            widgets.show(
                figures.error_correlation(found.correlation, found.flagged, names),
                "Correlation of the judges' errors, shared errors starred",
                "Are the judges' errors correlated?",
                CLICK,
                departures.chooses(study, names),
            )
            st.caption(shared_errors_note(effective_judges(found)))
    with right:
        st.markdown("**Agreement beyond chance**")
        table_widgets.table(agreed, AGREEMENT)
        table_widgets.download("Download agreement.csv", agreed, "agreement.csv")


def _validity(found: JudgeReliability) -> None:
    """Show the validity of each rubric inferred from the judges' votes on whole rubrics (prop:bayes)."""
    rates, table = found.vote_rates, found.validity
    st.markdown("**Which rubrics are valid, by the judges' votes?**")
    said = votes_note(table["p_valid"].to_numpy(), rates)
    if rates.source == "none":
        st.write(said)
        return
    st.caption(
        f"A judge votes for a rubric if it agrees with the others on every system. {said} Measurability is a different "
        "quantity: a rate."
    )
    if note := independence_note(effective_judges(found.correlation)):
        st.warning(note)
    st.caption(
        "How well each judge's votes tell valid rubrics from others, and how much its vote weighs. This is not about "
        "its labels of systems."
    )
    _known(found.judges, VOTES, ("s_plus", "s_minus"))
    if vote := vote_note(found.judges, found.label_rates):
        st.caption(plain(vote))
    shown = VALIDITY if rates.source == "anchors" else VOTED_FOR
    table_widgets.table(table.sort_values("log_odds", kind="stable"), shown, rows=6)
    table_widgets.download("Download validity.csv", table, "validity.csv")


def _influence(study: StudyPage) -> None:
    """Show the leaderboard without each judge in turn, computed when the user asks for it."""
    st.markdown("**What changes if a judge is removed?**")
    asked = f"influence {study.fingerprint} {study.settings}"
    if not st.session_state.get(asked):
        st.write("Consensus, gate, fit, bank and tiers are recomputed without each judge in turn.")
        if not st.button("Remove each judge in turn"):
            return
    if (system := st.session_state.pop(SYSTEM_CLICKED, None)) is not None:
        open_profile(system)
    found = judges.influence(study)
    st.session_state[asked] = True

    def clicked(cell: widgets.Mark) -> None:
        st.session_state[SYSTEM_CLICKED] = figures.by_rank(found.systems)[int(cell.y)]

    if said := influence_sentence(found):
        st.write(plain(said))
    table_widgets.table(found.judges, INFLUENCE)
    if len(found.systems):
        widgets.show(
            figures.ranks_without(found.systems),
            "Places that each system gains or loses without each judge",
            look="Click a cell to open its system's profile.",
            on_click=clicked,
        )
        st.caption(
            "Places gained (+) or lost (−) on a leaderboard without that judge. Systems that are not separated may "
            "change places by chance."
        )
        table_widgets.download("Download without_each_judge.csv", found.systems, "without_each_judge.csv")


REWRITE = "What to rewrite"
SECTIONS: dict[str, Callable[[StudyPage], None]] = {
    "Judges": _judges,
    REWRITE: rewrite.section,
    "Agreement against coverage": judges_rules.coverage,
    "As leaderboards grow": judges_rules.growth,
    "Baseline": judges_rules.baseline,
}


def show(view: str, study: StudyPage, *, off: bool) -> None:
    """Show one view. off: whether no cell has labels of two judges, so that the view is replaced by an explanation."""
    if off:
        n = len(loaders.facts(study).judges)
        who = "One judge" if n == 1 else f"{n} judges who never labelled the same"
        study.answer(f"{who}: there is nothing to compare, so this is unknown.")
        st.info("Add the labels of a second and a third judge on the same answers.")
        if view == REWRITE:
            rewrite.texts(study)
        if view == "Judges":
            repeats.section(study)
        return
    SECTIONS[view](study)
