"""The forest plot, the profile of the chosen system and the further views; a click redraws only these."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from ...figures import leaderboard as figures
from .. import state, widgets
from ..charts import drawn
from ..parts import part
from ..settings_bar import basis_name
from ..text import count, plain, shorten
from . import profile, sections
from .view import choose, filters, view_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from ...analysis.claims import Claims
    from ..page import StudyPage
    from .view import View

MOST_ROWS = 40  # systems in the forest plot


def show(study: StudyPage, write_claims: Callable[[], Claims]) -> None:
    """Show the part of the page that a click on a system changes. write_claims: called for the chart."""
    part("board", partial(_show, study, write_claims), ())


def _show(study: StudyPage, write_claims: Callable[[], Claims]) -> None:
    view = view_of(study.now())
    keep = filters(view)
    _warn_of_unknown_systems(view)
    system = state.held_system(state.SYSTEM, view.systems)
    if system is None and (alone := st.query_params.get(state.VERSUS)) in view.systems:
        state.ignore(f"{state.VERSUS}={alone} (there is no system to compare it with)")
        state.warn_of_ignored_parameters()
        state.hold_system(state.VERSUS, None)
    others = [name for name in view.systems if name != system]
    if system and state.unknown_system(state.VERSUS, others) == system:
        state.ignore(f"{state.VERSUS}={system} (it is the system itself)")
        state.warn_of_ignored_parameters()
    versus = state.held_system(state.VERSUS, others if system else ())
    shown = view.table[keep].reset_index(drop=True)
    if len(shown) < len(view.table):
        st.caption(
            f"{len(shown):,} of {count(len(view.table), 'system')} shown; places are among all of them."
        )
    if shown.empty:
        write_claims()
        st.info("No system fits these filters.")
        return
    left, right = st.columns([11, 7], gap="medium") if system else (st.container(), st.container())
    with left:
        _forest(view, shown, system)
        said = write_claims()
        st.caption(plain(f"How to read it: {' '.join(said.reading)}"))
        if said.beside:
            st.caption(plain(f"Other rankings: {' '.join(said.beside)}"))
        if system:
            profile.lead_to(system, "below")
    if system:
        with right:
            profile.card(view, system, versus)
        profile.details(view, system, versus)
    table = partial(sections.table, view, shown, system)
    rest = {name: partial(section, view, shown, system) for name, section in sections.of(view).items()}
    widgets.lazy_tabs({"Table": table, **rest}, key="more")


def _warn_of_unknown_systems(view: View) -> None:
    for name in (state.SYSTEM, state.VERSUS):
        if (asked := state.unknown_system(name, view.systems)) is not None:
            st.warning(f"No ranked system is called “{plain(shorten(asked, 80))}”.")


def _forest(view: View, shown: pd.DataFrame, system: str | None) -> None:
    """Forest plot in tier bands; of more than MOST_ROWS systems a window around the chosen one, below all as a line."""
    names = shown["system"].tolist()
    at = names.index(system) if system in names else None
    if len(names) > MOST_ROWS:
        widgets.show(
            drawn(
                figures.everybody,
                names,
                view.estimate(shown),
                at,
                shown["rank"].tolist() if view.claims else None,
                title=view.what,
            ).laid_out(dragmode="pan"),
            f"{view.what} of all systems shown",
            on_click=lambda mark: choose(names[mark.number]),
        )
    within = figures.window(len(names), at, MOST_ROWS)
    rows = shown.iloc[within]
    second, titles = _second(view, rows)
    widgets.show(
        drawn(
            figures.forest,
            names[within],
            view.estimate(rows),
            figures.tier_names(rows) if view.claims else None,
            second,
            names=titles,
            chosen=None if at is None else at - within.start,
            title=view.what,
        ).laid_out(dragmode="pan"),
        f"{view.what} with intervals" + (" in tier bands" if view.claims else ""),
        on_click=lambda mark: choose(names[within.start + mark.number]),
    )
    which = (
        ""
        if len(rows) == len(names)
        else f"Systems {within.start + 1:,} to {within.stop:,} of {len(names):,}. For the others click a point of the "
        "chart above or a row of the table, or find them by name. "
    )
    how = "Bars: intervals of each system alone." if view.claims else "Sorted by name: no order is claimed."
    st.caption(f"{which}Click a mark or a row of the table to see why a system stands where it does. {how}")


def _second(view: View, rows: pd.DataFrame) -> tuple[figures.Estimate | None, tuple[str, str]]:
    """The estimates on all rubrics that pass, for hollow marks, and the names of both bases.

    (None, ("", "")) if the ranking rests on these rubrics or on scores, or the user turned the marks off.
    """
    study = view.study
    if study.settings.basis == "all" or view.board.by_score:
        return None, ("", "")
    if not st.session_state.get("beside", True):
        return None, ("", "")
    other = study.ranking_on(study.pool).table.set_index("system").loc[rows["system"]].reset_index()
    return view.estimate(other), (
        basis_name(study.settings, "bank"),
        basis_name(study.settings, "all"),
    )
