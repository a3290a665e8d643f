"""The list of links on the Publish page: the state of each link, and controls to change it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from ... import sharing
from ...server.sign_in import visitor
from ...server.views_folder import views_folder
from .. import table_widgets
from ..text import count, plain, shorten, verb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...sharing import ViewState
    from ...sharing.state import Standing

OTHERS: tuple[Standing, ...] = ("expired", "revoked", "damaged")
LINKS: dict[str, Any] = {
    "title": st.column_config.TextColumn("title", width="medium"),
    "state": st.column_config.TextColumn("state", width="small"),
    "dataset": "dataset",
    "until": st.column_config.DatetimeColumn("open until (UTC)", format="YYYY-MM-DD HH:mm"),
    "published": st.column_config.DatetimeColumn("published (UTC)", format="YYYY-MM-DD HH:mm"),
    "by": "by",
    "version": st.column_config.NumberColumn("version", help="Increases by 1 with every new result"),
    "id": "id",
}
TRAIL = {"when": "when (UTC)", "who": "who", "what": "what", "id": "view", "detail": "detail"}


@dataclass(frozen=True)
class Link:
    """The state of a view, and the status of its link."""

    view: ViewState
    state: Standing


def links() -> list[Link]:
    """Every link that was ever made, newest first."""
    folder = views_folder()
    return [Link(view, sharing.standing_of(folder, view)) for view in sharing.list_views(folder)]


def summary(found: Sequence[Link]) -> str:
    """A sentence on how many links are open, expired, revoked and damaged."""
    if not found:
        return "No link yet: choose what to show, preview it as its readers will see it, and publish."
    number = Counter(link.state for link in found)
    first = f"{count(number['open'], 'link')} {verb(number['open'], 'are')} open"
    return ", ".join([first, *(f"{number[name]} {name}" for name in OTHERS if number[name])]) + "."


def ask_day(key: str) -> datetime:
    """Ask for the last day on which a link is open; return the end of that day (UTC)."""
    today = datetime.now(UTC).date()
    day = st.date_input("Last day (UTC)", today + timedelta(days=30), min_value=today, key=key)
    return sharing.expiry_of(day.isoformat())


def manage(found: Sequence[Link]) -> None:
    """Show all links, controls to revoke the chosen one or change its expiry, and the audit trail."""
    if not found:
        st.write("No link yet.")
        return
    at = table_widgets.pick_one(_table(found), LINKS, key="links", rows=11)
    if at is not None:
        _change(found[at])
    with st.expander("Who did what, and when"):
        trail = sharing.audit(views_folder())
        table_widgets.table(trail.iloc[::-1], TRAIL, rows=8)
        table_widgets.download("Download audit.csv", trail, "audit.csv")


def _table(found: Sequence[Link]) -> pd.DataFrame:
    rows = [
        {
            "title": link.view.title,
            "state": link.state,
            "dataset": link.view.dataset,
            "until": link.view.expires_at,
            "published": link.view.published_at,
            "by": link.view.published_by,
            "version": link.view.version,
            "id": link.view.id,
        }
        for link in found
    ]
    return pd.DataFrame(rows)


def _change(link: Link) -> None:
    view = link.view.id
    of = "" if link.view.dataset is None else f" of {plain(shorten(link.view.dataset, 40))}"
    name = f"**{plain(shorten(link.view.title, 60))}**{of} ({view})"
    if link.state == "revoked":
        st.markdown(f"{name} was revoked. A revoked link stays closed.")
        return
    if link.state == "damaged":
        name += (
            " does not open, because its file is not the one that was published: give it a new result, or revoke "
            "it."
        )
    st.markdown(name)
    with st.container(horizontal=True):
        later = st.popover("Open until …")
        close = st.popover("Revoke …")
    with later:
        never = st.checkbox("Until it is revoked", key=f"never {view}")
        expires = None if never else ask_day(f"day {view}")
        if st.button("Keep it open until then", key=f"keep {view}"):
            sharing.set_expiry(views_folder(), view, expires, visitor())
            st.rerun()
    with close:
        st.markdown("Nobody can open this link again, not even with a new result. What it showed is deleted.")
        if st.button("Revoke it permanently", type="primary", key=f"revoke {view}"):
            sharing.revoke(views_folder(), view, visitor())
            st.rerun()
