"""The parts of the Bank page, each for one question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from ...analysis.bank_value import FARTHEST, LARGEST, curve_sentences, worth_sentences
from ...analysis.gaps import find_gaps, gap_sentences
from ...analysis.held_out import tested_size, untested
from ...analysis.selection import query_positions
from ...analysis.warnings import fit_warnings
from ...errors import AssemblyError
from ...figures import bank as figures
from ...irt.information import item_information
from ...settings import objective
from ...text import at_least
from .. import loaders, settings_bar, table_widgets, widgets
from ..charts import drawn
from ..parts import redraw
from ..text import count, plain

if TYPE_CHECKING:
    from ...analysis.bank_value import FARTHEST, LARGEST, WorthCurve
    from ...bank.worth import Worth
    from ...irt.fit import IrtFit
    from ...types import FloatArray, IntArray
    from ..page import StudyPage

CLICK = "Click a point to set B to its size."


def worth_by_size(study: StudyPage) -> None:
    """Chart of how well banks of each size separate held-out systems; it does not depend on the budget B."""
    if (curve := study.worth(bank=False, largest=_largest())) is not None:
        worth_chart(study, curve)


def enough(study: StudyPage) -> None:
    """The answer to the page's question: how well a bank of the present size separates held-out systems."""
    answer(study, study.worth(largest=_largest()))
    marks = bool(study.given().pass_marks)
    widgets.notes(fit_warnings(study.calibration(), study.candidates, study.settings, at_pass_marks=marks))


def _largest() -> int:
    """The size of the largest bank that is tested; from the page's address before its switch is drawn."""
    larger = st.session_state.get("larger", st.query_params.get("larger") == "true")
    return FARTHEST if larger else LARGEST


def answer(study: StudyPage, worth: WorthCurve | None) -> None:
    """Answer the page's question: what the bank keeps of the separations of held-out systems.

    worth: None if it was not tested.
    """
    size = len(study.bank())
    if not (verdict := study.verdict()).holds:
        study.answer(verdict.sentence)
        return
    if worth is None:
        study.answer(
            f"A bank of {size:,} of {count(int(study.candidates.sum()), 'rubric')} that can be chosen.",
            untested(study),
        )
        return
    held_out = tested_size(study, worth)
    first, second = worth_sentences(worth, held_out)
    study.answer(first, second)
    held = study.bank_masks().sum(axis=1)
    if held.min() < size and worth.at(held_out)[0].separated:
        some = (
            f"{held.min():,}" if held.min() == held.max() else f"{held.min():,} to {held.max():,}, by system,"
        )
        st.caption(
            f"The bank has {count(size, 'rubric')}. Without the labels of the systems held out, {some} can be chosen: "
            "each system is placed on the largest bank that can be tested."
        )


def worth_chart(study: StudyPage, worth: WorthCurve) -> None:
    """Chart of the separations kept by bank size, with random banks; nothing is drawn if no pair is separated."""
    if not any(size.separated for size in worth.chosen):
        return
    widgets.show(
        drawn(
            figures.worth_curve,
            worth.sizes,
            _kept(worth.chosen),
            _kept(worth.random),
            len(study.bank()),
            worth.least(),
        ),
        alt="Share of separated pairs that banks of each size keep, this bank and random ones",
        title="What the bank keeps for a system that it has not seen",
        look=f"{plain(curve_sentences(worth, study.settings.confidence))} {CLICK}",
        on_click=_to_size,
    )
    if study.pool.sum() > LARGEST and study.settings.composition is None:
        widgets.toggle(
            f"Also try banks of more than {LARGEST} rubrics",
            "larger",
            on_change=redraw,
            args=("larger",),
            help=f"Up to {FARTHEST:,} rubrics. Each new threshold then takes several times as long.",
        )


def _to_size(mark: widgets.Mark) -> None:
    """Set the budget to the bank size that was clicked."""
    settings_bar.take_budget(int(mark.x))


def _kept(worths: tuple[Worth, ...]) -> FloatArray:
    return np.array([(w.kept.estimate, w.kept.low, w.kept.high) for w in worths])


def price(study: StudyPage) -> None:
    """Figures of the cost of a new system: judge calls on the bank and on all rubrics."""
    positions = query_positions(study.queries(), study.reduction())
    bank, each = study.bank(), study.reduction().labels_per_cell
    theta = study.calibration().fit.theta
    middle = np.median(theta[np.isfinite(theta)])
    fit = study.calibration().fit
    error = item_information(fit, np.array([middle]))[0][bank].sum() ** -0.5
    widgets.figures_row(
        {
            "Rubrics": f"{len(bank):,}",
            "Queries covered": f"{len(np.unique(positions[bank])):,} of {len(study.queries()):,}",
            "Judge calls": f"{len(bank) * each:,}",
            "Judge calls, all rubrics": f"{len(positions) * each:,}",
            "SE(θ), bank": f"{error:.2f}",
        },
        {
            "Rubrics": f"Of {int(study.candidates.sum()):,} that can be chosen",
            "Judge calls": f"For a new system: the rubrics of the bank, with {study.reduction().labels_of_each}",
            "SE(θ), bank": f"Standard error of the median system's ability by the model alone. {OPTIMISTIC}",
        },
    )


OPTIMISTIC = (
    "The standard error of a new system is often larger: rubrics look more informative on the labels that chose "
    "them."
)


