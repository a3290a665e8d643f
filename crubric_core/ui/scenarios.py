"""Scenarios: save them from the side bar; open, rename, delete and compare them on the Scenarios page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from ..access import current_role
from ..analysis.fitted import with_rules
from ..analysis.scenarios import (
    Change,
    Outcome,
    change_sentences,
    compare,
    figures_table,
    outcome_of,
)
from ..declarations import choice_words
from ..errors import CrubricError
from ..labels.store.scenarios import (
    LONGEST,
    Scenario,
    delete_scenario,
    list_scenarios,
    rename_scenario,
    save_scenario,
)
from ..priors import C_PRIOR as C_PRIOR_SWITCH
from ..settings import SPECS
from . import loaders, state, table_widgets
from .settings_address import C_PRIOR, PRIORS, differing
from .text import count, plain, short_names, shorten, verb

if TYPE_CHECKING:
    from ..settings import Settings
    from ..types import IntArray

FILTERS = ("search", "bar", "which", "items", "find", "tiers", "view")
"""Parameters of the address that filter what a page shows, in addition to those for columns of facts."""
REPLACE = "Replace one of this name"
NAME, OVER, TOLD = "scenario name", "scenario replace", "scenario told"
AS_SHOWN = "as the pages show it now"
RUBRICS: dict[str, Any] = {
    "rubric": "rubric",
    "query": "query",
    "text": st.column_config.TextColumn("text", width="large"),
}


def why_not_saved() -> str:
    """The reason why no scenario can be saved, "" if it can."""
    if current_role() != "editor":
        return "Only editors can save, rename and delete scenarios; you can open and compare existing ones."
    if loaders.workspace().read_only:
        return (
            "This workspace is read-only, because this user or this disk cannot write it. Scenarios can be opened and "
            "compared, but not saved."
        )
    return ""


def scenarios_of(study: loaders.Study) -> tuple[Scenario, ...]:
    """The scenarios of the study's dataset, sorted by name."""
    return list_scenarios(loaders.workspace(), study.dataset.name)


def offer_to_save(dataset: str, page: str) -> None:
    """Show a form in the side bar that saves the settings and this page's filters under a name."""
    with st.sidebar.popover("Save as a scenario", width="stretch"):
        if why := why_not_saved():
            st.write(why)
            return
        st.caption("Keeps the settings, and the filters of this page, under a name in the workspace.")
        with st.form("save scenario", border=False):
            st.text_input("Name", max_chars=LONGEST, key=NAME)
            st.checkbox(REPLACE, key=OVER)
            st.form_submit_button("Save", on_click=_save, args=(dataset, page))
        show, text = st.session_state.pop(TOLD, (None, ""))
        if show is not None:
            show(plain(text))


def _save(dataset: str, page: str) -> None:
    """Callback: save the scenario under the typed name; if that fails, the name stays in the form."""
    name, over = st.session_state[NAME], st.session_state[OVER]
    filters = {
        key: tuple(st.query_params.get_all(key))
        for key in st.query_params
        if key in FILTERS or key.startswith(state.FACT)
    }
    made = Scenario(name, shown_settings(dataset), page, filters)
    try:
        save_scenario(loaders.workspace(), dataset, made, replace=over)
    except CrubricError as error:
        st.session_state[TOLD] = st.error, str(error).replace("(--replace)", f"(“{REPLACE}”)")
    else:
        st.session_state.update({TOLD: (st.success, f"Saved as “{name.strip()}”."), NAME: "", OVER: False})


def shown_settings(dataset: str) -> Settings:
    """The settings under which the pages now show the dataset, including its composition."""
    return replace(state.held(), composition=state.held_composition(dataset))


