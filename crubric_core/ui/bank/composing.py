"""Compose the bank by hand: pin, exclude and swap rubrics, set bounds for groups, set costs."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from ...analysis.bank_value import composed_sentence
from ...analysis.composition import by_id, group_of, read_costs
from ...analysis.tables import bank_table
from ...bank.swaps import replacements
from ...composition import ATTRIBUTES, Attribute, Composition, Limit
from ...errors import CrubricError
from ...files import json_bytes
from .. import state, table_widgets, tables
from ..text import UNKNOWN, count, numeral, plain, short_name, short_names, shorten

if TYPE_CHECKING:
    from ...types import BoolArray, IntArray
    from ..page import StudyPage

ROWS = ("In the bank", "All that pass and vary")
COSTS = {"one": "1", "text": "the number of characters of its text", "given": "the cost in a CSV file"}
ANEW = (
    "Pinned and swapped-in rubrics come first. The others are then chosen anew, so more rubrics than these may "
    "change."
)
MARKS: dict[str, Any] = {
    "pin": st.column_config.CheckboxColumn("pin", help="Always in the bank", width="small"),
    "exclude": st.column_config.CheckboxColumn("exclude", help="Never in the bank", width=100),
}


def held(study: StudyPage) -> Composition:
    """The present composition; an empty one if the settings have none."""
    return study.settings.composition or Composition()


def hold(study: StudyPage, composition: Composition) -> None:
    """Use this composition from now on, and rerun the whole page."""
    state.hold_composition(study.dataset.name, composition)
    st.rerun()


def working_table(study: StudyPage, found: BoolArray) -> None:
    """Show the bank's rubrics, or all that pass and vary, with boxes to pin and exclude; always the excluded ones.

    found: (J,) rubrics that match the search.
    """
    which = st.segmented_control("Rubrics shown", ROWS, default=ROWS[0], key="bank rows", required=True)
    every = _rows(study, whole=which == ROWS[1])
    frame = every[found[every["number"]]].reset_index(drop=True)
    key = f"working table {_fingerprint(study, which or '', frame)}"
    columns = {**MARKS, **table_widgets.with_values(tables.BANK, every)}
    even, shown = table_widgets.even_percentages(frame, columns)
    even, shown = table_widgets.narrow_names(even, shown)
    st.data_editor(
        even,
        column_order=list(shown),
        column_config=shown,
        disabled=list(tables.BANK),
        placeholder=UNKNOWN,
        hide_index=True,
        height=table_widgets.height(frame, 9),
        key=key,
        alt="The bank. Space ticks a box",
        on_change=_marked,
        args=(study, frame["id"].tolist(), key),
    )
    table_widgets.caption_columns_left_out(tables.BANK, columns)


def _rows(study: StudyPage, *, whole: bool) -> pd.DataFrame:
    """The rows of the working table: the bank in its order, then the other rubrics.

    pin, exclude: as in the present composition. number: index of the rubric in the study. whole: with all rubrics that
    pass and vary.
    """
    order, composition = study.order(), held(study)
    rubrics, ids = study.reduction().rubrics, np.array(study.ids(), dtype=object)
    bank = study.bank()
    others = np.isin(ids, composition.never)
    if whole:
        others |= study.pool
    others[bank] = False
    chosen = bank_table(study.reduction(), study.calibration(), order, study.settings, study.ids())
    rest = rubrics.iloc[np.flatnonzero(others)].assign(id=ids[others])
    frame = pd.concat([chosen, rest[["rubric", "query", "text", "id"]]], ignore_index=True)
    return frame.assign(
        pin=frame["id"].isin(composition.always),
        exclude=frame["id"].isin(composition.never),
        number=np.concatenate([bank, np.flatnonzero(others)]),
    )


def _fingerprint(study: StudyPage, *parts: object) -> str:
    """Hash of the table's content for the widget's key, so that edits of one table never apply to another."""
    said = repr(
        (
            study.fingerprint,
            study.settings,
            *(p["id"].tolist() if isinstance(p, pd.DataFrame) else p for p in parts),
        )
    )
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _marked(study: StudyPage, ids: list[str], key: str) -> None:
    """Callback: apply ticked and unticked boxes to the composition."""
    composition = held(study)
    for row, edits in st.session_state[key]["edited_rows"].items():
        for mark, on in edits.items():
            composition = composition.marked(ids[int(row)], mark, on=bool(on))
    hold(study, composition)


def swap(study: StudyPage) -> None:
    """Choose a rubric of the bank and a replacement, with the change of the utility for each."""
    rubrics, bank = study.reduction().rubrics, study.bank()
    names, ids = rubrics["rubric"].map(str).tolist(), study.ids()
    place = {int(j): i for i, j in enumerate(bank, start=1)}
    left, right = st.columns([1, 2], gap="medium")
    inside = dict(zip(place, short_names([names[j] for j in place], 40), strict=True))
    out = left.selectbox(
        "Swap out",
        bank.tolist(),
        index=None,
        format_func=lambda j: f"#{place.get(j, 0)} {inside[j]}",
        placeholder="a rubric of the bank",
        key="swap out",
    )
    if out is None or out not in place:
        right.caption("Choose a rubric to see what would best take its place.")
        return
    asked = study.constraints()
    if asked is not None and asked.pinned[out]:
        right.caption("This rubric is pinned, so it stays: untick its pin to swap it.")
        return
    allowed = study.pool if asked is None else study.pool & ~asked.excluded
    best = replacements(study.utility(), bank, out, allowed, asked)
    if not best.rubrics.size:
        right.caption("No other rubric keeps all bounds in its place.")
        return
    change = dict(zip(best.rubrics.tolist(), best.change.tolist(), strict=True))
    offered = dict(zip(change, short_names([names[j] for j in change], 60), strict=True))
    into = right.selectbox(
        "Swap in, the best first, with the change of the utility if nothing else changes",
        list(change),
        format_func=lambda j: f"{offered[j]} ({numeral(change[j], '+z.5f')})",
        key=f"swap in {out}",
    )
    st.caption(f"Out: {plain(_text(rubrics, out))}")
    st.caption(f"In: {plain(_text(rubrics, into))}")
    st.caption(ANEW)
    st.button("Swap", on_click=_swap, args=(study, ids[out], ids[into]))


def _text(rubrics: pd.DataFrame, j: int) -> str:
    """The rubric's name with its text, if it has one: many rubrics may share a name."""
    name, text = (rubrics[column].iloc[j] for column in ("rubric", "text"))
    return short_name(str(name), 60) + ("" if pd.isna(text) else f": {shorten(str(text), 300)}")


