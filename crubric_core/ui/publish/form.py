"""Publish a view: choose its parts, preview it, and create or update its link."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import streamlit as st

from ... import sharing
from ...access import require_editor
from ...analysis.held_out import with_worth
from ...analysis.pipeline import result_of
from ...errors import SharingError
from ...reports.standalone import bundle_zip, standalone_html
from ...server import local_viewer, viewer_check
from ...server.sign_in import visitor
from ...server.views_folder import view_link, viewer_base, views_folder
from ...sharing.build import NOTE, TITLE
from .. import state
from ..kept import Kept
from ..shared_view import content as viewer
from ..text import plain, shorten
from .links import ask_day

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...analysis.result import Result
    from ...sharing import Choices, SharedView
    from ..loaders import Study
    from ..shared_view.content import ViewFigure
    from .links import Link

PARTS = {
    "leaderboard": ("Leaderboard", "Abilities with their intervals, ranks and scores."),
    "tiers": ("Tiers", "Which systems are not separated; part of the leaderboard."),
    "separation": ("System comparison", "For each pair of systems, the probability that one is ahead."),
    "bank": ("Bank coverage", "How few rubrics are enough, and where they measure well."),
    "texts": ("Texts of the bank's rubrics", "Turn on only if everyone with the link may read your rubrics."),
    "dataset": ("Name of the dataset", "Without it readers see only the fingerprint of the dataset."),
    "downloads": ("Downloads", "Readers may download the tables and the figures."),
}
SPANS = {
    "until it is revoked": None,
    "for a week": timedelta(days=7),
    "for 30 days": timedelta(days=30),
    "for a year": timedelta(days=365),
}
UNTIL = "until the end of a day"
NEW_LINK = "new link"
RESULTS = 4  # whole results in the cache
VIEWS = 4  # views with their figures in the cache
RECHECK = 5.0  # seconds until the viewer is asked again
PUBLISH = "publish this"
KEYS = {"title": state.WRITTEN[0], "note": state.WRITTEN[1], "target": "publish target"}


def ask_choices() -> Choices:
    """Ask for the title, the note and the parts of the view."""
    title = st.text_input("Title", placeholder="Leaderboard", max_chars=TITLE, key=KEYS["title"])
    note = st.text_area("Note to its readers", max_chars=NOTE, height=100, key=KEYS["note"])
    usual = sharing.Choices()
    with st.container(gap="xsmall"):
        st.markdown("It shows")
        shown = {
            name: st.checkbox(words, getattr(usual, name), help=meaning, key=f"publish {name}")
            for name, (words, meaning) in PARTS.items()
        }
    return sharing.Choices(title=title, note=note, **shown)


def ask_expiry() -> datetime | None:
    """Ask for the expiry of the link; None: open until it is revoked."""
    chosen = st.selectbox("It is open", [*SPANS, UNTIL], index=2, key="publish span")
    now = datetime.now(UTC)
    if chosen == UNTIL:
        return ask_day("publish day")
    span = SPANS[chosen]
    return None if span is None else now + span


def ask_target(found: Sequence[Link]) -> str | None:
    """Ask for the link under which to publish: the id of an existing view, or None for a new link."""
    kept = {link.view.id: link for link in found if link.state != "revoked"}
    if not kept:
        return None
    return st.selectbox(
        "Publish under",
        [None, *kept],
        format_func=lambda view: _named(kept[view]) if view in kept else "a new link",
        key=KEYS["target"],
        on_change=_take_over_words,
        help="A link that readers already have can show a newer result.",
    )


def _named(link: Link) -> str:
    state = "" if link.state == "open" else f", {link.state}"
    return f"the link of “{shorten(link.view.title, 40)}” ({link.view.id[:6]}{state})"


def _take_over_words() -> None:
    """Callback: fill in the title and note of the view that is to be replaced."""
    target = st.session_state[KEYS["target"]]
    if target is not None:
        words = sharing.words_of(views_folder(), target)
        st.session_state[KEYS["title"]], st.session_state[KEYS["note"]] = words


def _result(study: Study) -> Result:
    """The whole result of the analysis, cached; stages that other pages have computed are reused."""
    return _results().once(_key(study), lambda: result_of(study))


def _key(study: Study) -> tuple[str, str, str]:
    return study.fingerprint, study.dataset.name, repr(study.settings)


@st.cache_resource(show_spinner=False)
def _results() -> Kept:
    return Kept(RESULTS)


@st.cache_resource(show_spinner=False)
def _views() -> Kept:
    return Kept(VIEWS)


def view_of(study: Study, choices: Choices) -> tuple[SharedView, list[ViewFigure]]:
    """The view that readers will see, with its figures; cached for the same choices until the end of the day (UTC)."""

    def made() -> tuple[SharedView, list[ViewFigure]]:
        result = _result(study)
        if choices.bank:
            result = with_worth(result, study)
        view = sharing.build_view(result, choices)
        return view, viewer.figures_of(view)

    found: tuple[SharedView, list[ViewFigure]] = _views().once(
        (_key(study), choices, datetime.now(UTC).date()), made
    )
    return found


def made_now(view: SharedView) -> SharedView:
    """A copy of the view with the present time."""
    return replace(view, made_at=datetime.now(UTC).replace(microsecond=0))


def publish(view: SharedView, target: str | None, expires: datetime | None, *, closed: bool = False) -> None:
    """Publish under a new link (target None) or an existing one, then rerun the page.

    closed: whether the existing link has expired; it then opens again until ``expires``.
    """
    view = made_now(view)
    if target is None:
        made = sharing.publish(view, views_folder(), expires, visitor())
        st.session_state[NEW_LINK] = view_link(made.token)
    else:
        sharing.replace(views_folder(), target, view, visitor(), expires if closed else ...)
        st.toast("The link shows this now.", icon="✅")
    st.rerun()


@st.dialog("Published", width="medium")
def hand_out(link: str) -> None:
    """Show the new link in a dialog, with a button that copies it."""
    st.write("Copy the link now: it is not stored and cannot be shown again.")
    st.code(link, language=None, wrap_lines=True)
    show_viewer("dialog")
    st.caption("Whoever has the link sees the view without signing in. You can revoke it under Links.")


@st.cache_data(ttl=RECHECK, show_spinner=False)
def _checked(base: str) -> viewer_check.Check:
    return viewer_check.check_viewer()


def show_viewer(where: str = "page") -> None:
    """Show whether links open now, else the command to run, and a button that starts the viewer if that is safe."""
    check = _checked(viewer_base())
    show_check(check)
    if local_viewer.can_start(check):
        st.button(
            "Start the viewer here",
            key=f"start the viewer from the {where}",
            on_click=_start,
            help="Only on this machine, while the dashboard runs.",
        )


@st.cache_resource(show_spinner=False, on_release=local_viewer.LocalViewer.stop)
def _started() -> local_viewer.LocalViewer:
    require_editor("start the viewer")
    return local_viewer.start_viewer()


def _start() -> None:
    """Start the viewer, again if an earlier one has ended, and wait until it answers."""
    if not _started().running:
        _started.clear()
    with st.spinner("Starting the viewer …"):
        local_viewer.wait_for(_started())
    _checked.clear()


def show_check(check: viewer_check.Check) -> None:
    """Show the result of a check of the viewer, and the command that starts it if it does not answer."""
    if check.answer == "viewer":
        st.caption(plain(check.sentence))
        return
    st.warning(plain(check.sentence))
    st.code(check.command, language=None, wrap_lines=True)


def preview(view: SharedView, figures: Sequence[ViewFigure]) -> None:
    """Show a preview of the page that readers will see."""
    st.caption("What its readers will see")
    with st.container(border=True, height=820, key="preview"):
        viewer.render(view, figures)


def what_changes(target: str, view: SharedView) -> None:
    """Show the differences between the view that the link shows now and the new one. target: the view's id."""
    old = sharing.looked_up(views_folder(), target)
    if old is None:
        st.caption("What the link shows now is damaged and cannot be compared.")
        return
    st.markdown(
        "**What changes**\n" + "".join(f"\n- {plain(said)}" for said in sharing.changes(old, view).sentences)
    )