def listing(scenarios: tuple[Scenario, ...]) -> pd.DataFrame:
    """One row per scenario: name, settings in words, page, filters, saved_at."""
    rows = [
        {
            "name": s.name,
            "settings": s.fault if s.settings is None else _description(s.settings),
            "page": s.page.replace("_", " "),
            "filters": "; ".join(
                f"{choice_words(key.removeprefix(state.FACT))}: {', '.join(values)}"
                for key, values in s.filters.items()
            ),
            "saved_at": s.saved_at,
        }
        for s in scenarios
    ]
    return pd.DataFrame(rows, columns=["name", "settings", "page", "filters", "saved_at"])


def _description(settings: Settings) -> str:
    parts = [f"{_title(name)}: {choice_words(value)}" for name, value in differing(settings).items()]
    parts += ["bank composed by hand"] if settings.composition is not None else []
    parts += ["scoring rules of its own"] if settings.rules is not None else []
    return "; ".join(parts) or "the defaults"


def _title(name: str) -> str:
    """The title on the pages of a setting, given its name in an address."""
    spec = SPECS.get(name) or PRIORS.get(name) or {C_PRIOR: C_PRIOR_SWITCH}.get(name)
    return name if spec is None else spec.title


LISTING: dict[str, Any] = {
    "name": "scenario",
    "settings": st.column_config.TextColumn("settings that are not the default", width="medium"),
    "page": "page",
    "filters": "filters",
    "saved_at": st.column_config.DatetimeColumn("saved (UTC)", format="YYYY-MM-DD HH:mm"),
}


def manage(study: loaders.Study, scenarios: tuple[Scenario, ...]) -> None:
    """Show the table of scenarios, and controls to open, rename or delete the chosen one."""
    at = table_widgets.pick_one(listing(scenarios), LISTING, key="scenarios", rows=8)
    if at is None:
        return
    chosen, why = scenarios[at], why_not_saved()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label = f"Open “{plain(shorten(chosen.name, 40))}”"
        if st.button(
            label, type="primary", disabled=chosen.settings is None, key=f"open scenario {chosen.name}"
        ):
            _open(study.dataset.name, chosen)
        if not why:
            with st.popover("Rename …"):
                _rename(study.dataset.name, chosen)
            with st.popover("Delete …"):
                _delete(study.dataset.name, chosen)
    if why:
        st.caption(plain(why))


def _open(dataset: str, chosen: Scenario) -> None:
    """Restore the settings, composition and filters of a scenario, and switch to the page where it was saved."""
    if chosen.settings is None:
        return
    state.hold_composition(dataset, chosen.settings.composition)
    state.hold_settings(replace(chosen.settings, composition=None))
    for search in (state.SEARCH, state.FIND, state.BAR):
        state.hold_words(search, next(iter(chosen.filters.get(search, ())), ""))
    page = loaders.PAGES / f"{chosen.page or 'leaderboard'}.py"
    if not page.is_file():
        page = loaders.PAGES / "leaderboard.py"
    given = [(key, value) for key, values in chosen.filters.items() for value in values]
    st.switch_page(page, query_params=given)


def _rename(dataset: str, chosen: Scenario) -> None:
    new = st.text_input("New name", chosen.name, max_chars=LONGEST, key=f"rename {chosen.name}")
    if st.button("Rename", key=f"rename scenario {chosen.name}"):
        rename_scenario(loaders.workspace(), dataset, chosen.name, new)
        st.rerun()


def _delete(dataset: str, chosen: Scenario) -> None:
    st.write("The settings are deleted; labels and results stay.")
    if st.button("Delete it", type="primary", key=f"delete scenario {chosen.name}"):
        delete_scenario(loaders.workspace(), dataset, chosen.name)
        st.rerun()