def _swap(study: StudyPage, out: str, into: str) -> None:
    hold(study, held(study).swapped(out, into))


def bounds(study: StudyPage) -> None:
    """Show the bounds on numbers of rubrics by group; add or remove bounds."""
    composition = held(study)
    for position, limit in enumerate(composition.limits):
        sides = [f"at least {limit.at_least}"] if limit.at_least else []
        sides += [] if limit.at_most is None else [f"at most {limit.at_most}"]
        line, remove = st.columns([5, 1], vertical_alignment="center")
        line.write(plain(f"{' and '.join(sides) or 'no bound'} of {limit.words}"))
        remove.button("Remove", key=f"remove bound {position}", on_click=_unbound, args=(study, position))
    by_place, which, least, most, add = st.columns([2, 3, 2, 2, 1], vertical_alignment="bottom")
    by = by_place.selectbox(
        "Group", ATTRIBUTES, format_func=lambda name: name.replace("_", " "), key="bound by"
    )
    value = which.selectbox(
        "Which", _groups(study, by), index=None, placeholder="each of them", key=f"bound value {by}"
    )
    low = least.number_input("At least", 0, None, 0, key="bound least")
    high = most.number_input("At most", 0, None, None, placeholder="any", key="bound most")
    add.button(
        "Add",
        on_click=_bound,
        args=(study, by, value, low, high),
        disabled=(not low and high is None) or (high is not None and low > high),
    )


def _groups(study: StudyPage, by: Attribute) -> list[str]:
    values = group_of(by, study.reduction().rubrics, study.queries())
    return sorted(map(str, values.dropna().unique()))


def _bound(study: StudyPage, by: Any, value: str | None, low: int, high: int | None) -> None:
    composition = held(study)
    hold(study, replace(composition, limits=(*composition.limits, Limit(by, value, int(low), high))))