def make(study: Study, found: Sequence[Link]) -> None:
    """Show the form: choose the parts, preview the view, publish or download it. found: all links."""
    left, right = st.columns([4, 7], gap="large")
    with left:
        target, choices = ask_target(found), ask_choices()
    try:
        view, figures = view_of(study, choices)
    except SharingError as error:
        right.error(plain(str(error)))
        return
    with left:
        closed = any(link.view.id == target and link.state == "expired" for link in found)
        expires = ask_expiry() if target is None or closed else None
        if target is not None:
            what_changes(target, view)
        what = plain(shorten(study.dataset.name, 40))
        if st.button(
            f"Publish {what}" if target is None else f"Show {what} under that link",
            type="primary",
            key=PUBLISH,
        ):
            publish(view, target, expires, closed=closed)
        st.markdown("Or without a link")
        take_along(view)
    with right:
        preview(view, figures)
    if NEW_LINK in st.session_state:
        hand_out(st.session_state.pop(NEW_LINK))


def take_along(view: SharedView) -> None:
    """Offer the view as files that need no viewer: one HTML file, or a folder for a web server."""
    with st.container(horizontal=True):
        st.download_button(
            "One HTML file",
            lambda: standalone_html(made_now(view)).encode(),
            "leaderboard.html",
            "text/html",
            on_click="ignore",
            help="It opens from disk without a network. It cannot be revoked.",
        )
        st.download_button(
            "Folder for a web server (ZIP)",
            lambda: bundle_zip(made_now(view)),
            "leaderboard.zip",
            "application/zip",
            on_click="ignore",
            help="For any host of static files.",
        )