def ask_two(
    scenarios: tuple[Scenario, ...], held: Settings
) -> tuple[tuple[str, Settings], tuple[str, Settings]]:
    """Ask which two scenarios to compare, as (name, settings) each; the present settings are one choice.

    held: the present settings.
    """
    saved = {s.name: s.settings for s in scenarios if s.settings is not None}
    shown = AS_SHOWN if AS_SHOWN not in saved else f"{AS_SHOWN} (not saved)"
    every = {shown: held, **saved}
    names = list(every)
    # The address leaves out the first choice, so the first one is the choice that can never be a saved scenario.
    if not {"first", "second"} & {*st.session_state, *st.query_params}:
        usual = {"first": names[:2][-1], "second": names[2] if len(names) > 2 else shown}
        st.session_state.update(usual)
        st.query_params.update(usual)
    chosen = []
    for side, title, key in zip(st.columns(2), ("From", "To"), ("first", "second"), strict=True):
        state.check_choices(key, names)
        chosen.append(side.selectbox(title, names, key=key, bind="query-params"))
    first, second = chosen
    return (first, every[first]), (second, every[second])


def outcome(study: loaders.Study, name: str, settings: Settings) -> Outcome:
    """The outcome of these settings on the study's dataset; its stages are shared with the other pages.

    name: of the scenario.
    """
    most = max(len(study.given().rubrics), 2)
    asked = replace(with_rules(study.dataset, settings), budget=min(settings.budget, most))
    return outcome_of(
        name, loaders.Study(dataset=study.dataset, fingerprint=study.fingerprint, settings=asked)
    )


def show_change(study: loaders.Study, first: Outcome, second: Outcome) -> None:
    """Show two outcomes side by side: figures, places, and the rubrics that enter and leave the bank."""
    change = compare(first, second)
    for sentence in change_sentences(change):
        st.markdown(plain(sentence))
    figures = figures_table(first, second)
    one, other = short_names([first.name, second.name], 30)
    # st.table wraps its cells, while other tables cut them: on a phone both columns are visible.
    sides = figures.set_index("figure").set_axis([plain(one), plain(other)], axis=1)
    st.table(sides.map(plain).rename(index=plain))
    table_widgets.download("Download comparison.csv", figures, "comparison.csv")
    _show_places(change)
    left, right = st.columns(2, gap="large")
    with left:
        _show_rubrics(study, f"Enter the bank ({len(change.entering):,})", change.entering, "entering.csv")
    with right:
        _show_rubrics(study, f"Leave the bank ({len(change.leaving):,})", change.leaving, "leaving.csv")


def _show_places(change: Change) -> None:
    if change.first.refused or change.second.refused:
        return
    st.markdown("**Tiers and ranks**")
    only = st.toggle("Only systems that change", value=not change.moved.empty, key="only changes")
    names = dict(
        zip(
            ("first", "second"),
            short_names([change.first.name, change.second.name], 20),
            strict=True,
        )
    )
    columns = {
        f"{what}_{side}": st.column_config.NumberColumn(f"{title}, {name}", format=style)
        for what, title, style in (("tier", "tier", "%d"), ("rank", "rank", "%d"), ("theta", "θ", "%.2f"))
        for side, name in names.items()
    }
    table_widgets.table(change.moved if only else change.places, {"system": "system", **columns})
    scales = " Different response models have different scales of θ: compare it only within a column."
    st.caption(
        "Ranks move with any change of settings; the Leaderboard says which systems are separated."
        + (scales if change.first.settings.model != change.second.settings.model else "")
    )


def _show_rubrics(study: loaders.Study, title: str, positions: IntArray, file: str) -> None:
    st.markdown(f"**{title}**")
    rows = study.reduction().rubrics.iloc[positions][["rubric", "query", "text"]]
    if rows.empty:
        st.write("None.")
        return
    table_widgets.table(rows, RUBRICS, rows=8)
    table_widgets.download(f"Download {file}", rows, file)


def answer(scenarios: tuple[Scenario, ...], dataset: str) -> str:
    """The page's first line."""
    if not scenarios:
        return f"{dataset}: no scenario is saved yet."
    return f"{dataset}: {count(len(scenarios), 'scenario')} {verb(len(scenarios), 'are')} saved."