def _unbound(study: StudyPage, position: int) -> None:
    limits = held(study).limits
    hold(study, replace(held(study), limits=limits[:position] + limits[position + 1 :]))


def costs(study: StudyPage) -> None:
    """Ask for the cost of a rubric and the cost budget of the bank."""
    composition = held(study)
    left, right = st.columns(2, gap="medium")
    cost = left.selectbox(
        "A rubric costs",
        list(COSTS),
        index=list(COSTS).index(composition.cost),
        format_func=COSTS.__getitem__,
        key=f"cost of {composition.cost}",
    )
    budget = right.number_input(
        "The bank may cost at most",
        min_value=0.0,
        value=composition.cost_budget,
        placeholder="any",
        key=f"cost budget of {composition.cost_budget}",
        help="In addition to the bank size B",
    )
    given = composition.costs
    if cost == "given":
        file = st.file_uploader("A CSV file with the columns id or rubric, and cost", "csv", key="costs file")
        given = read_costs(file.getvalue()) if file is not None else composition.costs
    ready = (cost != "given" or bool(given)) and budget != 0
    wanted = {"cost": cost, "costs": given if cost == "given" else (), "cost_budget": budget}
    st.button("Use these costs", on_click=_priced, args=(study, wanted), disabled=not ready)


def _priced(study: StudyPage, wanted: dict[str, Any]) -> None:
    hold(study, replace(held(study), **wanted))


def changes(study: StudyPage) -> None:
    """Show what the composition changes: rubrics in and out, and how well the bank separates before and after."""
    if study.settings.composition is None:
        st.caption("Nothing is composed by hand: this is the bank that the strategy chooses.")
        return
    alone = replace(study, settings=replace(study.settings, composition=None))
    entered, gone = np.setdiff1d(study.bank(), alone.bank()), np.setdiff1d(alone.bank(), study.bank())
    st.write(
        f"{count(len(entered), 'rubric')} entered and {len(gone):,} left, compared with the bank "
        f"that the strategy alone chooses ({len(alone.bank()):,})."
    )
    st.caption(ANEW)
    after, before = study.worth(curve=False), alone.worth(curve=False)
    if after is not None and before is not None:
        st.write(composed_sentence(after, before, study.settings.confidence))
    for title, rubrics in (("Entered", entered), ("Left", gone)):
        if len(rubrics):
            st.markdown(f"**{title}**")
            table_widgets.table(
                _named(study, rubrics), {"rubric": "rubric", "query": "query", "text": tables.BANK["text"]}
            )


def _named(study: StudyPage, rubrics: IntArray) -> pd.DataFrame:
    return study.reduction().rubrics.iloc[rubrics]


def take_along(study: StudyPage) -> None:
    """Offer to reset the composition, to download it and to upload one."""
    composition = held(study)
    left, middle, right = st.columns([1, 1, 2], vertical_alignment="bottom")
    left.button("Reset", on_click=hold, args=(study, Composition()), disabled=not composition)
    middle.download_button(
        "Download composition.json",
        lambda: json_bytes(composition.as_dict()),
        "composition.json",
        "application/json",
        on_click="ignore",
        disabled=not composition,
        help="The file that `crubric build --composition` reads",
    )
    file = right.file_uploader("A composition.json to use", "json", key="composition file")
    if file is not None:
        right.button("Use this file", on_click=_use, args=(study, file.getvalue()))
    if sentence := st.session_state.pop("composition refused", ""):
        st.error(plain(sentence))


def _use(study: StudyPage, content: bytes) -> None:
    try:
        asked = Composition.from_json(content.decode("utf-8", "replace"))
        hold(study, by_id(asked, study.reduction().rubrics))
    except CrubricError as error:
        st.session_state["composition refused"] = str(error)


def refused(study: StudyPage, error: CrubricError) -> None:
    """Show why no bank meets the composition, with the controls to change it."""
    study.answer("No bank meets all these conditions.")
    st.error(plain(str(error)))
    for title, part in (("Bounds", bounds), ("Costs", costs), ("File and reset", take_along)):
        st.markdown(f"**{title}**")
        part(study)


PARTS = {
    "Swap": swap,
    "Bounds": bounds,
    "Costs": costs,
    "What changed": changes,
    "File and reset": take_along,
}
"""The tabs below the working table."""
