"""Publishing: what to show, how it will look, and the new link."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import streamlit as st

from .. import sharing
from ..errors import SharingError
from ..figures.shared_view import shared_figures
from ..figures.standalone import bundle_zip, standalone_html
from ..pipeline import run_pipeline
from ..sharing.build import NOTE, TITLE
from . import viewer
from .access import visitor
from .publish_links import ask_day
from .text import plain, shorten
from .views_folder import view_link, views_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..pipeline import Result
    from ..sharing import Choices, SharedView
    from .loaders import Study
    from .publish_links import Link

PARTS = {
    "leaderboard": ("Leaderboard", "Abilities with their intervals, ranks and scores."),
    "tiers": ("Tiers", "Which systems the labels cannot tell apart; part of the leaderboard."),
    "separation": ("System comparison", "For every two systems, how surely one is ahead."),
    "bank": ("Bank coverage", "How few rubrics are enough, and where they measure well."),
    "texts": ("Texts of the bank's rubrics", "Off unless everybody with the link may read your rubrics."),
    "dataset": ("Name of the dataset", "Without it readers see only the fingerprint of the labels."),
    "downloads": ("Downloads", "Readers may take the tables and the pictures along."),
}
SPANS = {
    "until it is revoked": None,
    "for a week": timedelta(days=7),
    "for 30 days": timedelta(days=30),
    "for a year": timedelta(days=365),
}
UNTIL = "until the end of a day"
NEW = "a new link"


def ask_choices() -> Choices:
    """What the view shows and says."""
    title = st.text_input("Title", placeholder="Leaderboard", max_chars=TITLE, key="publish title")
    note = st.text_area("Note to its readers", max_chars=NOTE, height=100, key="publish note")
    usual = sharing.Choices()
    st.markdown("**It shows**")
    shown = {
        name: st.checkbox(words, getattr(usual, name), help=meaning, key=f"publish {name}")
        for name, (words, meaning) in PARTS.items()
    }
    return sharing.Choices(title=title, note=note, **shown)


def ask_expiry() -> datetime | None:
    """Until when the link is open; None until it is revoked."""
    chosen = st.selectbox("It is open", [*SPANS, UNTIL], index=2, key="publish span")
    now = datetime.now(UTC)
    if chosen == UNTIL:
        return ask_day("Last day (UTC)", "publish day")
    span = SPANS[chosen]
    return None if span is None else now + span


def ask_target(found: Sequence[Link]) -> str | None:
    """The link under which to publish: None for a new one, or the id of one that may get a newer result."""
    kept = {link.view.id: link.view.title for link in found if link.state != "revoked"}
    if not kept:
        return None
    names = {view: f"the link of “{shorten(title, 40)}” ({view[:6]})" for view, title in kept.items()}
    return st.selectbox(
        "Under", [None, *names], format_func=lambda v: names.get(v, NEW), key="publish target"
    )


@st.cache_resource(max_entries=4, show_spinner="Computing what readers will see …")
def _result(key: tuple[str, ...], _study: Study) -> Result:
    return run_pipeline(_study.dataset, _study.settings)


def view_of(study: Study, choices: Choices) -> SharedView:
    """What readers will see."""
    key = (study.fingerprint, study.dataset.name, repr(study.settings))
    return sharing.build_view(_result(key, study), choices)


def publish(view: SharedView, target: str | None, expires: datetime | None) -> None:
    """Publish, and keep the new link in this session until it has been copied."""
    if target is not None:
        sharing.replace(views_folder(), target, view, visitor())
        st.toast("The link shows the new result now.", icon="✅")
        return
    made = sharing.publish(view, views_folder(), expires, visitor())
    st.session_state["new link"] = view_link(made.token)


def show_new_link() -> None:
    """The new link with a button that copies it; it is nowhere else."""
    link = st.session_state.get("new link")
    if link is None:
        return
    with st.container(border=True, key="new link box"):
        st.success("Published. Copy the link now: it is kept nowhere and cannot be shown again.")
        st.code(link, language=None, wrap_lines=True)
        if st.button("I have copied it", key="new link copied"):
            del st.session_state["new link"]
            st.rerun()


def preview(view: SharedView) -> None:
    """The page that readers will see."""
    with st.container(border=True, height=820, key="preview"):
        viewer.render(view, viewer.in_ink(shared_figures(view)))


def make(study: Study, found: Sequence[Link]) -> None:
    """Choose what to show, look at it, publish it or take it along."""
    left, right = st.columns([2, 5], gap="large")
    with left:
        choices = ask_choices()
    try:
        view = view_of(study, choices)
    except SharingError as error:
        right.error(plain(str(error)))
        return
    with left:
        target = ask_target(found)
        expires = ask_expiry() if target is None else None
        if st.button("Publish" if target is None else "Show this under that link", type="primary"):
            publish(view, target, expires)
            st.rerun()
        st.markdown("**Or without a link**")
        take_along(view)
    with right:
        st.caption("What its readers will see")
        preview(view)


def take_along(view: SharedView) -> None:
    """The same page without any server."""
    with st.container(horizontal=True):
        st.download_button(
            "One HTML file",
            lambda: standalone_html(view).encode(),
            "leaderboard.html",
            "text/html",
            on_click="ignore",
            help="Opens from disk, needs no network. Nobody can take it back.",
        )
        st.download_button(
            "Folder for a web server (ZIP)",
            lambda: bundle_zip(view),
            "leaderboard.zip",
            "application/zip",
            on_click="ignore",
            help="For any file host.",
        )
