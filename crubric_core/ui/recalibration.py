"""Recalibrate a bank with new systems: which systems move and why, which rubrics drift, and the new bank's file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import streamlit as st

from ..errors import CrubricError
from ..placement.bank_file import NAME, bank_bytes
from ..placement.recalibrate import Recalibration, recalibrate
from ..placement.recalibration_words import recalibration_sentences
from . import loaders, table_widgets
from .text import plain, shorten

if TYPE_CHECKING:
    import pandas as pd

    from ..analysis.stage import Key
    from ..placement.bank_scale import BankScale
    from ..placement.new_labels import NewLabels

_number = st.column_config.NumberColumn
MOVED: dict[str, Any] = {
    "system": "system",
    "new": st.column_config.CheckboxColumn("new"),
    "theta_before": _number("θ before", format="%.2f", help="Ability on the bank, at the bank's parameters"),
    "theta_after": _number(
        "θ after", format="%.2f", help="Ability on the bank, at the parameters fitted with the new systems"
    ),
    "se": _number("SE", format="%.2f"),
    "moved": st.column_config.CheckboxColumn("moved", help="θ changed by more than its standard error"),
    "tier_before": _number("tier before", help="Of the new systems"),
    "tier_after": _number("tier after"),
    "because": st.column_config.TextColumn(
        "because of", width="large", help="The rubrics that move it most, with their shares of the move"
    ),
}
DRIFT: dict[str, Any] = {
    "rubric": "rubric",
    "query": "query",
    "labels": _number("new labels", format="localized"),
    "shift": _number(
        "shift",
        format="%+.2f",
        help="How much harder it has become, in units of θ; the most likely value with the prior N(0, 1)",
    ),
    "p_value": _number("p", format="%.3f"),
    "drifted": st.column_config.CheckboxColumn("drifted", help="By Holm's procedure at 5% over all rubrics"),
    "text": st.column_config.TextColumn("text", width="large"),
}


def section(key: Key, bank_scale: BankScale, new: NewLabels) -> None:
    """Show the recalibration, when the user asks for it. key: the cache key of bank and labels."""
    st.markdown("**If these systems join the calibration**")
    asked = f"recalibration {hash(key)}"
    if not st.session_state.get(asked):
        st.write("The bank's rubrics are fitted anew to the labels of all systems, on the bank's scale.")
        st.button("Recalibrate with them", on_click=_ask, args=(asked,))
        return
    try:
        found = _recalibrated(key, bank_scale, new)
    except CrubricError as error:
        st.error(plain(str(error)))
        return
    for sentence in recalibration_sentences(found):
        st.write(plain(sentence))
    table_widgets.table(with_names(found), MOVED)
    with st.expander("Drift of the rubrics"):
        table_widgets.table(found.drift_table, DRIFT)
    with st.container(horizontal=True):
        table_widgets.download("Download moved.csv", found.moved, "moved.csv")
        table_widgets.download("Download drift.csv", found.drift_table, "drift.csv")
        st.download_button(
            "Download the later bank.json",
            lambda: bank_bytes(found.bank_scale),
            NAME,
            "application/json",
            on_click="ignore",
            key="download later bank.json",
            help="The same rubrics with new parameters, and the new systems among those of the calibration",
        )


def _ask(name: str) -> None:
    st.session_state[name] = True


def with_names(found: Recalibration) -> pd.DataFrame:
    """The table of systems that moved, new ones first, with the names of rubrics in place of their ids."""
    rubrics = found.bank_scale.rubrics
    names = {str(i): shorten(str(name), 40) for i, name in rubrics[["id", "rubric"]].itertuples(index=False)}
    known = re.compile("|".join(map(re.escape, names)))
    because = found.moved["because"].map(lambda text: known.sub(lambda m: names[m[0]], text))
    return found.moved.assign(because=because).sort_values("new", ascending=False, kind="stable")


@st.cache_resource(max_entries=loaders.FEW, show_spinner="Fitting the rubrics to all systems …")
def _recalibrated(key: Key, _bank_scale: BankScale, _new: NewLabels) -> Recalibration:
    return recalibrate(_bank_scale, _new)