def information(study: StudyPage) -> None:
    """Test information of the bank and of the pool."""
    calibration, totals = study.calibration(), loaders.totals(study)
    widgets.show(
        drawn(figures.information_totals, calibration.nodes, totals, calibration.fit.theta),
        alt="Test information of the bank and of all rubrics that pass",
        title="Test information",
    )


def standard_error(study: StudyPage) -> None:
    """SE(θ) on the bank and on the pool, by the model alone."""
    calibration, totals = study.calibration(), loaders.totals(study)
    widgets.show(
        drawn(figures.standard_errors, calibration.nodes, totals, calibration.fit.theta),
        alt="Standard error of ability, bank and all rubrics that pass",
        title="SE(θ) by the model alone",
        look=OPTIMISTIC,
    )
    if note := little_information(calibration.fit, study.bank()):
        st.caption(note)


def little_information(fit: IrtFit, bank: IntArray) -> str:
    """A sentence on systems at whose abilities the bank has an SE(θ) above 1, the prior's; "" if there are none."""
    theta = fit.theta[np.isfinite(fit.theta)]
    little = int((item_information(fit, theta)[:, bank].sum(axis=1) < 1).sum())
    if not little:
        return ""
    return (
        f"At the abilities of {little:,} of {count(len(theta), 'system')} the bank's SE(θ) is above 1, the standard "
        "deviation of the prior of θ: there the bank tells less about a system than the prior does."
    )


def coverage(study: StudyPage) -> None:
    """Chart of the numbers of rubrics per query, in the bank and in the pool."""
    positions = query_positions(study.queries(), study.reduction())
    bank, pool = (
        np.bincount(positions[r], minlength=len(study.queries())) for r in (study.bank(), study.pool)
    )
    widgets.show(
        drawn(figures.query_coverage, bank, pool),
        alt="Queries by the number of their rubrics in the bank",
        title="Rubrics per query",
    )


GAPS: dict[str, Any] = {
    "query": "query",
    "passing": st.column_config.NumberColumn("that pass and vary"),
    "rubrics": st.column_config.NumberColumn("rubrics"),
    "text": st.column_config.TextColumn("text", width="large"),
}
DIMENSIONS: dict[str, Any] = {
    "dimension": "dimension",
    "bank": st.column_config.NumberColumn("in the bank"),
    "passing": st.column_config.NumberColumn("that pass and vary"),
    "rubrics": st.column_config.NumberColumn("rubrics"),
}


def gaps(study: StudyPage) -> None:
    """Show the queries, abilities and dimensions for which rubrics are missing in the bank."""
    reduction, queries, bank = study.reduction(), study.queries(), study.bank()
    positions = query_positions(queries, reduction)
    found = find_gaps(
        positions,
        len(queries),
        reduction.rubrics["dimension"].tolist(),
        study.pool,
        bank,
        study.calibration().nodes,
        study.curves()[1][:, bank].sum(axis=1),
        study.calibration().fit.theta,
    )
    for sentence in gap_sentences(found, len(queries)):
        st.markdown(plain(sentence))
    both = len(found.missing) and not found.dimensions.empty
    left, right = st.columns([3, 2], gap="large") if both else (st.container(), st.container(width=560))
    with left:
        if len(found.missing):
            counts = {
                "passing": np.bincount(positions[study.pool], minlength=len(queries)),
                "rubrics": np.bincount(positions, minlength=len(queries)),
            }
            table = (
                queries[["query", "text"]]
                .assign(**counts)
                .iloc[found.missing]
                .sort_values("passing", kind="stable")
            )
            st.markdown("**Queries without a rubric in the bank**")
            table_widgets.table(table, GAPS, rows=8)
            table_widgets.download("Download gaps.csv", table, "gaps.csv")
    with right:
        if not found.dimensions.empty:
            st.markdown("**Rubrics by dimension**")
            table_widgets.table(found.dimensions, DIMENSIONS, rows=15)
    if not study.gating().off:
        st.caption("For rubrics to rewrite, see What to rewrite on Measurability.")


def certificate(study: StudyPage) -> None:
    """Show how close the bank is to the best possible one of its size, in utility; not a statement about accuracy."""
    what = objective(study.settings.strategy)
    st.caption(
        f"The bank reaches {at_least(study.certificate())} of the {what} of the best possible bank of its "
        "size. This bounds the loss by the greedy order; it says nothing about accuracy on new systems."
    )
    left, right = st.columns(2, gap="large")
    with left:
        share = study.coverage()
        widgets.show(
            drawn(figures.gain_curve, share, study.certificates()[: len(share)], len(study.bank())),
            alt="Share of the whole pool's utility by bank size, with the proven bound",
            title=f"Share of the pool's {what}",
            look=CLICK,
            on_click=_to_size,
        )
    with right:
        shares, missing = {}, []
        for name, words in settings_bar.STRATEGIES.items():
            try:
                shares[words] = study.coverage(name)
            except AssemblyError as error:
                missing.append(f"{words}: {error}")
        widgets.show(
            drawn(figures.strategies, shares, len(study.bank())),
            alt="The same share for other strategies",
            title="Compared with other strategies",
            on_click=_to_size,
        )
        widgets.notes(missing)


SECTIONS = {
    "Information": information,
    "SE(θ)": standard_error,
    "Queries": coverage,
    "Gaps": gaps,
    "Certificate": certificate,
}
